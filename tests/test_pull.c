/* A pull on a particle (tw_model_add_pull): the exact motion it gives, its tangent against differences, and changes
 * between steps. */
#include <math.h>
#include <string.h>
#include <twang/twang.h>

#include "support/run_suite.h"

static const double frequency = 4.0; /* 1/s, of the whole model on the pull */
static const double mass = 2.5;      /* kg */

/* One free particle at rest at `start`, and a pull. */
static tw_simulation *new_particle(const double start[3])
{
    tw_model *model = NULL;
    tw_simulation *simulation = NULL;
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_particles(model, 1, start, NULL, &mass, NULL, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_pull(model, frequency, NULL), TW_OK);
    ck_assert_int_eq(tw_simulation_of_model(model, &simulation, NULL), TW_OK);
    return simulation;
}

static const struct {
    tw_scheme scheme;
    double tolerance; /* m, after one second in steps of 2 ms */
} cases[] = {{TW_SCHEME_EXPMID2, 1e-9}, {TW_SCHEME_EXPRB42, 1e-7},  {TW_SCHEME_RK4, 1e-8},
             {TW_SCHEME_VERLET, 1e-4},  {TW_SCHEME_MIDPOINT, 1e-4}, {TW_SCHEME_BDF2, 1e-3},
             {TW_SCHEME_GAUTSCHI, 1e-9}};

/* At rest at 0, pulled to c from t = 0 on: x = c (1 - cos(w t)), w the frequency of the pull. Then the target jumps to d when half of
 * the time is over; the motion about d goes on from the state that was reached. */
START_TEST(follows_the_exact_motion)
{
    double start[3] = {0, 0, 0};
    tw_simulation *simulation = new_particle(start);
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = cases[_i].scheme;
    options.step = 2e-3;
    options.phi.tolerance = 1e-12;
    tw_integrator *integrator = NULL;
    ck_assert_int_eq(tw_simulation_integrator(simulation, &options, &integrator, NULL), TW_OK);
    double c[3] = {1, 0.5, -2};
    double d[3] = {-1, 0, 3};
    ck_assert_int_eq(tw_simulation_pull(simulation, 0, c), TW_OK);
    ck_assert_int_eq(tw_integrator_refresh(integrator, NULL), TW_OK);
    ck_assert_int_eq(tw_integrator_advance(integrator, 0.5, NULL), TW_OK);
    ck_assert_int_eq(tw_simulation_pull(simulation, 0, d), TW_OK);
    ck_assert_int_eq(tw_integrator_refresh(integrator, NULL), TW_OK);
    ck_assert_int_eq(tw_integrator_advance(integrator, 1.0, NULL), TW_OK);

    double u[6];
    tw_integrator_state(integrator, NULL, u);
    double w = frequency;
    for (int k = 0; k < 3; k++) {
        double x = c[k] * (1 - cos(0.5 * w));
        double v = c[k] * w * sin(0.5 * w);
        double exact = d[k] + (x - d[k]) * cos(0.5 * w) + v / w * sin(0.5 * w);
        ck_assert_double_eq_tol(u[k], exact, 10 * cases[_i].tolerance);
    }
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
}
END_TEST

/* Three particles on springs; the one in the middle is pulled. The product with K, the matrix and the energy agree with
 * differences of the acceleration and of the energy. */
START_TEST(tangent_agrees_with_differences)
{
    double x[9] = {0, 0, 0, 1, 0.1, 0, 2, 0, 0.3};
    double masses[3] = {1, 2, 3};
    int64_t ends[4] = {0, 1, 1, 2};
    double spring[2] = {10, 20};
    tw_model *model = NULL;
    tw_simulation *simulation = NULL;
    tw_model_create(&model, NULL);
    tw_model_add_particles(model, 3, x, NULL, masses, NULL, NULL);
    tw_model_pin(model, 0, 0, NULL);
    tw_model_add_springs(model, 2, ends, spring, NULL, NULL);
    ck_assert_int_eq(tw_model_add_pull(model, frequency, NULL), TW_OK);
    ck_assert_int_eq(tw_simulation_of_model(model, &simulation, NULL), TW_OK);
    double target[3] = {0.5, 1, -1};
    ck_assert_int_eq(tw_simulation_pull(simulation, 1, target), TW_OK);

    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    double q[6];
    double v[6] = {0};
    memcpy(q, x + 3, sizeof q);
    ck_assert_int_eq(p->linearise(p->context, 0, q, v), TW_OK);
    for (int j = 0; j < 6; j++) {
        double in[6] = {0};
        double out[6];
        in[j] = 1;
        ck_assert_int_eq(p->apply_stiffness(p->context, 1, in, out), TW_OK);

        /* -M da/dx_j by central differences, and a_j against the energy. */
        double a[2][6];
        double energy[2];
        for (int side = 0; side < 2; side++) {
            double moved[6];
            double kinetic = 0;
            memcpy(moved, q, sizeof moved);
            moved[j] += side ? 1e-5 : -1e-5;
            p->acceleration(p->context, 0, moved, v, a[side]);
            p->energy(p->context, 0, moved, v, &kinetic, &energy[side]);
        }
        for (int i = 0; i < 6; i++)
            ck_assert_double_eq_tol(out[i], -masses[1 + i / 3] * (a[1][i] - a[0][i]) / 2e-5, 1e-5);
        double force = masses[1 + j / 3] * 0.5 * (a[0][j] + a[1][j]);
        ck_assert_double_eq_tol(force, -(energy[1] - energy[0]) / 2e-5, 1e-5);
    }
    tw_simulation_free(simulation);
}
END_TEST

START_TEST(refuses_what_is_not_there)
{
    double start[3] = {0, 0, 0};
    double target[3] = {0, 0, NAN};
    tw_simulation *simulation = new_particle(start);
    ck_assert_int_eq(tw_simulation_pull(simulation, 1, start), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_simulation_pull(simulation, 0, NULL), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_simulation_pull(simulation, 0, target), TW_NOT_FINITE);
    ck_assert_int_eq(tw_simulation_pull(simulation, -1, start), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_simulation_release(simulation), TW_OK);
    tw_simulation_free(simulation);

    ck_assert_int_eq(tw_simulation_fput(3, 100, &simulation, NULL), TW_OK);
    ck_assert_int_eq(tw_simulation_pull(simulation, 0, start), TW_UNSUPPORTED);
    tw_simulation_free(simulation);

    tw_model *model = NULL;
    tw_model_create(&model, NULL);
    ck_assert_int_eq(tw_model_add_pull(model, 0, NULL), TW_INVALID_ARGUMENT);
    tw_model_free(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pull");
    TCase *tests = tcase_create("pull");
    tcase_add_loop_test(tests, follows_the_exact_motion, 0, sizeof cases / sizeof *cases);
    tcase_add_test(tests, tangent_agrees_with_differences);
    tcase_add_test(tests, refuses_what_is_not_there);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
