/* Implicit schemes on first-order problems that are too large for a dense Jacobian.
 *
 * The heat equation with a cubic sink on n points of (0, 1), u = 0 at the ends,
 *     u_i' = (u_{i-1} - 2 u_i + u_{i+1}) / dx^2 - c u_i^3.
 * Without the sink sin(pi x) decays at the rate 4 sin^2(pi dx/2) / dx^2 exactly. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <twang/twang.h>

#include "support/run_suite.h"
#include "support/sparse_cases.h"

enum { POINTS = 5000 };
static const double pi = 3.14159265358979323846;

typedef struct heat {
    double sink;      /* c */
    double u[POINTS]; /* of the last linearisation */
} heat;

static double curvature(const double *u, int64_t i)
{
    double dx = 1.0 / (POINTS + 1);
    double left = i > 0 ? u[i - 1] : 0;
    double right = i < POINTS - 1 ? u[i + 1] : 0;
    return (left - 2 * u[i] + right) / (dx * dx);
}

static tw_status heat_rhs(void *context, double t, const double *u, double *F)
{
    (void)t;
    const heat *h = context;
    for (int64_t i = 0; i < POINTS; i++) F[i] = curvature(u, i) - h->sink * u[i] * u[i] * u[i];
    return TW_OK;
}

static tw_status heat_linearise(void *context, double t, const double *u)
{
    (void)t;
    heat *h = context;
    for (int64_t i = 0; i < POINTS; i++) h->u[i] = u[i];
    return TW_OK;
}

static tw_status heat_assemble(void *context, tw_sparse *matrix)
{
    const heat *h = context;
    double dx = 1.0 / (POINTS + 1);
    const int64_t *start = tw_sparse_row_start(matrix);
    const int32_t *column = tw_sparse_column(matrix);
    double *values = tw_sparse_values(matrix);
    for (int64_t i = 0; i < POINTS; i++)
        for (int64_t n = start[i]; n < start[i + 1]; n++) {
            values[n] = 1 / (dx * dx);
            if (column[n] == i) values[n] = -2 / (dx * dx) - 3 * h->sink * h->u[i] * h->u[i];
        }
    return TW_OK;
}

/* A tridiagonal pattern. */
static tw_sparse *make_pattern(void)
{
    int64_t *start = test_allocate(POINTS + 1, sizeof *start);
    int64_t *column = test_allocate(3 * POINTS, sizeof *column);
    int64_t count = 0;
    for (int64_t i = 0; i < POINTS; i++) {
        start[i] = count;
        for (int64_t j = i - 1; j <= i + 1; j++)
            if (j >= 0 && j < POINTS) column[count++] = j;
    }
    start[POINTS] = count;
    tw_sparse *matrix = NULL;
    ck_assert_int_eq(tw_sparse_create(1, POINTS, start, column, TW_STORE_FULL, &matrix, NULL),
                     TW_OK);
    free(start);
    free(column);
    return matrix;
}

/* Runs to t = 0.1 from sin(pi x) in `steps` steps; the value in the middle, and the counts. */
static double run(tw_scheme scheme, double sink, int steps, tw_integrator_statistics *counts)
{
    heat *h = test_allocate(1, sizeof *h);
    h->sink = sink;
    tw_sparse *matrix = make_pattern();
    tw_first_order_problem problem = tw_first_order_problem_default();
    problem.space.local_size = POINTS;
    problem.context = h;
    problem.rhs = heat_rhs;
    problem.linearise = heat_linearise;
    problem.assemble = heat_assemble;
    problem.jacobian_matrix = matrix;

    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = scheme;
    options.step = 0.1 / steps;
    options.newton.tolerance = 1e-8;
    tw_integrator *integrator = NULL;
    tw_error error;
    ck_assert_msg(tw_integrator_create_first_order(&problem, &options, &integrator, &error) ==
                      TW_OK,
                  "%s", error.text);
    double *u = test_allocate(POINTS, sizeof *u);
    for (int i = 0; i < POINTS; i++) u[i] = sin(pi * (i + 1) / (POINTS + 1));
    ck_assert_int_eq(tw_integrator_start(integrator, 0, u, NULL), TW_OK);
    ck_assert_msg(tw_integrator_advance(integrator, 0.1, &error) == TW_OK, "%s", error.text);

    double middle = tw_integrator_state_view(integrator)[POINTS / 2];
    *counts = tw_integrator_statistics_now(integrator);
    tw_integrator_free(integrator);
    tw_sparse_free(matrix);
    free(u);
    free(h);
    return middle;
}

/* The stability limit of explicit schemes is 2e-8 s here. */
START_TEST(heat_decays_at_its_rate)
{
    static const tw_scheme schemes[] = {TW_SCHEME_BDF1, TW_SCHEME_BDF2, TW_SCHEME_MIDPOINT};
    static const double orders[] = {1, 2, 2};
    tw_integrator_statistics counts;
    double dx = 1.0 / (POINTS + 1);
    double rate = 4 * pow(sin(0.5 * pi * dx), 2) / (dx * dx);
    int middle = POINTS / 2;
    double exact = sin(pi * (middle + 1) * dx) * exp(-0.1 * rate);
    double coarse = fabs(run(schemes[_i], 0, 20, &counts) - exact);
    double fine = fabs(run(schemes[_i], 0, 40, &counts) - exact);
    double order = log2(coarse / fine);
    printf("%s: errors %.2e %.2e, order %.2f, %ld factorisations in %ld steps\n",
           tw_scheme_name(schemes[_i]), coarse, fine, order, (long)counts.factorisations,
           (long)counts.steps);
    ck_assert_double_ge(order, orders[_i] - 0.15);
    ck_assert_double_le(fine, 0.02 * exact);
    ck_assert_int_ge(counts.factorisations, counts.steps);
}
END_TEST

/* With the sink Newton iterates; halving the step shows the order again. */
START_TEST(newton_converges_on_a_nonlinear_problem)
{
    tw_integrator_statistics counts;
    double one = run(TW_SCHEME_MIDPOINT, 50, 20, &counts);
    double two = run(TW_SCHEME_MIDPOINT, 50, 40, &counts);
    double four = run(TW_SCHEME_MIDPOINT, 50, 80, &counts);
    double order = log2(fabs(one - two) / fabs(two - four));
    printf("midpoint with a sink: order %.2f, %.1f iterations per step\n", order,
           (double)counts.newton_iterations / (double)counts.steps);
    ck_assert_double_ge(order, 1.8);
    ck_assert_int_le(counts.newton_iterations, 6 * counts.steps);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("first-order implicit");
    TCase *cases = tcase_create("heat");
    tcase_set_timeout(cases, 120);
    tcase_add_loop_test(cases, heat_decays_at_its_rate, 0, 3);
    tcase_add_test(cases, newton_converges_on_a_nonlinear_problem);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
