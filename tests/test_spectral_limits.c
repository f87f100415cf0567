/* Where the engines for functions of A meet the limits of rounding. Truth is the dense engine, or a
 * weaker request.
 *
 * A success keeps the tolerance, and the status agrees with the estimate: "ill-conditioned" means
 * that the estimate exceeds the tolerance, and nothing else. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "support/random.h"
#include "support/run_suite.h"

enum { MOST = 300, ORDERS = 5 };

static const tw_phi_engine engines[] = {TW_PHI_LANCZOS, TW_PHI_SHIFT_INVERT, TW_PHI_CHEBYSHEV};
enum { ENGINES = sizeof engines / sizeof engines[0] };

/* A chain of n unit masses and springs, both ends fixed. */
typedef struct setup {
    int n;
    tw_sparse *matrix;
    tw_shifted_cholesky *solver;
    tw_second_order op;
    double vectors[ORDERS][2 * MOST];
    double exact[2 * MOST];
    double output[2 * MOST];
    tw_phi_statistics statistics;
} setup;

static setup *set_up(int n)
{
    int64_t start[MOST + 1];
    int64_t column[3 * MOST];
    int64_t at = 0;
    setup *s = calloc(1, sizeof *s);
    s->n = n;

    /* The pattern, then 2 on the diagonal and -1 beside it. */
    for (int i = 0; i < n; i++) {
        start[i] = at;
        for (int j = i - 1; j <= i + 1; j++)
            if (j >= 0 && j < n) column[at++] = j;
    }
    start[n] = at;
    ck_assert_int_eq(tw_sparse_create(1, n, start, column, TW_STORE_FULL, &s->matrix, NULL), TW_OK);
    double *values = tw_sparse_values(s->matrix);
    for (int i = 0; i < n; i++)
        for (int64_t k = start[i]; k < start[i + 1]; k++) values[k] = column[k] == i ? 2 : -1;

    s->op.stiffness = tw_sparse_operator(s->matrix);
    s->op.stiffness.symmetry = TW_SYMMETRIC;
    ck_assert_int_eq(tw_shifted_cholesky_create(s->matrix, NULL, NULL, &s->solver, NULL), TW_OK);
    s->op.shifted = tw_shifted_cholesky_view(s->solver);
    return s;
}

static void tear_down(setup *s)
{
    tw_shifted_cholesky_free(s->solver);
    tw_sparse_free(s->matrix);
    free(s);
}

/* v_k: `smooth` times the slow mode k + 1, and `rough` times random numbers, in x and in v. */
static void fill(setup *s, double smooth, double rough)
{
    test_random random = {11};
    const double pi = 3.14159265358979323846;
    for (int k = 0; k < ORDERS; k++)
        for (int i = 0; i < 2 * s->n; i++) {
            double place = (i % s->n + 1.0) / (s->n + 1.0);
            s->vectors[k][i] =
                smooth * sin((k + 1) * pi * place) + rough * test_random_normal(&random);
        }
}

static tw_status run(setup *s, tw_phi_engine engine, double time, int order, double tolerance,
                     double *output)
{
    static const double node[] = {1};
    const double *inputs[ORDERS];
    for (int k = 0; k < ORDERS; k++) inputs[k] = s->vectors[k];
    tw_phi_request request = {.time = time,
                              .node_count = 1,
                              .nodes = node,
                              .order = order,
                              .vectors = inputs,
                              .outputs = &output};

    tw_phi_limits limits = tw_phi_limits_default();
    tw_phi_workspace *workspace = NULL;
    limits.size = s->n;
    limits.options.engine = engine;
    limits.options.tolerance = tolerance;
    ck_assert_int_eq(tw_phi_workspace_create(&limits, &workspace, NULL), TW_OK);
    tw_status status =
        tw_phi_evaluate_second_order(workspace, &s->op, &request, &s->statistics, NULL);
    tw_phi_workspace_free(workspace);
    return status;
}

/* The larger of the relative errors of both parts. The results are far larger than the vectors. */
static double error_of(const setup *s)
{
    double worst = 0;
    for (int part = 0; part < 2; part++) {
        double square = 0;
        double size = 0;
        for (int i = part * s->n; i < (part + 1) * s->n; i++) {
            square += pow(s->output[i] - s->exact[i], 2);
            size += pow(s->exact[i], 2);
        }
        worst = fmax(worst, sqrt(square / size));
    }
    return worst;
}

/* Backwards in time Rayleigh damping makes the stiff modes grow by e^30. The start vectors hold only
 * 1e-12 or 1e-6 of them, and after four steps Lanczos has seen none. Without the known end of the
 * spectrum lanczos and shift-invert succeeded with an error of 97 %. */
START_TEST(growth_that_the_start_hides_is_seen)
{
    static const double rough[] = {0, 1e-12, 1e-9, 1e-6};
    int successes = 0;
    for (int r = 0; r < 4; r++)
        for (int e = 0; e < ENGINES; e++) {
            setup *s = set_up(MOST);
            fill(s, 1, rough[r]);
            s->op.rayleigh_stiffness = 0.5;
            run(s, TW_PHI_DENSE, -30, 1, 1e-6, s->exact);
            if (run(s, engines[e], -30, 1, 1e-4, s->output) == TW_OK) {
                successes++;
                ck_assert_msg(error_of(s) <= 1e-4, "%s, rough %g: error %g",
                              tw_phi_engine_name(engines[e]), rough[r], error_of(s));
            }
            tear_down(s);
        }
    ck_assert_int_ge(successes, 3);
}
END_TEST

/* With up to ten start vectors there are several blocks, each with a share of the tolerance. What
 * rounding does to one block is compared with the whole tolerance. */
START_TEST(the_status_agrees_with_the_estimate)
{
    static const double tolerances[] = {3e-15, 1e-14, 1e-13, 1e-12};
    int refused = 0;
    for (int order = 1; order < ORDERS; order++)
        for (int t = 0; t < 4; t++)
            for (int e = 0; e < ENGINES; e++)
                for (int smooth = 0; smooth < 2; smooth++) {
                    setup *s = set_up(24);
                    fill(s, smooth, 1 - smooth);
                    double time = smooth > 0 ? 30 : 3;
                    tw_status status = run(s, engines[e], time, order, tolerances[t], s->output);
                    bool within = s->statistics.estimated_error <= tolerances[t];
                    ck_assert_msg(status == TW_OK ? within : !within || status == TW_NOT_CONVERGED,
                                  "%s, order %d, tolerance %g: %s with estimate %g",
                                  tw_phi_engine_name(engines[e]), order, tolerances[t],
                                  tw_status_name(status), s->statistics.estimated_error);
                    refused += status == TW_ILL_CONDITIONED;
                    tear_down(s);
                }
    ck_assert_int_ge(refused, 5);
}
END_TEST

static double decay(const void *context, double lambda)
{
    (void)context;
    return exp(-lambda);
}

/* An output that does not use a start, after a call whose output did: the series of that call must
 * not serve again. */
START_TEST(a_missing_function_is_zero)
{
    const tw_phi_engine asked[] = {TW_PHI_DENSE, TW_PHI_LANCZOS, TW_PHI_CHEBYSHEV};
    setup *s = set_up(24);
    fill(s, 0, 1);
    const double *starts[] = {s->vectors[0], s->vectors[1]};
    double *outputs[] = {s->output, s->output + s->n};
    const tw_spectral_function some = {.value = decay};
    const tw_spectral_function all[] = {some, some, some, some};
    const tw_spectral_function own[] = {some, {0}, {0}, some};
    for (int e = 0; e < 3; e++) {
        tw_phi_limits limits = tw_phi_limits_default();
        tw_phi_workspace *workspace = NULL;
        limits.size = s->n;
        limits.options.engine = asked[e];
        ck_assert_int_eq(tw_phi_workspace_create(&limits, &workspace, NULL), TW_OK);
        tw_spectral_request request = {.start_count = 2,
                                       .starts = starts,
                                       .output_count = 2,
                                       .outputs = outputs,
                                       .functions = all,
                                       .time = 1};
        ck_assert_int_eq(tw_spectral_apply(workspace, &s->op, &request, NULL, NULL), TW_OK);

        /* Every output has a start of its own now. */
        request.functions = own;
        ck_assert_int_eq(tw_spectral_apply(workspace, &s->op, &request, NULL, NULL), TW_OK);
        if (e == 0) memcpy(s->exact, s->output, sizeof s->exact);
        ck_assert_msg(error_of(s) < 1e-7, "%s: error %g", tw_phi_engine_name(asked[e]),
                      error_of(s));
        tw_phi_workspace_free(workspace);
    }
    tear_down(s);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("spectral limits");
    TCase *cases = tcase_create("spectral limits");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, growth_that_the_start_hides_is_seen);
    tcase_add_test(cases, the_status_agrees_with_the_estimate);
    tcase_add_test(cases, a_missing_function_is_zero);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
