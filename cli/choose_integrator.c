/* `--integrator auto`: which integrator and which step give the asked error for the least work.
 *
 * The choice is made by short runs over the beginning of the scene, its window: the whole scene where
 * that costs little, else a twelfth of it. A scheme makes the window with steps h and h/2, and the
 * difference of both, in the middle of the window and at its end, gives the error and its growth.
 * Functions and Newton's iterations get no more digits than the asked error needs. Work is counted
 * (bytes moved, by the cost model of docs/phi.md) and not measured, so that the same scene gives the
 * same choice everywhere. A scheme is given up as soon as it has done more work than the best so far
 * would need. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* The window as a share of the duration. Runs with h and h/2 over a twelfth are a quarter of the work
 * with h. */
static const double WINDOW = 1.0 / 12;

/* Work of a scene that is cheap enough to be made as a whole, some tenths of a second [bytes]. */
static const double CHEAP = 2e9;

/* Steps of the longest step that is tried, in the whole scene; halved so often at most. */
enum { FEWEST_STEPS = 24, MOST_HALVINGS = 12 };

/* The error that is foreseen stays below this share of what is asked for: it is an estimate. */
static const double TRUSTED_SHARE = 0.7;

/* The step that is taken is at most this times the one that was tried: with twice the step the error
 * was too large, or nobody tried. */
static const double LARGEST_CHANGE = 1.9;

/* What lies beyond the window is foreseen by (time)^p, p measured in the window within these bounds.
 * The phase of a motion is off by an error that grows like the time; errors of vibrations do not
 * grow, but a short window may say so of the phase as well. Measured on the coil from 5 s to 60 s:
 * the relative error of midpoint grows with p = 0.88, that of expmid2, which follows resolved modes by
 * their exact flow, with 0.2. */
static const double LEAST_GROWTH = 0.75;
static const double LEAST_GROWTH_OF_EXPMID2 = 0.5;
static const double MOST_GROWTH = 1;

/* The tolerances of functions and of Newton's iteration, as shares of the asked error, where the scene
 * asks for more digits. The second is to the first as in expmid2. Measured on the coil by expmid2 at
 * h = 2: the error is 1.6 % with a phi tolerance of 1e-4, 1.5 % with 1e-3, 1.9 % with 1e-2. */
static const double PHI_SHARE = 0.1;
static const double NEWTON_SHARE = 0.03;

/* A scheme is given up when its runs together, failed ones included, have done more than this times
 * the work that the best so far needs in the window. A run with h/2 may do twice that work. */
static const double MOST_TRIED = 4;

/* Steps by which explicit schemes show what a step costs. */
enum { SAMPLE_STEPS = 16 };

/* A force moves fewer bytes than a product with the stiffness, for which the cost model takes it.
 * Measured on the coil, verlet against expmid2: 0.6 of them. */
static const double FORCE_SHARE = 0.6;

/* Where a trial is in the middle of the window and at its end: tables of the scene. */
typedef struct trial_path {
    double *middle;
    double *end;
} trial_path;

/* One integrator under examination. */
typedef struct candidate {
    tw_scheme scheme;
    double step;  /* [s] */
    double rate;  /* work per simulated second */
    double error; /* foreseen at the end of the scene */
} candidate;

typedef struct chooser {
    bench b;
    double window;     /* [s] */
    double wanted;     /* error */
    double force;      /* work of one force evaluation, as the cost model counts it; 0: not known */
    double *rows;      /* the tables of both paths */
    trial_path coarse; /* with the step h */
    trial_path fine;   /* with h/2 */
    candidate best;
} chooser;

/* ---- one run ---- */

static double work_of(const chooser *c, const tw_integrator_statistics *counts)
{
    double forces = (double)counts->force_evaluations * c->force;
    return counts->work + counts->solver_work - (1 - FORCE_SHARE) * forces;
}

typedef struct budget {
    const chooser *chooser;
    double most; /* work */
} budget;

static tw_status stop_when_spent(void *context, tw_integrator *integrator)
{
    const budget *limit = context;
    tw_integrator_statistics counts = tw_integrator_statistics_now(integrator);
    return work_of(limit->chooser, &counts) > limit->most ? TW_BUDGET_EXHAUSTED : TW_OK;
}

/* Goes on to the time t, and notes the table there. */
static tw_status advance_to(const chooser *c, tw_integrator *integrator, double t, double *table)
{
    tw_status status = tw_integrator_advance(integrator, t, NULL);
    if (status != TW_OK) return status;
    return tw_simulation_rows(c->b.simulation, t, tw_integrator_state_view(integrator), table);
}

/* Integrates to the time `end` with one scheme and one step, and notes the path. */
static tw_status run_window(chooser *c, tw_scheme scheme, double step, double end, double most,
                            const trial_path *path, tw_integrator_statistics *counts)
{
    tw_integrator_options options = c->b.options;
    options.scheme = scheme;
    options.step = step;
    options.relative_tolerance = 0;
    *counts = (tw_integrator_statistics){0};
    tw_integrator *integrator = NULL;
    tw_status status = tw_simulation_integrator(c->b.simulation, &options, &integrator, NULL);
    if (status != TW_OK) return status;

    budget limit = {c, most};
    tw_integrator_on_step(integrator, stop_when_spent, &limit);
    status = advance_to(c, integrator, 0.5 * end, path->middle);
    if (status == TW_OK) status = advance_to(c, integrator, end, path->end);
    *counts = tw_integrator_statistics_now(integrator);
    tw_integrator_free(integrator);
    return status;
}

/* ---- one scheme ---- */

/* The error at the end of the scene, from windows with steps h and h/2. */
static double foresee_error(const chooser *c, tw_scheme scheme)
{
    double middle = bench_distance(&c->b, c->coarse.middle, c->fine.middle);
    double end = bench_distance(&c->b, c->coarse.end, c->fine.end);
    double least = scheme == TW_SCHEME_EXPMID2 ? LEAST_GROWTH_OF_EXPMID2 : LEAST_GROWTH;
    double growth = fmin(fmax(log2(end / middle), least), MOST_GROWTH);
    return end * pow(c->b.duration / c->window, growth);
}

/* The same where steps were divided: by the difference of the fine window from one of which the steps
 * are divided otherwise. The coarse path is lost. */
static double foresee_with_other_parts(chooser *c, tw_scheme scheme, double step, double most)
{
    tw_integrator_statistics counts;
    double other = BENCH_OTHER_PARTS * step;
    if (run_window(c, scheme, other, c->window, most, &c->coarse, &counts) != TW_OK)
        return INFINITY;
    return foresee_error(c, scheme);
}

/* Finds the step of one scheme, beginning with the longest; it becomes the best if it needs less
 * work. */
static void examine(chooser *c, tw_scheme scheme, double longest)
{
    double most = c->best.rate * c->window;
    double step = 0.5 * c->window / ceil(0.5 * c->window / longest);
    bool has_coarse = false;
    tw_integrator_statistics counts;
    double work = 0;
    double spent = 0;

    for (int i = 0; i < MOST_HALVINGS; i++, step /= 2) {
        /* The window with h, unless it was the h/2 of the round before. */
        if (!has_coarse) {
            tw_status status = run_window(c, scheme, step, c->window, most, &c->coarse, &counts);
            if (status == TW_UNSUPPORTED || status == TW_BUDGET_EXHAUSTED) return;
            work = work_of(c, &counts);

            /* Steps that fail are no cheaper than others. */
            spent += work;
            if (spent > MOST_TRIED * most) return;
            if (status != TW_OK) continue;
        }

        /* The window with h/2. Twice the work is allowed, because this step need not be taken. */
        tw_status status = run_window(c, scheme, step / 2, c->window, 2 * most, &c->fine, &counts);
        if (status == TW_BUDGET_EXHAUSTED) return;
        has_coarse = status == TW_OK;
        spent += work_of(c, &counts);
        if (!has_coarse && spent > MOST_TRIED * most) return;
        if (!has_coarse) continue;

        /* error(h) ~ h^p says by how much the step may be longer. */
        double error = foresee_error(c, scheme);
        if (counts.rejected_steps > 0 && error <= TRUSTED_SHARE * c->wanted)
            error = fmax(error, foresee_with_other_parts(c, scheme, step / 2, 3 * most));
        double target = TRUSTED_SHARE * c->wanted;
        int order = tw_scheme_order(scheme);
        double change = fmin(pow(target / error, 1.0 / order), LARGEST_CHANGE);
        if (error <= target) {
            double taken = fmin(change * step, bench_stable_step(&c->b, scheme));
            candidate found = {.scheme = scheme,
                               .step = taken,
                               .rate = work / c->window * step / taken,
                               .error = error * pow(taken / step, order)};
            if (found.rate < c->best.rate) c->best = found;
            return;
        }

        /* The next round begins with what this one ended with. */
        trial_path free_path = c->coarse;
        c->coarse = c->fine;
        c->fine = free_path;
        work = work_of(c, &counts);
        if (work > most || spent > MOST_TRIED * most) return;
    }
}

/* An explicit scheme just below its limit of stability: what a second of it costs. */
static void sample_explicit(chooser *c, tw_scheme scheme)
{
    double step = bench_stable_step(&c->b, scheme);
    if (!isfinite(step) || SAMPLE_STEPS * step > c->b.duration) return;

    tw_integrator_statistics counts;
    double end = SAMPLE_STEPS * step;
    if (run_window(c, scheme, step, end, INFINITY, &c->coarse, &counts) != TW_OK) return;
    if (c->force == 0) c->force = counts.work / (double)counts.force_evaluations;

    candidate found = {scheme, step, work_of(c, &counts) / end, 0};
    if (found.rate < c->best.rate) c->best = found;
}

/* ---- the choice ---- */

static bool is_explicit(tw_scheme scheme)
{
    return scheme == TW_SCHEME_VERLET || scheme == TW_SCHEME_RK4;
}

/* Examines all candidates. Explicit ones are taken to be accurate enough at their stable step until
 * one of them has won; then its error is looked at, too. */
static void examine_all(chooser *c)
{
    static const tw_scheme others[] = {TW_SCHEME_EXPMID2, TW_SCHEME_MIDPOINT, TW_SCHEME_EXPRB42};
    c->best = (candidate){.scheme = TW_SCHEME_COUNT, .rate = INFINITY};
    sample_explicit(c, TW_SCHEME_VERLET);
    sample_explicit(c, TW_SCHEME_RK4);
    if (c->best.rate * c->b.duration < CHEAP) c->window = c->b.duration;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        examine(c, others[i], c->b.duration / FEWEST_STEPS);
    if (!is_explicit(c->best.scheme)) return;

    candidate winner = c->best;
    c->best.rate = INFINITY;
    examine(c, winner.scheme, winner.step);
}

/* Writes what was chosen, and why, as settings of the scene. */
static bool describe(const chooser *c, automatic *choice)
{
    const candidate *best = &c->best;
    if (best->scheme == TW_SCHEME_COUNT || !isfinite(best->rate)) return false;
    const char *name = tw_scheme_name(best->scheme);
    snprintf(choice->name, sizeof choice->name, "%s", name);
    snprintf(choice->step, sizeof choice->step, "%.6g", best->step);
    snprintf(choice->phi_tolerance, sizeof choice->phi_tolerance, "%.6g",
             c->b.options.phi.tolerance);
    snprintf(choice->newton_tolerance, sizeof choice->newton_tolerance, "%.6g",
             c->b.options.newton.tolerance);
    snprintf(choice->reason, sizeof choice->reason,
             "%s with steps of %.3g s is expected to be %.2g off at the end (%.2g asked), for "
             "the least work of verlet, rk4, expmid2, midpoint and exprb42 in "
             "the first %.3g s",
             name, best->step, best->error, c->wanted, c->window);
    return true;
}

/* Reserves the tables of both paths, and sets window and tolerances. */
static tw_status begin(chooser *c)
{
    size_t size = (size_t)c->b.rows * (size_t)c->b.columns;
    c->rows = malloc(4 * size * sizeof *c->rows);
    if (!c->rows) return TW_OUT_OF_MEMORY;
    c->coarse = (trial_path){c->rows, c->rows + size};
    c->fine = (trial_path){c->rows + 2 * size, c->rows + 3 * size};

    c->window = WINDOW * c->b.duration;
    tw_integrator_options *options = &c->b.options;
    options->phi.tolerance = fmax(options->phi.tolerance, PHI_SHARE * c->wanted);
    options->newton.tolerance = fmax(options->newton.tolerance, NEWTON_SHARE * c->wanted);
    return TW_OK;
}

tw_status choose_integrator(tw_scene *scene, double wanted, automatic *choice, tw_error *error)
{
    chooser *c = calloc(1, sizeof *c);
    if (!c) return TW_OUT_OF_MEMORY;
    c->b = (bench){.scene = scene, .suite = "", .label = ""};
    c->wanted = wanted;

    tw_status status = bench_prepare(&c->b, error);
    if (status == TW_OK) status = begin(c);
    if (status == TW_OK) {
        examine_all(c);
        if (!describe(c, choice)) status = TW_NOT_CONVERGED;
    }

    /* The scene belongs to the caller. */
    c->b.scene = NULL;
    bench_release(&c->b);
    free(c->rows);
    free(c);
    return status;
}
