/* Small dense algebra: LAPACK and BLAS with our names and our errors. */
#include "linalg/dense.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>

#include "base/fail.h"
#include "linalg/blas_session.h"

/* Ends the session in which LAPACK answered `info`, and makes a status of it; 0 is success. */
static tw_status outcome(lapack_int info, tw_status failure)
{
    tw_blas_leave();
    return info == 0 ? TW_OK : failure;
}

static CBLAS_TRANSPOSE transposition(bool transposed)
{
    return transposed ? CblasTrans : CblasNoTrans;
}

bool tw_dense_is_finite(size_t count, const double *A)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(A[i])) return false;
    return true;
}

/* LAPACK's divide and conquer needs 1 + 6n + 2n^2 doubles and 3 + 5n integers. */
static size_t real_scratch(int n)
{
    size_t m = n > 0 ? (size_t)n : 0;
    return 1 + 6 * m + 2 * m * m;
}

static lapack_int integer_scratch(int n)
{
    return 3 + 5 * n;
}

size_t tw_dense_eigen_scratch(int n)
{
    size_t integers = (size_t)integer_scratch(n > 0 ? n : 0);
    return real_scratch(n) + (integers * sizeof(lapack_int) + sizeof(double) - 1) / sizeof(double);
}

tw_status tw_symmetric_eigen(int n, double *A, double *w, double *scratch)
{
    if (n <= 0) return TW_OK;
    if (!tw_dense_is_finite((size_t)n * (size_t)n, A)) return TW_NOT_FINITE;

    /* The integers of LAPACK's scratch follow its doubles. */
    size_t reals = real_scratch(n);
    TW_TRY(tw_blas_enter());
    lapack_int info =
        LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', n, A, n, w, scratch, (lapack_int)reals,
                            (lapack_int *)(void *)(scratch + reals), integer_scratch(n));
    return outcome(info, TW_NOT_CONVERGED);
}

tw_status tw_tridiagonal_eigen(int n, double *d, double *e, double *Q, double *scratch)
{
    if (n <= 0) return TW_OK;
    if (!tw_dense_is_finite((size_t)n, d) || !tw_dense_is_finite((size_t)n - 1, e))
        return TW_NOT_FINITE;

    size_t reals = real_scratch(n);
    TW_TRY(tw_blas_enter());
    lapack_int info =
        LAPACKE_dstevd_work(LAPACK_COL_MAJOR, 'V', n, d, e, Q, n, scratch, (lapack_int)reals,
                            (lapack_int *)(void *)(scratch + reals), integer_scratch(n));
    return outcome(info, TW_NOT_CONVERGED);
}

tw_status tw_hessenberg_eigenvalues(int n, double *H, double *real, double *imaginary,
                                    double *scratch)
{
    if (n <= 0) return TW_OK;
    if (!tw_dense_is_finite((size_t)n * (size_t)n, H)) return TW_NOT_FINITE;

    /* Eigenvalues alone ('E', 'N'): there are no Schur vectors. */
    double no_vectors = 0;
    TW_TRY(tw_blas_enter());
    lapack_int info = LAPACKE_dhseqr_work(LAPACK_COL_MAJOR, 'E', 'N', n, 1, n, H, n, real,
                                          imaginary, &no_vectors, 1, scratch, n);
    return outcome(info, TW_NOT_CONVERGED);
}

void tw_dense_multiply(int n, double alpha, const double *A, const double *B, double beta,
                       double *C)
{
    if (n <= 0) return;
    if (tw_blas_enter() != TW_OK) {
        *C = NAN;
        return;
    }
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, alpha, A, n, B, n, beta, C, n);
    tw_blas_leave();
}

tw_status tw_dense_solve(int n, double *A, int columns, double *B, int *pivots)
{
    if (n <= 0 || columns <= 0) return TW_OK;
    if (!tw_dense_is_finite((size_t)n * (size_t)n, A) ||
        !tw_dense_is_finite((size_t)n * (size_t)columns, B))
        return TW_NOT_FINITE;

    TW_TRY(tw_blas_enter());
    lapack_int info = LAPACKE_dgesv_work(LAPACK_COL_MAJOR, n, columns, A, n, pivots, B, n);
    return outcome(info, TW_SINGULAR);
}

tw_status tw_dense_lu(int n, double *A, int *pivots)
{
    if (n <= 0) return TW_OK;
    if (!tw_dense_is_finite((size_t)n * (size_t)n, A)) return TW_NOT_FINITE;

    TW_TRY(tw_blas_enter());
    lapack_int info = LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, A, n, pivots);
    return outcome(info, TW_SINGULAR);
}

tw_status tw_dense_lu_solve(int n, const double *LU, const int *pivots, double *b)
{
    if (n <= 0) return TW_OK;
    TW_TRY(tw_blas_enter());
    lapack_int info = LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', n, 1, LU, n, pivots, b, n);
    return outcome(info, TW_INTERNAL);
}

tw_status tw_dense_cholesky(int n, double *A)
{
    if (n <= 0) return TW_OK;
    if (!tw_dense_is_finite((size_t)n * (size_t)n, A)) return TW_NOT_FINITE;

    TW_TRY(tw_blas_enter());
    lapack_int info = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, A, n);
    return outcome(info, TW_NOT_POSITIVE_DEFINITE);
}

tw_status tw_dense_spd_invert(int n, double *A, double *log_determinant)
{
    size_t m = n > 0 ? (size_t)n : 0;
    TW_TRY(tw_dense_cholesky(n, A));

    /* log det A = 2 sum_i log L_ii */
    *log_determinant = 0;
    for (size_t i = 0; i < m; i++) *log_determinant += 2 * log(A[i * m + i]);

    /* LAPACK writes the lower triangle of A^-1; the upper one is its mirror image. */
    TW_TRY(tw_blas_enter());
    lapack_int info = LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'L', n, A, n > 0 ? n : 1);
    TW_TRY(outcome(info, TW_SINGULAR));
    for (size_t j = 0; j < m; j++)
        for (size_t i = j + 1; i < m; i++) A[i * m + j] = A[j * m + i];
    return tw_dense_is_finite(m * m, A) ? TW_OK : TW_NOT_FINITE;
}

double tw_dense_cholesky_condition(int n, const double *L, double norm1, double *scratch)
{
    /* LAPACK estimates 1 / (|A|_1 |A^-1|_1). */
    double reciprocal = 0;
    int *integers = (int *)(void *)(scratch + 3 * (size_t)n);
    if (tw_blas_enter() != TW_OK) return INFINITY;
    LAPACKE_dpocon_work(LAPACK_COL_MAJOR, 'L', n, L, n, norm1, &reciprocal, scratch, integers);
    tw_blas_leave();
    return 1 / reciprocal;
}

void tw_dense_apply(bool transposed, int rows, int columns, const double *A, const double *x,
                    double *y)
{
    if (tw_blas_enter() != TW_OK) {
        *y = NAN;
        return;
    }
    cblas_dgemv(CblasColMajor, transposition(transposed), rows, columns, 1.0, A, rows, x, 1, 0.0, y,
                1);
    tw_blas_leave();
}

void tw_dense_lower_solve(bool transposed, int n, const double *L, int columns, double *x)
{
    if (tw_blas_enter() != TW_OK) {
        *x = NAN;
        return;
    }
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, transposition(transposed), CblasNonUnit, n,
                columns, 1.0, L, n, x, n);
    tw_blas_leave();
}

void tw_dense_congruence(int n, const double *L, double *A)
{
    /* A = L^-1 A, then A = A L^-T */
    tw_dense_lower_solve(false, n, L, n, A);
    if (tw_blas_enter() != TW_OK) return;
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, n, n, 1.0, L, n, A,
                n);
    tw_blas_leave();
}

double tw_dense_norm1(int n, const double *A)
{
    double norm = 0;
    for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int i = 0; i < n; i++) sum += fabs(A[(size_t)j * (size_t)n + (size_t)i]);

        /* fmax would pass over a NaN. */
        if (isnan(sum)) return sum;
        norm = fmax(norm, sum);
    }
    return norm;
}
