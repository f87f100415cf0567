/* Every scheme has the order it claims: nonlinear, damped, with velocity- and time-dependent forces and prescribed
 * motion. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <twang/twang.h>

#include "problems/oscillators.h"
#include "support/reference_state.h"
#include "support/run_suite.h"

/* Masses of the chains: too many for expmid2 to take the engine `dense`. */
enum { CHAIN = 70 };

/* What a problem gives besides its acceleration. */
typedef enum given { EVERYTHING, PRODUCTS, NOTHING_ELSE } given;

static void take_away(given what, tw_second_order_problem *table)
{
    if (what == EVERYTHING) return;
    table->stiffness_matrix = NULL;
    table->assemble = NULL;
    if (what == PRODUCTS) return;
    table->linearise = NULL;
    table->apply_stiffness = NULL;
    table->apply_damping = NULL;
    table->time_derivative = NULL;
}

/* The state at t = 1 after `steps` fixed steps. False: the scheme does not take the problem. */
static bool run_to_one(tw_scheme scheme, oscillator *o, int steps, double *u)
{
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = scheme;
    options.step = 1.0 / steps;
    options.phi.engine =
        o->table.velocity_dependent && scheme != TW_SCHEME_EXPMID2 ? TW_PHI_PHIPM : TW_PHI_DENSE;
    options.phi.tolerance = 1e-13;
    options.newton.tolerance = 1e-13;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    tw_status status = tw_integrator_create_second_order(&o->table, &options, &integrator, &error);
    if (status == TW_UNSUPPORTED) return false;

    ck_assert_msg(status == TW_OK, "%s: %s", tw_scheme_name(scheme), error.text);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, o->start, &error), TW_OK);
    status = tw_integrator_advance(integrator, 1.0, &error);
    ck_assert_msg(status == TW_OK, "%s on %s: %s", tw_scheme_name(scheme), o->name, error.text);
    tw_integrator_state(integrator, NULL, u);
    tw_integrator_free(integrator);
    return true;
}

/* Error at t = 1 with `steps` fixed steps; NAN if the scheme does not take the problem. */
static double error_with(tw_scheme scheme, oscillator_kind kind, int steps)
{
    oscillator o;
    oscillator_create(kind, &o);
    double u[2 * OSCILLATOR_MAX];
    double expected[2 * OSCILLATOR_MAX];
    double result = NAN;
    if (run_to_one(scheme, &o, steps, u)) {
        char name[64];
        snprintf(name, sizeof name, "%s_T1.txt", o.name);
        ck_assert(reference_state(name, o.unknowns, expected));
        result = reference_error(u, expected, 2 * (int64_t)o.unknowns);
    }
    oscillator_free(&o);
    return result;
}

/* Which (scheme, problem) pairs there must be; others answer "unsupported". */
static bool applies(tw_scheme scheme, oscillator_kind kind)
{
    bool damped = kind == DAMPED || kind == VANDERPOL;
    if (scheme == TW_SCHEME_VERLET || scheme == TW_SCHEME_V_IMEX || scheme == TW_SCHEME_GAUTSCHI)
        return !damped;
    return true;
}

START_TEST(scheme_has_its_order)
{
    tw_scheme scheme = (tw_scheme)_i;
    if (scheme == TW_SCHEME_CVODE) return; /* it has no fixed step: test_adaptive */
    for (int kind = 0; kind < OSCILLATOR_KINDS; kind++) {
        int steps = tw_scheme_order(scheme) < 4 ? 80 : scheme == TW_SCHEME_RK4 ? 60 : 20;
        double coarse = error_with(scheme, (oscillator_kind)kind, steps);
        if (!applies(scheme, (oscillator_kind)kind)) {
            ck_assert_msg(isnan(coarse), "%s takes problem %d", tw_scheme_name(scheme), kind);
            continue;
        }
        double fine = error_with(scheme, (oscillator_kind)kind, 2 * steps),
               order = log2(coarse / fine);
        printf("%-18s %d  %.2e %.2e  order %.2f\n", tw_scheme_name(scheme), kind, coarse, fine,
               order);
        ck_assert_msg(order > tw_scheme_order(scheme) - 0.25 || fine < 2e-12,
                      "%s on problem %d: order %.2f (%g, %g)", tw_scheme_name(scheme), kind, order,
                      coarse, fine);
    }
}
END_TEST

/* A problem that gives its acceleration alone, or products with its tangents as well, ends where the
 * one with matrices ends: up to the errors of differences, about 1e-8, and of a damping that Newton's
 * matrix does not know. */
START_TEST(no_scheme_needs_a_matrix)
{
    tw_scheme scheme = (tw_scheme)_i;
    if (scheme == TW_SCHEME_CVODE) return; /* it has no fixed step, and needs no tangent */
    for (int kind = 0; kind < OSCILLATOR_KINDS; kind++) {
        if (!applies(scheme, (oscillator_kind)kind)) continue;
        double u[3][2 * OSCILLATOR_MAX];
        int64_t size = 0;
        for (int what = EVERYTHING; what <= NOTHING_ELSE; what++) {
            oscillator o;
            oscillator_create((oscillator_kind)kind, &o);
            size = 2 * (int64_t)o.unknowns;
            take_away((given)what, &o.table);
            ck_assert_msg(run_to_one(scheme, &o, 20, u[what]), "%s refuses problem %d",
                          tw_scheme_name(scheme), kind);
            oscillator_free(&o);
        }
        double by_products = reference_error(u[PRODUCTS], u[EVERYTHING], size);
        double by_differences = reference_error(u[NOTHING_ELSE], u[EVERYTHING], size);
        ck_assert_msg(by_products < 1e-10, "%s on problem %d: %g apart with products",
                      tw_scheme_name(scheme), kind, by_products);
        ck_assert_msg(by_differences < 1e-6, "%s on problem %d: %g apart with differences",
                      tw_scheme_name(scheme), kind, by_differences);
    }
}
END_TEST

/* ---- chains ---- */

/* A chain of masses between two walls, with springs k r + r^3. */
typedef struct chain {
    int64_t masses;
    double stiffness;
} chain;

static double pull(const chain *c, double r)
{
    return c->stiffness * r + r * r * r;
}

static tw_status chain_acceleration(void *context, double t, const double *x, const double *v,
                                    double *a)
{
    (void)t;
    (void)v;
    const chain *c = context;
    for (int64_t i = 0; i < c->masses; i++) {
        double left = i > 0 ? x[i - 1] : 0;
        double right = i + 1 < c->masses ? x[i + 1] : 0;
        a[i] = pull(c, right - x[i]) - pull(c, x[i] - left);
    }
    return TW_OK;
}

/* The pattern of a chain. */
static tw_sparse *chain_pattern(int64_t n)
{
    int64_t start[2 * CHAIN + 1], column[6 * CHAIN];
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        start[i] = count;
        column[count++] = i;
        if (i + 1 < n) column[count++] = i + 1;
    }
    start[n] = count;
    tw_sparse *matrix = NULL;
    ck_assert_int_eq(tw_sparse_create(1, n, start, column, TW_STORE_UPPER, &matrix, NULL), TW_OK);
    return matrix;
}

/* A stiff chain long enough for shift-invert, from a slow wave: with a pattern, and without. */
START_TEST(chains_need_no_matrix)
{
    chain c = {.masses = CHAIN, .stiffness = 1e4};
    tw_sparse *pattern = chain_pattern(CHAIN);
    double u[2][2 * CHAIN];
    for (int with = 0; with < 2; with++) {
        tw_second_order_problem problem = tw_second_order_problem_default();
        problem.space.local_size = CHAIN;
        problem.context = &c;
        problem.acceleration = chain_acceleration;
        problem.stiffness_matrix = with ? pattern : NULL;
        tw_integrator_options options = tw_integrator_options_default();
        options.scheme = (tw_scheme)_i;
        options.step = 0.05;
        tw_integrator *integrator = NULL;
        tw_error error = {0};
        tw_status status =
            tw_integrator_create_second_order(&problem, &options, &integrator, &error);
        ck_assert_msg(status == TW_OK, "%s: %s", tw_scheme_name((tw_scheme)_i), error.text);
        double start[2 * CHAIN] = {0};
        for (int i = 0; i < CHAIN; i++) start[i] = sin(3.141592653589793 * (i + 1) / (CHAIN + 1));
        ck_assert_int_eq(tw_integrator_start(integrator, 0, start, NULL), TW_OK);
        status = tw_integrator_advance(integrator, 1, &error);
        ck_assert_msg(status == TW_OK, "%s: %s", tw_scheme_name((tw_scheme)_i), error.text);
        tw_integrator_state(integrator, NULL, u[with]);
        tw_integrator_free(integrator);
    }
    double apart = reference_error(u[0], u[1], CHAIN);
    ck_assert_msg(apart < 1e-5, "%s: %g apart", tw_scheme_name((tw_scheme)_i), apart);
    tw_sparse_free(pattern);
}
END_TEST

/* A full matrix of many unknowns would be too much: the message says what to give instead. */
START_TEST(large_problems_need_a_pattern)
{
    chain c = {.masses = 2001, .stiffness = 1};
    tw_second_order_problem problem = tw_second_order_problem_default();
    problem.space.local_size = c.masses;
    problem.context = &c;
    problem.acceleration = chain_acceleration;
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = TW_SCHEME_EXPMID2;
    options.step = 0.1;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    ck_assert_int_eq(tw_integrator_create_second_order(&problem, &options, &integrator, &error),
                     TW_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(error.text, "pattern"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("scheme orders");
    TCase *cases = tcase_create("orders");
    tcase_set_timeout(cases, 120);
    tcase_add_loop_test(cases, scheme_has_its_order, 0, TW_SCHEME_COUNT);
    tcase_add_loop_test(cases, no_scheme_needs_a_matrix, 0, TW_SCHEME_COUNT);
    tcase_add_loop_test(cases, chains_need_no_matrix, TW_SCHEME_BDF1, TW_SCHEME_CVODE);
    tcase_add_loop_test(cases, chains_need_no_matrix, TW_SCHEME_EXPMID2, TW_SCHEME_EXPMID2 + 1);
    tcase_add_test(cases, large_problems_need_a_pattern);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
