/* Step doubling: the error estimate of schemes that have none of their own, and what lies inside
 * such a step. */
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "integrators/integrator_internal.h"
#include "linalg/vector.h"

tw_status tw_doubling_reserve(tw_integrator *integrator)
{
    integrator->doubles = integrator->options.relative_tolerance > 0 &&
                          integrator->error_order == 0 && !integrator->scheme->own_steps;
    if (!integrator->doubles) return TW_OK;
    integrator->error_order = integrator->order;

    /* The whole step, the state between the halves, and what the scheme remembers of the past. */
    double *past = NULL;
    size_t size = (size_t)integrator->system.size;
    size_t past_count = 0;
    if (integrator->scheme->history) past_count = integrator->scheme->history(integrator, &past);
    size_t internal_count = (size_t)tw_internal_count(integrator);
    integrator->doubling.u_whole =
        tw_allocate_zeroed(2 * size + past_count + internal_count, sizeof(double));
    if (!integrator->doubling.u_whole) return TW_OUT_OF_MEMORY;
    integrator->doubling.u_middle = integrator->doubling.u_whole + size;
    integrator->doubling.past = integrator->doubling.u_whole + 2 * size;
    if (internal_count) integrator->doubling.internal = integrator->doubling.past + past_count;
    return TW_OK;
}

void tw_doubling_release(tw_integrator *integrator)
{
    tw_release(integrator->doubling.u_whole);
}

/* What an attempt reads of the integrator and of the scheme: where it starts. */
typedef struct starting_point {
    double t;
    double *u, *F, *u_new;
    double *internal;
    bool F_known;
    double F_tally[3];
} starting_point;

static starting_point starting_point_of(const tw_integrator *integrator)
{
    starting_point start = {integrator->t,
                            integrator->u,
                            integrator->F,
                            integrator->u_new,
                            integrator->internal,
                            integrator->F_known,
                            {0}};
    memcpy(start.F_tally, integrator->F_tally, sizeof start.F_tally);
    return start;
}

static void start_from(tw_integrator *integrator, starting_point from)
{
    integrator->t = from.t;
    integrator->u = from.u;
    integrator->F = from.F;
    integrator->u_new = from.u_new;
    integrator->internal = from.internal;
    tw_internal_mark_all(integrator);
    integrator->F_known = from.F_known;
    memcpy(integrator->F_tally, from.F_tally, sizeof from.F_tally);
}

/* Copies what the scheme remembers of the past into `kept`, or back from there. */
static void copy_past(tw_integrator *integrator, double *kept, bool back)
{
    double *past = NULL;
    if (!integrator->scheme->history) return;
    size_t bytes = integrator->scheme->history(integrator, &past) * sizeof(double);
    if (bytes) memcpy(back ? past : kept, back ? kept : past, bytes);
}

/* The second half: from (t + h/2, u_middle) to u_new. Afterwards t, u and F are those of the
 * step's start. */
static tw_status second_half(tw_integrator *integrator, double h, tw_error *error)
{
    tw_step_doubling *doubling = &integrator->doubling;
    starting_point start = starting_point_of(integrator);

    /* The first half is accepted on trial: it becomes the scheme's past. F is evaluated at
     * the middle. */
    tw_vector_copy(integrator->system.size, integrator->u_new, doubling->u_middle);
    if (integrator->scheme->accepted) integrator->scheme->accepted(integrator, 0.5 * h);
    tw_integrator_forget_end(integrator);
    if (doubling->internal) {
        tw_vector_copy(tw_internal_count(integrator), integrator->system.second.internal.values,
                       doubling->internal);
        integrator->laws_changed = tw_internal_differ(integrator, start.internal);
        doubling->laws_changed = integrator->laws_changed;
    }
    start_from(integrator, (starting_point){start.t + 0.5 * h,
                                            doubling->u_middle,
                                            integrator->F_old,
                                            start.u_new,
                                            doubling->internal,
                                            false,
                                            {0}});
    integrator->F_old_known = false;
    tw_status status = tw_integrator_attempt(integrator, 0.5 * h, error);

    start_from(integrator, start);
    return status;
}

void tw_doubling_undo(tw_integrator *integrator)
{
    /* The second half had laws of its own. */
    integrator->laws_changed = integrator->doubling.laws_changed;
    integrator->doubling.laws_changed = false;
    tw_internal_tell_scheme(integrator);
    copy_past(integrator, integrator->doubling.past, true);
}

/* One step of h is compared with two steps of h/2 (Richardson). The two halves are the result;
 * their error is (u_halves - u_whole) / (2^p - 1) for a scheme of order p. */
tw_status tw_doubling_attempt(tw_integrator *integrator, double h, tw_error *error)
{
    int64_t size = integrator->system.size;
    integrator->retry = false;
    integrator->doubling.laws_changed = false;
    tw_internal_tell_scheme(integrator);
    copy_past(integrator, integrator->doubling.past, false);

    /* The whole step. */
    tw_status status = tw_integrator_attempt(integrator, h, error);
    if (status) return status;
    tw_vector_copy(size, integrator->u_new, integrator->doubling.u_whole);

    /* The two halves. */
    status = tw_integrator_attempt(integrator, 0.5 * h, error);
    if (status == TW_OK) status = second_half(integrator, h, error);
    if (status) return status;

    /* Schemes may use error_vector as scratch, so it is written after the last attempt. */
    double factor = 1.0 / (pow(2.0, integrator->order) - 1.0);
    tw_vector_copy(size, integrator->doubling.u_whole, integrator->error_vector);
    tw_vector_axpby(size, factor, integrator->u_new, -factor, integrator->error_vector);
    integrator->has_error = true;
    return TW_OK;
}

/* The scheme's memory describes the second half alone, so its own interpolation does not apply to
 * the whole step. A shorter step from the start, or from the middle, leads to the point instead: it
 * meets u_middle and the end exactly, and its error is not larger than theirs. */
tw_status tw_doubling_interpolate(tw_integrator *integrator, double theta, double *u)
{
    bool in_first = theta <= 0.5;
    double h = integrator->step_taken;
    double t_start = integrator->t_old;
    double length = theta * h;
    double *u_start = integrator->u_old;
    double *internal = integrator->internal_old;
    if (!in_first) {
        t_start += 0.5 * h;
        length -= 0.5 * h;
        u_start = integrator->doubling.u_middle;
        internal = integrator->doubling.internal;
    }
    if (length == 0) {
        tw_vector_copy(integrator->system.size, u_start, u);
        return TW_OK;
    }

    /* The attempt writes into u. F is evaluated anew, in the driver's scratch. */
    starting_point now = starting_point_of(integrator);
    bool laws_changed = integrator->laws_changed;
    start_from(integrator,
               (starting_point){t_start, u_start, integrator->scratch, u, internal, false, {0}});
    integrator->retry = false;
    tw_status status = tw_integrator_attempt(integrator, length, NULL);
    if (integrator->scheme->accepted) integrator->scheme->accepted(integrator, length);
    start_from(integrator, now);

    /* The problem goes on with the internal variables of the end, and so does the scheme. */
    if (!internal) return status;
    tw_status back = tw_integrator_begin_step(integrator, 0.0, NULL);
    tw_internal_mark_all(integrator);
    integrator->laws_changed = laws_changed || tw_internal_differ(integrator, internal);
    return status != TW_OK ? status : back;
}
