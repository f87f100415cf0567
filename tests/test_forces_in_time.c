/* What integrators make of forces: free fall and rotation that damping does not touch, full order with forces that
 * depend on time and velocity and with particles that are moved, Newton's method under strong damping. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "support/random.h"
#include "support/run_suite.h"

enum { SIDE = 4, COUNT = SIDE * SIDE * SIDE };

/* A cube of springs between near neighbours, 0.1 apart. */
typedef struct cube {
    double x[3 * COUNT], v[3 * COUNT], mass[COUNT];
    int64_t ends[2 * 13 * COUNT];
    double stiffness[13 * COUNT];
    int64_t springs;
} cube;

static cube *new_cube(double k)
{
    cube *c = calloc(1, sizeof *c);
    ck_assert_ptr_nonnull(c);
    test_random random = {.state = 3};
    for (int i = 0; i < COUNT; i++) {
        const int place[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        for (int d = 0; d < 3; d++)
            c->x[3 * i + d] = 0.1 * place[d] + test_random_between(&random, -0.01, 0.01);
        c->mass[i] = test_random_between(&random, 0.5, 1.5);
        for (int j = 0; j < i; j++) {
            const int other[3] = {j % SIDE, j / SIDE % SIDE, j / SIDE / SIDE};
            bool near = abs(place[0] - other[0]) <= 1 && abs(place[1] - other[1]) <= 1 &&
                        abs(place[2] - other[2]) <= 1;
            if (!near) continue;
            c->ends[2 * c->springs] = j;
            c->ends[2 * c->springs + 1] = i;
            c->stiffness[c->springs++] = k;
        }
    }
    return c;
}

static tw_model *model_of(const cube *c)
{
    tw_model *model = NULL;
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_particles(model, COUNT, c->x, c->v, c->mass, NULL, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_springs(model, c->springs, c->ends, c->stiffness, NULL, NULL),
                     TW_OK);
    return model;
}

static tw_simulation *finished(tw_model *model)
{
    tw_simulation *simulation = NULL;
    tw_error error = {0};
    ck_assert_msg(tw_simulation_of_model(model, &simulation, &error) == TW_OK, "%s", error.text);
    return simulation;
}

/* The state at `end` with fixed steps; counts into *statistics unless NULL. */
static double *advance(tw_simulation *simulation, tw_scheme scheme, double end, double step,
                       tw_integrator_statistics *statistics)
{
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = scheme;
    options.step = step;
    options.phi.tolerance = 1e-12;
    options.newton.tolerance = 1e-13;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    tw_status status = tw_simulation_integrator(simulation, &options, &integrator, &error);
    ck_assert_msg(status == TW_OK, "%s: %s", tw_scheme_name(scheme), error.text);
    status = tw_integrator_advance(integrator, end, &error);
    ck_assert_msg(status == TW_OK, "%s: %s", tw_scheme_name(scheme), error.text);
    double *u = calloc((size_t)tw_simulation_state_size(simulation), sizeof *u);
    ck_assert_ptr_nonnull(u);
    tw_integrator_state(integrator, NULL, u);
    if (statistics) *statistics = tw_integrator_statistics_now(integrator);
    tw_integrator_free(integrator);
    return u;
}

/* ---- rigid motion ---- */

static const tw_scheme damped_schemes[] = {TW_SCHEME_EXPRB42,  TW_SCHEME_PEXPRB43,
                                           TW_SCHEME_EXPMID2,  TW_SCHEME_RK4,
                                           TW_SCHEME_MIDPOINT, TW_SCHEME_NEWMARK};
enum { SCHEMES = sizeof damped_schemes / sizeof *damped_schemes };

/* Under gravity alone every particle follows x + v t + g t^2 / 2, whatever alpha and beta. */
START_TEST(free_fall_is_exact_under_rayleigh_damping)
{
    tw_scheme scheme = damped_schemes[_i];
    cube *c = new_cube(100);
    const double v[3] = {1, -2, 0.5}, g[3] = {0, 0, -9.81};
    for (int i = 0; i < 3 * COUNT; i++) c->v[i] = v[i % 3];
    tw_model *model = model_of(c);
    ck_assert_int_eq(tw_model_add_gravity(model, g, NULL), TW_OK);
    ck_assert_int_eq(tw_model_set_rayleigh(model, 3, 0.01, NULL), TW_OK);
    tw_simulation *simulation = finished(model);
    double *u = advance(simulation, scheme, 1, 0.05, NULL), worst = 0;
    for (int i = 0; i < 3 * COUNT; i++) {
        worst = fmax(worst, fabs(u[i] - (c->x[i] + v[i % 3] + 0.5 * g[i % 3])));
        worst = fmax(worst, fabs(u[3 * COUNT + i] - (v[i % 3] + g[i % 3])));
    }
    printf("free fall, %-10s %.1e\n", tw_scheme_name(scheme), worst);
    ck_assert_msg(worst <= 1e-12, "%s: %g", tw_scheme_name(scheme), worst);
    free(u);
    tw_simulation_free(simulation);
    free(c);
}
END_TEST

/* A strained body in rigid motion: no friction at all, to rounding. And it is friction: it takes energy else. */
START_TEST(rigid_motion_feels_no_damping)
{
    cube *c = new_cube(100);
    tw_model *model = model_of(c);
    ck_assert_int_eq(tw_model_set_rayleigh(model, 3, 0.01, NULL), TW_OK);
    tw_simulation *simulation = finished(model);
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    double x[3 * COUNT], v[3 * COUNT], w[3] = {2, -1, 3}, still[3 * COUNT], turning[3 * COUNT],
                                       zero[3 * COUNT] = {0};
    for (int i = 0; i < COUNT; i++) { /* strained by a quarter: the geometric stiffness is there */
        for (int k = 0; k < 3; k++) x[3 * i + k] = c->x[3 * i + k] * (k == 0 ? 1.25 : 0.9);
        for (int k = 0; k < 3; k++)
            v[3 * i + k] = 5 + w[(k + 1) % 3] * x[3 * i + (k + 2) % 3] -
                           w[(k + 2) % 3] * x[3 * i + (k + 1) % 3];
    }
    ck_assert_int_eq(p->acceleration(p->context, 0, x, zero, still), TW_OK);
    ck_assert_int_eq(p->acceleration(p->context, 0, x, v, turning), TW_OK);
    double size = 0, difference = 0, power = 0;
    for (int i = 0; i < 3 * COUNT; i++) size = fmax(size, fabs(still[i]));
    for (int i = 0; i < 3 * COUNT; i++) difference = fmax(difference, fabs(turning[i] - still[i]));
    ck_assert_msg(difference <= 1e-13 * size, "%g of %g", difference, size);
    test_random random = {.state = 5};
    for (int i = 0; i < 3 * COUNT; i++) v[i] += test_random_between(&random, -1, 1);
    ck_assert_int_eq(p->acceleration(p->context, 0, x, v, turning), TW_OK);
    for (int i = 0; i < 3 * COUNT; i++) power += p->lumped_mass[i] * (turning[i] - still[i]) * v[i];
    ck_assert_double_lt(power, -1);
    tw_simulation_free(simulation);
    free(c);
}
END_TEST

/* A small vibration decays as Rayleigh says: one spring, two masses, reduced mass 1/2: w^2 = 2 k. */
START_TEST(a_vibration_decays_at_rayleighs_rate)
{
    const double x[6] = {0, 0, 0, 1, 0, 0}, v[6] = {-1e-3, 0, 0, 1e-3, 0, 0}, m[2] = {1, 1}, k = 50;
    const int64_t ends[2] = {0, 1};
    double alpha = 0.4, beta = 0.004, w2 = 2 * k, decay = 0.5 * (alpha + beta * w2),
           w = sqrt(w2 - decay * decay);
    tw_model *model = NULL;
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_particles(model, 2, x, v, m, NULL, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_springs(model, 1, ends, &k, NULL, NULL), TW_OK);
    ck_assert_int_eq(tw_model_set_rayleigh(model, alpha, beta, NULL), TW_OK);
    tw_simulation *simulation = finished(model);
    double *u = advance(simulation, TW_SCHEME_EXPRB42, 2, 0.01, NULL);
    double expected = 2e-3 / w * exp(-decay * 2) * sin(w * 2);
    ck_assert_double_eq_tol(u[3] - u[0] - 1, expected, 1e-10);
    free(u);
    tw_simulation_free(simulation);
}
END_TEST

/* What damping takes is what energy is missing. */
START_TEST(the_power_of_damping_accounts_for_the_energy)
{
    cube *c = new_cube(100);
    test_random random = {.state = 9};
    for (int i = 0; i < 3 * COUNT; i++) c->v[i] = test_random_between(&random, -0.3, 0.3);
    tw_model *model = model_of(c);
    ck_assert_int_eq(tw_model_add_dashpots(model, 40, c->ends, c->mass, NULL), TW_OK);
    ck_assert_int_eq(tw_model_set_rayleigh(model, 1, 0.005, NULL), TW_OK);
    tw_simulation *simulation = finished(model);
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = TW_SCHEME_RK4;
    options.step = 0.0025;
    tw_integrator *integrator = NULL;
    tw_measurement first, m, last;
    ck_assert_int_eq(tw_simulation_integrator(simulation, &options, &integrator, NULL), TW_OK);
    ck_assert_int_eq(tw_simulation_measure(simulation, 0, tw_simulation_start(simulation), &first),
                     TW_OK);
    last = first;
    double work = 0;
    for (int step = 0; step < 400; step++) {
        ck_assert_int_eq(tw_integrator_step(integrator, 1, NULL), TW_OK);
        ck_assert_int_eq(
            tw_simulation_measure(simulation, 0, tw_integrator_state_view(integrator), &m), TW_OK);
        ck_assert_double_ge(m.damping_power, 0);
        work += 0.5 * options.step * (last.damping_power + m.damping_power);
        last = m;
    }
    double lost = first.kinetic + first.potential - last.kinetic - last.potential;
    ck_assert_double_gt(lost, 0.3 * first.kinetic);
    ck_assert_double_eq_tol(work, lost, 2e-3 * lost);
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
    free(c);
}
END_TEST

/* ---- order ---- */

/* Everything that depends on time or velocity at once: gusts, shaking, dashpots, Rayleigh, moved particles. */
static tw_simulation *lively(const cube *c)
{
    tw_model *model = model_of(c);
    const double shake[3] = {1, 0, 2}, amplitude[3] = {0.05, 0.02, 0.03}, point[3] = {0},
                 axis[3] = {0, 1, 1};
    const double times[4] = {-0.5, 0.25, 0.8, 1.5};
    const double places[12] = {0, 0, 0, 0.05, 0, 0, 0, 0.05, 0.02, 0, 0, 0.1};
    const int64_t triangles[6] = {60, 61, 63, 44, 62, 63};
    tw_wind wind = tw_wind_default();
    wind.velocity[0] = 2;
    wind.velocity[1] = 1;
    wind.density = 20;
    wind.lift = 0.6;
    wind.gust = 0.5;
    wind.gust_frequency = 0.5;
    ck_assert_int_eq(tw_model_add_wind(model, 2, triangles, &wind, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_shaking(model, shake, 0.5, 0.3, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_dashpots(model, 40, c->ends, c->mass, NULL), TW_OK);
    ck_assert_int_eq(tw_model_set_rayleigh(model, 0.5, 0.005, NULL), TW_OK);
    ck_assert_int_eq(tw_model_prescribe_oscillation(model, 0, 1, amplitude, 0.5, 0.2, NULL), TW_OK);
    ck_assert_int_eq(tw_model_prescribe_rotation(model, 3, 3, point, axis, 1.0, NULL), TW_OK);
    ck_assert_int_eq(tw_model_prescribe_keyframes(model, 15, 15, 4, times, places, NULL), TW_OK);
    return finished(model);
}

static double distance(int64_t n, const double *u, const double *v)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (u[i] - v[i]) * (u[i] - v[i]);
    return sqrt(sum);
}

typedef struct order_case {
    tw_scheme scheme;
    double step, order;
} order_case;

/* The keyframes leave jumps of the third derivative at 0.25 and 0.8: steps meet both. */
static const order_case orders[] = {
    {TW_SCHEME_EXPRB2, 0.025, 2},         {TW_SCHEME_EXPRB42, 0.05, 4},
    {TW_SCHEME_PEXPRB43, 0.05, 4},        {TW_SCHEME_RK4, 0.05, 4},
    {TW_SCHEME_EXPMID2, 0.025, 2},        {TW_SCHEME_MIDPOINT, 0.025, 2},
    {TW_SCHEME_NEWMARK, 0.025, 2},        {TW_SCHEME_BDF2, 0.025, 2},
    {TW_SCHEME_SEMI_IMPLICIT, 0.0125, 1},
};
enum { ORDERS = sizeof orders / sizeof *orders };

START_TEST(forces_of_time_and_velocity_keep_the_order)
{
    const order_case *o = &orders[_i];
    cube *c = new_cube(30);
    tw_simulation *simulation = lively(c);
    int64_t size = tw_simulation_state_size(simulation);
    double *exact = advance(simulation, TW_SCHEME_RK4, 1, 0.0025, NULL), error[2];
    for (int half = 0; half < 2; half++) {
        double *u = advance(simulation, o->scheme, 1, o->step / (1 + half), NULL);
        error[half] = distance(size, u, exact);
        free(u);
    }
    double order = log2(error[0] / error[1]);
    printf("%-14s %.2e %.2e  order %.2f\n", tw_scheme_name(o->scheme), error[0], error[1], order);
    ck_assert_msg(order > o->order - 0.25, "%s: %g %g, order %.2f", tw_scheme_name(o->scheme),
                  error[0], error[1], order);
    free(exact);
    tw_simulation_free(simulation);
    free(c);
}
END_TEST

/* ---- Newton's method ---- */

/* Dashpots a thousand times stiffer than the step resolves: with D in the matrix two or three corrections do. */
START_TEST(strong_dashpots_cost_newton_nothing)
{
    cube *c = new_cube(1000);
    double damping[40];
    for (int i = 0; i < 40; i++) damping[i] = 1e5;
    const double g[3] = {0, 0, -9.81};
    tw_model *model = model_of(c);
    ck_assert_int_eq(tw_model_pin(model, 0, 15, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_gravity(model, g, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_dashpots(model, 40, c->ends, damping, NULL), TW_OK);
    ck_assert_int_eq(tw_model_set_rayleigh(model, 1, 0.1, NULL), TW_OK);
    tw_simulation *simulation = finished(model);
    tw_integrator_statistics s;
    free(advance(simulation, TW_SCHEME_MIDPOINT, 0.5, 0.05, &s));
    printf("Newton: %lld corrections in %lld steps\n", (long long)s.newton_iterations,
           (long long)s.steps);
    ck_assert_int_le(s.newton_iterations, 8 * s.steps);
    tw_simulation_free(simulation);
    free(c);
}
END_TEST

/* ---- particles that are moved ---- */

/* Counts its calls. The particle swings along x. */
static void count_and_swing(void *context, double t, const double start[3], double position[3],
                            double velocity[3], double acceleration[3])
{
    int *calls = context;
    (*calls)++;
    for (int k = 0; k < 3; k++) {
        double size = k == 0 ? 0.01 : 0.0;
        position[k] = start[k] + size * sin(t);
        velocity[k] = size * cos(t);
        acceleration[k] = -size * sin(t);
    }
}

/* The same for many particles. */
static void count_and_swing_all(void *context, double t, int64_t count, const double *start,
                                double *position, double *velocity, double *acceleration)
{
    int calls = 0;
    for (int64_t i = 0; i < 3 * count; i += 3)
        count_and_swing(&calls, t, start + i, position + i, velocity + i, acceleration + i);
    (*(int *)context)++;
}

/* Ten steps of expmid2 on a cube whose first SIDE particles swing. Returns how often the motion was
 * asked. */
static int calls_of_ten_steps(const tw_motion *motion, double *x)
{
    cube *c = new_cube(1e4);
    tw_model *model = model_of(c);
    ck_assert_int_eq(tw_model_prescribe(model, 0, SIDE - 1, motion, NULL), TW_OK);
    tw_simulation *simulation = finished(model);
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = TW_SCHEME_EXPMID2;
    options.step = 0.01;
    tw_integrator *integrator = NULL;
    ck_assert_int_eq(tw_simulation_integrator(simulation, &options, &integrator, NULL), TW_OK);

    int *calls = motion->context;
    *calls = 0;
    ck_assert_int_eq(tw_integrator_advance(integrator, 0.1, NULL), TW_OK);
    int made = *calls;
    memcpy(x, tw_integrator_state_view(integrator), 3 * (COUNT - SIDE) * sizeof *x);
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
    free(c);
    return made;
}

/* However many iterations a step takes, a motion is asked for each time once: in the middle of the
 * step, at its end, and where the energy is judged. */
START_TEST(motions_are_evaluated_once_per_time)
{
    int calls = 0;
    double one_by_one[3 * COUNT];
    double all[3 * COUNT];
    tw_motion motion = {.context = &calls, .at = count_and_swing};
    int made = calls_of_ten_steps(&motion, one_by_one);
    ck_assert_int_ge(made, 10 * SIDE);
    ck_assert_int_le(made, 4 * 10 * SIDE);

    motion.all_at = count_and_swing_all;
    int blocks = calls_of_ten_steps(&motion, all);
    ck_assert_int_eq(blocks * SIDE, made);
    ck_assert_mem_eq(one_by_one, all, 3 * (COUNT - SIDE) * sizeof *all);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("forces in time");
    TCase *cases = tcase_create("forces in time");
    tcase_set_timeout(cases, 120);
    tcase_add_loop_test(cases, free_fall_is_exact_under_rayleigh_damping, 0, SCHEMES);
    tcase_add_test(cases, rigid_motion_feels_no_damping);
    tcase_add_test(cases, a_vibration_decays_at_rayleighs_rate);
    tcase_add_test(cases, the_power_of_damping_accounts_for_the_energy);
    tcase_add_loop_test(cases, forces_of_time_and_velocity_keep_the_order, 0, ORDERS);
    tcase_add_test(cases, strong_dashpots_cost_newton_nothing);
    tcase_add_test(cases, motions_are_evaluated_once_per_time);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
