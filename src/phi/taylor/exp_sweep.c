#include "phi/taylor/exp_sweep.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/vector.h"

enum { MAX_ATTEMPTS = 4 };
/* A hump this much larger than the solution can be lowered by shorter substeps. */
static const double AVOIDABLE_HUMP = 30;

static void free_memory(tw_exp_memory *memory)
{
    if (!memory) return;
    tw_release(memory->vectors);
    tw_release(memory->leja);
    tw_release(memory->scratch);
    tw_release(memory);
}

static tw_exp_memory *create_memory(const tw_phi_workspace *workspace)
{
    enum {
        INPUTS = TW_PHI_MAX_ORDER + 1,
        BASIS = TW_SPECTRUM_STEPS + 1,
        COLUMNS = INPUTS + BASIS + 10
    };
    size_t n = (size_t)workspace->vector_size;
    tw_exp_memory *memory = TW_NEW(tw_exp_memory);
    if (!memory) return NULL;
    memory->vectors = n < SIZE_MAX / COLUMNS ? TW_NEW_ARRAY(COLUMNS * n, double) : NULL;
    memory->leja = TW_NEW_ARRAY(TW_NEWTON_MAX_DEGREE + 1, double);
    memory->scratch = TW_NEW_ARRAY(3 * (TW_NEWTON_MAX_DEGREE + 2), double);
    if (!memory->vectors || !memory->leja || !memory->scratch) {
        free_memory(memory);
        return NULL;
    }
    double *next = memory->vectors;
    memory->inputs = next;
    memory->basis = next + INPUTS * n;
    memory->substep.inside = memory->basis;
    next += (INPUTS + BASIS) * n;
    memory->substep.state = next;
    memory->substep.sum = next + 2 * n;
    for (int i = 0; i < 3; i++) memory->substep.term[i] = next + (size_t)(4 + 2 * i) * n;
    return memory;
}

tw_status tw_exp_reserve(tw_phi_workspace *workspace, tw_phi_engine engine, tw_error *error)
{
    tw_exp_memory *memory = workspace->memory[engine == TW_PHI_LEJA ? TW_PHI_EXPMV : TW_PHI_LEJA];
    if (!memory) memory = create_memory(workspace);
    workspace->memory[engine] = memory;
    if (!memory) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    if (engine == TW_PHI_LEJA) tw_leja_points(TW_NEWTON_MAX_DEGREE + 1, memory->leja);
    return tw_phi_pair_reserve(workspace, error);
}

void tw_exp_release(tw_phi_workspace *workspace)
{
    tw_exp_memory *memory = workspace->memory[TW_PHI_EXPMV];
    free_memory(memory ? memory : workspace->memory[TW_PHI_LEJA]);
    workspace->memory[TW_PHI_EXPMV] = workspace->memory[TW_PHI_LEJA] = NULL;
    tw_phi_pair_release(workspace);
}

/* A power of two near the largest |v_k|: squares of 1e150 must not overflow. 0 if all are zero. */
static tw_status find_scale(tw_exp_call *call)
{
    const tw_phi_request *request = call->request;
    double largest = 0;
    for (int k = 0; k <= request->order; k++) {
        double norm = 0;
        if (!request->vectors[k]) continue;
        tw_status status = tw_vector_norm(&call->op->space, request->vectors[k], &norm);
        if (status) return status;
        largest = fmax(largest, norm);
    }
    if (!isfinite(largest)) return TW_NOT_FINITE;
    call->scale = largest > 0 ? ldexp(1.0, (int)fmin(fmax(ilogb(largest), -1000), 1000)) : 0;
    return TW_OK;
}

static double factorial(int k)
{
    return k < 2 ? 1 : k * factorial(k - 1);
}

/* Scaled copies of the vectors that are not zero, and what outputs are measured against. */
static tw_status take_inputs(tw_exp_call *call)
{
    const tw_phi_request *request = call->request;
    int64_t n = call->op->space.local_size;
    for (int b = 0; b < 2; b++) call->size[b] = 0;
    for (int k = 0; k <= request->order; k++) {
        if (!request->vectors[k]) continue;
        double *copy = call->memory->inputs + call->input_count * n,
               *norm = call->input_norm[call->input_count];
        tw_vector_copy(n, request->vectors[k], copy);
        tw_vector_scale(n, 1 / call->scale, copy);
        tw_status status = tw_phi_block_norms(call->workspace, &call->op->space, copy, norm);
        if (status) return status;
        if (norm[0] == 0 && norm[1] == 0) continue;
        for (int b = 0; b < 2; b++) call->size[b] += norm[b] / factorial(k);
        call->input_order[call->input_count++] = k;
    }
    for (int b = 0; b < (call->workspace->frame ? 2 : 1); b++)
        call->size[b] = fmax(call->size[b], request->reference[b] / call->scale);
    return TW_OK;
}

/* Zeroes every output, and fills those at time zero: phi_k(0) = 1/k!. */
static void start_outputs(const tw_exp_call *call)
{
    const tw_phi_request *request = call->request;
    int64_t n = call->op->space.local_size;
    for (int i = 0; i < request->node_count; i++) {
        tw_vector_fill(n, 0.0, request->outputs[i]);
        if (request->nodes[i] * request->time != 0) continue;
        for (int k = 0; k < call->input_count; k++)
            tw_vector_axpy(n, 1 / factorial(call->input_order[k]), call->memory->inputs + k * n,
                           request->outputs[i]);
    }
}

/* What is known beforehand of how errors grow: |exp(tA)| = exp(t lambda_max) for symmetric A, 1 for skew A. */
static void know_amplification(tw_exp_call *call, const tw_exp_trajectory *trajectories, int count)
{
    if (call->op->symmetry == TW_GENERAL) return;
    for (int i = 0; i < count; i++) {
        double time = trajectories[i].time / trajectories[i].share;
        double rate = time > 0 ? time * call->bounds.real_max : time * call->bounds.real_min;
        tw_amplification_set_rate(&call->memory->amplification[time > 0 ? 0 : 1], rate);
        call->amplification_known[time > 0 ? 0 : 1] = true;
    }
}

static tw_status run_all(tw_exp_call *call, const tw_exp_trajectory *trajectories, int count)
{
    start_outputs(call);
    memset(call->truncation, 0, sizeof call->truncation);
    memset(call->rounding, 0, sizeof call->rounding);
    call->hump = 0;
    tw_status status = TW_OK;
    for (int i = 0; i < count && !status; i++) {
        call->trajectory = &trajectories[i];
        call->built_length = 0;
        status = tw_exp_trajectory_run(call);
    }
    return status;
}

/* What truncation is to be judged against on the way. A block without size of its own is fed by the other one. */
static void guess_sizes(tw_exp_call *call, double longest)
{
    double angle = fmin(longest * call->bounds.norm, 1);
    for (int b = 0; b < 2; b++) {
        call->target_size[b] = call->size[b];
        if (call->size[b] == 0 && call->workspace->frame)
            call->target_size[b] = 0.1 * angle * call->size[1 - b];
    }
}

/* After a first attempt the outputs themselves say it better. */
static tw_status learn_sizes(tw_exp_call *call)
{
    for (int i = 0; i < call->request->node_count; i++) {
        double norm[2];
        tw_status status =
            tw_phi_block_norms(call->workspace, &call->op->space, call->request->outputs[i], norm);
        if (status) return status;
        for (int b = 0; b < 2; b++) {
            double size = fmax(norm[b], call->size[b]);
            if (size > 0 && size < call->target_size[b]) call->target_size[b] = size;
        }
    }
    return TW_OK;
}

/* Largest estimated errors over outputs and blocks, in units of tolerance times size. */
static tw_status judge(const tw_exp_call *call, double *truncation, double *rounding)
{
    *truncation = *rounding = 0;
    double tolerance = call->workspace->options.tolerance;
    for (int i = 0; i < call->request->node_count; i++) {
        double norm[2];
        tw_status status =
            tw_phi_block_norms(call->workspace, &call->op->space, call->request->outputs[i], norm);
        if (status) return status;
        for (int b = 0; b < 2; b++) {
            double size = fmax(norm[b], call->size[b]);
            if (size == 0) continue;
            *truncation = fmax(*truncation, call->truncation[i][b] / (tolerance * size));
            *rounding = fmax(*rounding, call->rounding[i][b] / (tolerance * size));
        }
    }
    if (isnan(*truncation) || isnan(*rounding)) return TW_NOT_FINITE;
    return TW_OK;
}

/* Repeats with a tighter tolerance or shorter substeps as long as that can help. */
static tw_status run_until_trusted(tw_exp_call *call, const tw_exp_trajectory *trajectories,
                                   int count)
{
    for (int attempt = 1;; attempt++) {
        double truncation = 0, rounding = 0;
        tw_status status = run_all(call, trajectories, count);
        if (!status) status = judge(call, &truncation, &rounding);
        if (status) return status;
        call->statistics->estimated_error =
            (truncation + rounding) * call->workspace->options.tolerance;
        if (truncation + rounding <= 1) return TW_OK;
        bool lower_hump = rounding > 0.5 && call->hump > AVOIDABLE_HUMP;
        if (attempt == MAX_ATTEMPTS || (rounding > 1 && !lower_hump)) return TW_ILL_CONDITIONED;
        if (lower_hump) call->caution *= 10 * rounding;
        if (truncation > 0.3) call->tolerance *= fmax(0.2 / truncation, 1e-12);
        status = learn_sizes(call);
        if (status) return status;
        call->statistics->rejected++;
    }
}

static tw_status evaluate(tw_exp_call *call)
{
    tw_status status = find_scale(call);
    if (status) return status;
    if (call->scale > 0) status = take_inputs(call);
    if (status) return status;
    tw_exp_trajectory trajectories[TW_EXP_MAX_TRAJECTORIES];
    int count = 0;
    double longest = 0;
    if (call->input_count > 0)
        count =
            tw_exp_trajectories(call->request, call->input_count, call->input_order, trajectories);
    for (int i = 0; i < count; i++) {
        if (!isfinite(trajectories[i].time)) return TW_NOT_FINITE;
        longest = fmax(longest, fabs(trajectories[i].time));
    }
    call->sharing = count > 0 ? call->input_count / trajectories[0].input_count : 1;
    if (count == 0) {
        start_outputs(call);
    } else {
        status = tw_spectrum_bounds_find(call->workspace, call->op, longest, call->memory->basis,
                                         call->statistics, &call->bounds);
        if (status) return status;
        know_amplification(call, trajectories, count);
        guess_sizes(call, longest);
        status = run_until_trusted(call, trajectories, count);
    }
    if (status == TW_OK || status == TW_ILL_CONDITIONED)
        for (int i = 0; i < call->request->node_count; i++)
            tw_vector_scale(call->op->space.local_size, call->scale, call->request->outputs[i]);
    return status;
}

tw_status tw_exp_sweep_evaluate(const tw_exp_method *method, tw_exp_memory *memory,
                                tw_phi_workspace *workspace, const tw_operator *op,
                                const tw_phi_request *request, tw_phi_statistics *statistics,
                                tw_error *error)
{
    tw_exp_call call = {.method = method,
                        .workspace = workspace,
                        .op = op,
                        .request = request,
                        .statistics = statistics,
                        .memory = memory,
                        .newton = &memory->newton,
                        .tolerance = workspace->options.tolerance,
                        .caution = 1,
                        .scale = 1};
    call.substep = (tw_substep){
        .workspace = workspace, .op = op, .statistics = statistics, .vectors = memory->substep};
    tw_status status = evaluate(&call);
    return status ? tw_fail_plain(error, status) : TW_OK;
}
