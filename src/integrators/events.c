/* Events: zeros of functions g(t, u) along the dense output of an accepted step.
 *
 * How finely a step is looked at. Each interval [a, b], at first the whole step, is divided at one
 * point m. The cubic through the values and slopes of g at a and b predicts the value and the slope
 * at m. Where the prediction is wrong by more than RESOLVED of the size of g, g is not resolved and
 * both parts are divided again, down to SHORTEST of the step. Value and slope together do not
 * mistake a whole number of periods for rest, and m divides by the golden section, so that points
 * do not fall into step with a period. A scheme that interpolates by itself may pass many periods
 * in one step: its steps are divided twice at least.
 *
 * In a resolved interval each event changes its sign at most once, or a pair of zeros lies around
 * the extremum of the cubic, which is looked at as well. Intervals are visited from left to right,
 * and the events of one interval are sorted: everything is reported in the order of time, and
 * nothing after an event that stops the run. */
#include <math.h>

#include "base/fail.h"
#include "integrators/integrator_internal.h"
#include "linalg/vector.h"

/* Share of the size of g by which the prediction at m may be wrong. A cubic over an eighth of a
 * period is wrong by 0.2 %. */
static const double RESOLVED = 0.02;

/* Intervals below this share of the step are not divided: what comes and goes inside one
 * is missed. */
static const double SHORTEST = 2e-3;

/* Slopes are differences over this share of the step, well below SHORTEST. */
static const double SLOPE_SHARE = 1e-4;

/* The golden section, (3 - sqrt 5)/2. */
static const double DIVISION = 0.38196601125010515;

/* Pairs of zeros around an extremum may come in pairs of pairs; that is enough. */
enum { EXTREMA_DEPTH = 8 };

/* Most evaluations to locate an event: bisection alone needs 40 for 1e-12 of an interval. */
enum { LOCATE_ITERATIONS = 200 };

/* Every so many iterations the interval is halved, so that regula falsi cannot creep. */
enum { BISECT_EVERY = 8 };

/* An event without a tolerance is located to this share of max(|t|, h). */
static const double EVENT_TOLERANCE = 1e-12;

/* The values and slopes of all events at one time. */
typedef struct sample {
    double t;
    double g[TW_MAX_EVENTS];
    double slope[TW_MAX_EVENTS];
} sample;

/* What a search through one step carries along. */
typedef struct search {
    tw_integrator *integrator;
    int count;         /* of events when the step ended: a callback may add more */
    double *u;         /* scratch: the state last looked at */
    double *stop_u;    /* scratch: the state at a stop */
    double difference; /* over which slopes are taken [s] */
    bool stopped;
    tw_error *error;
} search;

/* A zero that was found. */
typedef struct zero {
    double t;
    int event;
} zero;

tw_status tw_integrator_add_event(tw_integrator *integrator, const tw_event *event, tw_error *error)
{
    if (!integrator || !event || !event->value) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    if (integrator->event_count == TW_MAX_EVENTS)
        return tw_fail(error, TW_INVALID_ARGUMENT, "at most %d events", TW_MAX_EVENTS);
    if (!(event->tolerance >= 0) || isinf(event->tolerance))
        return tw_fail(error, TW_INVALID_ARGUMENT, "the tolerance of an event must be >= 0");
    if (event->direction < -1 || event->direction > 1)
        return tw_fail(error, TW_INVALID_ARGUMENT, "the direction of an event is -1, 0 or 1");

    /* After the start the new event needs a value to compare the next step with. */
    integrator->events[integrator->event_count++] = *event;
    if (!integrator->started) return TW_OK;
    tw_status status = tw_integrator_reset_events(integrator);
    if (status == TW_OK) return TW_OK;

    /* An event that has no value is not added. */
    integrator->event_count--;
    return tw_fail_plain(error, status);
}

bool tw_integrator_stopped_at(const tw_integrator *integrator, int *event, double *t)
{
    if (!integrator || !integrator->stopped) return false;
    if (event) *event = integrator->stop_event;
    if (t) *t = integrator->stop_time;
    return true;
}

/* The value of an event at (t, u). One that is not finite has no sign, and would lose crossings. */
static tw_status event_value(const tw_event *event, double t, const double *u, double *g)
{
    TW_TRY(event->value(event->context, t, u, g));
    return isfinite(*g) ? TW_OK : TW_NOT_FINITE;
}

/* The values of the first `count` events at (t, u). */
static tw_status evaluate(const tw_integrator *integrator, int count, double t, const double *u,
                          double *g)
{
    for (int i = 0; i < count; i++) TW_TRY(event_value(&integrator->events[i], t, u, &g[i]));
    return TW_OK;
}

tw_status tw_integrator_reset_events(tw_integrator *integrator)
{
    return evaluate(integrator, integrator->event_count, integrator->t, integrator->u,
                    integrator->event_values);
}

/* The values of all events at a time inside the step. */
static tw_status evaluate_inside(search *s, double t, double *g)
{
    TW_TRY(tw_integrator_interpolate(s->integrator, t, s->u, s->error));
    tw_status status = evaluate(s->integrator, s->count, t, s->u, g);
    if (status) return tw_fail(s->error, status, "event at t = %g: %s", t, tw_status_text(status));
    return TW_OK;
}

/* Adds the slopes to a sample whose values are known: differences forwards or (sign
 * -1) backwards. */
static tw_status find_slopes(search *s, double sign, sample *at)
{
    double moved[TW_MAX_EVENTS] = {0};
    double difference = sign * s->difference;
    TW_TRY(evaluate_inside(s, at->t + difference, moved));
    for (int i = 0; i < s->count; i++) at->slope[i] = (moved[i] - at->g[i]) / difference;
    return TW_OK;
}

static tw_status take_sample(search *s, double t, sample *out)
{
    out->t = t;
    TW_TRY(evaluate_inside(s, t, out->g));
    return find_slopes(s, 1.0, out);
}

/* Whether the cubic through a and b predicts the values and slopes at m for all events. */
static bool is_resolved(const search *s, const sample *a, const sample *m, const sample *b)
{
    double h = b->t - a->t;
    double x = (m->t - a->t) / h;
    double x2 = x * x;
    double x3 = x2 * x;
    for (int i = 0; i < s->count; i++) {
        /* The cubic through values and slopes at a and b, at the share x. */
        double g = (1 - 3 * x2 + 2 * x3) * a->g[i] + (3 * x2 - 2 * x3) * b->g[i] +
                   h * (x - 2 * x2 + x3) * a->slope[i] + h * (x3 - x2) * b->slope[i];

        /* The derivative of the cubic. */
        double slope = 6 * (x2 - x) / h * (a->g[i] - b->g[i]) + (1 - 4 * x + 3 * x2) * a->slope[i] +
                       (3 * x2 - 2 * x) * b->slope[i];

        /* A wrong slope matters by the value it leads to over an eighth of the interval. */
        double allowed = RESOLVED * fmax(fabs(m->g[i]), fmax(fabs(a->g[i]), fabs(b->g[i])));
        if (!(fabs(g - m->g[i]) <= allowed)) return false;
        if (!(0.125 * h * fabs(slope - m->slope[i]) <= allowed)) return false;
    }
    return true;
}

/* Whether the value passes 0 in a direction that the event asks for. */
static bool crosses(const tw_event *event, double before, double after)
{
    bool rises = before < 0 && after >= 0;
    bool falls = before > 0 && after <= 0;
    return (rises && event->direction >= 0) || (falls && event->direction <= 0);
}

/* An interval [a, b] that holds a zero of one event, and the event's values at its ends. */
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
    double middle = 0.5 * (a + b);
    if (g_b == g_a || iteration % BISECT_EVERY == BISECT_EVERY - 1) return middle;

    double c = b - g_b * (b - a) / (g_b - g_a);
    return c > a && c < b ? c : middle;
}

/* Replaces one end by (c, g). Where the same end moves twice, the value at the other end is
 * halved (Illinois). */
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

/* The zero of an event between two samples by regula falsi (Illinois) guarded by bisection. *t is
 * the end of the bracket behind the zero: there the event has its new sign, or 0. */
static tw_status locate(search *s, int which, const sample *a, const sample *b, double *t)
{
    const tw_event *event = &s->integrator->events[which];
    bracket interval = {a->t, b->t, a->g[which], b->g[which], 0};
    double tolerance = event->tolerance;
    if (!(tolerance > 0))
        tolerance = EVENT_TOLERANCE * fmax(fabs(s->integrator->t), fabs(s->integrator->step_taken));

    for (int iteration = 0; iteration < LOCATE_ITERATIONS; iteration++) {
        if (interval.g_b == 0 || interval.b - interval.a <= tolerance) break;
        double c = next_point(&interval, iteration);
        if (!(c > interval.a && c < interval.b)) break;

        /* The event's value at c makes c the new end on its side. */
        double g = 0;
        TW_TRY(tw_integrator_interpolate(s->integrator, c, s->u, s->error));
        TW_TRY(event_value(event, c, s->u, &g));
        if (g == 0) {
            interval.b = c;
            break;
        }
        narrow(&interval, c, g);
    }
    *t = interval.b;
    return TW_OK;
}

/* Ends the step at (t, u). The state at its full end stays in u_new for interpolation. */
static tw_status truncate_at(tw_integrator *integrator, double t, const double *u)
{
    double *end = integrator->u_new;
    integrator->u_new = integrator->u;
    integrator->u = end;
    tw_vector_copy(integrator->system.size, u, integrator->u);
    integrator->t = t;
    integrator->truncated = true;

    /* What belongs to the full end of the step no longer holds. The scheme still holds the step for
     * dense output; it forgets it when the next step begins. */
    integrator->F_known = false;
    integrator->plan_count = 0;

    /* What flowed in the step flows at the end of the next one, which begins here. */
    if (tw_internal_count(integrator) == 0) return TW_OK;
    tw_internal_go_back(integrator);
    return tw_integrator_begin_step(integrator, 0.0, NULL);
}

/* Stops at the zero `list[at]`. Zeros behind it belong to the steps that follow, but for those
 * that are so close that their event has its new sign already: they would be lost, and are
 * reported here. */
static tw_status stop_at(search *s, const zero *list, int count, int at, const sample *before)
{
    tw_integrator *integrator = s->integrator;
    double t = list[at].t;
    tw_vector_copy(integrator->system.size, s->u, s->stop_u);
    TW_TRY(truncate_at(integrator, t, s->stop_u));
    TW_TRY(tw_integrator_reset_events(integrator));
    for (int k = at + 1; k < count; k++) {
        int i = list[k].event;
        const tw_event *event = &integrator->events[i];
        if (!crosses(event, before->g[i], integrator->event_values[i])) continue;
        if (event->located) event->located(event->context, t, integrator->u);
    }

    s->stopped = true;
    integrator->stopped = true;
    integrator->stop_event = list[at].event;
    integrator->stop_time = t;
    return TW_OK;
}

/* Inserts a zero so that the list stays sorted by time, and by number where times are equal. */
static void insert(zero *list, int count, zero found)
{
    int k = count;
    for (; k > 0 && list[k - 1].t > found.t; k--) list[k] = list[k - 1];
    list[k] = found;
}

/* Reports the zeros between two samples where every event has at most one. */
static tw_status report_zeros(search *s, const sample *a, const sample *b)
{
    tw_integrator *integrator = s->integrator;

    /* Those that change their sign, located and sorted. */
    zero list[TW_MAX_EVENTS];
    int count = 0;
    for (int i = 0; i < s->count; i++) {
        if (!crosses(&integrator->events[i], a->g[i], b->g[i])) continue;
        zero found = {.event = i};
        TW_TRY(locate(s, i, a, b, &found.t));
        insert(list, count++, found);
    }

    /* Each is handed to the user, up to the first that stops. */
    for (int k = 0; k < count; k++) {
        const tw_event *event = &integrator->events[list[k].event];
        TW_TRY(tw_integrator_interpolate(integrator, list[k].t, s->u, s->error));
        if (event->located) event->located(event->context, list[k].t, s->u);
        if (event->stop) return stop_at(s, list, count, k, a);
    }
    return TW_OK;
}

/* Where in [a, b], as a share, the cubic through both samples of one event comes closest to 0 or
 * beyond, if it turns there: g goes towards 0 at a and away from it at b. Otherwise 0. */
static double turning_point(const sample *a, const sample *b, int i)
{
    double sign = a->g[i] > 0 ? 1 : -1;
    if (a->g[i] == 0 || b->g[i] == 0 || sign * b->g[i] < 0) return 0;
    if (!(sign * a->slope[i] < 0 && sign * b->slope[i] > 0)) return 0;

    /* The derivative of the cubic, A x^2 + B x + C by the share x: C < 0 < A + B + C for sign 1. */
    double h = b->t - a->t;
    double rise = b->g[i] - a->g[i];
    double A = 3 * h * (a->slope[i] + b->slope[i]) - 6 * rise;
    double B = 6 * rise - h * (4 * a->slope[i] + 2 * b->slope[i]);
    double C = h * a->slope[i];

    /* Its zero in (0, 1), by the formula that does not cancel. */
    double root = sqrt(fmax(0, B * B - 4 * A * C));
    double x = -2 * C / (B + sign * root);
    return x > 0 && x < 1 ? x : 0;
}

/* Reports what happens between two samples where g is resolved. A pair of zeros around a turning
 * point is found by a sample there. */
static tw_status report_interval(search *s, const sample *a, const sample *b, int depth)
{
    for (int i = 0; i < s->count && depth > 0; i++) {
        double x = turning_point(a, b, i);
        if (x == 0) continue;
        sample turn = {0};
        TW_TRY(take_sample(s, a->t + x * (b->t - a->t), &turn));
        if (turn.g[i] == 0 || (turn.g[i] > 0) == (a->g[i] > 0)) continue;

        TW_TRY(report_interval(s, a, &turn, depth - 1));
        return s->stopped ? TW_OK : report_interval(s, &turn, b, depth - 1);
    }
    return report_zeros(s, a, b);
}

/* Looks through [a, b] from left to right, at least `least` divisions deep. */
static tw_status look_through(search *s, const sample *a, const sample *b, int least)
{
    double h = b->t - a->t;
    if (h < SHORTEST * s->integrator->step_taken) return report_interval(s, a, b, EXTREMA_DEPTH);

    /* A sample inside shows whether g is resolved. */
    sample m = {0};
    TW_TRY(take_sample(s, a->t + DIVISION * h, &m));
    if (least <= 1 && is_resolved(s, a, &m, b)) {
        TW_TRY(report_interval(s, a, &m, EXTREMA_DEPTH));
        return s->stopped ? TW_OK : report_interval(s, &m, b, EXTREMA_DEPTH);
    }

    TW_TRY(look_through(s, a, &m, least - 1));
    return s->stopped ? TW_OK : look_through(s, &m, b, least - 1);
}

tw_status tw_integrator_report_events(tw_integrator *integrator, bool *stopped, tw_error *error)
{
    if (!integrator->event_count) return TW_OK;
    int64_t size = integrator->system.size;
    double *scratch = integrator->scratch + 2 * size;
    search s = {.integrator = integrator,
                .count = integrator->event_count,
                .u = scratch,
                .stop_u = scratch + size,
                .difference = SLOPE_SHARE * integrator->step_taken,
                .error = error};

    /* The values at both ends of the step. */
    sample start = {.t = integrator->t_old};
    sample end = {.t = integrator->t};
    for (int i = 0; i < s.count; i++) start.g[i] = integrator->event_values[i];
    tw_status status = evaluate(integrator, s.count, integrator->t, integrator->u, end.g);
    if (status) return tw_fail(error, status, "event at t = %g: %s", end.t, tw_status_text(status));

    /* The slopes there, and the zeros in between. */
    TW_TRY(find_slopes(&s, 1.0, &start));
    TW_TRY(find_slopes(&s, -1.0, &end));
    TW_TRY(look_through(&s, &start, &end, integrator->scheme->interpolate ? 2 : 1));

    /* A stop has taken the values at the new end of the step. */
    *stopped = s.stopped;
    if (s.stopped) return TW_OK;
    for (int i = 0; i < s.count; i++) integrator->event_values[i] = end.g[i];
    return TW_OK;
}
