/* The adaptive Krylov engines on first-order operators: what the generated cases of test_phi_engines cannot single out.
 * Truth is the dense engine, which has its own committed truth. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "support/random.h"
#include "support/run_suite.h"
#include "support/test_matrix.h"

enum { MAX_NODES = 6, MAX_VECTORS = 6 };
static const tw_phi_engine engines[] = {TW_PHI_PHIPM, TW_PHI_PHIPM_IOM2, TW_PHI_PHIPM_SIMUL_IOM2,
                                        TW_PHI_KIOPS};
enum { ENGINES = sizeof engines / sizeof engines[0] };

/* A matrix, a request for it, and room for what two engines answer. */
typedef struct setup {
    test_matrix A;
    tw_operator op;
    int64_t zero_products; /* with a vector of zeros */
    tw_phi_options options;
    double nodes[MAX_NODES];
    const double *vectors[MAX_VECTORS];
    double *outputs[MAX_NODES], *exact[MAX_NODES];
    tw_phi_request request;
    tw_phi_statistics statistics;
} setup;

static tw_status count_zeros(void *context, int count, const double *in, double *out)
{
    setup *s = context;
    double largest = 0;
    for (int i = 0; i < s->A.n; i++) largest = fmax(largest, fabs(in[i]));
    if (largest == 0) s->zero_products++;
    return test_matrix_apply(&s->A, count, in, out);
}

static void start(setup *s, int n, int order, int node_count, const double *nodes)
{
    *s = (setup){.A = test_matrix_new(n), .options = tw_phi_options_default()};
    s->op = (tw_operator){.space = {.local_size = n}, .apply = count_zeros, .context = s};
    s->options.tolerance = 1e-9;
    s->options.max_products = 20000;
    memcpy(s->nodes, nodes, (size_t)node_count * sizeof *nodes);
    for (int i = 0; i < node_count; i++) {
        s->outputs[i] = test_doubles(n);
        s->exact[i] = test_doubles(n);
    }
    s->request =
        (tw_phi_request){.time = 1, .node_count = node_count, .nodes = s->nodes, .order = order};
    s->request.vectors = s->vectors;
}

static void stop(setup *s)
{
    for (int i = 0; i < MAX_NODES; i++) {
        free(s->outputs[i]);
        free(s->exact[i]);
    }
    for (int k = 0; k < MAX_VECTORS; k++) free((void *)s->vectors[k]);
    test_matrix_free(&s->A);
}

static void random_vector(setup *s, test_random *random, int k)
{
    double *v = test_doubles(s->A.n);
    for (int i = 0; i < s->A.n; i++) v[i] = test_random_normal(random);
    s->vectors[k] = v;
}

/* Skew part of size `rate`, and a damped diagonal: every eigenvalue in the left half-plane, far from normal. */
static void fill_matrix(setup *s, test_random *random, double rate)
{
    int n = s->A.n;
    for (int j = 0; j < n; j++) {
        s->A.A[j * n + j] = -0.1 * rate * test_random_unit(random);
        for (int i = 0; i < j; i++) {
            double x = rate * test_random_normal(random) / sqrt(n);
            s->A.A[j * n + i] = x;
            s->A.A[i * n + j] = -0.3 * x;
        }
    }
}

static tw_status run(setup *s, tw_phi_engine engine, double *const *outputs)
{
    tw_phi_limits limits = tw_phi_limits_default();
    tw_phi_workspace *workspace = NULL;
    limits.size = s->A.n;
    limits.second_order = false;
    limits.options = s->options;
    limits.options.engine = engine;
    ck_assert_int_eq(tw_phi_workspace_create(&limits, &workspace, NULL), TW_OK);
    s->request.outputs = outputs;
    s->zero_products = s->A.applied = 0;
    tw_status status = tw_phi_evaluate(workspace, &s->op, &s->request, &s->statistics, NULL);
    tw_phi_workspace_free(workspace);
    return status;
}

/* Largest error over the outputs in the norm of phi.h. */
static double error_of(const setup *s)
{
    double worst = 0, base = 0, factorial = 1;
    for (int k = 0; k <= s->request.order; k++) {
        double square = 0;
        factorial *= k > 0 ? k : 1;
        for (int i = 0; s->vectors[k] && i < s->A.n; i++)
            square += s->vectors[k][i] * s->vectors[k][i];
        base += sqrt(square) / factorial;
    }
    for (int i = 0; i < s->request.node_count; i++) {
        double error = 0, size = 0;
        for (int j = 0; j < s->A.n; j++) {
            error = hypot(error, s->outputs[i][j] - s->exact[i][j]);
            size = hypot(size, s->exact[i][j]);
        }
        worst = fmax(worst, error / fmax(size, base));
    }
    return worst;
}

static void check_against_dense(setup *s, tw_phi_engine engine)
{
    const char *name = tw_phi_engine_name(engine);
    double tolerance = s->options.tolerance;
    s->options.tolerance = 1e-12;
    ck_assert_int_eq(run(s, TW_PHI_DENSE, s->exact), TW_OK);
    s->options.tolerance = tolerance;
    tw_status status = run(s, engine, s->outputs);
    ck_assert_msg(status == TW_OK, "%s: %s", name, tw_status_name(status));
    ck_assert_msg(error_of(s) <= tolerance, "%s: error %g of %g", name, error_of(s), tolerance);
    ck_assert_msg(s->statistics.estimated_error <= tolerance, "%s", name);
    ck_assert_msg(s->statistics.products == s->A.applied, "%s: products miscounted", name);
}

/* Several substeps with p >= 2: the tail of the augmented vector must carry t^{p-k}/(p-k)!, which public ports of KIOPS
 * get wrong, and the recurrence must shift its polynomials. */
START_TEST(orders_two_and_above_over_several_substeps)
{
    for (int order = 2; order <= 5; order++)
        for (int e = 0; e < ENGINES; e++) {
            setup s;
            test_random random = {17};
            start(&s, 30, order, 1, (const double[]){1});
            fill_matrix(&s, &random, 12);
            for (int k = 0; k <= order; k++) random_vector(&s, &random, k);
            s.options.max_dimension = 14;
            check_against_dense(&s, engines[e]);
            ck_assert_int_ge(s.statistics.substeps, 3);
            ck_assert_int_le(s.statistics.dimension, 14);
            stop(&s);
        }
}
END_TEST

/* Any order, both signs, zero, twice the same; several k at several nodes, where powers of the nodes get in the way. */
START_TEST(nodes_of_every_kind)
{
    static const double nodes[MAX_NODES] = {0.3, -0.7, 1, 0, 0.3, 0.01};
    static const int present[][MAX_VECTORS] = {
        {1, 1, 0, 1, 0, 1}, {0, 0, 1, 0, 0, 0}, {1, 0, 0, 0, 0, 0}};
    for (int pattern = 0; pattern < 3; pattern++)
        for (int backward = 0; backward < 2; backward++)
            for (int e = 0; e < ENGINES; e++) {
                setup s;
                test_random random = {3};
                start(&s, 25, MAX_VECTORS - 1, MAX_NODES, nodes);
                fill_matrix(&s, &random, 4);
                for (int k = 0; k < MAX_VECTORS; k++)
                    if (present[pattern][k]) random_vector(&s, &random, k);
                if (backward) s.request.time = -1;
                check_against_dense(&s, engines[e]);
                ck_assert_mem_eq(s.outputs[0], s.outputs[4], 25 * sizeof(double));
                stop(&s);
            }
}
END_TEST

/* The engines that take all nodes on one trajectory pay for the last node only; phipm-iom2 pays for each. */
START_TEST(one_trajectory_serves_all_nodes)
{
    int64_t products[2][ENGINES];
    for (int several = 0; several < 2; several++)
        for (int e = 0; e < ENGINES; e++) {
            setup s;
            test_random random = {5};
            start(&s, 60, 1, several ? 4 : 1, (const double[]){1, 0.8, 0.6, 0.9});
            fill_matrix(&s, &random, 20);
            random_vector(&s, &random, 1);
            check_against_dense(&s, engines[e]);
            products[several][e] = s.statistics.products;
            stop(&s);
        }
    ck_assert_double_lt((double)products[1][3], 1.1 * (double)products[0][3]);
    ck_assert_double_lt((double)products[1][2], 1.7 * (double)products[0][2]);
    ck_assert_double_gt((double)products[1][1], 1.8 * (double)products[0][1]);
}
END_TEST

/* With v_3 alone, w_0 = w_1 = w_2 = 0 at the start: phipm multiplies them nevertheless, phipm-simul-iom2 does not. */
START_TEST(zero_vectors_are_skipped)
{
    static const int expected[ENGINES] = {3, 3, 0, 0};
    for (int e = 0; e < ENGINES; e++) {
        setup s;
        test_random random = {9};
        start(&s, 40, 3, 1, (const double[]){1});
        fill_matrix(&s, &random, 2);
        random_vector(&s, &random, 3);
        check_against_dense(&s, engines[e]);
        ck_assert_int_eq(s.zero_products, expected[e]);
        stop(&s);
    }
}
END_TEST

/* A start vector in an invariant subspace of dimension 2, whatever its length and whatever the unit of A. */
START_TEST(breakdown_is_relative)
{
    static const double sizes[] = {1e-140, 1e-9, 1, 1e9, 1e140};
    for (int i = 0; i < 5; i++)
        for (int e = 0; e < ENGINES; e++) {
            setup s;
            start(&s, 20, 0, 1, (const double[]){1});
            double rate = sizes[i] > 1e100 || sizes[i] < 1e-100 ? 1 : sizes[4 - i],
                   *v = test_doubles(20);
            for (int j = 0; j < 20; j++) s.A.A[j * 20 + j] = -rate * (1 + j % 2);
            for (int j = 0; j < 20; j++) v[j] = sizes[i] * (1 + j % 2);
            s.request.time = 3 / rate;
            s.vectors[0] = v;
            ck_assert_int_eq(run(&s, engines[e], s.outputs), TW_OK);
            ck_assert_int_le(s.statistics.products, 3);
            for (int j = 0; j < 20; j++)
                ck_assert_double_eq_tol(s.outputs[0][j] / v[j], exp(-3 * (1 + j % 2)), 1e-12);
            stop(&s);
        }
}
END_TEST

/* exp(1e4), a spent budget, an operator that returns NaN: a status each, zeros, and no long search. */
START_TEST(hopeless_requests_end_soon)
{
    enum { N = 200 };
    for (int e = 0; e < ENGINES; e++) {
        setup s;
        test_random random = {21};
        start(&s, N, 1, 1, (const double[]){1});
        random_vector(&s, &random, 0);
        random_vector(&s, &random, 1);
        for (int j = 0; j < N; j++) s.A.A[j * N + j] = 1e4 * (j + 1) / N;
        ck_assert_int_eq(run(&s, engines[e], s.outputs), TW_NOT_FINITE);
        ck_assert_int_lt(s.A.applied, 4000);
        for (int j = 0; j < N; j++) s.A.A[j * N + j] = -1e6 * (j + 1) / N;
        s.options.max_products = 300;
        ck_assert_int_eq(run(&s, engines[e], s.outputs), TW_BUDGET_EXHAUSTED);
        ck_assert_int_le(s.A.applied, 300);
        s.A.A[5] = NAN;
        ck_assert_int_eq(run(&s, engines[e], s.outputs), TW_NOT_FINITE);
        for (int j = 0; j < N; j++) ck_assert_double_eq(s.outputs[0][j], 0);
        stop(&s);
    }
}
END_TEST

/* What rounding does not allow is said, and the outputs are the best there is. */
START_TEST(a_tolerance_below_rounding_is_reported)
{
    for (int e = 0; e < ENGINES; e++) {
        setup s;
        test_random random = {33};
        start(&s, 20, 0, 1, (const double[]){1});
        fill_matrix(&s, &random, 30);
        random_vector(&s, &random, 0);
        s.options.tolerance = 1e-12;
        ck_assert_int_eq(run(&s, TW_PHI_DENSE, s.exact), TW_OK);
        s.options.tolerance = 1e-15;
        ck_assert_int_eq(run(&s, engines[e], s.outputs), TW_ILL_CONDITIONED);
        ck_assert_double_gt(s.statistics.estimated_error, 1e-15);
        ck_assert_double_lt(error_of(&s), 1e-11);
        stop(&s);
    }
}
END_TEST

/* Nothing is kept from one call to the next but memory. */
START_TEST(calls_do_not_remember)
{
    for (int e = 0; e < ENGINES; e++) {
        setup s;
        test_random random = {40};
        start(&s, 30, 2, 2, (const double[]){0.5, 1});
        fill_matrix(&s, &random, 10);
        for (int k = 0; k <= 2; k++) random_vector(&s, &random, k);
        tw_phi_limits limits = tw_phi_limits_default();
        tw_phi_workspace *workspace = NULL;
        limits.size = 30;
        limits.second_order = false;
        limits.options.engine = engines[e];
        ck_assert_int_eq(tw_phi_workspace_create(&limits, &workspace, NULL), TW_OK);
        s.request.outputs = s.exact;
        ck_assert_int_eq(tw_phi_evaluate(workspace, &s.op, &s.request, &s.statistics, NULL), TW_OK);
        int64_t products = s.statistics.products;
        s.request.outputs = s.outputs;
        s.request.time = 1e-9;
        ck_assert_int_eq(tw_phi_evaluate(workspace, &s.op, &s.request, NULL, NULL), TW_OK);
        s.request.time = 1;
        ck_assert_int_eq(tw_phi_evaluate(workspace, &s.op, &s.request, &s.statistics, NULL), TW_OK);
        ck_assert_int_eq(s.statistics.products, products);
        for (int i = 0; i < 2; i++) ck_assert_mem_eq(s.outputs[i], s.exact[i], 30 * sizeof(double));
        tw_phi_workspace_free(workspace);
        stop(&s);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("krylov");
    TCase *cases = tcase_create("krylov");
    tcase_add_test(cases, orders_two_and_above_over_several_substeps);
    tcase_add_test(cases, nodes_of_every_kind);
    tcase_add_test(cases, one_trajectory_serves_all_nodes);
    tcase_add_test(cases, zero_vectors_are_skipped);
    tcase_add_test(cases, breakdown_is_relative);
    tcase_add_test(cases, hopeless_requests_end_soon);
    tcase_add_test(cases, a_tolerance_below_rounding_is_reported);
    tcase_add_test(cases, calls_do_not_remember);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
