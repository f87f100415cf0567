/* Rotation and energy in long runs of expmid2 with the symmetric stage: boxes, a pendulum, a Duffing oscillator. */
/* labels: slow */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <twang/twang.h>

#include "problems/moving_bodies.h"
#include "problems/oscillators.h"
#include "support/run_suite.h"

static const double two_pi = 6.28318530717958647692;

static tw_integrator *started(const tw_second_order_problem *table, const double *start,
                              int corrections, double h)
{
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = TW_SCHEME_EXPMID2;
    options.step = h;
    options.expmid2.corrections = corrections;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    ck_assert_msg(tw_integrator_create_second_order(table, &options, &integrator, &error) == TW_OK,
                  "%s", error.text);
    ck_assert_msg(tw_integrator_start(integrator, 0, start, &error) == TW_OK, "%s", error.text);
    return integrator;
}

static void advance(tw_integrator *integrator, double t)
{
    tw_error error = {0};
    ck_assert_msg(tw_integrator_advance(integrator, t, &error) == TW_OK, "%s", error.text);
}

/* ---- the box ---- */

/* What a turning box has left. */
typedef struct box_state {
    double momentum; /* L_z / L_z(0) */
    double change;   /* |L - L(0)| / |L(0)| */
    double kinetic;  /* over that of the start */
    double strain;   /* the largest of a spring */
} box_state;

static box_state compare_box(const double *start, const double *now)
{
    double L_start[3];
    double L_now[3];
    double kinetic_start = 0;
    double kinetic_now = 0;
    box_momentum(start, L_start, &kinetic_start);
    box_momentum(now, L_now, &kinetic_now);

    double change = 0;
    double size = 0;
    for (int k = 0; k < 3; k++) {
        change += pow(L_now[k] - L_start[k], 2);
        size += pow(L_start[k], 2);
    }
    return (box_state){.momentum = L_now[2] / L_start[2],
                       .change = sqrt(change / size),
                       .kinetic = kinetic_now / kinetic_start,
                       .strain = box_strain(now)};
}

/* The box after `first` and after `last` seconds. */
static void run_box(const double spin[3], int corrections, double h, const double times[2],
                    box_state states[2])
{
    tw_simulation *simulation = NULL;
    ck_assert_int_eq(box_create(spin, &simulation, NULL), TW_OK);
    const double *start = tw_simulation_start(simulation);
    tw_integrator *integrator =
        started(tw_simulation_second_order(simulation), start, corrections, h);
    for (int i = 0; i < 2; i++) {
        advance(integrator, times[i]);
        states[i] = compare_box(start, tw_integrator_state_view(integrator));
    }

    tw_integrator_statistics counts = tw_integrator_statistics_now(integrator);
    printf("box, %d corrections, h %g: L/L_0 %.5f, %.5f; |dL| %.1e; kinetic %.5f; strain %.1e; "
           "%.1f iterations per step\n",
           corrections, h, states[0].momentum, states[1].momentum, states[1].change,
           states[1].kinetic, states[1].strain,
           (double)counts.newton_iterations / (double)counts.steps);
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
}

/* One revolution per second for 10 and for 30 revolutions. The figures are those of exact functions (docs/schemes.md);
 * a factor of 2 is allowed on what is lost. */
START_TEST(a_spinning_box_keeps_its_rotation)
{
    static const struct {
        int corrections, steps_per_revolution;
        double lost[2]; /* 1 - L/L_0 after 10 and 30 revolutions; 0: not asked */
        double strain;
    } rows[] = {{1, 20, {1.3e-4, 3.8e-4}, 6.9e-4},
                {2, 20, {1e-5, 2e-5}, 6.3e-6},
                {1, 80, {0, 0}, 9.3e-7},
                {2, 80, {0, 0}, 2.2e-7}};
    static const double times[2] = {10, 30};
    const double spin[3] = {0, 0, two_pi};

    box_state states[2];
    run_box(spin, rows[_i].corrections, 1.0 / rows[_i].steps_per_revolution, times, states);
    for (int i = 0; i < 2; i++)
        if (rows[_i].lost[i] > 0)
            ck_assert_double_le(fabs(1 - states[i].momentum), 2 * rows[_i].lost[i]);
    ck_assert_double_le(states[1].strain, 2 * rows[_i].strain);
}
END_TEST

/* Without the correction the same box stops: what the correction is for. */
START_TEST(without_the_correction_it_stops)
{
    static const double times[2] = {10, 30};
    const double spin[3] = {0, 0, two_pi};
    box_state states[2];
    run_box(spin, 0, 1.0 / 20, times, states);
    ck_assert_double_le(states[0].momentum, 0.75);
    ck_assert_double_le(states[1].momentum, 0.1);
}
END_TEST

START_TEST(a_tumbling_box_keeps_momentum_and_energy)
{
    static const double times[2] = {10, 20};
    static const double spin[3] = {1, 2, 3};
    box_state states[2];
    run_box(spin, 1, 0.05, times, states);
    ck_assert_double_le(states[1].change, 2 * 7.5e-4);
    ck_assert_double_le(fabs(states[1].kinetic - 1), 2 * 3e-4);
}
END_TEST

/* ---- the pendulum ---- */

START_TEST(a_pendulum_swings_as_far_after_200_seconds)
{
    static const double steps[] = {0.05, 0.02};
    static const double stiffness[] = {1e6, 1e10};
    double h = steps[_i % 2];
    double k = stiffness[_i / 2];
    tw_simulation *simulation = NULL;
    ck_assert_int_eq(pendulum_create(k, &simulation, NULL), TW_OK);
    tw_integrator *integrator =
        started(tw_simulation_second_order(simulation), tw_simulation_start(simulation), 1, h);

    /* The amplitude of the last 50 s, and the smallest of any 50 s. */
    double amplitude = 0;
    double smallest = 90;
    int per_quarter = (int)lround(50 / h);
    for (int quarter = 0; quarter < 4; quarter++) {
        amplitude = 0;
        for (int i = 0; i < per_quarter; i++) {
            tw_error error = {0};
            ck_assert_msg(tw_integrator_step(integrator, 200, &error) == TW_OK, "%s", error.text);
            amplitude = fmax(amplitude, pendulum_angle(tw_integrator_state_view(integrator)));
        }
        smallest = fmin(smallest, amplitude);
    }
    printf("pendulum, k %g, h %g: %.4f degrees in the last 50 s, %.4f at least\n", k, h, amplitude,
           smallest);
    ck_assert_double_eq_tol(amplitude, 60, 0.05);
    ck_assert_double_eq_tol(smallest, 60, 0.05);
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
}
END_TEST

/* ---- Duffing ---- */

/* The period of x'' = -x - x^3 from rest at x = 1 is 4.768. */
static const double duffing_period = 4.768022;

/* The largest energy error over so many periods at 20 steps each; H(0) = 1/2 + 1/4. */
static double run_duffing(int corrections, int64_t periods)
{
    oscillator o;
    oscillator_create(DUFFING, &o);
    tw_integrator *integrator = started(&o.table, o.start, corrections, duffing_period / 20);
    double t_end = (double)periods * duffing_period;
    double worst = 0;
    for (int64_t i = 0; i < 20 * periods; i++) {
        tw_error error = {0};
        ck_assert_msg(tw_integrator_step(integrator, t_end, &error) == TW_OK, "%s", error.text);
        const double *u = tw_integrator_state_view(integrator);
        double energy = 0.5 * (u[1] * u[1] + u[0] * u[0]) + 0.25 * pow(u[0], 4);
        worst = fmax(worst, fabs(energy / 0.75 - 1));
    }
    printf("duffing, %d corrections, %ld periods: energy error %.2f %%\n", corrections,
           (long)periods, 100 * worst);
    tw_integrator_free(integrator);
    oscillator_free(&o);
    return worst;
}

START_TEST(duffing_keeps_its_energy_over_100000_periods)
{
    ck_assert_double_lt(run_duffing(2, 100000), 0.01);
}
END_TEST

/* One correction leaves a slow drift, which the second removes. */
START_TEST(duffing_drifts_slowly_with_one_correction)
{
    double one = run_duffing(1, 10000);
    ck_assert_double_ge(one, 0.01);
    ck_assert_double_le(one, 0.04);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rotation");
    TCase *cases = tcase_create("rotation");
    tcase_set_timeout(cases, 300);
    tcase_add_loop_test(cases, a_spinning_box_keeps_its_rotation, 0, 4);
    tcase_add_test(cases, without_the_correction_it_stops);
    tcase_add_test(cases, a_tumbling_box_keeps_momentum_and_energy);
    tcase_add_loop_test(cases, a_pendulum_swings_as_far_after_200_seconds, 0, 4);
    tcase_add_test(cases, duffing_keeps_its_energy_over_100000_periods);
    tcase_add_test(cases, duffing_drifts_slowly_with_one_correction);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
