/* What happens inside an accepted step: dense output, requested times, events. */
#include <float.h>
#include <math.h>

#include "base/fail.h"
#include "integrators/integrator_internal.h"
#include "linalg/vector.h"

/* F at both ends of the last step, into the given arrays. */
static tw_status end_slopes(tw_integrator *integrator, const double *u_end, double *F0, double *F1)
{
    double t_end = integrator->t_old + integrator->step_taken;
    int64_t size = integrator->system.size;
    tw_status status = TW_OK;
    if (integrator->F_old_known)
        tw_vector_copy(size, integrator->F_old, F0);
    else
        status = tw_system_rhs(&integrator->system, integrator->t_old, integrator->u_old, F0);
    if (status == TW_OK) status = tw_system_rhs(&integrator->system, t_end, u_end, F1);
    return status;
}

/* Quintic through (x, v, a) at both ends and its derivative, for second-order problems. */
static void quintic(int64_t n, double h, double s, const double *u0, const double *u1,
                    const double *F0, const double *F1, double *u)
{
    double s2 = s * s, s3 = s2 * s, s4 = s3 * s, s5 = s4 * s;
    double w[6] = {1 - 10 * s3 + 15 * s4 - 6 * s5,
                   10 * s3 - 15 * s4 + 6 * s5,
                   h * (s - 6 * s3 + 8 * s4 - 3 * s5),
                   h * (-4 * s3 + 7 * s4 - 3 * s5),
                   h * h * 0.5 * (s2 - 3 * s3 + 3 * s4 - s5),
                   h * h * 0.5 * (s3 - 2 * s4 + s5)};
    double d[6] = {(-30 * s2 + 60 * s3 - 30 * s4) / h,
                   (30 * s2 - 60 * s3 + 30 * s4) / h,
                   1 - 18 * s2 + 32 * s3 - 15 * s4,
                   -12 * s2 + 28 * s3 - 15 * s4,
                   h * 0.5 * (2 * s - 9 * s2 + 12 * s3 - 5 * s4),
                   h * 0.5 * (3 * s2 - 8 * s3 + 5 * s4)};
    for (int64_t i = 0; i < n; i++) {
        double x0 = u0[i], x1 = u1[i], v0 = u0[n + i], v1 = u1[n + i], a0 = F0[n + i],
               a1 = F1[n + i];
        u[i] = w[0] * x0 + w[1] * x1 + w[2] * v0 + w[3] * v1 + w[4] * a0 + w[5] * a1;
        u[n + i] = d[0] * x0 + d[1] * x1 + d[2] * v0 + d[3] * v1 + d[4] * a0 + d[5] * a1;
    }
}

static void cubic(int64_t n, double h, double s, const double *u0, const double *u1,
                  const double *F0, const double *F1, double *u)
{
    double s2 = s * s, s3 = s2 * s;
    for (int64_t i = 0; i < n; i++)
        u[i] = (1 - 3 * s2 + 2 * s3) * u0[i] + (3 * s2 - 2 * s3) * u1[i] +
               h * (s - 2 * s2 + s3) * F0[i] + h * (s3 - s2) * F1[i];
}

static tw_status hermite(tw_integrator *integrator, double theta, double *u)
{
    int64_t size = integrator->system.size;
    double *F0 = integrator->scratch, *F1 = integrator->scratch + size;
    const double *u_end = integrator->truncated ? integrator->u_new : integrator->u;
    tw_status status = end_slopes(integrator, u_end, F0, F1);
    if (status) return status;
    if (integrator->system.second_order)
        quintic(integrator->system.n, integrator->step_taken, theta, integrator->u_old, u_end, F0,
                F1, u);
    else
        cubic(size, integrator->step_taken, theta, integrator->u_old, u_end, F0, F1, u);
    return TW_OK;
}

tw_status tw_integrator_interpolate(tw_integrator *integrator, double t, double *u, tw_error *error)
{
    if (!integrator || !u) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    double slack = 1e-12 * fmax(fabs(integrator->t), integrator->step_taken);
    if (!(t >= integrator->t_old - slack && t <= integrator->t + slack))
        return tw_fail(error, TW_INVALID_ARGUMENT, "t = %g is outside the last step [%g, %g]", t,
                       integrator->t_old, integrator->t);
    double same = tw_time_slack(integrator->t, integrator->step_taken);
    if (t >= integrator->t - same || integrator->step_taken == 0) {
        tw_vector_copy(integrator->system.size, integrator->u, u);
        return TW_OK;
    }
    if (t <= integrator->t_old + same) {
        tw_vector_copy(integrator->system.size, integrator->u_old, u);
        return TW_OK;
    }
    double theta = (t - integrator->t_old) / integrator->step_taken;
    tw_status status = integrator->scheme->interpolate
                           ? integrator->scheme->interpolate(integrator, theta, u)
                           : hermite(integrator, theta, u);
    if (status == TW_OK && !tw_vector_is_finite(integrator->system.size, u)) status = TW_NOT_FINITE;
    return status ? tw_fail(error, status, "dense output at t = %g: %s", t, tw_status_text(status))
                  : TW_OK;
}

tw_status tw_integrator_expect_output(tw_integrator *integrator, double t0, double interval)
{
    if (!integrator || !isfinite(t0) || !(interval >= 0)) return TW_INVALID_ARGUMENT;
    tw_status status =
        integrator->scheme->expect ? integrator->scheme->expect(integrator, interval) : TW_OK;
    integrator->expected_start = t0;
    integrator->expected_interval = status == TW_OK ? interval : 0;
    return status;
}

tw_status tw_integrator_on_output(tw_integrator *integrator, double t0, double interval,
                                  tw_output_function *function, void *context)
{
    if (!integrator || !isfinite(t0) || !(interval > 0) || isinf(interval))
        return TW_INVALID_ARGUMENT;
    integrator->on_output = function;
    integrator->on_output_context = context;
    integrator->output_start = t0;
    integrator->output_interval = interval;
    integrator->output_next = 0;
    return function ? tw_integrator_expect_output(integrator, t0, interval) : TW_OK;
}

/* The first k whose time lies after t_old; the multiples passed before are another run's. */
static void skip_past_outputs(tw_integrator *integrator)
{
    double passed = floor((integrator->t_old - integrator->output_start) /
                          integrator->output_interval * (1 + 1e-12));
    int64_t first = passed < 0 ? 0 : (int64_t)passed + 1;
    if (first > integrator->output_next) integrator->output_next = first;
}

static tw_status report_outputs(tw_integrator *integrator, tw_error *error)
{
    if (!integrator->on_output) return TW_OK;
    skip_past_outputs(integrator);
    double *u = integrator->scratch + 2 * integrator->system.size;
    for (;; integrator->output_next++) {
        double t = integrator->output_start +
                   (double)integrator->output_next * integrator->output_interval;
        if (t > integrator->t * (1 + (integrator->t > 0 ? 1 : -1) * 1e-14) + DBL_MIN) return TW_OK;
        tw_status status = tw_integrator_interpolate(integrator, fmin(t, integrator->t), u, error);
        if (status == TW_OK) status = integrator->on_output(integrator->on_output_context, t, u);
        if (status)
            return tw_fail(error, status, "output at t = %g: %s", t, tw_status_text(status));
    }
}

tw_status tw_integrator_add_event(tw_integrator *integrator, const tw_event *event, tw_error *error)
{
    if (!integrator || !event || !event->value) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    if (integrator->event_count == TW_MAX_EVENTS)
        return tw_fail(error, TW_INVALID_ARGUMENT, "at most %d events", TW_MAX_EVENTS);
    integrator->events[integrator->event_count++] = *event;
    return integrator->started ? tw_integrator_reset_events(integrator) : TW_OK;
}

tw_status tw_integrator_reset_events(tw_integrator *integrator)
{
    for (int i = 0; i < integrator->event_count; i++) {
        const tw_event *event = &integrator->events[i];
        tw_status status = event->value(event->context, integrator->t, integrator->u,
                                        &integrator->event_values[i]);
        if (status) return status;
    }
    return TW_OK;
}

static bool crosses(const tw_event *event, double before, double after)
{
    bool rises = before < 0 && after >= 0, falls = before > 0 && after <= 0;
    return (rises && event->direction >= 0) || (falls && event->direction <= 0);
}

/* The zero in [a, b] by bisection guarded regula falsi (Illinois) on the dense output; u is left at *t. */
static tw_status locate(tw_integrator *integrator, const tw_event *event, double g_a, double g_b,
                        double *t, double *u, tw_error *error)
{
    double a = integrator->t_old, b = integrator->t;
    double tolerance =
        event->tolerance > 0 ? event->tolerance : 1e-12 * fmax(fabs(b), integrator->step_taken);
    int side = 0;
    *t = b;
    for (int iteration = 0; iteration < 200 && b - a > tolerance; iteration++) {
        double c = g_b != g_a ? b - g_b * (b - a) / (g_b - g_a) : 0.5 * (a + b);
        if (!(c > a && c < b) || iteration % 8 == 7) c = 0.5 * (a + b);
        double g = 0;
        tw_status status = tw_integrator_interpolate(integrator, c, u, error);
        if (status == TW_OK) status = event->value(event->context, c, u, &g);
        if (status) return status;
        if (g == 0) {
            b = c;
            break;
        }
        if ((g > 0) == (g_b > 0)) {
            b = c, g_b = g;
            if (side == -1) g_a *= 0.5;
            side = -1;
        } else {
            a = c, g_a = g;
            if (side == 1) g_b *= 0.5;
            side = 1;
        }
    }
    *t = b;
    return tw_integrator_interpolate(integrator, b, u, error);
}

/* Ends the step at the event: the full end stays in u_new for interpolation. */
static void truncate_at(tw_integrator *integrator, double t, const double *u)
{
    double *end = integrator->u_new;
    integrator->u_new = integrator->u;
    integrator->u = end;
    tw_vector_copy(integrator->system.size, u, integrator->u);
    integrator->t = t;
    integrator->truncated = true;
    integrator->F_known = false;
    integrator->plan_count = 0;
    if (integrator->scheme->reset) integrator->scheme->reset(integrator);
}

/* The earliest stopping event of the step, located; others are reported in the order they were added. */
static tw_status report_events(tw_integrator *integrator, bool *stopped, tw_error *error)
{
    double *u = integrator->scratch + 2 * integrator->system.size,
           *stop_u = u + integrator->system.size;
    double stop_t = INFINITY;
    for (int i = 0; i < integrator->event_count; i++) {
        const tw_event *event = &integrator->events[i];
        double before = integrator->event_values[i], after = 0, t = 0;
        tw_status status = event->value(event->context, integrator->t, integrator->u, &after);
        if (status) return tw_fail(error, status, "event %d: %s", i, tw_status_text(status));
        integrator->event_values[i] = after;
        if (!crosses(event, before, after)) continue;
        status = locate(integrator, event, before, after, &t, u, error);
        if (status) return status;
        if (event->located) event->located(event->context, t, u);
        if (event->stop && t < stop_t) {
            stop_t = t;
            tw_vector_copy(integrator->system.size, u, stop_u);
        }
    }
    if (isinf(stop_t)) return TW_OK;
    *stopped = true;
    truncate_at(integrator, stop_t, stop_u);
    return tw_integrator_reset_events(integrator);
}

tw_status tw_integrator_report_step(tw_integrator *integrator, bool *stopped, tw_error *error)
{
    tw_status status = integrator->event_count ? report_events(integrator, stopped, error) : TW_OK;
    return status ? status : report_outputs(integrator, error);
}
