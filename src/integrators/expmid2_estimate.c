/* The error estimate of expmid2, and how far its stage is from symmetry. */
#include "integrators/expmid2.h"

#include <math.h>

#include "base/fail.h"
#include "linalg/vector.h"

/* remainder = s^2 [a_l - a_m + A (x_l - x_m) + (alpha + beta A) (v_l - v_m) - (a_t + r) (t_l - t_m)],
 * l the last step's midpoint, s = half the step over the distance of the midpoints. */
static tw_status find_remainder(tw_integrator *integrator, tw_expmid2_memory *memory)
{
    tw_system *system = &integrator->system;
    int64_t n = system->n;
    const tw_expmid2_history *history = tw_expmid2_history_of(memory);
    double *between = memory->work;
    double *force = memory->work + n;
    double *remainder = memory->remainder;

    /* A (x_l - x_m + beta (v_l - v_m)) */
    double beta = system->pair.rayleigh_stiffness;
    double time_between = integrator->t + 0.5 * memory->h - history->t_m;
    tw_vector_copy(n, tw_expmid2_last(integrator, 0), between);
    tw_vector_axpy(n, -1.0, memory->x_m, between);
    tw_vector_axpy(n, beta, tw_expmid2_last(integrator, 2), between);
    tw_vector_axpy(n, -beta, memory->v_m, between);
    TW_TRY(tw_system_stiffness(system, 1, between, force));
    TW_TRY(tw_system_mass_solve(system, force, remainder));

    /* + a_l - a_m + alpha (v_l - v_m) */
    double alpha = system->pair.rayleigh_mass;
    tw_vector_axpy(n, 1.0, tw_expmid2_last(integrator, 1), remainder);
    tw_vector_axpy(n, -1.0, memory->a_m, remainder);
    tw_vector_axpy(n, alpha, tw_expmid2_last(integrator, 2), remainder);
    tw_vector_axpy(n, -alpha, memory->v_m, remainder);

    /* - (a_t + r) (t_l - t_m) */
    if (memory->has_rate) tw_vector_axpy(n, time_between, memory->rate, remainder);
    if (memory->has_rest) tw_vector_axpy(n, time_between, memory->rest, remainder);

    double s = memory->h / (memory->h + history->h);
    tw_vector_scale(n, s * s, remainder);
    return TW_OK;
}

/* What the engine's error in the filtered remainder counts beside. A thousandth of |a| is safe. But
 * the remainder has all frequencies, and its filter has its pole far from Newton's where steps are
 * short: the basis for that would be many times the step's own. h/3 of it is compared with the
 * speed, so a twentieth of what would reject the step will do. */
static double estimate_reference(const tw_integrator *integrator, const tw_expmid2_memory *memory)
{
    const double *given = integrator->options.reference;
    double safe = 1e-3 * memory->acceleration;
    if (given[0] > 0 || given[1] > 0) return safe; /* the caller's own reference is unknown here */
    double rejecting = tw_error_rejected(integrator) * memory->speed / (memory->h / 3);
    return fmax(safe, 0.05 * rejecting / memory->phi.tolerance);
}

/* error += what the filter changes in slow modes. Without it the estimate is blind where a step has
 * become so long that it resolves nothing. The basis is that of the step. */
static tw_status add_filter_error(tw_integrator *integrator, tw_expmid2_memory *memory,
                                  tw_error *error)
{
    int64_t n = integrator->system.n;
    tw_expmid2_outputs outputs = {.count = 2,
                                  .kind = {TW_MODE_FILTER_X, TW_MODE_FILTER_V},
                                  .vector = {memory->change, memory->change + n},
                                  .reference = {memory->h * memory->speed, memory->speed}};
    tw_status status = tw_expmid2_apply_modes(integrator, memory, 1.0, &outputs, true, error);
    if (status == TW_NOT_CONVERGED)
        status = tw_expmid2_apply_modes(integrator, memory, 1.0, &outputs, false, error);
    if (status == TW_OK) tw_vector_axpy(2 * n, 1.0, memory->change, integrator->error_vector);
    return status;
}

/* A remainder is averaged over this share of the time |v|/|a| in which the motion changes, and the
 * average counts with this share of the present one at least, so that a sudden change is not missed.
 * Measured on the shaken rope of k = 1e6 at rtol 1e-5 (tests/test_moved_steps.c): 1,238 steps and 18
 * rejected ones without an average, 1,010, 882 and 781 steps and at most two rejected ones with the
 * shares 0.1, 0.3 and 1, at the same error. With 0.6 (and
 * 0.1 of the present one) the Duffing oscillators miss their tolerance. */
static const double averaged_share = 0.3;
static const double present_share = 0.2;

/* remainder = h^2 q, q the average in time of remainder/h^2. What fast modes do to slow ones has a
 * remainder of changing sign, which does not add up from step to step. */
static tw_status average_in_time(tw_integrator *integrator, tw_expmid2_memory *memory,
                                 double *remainder)
{
    int64_t n = integrator->system.n;
    double h = memory->h;
    double *average = memory->averaged;
    double now = 0;
    TW_TRY(tw_expmid2_norm(integrator, remainder, &now));

    /* q += (1 - exp(-h/tau)) (remainder/h^2 - q). The first step has no past. */
    double tau = averaged_share * tw_expmid2_slow_time(memory);
    double weight = 1;
    if (tw_expmid2_history_of(memory)->h > 0 && tau > 0) weight = -expm1(-h / tau);
    tw_vector_copy(n, tw_expmid2_last(integrator, 4), average);
    tw_vector_scale(n, 1 - weight, average);
    tw_vector_axpy(n, weight / (h * h), remainder, average);

    double size = 0;
    tw_vector_copy(n, average, remainder);
    tw_vector_scale(n, h * h, remainder);
    TW_TRY(tw_expmid2_norm(integrator, remainder, &size));
    if (size > 0 && size < present_share * now)
        tw_vector_scale(n, present_share * now / size, remainder);
    return TW_OK;
}

/* error = (h^2/6, h/3) times the filtered remainder: the parabola through r(-h/2) = r(h/2) = r,
 * r(0) = 0, integrated over the step. */
static tw_status estimate_from_remainder(tw_integrator *integrator, tw_expmid2_memory *memory,
                                         tw_error *error)
{
    int64_t n = integrator->system.n;
    double h = memory->h;
    double *estimate = integrator->error_vector;
    TW_TRY(find_remainder(integrator, memory));

    tw_mode_estimate mode = {.h = h,
                             .cutoff = integrator->options.expmid2.filter_cutoff,
                             .slow = tw_expmid2_slow_time(memory)};
    const tw_spectral_function function = {tw_mode_accumulating, &mode};
    const double *starts[1] = {memory->remainder};
    double reference[1] = {estimate_reference(integrator, memory)};

    /* The basis of the step stays in slot 0, for points inside the step. */
    tw_spectral_request request = {.start_count = 1,
                                   .starts = starts,
                                   .output_count = 1,
                                   .outputs = &estimate,
                                   .functions = &function,
                                   .reference = reference,
                                   .time = h,
                                   .smooth = true,
                                   .slot = TW_EXPMID2_SLOT_ESTIMATE};
    TW_TRY(tw_expmid2_evaluate(integrator, memory, &request, false, error));
    TW_TRY(average_in_time(integrator, memory, estimate));

    tw_vector_copy(n, estimate, estimate + n);
    tw_vector_scale(n, h * h / 6, estimate);
    tw_vector_scale(n, h / 3, estimate + n);
    return add_filter_error(integrator, memory, error);
}

/* The first step has no earlier midpoint: the start takes its place. */
static tw_status remember_start(tw_integrator *integrator, tw_expmid2_memory *memory)
{
    int64_t n = integrator->system.n;
    TW_TRY(tw_integrator_need_rhs(integrator));
    tw_vector_copy(n, integrator->u, tw_expmid2_last(integrator, 0));
    tw_vector_copy(n, integrator->F + n, tw_expmid2_last(integrator, 1));
    tw_vector_copy(n, integrator->u + n, tw_expmid2_last(integrator, 2));
    tw_expmid2_history_of(memory)->t_m = integrator->t;
    return TW_OK;
}

tw_status tw_expmid2_estimate(tw_integrator *integrator, tw_expmid2_memory *memory, tw_error *error)
{
    bool is_first = tw_expmid2_history_of(memory)->h == 0;
    if (is_first) TW_TRY(remember_start(integrator, memory));

    /* a_m is the acceleration of the slow motion: stiff forces do not mislead here. */
    double time = 0;
    TW_TRY(tw_controller_time_from_rest(integrator, memory->a_m, &time, &integrator->least_speed));
    memory->least_speed = memory->acceleration * time;
    TW_TRY(estimate_from_remainder(integrator, memory, error));
    return tw_expmid2_judge_vibration(integrator, memory, is_first, error);
}

/* How far the stage is from being the reversed step's too: |x_new - t v_new + t^2 a_m + c - x_m| /
 * |h v|, where the reversed step would need the same shift c. */
tw_status tw_expmid2_measure_asymmetry(tw_integrator *integrator, tw_expmid2_memory *memory)
{
    int64_t n = integrator->system.n;
    double t = 0.5 * memory->h;
    double *gap = memory->work;
    tw_vector_copy(n, integrator->u_new, gap);
    tw_vector_axpy(n, -t, integrator->u_new + n, gap);
    tw_vector_axpy(n, memory->kappa * t * t, memory->a_m, gap);
    if (memory->has_shift) tw_vector_axpy(n, 1.0, memory->shift, gap);
    tw_vector_axpy(n, -1.0, memory->x_m, gap);

    double size = 0;
    TW_TRY(tw_expmid2_norm(integrator, gap, &size));
    double scale = memory->h * memory->speed;
    integrator->counts.asymmetry = scale > 0 ? size / scale : 0;
    return TW_OK;
}
