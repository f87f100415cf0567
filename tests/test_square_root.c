/* Square roots of positive definite matrices, and the change of variables (Omega x, v). */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "linalg/dense.h"
#include "support/random.h"
#include "support/run_suite.h"
#include "support/test_matrix.h"

/* Random eigenvectors, eigenvalues from 1 down to 1/condition in geometric progression. */
static double *random_spd(test_random *random, int n, double condition)
{
    double *Q = test_doubles(n * n), *A = test_doubles(n * n), *w = test_doubles(n);
    double *scratch = test_doubles((int64_t)tw_dense_eigen_scratch(n));
    for (int j = 0; j < n; j++)
        for (int i = 0; i <= j; i++) Q[j * n + i] = Q[i * n + j] = test_random_normal(random);
    ck_assert_int_eq(tw_symmetric_eigen(n, Q, w, scratch), TW_OK);
    for (int k = 0; k < n; k++) {
        double eigenvalue = n > 1 ? pow(condition, -(double)k / (n - 1)) : 1;
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) A[j * n + i] += eigenvalue * Q[k * n + i] * Q[k * n + j];
    }
    free(Q), free(w), free(scratch);
    return A;
}

/* |O O - A| / |A| in the largest entry. */
static double residual(int n, const double *O, const double *A)
{
    double *R = test_doubles(n * n), worst = 0, size = 0;
    memcpy(R, A, (size_t)(n * n) * sizeof *R);
    tw_dense_multiply(n, 1.0, O, O, -1.0, R);
    for (int i = 0; i < n * n; i++) worst = fmax(worst, fabs(R[i])), size = fmax(size, fabs(A[i]));
    free(R);
    return worst / size;
}

START_TEST(stable_methods_at_every_condition)
{
    int n = 30;
    test_random random = {11};
    double *O = test_doubles(n * n);
    for (double condition = 1; condition < 2e12; condition *= 10) {
        double *A = random_spd(&random, n, condition);
        tw_sqrt_report report;
        ck_assert_int_eq(tw_sqrt_spd(n, A, TW_SQRT_EIGEN, O, &report, NULL), TW_OK);
        ck_assert_double_le(residual(n, O, A), 1e-14);
        ck_assert_int_eq(report.iterations, 0);
        ck_assert_double_le(fabs(log(report.condition / condition)), 1e-3);
        ck_assert_int_eq(tw_sqrt_spd(n, A, TW_SQRT_PRODUCT, O, &report, NULL), TW_OK);
        ck_assert_double_le(residual(n, O, A), 1e-14 * fmax(1, sqrt(condition)));
        ck_assert_double_le(fabs(log10(report.condition / condition)), 1);
        ck_assert_int_le(report.iterations, 12);
        free(A);
    }
    free(O);
}
END_TEST

/* The published form is fine at condition 10 and breaks down, and says so, from 1e4 on. */
START_TEST(newton_breaks_down_and_says_so)
{
    test_random random = {12};
    for (int n = 10; n <= 50; n += 20) {
        double *O = test_doubles(n * n);
        for (double condition = 1e1; condition < 2e8; condition *= 10) {
            double *A = random_spd(&random, n, condition);
            tw_sqrt_report report;
            tw_error error = {0};
            tw_status status = tw_sqrt_spd(n, A, TW_SQRT_NEWTON, O, &report, &error);
            if (condition < 11) ck_assert_int_eq(status, TW_OK);
            if (condition > 5e3) {
                ck_assert_int_eq(status, TW_ILL_CONDITIONED);
                ck_assert_ptr_nonnull(strstr(error.text, "Newton"));
            }
            if (status == TW_OK) ck_assert_double_le(residual(n, O, A), 1e-9);
            ck_assert_int_eq(status == TW_OK, report.residual <= 1e-10);
            ck_assert(tw_dense_is_finite((size_t)(n * n), O));
            free(A);
        }
        free(O);
    }
}
END_TEST

START_TEST(wrong_input_gives_a_status)
{
    double A[4] = {1, 2, 2, 1}, O[4], nan_matrix[4] = {1, 0, 0, NAN},
           huge[4] = {4e300, 0, 0, 1e300}, one = 9;
    for (int method = 0; method <= TW_SQRT_NEWTON; method++) {
        ck_assert_int_eq(tw_sqrt_spd(2, A, (tw_sqrt_method)method, O, NULL, NULL),
                         TW_NOT_POSITIVE_DEFINITE);
        ck_assert_int_eq(tw_sqrt_spd(2, nan_matrix, (tw_sqrt_method)method, O, NULL, NULL),
                         TW_NOT_FINITE);
        ck_assert_int_eq(tw_sqrt_spd(2, huge, (tw_sqrt_method)method, O, NULL, NULL), TW_OK);
        ck_assert_double_le(fabs(O[0] / 2e150 - 1), 1e-14);
        ck_assert_int_eq(tw_sqrt_spd(1, &one, (tw_sqrt_method)method, O, NULL, NULL), TW_OK);
        ck_assert_double_le(fabs(O[0] - 3), 1e-14);
    }
    ck_assert_int_eq(tw_sqrt_spd(0, A, TW_SQRT_EIGEN, O, NULL, NULL), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_sqrt_spd(2, A, (tw_sqrt_method)7, O, NULL, NULL), TW_INVALID_ARGUMENT);
}
END_TEST

/* The problem x'' = -A x + g(x), g_i = -0.1 x_i^3: its tangent A - g' and its force. */
static void linearise(int n, const double *A, const double *x, double *tangent, double *force)
{
    memcpy(tangent, A, (size_t)(n * n) * sizeof *A);
    tw_dense_apply(false, n, n, A, x, force);
    for (int i = 0; i < n; i++) {
        force[i] = -force[i] - 0.1 * x[i] * x[i] * x[i];
        tangent[i * n + i] += 0.3 * x[i] * x[i];
    }
}

/* u += h phi_1(h J) F by the dense engine. */
static void rosenbrock_euler(int d, double *J, double h, const double *F, double *u)
{
    tw_phi_limits limits = tw_phi_limits_default();
    limits.size = d;
    limits.second_order = false;
    limits.options.engine = TW_PHI_DENSE;
    limits.options.tolerance = 1e-6;
    tw_phi_workspace *workspace = NULL;
    ck_assert_int_eq(tw_phi_workspace_create(&limits, &workspace, NULL), TW_OK);
    test_matrix matrix = {.n = d, .A = J};
    tw_operator op = test_matrix_operator(&matrix, TW_GENERAL);
    double node = 1, *w = test_doubles(d);
    const double *vectors[2] = {NULL, F};
    tw_phi_request request = {
        .time = h, .node_count = 1, .nodes = &node, .order = 1, .vectors = vectors};
    request.outputs = &w;
    ck_assert_int_eq(tw_phi_evaluate(workspace, &op, &request, NULL, NULL), TW_OK);
    for (int i = 0; i < d; i++) u[i] += h * w[i];
    free(w);
    tw_phi_workspace_free(workspace);
}

/* J and F of the step in (x, v), or with Omega in (Omega x, v): J~ = [[0, Omega], [-tangent Omega^-1, 0]]. */
static void step_system(int n, const double *tangent, const double *O, const double *inverse,
                        const double *v, const double *force, double *J, double *F)
{
    int d = 2 * n;
    double *lower = test_doubles(n * n);
    memset(J, 0, (size_t)(d * d) * sizeof *J);
    memcpy(lower, tangent, (size_t)(n * n) * sizeof *lower);
    if (O) tw_dense_multiply(n, 1.0, tangent, inverse, 0.0, lower);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            J[(n + j) * d + i] = O ? O[j * n + i] : (i == j);
            J[j * d + n + i] = -lower[j * n + i];
        }
    memcpy(F, v, (size_t)n * sizeof *F);
    memcpy(F + n, force, (size_t)n * sizeof *F);
    if (O) tw_dense_apply(false, n, n, O, v, F);
    free(lower);
}

/* A Rosenbrock step does not depend on the linear variables it is written in. */
START_TEST(a_step_in_both_variables_agrees)
{
    enum { N = 12, D = 2 * N };
    double J[D * D], F[D], u[D], y[D], tangent[N * N], force[N], O[N * N], inverse[N * N];
    test_random random = {13};
    for (double condition = 1e1; condition < 2e8; condition *= 10)
        for (int method = TW_SQRT_EIGEN; method <= TW_SQRT_PRODUCT; method++) {
            double *A = random_spd(&random, N, condition), log_determinant = 0;
            for (int i = 0; i < D; i++) u[i] = y[i] = test_random_normal(&random);
            ck_assert_int_eq(tw_sqrt_spd(N, A, (tw_sqrt_method)method, O, NULL, NULL), TW_OK);
            memcpy(inverse, O, sizeof O);
            ck_assert_int_eq(tw_dense_spd_invert(N, inverse, &log_determinant), TW_OK);
            linearise(N, A, u, tangent, force);
            step_system(N, tangent, NULL, NULL, u + N, force, J, F);
            rosenbrock_euler(D, J, 0.5, F, u);
            step_system(N, tangent, O, inverse, y + N, force, J, F);
            ck_assert_int_eq(tw_to_omega(N, O, y, NULL), TW_OK);
            rosenbrock_euler(D, J, 0.5, F, y);
            ck_assert_int_eq(tw_from_omega(N, O, y, NULL), TW_OK);
            double difference = 0, size = 0;
            for (int i = 0; i < D; i++)
                difference = fmax(difference, fabs(u[i] - y[i])), size = fmax(size, fabs(u[i]));
            ck_assert_msg(difference <= condition * 1e-14 * size, "condition %g: %g", condition,
                          difference / size);
            free(A);
        }
}
END_TEST

START_TEST(change_of_variables_refuses_what_it_cannot_do)
{
    double O[4] = {1, 2, 2, 1}, u[4] = {1, 2, 3, 4}, infinite[4] = {INFINITY, 0, 0, 0};
    ck_assert_int_eq(tw_from_omega(2, O, u, NULL), TW_NOT_POSITIVE_DEFINITE);
    ck_assert_int_eq(tw_from_omega(2, O, infinite, NULL), TW_NOT_FINITE);
    ck_assert_int_eq(tw_to_omega(2, O, infinite, NULL), TW_NOT_FINITE);
    ck_assert_int_eq(tw_to_omega(2, NULL, u, NULL), TW_INVALID_ARGUMENT);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("square root");
    TCase *cases = tcase_create("square root");
    tcase_add_test(cases, stable_methods_at_every_condition);
    tcase_add_test(cases, newton_breaks_down_and_says_so);
    tcase_add_test(cases, wrong_input_gives_a_status);
    tcase_add_test(cases, a_step_in_both_variables_agrees);
    tcase_add_test(cases, change_of_variables_refuses_what_it_cannot_do);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
