/* Events: every zero is found, in the order of time, once; a stop loses and repeats nothing. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "problems/oscillators.h"
#include "support/run_suite.h"

static const double PI = 3.14159265358979323846;

/* x'' = -x: x = cos t. */
static tw_status harmonic(void *context, double t, const double *x, const double *v, double *a)
{
    (void)context, (void)t, (void)v;
    a[0] = -x[0];
    return TW_OK;
}

static tw_status unit_stiffness(void *context, int count, const double *in, double *out)
{
    (void)context;
    memcpy(out, in, sizeof(double) * (size_t)count);
    return TW_OK;
}

/* The pattern; its value is made by finite differences. It lives as long as the program. */
static tw_sparse *unit_matrix(void)
{
    static tw_sparse *matrix;
    if (!matrix)
        ck_assert_int_eq(
            tw_sparse_create(1, 1, (int64_t[]){0, 1}, (int64_t[]){0}, TW_STORE_FULL, &matrix, NULL),
            TW_OK);
    return matrix;
}

static tw_integrator *start_harmonic(tw_scheme scheme, double step, double rtol)
{
    tw_second_order_problem problem = tw_second_order_problem_default();
    problem.space.local_size = 1;
    problem.acceleration = harmonic;
    problem.apply_stiffness = unit_stiffness;
    problem.stiffness_matrix = unit_matrix();
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = scheme;
    options.step = step;
    options.relative_tolerance = rtol;
    options.phi.engine = TW_PHI_DENSE;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    ck_assert_msg(!tw_integrator_create_second_order(&problem, &options, &integrator, &error), "%s",
                  error.text);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, (double[]){1, 0}, &error), TW_OK);
    return integrator;
}

/* What was reported: which event, and when. */
typedef struct diary {
    int count;
    double t[400];
    int event[400];
} diary;

typedef struct level {
    diary *book;
    int number;
    int entry; /* of u */
    double height;
} level;

static tw_status above_level(void *context, double t, const double *u, double *g)
{
    (void)t;
    const level *l = context;
    *g = u[l->entry] - l->height;
    return TW_OK;
}

static void write_down(void *context, double t, const double *u)
{
    (void)u;
    const level *l = context;
    ck_assert_int_lt(l->book->count, 400);
    l->book->event[l->book->count] = l->number;
    l->book->t[l->book->count++] = t;
}

static void add_level(tw_integrator *integrator, level *l, bool stop)
{
    tw_event event = {.value = above_level, .context = l, .located = write_down, .stop = stop};
    ck_assert_int_eq(tw_integrator_add_event(integrator, &event, NULL), TW_OK);
}

static void is_in_order(const diary *book)
{
    for (int i = 1; i < book->count; i++) ck_assert_double_ge(book->t[i], book->t[i - 1]);
}

/* x = cos t passes 0 at (k + 1/2) pi: 20 times in 20 pi, whatever the steps. */
START_TEST(every_crossing_of_long_steps_is_found)
{
    tw_integrator *integrator = start_harmonic(TW_SCHEME_EXPRB42, 0, 1e-5);
    diary book = {0};
    level zero = {&book, 0, 0, 0};
    add_level(integrator, &zero, false);
    ck_assert_int_eq(tw_integrator_advance(integrator, 20 * PI, NULL), TW_OK);
    printf("%d crossings in %lld steps\n", book.count,
           (long long)tw_integrator_statistics_now(integrator).steps);
    ck_assert_int_eq(book.count, 20);
    for (int k = 0; k < 20; k++) ck_assert_double_eq_tol(book.t[k], (k + 0.5) * PI, 1e-8);
    tw_integrator_free(integrator);
}
END_TEST

/* Steps of whole periods, which look like rest at their ends and in their middle. */
START_TEST(steps_of_whole_periods_are_not_taken_for_rest)
{
    tw_integrator *integrator = start_harmonic(TW_SCHEME_EXPRB42, (_i + 1) * PI, 0);
    diary book = {0};
    level zero = {&book, 0, 0, 0};
    add_level(integrator, &zero, false);
    double span = 4 * (_i + 1) * PI;
    ck_assert_int_eq(tw_integrator_advance(integrator, span, NULL), TW_OK);
    ck_assert_int_eq(tw_integrator_statistics_now(integrator).steps, 4);
    ck_assert_int_eq(book.count, 4 * (_i + 1));
    is_in_order(&book);
    tw_integrator_free(integrator);
}
END_TEST

/* cos t > 0.9995 for |t - 2 pi k| < 0.0316: a pair of zeros far inside a step. */
START_TEST(pairs_of_zeros_in_one_step_are_found)
{
    static const tw_scheme schemes[] = {TW_SCHEME_RK4, TW_SCHEME_MIDPOINT_EXPLICIT,
                                        TW_SCHEME_EXPRB32, TW_SCHEME_VERLET};
    tw_integrator *integrator = start_harmonic(schemes[_i], 0.37, 0);
    diary book = {0};
    level high = {&book, 0, 0, 0.995};
    add_level(integrator, &high, false);
    ck_assert_int_eq(tw_integrator_advance(integrator, 10 * PI - 1, NULL), TW_OK);
    printf("%s: %d zeros\n", tw_scheme_name(schemes[_i]), book.count);
    is_in_order(&book);
    if (schemes[_i] == TW_SCHEME_RK4 || schemes[_i] == TW_SCHEME_EXPRB32)
        ck_assert_int_eq(book.count, 9); /* one, then pairs at 2 pi, 4 pi, 6 pi, 8 pi */
    else
        ck_assert_int_ge(book.count, 1); /* these schemes change the amplitude */
    tw_integrator_free(integrator);
}
END_TEST

enum { LEVELS = 5 };

/* Runs with levels of x and v to 12, and goes on after every stop. Returns the number of stops. */
static int run_levels(tw_integrator *integrator, level *levels, int stopping, diary *stops)
{
    for (int i = 0; i < LEVELS; i++) add_level(integrator, &levels[i], i == stopping);
    tw_status status = TW_EVENT_STOP;
    while (status == TW_EVENT_STOP) {
        tw_error error = {0};
        status = tw_integrator_advance(integrator, 12, &error);
        ck_assert_msg(status == TW_OK || status == TW_EVENT_STOP, "%s", error.text);
        int event = -1;
        double t = 0;
        double now = 0;
        bool stopped = tw_integrator_stopped_at(integrator, &event, &t);
        ck_assert_int_eq(stopped, status == TW_EVENT_STOP);
        if (!stopped) break;
        tw_integrator_state(integrator, &now, NULL);
        ck_assert(now == t);
        ck_assert_int_eq(event, stopping);
        /* Nothing was reported from behind the stop. */
        ck_assert_double_le(levels[0].book->t[levels[0].book->count - 1], t);
        stops->event[stops->count] = event;
        stops->t[stops->count++] = t;
    }
    return stops->count;
}

static const tw_scheme stop_schemes[] = {TW_SCHEME_EXPRB42, TW_SCHEME_RK4,     TW_SCHEME_MIDPOINT,
                                         TW_SCHEME_ETDRK4,  TW_SCHEME_EXPMID4, TW_SCHEME_BDF2};

/* Levels 0.3, 0.3 (again), 0.31, -0.5 of x and 0.2 of v. The same run with and without stops. */
START_TEST(a_stop_neither_loses_nor_repeats)
{
    tw_scheme scheme = stop_schemes[_i / LEVELS];
    int stopping = _i % LEVELS;
    bool fixed = scheme == TW_SCHEME_BDF2 || scheme == TW_SCHEME_MIDPOINT;
    double step = fixed ? 0.01 : 0;
    double rtol = fixed ? 0 : 1e-6;
    diary plain = {0};
    diary broken = {0};
    diary stops = {0};
    level levels[LEVELS] = {{&plain, 0, 0, 0.3},
                            {&plain, 1, 0, 0.3},
                            {&plain, 2, 0, 0.31},
                            {&plain, 3, 0, -0.5},
                            {&plain, 4, 1, 0.2}};
    tw_integrator *integrator = start_harmonic(scheme, step, rtol);
    ck_assert_int_eq(run_levels(integrator, levels, -1, &stops), 0);
    tw_integrator_free(integrator);

    for (int i = 0; i < LEVELS; i++) levels[i].book = &broken;
    integrator = start_harmonic(scheme, step, rtol);
    int count = run_levels(integrator, levels, stopping, &stops);
    tw_integrator_free(integrator);

    /* cos t = 0.3, 0.31, -0.5 four times each up to 12, -sin t = 0.2 three times. */
    ck_assert_int_eq(plain.count, 4 * 4 + 3);
    ck_assert_int_eq(count, stopping == 4 ? 3 : 4);
    ck_assert_int_eq(broken.count, plain.count);
    is_in_order(&plain);
    is_in_order(&broken);
    int seen[2][LEVELS] = {{0}};
    for (int k = 0; k < plain.count; k++) {
        ck_assert_double_eq_tol(plain.t[k], broken.t[k], 2e-3);
        seen[0][plain.event[k]]++;
        seen[1][broken.event[k]]++;
    }
    ck_assert_mem_eq(seen[0], seen[1], sizeof seen[0]);
}
END_TEST

/* Two stopping events and one that only reports: the first in time stops, the others wait. */
START_TEST(the_first_in_time_stops)
{
    tw_integrator *integrator = start_harmonic(TW_SCHEME_EXPRB42, 6.0, 0); /* nearly a period */
    diary book = {0};
    level late = {&book, 0, 0, -0.9};
    level early = {&book, 1, 0, 0.9};
    level between = {&book, 2, 0, 0.0};
    add_level(integrator, &late, true);
    add_level(integrator, &early, true);
    add_level(integrator, &between, false);
    int event = -1;
    double t = 0;
    ck_assert(!tw_integrator_stopped_at(integrator, &event, &t));
    ck_assert_int_eq(tw_integrator_advance(integrator, 6, NULL), TW_EVENT_STOP);
    ck_assert(tw_integrator_stopped_at(integrator, &event, &t));
    ck_assert_int_eq(event, 1);
    ck_assert_double_eq_tol(t, acos(0.9), 1e-9);
    ck_assert_int_eq(book.count, 1);
    ck_assert_int_eq(tw_integrator_advance(integrator, 6, NULL), TW_EVENT_STOP);
    ck_assert(tw_integrator_stopped_at(integrator, &event, NULL));
    ck_assert_int_eq(event, 0);
    ck_assert_int_eq(book.count, 3);
    ck_assert_int_eq(book.event[1], 2);
    tw_integrator_free(integrator);
}
END_TEST

/* Outputs inside the part of the step before the stop, and asked for afterwards. */
START_TEST(a_cut_step_still_interpolates)
{
    static const tw_scheme schemes[] = {TW_SCHEME_EXPRB42, TW_SCHEME_RK4, TW_SCHEME_EXPMID4};
    tw_integrator *integrator = start_harmonic(schemes[_i], 0.5, 0);
    diary book = {0};
    level l = {&book, 0, 0, cos(0.4)};
    add_level(integrator, &l, true);
    ck_assert_int_eq(tw_integrator_advance(integrator, 5, NULL), TW_EVENT_STOP);
    for (double t = 0.05; t < 0.38; t += 0.05) {
        double u[2];
        ck_assert_int_eq(tw_integrator_interpolate(integrator, t, u, NULL), TW_OK);
        ck_assert_double_eq_tol(u[0], cos(t), 1e-4);
    }
    tw_integrator_free(integrator);
}
END_TEST

static tw_status undefined_late(void *context, double t, const double *u, double *g)
{
    (void)context;
    *g = t > 0.5 ? NAN : u[0] + 2;
    return TW_OK;
}

/* A value without a sign would lose its crossings: the run ends. */
START_TEST(an_event_that_is_not_finite_ends_the_run)
{
    tw_integrator *integrator = start_harmonic(TW_SCHEME_RK4, 0.02, 0);
    tw_event event = {.value = undefined_late};
    ck_assert_int_eq(tw_integrator_add_event(integrator, &event, NULL), TW_OK);
    ck_assert_int_eq(tw_integrator_advance(integrator, 5, NULL), TW_NOT_FINITE);
    tw_integrator_free(integrator);
}
END_TEST

static tw_status ignore(void *context, double t, const double *u)
{
    (void)context, (void)t, (void)u;
    return TW_OK;
}

/* Output times closer than rounding would never come to an end. */
START_TEST(outputs_that_cannot_be_told_apart_are_refused)
{
    tw_integrator *integrator = start_harmonic(TW_SCHEME_RK4, 0.02, 0);
    ck_assert_int_eq(tw_integrator_on_output(integrator, 0, 1e-300, ignore, NULL), TW_OK);
    ck_assert_int_eq(tw_integrator_advance(integrator, 5, NULL), TW_INVALID_ARGUMENT);
    tw_integrator_free(integrator);
}
END_TEST

/* A run that is written and read back at a stop goes on as if nothing had happened. */
START_TEST(a_stop_can_be_written_and_read)
{
    static const tw_scheme schemes[] = {TW_SCHEME_GENERALIZED_ALPHA, TW_SCHEME_VERLET,
                                        TW_SCHEME_EXPRB42};
    diary book = {0};
    level l = {&book, 0, 0, 0.3};
    tw_integrator *one = start_harmonic(schemes[_i], 0.02, 0);
    tw_integrator *two = start_harmonic(schemes[_i], 0.02, 0);
    add_level(one, &l, true);
    add_level(two, &l, true);
    ck_assert_int_eq(tw_integrator_advance(one, 5, NULL), TW_EVENT_STOP);
    size_t size = 0;
    ck_assert_int_eq(tw_integrator_serialise(one, NULL, 0, &size), TW_OK);
    void *bytes = malloc(size);
    ck_assert_int_eq(tw_integrator_serialise(one, bytes, size, &size), TW_OK);
    ck_assert_int_eq(tw_integrator_restore(two, bytes, size, NULL), TW_OK);
    double u[2][2];
    for (int k = 0; k < 2; k++) {
        ck_assert_int_eq(tw_integrator_advance(k ? two : one, 3, NULL), TW_OK);
        tw_integrator_state(k ? two : one, NULL, u[k]);
    }
    ck_assert_mem_eq(u[0], u[1], sizeof u[0]);
    free(bytes);
    tw_integrator_free(one);
    tw_integrator_free(two);
}
END_TEST

/* First order, and a value that jumps: u' = 1, g = -1 before u = 0.3 and +1 behind it. */
static tw_status constant(void *context, double t, const double *u, double *F)
{
    (void)context, (void)t, (void)u;
    F[0] = 1;
    return TW_OK;
}

static tw_status jump(void *context, double t, const double *u, double *g)
{
    (void)context, (void)t;
    *g = u[0] < 0.3 ? -1 : 1;
    return TW_OK;
}

START_TEST(a_jump_is_located)
{
    tw_first_order_problem problem = tw_first_order_problem_default();
    problem.space.local_size = 1;
    problem.rhs = constant;
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = TW_SCHEME_RK4;
    options.step = 1;
    tw_integrator *integrator = NULL;
    ck_assert_int_eq(tw_integrator_create_first_order(&problem, &options, &integrator, NULL),
                     TW_OK);
    tw_event event = {.value = jump, .stop = true};
    ck_assert_int_eq(tw_integrator_add_event(integrator, &event, NULL), TW_OK);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, (double[]){0}, NULL), TW_OK);
    ck_assert_int_eq(tw_integrator_advance(integrator, 2, NULL), TW_EVENT_STOP);
    double t = 0;
    tw_integrator_state(integrator, &t, NULL);
    ck_assert_double_eq_tol(t, 0.3, 1e-9);
    ck_assert_int_eq(tw_integrator_advance(integrator, 2, NULL), TW_OK);
    tw_integrator_free(integrator);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("events");
    TCase *cases = tcase_create("events");
    tcase_add_test(cases, every_crossing_of_long_steps_is_found);
    tcase_add_loop_test(cases, steps_of_whole_periods_are_not_taken_for_rest, 0, 12);
    tcase_add_loop_test(cases, pairs_of_zeros_in_one_step_are_found, 0, 4);
    tcase_add_loop_test(cases, a_stop_neither_loses_nor_repeats, 0,
                        LEVELS * (int)(sizeof stop_schemes / sizeof *stop_schemes));
    tcase_add_test(cases, the_first_in_time_stops);
    tcase_add_loop_test(cases, a_cut_step_still_interpolates, 0, 3);
    tcase_add_loop_test(cases, a_stop_can_be_written_and_read, 0, 3);
    tcase_add_test(cases, an_event_that_is_not_finite_ends_the_run);
    tcase_add_test(cases, outputs_that_cannot_be_told_apart_are_refused);
    tcase_add_test(cases, a_jump_is_located);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
