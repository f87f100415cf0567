/* Which step a scheme gets in a benchmark: the largest one that meets the error. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

enum {
    MOST_TRIES = 14,  /* of steps with one scheme, each half or twice the one before */
    USUAL_STEPS = 100 /* where the scene is adaptive and gives no step */
};

/* Explicit schemes that are unstable on oscillations at any step: with h omega at most this, they
 * grow slowly. */
static const double EULER_REACH = 0.01;
static const double MIDPOINT_EXPLICIT_REACH = 0.1;

/* Steps of explicit schemes keep away from the limit of stability by this factor. */
static const double SHARE_OF_STABLE_STEP = 0.9;

/* Schemes with steps of their own begin with this tolerance where no error is asked for. */
static const double USUAL_TOLERANCE = 1e-4;

/* Limits of a trial that the search for the step of one scheme may take. */
static const double LIMITS_PER_SCHEME = 2;

/* A trial that takes longer is not repeated: its seconds vary little [s]. */
static const double LONG_TRIAL = 1;

/* After steps h and 2 h that met and missed the error, this share of 2 h is tried. */
static const double BETWEEN = 0.70710678;

/* A larger error says nothing about the step at which a scheme would be accurate. */
static const double EXTRAPOLATED_ERROR = 0.5;

/* The largest h omega of a scheme; INFINITY for implicit and exponential ones. */
static double stability_of(tw_scheme scheme)
{
    switch (scheme) {
    case TW_SCHEME_VERLET:
        return VERLET_STABILITY;
    case TW_SCHEME_RK4:
        return RK4_STABILITY;
    case TW_SCHEME_EULER:
        return EULER_REACH;
    case TW_SCHEME_MIDPOINT_EXPLICIT:
        return MIDPOINT_EXPLICIT_REACH;
    default:
        return INFINITY;
    }
}

double bench_stable_step(const bench *b, tw_scheme scheme)
{
    if (!(b->omega > 0)) return INFINITY;
    return SHARE_OF_STABLE_STEP * stability_of(scheme) / b->omega;
}

double bench_first_step(const bench *b, tw_scheme scheme)
{
    if (has_own_steps(scheme)) return b->wanted > 0 ? b->wanted : USUAL_TOLERANCE;
    double of_scene = b->options.step > 0 ? b->options.step : b->duration / USUAL_STEPS;
    return fmin(of_scene, bench_stable_step(b, scheme));
}

/* Whether the search for a step has taken its time. */
static bool is_late(const bench *b)
{
    return bench_clock() > b->deadline;
}

static trial try_step(bench *b, contestant who, double step)
{
    /* A whole number of steps, to which rounding does not add one. */
    trial t = {.who = who, .step = step, .error = INFINITY, .repeat_count = 1};
    if (!has_own_steps(who.scheme)) t.step = b->duration / ceil(b->duration / step * (1 - 1e-15));

    bench_integrate(b, &t, b->end);
    if (t.status == TW_OK) t.error = bench_distance(b, b->end, b->reference.rows);
    t.repeats[0] = t.seconds;

    /* A trial that the limit stopped is scaled to the whole duration. */
    t.is_extrapolated = t.status == TW_BUDGET_EXHAUSTED && t.reached > 0;
    if (!t.is_extrapolated) return t;
    t.seconds *= b->duration / t.reached;
    snprintf(t.why, sizeof t.why, "came to t = %.3g s within %.3g s", t.reached, b->limit);
    return t;
}

/* Another step would not help: the scheme does not apply, or takes too long. */
static bool is_hopeless(const trial *t)
{
    return t->status == TW_UNSUPPORTED || t->status == TW_INVALID_ARGUMENT ||
           t->status == TW_BUDGET_EXHAUSTED;
}

/* A trial of another step takes its place if it meets the error. */
static bool take_if_met(bench *b, trial *best, double step)
{
    trial next = try_step(b, best->who, step);
    if (!(next.error <= b->wanted)) return false;
    *best = next;
    return true;
}

/* The longest step that a scheme may be given. */
static double longest_step(const bench *b, tw_scheme scheme)
{
    if (has_own_steps(scheme)) return b->wanted * 64;
    return fmin(b->duration, bench_stable_step(b, scheme));
}

/* The first step meets the error: doubles it while it still does. Explicit schemes stay below their
 * limit of stability. */
static void lengthen_step(bench *b, trial *best, double step)
{
    double longest = longest_step(b, best->who.scheme);
    if (step >= longest) return;

    for (int i = 0; i < MOST_TRIES && 2 * step <= longest && !is_late(b); i++) {
        step *= 2;
        if (take_if_met(b, best, step)) continue;
        take_if_met(b, best, BETWEEN * step);
        return;
    }
}

/* The first step takes longer than the limit: four times as long ones until one comes to the end.
 * Returns its step, or 0. */
static double find_quick_step(bench *b, trial *best, double step)
{
    while (4 * step <= longest_step(b, best->who.scheme) && !is_late(b)) {
        step *= 4;
        trial next = try_step(b, best->who, step);
        if (next.status == TW_BUDGET_EXHAUSTED) continue;
        if (next.status == TW_OK) *best = next;
        return next.status == TW_OK ? step : 0;
    }
    return 0;
}

/* No step met the error in time. `finest` came to the end with an error that is not large: its
 * seconds are scaled to the step that its order promises, which favours the scheme. */
static void extrapolate_by_order(const bench *b, const trial *finest, trial *best)
{
    if (has_own_steps(finest->who.scheme) || !(finest->error <= EXTRAPOLATED_ERROR)) return;
    double ratio = pow(finest->error / b->wanted, 1.0 / tw_scheme_order(finest->who.scheme));

    *best = *finest;
    best->is_extrapolated = true;
    best->status = TW_BUDGET_EXHAUSTED;
    best->seconds *= ratio;
    best->step /= ratio;
    best->error = INFINITY;
    snprintf(best->why, sizeof best->why, "by its order from error %.2g at step %.3g s",
             finest->error, finest->step);
}

/* The first step does not meet the error: halves it until it does. */
static void shorten_step(bench *b, trial *best, double step)
{
    trial finest = *best;
    for (int i = 0; i < MOST_TRIES && !is_hopeless(best) && !is_late(b); i++) {
        step /= 2;
        *best = try_step(b, best->who, step);
        if (best->status == TW_OK) finest = *best;

        if (!(best->error <= b->wanted)) continue;
        take_if_met(b, best, 2 * BETWEEN * step);
        return;
    }
    if (finest.status == TW_OK) extrapolate_by_order(b, &finest, best);
}

void bench_try_scheme(bench *b, contestant who)
{
    double step = bench_first_step(b, who.scheme);
    b->deadline = bench_clock() + LIMITS_PER_SCHEME * b->limit;
    trial best = try_step(b, who, step);

    /* Too dear at the first step: a longer one may do. */
    if (b->wanted > 0 && best.status == TW_BUDGET_EXHAUSTED) {
        double quick = find_quick_step(b, &best, step);
        if (quick > 0) step = quick;
    }

    if (b->wanted > 0 && best.error <= b->wanted)
        lengthen_step(b, &best, step);
    else if (b->wanted > 0)
        shorten_step(b, &best, step);
    b->trials[b->trial_count++] = best;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

void bench_repeat_trials(bench *b)
{
    for (int repeat = 1; repeat < b->repeats; repeat++)
        for (int i = 0; i < b->trial_count; i++) {
            trial *t = &b->trials[i];
            trial again = *t;
            if (t->status != TW_OK || t->repeats[0] > LONG_TRIAL) continue;
            bench_integrate(b, &again, b->end);
            if (again.status == TW_OK) t->repeats[t->repeat_count++] = again.seconds;
        }

    for (int i = 0; i < b->trial_count; i++) {
        trial *t = &b->trials[i];
        if (t->status != TW_OK) continue;
        qsort(t->repeats, (size_t)t->repeat_count, sizeof *t->repeats, by_value);
        t->seconds = t->repeats[t->repeat_count / 2];
    }
}
