/* Steps: an attempt, its judgement, and its acceptance or rejection. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/interrupt.h"
#include "integrators/integrator_internal.h"
#include "linalg/vector.h"

/* A step that comes within this share of the limit goes to the limit: no step of rounding size is
 * left over. */
static const double LIMIT_SLACK = 1e-12;

/* Steps before the limit that schemes with equal_steps make equal: each is then shorter by at most
 * one part in so many. */
static const double LAST_STRETCH = 20;

/* Without options.smallest_step an adaptive run gives up below the larger of two bounds: this share
 * of |t|, where t + h hardly differs from t, and this share of the span t_limit - t, which matters
 * near t = 0 only. The second is so small because problems over many decades of time begin with
 * steps that are tiny compared with the span. */
static const double SMALLEST_SHARE_OF_TIME = 16 * DBL_EPSILON;
static const double SMALLEST_SHARE_OF_SPAN = 1e-30;

/* A step that was shortened to end at the limit says little about the next step size: unless its
 * error exceeds this share of the tolerance, the step size from before is kept if it is the
 * larger one. */
static const double SHORT_STEP_ERROR = 0.5;

/* Parts of a divided step that must be accepted in a row before longer ones are tried. */
enum { CALM_PARTS = 4 };

/* What the driver makes of an attempt: the state may be trusted, a smaller step may help, or
 * nothing helps. */
typedef enum verdict { VERDICT_ACCEPT, VERDICT_REJECT, VERDICT_FAIL } verdict;

static bool is_adaptive(const tw_integrator *integrator)
{
    return integrator->options.relative_tolerance > 0 && !integrator->scheme->own_steps;
}

static void exchange(double **a, double **b)
{
    double *c = *a;
    *a = *b;
    *b = c;
}

/* Lets the problem change u_new by impulses, and notes the kinetic energy that they give:
 *     (v' - v) . M (v' + v) / 2   for velocities v before and v' after them. */
static tw_status add_impulses(tw_integrator *integrator, double h)
{
    const tw_second_order_problem *problem = &integrator->system.second;
    int64_t n = integrator->system.n;
    double *v = integrator->u_new + n;
    double *change = integrator->scratch;
    double *sum = integrator->scratch + n;
    double *momentum = integrator->scratch + 2 * n;

    tw_vector_copy(n, v, sum);
    TW_TRY(problem->finish_step(problem->context, integrator->t, h, integrator->u,
                                integrator->u_new, &integrator->impulses));
    if (!integrator->impulses) return TW_OK;
    if (!tw_vector_is_finite(integrator->system.size, integrator->u_new)) return TW_NOT_FINITE;

    /* The laws may have changed alone. */
    if (memcmp(v, sum, (size_t)n * sizeof(double)) == 0) return TW_OK;
    tw_vector_add_scaled(n, v, -1.0, sum, change);
    tw_vector_axpy(n, 1.0, v, sum);
    TW_TRY(tw_system_mass(&integrator->system, sum, momentum));
    double product = 0;
    TW_TRY(tw_vector_dot(&problem->space, change, momentum, &product));
    integrator->impulse_work = 0.5 * product;
    return TW_OK;
}

tw_status tw_integrator_begin_step(tw_integrator *integrator, double h, tw_error *error)
{
    tw_system *system = &integrator->system;
    const tw_second_order_problem *problem = &system->second;
    if (!system->second_order || !problem->begin_step) return TW_OK;

    tw_internal_hand_over(integrator);
    tw_sparse *matrix = problem->stiffness_matrix;
    TW_TRY(problem->begin_step(problem->context, integrator->t, h, integrator->u, &matrix));

    /* What a rejected attempt left belongs to the matrix before. */
    if (matrix == problem->stiffness_matrix) return TW_OK;
    integrator->retry = false;
    return tw_system_take_matrix(system, matrix, error);
}

tw_status tw_integrator_attempt(tw_integrator *integrator, double h, tw_error *error)
{
    tw_internal_tell_scheme(integrator);
    tw_status status = tw_integrator_begin_step(integrator, h, error);
    if (status != TW_OK) return status;
    if (integrator->scheme->uses_rhs) status = tw_integrator_need_rhs(integrator);
    tw_tally_begin(integrator);
    if (status == TW_OK) status = integrator->scheme->attempt(integrator, h, error);
    bool is_checked = integrator->scheme->checks_result;
    if (status == TW_OK && !is_checked &&
        !tw_vector_is_finite(integrator->system.size, integrator->u_new))
        status = TW_NOT_FINITE;
    if (status != TW_OK) return status;

    /* The problem may add impulses. */
    integrator->impulses = false;
    integrator->impulse_work = 0;
    const tw_second_order_problem *problem = &integrator->system.second;
    if (!integrator->system.second_order || !problem->finish_step) return TW_OK;
    tw_tally_hand_over(integrator);
    return add_impulses(integrator, h);
}

void tw_integrator_forget_end(tw_integrator *integrator)
{
    const tw_scheme_table *scheme = integrator->scheme;
    if (integrator->impulses && !scheme->allows_impulses && scheme->reset)
        scheme->reset(integrator);
}

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
        if (integrator->newton_failed)
            counts->rejected_newton++;
        else
            counts->rejected_phi++;
        break;
    }
}

/* One attempt at h and whether its result may be trusted. *size is the error in units of the
 * tolerance, 0 if it is not known. */
static verdict judge(tw_integrator *integrator, double h, double *size, tw_status *status,
                     tw_error *error)
{
    *size = 0;
    integrator->has_error = false;
    integrator->lost_share = 0;
    integrator->newton_failed = false;
    integrator->energy_rejected = false;

    /* The attempt itself may fail in a way that a smaller step can cure. */
    if (integrator->doubles)
        *status = tw_doubling_attempt(integrator, h, error);
    else
        *status = tw_integrator_attempt(integrator, h, error);
    if (*status) {
        if (!tw_status_is_rejection(*status)) return VERDICT_FAIL;
        count_rejection(integrator, *status);
        return VERDICT_REJECT;
    }

    /* The local error must be within the tolerance. The comparison also rejects an estimate that
     * is NaN. */
    if (is_adaptive(integrator) && integrator->has_error) {
        *status = tw_error_norm(integrator, integrator->error_vector, size);
        if (*status) return VERDICT_FAIL;
        if (integrator->lost_share > *size) *size = integrator->lost_share;
        if (!(*size <= 1.0)) {
            integrator->counts.rejected_steps++;
            integrator->counts.rejected_estimate++;
            *status = TW_NOT_CONVERGED;
            return VERDICT_REJECT;
        }
    }

    /* The energy must not explode. A scheme with steps of its own went less far than h. */
    double taken = integrator->scheme->own_steps ? integrator->own_step : h;
    *status = tw_energy_guard_check(integrator, integrator->t + taken);
    if (*status == TW_OK) return VERDICT_ACCEPT;
    if (!tw_status_is_rejection(*status)) return VERDICT_FAIL;
    integrator->counts.rejected_steps++;
    integrator->counts.rejected_energy++;
    integrator->energy_rejected = true;
    tw_fail(error, *status, "the step raised the total energy beyond the bound");
    return VERDICT_REJECT;
}

/* Makes u_new the state. The state before the step and its F are kept for dense output. */
static void accept(tw_integrator *integrator, double h, double t_new, double size)
{
    /* The scheme hears of the step that it made last: with step doubling that is the
     * second half. */
    double made = integrator->doubles ? 0.5 * h : h;
    if (integrator->scheme->accepted) integrator->scheme->accepted(integrator, made);
    tw_integrator_forget_end(integrator);
    tw_internal_accept(integrator);

    exchange(&integrator->u_old, &integrator->u);
    exchange(&integrator->u, &integrator->u_new);
    exchange(&integrator->F_old, &integrator->F);
    integrator->F_old_known = integrator->F_known;
    integrator->F_known = false;

    integrator->t_old = integrator->t;
    integrator->t = t_new;
    integrator->step_taken = h;
    integrator->stage_known = true;
    integrator->retry = false;
    integrator->truncated = false;

    integrator->counts.steps++;
    integrator->counts.last_step = h;
    integrator->counts.error_estimate = size;
}

/* Adds the work of force evaluations since `evaluations` were counted; each is taken for one
 * product with the stiffness. The phi-engines count their own work. */
static void count_work(tw_integrator *integrator, int64_t evaluations)
{
    double bytes = integrator->system.pair.stiffness.bytes_per_product;
    if (bytes <= 0) bytes = 16.0 * (double)integrator->system.size;
    integrator->counts.work += (double)(integrator->counts.force_evaluations - evaluations) * bytes;
}

/* The error text of a step that nothing can save. */
static tw_status fail_at(const tw_integrator *integrator, tw_status status, double h,
                         const char *reason, tw_error *error)
{
    return tw_fail(error, status, "%s: the step of %g s at t = %g s cannot be trusted: %s",
                   tw_scheme_name(integrator->options.scheme), h, integrator->t, reason);
}

/* Why an attempt failed: what the scheme said, what the problem says, or the text of the status. */
static const char *reason_of(const tw_integrator *integrator, const tw_error *inner,
                             tw_status status)
{
    if (inner->text[0]) return inner->text;
    const tw_second_order_problem *problem = &integrator->system.second;
    bool can_tell = integrator->system.second_order && problem->explain;
    const char *told = NULL;
    if (status == TW_RECOVERABLE && can_tell) told = problem->explain(problem->context);
    return told ? told : tw_status_text(status);
}

/* Plans equal steps from t to t_limit: span/ceil(span/step) each. A plan with the same end
 * goes on. */
static void plan_fixed(tw_integrator *integrator, double t_limit)
{
    if (integrator->plan_count > 0 && integrator->plan_end == t_limit &&
        integrator->plan_done < integrator->plan_count)
        return;

    integrator->plan_start = integrator->t;
    integrator->plan_end = t_limit;
    integrator->plan_done = 0;
    integrator->plan_part = 0;
    integrator->plan_division = 0;
    integrator->plan_calm = 0;

    /* A span of k steps up to rounding takes k steps, not k + 1. */
    double span = t_limit - integrator->t;
    integrator->plan_count =
        (int64_t)ceil(span / integrator->options.step * (1.0 - 4 * DBL_EPSILON));
    if (integrator->plan_count < 1) integrator->plan_count = 1;
}

/* The end of the next part of a fixed step. It is computed from the plan's start, so that rounding
 * does not accumulate. */
static double planned_end(const tw_integrator *integrator, double *h)
{
    double parts = (double)((int64_t)1 << integrator->plan_division);
    double done = (double)integrator->plan_done + (double)(integrator->plan_part + 1) / parts;
    double whole = (integrator->plan_end - integrator->plan_start) / (double)integrator->plan_count;
    *h = whole / parts;
    if (done == (double)integrator->plan_count) return integrator->plan_end;
    return integrator->plan_start + done * whole;
}

/* Whether a fixed step that was rejected may be made in two halves: the problem says so by
 * begin_step. Where the energy guard rejected it, something must have touched in it. */
static bool may_divide(const tw_integrator *integrator)
{
    const tw_second_order_problem *problem = &integrator->system.second;
    if (!integrator->system.second_order || !problem->begin_step) return false;
    if (!integrator->energy_rejected || !problem->touched) return true;
    return problem->touched(problem->context);
}

/* Whether a rejected fixed step is made in two halves. A scheme that cannot change its step begins
 * anew. */
static bool divide_fixed_step(tw_integrator *integrator)
{
    if (integrator->plan_division == TW_LARGEST_DIVISION || !may_divide(integrator)) return false;
    integrator->plan_division++;
    integrator->plan_part *= 2;
    integrator->plan_calm = 0;
    integrator->retry = true;
    if (integrator->scheme->fixed_only && integrator->scheme->reset)
        integrator->scheme->reset(integrator);
    return true;
}

/* Counts the part of the step that was made. After a few parts without a rejection, parts of twice
 * the length are tried, where two of them make a whole. */
static void count_part(tw_integrator *integrator)
{
    integrator->plan_part++;
    integrator->plan_calm++;
    bool is_even = integrator->plan_part % 2 == 0;
    if (integrator->plan_division > 0 && is_even && integrator->plan_calm >= CALM_PARTS) {
        integrator->plan_part /= 2;
        integrator->plan_division--;
        integrator->plan_calm = 0;
        if (integrator->scheme->fixed_only && integrator->scheme->reset)
            integrator->scheme->reset(integrator);
    }
    if (integrator->plan_part < (int64_t)1 << integrator->plan_division) return;
    integrator->plan_done++;
    integrator->plan_part = 0;
}

static tw_status fixed_step(tw_integrator *integrator, double t_limit, tw_error *error)
{
    plan_fixed(integrator, t_limit);
    integrator->retry = false;
    for (;;) {
        double h = 0;
        double t_new = planned_end(integrator, &h);
        if (!(t_new > integrator->t))
            return tw_fail(error, TW_STEP_TOO_SMALL, "a step of %g s does not change t = %.17g s",
                           h, integrator->t);

        double size = 0;
        tw_status status = TW_OK;
        tw_error inner = {0};
        int64_t evaluations = integrator->counts.force_evaluations;
        verdict judged = judge(integrator, h, &size, &status, &inner);
        count_work(integrator, evaluations);
        if (judged == VERDICT_ACCEPT) {
            accept(integrator, h, t_new, size);
            count_part(integrator);
            integrator->counts.next_step = h;
            return TW_OK;
        }

        /* A fixed step is made smaller over contacts only. */
        if (judged == VERDICT_FAIL || !divide_fixed_step(integrator))
            return fail_at(integrator, status, h, reason_of(integrator, &inner, status), error);
    }
}

/* One step of a scheme that chooses its steps itself (cvode). */
static tw_status step_of_own_choice(tw_integrator *integrator, double t_limit, tw_error *error)
{
    double h = t_limit - integrator->t;
    double size = 0;
    tw_status status = TW_OK;
    tw_error inner = {0};
    if (judge(integrator, h, &size, &status, &inner) != VERDICT_ACCEPT)
        return fail_at(integrator, status, h, reason_of(integrator, &inner, status), error);

    double taken = integrator->own_step;
    accept(integrator, taken, taken >= h ? t_limit : integrator->t + taken, size);
    return TW_OK;
}

/* The step that fits: it never goes past the limit, and it leaves no tiny step before the limit.
 * Schemes that want equal steps share out the last stretch before the limit in equal parts. */
static double fitting_step(const tw_integrator *integrator, double t_limit)
{
    double rest = t_limit - integrator->t;
    double h = integrator->h_next;
    if (h >= rest * (1.0 - LIMIT_SLACK)) return rest;
    if (integrator->scheme->equal_steps && h * LAST_STRETCH > rest)
        return rest / ceil(rest / h * (1.0 - LIMIT_SLACK));
    return h > 0.5 * rest ? 0.5 * rest : h;
}

static double smallest_step(const tw_integrator *integrator, double t_limit)
{
    if (integrator->options.smallest_step > 0) return integrator->options.smallest_step;
    return fmax(SMALLEST_SHARE_OF_TIME * fabs(integrator->t),
                SMALLEST_SHARE_OF_SPAN * (t_limit - integrator->t));
}

/* Refuses a proposed step that is too small to go on with. The rest before the limit may be
 * smaller. `reason` says why the step became so small. */
static tw_status check_proposed_step(const tw_integrator *integrator, double t_limit,
                                     const char *reason, tw_error *error)
{
    double smallest = smallest_step(integrator, t_limit);
    double rest = t_limit - integrator->t;
    if (integrator->h_next >= fmin(smallest, rest)) return TW_OK;
    return tw_fail(error, TW_STEP_TOO_SMALL,
                   "%s: the next step at t = %.17g s, %g s, is below the smallest, %g s: %s",
                   tw_scheme_name(integrator->options.scheme), integrator->t, integrator->h_next,
                   smallest, reason);
}

/* Sets h_next if no step has been proposed yet: the user's first step, or one from the size
 * of F. */
static tw_status propose_first_step(tw_integrator *integrator, double t_limit, tw_error *error)
{
    if (integrator->h_next > 0) return TW_OK;
    integrator->h_next = integrator->options.step;
    if (integrator->h_next > 0) return TW_OK;

    tw_status status = tw_controller_first_step(integrator, t_limit, &integrator->h_next);
    if (status == TW_OK) return TW_OK;
    tw_error inner = {0};
    return tw_fail(error, status, "first step: %s", reason_of(integrator, &inner, status));
}

/* Accepts an adaptive step of h that cost `work`, and proposes the next one. */
static void accept_adaptive(tw_integrator *integrator, double h, double t_limit, double size,
                            double work)
{
    double proposed = integrator->h_next;
    accept(integrator, h, h == t_limit - integrator->t ? t_limit : integrator->t + h, size);
    double next = tw_controller_after_accept(integrator, h, size, work);

    /* A step shortened by the limit does not lower the proposal without need. */
    bool shortened = h < proposed;
    if (shortened && next < proposed && size < SHORT_STEP_ERROR) next = proposed;
    integrator->h_next = next;
    integrator->counts.next_step = next;
}

static tw_status adaptive_step(tw_integrator *integrator, double t_limit, tw_error *error)
{
    tw_status status = TW_OK;
    TW_TRY(propose_first_step(integrator, t_limit, error));
    TW_TRY(check_proposed_step(integrator, t_limit, "the error asks for smaller and smaller steps",
                               error));

    integrator->retry = false;
    for (int64_t tries = 0; tries < integrator->options.max_steps; tries++) {
        /* One attempt, and the work it took. */
        double h = fitting_step(integrator, t_limit);
        double size = 0;
        double work_before = integrator->counts.work;
        int64_t evaluations = integrator->counts.force_evaluations;
        tw_error inner = {0};
        verdict judged = judge(integrator, h, &size, &status, &inner);
        count_work(integrator, evaluations);

        /* The halves of a doubled step are in the scheme's past: only an accepted step
         * keeps them. */
        if (integrator->doubles && judged != VERDICT_ACCEPT) tw_doubling_undo(integrator);
        if (judged == VERDICT_FAIL)
            return fail_at(integrator, status, h, reason_of(integrator, &inner, status), error);
        if (judged == VERDICT_ACCEPT) {
            accept_adaptive(integrator, h, t_limit, size, integrator->counts.work - work_before);
            return TW_OK;
        }

        /* Rejected: a smaller step from the same state. */
        integrator->h_next = tw_controller_after_reject(integrator, h, size);
        integrator->retry = true;
        TW_TRY(
            check_proposed_step(integrator, t_limit, reason_of(integrator, &inner, status), error));
    }
    return tw_fail_plain(error, TW_BUDGET_EXHAUSTED);
}

/* One accepted step in the way of the scheme and the options. */
static tw_status any_step(tw_integrator *integrator, double t_limit, tw_error *error)
{
    if (integrator->scheme->own_steps) return step_of_own_choice(integrator, t_limit, error);
    if (is_adaptive(integrator)) return adaptive_step(integrator, t_limit, error);
    return fixed_step(integrator, t_limit, error);
}

/* Writes the integrator into its own snapshot. False if there is no memory for one. */
static bool keep_snapshot(tw_integrator *integrator)
{
    size_t size = 0;
    if (tw_integrator_serialise(integrator, NULL, 0, &size) != TW_OK) return false;

    /* The size is always the same: this allocates in the first step only. */
    if (!integrator->snapshot) integrator->snapshot = tw_allocate(size, 1);
    if (!integrator->snapshot) return false;
    integrator->snapshot_size = size;
    return tw_integrator_serialise(integrator, integrator->snapshot, size, &size) == TW_OK;
}

static tw_status ask_to_go_on(void *context)
{
    return tw_system_ask_to_go_on(context);
}

/* The same where the user may interrupt it: then the integrator is what it was before the step.
 * Steps of explicit schemes are short and are not interrupted. */
static tw_status interruptible_step(tw_integrator *integrator, double t_limit, tw_error *error)
{
    tw_system *system = &integrator->system;
    bool is_short = integrator->scheme->own_steps || integrator->scheme->is_explicit;
    if (!system->interrupt || is_short || !keep_snapshot(integrator))
        return any_step(integrator, t_limit, error);

    /* Loops of the problem that ask are told the same as evaluations. */
    system->was_interrupted = false;
    system->is_interruptible = true;
    tw_question before = tw_question_set((tw_question){ask_to_go_on, system});
    tw_status status = any_step(integrator, t_limit, error);
    tw_question_set(before);
    system->is_interruptible = false;
    if (status == TW_OK || !system->was_interrupted) return status;

    /* Whatever the attempt made of the interruption. */
    TW_TRY(
        tw_integrator_restore(integrator, integrator->snapshot, integrator->snapshot_size, error));
    return tw_fail(error, TW_INTERRUPTED, "interrupted at t = %g s", integrator->t);
}

tw_status tw_integrator_step(tw_integrator *integrator, double t_limit, tw_error *error)
{
    if (!integrator || !integrator->started)
        return tw_fail(error, TW_INVALID_ARGUMENT, "tw_integrator_start was not called");
    if (!(t_limit > integrator->t) || isinf(t_limit))
        return tw_fail(error, TW_INVALID_ARGUMENT, "t_limit %g is not after t = %g", t_limit,
                       integrator->t);
    TW_TRY(tw_check_time_dependence(integrator, t_limit, error));

    /* An event cut the last step short: what the scheme remembers lies behind the present state. */
    integrator->stopped = false;
    if (integrator->truncated && integrator->scheme->reset) integrator->scheme->reset(integrator);

    /* One accepted step. Attempts overwrite the stage of the step before. */
    integrator->stage_known = false;
    tw_status status = interruptible_step(integrator, t_limit, error);
    if (status) return status;

    /* The events and outputs inside it. An event may end the step earlier. */
    bool stopped = false;
    status = tw_integrator_report_step(integrator, &stopped, error);
    if (status) return status;

    /* The user's own function, which may end the run. */
    if (integrator->on_step) {
        status = integrator->on_step(integrator->on_step_context, integrator);
        if (status)
            return tw_fail(error, status, "the step callback ended the run: %s",
                           tw_status_text(status));
    }
    if (stopped)
        return tw_fail(error, TW_EVENT_STOP, "event %d stopped the run at t = %g s",
                       integrator->stop_event, integrator->stop_time);
    return TW_OK;
}

tw_status tw_integrator_advance(tw_integrator *integrator, double t_end, tw_error *error)
{
    if (!integrator || !integrator->started)
        return tw_fail(error, TW_INVALID_ARGUMENT, "tw_integrator_start was not called");
    if (!(t_end >= integrator->t) || isinf(t_end))
        return tw_fail(error, TW_INVALID_ARGUMENT, "t_end %g is before t = %g", t_end,
                       integrator->t);

    /* max_steps counts the steps of this call, the rejected ones too. */
    const tw_integrator_statistics *counts = &integrator->counts;
    int64_t begin = counts->steps + counts->rejected_steps;
    while (integrator->t < t_end) {
        if (counts->steps + counts->rejected_steps - begin >= integrator->options.max_steps)
            return tw_fail(error, TW_BUDGET_EXHAUSTED, "max_steps %lld used up at t = %g",
                           (long long)integrator->options.max_steps, integrator->t);
        tw_status status = tw_integrator_step(integrator, t_end, error);
        if (status) return status;
    }
    return TW_OK;
}
