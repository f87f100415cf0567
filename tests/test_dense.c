/* The dense helpers over LAPACK, against identities and closed forms. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/dense.h"
#include "support/random.h"
#include "support/run_suite.h"

static double *new_doubles(size_t count)
{
    double *block = calloc(count ? count : 1, sizeof *block);
    ck_assert_ptr_nonnull(block);
    return block;
}

static double *random_matrix(test_random *random, int n, double scale)
{
    double *A = new_doubles((size_t)n * (size_t)n);
    for (int i = 0; i < n * n; i++) A[i] = scale * test_random_normal(random);
    return A;
}

static double largest_difference(int count, const double *a, const double *b)
{
    double largest = 0;
    for (int i = 0; i < count; i++) largest = fmax(largest, fabs(a[i] - b[i]));
    return largest;
}

/* |A Q - Q diag(w)| and |Q^T Q - I|. */
static void check_decomposition(int n, const double *A, const double *Q, const double *w)
{
    double scale = tw_dense_norm1(n, A);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) {
            double product = 0, inner = 0;
            for (int k = 0; k < n; k++) {
                product += A[k * n + i] * Q[j * n + k];
                inner += Q[i * n + k] * Q[j * n + k];
            }
            ck_assert_double_le(fabs(product - w[j] * Q[j * n + i]), 1e-14 * n * scale);
            ck_assert_double_le(fabs(inner - (i == j)), 1e-14 * n);
        }
        if (j > 0) ck_assert_double_ge(w[j], w[j - 1]);
    }
}

START_TEST(symmetric_eigen_decomposes)
{
    test_random random = {1};
    for (int n = 1; n <= 60; n += 7) {
        double *A = random_matrix(&random, n, 10), *w = new_doubles((size_t)n);
        double *Q = new_doubles((size_t)(n * n)), *scratch = new_doubles(tw_dense_eigen_scratch(n));
        for (int j = 0; j < n; j++)
            for (int i = 0; i < j; i++) A[j * n + i] = A[i * n + j];
        memcpy(Q, A, (size_t)(n * n) * sizeof *Q);
        ck_assert_int_eq(tw_symmetric_eigen(n, Q, w, scratch), TW_OK);
        check_decomposition(n, A, Q, w);
        A[0] = NAN;
        ck_assert_int_eq(tw_symmetric_eigen(n, A, w, scratch), TW_NOT_FINITE);
        free(A), free(w), free(Q), free(scratch);
    }
}
END_TEST

START_TEST(tridiagonal_eigen_decomposes)
{
    test_random random = {2};
    for (int n = 1; n <= 130; n += 43) {
        double *T = new_doubles((size_t)(n * n)), *d = new_doubles((size_t)n),
               *e = new_doubles((size_t)n);
        double *Q = new_doubles((size_t)(n * n)), *scratch = new_doubles(tw_dense_eigen_scratch(n));
        for (int i = 0; i < n; i++) {
            T[i * n + i] = d[i] = test_random_normal(&random);
            if (i + 1 < n)
                T[i * n + i + 1] = T[(i + 1) * n + i] = e[i] = test_random_normal(&random);
        }
        ck_assert_int_eq(tw_tridiagonal_eigen(n, d, e, Q, scratch), TW_OK);
        check_decomposition(n, T, Q, d);
        d[0] = INFINITY;
        ck_assert_int_eq(tw_tridiagonal_eigen(n, d, e, Q, scratch), TW_NOT_FINITE);
        free(T), free(d), free(e), free(Q), free(scratch);
    }
}
END_TEST

/* exp(A) exp(-A) = I over the range of every Pade degree and of squaring. */
START_TEST(expm_times_its_inverse)
{
    static const double norms[] = {1e-18, 1e-3, 1e-2, 0.2, 0.9, 2, 4, 20};
    test_random random = {3};
    int n = 9;
    double E[81], F[81], P[81], *scratch = new_doubles(tw_dense_expm_scratch(n));
    for (int trial = 0; trial < 8; trial++) {
        double *A = random_matrix(&random, n, 1), scale = norms[trial] / tw_dense_norm1(n, A);
        for (int i = 0; i < n * n; i++) A[i] *= scale;
        ck_assert_int_eq(tw_expm(n, A, E, scratch), TW_OK);
        for (int i = 0; i < n * n; i++) A[i] = -A[i];
        ck_assert_int_eq(tw_expm(n, A, F, scratch), TW_OK);
        tw_dense_multiply(n, 1.0, E, F, 0.0, P);
        for (int i = 0; i < n; i++) P[i * n + i] -= 1;
        double bound = 1e-14 * fmax(1, norms[trial]) * tw_dense_norm1(n, E) * tw_dense_norm1(n, F);
        ck_assert_double_le(tw_dense_norm1(n, P), bound);
        free(A);
    }
    free(scratch);
}
END_TEST

START_TEST(expm_of_closed_forms)
{
    double *scratch = new_doubles(tw_dense_expm_scratch(3)), E[9];
    double nilpotent[4] = {0, 0, 1e9, 0};
    ck_assert_int_eq(tw_expm(2, nilpotent, E, scratch), TW_OK);
    ck_assert_double_eq(E[0], 1);
    ck_assert_double_eq(E[1], 0);
    ck_assert_double_eq(E[2], 1e9);
    for (double angle = 1e-5; angle < 1e7; angle *= 7) {
        double rotation[4] = {0, angle, -angle, 0},
               exact[4] = {cos(angle), sin(angle), -sin(angle), cos(angle)};
        ck_assert_int_eq(tw_expm(2, rotation, E, scratch), TW_OK);
        ck_assert_double_le(largest_difference(4, E, exact), 1e-15 * fmax(10, angle));
    }
    /* Moler and Van Loan's example; exp has entries near e^-1 while |A| = 49 would be scaled far. */
    double M[4] = {-49, -64, 24, 31};
    double p = exp(-1.0), q = exp(-17.0),
           exact[4] = {3 * q - 2 * p, 4 * q - 4 * p, 1.5 * (p - q), 3 * p - 2 * q};
    ck_assert_int_eq(tw_expm(2, M, E, scratch), TW_OK);
    ck_assert_double_le(largest_difference(4, E, exact), 1e-12);
    /* Backward stable relative to the largest entry, so only that entry is certain here; and no overflow on the way. */
    double decay[9] = {-1e200, 0, 0, 0, -1, 0, 0, 0, -700};
    ck_assert_int_eq(tw_expm(3, decay, E, scratch), TW_OK);
    ck_assert_double_eq(E[0], 0);
    free(scratch);
}
END_TEST

START_TEST(expm_reports_what_is_not_finite)
{
    double *scratch = new_doubles(tw_dense_expm_scratch(2)), E[4];
    double large[4] = {800, 1, 1, 800}, huge[4] = {1e300, 1, 1, 1e300}, bad[4] = {NAN, 0, 0, 0},
           one = 1000;
    ck_assert_int_eq(tw_expm(2, large, E, scratch), TW_NOT_FINITE);
    ck_assert_int_eq(tw_expm(2, huge, E, scratch), TW_NOT_FINITE);
    ck_assert_int_eq(tw_expm(2, bad, E, scratch), TW_NOT_FINITE);
    ck_assert_int_eq(tw_expm(1, &one, E, scratch), TW_NOT_FINITE);
    free(scratch);
}
END_TEST

START_TEST(solve_and_cholesky)
{
    test_random random = {4};
    int n = 20, pivots[20];
    double *A = random_matrix(&random, n, 1), *B = random_matrix(&random, n, 1),
           *C = new_doubles((size_t)(n * n));
    double *L = new_doubles((size_t)(n * n)), *copy = new_doubles((size_t)(n * n));
    memcpy(copy, A, (size_t)(n * n) * sizeof *A);
    tw_dense_multiply(n, 1.0, A, B, 0.0, C);
    ck_assert_int_eq(tw_dense_solve(n, A, n, C, pivots), TW_OK);
    ck_assert_double_le(largest_difference(n * n, B, C), 1e-11);
    memset(A, 0, (size_t)(n * n) * sizeof *A);
    ck_assert_int_eq(tw_dense_solve(n, A, 1, C, pivots), TW_SINGULAR);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            for (int k = 0; k < n; k++) A[j * n + i] += copy[k * n + i] * copy[k * n + j];
    memcpy(L, A, (size_t)(n * n) * sizeof *A);
    ck_assert_int_eq(tw_dense_cholesky(n, L), TW_OK);
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double sum = 0;
            for (int k = 0; k <= j; k++) sum += L[k * n + i] * L[k * n + j];
            ck_assert_double_le(fabs(sum - A[j * n + i]), 1e-12);
        }
    A[0] = -1;
    ck_assert_int_eq(tw_dense_cholesky(n, A), TW_NOT_POSITIVE_DEFINITE);
    A[3] = NAN;
    ck_assert_int_eq(tw_dense_cholesky(n, A), TW_NOT_FINITE);
    ck_assert(isnan(tw_dense_norm1(n, A)));
    free(A), free(B), free(C), free(L), free(copy);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dense");
    TCase *cases = tcase_create("dense");
    tcase_add_test(cases, symmetric_eigen_decomposes);
    tcase_add_test(cases, tridiagonal_eigen_decomposes);
    tcase_add_test(cases, expm_times_its_inverse);
    tcase_add_test(cases, expm_of_closed_forms);
    tcase_add_test(cases, expm_reports_what_is_not_finite);
    tcase_add_test(cases, solve_and_cholesky);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
