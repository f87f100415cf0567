/* Tries a step on the scene itself: over the time in which the bodies move by their own size, with
 * steps of this size and of half of it. Where a step is dear, one must do.
 *
 * A step works if neither run fails, if both end at the same place, and if neither the difference in
 * their kinetic energies nor the energy that the longer steps lose would be large by the end of the
 * run. The last two say no to exponential Rosenbrock schemes where stiff elements turn, and to all
 * schemes where folds of a shell are faster than the step: they are stable there, and lose the
 * energy of the motion without a word. */
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

/* Products with the tangent that one evaluation of phi-functions may take. */
static const int64_t MOST_PRODUCTS = 20000;

/* Where a trial ends. */
typedef struct trial_end {
    double *u; /* positions and velocities */
    double kinetic;
    double drift; /* |E - E(0)| over the energy converted, where no energy comes or goes; else 0 */
} trial_end;

static tw_status stop_when_dear(void *context, tw_integrator *integrator)
{
    const double *most = context;
    tw_integrator_statistics counts = tw_integrator_statistics_now(integrator);
    return counts.work + counts.solver_work > *most ? TW_BUDGET_EXHAUSTED : TW_OK;
}

/* The energy that was lost, beside the energy converted, as `run` judges it: at the stage, and
 * without what vibrates unresolved since the start. */
static double energy_drift(tw_simulation *simulation, tw_integrator *integrator)
{
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    tw_measurement start = {0};
    double kinetic = 0;
    double potential = 0;
    if (p->velocity_dependent || p->time_dependent) return 0;

    /* Energies at the start and now. */
    tw_simulation_measure(simulation, 0, tw_simulation_start(simulation), &start);
    if (!start.has_energy) return 0;
    if (tw_integrator_energy(integrator, &kinetic, &potential) != TW_OK) return 0;

    double unresolved = tw_integrator_statistics_now(integrator).unresolved_energy;
    double error = fabs(kinetic + potential + unresolved - start.kinetic - start.potential);
    double converted = fmax(fmax(kinetic, start.kinetic), fabs(potential - start.potential));
    return converted > 0 ? error / converted : 0;
}

/* `count` steps until t. */
static tw_status run_trial(tw_simulation *simulation, tw_integrator_options options, double t,
                           int count, trial_end *end)
{
    tw_integrator *integrator = NULL;
    options.relative_tolerance = 0;
    options.step = t / count;
    if (options.phi.max_products > MOST_PRODUCTS) options.phi.max_products = MOST_PRODUCTS;

    /* A trial that costs too much ends early. */
    tw_status status = tw_simulation_integrator(simulation, &options, &integrator, NULL);
    double most = MOST_WORK;
    if (status == TW_OK && count > 2) tw_integrator_on_step(integrator, stop_when_dear, &most);
    if (status == TW_OK) status = tw_integrator_advance(integrator, t, NULL);

    /* Where it ends. */
    tw_measurement measured = {0};
    if (status == TW_OK) {
        const double *u = tw_integrator_state_view(integrator);
        size_t size = 2 * (size_t)tw_simulation_second_order(simulation)->space.local_size;
        memcpy(end->u, u, size * sizeof *u);
        status = tw_simulation_measure(simulation, t, u, &measured);
    }
    end->kinetic = measured.kinetic;
    end->drift = status == TW_OK ? energy_drift(simulation, integrator) : 0;
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

step_verdict judge_step(tw_simulation *simulation, const tw_integrator_options *options,
                        double step, double seconds, double duration)
{
    int64_t n = tw_simulation_second_order(simulation)->space.local_size;
    double t = fmin(fmax(seconds, step), duration);
    int count = (int)ceil(t / step * (1 - 1e-12));

    /* Room for the ends of both runs. */
    double *states = malloc(4 * (size_t)n * sizeof *states);
    if (!states) return STEP_UNKNOWN;
    trial_end coarse = {.u = states};
    trial_end fine = {.u = states + 2 * n};

    /* The trial has nothing to say to the user. */
    tw_log_set(NULL, NULL, TW_LOG_WARNING);
    tw_status status = run_both(simulation, options, t, count, &coarse, &fine);
    bool works = status == TW_OK && places_agree(simulation, &coarse, &fine);

    /* A single step tells nothing about a rate of loss. */
    double part = t / duration;
    if (works && count > 1)
        works = energies_agree(&coarse, &fine, part) && coarse.drift <= LARGEST_DRIFT * part;
    show_warnings();
    free(states);

    if (status == TW_BUDGET_EXHAUSTED) return STEP_UNKNOWN;
    return works ? STEP_WORKS : STEP_FAILS;
}
