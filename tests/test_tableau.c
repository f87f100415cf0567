/* Stiff order conditions on random matrices, wrong tableaux refused by name, exactness on linear problems. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "linalg/dense.h"
#include "support/random.h"
#include "support/run_suite.h"

enum { N = 5, P = 6 };

static const char *const names[] = {"exprb2",   "exprb32",  "exprb42",
                                    "pexprb43", "epirk4s3", "exprb53"};
enum { NAMES = sizeof names / sizeof names[0] };

/* phi[k] = phi_k(Z), k = 0..P: the top row of blocks of exp([[Z, I, 0..], [0, 0, I, ..], ..]). */
static void phi_matrices(const double *Z, double phi[P + 1][N * N])
{
    int size = N * (P + 1);
    double *A = calloc((size_t)(size * size), sizeof(double)),
           *E = malloc(sizeof(double) * (size_t)(size * size));
    double *scratch = malloc(sizeof(double) * tw_dense_expm_scratch(size));
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) A[j * size + i] = Z[j * N + i];
    for (int b = 0; b < P; b++)
        for (int i = 0; i < N; i++) A[((b + 1) * N + i) * size + b * N + i] = 1;
    ck_assert_int_eq(tw_expm(size, A, E, scratch), TW_OK);
    for (int k = 0; k <= P; k++)
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++) phi[k][j * N + i] = E[(k * N + j) * size + i];
    free(A), free(E), free(scratch);
}

/* W = sum of the terms of (row, source) as a matrix. */
static void weight(const tw_tableau *t, int row, int source, const double *Z, double *W)
{
    memset(W, 0, sizeof(double) * N * N);
    for (int i = 0; i < t->term_count; i++) {
        const tw_tableau_term *term = &t->terms[i];
        if (term->row != row || term->source != source) continue;
        double scaled[N * N], phi[P + 1][N * N];
        for (int e = 0; e < N * N; e++) scaled[e] = term->node * Z[e];
        phi_matrices(scaled, phi);
        for (int e = 0; e < N * N; e++) W[e] += term->coefficient * phi[term->k][e];
    }
}

static double largest(const double *A)
{
    double most = 0;
    for (int e = 0; e < N * N; e++) most = fmax(most, fabs(A[e]));
    return most;
}

/* |sum_i b_i(Z or 0) c_i^power - factor phi_k(Z or 0)| over the largest term. */
static double power_condition(const tw_tableau *t, const double *Z, int power, double factor, int k,
                              bool weak)
{
    double zero[N * N] = {0}, phi[P + 1][N * N], sum[N * N], scale = 1e-300;
    const double *at = weak ? zero : Z;
    phi_matrices(at, phi);
    for (int e = 0; e < N * N; e++) sum[e] = -factor * phi[k][e];
    for (int i = 0; i < t->stages; i++) {
        double b[N * N];
        weight(t, TW_ROW_STEP, i, at, b);
        for (int e = 0; e < N * N; e++) sum[e] += b[e] * pow(t->c[i], power);
        scale = fmax(scale, largest(b) * pow(t->c[i], power));
    }
    return largest(sum) / fmax(scale, 1);
}

/* |sum_i b_i(Z or 0) c_i K psi_3i(Z)|. */
static double mixed_condition(const tw_tableau *t, const double *Z, const double *K, bool weak)
{
    double zero[N * N] = {0}, sum[N * N] = {0}, scale = 1;
    for (int i = 0; i < t->stages; i++) {
        double b[N * N], psi[N * N], scaled[N * N], phi[P + 1][N * N], Kpsi[N * N], term[N * N];
        double c = t->c[i];
        weight(t, TW_ROW_STEP, i, weak ? zero : Z, b);
        for (int e = 0; e < N * N; e++) scaled[e] = c * Z[e];
        phi_matrices(scaled, phi);
        for (int e = 0; e < N * N; e++) psi[e] = -c * c * c * phi[3][e];
        for (int j = 0; j < i; j++) {
            double a[N * N];
            weight(t, i, j, Z, a);
            for (int e = 0; e < N * N; e++) psi[e] += a[e] * 0.5 * t->c[j] * t->c[j];
        }
        tw_dense_multiply(N, 1, K, psi, 0, Kpsi);
        tw_dense_multiply(N, c, b, Kpsi, 0, term);
        for (int e = 0; e < N * N; e++) sum[e] += term[e];
        scale = fmax(scale, largest(term));
    }
    return largest(sum) / scale;
}

static void random_matrix(test_random *random, double *A)
{
    for (int e = 0; e < N * N; e++) A[e] = test_random_normal(random);
}

START_TEST(conditions_hold_on_random_matrices)
{
    const tw_tableau *t = tw_tableau_by_name(names[_i]);
    ck_assert_ptr_nonnull(t);
    test_random random = {42 + (uint64_t)_i};
    bool weak4 = strcmp(t->name, "exprb42") == 0, weak5 = strcmp(t->name, "exprb53") == 0;
    for (int trial = 0; trial < 5; trial++) {
        double Z[N * N], K[N * N];
        random_matrix(&random, Z);
        random_matrix(&random, K);
        if (t->order >= 3) ck_assert_double_le(power_condition(t, Z, 2, 2, 3, false), 1e-10);
        if (t->order >= 4) ck_assert_double_le(power_condition(t, Z, 3, 6, 4, weak4), 1e-10);
        if (t->order >= 5) ck_assert_double_le(power_condition(t, Z, 4, 24, 5, weak5), 1e-10);
        if (t->order >= 5) ck_assert_double_le(mixed_condition(t, Z, K, weak5), 1e-10);
        /* and the weak forms are needed: the strong ones do not hold */
        if (weak4) ck_assert_double_ge(power_condition(t, Z, 3, 6, 4, false), 1e-4);
        if (weak5) ck_assert_double_ge(power_condition(t, Z, 4, 24, 5, false), 1e-5);
    }
}
END_TEST

START_TEST(check_reports_the_order)
{
    static const int order[] = {2, 3, 4, 4, 4, 5}, strong[] = {2, 3, 3, 4, 4, 4};
    tw_tableau_report report;
    ck_assert_int_eq(tw_tableau_check(tw_tableau_by_name(names[_i]), &report, NULL), TW_OK);
    ck_assert_int_eq(report.order, order[_i]);
    ck_assert_int_eq(report.strong_order, strong[_i]);
}
END_TEST

START_TEST(a_wrong_tableau_is_refused_with_its_condition)
{
    tw_error error = {0};
    tw_tableau wrong = *tw_tableau_by_name("pexprb43");
    wrong.terms[2].coefficient *= 1.01; /* a phi_4 weight */
    ck_assert_int_eq(tw_tableau_check(&wrong, NULL, &error), TW_INVALID_ARGUMENT);
    ck_assert_msg(strstr(error.text, "condition 1 (order 3)") != NULL, "%s", error.text);
    wrong = *tw_tableau_by_name("exprb32");
    wrong.order = 4;
    ck_assert_int_eq(tw_tableau_check(&wrong, NULL, &error), TW_INVALID_ARGUMENT);
    ck_assert_msg(strstr(error.text, "condition 2 (order 4)") != NULL, "%s", error.text);
    wrong = *tw_tableau_by_name("exprb42");
    wrong.c[0] = 0.7;
    ck_assert_int_eq(tw_tableau_check(&wrong, NULL, &error), TW_INVALID_ARGUMENT);
    ck_assert_msg(strstr(error.text, "condition 1 (order 3)") != NULL, "%s", error.text);
    wrong = *tw_tableau_by_name("exprb53");
    wrong.terms[0].coefficient = 1; /* a_32 */
    ck_assert_int_eq(tw_tableau_check(&wrong, NULL, &error), TW_INVALID_ARGUMENT);
    ck_assert_msg(strstr(error.text, "condition 4 (order 5)") != NULL, "%s", error.text);
    wrong.order = 4; /* claims no more than it has */
    ck_assert_int_eq(tw_tableau_check(&wrong, NULL, &error), TW_OK);
    wrong.terms[0].source = 1; /* a stage that needs itself */
    ck_assert_int_eq(tw_tableau_check(&wrong, NULL, &error), TW_INVALID_ARGUMENT);
}
END_TEST

START_TEST(pexprb43_takes_any_nodes)
{
    tw_tableau t;
    static const double nodes[][2] = {{0.5, 1}, {1.0 / 8, 1.0 / 9}, {0.2, 0.9}, {1, -0.5}};
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        ck_assert_int_eq(tw_tableau_pexprb43(nodes[i][0], nodes[i][1], &t, NULL), TW_OK);
        ck_assert_int_eq(tw_tableau_check(&t, NULL, NULL), TW_OK);
    }
    ck_assert_int_eq(tw_tableau_pexprb43(0.5, 0.5, &t, NULL), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_tableau_pexprb43(0, 0.5, &t, NULL), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_tableau_pexprb43(0.5, NAN, &t, NULL), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_tableau_pexprb43(0.5, 1, &t, NULL), TW_OK);
    ck_assert_double_eq_tol(t.terms[0].coefficient, 16,
                            1e-13); /* the 2018 and 2021 texts print these */
    ck_assert_double_eq_tol(t.terms[1].coefficient, -2, 1e-13);
    ck_assert_double_eq_tol(t.terms[2].coefficient, -48, 1e-12);
    ck_assert_double_eq_tol(t.terms[3].coefficient, 12, 1e-12);
}
END_TEST

/* x'' = -A x with A = tridiag(-1, 2, -1) * stiffness: modes are sines. */
enum { CHAIN = 8 };
static const double stiffness = 400;

static tw_status chain_product(void *context, int count, const double *in, double *out)
{
    (void)context;
    for (int c = 0; c < count; c++)
        for (int i = 0; i < CHAIN; i++) {
            const double *x = in + c * CHAIN;
            out[c * CHAIN + i] =
                stiffness * (2 * x[i] - (i > 0 ? x[i - 1] : 0) - (i + 1 < CHAIN ? x[i + 1] : 0));
        }
    return TW_OK;
}

static tw_status chain_acceleration(void *context, double t, const double *x, const double *v,
                                    double *a)
{
    (void)t, (void)v;
    chain_product(context, 1, x, a);
    for (int i = 0; i < CHAIN; i++) a[i] = -a[i];
    return TW_OK;
}

START_TEST(linear_problems_are_exact_over_a_thousand_periods)
{
    static const tw_scheme schemes[] = {TW_SCHEME_EXPRB2,   TW_SCHEME_EXPRB32, TW_SCHEME_EXPRB42,
                                        TW_SCHEME_PEXPRB43, TW_SCHEME_EXPRB53, TW_SCHEME_EPIRK4S3,
                                        TW_SCHEME_EXPMID4,  TW_SCHEME_ETDRK4};
    tw_second_order_problem problem = tw_second_order_problem_default();
    problem.space.local_size = CHAIN;
    problem.acceleration = chain_acceleration;
    problem.apply_stiffness = chain_product;
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = schemes[_i];
    options.phi.engine = TW_PHI_DENSE;
    options.phi.tolerance = 1e-12;
    double pi = acos(-1.0), lowest = sqrt(stiffness) * 2 * sin(pi / (2.0 * (CHAIN + 1)));
    double T = 1000 * 2 * pi / lowest, u[2 * CHAIN], t = 0;
    options.step = T;
    tw_integrator *integrator = NULL;
    ck_assert_int_eq(tw_integrator_create_second_order(&problem, &options, &integrator, NULL),
                     TW_OK);
    for (int i = 0; i < CHAIN; i++) { /* the two lowest modes */
        u[i] = sin(pi * (i + 1) / (CHAIN + 1));
        u[CHAIN + i] = 3 * sin(2 * pi * (i + 1) / (CHAIN + 1));
    }
    ck_assert_int_eq(tw_integrator_start(integrator, 0, u, NULL), TW_OK);
    tw_error error = {0};
    ck_assert_msg(tw_integrator_advance(integrator, T, &error) == TW_OK, "%s", error.text);
    tw_integrator_state(integrator, &t, u);
    double second = sqrt(stiffness) * 2 * sin(2 * pi / (2.0 * (CHAIN + 1)));
    for (int i = 0; i < CHAIN; i++) {
        double s1 = sin(pi * (i + 1) / (CHAIN + 1)), s2 = 3 * sin(2 * pi * (i + 1) / (CHAIN + 1));
        ck_assert_double_eq_tol(u[i], s1 * cos(lowest * T) + s2 / second * sin(second * T), 1e-8);
        ck_assert_double_eq_tol(u[CHAIN + i], -lowest * s1 * sin(lowest * T) + s2 * cos(second * T),
                                1e-7);
    }
    ck_assert_int_eq(tw_integrator_statistics_now(integrator).steps, 1);
    tw_integrator_free(integrator);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tableau");
    TCase *cases = tcase_create("tableau");
    tcase_add_loop_test(cases, conditions_hold_on_random_matrices, 0, NAMES);
    tcase_add_loop_test(cases, check_reports_the_order, 0, NAMES);
    tcase_add_test(cases, a_wrong_tableau_is_refused_with_its_condition);
    tcase_add_test(cases, pexprb43_takes_any_nodes);
    tcase_add_loop_test(cases, linear_problems_are_exact_over_a_thousand_periods, 0, 8);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
