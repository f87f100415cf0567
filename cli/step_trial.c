/* Tries a step on the scene itself: over the time in which the bodies move by their own size, with
 * steps of this size and of half of it. Where a step is dear, one must do.
 *
 * A step works if neither run fails, if both end at the same place, and if neither the difference in
 * their kinetic energies nor the energy that the longer steps lose would be large by the end of the
 * run. The last two say no to exponential Rosenbrock schemes where stiff elements turn, and to all
 * schemes where folds of a shell are faster than the step: they are stable there, and lose the
 * energy of the motion without a word.
 *
 * What begins later, such as folds and contact, shows in the whole run alone. It is made with steps of
 * this size where that takes no longer than a trial. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

/* The two ends may differ by this share of the way between start and end. */
static const double LARGEST_DISTANCE = 0.05;

/* Kinetic energy that may be lost by the end of the run at the rate of the trial. */
static const double LARGEST_LOSS = 0.3;

/* Share of the energy converted that may be lost by the end of the run: beyond it, `run` calls the
 * energy lost. */
static const double LARGEST_DRIFT = 0.1;

/* Work of a run of a trial, some tenths of a second [bytes]. A trial that takes more says nothing. */
static const double MOST_WORK = 2e9;

/* The same of the whole run, some seconds. */
static const double MOST_WHOLE_WORK = 1e10;

/* Steps of a whole run that is tried. */
static const double MOST_STEPS = 1e6;

/* Products with the tangent that one evaluation of phi-functions may take. */
static const int64_t MOST_PRODUCTS = 20000;

/* Where a trial ends. */
typedef struct trial_end {
    double *u; /* positions and velocities; NULL: not wanted */
    double kinetic;
    double drift; /* the largest energy error over the energy converted */
} trial_end;

/* What is observed while a trial goes on. */
typedef struct trial_watch {
    tw_simulation *simulation;
    double most_work; /* [bytes] */
    tw_energy_balance balance;
} trial_watch;

/* Adds up the energies, and ends a trial that costs too much. */
static tw_status watch_step(void *context, tw_integrator *integrator)
{
    trial_watch *w = context;
    tw_measurement last;
    tw_status status = tw_energy_balance_add(&w->balance, w->simulation, integrator, &last, NULL);
    if (status != TW_OK) return status;

    tw_integrator_statistics counts = tw_integrator_statistics_now(integrator);
    return counts.work + counts.solver_work > w->most_work ? TW_BUDGET_EXHAUSTED : TW_OK;
}

/* The energy that was lost, beside the energy converted, as `run` judges it: without what vibrates
 * unresolved since the start. */
static double energy_drift(const trial_watch *w, const tw_integrator *integrator)
{
    const tw_energy_balance *balance = &w->balance;
    if (!(balance->energy_error_max > balance->unresolved)) return 0;
    double resolved = 1 - balance->unresolved / balance->energy_error_max;
    return resolved * tw_energy_balance_drift(balance, w->simulation, integrator);
}

/* Where a trial has come to at t. */
static tw_status note_end(tw_simulation *simulation, const tw_integrator *integrator, double t,
                          trial_end *end)
{
    if (!end->u) return TW_OK;
    const double *u = tw_integrator_state_view(integrator);
    size_t size = 2 * (size_t)tw_simulation_second_order(simulation)->space.local_size;
    tw_measurement measured = {0};
    memcpy(end->u, u, size * sizeof *u);
    tw_status status = tw_simulation_measure(simulation, t, u, &measured);
    end->kinetic = measured.kinetic;
    return status;
}

/* `count` steps until t. */
static tw_status run_trial(tw_simulation *simulation, tw_integrator_options options, double t,
                           int count, trial_end *end)
{
    tw_integrator *integrator = NULL;
    options.relative_tolerance = 0;
    options.step = t / count;
    if (options.phi.max_products > MOST_PRODUCTS) options.phi.max_products = MOST_PRODUCTS;

    /* One or two steps may cost what they cost. A trial whose end is not wanted is that of the whole run. */
    trial_watch watch = {.simulation = simulation,
                         .most_work = end->u ? MOST_WORK : MOST_WHOLE_WORK};
    if (count <= 2) watch.most_work = INFINITY;
    tw_status status = tw_simulation_integrator(simulation, &options, &integrator, NULL);
    if (status == TW_OK)
        status = tw_energy_balance_begin(&watch.balance, simulation, integrator, NULL);
    if (status == TW_OK) tw_integrator_on_step(integrator, watch_step, &watch);
    if (status == TW_OK) status = tw_integrator_advance(integrator, t, NULL);

    if (status == TW_OK) status = note_end(simulation, integrator, t, end);
    end->drift = status == TW_OK ? energy_drift(&watch, integrator) : 0;
    tw_integrator_free(integrator);
    return status;
}

/* |a - b| over n entries. */
static double distance_of(int64_t n, const double *a, const double *b)
{
    double square = 0;
    for (int64_t i = 0; i < n; i++) square += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(square);
}

/* Whether both runs end at the same place. */
static bool places_agree(tw_simulation *simulation, const trial_end *coarse, const trial_end *fine)
{
    int64_t n = tw_simulation_second_order(simulation)->space.local_size;
    const double *start = tw_simulation_start(simulation);
    double way = distance_of(n, fine->u, start);
    return distance_of(n, coarse->u, fine->u) <= LARGEST_DISTANCE * way;
}

/* Whether the difference in kinetic energy stays small until the end of the run. */
static bool energies_agree(const trial_end *coarse, const trial_end *fine, double part_of_run)
{
    double loss = fabs(coarse->kinetic - fine->kinetic) / part_of_run;
    return loss <= LARGEST_LOSS * fmax(coarse->kinetic, fine->kinetic);
}

/* Both runs, into their ends. */
static tw_status run_both(tw_simulation *simulation, const tw_integrator_options *options, double t,
                          int count, trial_end *coarse, trial_end *fine)
{
    tw_status status = run_trial(simulation, *options, t, count, coarse);
    if (status == TW_OK) status = run_trial(simulation, *options, t, 2 * count, fine);
    return status;
}

/* The step over the time of the trial, which is this part of the run. */
static step_verdict judge_begin(tw_simulation *simulation, const tw_integrator_options *options,
                                double step, double t, double part)
{
    /* Room for the ends of both runs. */
    int64_t n = tw_simulation_second_order(simulation)->space.local_size;
    double *states = malloc(4 * (size_t)n * sizeof *states);
    if (!states) return STEP_UNKNOWN;
    trial_end coarse = {.u = states};
    trial_end fine = {.u = states + 2 * n};

    int count = (int)ceil(t / step * (1 - 1e-12));
    tw_status status = run_both(simulation, options, t, count, &coarse, &fine);
    bool works = status == TW_OK && places_agree(simulation, &coarse, &fine);

    /* A single step tells nothing about a rate of loss. */
    if (works && count > 1)
        works = energies_agree(&coarse, &fine, part) && coarse.drift <= LARGEST_DRIFT * part;
    free(states);

    if (status == TW_BUDGET_EXHAUSTED) return STEP_UNKNOWN;
    return works ? STEP_WORKS : STEP_FAILS;
}

step_verdict judge_whole_run(tw_simulation *simulation, const tw_integrator_options *options,
                             double step, double duration)
{
    trial_end end = {0};
    double count = ceil(duration / step * (1 - 1e-12));
    if (!(count < MOST_STEPS)) return STEP_UNKNOWN;

    /* The trial has nothing to say to the user. */
    tw_log_set(NULL, NULL, TW_LOG_WARNING);
    tw_status status = run_trial(simulation, *options, duration, (int)count, &end);
    show_warnings();
    if (status == TW_BUDGET_EXHAUSTED) return STEP_UNKNOWN;
    return status == TW_OK && end.drift <= LARGEST_DRIFT ? STEP_WORKS : STEP_FAILS;
}

step_verdict judge_step(tw_simulation *simulation, const tw_integrator_options *options,
                        double step, double seconds, double duration)
{
    tw_log_set(NULL, NULL, TW_LOG_WARNING);
    double t = fmin(fmax(seconds, step), duration);
    step_verdict begin = judge_begin(simulation, options, step, t, t / duration);
    show_warnings();
    if (begin != STEP_WORKS || !(seconds > 0)) return begin;

    /* Where the whole run is too dear, its begin must do. */
    step_verdict whole = judge_whole_run(simulation, options, step, duration);
    return whole == STEP_UNKNOWN ? begin : whole;
}
