/* Tries a step on the scene itself: a few steps, or one where they are dear, and the same time in
 * steps of half the size.
 *
 * A step works if neither fails, if both end at the same place, and if they do not differ in
 * kinetic energy so much that the difference would be as large as the energy itself by the end of the
 * run. The last says no to exponential Rosenbrock schemes where stiff elements turn: their steps are
 * stable there, and lose the energy of the motion without a word. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

/* The two ends may differ by this share of the way between start and end. */
static const double LARGEST_DISTANCE = 0.05;

/* Kinetic energy that may be lost by the end of the run at the rate of the trial. */
static const double LARGEST_LOSS = 0.3;

/* Products with the tangent that one evaluation of phi-functions may take. */
static const int64_t MOST_PRODUCTS = 20000;

/* Where a trial ends. */
typedef struct trial_end {
    double *u; /* positions and velocities */
    double kinetic;
} trial_end;

/* `count` steps until t. */
static tw_status run_trial(tw_simulation *simulation, tw_integrator_options options, double t,
                           int count, trial_end *end)
{
    tw_integrator *integrator = NULL;
    options.relative_tolerance = 0;
    options.step = t / count;
    if (options.phi.max_products > MOST_PRODUCTS) options.phi.max_products = MOST_PRODUCTS;
    tw_status status = tw_simulation_integrator(simulation, &options, &integrator, NULL);
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

bool step_works(tw_simulation *simulation, const tw_integrator_options *options, double step,
                int steps, double duration)
{
    int64_t n = tw_simulation_second_order(simulation)->space.local_size;
    double t = fmin(steps * step, duration);
    double *states = malloc(4 * (size_t)n * sizeof *states);
    trial_end coarse = {.u = states};
    trial_end fine = {.u = states ? states + 2 * n : NULL};

    /* The trial has nothing to say to the user. */
    tw_log_set(NULL, NULL, TW_LOG_WARNING);
    int count = (int)ceil(t / step * (1 - 1e-12));
    bool works = states && run_trial(simulation, *options, t, count, &coarse) == TW_OK &&
                 run_trial(simulation, *options, t, 2 * count, &fine) == TW_OK &&
                 places_agree(simulation, &coarse, &fine);

    /* A single step tells nothing about a rate of loss. */
    if (works && steps > 1) works = energies_agree(&coarse, &fine, t / duration);
    show_warnings();
    free(states);
    return works;
}
