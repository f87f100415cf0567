/* One evaluation by expmv or leja: memory, inputs, trajectories, and repetition until the errors
 * are small. */
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/vector.h"
#include "phi/taylor/taylor.h"

enum { MAX_ATTEMPTS = 4 };

/* A hump this much larger than the solution can be lowered by shorter substeps. */
static const double AVOIDABLE_HUMP = 30;

/* Truncation above this share of the tolerance is reduced in the next attempt, to a somewhat
 * smaller share. */
static const double LARGE_TRUNCATION = 0.3;
static const double AIMED_TRUNCATION = 0.2;

/* A part without a size of its own is taken to get this share of the other part's size, per
 * radian. */
static const double FED_SHARE = 0.1;

/* ---- memory ---- */

static void free_memory(tw_taylor_memory *memory)
{
    if (!memory) return;
    tw_release(memory->vectors);
    tw_release(memory->leja);
    tw_release(memory->scratch);
    tw_release(memory);
}

static tw_taylor_memory *create_memory(const tw_phi_workspace *workspace)
{
    enum {
        INPUTS = TW_PHI_MAX_ORDER + 1,
        BASIS = TW_RITZ_STEPS + 1,
        COLUMNS = INPUTS + BASIS + 10 /* state, sum and three terms have two columns each */
    };
    size_t n = (size_t)workspace->vector_size;
    tw_taylor_memory *memory = TW_NEW(tw_taylor_memory);
    if (!memory) return NULL;

    /* The guard keeps the product within size_t. */
    if (n < SIZE_MAX / COLUMNS) memory->vectors = TW_NEW_ARRAY(COLUMNS * n, double);
    memory->leja = TW_NEW_ARRAY(TW_NEWTON_MAX_DEGREE + 1, double);
    memory->scratch = TW_NEW_ARRAY(3 * (TW_NEWTON_MAX_DEGREE + 2), double);
    if (!memory->vectors || !memory->leja || !memory->scratch) {
        free_memory(memory);
        return NULL;
    }

    /* The basis of the bounds is not needed any more when outputs inside a substep are. */
    double *next = memory->vectors;
    memory->inputs = next;
    memory->basis = next + INPUTS * n;
    memory->substep.inside = memory->basis;

    /* Two columns each: the trajectory and its probe. */
    next += (INPUTS + BASIS) * n;
    memory->substep.state = next;
    memory->substep.sum = next + 2 * n;
    for (int i = 0; i < 3; i++) memory->substep.term[i] = next + (size_t)(4 + 2 * i) * n;
    return memory;
}

tw_status tw_taylor_reserve(tw_phi_workspace *workspace, tw_phi_engine engine, tw_error *error)
{
    /* The other engine may have allocated it already. */
    tw_phi_engine other = engine == TW_PHI_LEJA ? TW_PHI_EXPMV : TW_PHI_LEJA;
    tw_taylor_memory *memory = workspace->memory[other];
    if (!memory) memory = create_memory(workspace);
    workspace->memory[engine] = memory;
    if (!memory) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* Only leja needs its points. */
    if (engine == TW_PHI_LEJA) tw_leja_points(TW_NEWTON_MAX_DEGREE + 1, memory->leja);
    return tw_phi_pair_reserve(workspace, error);
}

void tw_taylor_release(tw_phi_workspace *workspace)
{
    tw_taylor_memory *memory = workspace->memory[TW_PHI_EXPMV];
    if (!memory) memory = workspace->memory[TW_PHI_LEJA];
    free_memory(memory);
    workspace->memory[TW_PHI_EXPMV] = NULL;
    workspace->memory[TW_PHI_LEJA] = NULL;
    tw_phi_pair_release(workspace);
}

/* ---- inputs ---- */

/* A power of two near the largest |v_k|, so that squares do not overflow; 0 if all are zero. */
static tw_status find_scale(tw_taylor_call *call)
{
    const tw_phi_request *request = call->request;
    double largest = 0;
    for (int k = 0; k <= request->order; k++) {
        double norm = 0;
        if (!request->vectors[k]) continue;
        TW_TRY(tw_vector_norm(&call->op->space, request->vectors[k], &norm));
        largest = fmax(largest, norm);
    }
    if (!isfinite(largest)) return TW_NOT_FINITE;

    /* The exponent stays in a range in which the scale and its inverse are normal numbers. */
    call->scale = 0;
    if (largest > 0) call->scale = ldexp(1.0, (int)fmin(fmax(ilogb(largest), -1000), 1000));
    return TW_OK;
}

static double factorial(int k)
{
    return k < 2 ? 1 : k * factorial(k - 1);
}

/* Scaled copies of the vectors that are not zero, and the size to which errors relate. */
static tw_status take_inputs(tw_taylor_call *call)
{
    const tw_phi_request *request = call->request;
    int64_t n = call->op->space.local_size;
    call->size[0] = 0;
    call->size[1] = 0;
    for (int k = 0; k <= request->order; k++) {
        if (!request->vectors[k]) continue;

        /* The copy takes the next free place. */
        double *copy = call->memory->inputs + call->input_count * n;
        double *norm = call->input_norm[call->input_count];
        tw_vector_copy(n, request->vectors[k], copy);
        tw_vector_scale(n, 1 / call->scale, copy);
        TW_TRY(tw_phi_part_norms(call->workspace, &call->op->space, copy, norm));

        /* A zero vector gives its place to the next one. */
        if (norm[0] == 0 && norm[1] == 0) continue;
        for (int b = 0; b < 2; b++) call->size[b] += norm[b] / factorial(k);
        call->input_order[call->input_count++] = k;
    }

    /* Errors relate at least to the reference. */
    int parts = call->workspace->frame ? 2 : 1;
    for (int b = 0; b < parts; b++)
        call->size[b] = fmax(call->size[b], request->reference[b] / call->scale);
    return TW_OK;
}

/* Zeroes every output, and fills those at time zero: phi_k(0) = 1/k!. */
static void start_outputs(const tw_taylor_call *call)
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

/* ---- what is known beforehand ---- */

/* How errors grow: |exp(tA)| = exp(t lambda_max) for symmetric A, 1 for skew A. */
static void know_amplification(tw_taylor_call *call, const tw_taylor_trajectory *trajectories,
                               int count)
{
    if (call->op->symmetry == TW_GENERAL) return;

    for (int i = 0; i < count; i++) {
        /* For negative times the smallest eigenvalue is the one that grows. */
        double time = trajectories[i].time / trajectories[i].share;
        int sign = time > 0 ? 0 : 1;
        double rate = time * (sign == 0 ? call->bounds.real_max : call->bounds.real_min);
        tw_amplification_set_rate(&call->memory->amplification[sign], rate);
        call->amplification_known[sign] = true;
    }
}

/* The size to which truncation on the way relates. A part without a size of its own is fed by the
 * other one. */
static void guess_sizes(tw_taylor_call *call, double longest)
{
    double angle = fmin(longest * call->bounds.norm, 1);
    for (int b = 0; b < 2; b++) {
        call->target_size[b] = call->size[b];
        if (call->size[b] == 0 && call->workspace->frame)
            call->target_size[b] = FED_SHARE * angle * call->size[1 - b];
    }
}

/* After a first attempt the outputs show that size. */
static tw_status learn_sizes(tw_taylor_call *call)
{
    for (int i = 0; i < call->request->node_count; i++) {
        const double *output = call->request->outputs[i];
        double norm[2];
        TW_TRY(tw_phi_part_norms(call->workspace, &call->op->space, output, norm));

        /* A target is only lowered: it was a guess from above. */
        for (int b = 0; b < 2; b++) {
            double size = fmax(norm[b], call->size[b]);
            if (size > 0 && size < call->target_size[b]) call->target_size[b] = size;
        }
    }
    return TW_OK;
}

/* ---- attempts ---- */

/* Follows all trajectories once. */
static tw_status run_all(tw_taylor_call *call, const tw_taylor_trajectory *trajectories, int count)
{
    start_outputs(call);
    memset(call->truncation, 0, sizeof call->truncation);
    memset(call->rounding, 0, sizeof call->rounding);
    call->hump = 0;

    /* A polynomial is built anew for every trajectory. */
    for (int i = 0; i < count; i++) {
        call->trajectory = &trajectories[i];
        call->built_length = 0;
        TW_TRY(tw_taylor_trajectory_run(call));
    }
    return TW_OK;
}

/* Largest estimated errors over outputs and parts, in units of tolerance times size. */
static tw_status judge(const tw_taylor_call *call, double *truncation, double *rounding)
{
    *truncation = 0;
    *rounding = 0;
    double tolerance = call->workspace->options.tolerance;
    for (int i = 0; i < call->request->node_count; i++) {
        const double *output = call->request->outputs[i];
        double norm[2];
        TW_TRY(tw_phi_part_norms(call->workspace, &call->op->space, output, norm));

        /* A part without size has no relative error. */
        for (int b = 0; b < 2; b++) {
            double size = fmax(norm[b], call->size[b]);
            if (size == 0) continue;
            *truncation = fmax(*truncation, call->truncation[i][b] / (tolerance * size));
            *rounding = fmax(*rounding, call->rounding[i][b] / (tolerance * size));
        }
    }
    return isnan(*truncation) || isnan(*rounding) ? TW_NOT_FINITE : TW_OK;
}

/* Repeats with a tighter tolerance or shorter substeps as long as that can help. */
static tw_status run_until_trusted(tw_taylor_call *call, const tw_taylor_trajectory *trajectories,
                                   int count)
{
    for (int attempt = 1;; attempt++) {
        double truncation = 0;
        double rounding = 0;

        /* One attempt, and its errors in units of the tolerance. */
        TW_TRY(run_all(call, trajectories, count));
        TW_TRY(judge(call, &truncation, &rounding));
        call->statistics->estimated_error =
            (truncation + rounding) * call->workspace->options.tolerance;
        if (truncation + rounding <= 1) return TW_OK;

        /* Rounding can be reduced only if it comes from a hump. */
        bool lower_hump = rounding > 0.5 && call->hump > AVOIDABLE_HUMP;
        if (attempt == MAX_ATTEMPTS || (rounding > 1 && !lower_hump)) return TW_ILL_CONDITIONED;

        /* Caution shortens substeps; a smaller tolerance lengthens the polynomials. */
        if (lower_hump) call->caution *= 10 * rounding;
        if (truncation > LARGE_TRUNCATION)
            call->tolerance *= fmax(AIMED_TRUNCATION / truncation, 1e-12);
        TW_TRY(learn_sizes(call));
        call->statistics->rejected++;
    }
}

/* Finds the spectrum and follows the trajectories. */
static tw_status run(tw_taylor_call *call, const tw_taylor_trajectory *trajectories, int count)
{
    /* The longest time decides how well the spectrum must be known. */
    double longest = 0;
    for (int i = 0; i < count; i++) {
        if (!isfinite(trajectories[i].time)) return TW_NOT_FINITE;
        longest = fmax(longest, fabs(trajectories[i].time));
    }

    /* Cut by order, the trajectories of all vectors add up in one output. */
    call->sharing = call->input_count / trajectories[0].input_count;
    TW_TRY(tw_ritz_bounds_find(call->workspace, call->op, longest, call->memory->basis,
                               call->statistics, &call->bounds));
    know_amplification(call, trajectories, count);
    guess_sizes(call, longest);
    return run_until_trusted(call, trajectories, count);
}

static tw_status evaluate(tw_taylor_call *call)
{
    TW_TRY(find_scale(call));
    if (call->scale > 0) TW_TRY(take_inputs(call));

    /* Vectors that are all zero have no trajectory. */
    tw_taylor_trajectory trajectories[TW_TAYLOR_MAX_TRAJECTORIES];
    int count = 0;
    if (call->input_count > 0)
        count = tw_taylor_trajectories(call->request, call->input_count, call->input_order,
                                       trajectories);

    /* Without a trajectory, all outputs are at time zero or all inputs are zero. */
    tw_status status = TW_OK;
    if (count == 0)
        start_outputs(call);
    else
        status = run(call, trajectories, count);

    /* The outputs get back the scale of the inputs. */
    if (status == TW_OK || status == TW_ILL_CONDITIONED)
        for (int i = 0; i < call->request->node_count; i++)
            tw_vector_scale(call->op->space.local_size, call->scale, call->request->outputs[i]);
    return status;
}

tw_status tw_taylor_evaluate(const tw_taylor_method *method, tw_phi_workspace *workspace,
                             const tw_operator *op, const tw_phi_request *request,
                             tw_phi_statistics *statistics, tw_error *error)
{
    tw_taylor_memory *memory = workspace->memory[statistics->engine];
    tw_taylor_call call = {.method = method,
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
