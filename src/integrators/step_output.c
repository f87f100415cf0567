/* What an accepted step reports: the output times that it passed, and the events inside it. */
#include <float.h>
#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "integrators/integrator_internal.h"
#include "linalg/vector.h"

/* Most evaluations to locate an event: bisection alone needs 60 for 1e-12 of a step of any
 * length. */
enum { LOCATE_ITERATIONS = 200 };

/* Every so many iterations the interval is halved, so that regula falsi cannot creep. */
enum { BISECT_EVERY = 8 };

/* An event without a tolerance is located to this share of max(|t|, h). */
static const double EVENT_TOLERANCE = 1e-12;

tw_status tw_integrator_on_output(tw_integrator *integrator, double t0, double interval,
                                  tw_output_function *function, void *context)
{
    if (!integrator || !isfinite(t0) || !(interval > 0) || isinf(interval))
        return TW_INVALID_ARGUMENT;

    /* Outputs before the present time are skipped when the next step is reported. */
    tw_release(integrator->output_times);
    integrator->output_times = NULL;
    integrator->on_output = function;
    integrator->on_output_context = context;
    integrator->output_start = t0;
    integrator->output_interval = interval;
    integrator->output_next = 0;
    return function ? tw_integrator_expect_output(integrator, t0, interval) : TW_OK;
}

tw_status tw_integrator_on_output_at(tw_integrator *integrator, const double *times, int64_t count,
                                     tw_output_function *function, void *context, tw_error *error)
{
    if (!integrator || !times || count < 1) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(times[i]) || (i > 0 && !(times[i] > times[i - 1])))
            return tw_fail(error, TW_INVALID_ARGUMENT,
                           "output time %lld, %g, is not finite or not after the one before",
                           (long long)i, times[i]);

    double *copy = TW_NEW_ARRAY(count, double);
    if (!copy) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    tw_vector_copy(count, times, copy);
    tw_release(integrator->output_times);
    integrator->output_times = copy;
    integrator->output_count = count;
    integrator->output_next = 0;
    integrator->on_output = function;
    integrator->on_output_context = context;

    /* The times follow no rule that a scheme could be told. */
    return tw_integrator_expect_output(integrator, 0, 0);
}

/* The time of output k, INFINITY after the last one. */
static double output_time(const tw_integrator *integrator, int64_t k)
{
    if (!integrator->output_times)
        return integrator->output_start + (double)k * integrator->output_interval;
    return k < integrator->output_count ? integrator->output_times[k] : INFINITY;
}

/* Raises output_next to the first k whose time lies after t_old: earlier times belong to another
 * run. */
static void skip_past_outputs(tw_integrator *integrator)
{
    if (integrator->output_times) {
        double slack = tw_time_slack(integrator->t_old, integrator->step_taken);
        while (output_time(integrator, integrator->output_next) <= integrator->t_old + slack)
            integrator->output_next++;
        return;
    }
    double passed = floor((integrator->t_old - integrator->output_start) /
                          integrator->output_interval * (1 + 1e-12));
    int64_t first = passed < 0 ? 0 : (int64_t)passed + 1;
    if (first > integrator->output_next) integrator->output_next = first;
}

/* Hands the states at all output times up to t to the user. */
static tw_status report_outputs(tw_integrator *integrator, tw_error *error)
{
    if (!integrator->on_output) return TW_OK;
    skip_past_outputs(integrator);

    /* A time that exceeds t by a few rounding errors is t. */
    double sign = integrator->t > 0 ? 1 : -1;
    double last = integrator->t * (1 + sign * 1e-14) + DBL_MIN;
    double *u = integrator->scratch + 2 * integrator->system.size;
    for (;; integrator->output_next++) {
        double t = output_time(integrator, integrator->output_next);
        if (t > last) return TW_OK;
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

    /* After the start the new event needs a value to compare the next step with. */
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

/* Whether the value passes 0 in a direction that the event asks for. */
static bool crosses(const tw_event *event, double before, double after)
{
    bool rises = before < 0 && after >= 0;
    bool falls = before > 0 && after <= 0;
    return (rises && event->direction >= 0) || (falls && event->direction <= 0);
}

/* An interval [a, b] that holds a zero of the event's value, and the values at its ends. */
typedef struct bracket {
    double a, b;
    double g_a, g_b;
    int moved; /* the end that moved last: -1 for b, 1 for a, 0 for none */
} bracket;

/* The next point to look at: where the chord through the ends meets 0, or the middle. */
static double next_point(const bracket *interval, int iteration)
{
    double a = interval->a;
    double b = interval->b;
    double g_a = interval->g_a;
    double g_b = interval->g_b;

    double c = 0.5 * (a + b);
    if (g_b != g_a) c = b - g_b * (b - a) / (g_b - g_a);
    if (!(c > a && c < b) || iteration % BISECT_EVERY == BISECT_EVERY - 1) c = 0.5 * (a + b);
    return c;
}

/* Replaces one end by (c, g). Where the same end moves twice, the value at the other end is halved
 * (Illinois). */
static void narrow(bracket *interval, double c, double g)
{
    if ((g > 0) == (interval->g_b > 0)) {
        interval->b = c;
        interval->g_b = g;
        if (interval->moved == -1) interval->g_a *= 0.5;
        interval->moved = -1;
    } else {
        interval->a = c;
        interval->g_a = g;
        if (interval->moved == 1) interval->g_b *= 0.5;
        interval->moved = 1;
    }
}

/* The zero of the event in the last step, where its value goes from g_a to g_b: regula falsi
 * (Illinois) guarded by bisection, on the dense output. *t is the end of the bracket after the
 * zero, and u is the state there. */
static tw_status locate(tw_integrator *integrator, const tw_event *event, double g_a, double g_b,
                        double *t, double *u, tw_error *error)
{
    bracket interval = {integrator->t_old, integrator->t, g_a, g_b, 0};
    double tolerance = event->tolerance;
    if (!(tolerance > 0))
        tolerance = EVENT_TOLERANCE * fmax(fabs(interval.b), integrator->step_taken);

    for (int iteration = 0; iteration < LOCATE_ITERATIONS && interval.b - interval.a > tolerance;
         iteration++) {
        /* The event's value at the next point of the dense output. */
        double c = next_point(&interval, iteration);
        double g = 0;
        tw_status status = tw_integrator_interpolate(integrator, c, u, error);
        if (status == TW_OK) status = event->value(event->context, c, u, &g);
        if (status) return status;

        /* It is the zero itself, or a new end of the bracket. */
        if (g == 0) {
            interval.b = c;
            break;
        }
        narrow(&interval, c, g);
    }
    *t = interval.b;
    return tw_integrator_interpolate(integrator, interval.b, u, error);
}

/* Ends the step at (t, u). The state at its full end stays in u_new for interpolation. */
static void truncate_at(tw_integrator *integrator, double t, const double *u)
{
    double *end = integrator->u_new;
    integrator->u_new = integrator->u;
    integrator->u = end;
    tw_vector_copy(integrator->system.size, u, integrator->u);
    integrator->t = t;
    integrator->truncated = true;

    /* What belongs to the full end of the step no longer holds. */
    integrator->F_known = false;
    integrator->plan_count = 0;
    if (integrator->scheme->reset) integrator->scheme->reset(integrator);
}

/* Reports the events of the step in the order in which they were added; the earliest stopping one
 * ends the step. */
static tw_status report_events(tw_integrator *integrator, bool *stopped, tw_error *error)
{
    double *u = integrator->scratch + 2 * integrator->system.size;
    double *stop_u = u + integrator->system.size;
    double stop_t = INFINITY;
    for (int i = 0; i < integrator->event_count; i++) {
        /* The value at both ends of the step shows whether the event happened. */
        const tw_event *event = &integrator->events[i];
        double before = integrator->event_values[i];
        double after = 0;
        tw_status status = event->value(event->context, integrator->t, integrator->u, &after);
        if (status) return tw_fail(error, status, "event %d: %s", i, tw_status_text(status));
        integrator->event_values[i] = after;
        if (!crosses(event, before, after)) continue;

        /* Where it happened. */
        double t = 0;
        status = locate(integrator, event, before, after, &t, u, error);
        if (status) return status;
        if (event->located) event->located(event->context, t, u);

        if (event->stop && t < stop_t) {
            stop_t = t;
            tw_vector_copy(integrator->system.size, u, stop_u);
        }
    }
    if (isinf(stop_t)) return TW_OK;

    /* The run goes on from the stopping event, where all values are taken anew. */
    *stopped = true;
    truncate_at(integrator, stop_t, stop_u);
    return tw_integrator_reset_events(integrator);
}

tw_status tw_integrator_report_step(tw_integrator *integrator, bool *stopped, tw_error *error)
{
    if (integrator->event_count) {
        tw_status status = report_events(integrator, stopped, error);
        if (status) return status;
    }
    return report_outputs(integrator, error);
}
