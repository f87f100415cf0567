/* The driver with the explicit schemes: orders, plans, rejection, dense output, events, checkpoints. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "support/run_suite.h"

/* x'' = -x: x(0) = 1, v(0) = 0. */
static tw_status oscillator(void *context, double t, const double *x, const double *v, double *a)
{
    (void)context, (void)t, (void)v;
    a[0] = -x[0];
    return TW_OK;
}

static tw_status oscillator_energy(void *context, double t, const double *x, const double *v,
                                   double *kinetic, double *potential)
{
    (void)context, (void)t;
    *kinetic = 0.5 * v[0] * v[0];
    *potential = 0.5 * x[0] * x[0];
    return TW_OK;
}

static tw_second_order_problem oscillator_problem(void)
{
    tw_second_order_problem problem = tw_second_order_problem_default();
    problem.space.local_size = 1;
    problem.acceleration = oscillator;
    problem.energy = oscillator_energy;
    return problem;
}

static tw_integrator *start(tw_scheme scheme, double step, double rtol)
{
    tw_second_order_problem problem = oscillator_problem();
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = scheme;
    options.step = step;
    options.relative_tolerance = rtol;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    ck_assert_msg(tw_integrator_create_second_order(&problem, &options, &integrator, &error) ==
                      TW_OK,
                  "%s", error.text);
    ck_assert_int_eq(tw_integrator_start(integrator, 0.0, (double[]){1.0, 0.0}, &error), TW_OK);
    return integrator;
}

static double error_at(tw_scheme scheme, double step, double t_end)
{
    tw_integrator *integrator = start(scheme, step, 0);
    tw_error error = {0};
    ck_assert_msg(tw_integrator_advance(integrator, t_end, &error) == TW_OK, "%s", error.text);
    double t = 0, u[2];
    tw_integrator_state(integrator, &t, u);
    ck_assert(t == t_end);
    tw_integrator_free(integrator);
    return hypot(u[0] - cos(t_end), u[1] + sin(t_end));
}

START_TEST(explicit_schemes_have_their_order)
{
    static const tw_scheme schemes[] = {TW_SCHEME_EULER, TW_SCHEME_MIDPOINT_EXPLICIT, TW_SCHEME_RK4,
                                        TW_SCHEME_VERLET};
    tw_scheme scheme = schemes[_i];
    double coarse = error_at(scheme, 0.01, 2.0), fine = error_at(scheme, 0.005, 2.0);
    double order = log2(coarse / fine);
    ck_assert_msg(fabs(order - tw_scheme_order(scheme)) < 0.15, "%s: order %g",
                  tw_scheme_name(scheme), order);
}
END_TEST

START_TEST(fixed_steps_divide_the_time_evenly)
{
    tw_integrator *integrator = start(TW_SCHEME_VERLET, 0.3, 0);
    ck_assert_int_eq(tw_integrator_advance(integrator, 1.0, NULL), TW_OK);
    tw_integrator_statistics counts = tw_integrator_statistics_now(integrator);
    ck_assert_int_eq(counts.steps, 4);
    ck_assert_double_eq_tol(counts.last_step, 0.25, 1e-15);
    ck_assert_int_eq(counts.force_evaluations, 5); /* one per step, and the first */
    tw_integrator_free(integrator);
}
END_TEST

START_TEST(step_doubling_makes_every_one_step_scheme_adaptive)
{
    static const tw_scheme schemes[] = {TW_SCHEME_EULER, TW_SCHEME_MIDPOINT_EXPLICIT, TW_SCHEME_RK4,
                                        TW_SCHEME_VERLET};
    for (int i = 1; i < 4; i++) {
        double previous = 0;
        for (double rtol = 1e-4; rtol > 1e-8; rtol *= 0.01) {
            tw_integrator *integrator = start(schemes[i], 0, rtol);
            ck_assert_int_eq(tw_integrator_advance(integrator, 5.0, NULL), TW_OK);
            double u[2];
            tw_integrator_state(integrator, NULL, u);
            double error = hypot(u[0] - cos(5.0), u[1] + sin(5.0));
            ck_assert_msg(error < 100 * rtol, "%s: %g at rtol %g", tw_scheme_name(schemes[i]),
                          error, rtol);
            ck_assert_msg(previous == 0 || error < 0.2 * previous, "%s does not follow rtol",
                          tw_scheme_name(schemes[i]));
            previous = error;
            tw_integrator_free(integrator);
        }
    }
}
END_TEST

START_TEST(an_exploding_run_is_not_a_success)
{
    static const tw_scheme schemes[] = {TW_SCHEME_EULER, TW_SCHEME_MIDPOINT_EXPLICIT, TW_SCHEME_RK4,
                                        TW_SCHEME_VERLET};
    tw_integrator *integrator = start(schemes[_i], 3.0, 0);
    tw_error error = {0};
    tw_status status = tw_integrator_advance(integrator, 300.0, &error);
    ck_assert_int_ne(status, TW_OK);
    ck_assert(strstr(error.text, "cannot be trusted") != NULL);
    double u[2];
    tw_integrator_state(integrator, NULL, u);
    ck_assert(isfinite(u[0]) && isfinite(u[1]));
    tw_integrator_free(integrator);
}
END_TEST

/* Hermite through (x, v, a) at both ends; the schemes with a phi basis do better (test_dense_output). */
/* A body at rest at x = 1, but for its last digits; its potential is a difference of large numbers, which rounding
 * moves by more than the motion does. */
static tw_status trembling_force(void *context, double t, const double *x, const double *v,
                                 double *a)
{
    (void)context, (void)t, (void)v;
    a[0] = -(x[0] - 1);
    return TW_OK;
}

static tw_status trembling_energy(void *context, double t, const double *x, const double *v,
                                  double *kinetic, double *potential)
{
    (void)context, (void)t;
    volatile double large = 1e3 * x[0];
    *kinetic = 0.5 * v[0] * v[0];
    *potential = large - 1e3;
    return TW_OK;
}

START_TEST(a_body_at_rest_may_tremble)
{
    tw_second_order_problem problem = oscillator_problem();
    problem.acceleration = trembling_force;
    problem.energy = trembling_energy;
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = TW_SCHEME_VERLET;
    options.step = 0.1;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    ck_assert_int_eq(tw_integrator_create_second_order(&problem, &options, &integrator, NULL),
                     TW_OK);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, (double[]){1 - 1e-14, 0}, NULL), TW_OK);
    ck_assert_msg(tw_integrator_advance(integrator, 20, &error) == TW_OK, "%s", error.text);
    tw_integrator_free(integrator);
}
END_TEST

START_TEST(dense_output_is_as_good_as_the_step)
{
    tw_integrator *integrator = start(TW_SCHEME_RK4, 0.1, 0);
    while (tw_integrator_previous_time(integrator) < 3.0) {
        ck_assert_int_eq(tw_integrator_step(integrator, 10.0, NULL), TW_OK);
        double t = 0, u[2], end = 0;
        tw_integrator_state(integrator, &t, u);
        end = hypot(u[0] - cos(t), u[1] + sin(t));
        for (int i = 1; i < 10; i++) {
            double s = t - 0.1 + 0.01 * i;
            ck_assert_int_eq(tw_integrator_interpolate(integrator, s, u, NULL), TW_OK);
            ck_assert_double_le(hypot(u[0] - cos(s), u[1] + sin(s)), 3 * end + 2e-8);
        }
    }
    tw_integrator_free(integrator);
}
END_TEST

typedef struct collected {
    int count;
    double t[64], error;
} collected;

static tw_status collect(void *context, double t, const double *u)
{
    collected *c = context;
    c->t[c->count++] = t;
    c->error = fmax(c->error, hypot(u[0] - cos(t), u[1] + sin(t)));
    return TW_OK;
}

START_TEST(outputs_come_at_the_requested_times)
{
    collected got = {0};
    tw_integrator *integrator = start(TW_SCHEME_RK4, 0, 1e-7);
    ck_assert_int_eq(tw_integrator_on_output(integrator, 0.0, 0.25, collect, &got), TW_OK);
    ck_assert_int_eq(tw_integrator_advance(integrator, 5.0, NULL), TW_OK);
    ck_assert_int_eq(got.count, 20); /* the start itself is the caller's */
    for (int i = 0; i < got.count; i++) ck_assert_double_eq_tol(got.t[i], 0.25 * (i + 1), 1e-12);
    ck_assert_double_le(got.error, 1e-5);
    tw_integrator_free(integrator);
}
END_TEST

static tw_status height(void *context, double t, const double *u, double *g)
{
    (void)context, (void)t;
    *g = u[0];
    return TW_OK;
}

START_TEST(events_are_located_by_dense_output)
{
    tw_integrator *integrator = start(TW_SCHEME_RK4, 0.05, 0);
    tw_event event = {.value = height, .direction = -1, .stop = true};
    ck_assert_int_eq(tw_integrator_add_event(integrator, &event, NULL), TW_OK);
    ck_assert_int_eq(tw_integrator_advance(integrator, 10.0, NULL), TW_EVENT_STOP);
    double t = 0, u[2];
    tw_integrator_state(integrator, &t, u);
    ck_assert_double_eq_tol(t, acos(-1.0) / 2, 1e-6);
    ck_assert_double_eq_tol(u[0], 0.0, 1e-9);
    ck_assert_int_eq(tw_integrator_advance(integrator, 10.0, NULL),
                     TW_EVENT_STOP); /* the next falling zero */
    tw_integrator_state(integrator, &t, u);
    ck_assert_double_eq_tol(t, 2.5 * acos(-1.0), 1e-5);
    tw_integrator_free(integrator);
}
END_TEST

static void run_from(tw_integrator *integrator, double t_end, double *u)
{
    ck_assert_int_eq(tw_integrator_advance(integrator, t_end, NULL), TW_OK);
    tw_integrator_state(integrator, NULL, u);
}

START_TEST(a_restored_run_is_bitwise_the_run)
{
    for (int adaptive = 0; adaptive < 2; adaptive++) {
        tw_integrator *whole = start(TW_SCHEME_VERLET, 0.01, adaptive ? 1e-6 : 0);
        double expected[2], got[2];
        for (int i = 0; i < 17; i++) ck_assert_int_eq(tw_integrator_step(whole, 4.0, NULL), TW_OK);
        size_t size = 0;
        ck_assert_int_eq(tw_integrator_serialise(whole, NULL, 0, &size), TW_OK);
        void *bytes = malloc(size);
        ck_assert_int_eq(tw_integrator_serialise(whole, bytes, size, &size), TW_OK);
        run_from(whole, 4.0, expected);
        tw_integrator *other = start(TW_SCHEME_VERLET, 0.01, adaptive ? 1e-6 : 0);
        ck_assert_int_eq(tw_integrator_restore(other, bytes, size, NULL), TW_OK);
        run_from(other, 4.0, got);
        ck_assert_mem_eq(expected, got, sizeof got);
        tw_integrator_statistics a = tw_integrator_statistics_now(whole),
                                 b = tw_integrator_statistics_now(other);
        ck_assert_int_eq(a.force_evaluations, b.force_evaluations);
        ck_assert_int_eq(tw_integrator_restore(other, bytes, size - 1, NULL), TW_BAD_INPUT);
        ((char *)bytes)[0] ^= 1;
        ck_assert_int_eq(tw_integrator_restore(other, bytes, size, NULL), TW_BAD_INPUT);
        free(bytes);
        tw_integrator_free(whole);
        tw_integrator_free(other);
    }
}
END_TEST

static tw_status moody(void *context, double t, const double *x, const double *v, double *a)
{
    (void)v;
    int *calls = context;
    if (t > 1.0 && ++*calls < 4) return TW_RECOVERABLE;
    a[0] = -x[0];
    return TW_OK;
}

START_TEST(a_recoverable_force_shrinks_the_step)
{
    int calls = 0;
    tw_second_order_problem problem = oscillator_problem();
    problem.acceleration = moody;
    problem.context = &calls;
    problem.time_dependent = true; /* or the start would look whether it is, and use the moods up */
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = TW_SCHEME_RK4;
    options.relative_tolerance = 1e-6;
    tw_integrator *integrator = NULL;
    ck_assert_int_eq(tw_integrator_create_second_order(&problem, &options, &integrator, NULL),
                     TW_OK);
    ck_assert_int_eq(tw_integrator_start(integrator, 0.0, (double[]){1.0, 0.0}, NULL), TW_OK);
    ck_assert_int_eq(tw_integrator_advance(integrator, 2.0, NULL), TW_OK);
    ck_assert_int_ge(tw_integrator_statistics_now(integrator).rejected_callback, 3);
    tw_integrator_free(integrator);
}
END_TEST

START_TEST(bad_options_are_refused_with_a_reason)
{
    tw_second_order_problem problem = oscillator_problem();
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = TW_SCHEME_RK4;
    ck_assert_int_eq(tw_integrator_create_second_order(&problem, &options, &integrator, &error),
                     TW_INVALID_ARGUMENT);
    ck_assert(strstr(error.text, "step") != NULL && integrator == NULL);
    options.step = NAN;
    ck_assert_int_eq(tw_integrator_create_second_order(&problem, &options, &integrator, &error),
                     TW_INVALID_ARGUMENT);
    options.step = 0.1;
    problem.acceleration = NULL;
    ck_assert_int_eq(tw_integrator_create_second_order(&problem, &options, &integrator, &error),
                     TW_INVALID_ARGUMENT);
    problem = oscillator_problem();
    ck_assert_int_eq(tw_integrator_create_second_order(&problem, &options, &integrator, &error),
                     TW_OK);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, (double[]){NAN, 0}, &error), TW_NOT_FINITE);
    ck_assert_int_eq(tw_integrator_advance(integrator, 1, &error), TW_INVALID_ARGUMENT);
    tw_integrator_free(integrator);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("integrator");
    TCase *cases = tcase_create("driver");
    tcase_add_loop_test(cases, explicit_schemes_have_their_order, 0, 4);
    tcase_add_test(cases, fixed_steps_divide_the_time_evenly);
    tcase_add_test(cases, step_doubling_makes_every_one_step_scheme_adaptive);
    tcase_add_loop_test(cases, an_exploding_run_is_not_a_success, 0, 4);
    tcase_add_test(cases, a_body_at_rest_may_tremble);
    tcase_add_test(cases, dense_output_is_as_good_as_the_step);
    tcase_add_test(cases, outputs_come_at_the_requested_times);
    tcase_add_test(cases, events_are_located_by_dense_output);
    tcase_add_test(cases, a_restored_run_is_bitwise_the_run);
    tcase_add_test(cases, a_recoverable_force_shrinks_the_step);
    tcase_add_test(cases, bad_options_are_refused_with_a_reason);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
