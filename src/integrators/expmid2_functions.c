/* Functions of the tangent in a step of expmid2. */
#include "integrators/expmid2.h"

#include <math.h>

#include "base/fail.h"
#include "linalg/vector.h"

/* Where the space of shift-invert does not converge, because a crumpled sheet has a thousand modes
 * about the cutoff, the step is made with fewer digits, down to this tolerance. Its error is
 * beside the displacement of one step. */
static const double fewest_digits = 1e-2;

/* ---- how fast the motion changes ---- */

/* The largest |a| of late: the present one, or the last one forgotten in ten times the time |v|/|a|
 * in which the motion changes. Where a body passes the point without force, |a| alone would say
 * that it moves on for ever. */
double tw_expmid2_recent_acceleration(const tw_expmid2_memory *memory)
{
    double before = tw_expmid2_history_of(memory)->acceleration;
    double forgotten = exp(-0.1 * memory->h * before / memory->speed);
    return fmax(memory->acceleration, memory->speed > 0 ? before * forgotten : 0);
}

/* The time |v|/|a| in which the motion changes; 0 where nothing accelerates. A body that has just
 * left rest counts with its least speed: its motion does not change as fast as |v|/|a| says. */
double tw_expmid2_slow_time(const tw_expmid2_memory *memory)
{
    double recent = tw_expmid2_recent_acceleration(memory);
    return recent > 0 ? fmax(memory->speed, memory->least_speed) / recent : 0;
}

/* ---- functions of the operator ---- */

static void count(tw_integrator *integrator, const tw_phi_statistics *statistics)
{
    tw_integrator_statistics *counts = &integrator->counts;
    counts->solves += statistics->solves;
    counts->factorisations += statistics->factorisations;
    counts->work += statistics->cost;

    /* Of the last evaluation alone. */
    counts->engine = statistics->engine;
    counts->pole = statistics->pole;
    counts->krylov_dimension = statistics->dimension;
    counts->phi_error_estimate = statistics->estimated_error;
}

static tw_mode_function mode_of(const tw_integrator *integrator, double theta)
{
    const tw_expmid2_memory *memory = integrator->memory;

    return (tw_mode_function){.h = memory->h,
                              .theta = theta,
                              .settles = integrator->options.relative_tolerance > 0,
                              .cutoff = integrator->options.expmid2.filter_cutoff,
                              .kappa = memory->kappa,
                              .bend = tw_expmid2_bend(integrator),
                              .mu = integrator->options.expmid2.dissipation,
                              .slow = tw_expmid2_slow_time(memory),
                              .rest_time = memory->rest_time,
                              .alpha = integrator->system.pair.rayleigh_mass,
                              .beta = integrator->system.pair.rayleigh_stiffness,
                              .rest_rate = integrator->system.second.symmetric_part.rest_rate};
}

/* Evaluates a request, with Newton's own matrix as the pole of shift-invert. */
tw_status tw_expmid2_evaluate(tw_integrator *integrator, tw_expmid2_memory *memory,
                              const tw_spectral_request *request, bool reuse, tw_error *error)
{
    tw_phi_options options = memory->phi;

    /* The pole: the user's, or that of the factor at hand. */
    double shift = tw_implicit_factor_shift(memory->implicit);
    bool own_pole = options.engine == TW_PHI_SHIFT_INVERT && options.pole != 0;
    if (options.engine == TW_PHI_SHIFT_INVERT && !own_pole && shift > 0)
        options.pole = sqrt(shift) / memory->h;

    /* Ten times the tolerance serves where the space of an engine chosen here does not converge. */
    bool may_loosen = integrator->options.phi.engine == TW_PHI_AUTO && !reuse;
    tw_phi_statistics statistics;
    tw_status status;
    for (;; options.tolerance *= 10) {
        statistics = (tw_phi_statistics){0};
        TW_TRY(tw_phi_workspace_set_options(memory->workspace, &options));

        /* An engine that keeps no basis answers by a sweep of its own. */
        status = TW_UNSUPPORTED;
        if (reuse) status = tw_spectral_reuse(memory->workspace, request, &statistics, error);
        if (status == TW_UNSUPPORTED)
            status = tw_spectral_apply(memory->workspace, &integrator->system.pair, request,
                                       &statistics, error);
        count(integrator, &statistics);
        bool loosen = may_loosen && 10 * options.tolerance <= fewest_digits;
        if (status != TW_NOT_CONVERGED || !loosen) break;
    }

    /* An answer that rounding limits will do: a thousandth is below the scheme's own error. */
    if (status == TW_ILL_CONDITIONED && statistics.estimated_error < 1e-3) return TW_OK;
    return status;
}

/* Start vectors that share a basis. */
typedef struct start_group {
    int count;
    const double *vectors[TW_MAX_BLOCK];
    tw_mode_start kinds[TW_MAX_BLOCK];
    int slot;        /* of the basis */
    int *dimensions; /* of tw_spectral_request */
} start_group;

static void add_start(start_group *group, tw_mode_start kind, const double *vector)
{
    group->kinds[group->count] = kind;
    group->vectors[group->count++] = vector;
}

/* v_n, a_m, c and a_t, as far as there are any. */
static start_group first_starts(const tw_expmid2_memory *memory)
{
    start_group group = {.slot = TW_EXPMID2_SLOT_STEP};
    add_start(&group, TW_MODE_FROM_V, memory->start_v);
    add_start(&group, TW_MODE_FROM_A, memory->a_m);
    if (memory->has_shift) add_start(&group, TW_MODE_FROM_C, memory->shift);
    if (memory->has_rate) add_start(&group, TW_MODE_FROM_T, memory->rate);
    return group;
}

/* outputs = functions of A of the start vectors of one group. */
static tw_status apply_group(tw_integrator *integrator, tw_expmid2_memory *memory, double theta,
                             const start_group *group, const tw_expmid2_outputs *outputs,
                             bool reuse, tw_error *error)
{
    /* One function for each output and start vector. */
    tw_mode_point point = {.lambda = NAN};
    tw_mode_function modes[TW_EXPMID2_MAX_OUTPUTS * TW_MAX_BLOCK];
    tw_spectral_function functions[TW_EXPMID2_MAX_OUTPUTS * TW_MAX_BLOCK];
    for (int i = 0; i < outputs->count * group->count; i++) {
        modes[i] = mode_of(integrator, theta);
        modes[i].output = outputs->kind[i / group->count];
        modes[i].start = group->kinds[i % group->count];
        modes[i].by_hand = tw_mode_by_hand(&modes[i]);
        modes[i].point = &point;
        functions[i] = (tw_spectral_function){tw_mode_value, &modes[i]};
    }

    tw_spectral_request request = {.start_count = group->count,
                                   .starts = group->vectors,
                                   .output_count = outputs->count,
                                   .outputs = outputs->vector,
                                   .functions = functions,
                                   .reference = outputs->reference,
                                   .time = memory->h,
                                   .smooth = true,
                                   .slot = group->slot,
                                   .dimensions = group->dimensions};
    return tw_expmid2_evaluate(integrator, memory, &request, reuse, error);
}

/* outputs = functions of A of the start vectors v_n, a_m, c, a_t, r, as far as there are any. */
tw_status tw_expmid2_apply_modes(tw_integrator *integrator, tw_expmid2_memory *memory, double theta,
                                 const tw_expmid2_outputs *outputs, bool reuse, tw_error *error)
{
    start_group first = first_starts(memory);
    first.dimensions = outputs->dimensions;
    bool one_group = !memory->has_rest || first.count < TW_MAX_BLOCK;
    if (memory->has_rest && one_group) add_start(&first, TW_MODE_FROM_R, memory->rest);
    TW_TRY(apply_group(integrator, memory, theta, &first, outputs, reuse, error));
    if (one_group) return TW_OK;

    /* The fifth start vector has a basis of its own. */
    int64_t n = integrator->system.n;
    start_group second = {.slot = TW_EXPMID2_SLOT_REST};
    add_start(&second, TW_MODE_FROM_R, memory->rest);
    tw_expmid2_outputs part = *outputs;
    part.vector[0] = memory->part;
    part.vector[1] = memory->part + n;
    TW_TRY(apply_group(integrator, memory, theta, &second, &part, reuse, error));
    for (int i = 0; i < 2; i++) tw_vector_axpy(n, 1.0, part.vector[i], outputs->vector[i]);
    return TW_OK;
}

/* x and v into memory->change. */
static tw_expmid2_outputs change_outputs(const tw_integrator *integrator,
                                         const tw_expmid2_memory *memory)
{
    int64_t n = integrator->system.n;
    return (tw_expmid2_outputs){.count = 2,
                                .kind = {TW_MODE_X, TW_MODE_V},
                                .vector = {memory->change, memory->change + n},
                                .reference = {memory->h * memory->speed, memory->speed}};
}

/* memory->change = the parts of x and v at the end of the step that need functions of A, and with them what the sums
 * beside the state need. */
tw_status tw_expmid2_find_change(tw_integrator *integrator, tw_expmid2_memory *memory,
                                 tw_error *error)
{
    tw_expmid2_outputs outputs = change_outputs(integrator, memory);
    outputs.dimensions = memory->dimensions;
    tw_expmid2_add_tally_output(integrator, memory, &outputs);
    return tw_expmid2_apply_modes(integrator, memory, 1.0, &outputs, false, error);
}

/* outputs at theta from the basis of the step. That basis was judged by what the end of the step
 * needs, so points inside it may have fewer digits: down to the tolerance `loosest`. */
static tw_status reuse_step_basis(tw_integrator *integrator, tw_expmid2_memory *memory,
                                  double theta, const tw_expmid2_outputs *outputs, double loosest)
{
    double asked = memory->phi.tolerance;
    tw_status status = TW_NOT_CONVERGED;
    while (status == TW_NOT_CONVERGED && memory->phi.tolerance <= loosest) {
        status = tw_expmid2_apply_modes(integrator, memory, theta, outputs, true, NULL);
        memory->phi.tolerance *= 10;
    }
    memory->phi.tolerance = asked;
    return status;
}

/* memory->change at a point inside the step. Its error may be ten times that of the step's end,
 * where the engine was chosen here. A new basis costs as much as the step itself, and is made only
 * where the old one does not serve. */
tw_status tw_expmid2_find_inside(tw_integrator *integrator, tw_expmid2_memory *memory, double theta)
{
    bool chosen_here = integrator->options.phi.engine == TW_PHI_AUTO;
    double loosest = (chosen_here ? 10 : 1) * memory->phi.tolerance;
    tw_expmid2_outputs outputs = change_outputs(integrator, memory);

    tw_status status = reuse_step_basis(integrator, memory, theta, &outputs, loosest);
    if (status != TW_NOT_CONVERGED) return status;
    return tw_expmid2_apply_modes(integrator, memory, theta, &outputs, false, NULL);
}

/* memory->change = the carried velocity (1 - chi) g, and the part of v in the middle of the step that
 * needs functions of A, from the step's own basis. TW_NOT_CONVERGED where the user asks for so few
 * digits that v_m is as good. */
tw_status tw_expmid2_find_middle(tw_integrator *integrator, tw_expmid2_memory *memory)
{
    int64_t n = integrator->system.n;
    tw_expmid2_outputs outputs = {.count = 2,
                                  .kind = {TW_MODE_CARRIED, TW_MODE_V},
                                  .vector = {memory->change, memory->change + n},
                                  .reference = {memory->speed, memory->speed}};
    return reuse_step_basis(integrator, memory, 0.5, &outputs, fewest_digits);
}

/* vector += what modes of infinite lambda add to the output, one start vector after the other. */
void tw_expmid2_add_by_hand(const tw_integrator *integrator, const tw_expmid2_memory *memory,
                            double theta, tw_mode_output output, double *vector)
{
    const double *starts[] = {memory->start_v, memory->a_m, memory->shift};
    tw_mode_function f = mode_of(integrator, theta);
    f.output = output;
    for (int i = 0; i <= TW_MODE_FROM_C; i++) {
        if (i == TW_MODE_FROM_C && !memory->has_shift) continue;
        f.start = (tw_mode_start)i;
        tw_vector_axpy(integrator->system.n, tw_mode_by_hand(&f), starts[i], vector);
    }
}

/* u = u_start + the change + what modes of infinite lambda do. */
void tw_expmid2_compose(const tw_integrator *integrator, const tw_expmid2_memory *memory,
                        double theta, const double *u_start, double *u)
{
    int64_t n = integrator->system.n;

    /* The change: of x from the start, of v as a whole. */
    tw_vector_copy(n, u_start, u);
    tw_vector_axpy(n, 1.0, memory->change, u);
    tw_vector_copy(n, memory->change + n, u + n);

    tw_expmid2_add_by_hand(integrator, memory, theta, TW_MODE_X, u);
    tw_expmid2_add_by_hand(integrator, memory, theta, TW_MODE_V, u + n);
}
