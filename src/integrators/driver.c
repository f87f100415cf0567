/* Steps: try, judge, accept or reject. */
#include <float.h>
#include <math.h>

#include "base/fail.h"
#include "integrators/integrator_internal.h"
#include "linalg/vector.h"

static bool is_adaptive(const tw_integrator *integrator)
{
    return integrator->options.relative_tolerance > 0 && !integrator->scheme->own_steps;
}

static tw_status plain_attempt(tw_integrator *integrator, double h, tw_error *error)
{
    tw_status status = integrator->scheme->uses_rhs ? tw_integrator_need_rhs(integrator) : TW_OK;
    if (status == TW_OK) status = integrator->scheme->attempt(integrator, h, error);
    if (status == TW_OK && !tw_vector_is_finite(integrator->system.size, integrator->u_new))
        status = TW_NOT_FINITE;
    return status;
}

static void exchange(double **a, double **b)
{
    double *c = *a;
    *a = *b;
    *b = c;
}

/* The second half step of step doubling: from (t + h/2, u_new), with everything put back afterwards. */
static tw_status second_half(tw_integrator *integrator, double h, tw_error *error)
{
    bool known = integrator->F_known;
    exchange(&integrator->u, &integrator->u_new);
    exchange(&integrator->F, &integrator->F_old);
    integrator->t += 0.5 * h;
    integrator->F_known = integrator->F_old_known = false;
    double *half_start = integrator->scratch + integrator->system.size;
    tw_vector_copy(integrator->system.size, integrator->u_new,
                   half_start); /* u at the step's start */
    tw_status status = plain_attempt(integrator, 0.5 * h, error);
    integrator->t -= 0.5 * h;
    tw_vector_copy(integrator->system.size, half_start, integrator->u);
    exchange(&integrator->F, &integrator->F_old);
    integrator->F_known = known;
    return status;
}

/* Schemes without an embedded estimate: one step against two halves (Richardson); the halves are kept. */
static tw_status doubled_attempt(tw_integrator *integrator, double h, tw_error *error)
{
    int64_t size = integrator->system.size;
    integrator->retry = false;
    tw_status status = plain_attempt(integrator, h, error);
    if (status) return status;
    tw_vector_copy(size, integrator->u_new, integrator->error_vector);
    status = plain_attempt(integrator, 0.5 * h, error);
    if (status == TW_OK) status = second_half(integrator, h, error);
    if (status) return status;
    double factor = 1.0 / (pow(2.0, integrator->order) - 1.0);
    tw_vector_axpby(size, factor, integrator->u_new, -factor, integrator->error_vector);
    integrator->has_error = true;
    return TW_OK;
}

/* Rounding makes a body at rest tremble, in its last digits: its energy is rounding too, and has no scale to be judged
 * by. h |v| <= 1e-10 |x| is far above that and far below what can be seen. */
static tw_status is_trembling(const tw_system *system, double h, const double *u, bool *result)
{
    double moved = 0, size = 0;
    *result = false;
    if (!system->second_order) return TW_OK;
    tw_status status = tw_vector_norm(&system->second.space, u + system->n, &moved);
    if (status == TW_OK) status = tw_vector_norm(&system->second.space, u, &size);
    *result = fabs(h) * moved <= 1e-10 * size;
    return status;
}

/* In an exploding run the gain E - E_start is most of the energy turned over, kinetic + |potential change|, and both
 * grow; in a sound one it is the energy error. Just after a start from rest even a sound run turns over little more
 * than its error: so a gain beyond the bound is forgiven until the energy turned over has grown fourfold, or tenfold
 * beyond what it was in sound steps. */
static tw_status check_energy(tw_integrator *integrator, double t_new)
{
    if (!integrator->energy_guarded) return TW_OK;
    double kinetic = 0, potential = 0;
    const double *u = integrator->scheme->energy_state
                          ? integrator->scheme->energy_state(integrator)
                          : integrator->u_new;
    tw_status status = tw_system_energy(&integrator->system, t_new, u, &kinetic, &potential);
    if (status) return status;
    double gain = kinetic + potential - integrator->energy_start;
    double scale = kinetic + fabs(potential - integrator->potential_start);
    if (!isfinite(gain)) return TW_NOT_FINITE;
    if (gain <= integrator->options.energy_gain_bound * scale ||
        gain <= 1e-9 * fabs(integrator->energy_start)) {
        integrator->sound_scale = fmax(integrator->sound_scale, scale);
        integrator->violated_scale = 0;
        return TW_OK;
    }
    bool trembling = false;
    status = is_trembling(&integrator->system, t_new - integrator->t, u, &trembling);
    if (status || trembling) return status;
    if (integrator->violated_scale == 0) integrator->violated_scale = scale;
    bool grown = scale > 4 * integrator->violated_scale;
    bool sudden = integrator->sound_scale > 0 && scale > 10 * integrator->sound_scale;
    return grown || sudden ? TW_NOT_CONVERGED : TW_OK;
}

typedef enum verdict { VERDICT_ACCEPT, VERDICT_REJECT, VERDICT_FAIL } verdict;

static void count_rejection(tw_integrator *integrator, tw_status status)
{
    tw_integrator_statistics *counts = &integrator->counts;
    counts->rejected_steps++;
    switch (status) {
    case TW_NOT_FINITE:
        counts->rejected_not_finite++;
        break;
    case TW_RECOVERABLE:
        counts->rejected_callback++;
        break;
    case TW_NOT_POSITIVE_DEFINITE:
    case TW_SINGULAR:
        counts->rejected_newton++;
        break;
    default:
        counts->rejected_phi++;
        break;
    }
}

/* One attempt at h: is the result to be trusted? *size is the error in units of the tolerance (0 if unknown). */
static verdict judge(tw_integrator *integrator, double h, double *size, tw_status *status,
                     tw_error *error)
{
    *size = 0;
    integrator->has_error = integrator->newton_failed = false;
    *status = integrator->doubles ? doubled_attempt(integrator, h, error)
                                  : plain_attempt(integrator, h, error);
    if (*status) {
        if (!tw_status_is_rejection(*status)) return VERDICT_FAIL;
        count_rejection(integrator, *status);
        return VERDICT_REJECT;
    }
    if (is_adaptive(integrator) && integrator->has_error) {
        *status = tw_error_norm(integrator, integrator->error_vector, size);
        if (*status) return VERDICT_FAIL;
        if (!(*size <= 1.0)) {
            integrator->counts.rejected_steps++;
            integrator->counts.rejected_estimate++;
            *status = TW_NOT_CONVERGED;
            return VERDICT_REJECT;
        }
    }
    *status = check_energy(integrator, integrator->t + h);
    if (*status == TW_OK) return VERDICT_ACCEPT;
    if (!tw_status_is_rejection(*status)) return VERDICT_FAIL;
    integrator->counts.rejected_steps++;
    integrator->counts.rejected_energy++;
    tw_fail(error, *status, "the step raised the total energy beyond the bound");
    return VERDICT_REJECT;
}

static void accept(tw_integrator *integrator, double h, double t_new, double size)
{
    if (integrator->scheme->accepted) integrator->scheme->accepted(integrator, h);
    exchange(&integrator->u_old, &integrator->u);
    exchange(&integrator->u, &integrator->u_new);
    exchange(&integrator->F_old, &integrator->F);
    integrator->F_old_known = integrator->F_known;
    integrator->F_known = false;
    integrator->t_old = integrator->t;
    integrator->t = t_new;
    integrator->step_taken = h;
    integrator->retry = integrator->truncated = false;
    integrator->counts.steps++;
    integrator->counts.last_step = h;
    integrator->counts.error_estimate = size;
}

/* Work of the attempt besides the phi-engines': force evaluations, each about one product. */
static double work_done(const tw_integrator *integrator, int64_t evaluations)
{
    double bytes = integrator->system.pair.stiffness.bytes_per_product;
    if (bytes <= 0) bytes = 16.0 * (double)integrator->system.size;
    return (double)evaluations * bytes;
}

static tw_status fail_at(const tw_integrator *integrator, tw_status status, double h,
                         const char *reason, tw_error *error)
{
    return tw_fail(error, status, "%s: the step of %g s at t = %g s cannot be trusted: %s",
                   tw_scheme_name(integrator->options.scheme), h, integrator->t, reason);
}

static const char *reason_of(const tw_error *inner, tw_status status)
{
    return inner->text[0] ? inner->text : tw_status_text(status);
}

static void plan_fixed(tw_integrator *integrator, double t_limit)
{
    if (integrator->plan_count > 0 && integrator->plan_end == t_limit &&
        integrator->plan_done < integrator->plan_count)
        return;
    double span = t_limit - integrator->t;
    integrator->plan_start = integrator->t;
    integrator->plan_end = t_limit;
    integrator->plan_count =
        (int64_t)ceil(span / integrator->options.step * (1.0 - 4 * DBL_EPSILON));
    if (integrator->plan_count < 1) integrator->plan_count = 1;
    integrator->plan_done = 0;
}

static tw_status fixed_step(tw_integrator *integrator, double t_limit, tw_error *error)
{
    plan_fixed(integrator, t_limit);
    double h = (integrator->plan_end - integrator->plan_start) / (double)integrator->plan_count;
    bool last = integrator->plan_done + 1 == integrator->plan_count;
    double t_new = last ? integrator->plan_end
                        : integrator->plan_start + (double)(integrator->plan_done + 1) * h;
    double size = 0;
    tw_status status = TW_OK;
    tw_error inner = {0};
    integrator->retry = false;
    int64_t evaluations = integrator->counts.force_evaluations;
    if (judge(integrator, h, &size, &status, &inner) != VERDICT_ACCEPT)
        return fail_at(integrator, status, h, reason_of(&inner, status), error);
    integrator->counts.work +=
        work_done(integrator, integrator->counts.force_evaluations - evaluations);
    accept(integrator, h, t_new, size);
    integrator->plan_done++;
    integrator->counts.next_step = h;
    return TW_OK;
}

/* A scheme with steps of its own: one of them. */
static tw_status foreign_step(tw_integrator *integrator, double t_limit, tw_error *error)
{
    double size = 0, h = t_limit - integrator->t;
    tw_status status = TW_OK;
    tw_error inner = {0};
    if (judge(integrator, h, &size, &status, &inner) != VERDICT_ACCEPT)
        return fail_at(integrator, status, h, reason_of(&inner, status), error);
    double taken = integrator->own_step;
    accept(integrator, taken, taken >= h ? t_limit : integrator->t + taken, size);
    return TW_OK;
}

/* The step that fits: never past the limit, and no sliver left before it. */
static double fitting_step(const tw_integrator *integrator, double t_limit)
{
    double rest = t_limit - integrator->t, h = integrator->h_next;
    if (h >= rest * (1.0 - 1e-12)) return rest;
    return h > 0.5 * rest ? 0.5 * rest : h;
}

static double smallest_step(const tw_integrator *integrator)
{
    double given = integrator->options.smallest_step;
    return given > 0 ? given : 1e-14 * fmax(1.0, fabs(integrator->t));
}

static tw_status adaptive_step(tw_integrator *integrator, double t_limit, tw_error *error)
{
    tw_status status = TW_OK;
    if (integrator->h_next <= 0) {
        integrator->h_next = integrator->options.step;
        if (integrator->h_next <= 0)
            status = tw_controller_first_step(integrator, t_limit, &integrator->h_next);
        if (status) return tw_fail(error, status, "first step: %s", tw_status_text(status));
    }
    integrator->retry = false;
    for (int64_t tries = 0; tries < integrator->options.max_steps; tries++) {
        double h = fitting_step(integrator, t_limit), size = 0, before = integrator->counts.work;
        int64_t evaluations = integrator->counts.force_evaluations;
        tw_error inner = {0};
        verdict judged = judge(integrator, h, &size, &status, &inner);
        integrator->counts.work +=
            work_done(integrator, integrator->counts.force_evaluations - evaluations);
        if (judged == VERDICT_FAIL)
            return fail_at(integrator, status, h, reason_of(&inner, status), error);
        if (judged == VERDICT_ACCEPT) {
            bool shortened = h < integrator->h_next;
            double kept = integrator->h_next;
            accept(integrator, h, h == t_limit - integrator->t ? t_limit : integrator->t + h, size);
            double next =
                tw_controller_after_accept(integrator, h, size, integrator->counts.work - before);
            integrator->h_next = shortened && next < kept && size < 0.5 ? kept : next;
            integrator->counts.next_step = integrator->h_next;
            return TW_OK;
        }
        integrator->h_next = tw_controller_after_reject(integrator, h, size);
        integrator->retry = true;
        if (integrator->h_next < smallest_step(integrator))
            return fail_at(integrator, TW_STEP_TOO_SMALL, h, reason_of(&inner, status), error);
    }
    return tw_fail_plain(error, TW_BUDGET_EXHAUSTED);
}

tw_status tw_integrator_step(tw_integrator *integrator, double t_limit, tw_error *error)
{
    if (!integrator || !integrator->started)
        return tw_fail(error, TW_INVALID_ARGUMENT, "tw_integrator_start was not called");
    if (!(t_limit > integrator->t) || isinf(t_limit))
        return tw_fail(error, TW_INVALID_ARGUMENT, "t_limit %g is not after t = %g", t_limit,
                       integrator->t);
    tw_status status = TW_OK;
    if (integrator->scheme->own_steps)
        status = foreign_step(integrator, t_limit, error);
    else if (is_adaptive(integrator))
        status = adaptive_step(integrator, t_limit, error);
    else
        status = fixed_step(integrator, t_limit, error);
    bool stopped = false;
    if (status == TW_OK) status = tw_integrator_report_step(integrator, &stopped, error);
    if (status == TW_OK && integrator->on_step) {
        status = integrator->on_step(integrator->on_step_context, integrator);
        if (status)
            tw_fail(error, status, "the step callback ended the run: %s", tw_status_text(status));
    }
    return status == TW_OK && stopped ? tw_fail(error, TW_INTERRUPTED, "stopped at an event")
                                      : status;
}

tw_status tw_integrator_advance(tw_integrator *integrator, double t_end, tw_error *error)
{
    if (!integrator || !integrator->started)
        return tw_fail(error, TW_INVALID_ARGUMENT, "tw_integrator_start was not called");
    if (!(t_end >= integrator->t) || isinf(t_end))
        return tw_fail(error, TW_INVALID_ARGUMENT, "t_end %g is before t = %g", t_end,
                       integrator->t);
    int64_t begin = integrator->counts.steps + integrator->counts.rejected_steps;
    while (integrator->t < t_end) {
        if (integrator->counts.steps + integrator->counts.rejected_steps - begin >=
            integrator->options.max_steps)
            return tw_fail(error, TW_BUDGET_EXHAUSTED, "max_steps %lld used up at t = %g",
                           (long long)integrator->options.max_steps, integrator->t);
        tw_status status = tw_integrator_step(integrator, t_end, error);
        if (status) return status;
    }
    return TW_OK;
}
