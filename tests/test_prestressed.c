/* Random networks of springs that are released out of balance: most of their energy vibrates in modes that large steps do
 * not resolve, and it moves the slow ones. Large steps lose that. Fixed steps say so, and adaptive steps see it. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <twang/twang.h>

#include "support/random.h"
#include "support/run_suite.h"
#include "support/simulation_runs.h"

enum { PARTICLES = 8, PINNED = 3, SIZE = 3 * (PARTICLES - PINNED), PAIRS = PARTICLES * PARTICLES };

static const double end_time = 0.5; /* [s] */

/* Particles of 0.05 to 0.25 kg in the unit cube, the first three pinned. Springs of 1e3 to 1e6 N/m join neighbours in the
 * list and a quarter of all other pairs; their rest lengths differ by up to 1 % from the distances. */
static tw_simulation *network_create(int seed)
{
    test_random random = {(uint64_t)seed};
    double x[3 * PARTICLES];
    double v[3 * PARTICLES] = {0};
    double mass[PARTICLES];
    for (int i = 0; i < 3 * PARTICLES; i++) x[i] = test_random_unit(&random);
    for (int i = 0; i < PARTICLES; i++) mass[i] = test_random_between(&random, 0.05, 0.25);

    int64_t ends[2 * PAIRS];
    double stiffness[PAIRS];
    double length[PAIRS];
    int springs = 0;
    for (int i = 0; i < PARTICLES; i++) {
        for (int j = i + 1; j < PARTICLES; j++) {
            if (j > i + 1 && test_random_unit(&random) > 0.25) continue;
            double distance = hypot(hypot(x[3 * i] - x[3 * j], x[3 * i + 1] - x[3 * j + 1]),
                                    x[3 * i + 2] - x[3 * j + 2]);
            ends[2 * springs] = i;
            ends[2 * springs + 1] = j;
            stiffness[springs] = test_random_log_between(&random, 1e3, 1e6);
            length[springs++] = distance * test_random_between(&random, 0.99, 1.01);
        }
    }

    tw_model *model = NULL;
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_particles(model, PARTICLES, x, v, mass, NULL, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_springs(model, springs, ends, stiffness, length, NULL), TW_OK);
    ck_assert_int_eq(tw_model_pin(model, 0, PINNED - 1, NULL), TW_OK);
    tw_simulation *simulation = NULL;
    ck_assert_int_eq(tw_simulation_of_model(model, &simulation, NULL), TW_OK);
    return simulation;
}

/* The mean of x over the last fifth of the run, in which vibrations vanish. */
static tw_integrator_statistics mean_position(tw_simulation *simulation, tw_scheme scheme,
                                              double step, double rtol, double mean[SIZE])
{
    enum { SAMPLES = 50 };
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = scheme;
    options.step = step;
    options.relative_tolerance = rtol;
    tw_integrator *integrator = start_simulation(simulation, &options);
    memset(mean, 0, SIZE * sizeof *mean);
    for (int i = 1; i <= SAMPLES; i++) {
        advance_to(integrator, end_time * (0.8 + 0.2 * i / SAMPLES));
        const double *x = tw_integrator_state_view(integrator);
        for (int j = 0; j < SIZE; j++) mean[j] += x[j] / SAMPLES;
    }
    tw_integrator_statistics counts = tw_integrator_statistics_now(integrator);
    tw_integrator_free(integrator);
    return counts;
}

static double distance_between(const double *x, const double *y)
{
    double square = 0;
    for (int i = 0; i < SIZE; i++) square += (x[i] - y[i]) * (x[i] - y[i]);
    return sqrt(square);
}

enum { NETWORKS = 12 };

START_TEST(what_is_lost_is_said_or_seen)
{
    static const double nothing[SIZE] = {0};
    tw_simulation *simulation = network_create(_i);
    double exact[SIZE];
    double x[SIZE];

    /* Verlet at a twentieth of its limit or less. */
    mean_position(simulation, TW_SCHEME_VERLET, 1e-5, 0, exact);
    double size = distance_between(exact, nothing);
    double moved = distance_between(exact, tw_simulation_start(simulation));

    /* Fixed steps: the motion is lost, and the statistics say so. */
    tw_integrator_statistics fixed = mean_position(simulation, TW_SCHEME_EXPMID2, 0.005, 0, x);
    double lost = distance_between(x, exact) / moved;
    printf("network %d: fixed steps miss %.2f of the displacement, unresolved %.2g J, resolved "
           "%.2g J\n",
           _i, lost, fixed.unresolved_energy, fixed.resolved_kinetic);
    ck_assert_double_gt(lost, 0.1);
    ck_assert_double_gt(fixed.unresolved_energy, fixed.resolved_kinetic);

    /* Adaptive steps: the estimate sees it. */
    for (double rtol = 1e-2; rtol > 5e-5; rtol *= 0.1) {
        int64_t steps = mean_position(simulation, TW_SCHEME_EXPMID2, 0, rtol, x).steps;
        double error = distance_between(x, exact) / size / rtol;
        printf("network %d: rtol %.0e: error %.2f rtol in %ld steps\n", _i, rtol, error,
               (long)steps);
        ck_assert_double_le(error, 10);
    }
    tw_simulation_free(simulation);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("prestressed");
    TCase *cases = tcase_create("networks");
    tcase_set_timeout(cases, 120);
    tcase_add_loop_test(cases, what_is_lost_is_said_or_seen, 0, cases_to_run(NETWORKS, 2));
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
