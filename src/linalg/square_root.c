/* Omega = sqrt(A) of a symmetric positive definite matrix, computed in three ways, and the
 * variables (Omega x, v). */
#include <float.h>
#include <math.h>
#include <string.h>
#include <twang/square_root.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/dense.h"

enum { MAX_ITERATIONS = 100 };

/* Newton's result is accepted up to this relative residual. */
static const double newton_residual = 1e-10;

/* |M - I|_F below which the product form converges quadratically, so that it needs no scaling. */
static const double unscaled_below = 1e-2;

/* |M - I|_F below which the product form is at its goal if it no longer halves. */
static const double settled_below = 1e-6;

typedef struct sqrt_work {
    int n;
    size_t square;
    double *A;       /* symmetric part of the caller's matrix */
    double *M;       /* n x n */
    double *T;       /* n x n */
    double *best;    /* n x n: Newton's iterate with the smallest residual */
    double *scratch; /* of eigendecomposition and condition estimate */
    double *w;       /* n */
    double norm;     /* |A|_F */
} sqrt_work;

/* ---- memory and small helpers ---- */

static void release(sqrt_work *work)
{
    tw_release(work->A);
    tw_release(work->M);
    tw_release(work->T);
    tw_release(work->best);
    tw_release(work->scratch);
    tw_release(work->w);
}

static tw_status reserve(sqrt_work *work, int n)
{
    size_t scratch = tw_dense_eigen_scratch(n);
    if (scratch < 4 * (size_t)n) scratch = 4 * (size_t)n; /* of the condition estimate */

    *work = (sqrt_work){.n = n, .square = (size_t)n * (size_t)n};
    work->A = TW_NEW_ARRAY(work->square, double);
    work->M = TW_NEW_ARRAY(work->square, double);
    work->T = TW_NEW_ARRAY(work->square, double);
    work->best = TW_NEW_ARRAY(work->square, double);
    work->scratch = TW_NEW_ARRAY(scratch, double);
    work->w = TW_NEW_ARRAY(n, double);

    bool complete = work->A && work->M && work->T && work->best && work->scratch && work->w;

    return complete ? TW_OK : TW_OUT_OF_MEMORY;
}

static double frobenius(size_t count, const double *A)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += A[i] * A[i];
    return sqrt(sum);
}

/* B = (B + B^T)/2. */
static void symmetrise(int order, double *B)
{
    size_t n = (size_t)order;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < j; i++)
            B[i * n + j] = B[j * n + i] = 0.5 * (B[j * n + i] + B[i * n + j]);
}

/* |O O - A|_F / |A|_F; uses T. */
static double residual_of(sqrt_work *work, const double *O)
{
    memcpy(work->T, work->A, work->square * sizeof(double));
    tw_dense_multiply(work->n, 1.0, O, O, -1.0, work->T);
    return frobenius(work->square, work->T) / work->norm;
}

/* ---- three ways ---- */

/* O = Q sqrt(w) Q^T with the eigenvalues w and eigenvectors Q of A. */
static tw_status by_eigenvalues(sqrt_work *work, double *O, tw_sqrt_report *report)
{
    /* M = Q */
    size_t n = (size_t)work->n;
    memcpy(work->M, work->A, work->square * sizeof(double));
    TW_TRY(tw_symmetric_eigen(work->n, work->M, work->w, work->scratch));
    if (!(work->w[0] > 0)) return TW_NOT_POSITIVE_DEFINITE;

    /* T = sqrt(w) Q^T, O = Q T */
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) work->T[i * n + j] = sqrt(work->w[j]) * work->M[j * n + i];
    tw_dense_multiply(work->n, 1.0, work->M, work->T, 0.0, O);
    symmetrise(work->n, O);

    report->condition = work->w[n - 1] / work->w[0];
    report->residual = residual_of(work, O);

    return TW_OK;
}

/* Refuses a matrix that is not positive definite, and estimates its condition. An iteration that
 * fails afterwards fails for another reason. */
static tw_status check_positive(sqrt_work *work, tw_sqrt_report *report)
{
    memcpy(work->M, work->A, work->square * sizeof(double));
    TW_TRY(tw_dense_cholesky(work->n, work->M));

    double norm1 = tw_dense_norm1(work->n, work->A);
    report->condition = tw_dense_cholesky_condition(work->n, work->M, norm1, work->scratch);

    return TW_OK;
}

/* O <- (O + O^-1 A)/2. TW_ILL_CONDITIONED when O is not positive definite. */
static tw_status newton_step(sqrt_work *work, double *O)
{
    /* T = O^-1 A by Cholesky's factor of O */
    memcpy(work->M, O, work->square * sizeof(double));
    if (tw_dense_cholesky(work->n, work->M)) return TW_ILL_CONDITIONED;
    memcpy(work->T, work->A, work->square * sizeof(double));
    tw_dense_lower_solve(false, work->n, work->M, work->n, work->T);
    tw_dense_lower_solve(true, work->n, work->M, work->n, work->T);

    for (size_t i = 0; i < work->square; i++) O[i] = 0.5 * (O[i] + work->T[i]);

    return TW_OK;
}

/* The published iteration from O = A. Rounding errors grow by sqrt(cond)/2 in each step, so it
 * stops when the residual no longer falls, and keeps its best iterate. */
static tw_status by_newton(sqrt_work *work, double *O, tw_sqrt_report *report)
{
    memcpy(O, work->A, work->square * sizeof(double));
    report->residual = INFINITY;
    double previous = residual_of(work, O);
    bool falling = false;
    while (report->iterations < MAX_ITERATIONS) {
        if (newton_step(work, O)) break;
        report->iterations++;
        if (!tw_dense_is_finite(work->square, O)) break;

        /* Keep the best iterate. Stop when the residual rises after it has fallen. */
        double residual = residual_of(work, O);
        if (residual < report->residual) {
            report->residual = residual;
            memcpy(work->best, O, work->square * sizeof(double));
        } else if (falling) {
            break;
        }
        falling = residual < previous;
        previous = residual;
    }

    if (isinf(report->residual)) return TW_ILL_CONDITIONED;
    memcpy(O, work->best, work->square * sizeof(double));

    return report->residual <= newton_residual ? TW_OK : TW_ILL_CONDITIONED;
}

/* One step of the product form, scaled by the determinant, mu = det(M)^(-1/2n), or with mu = 1:
 *     X <- mu X (I + mu^-2 M^-1)/2,   M <- (I + (mu^2 M + mu^-2 M^-1)/2)/2.
 * *distance = |M - I|_F. */
static tw_status product_step(sqrt_work *work, bool scaled, double *X, double *distance)
{
    /* M^-1 and mu^2 */
    size_t n = (size_t)work->n;
    double *inverse = work->T;
    double log_determinant = 0;
    memcpy(inverse, work->M, work->square * sizeof(double));
    TW_TRY(tw_dense_spd_invert(work->n, inverse, &log_determinant));
    double mu2 = scaled ? exp(-log_determinant / (double)n) : 1;

    /* X */
    memcpy(work->best, X, work->square * sizeof(double));
    tw_dense_multiply(work->n, 0.5 / sqrt(mu2), work->best, inverse, 0.5 * sqrt(mu2), X);
    symmetrise(work->n, X);

    /* M */
    for (size_t i = 0; i < work->square; i++)
        work->M[i] = 0.25 * (mu2 * work->M[i] + inverse[i] / mu2);
    for (size_t i = 0; i < n; i++) work->M[i * n + i] += 0.5;
    symmetrise(work->n, work->M);

    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) inverse[j * n + i] = work->M[j * n + i] - (i == j);
    *distance = frobenius(work->square, inverse);

    return TW_OK;
}

/* Product form of the Denman-Beavers iteration (Cheng, Higham, Kenney and Laub 2001): X -> sqrt(A),
 * M -> I. */
static tw_status by_product(sqrt_work *work, double *X, tw_sqrt_report *report)
{
    memcpy(X, work->A, work->square * sizeof(double));
    memcpy(work->M, work->A, work->square * sizeof(double));
    double distance = INFINITY;
    double previous = INFINITY;
    while (report->iterations < MAX_ITERATIONS) {
        tw_status status = product_step(work, distance > unscaled_below, X, &distance);
        if (status) return TW_ILL_CONDITIONED;
        report->iterations++;

        /* It converges quadratically. It ends at the level of rounding, or when it no longer halves
         * near that level. */
        bool rounding = distance < 4 * work->n * DBL_EPSILON;
        bool settled = distance < settled_below && distance > 0.5 * previous;
        if (rounding || settled) break;
        previous = distance;
    }

    /* The residual may be as large as rounding makes it at this condition. */
    report->residual = residual_of(work, X);
    double allowed = 1e-15 * work->n * sqrt(report->condition) + 1e-12;
    bool converged = distance < settled_below && report->residual <= allowed;

    return converged ? TW_OK : TW_ILL_CONDITIONED;
}

/* ---- the calls ---- */

/* work->A = the symmetric part of A / 4^half, which is of order one, so that no square overflows.
 * Returns half. */
static int load(sqrt_work *work, const double *A)
{
    double largest = 0;
    for (size_t i = 0; i < work->square; i++) largest = fmax(largest, fabs(A[i]));
    int half = largest > 0 ? ilogb(largest) / 2 : 0;
    for (size_t i = 0; i < work->square; i++) work->A[i] = ldexp(A[i], -2 * half);
    symmetrise(work->n, work->A);
    work->norm = frobenius(work->square, work->A);

    return half;
}

static tw_status compute(sqrt_work *work, tw_sqrt_method method, double *O, tw_sqrt_report *report)
{
    if (method == TW_SQRT_EIGEN) return by_eigenvalues(work, O, report);
    tw_status status = check_positive(work, report);
    if (status) return status;
    return method == TW_SQRT_PRODUCT ? by_product(work, O, report) : by_newton(work, O, report);
}

static tw_status explain(tw_status status, tw_sqrt_method method, const tw_sqrt_report *report,
                         tw_error *error)
{
    static const char *const names[] = {"eigendecomposition", "product iteration",
                                        "Newton's iteration"};
    if (status == TW_OK) return status;

    if (status == TW_ILL_CONDITIONED)
        return tw_fail(
            error, status,
            "square root: %s broke down at condition %.1e: residual %.1e after %d iterations",
            names[method], report->condition, report->residual, report->iterations);

    return tw_fail(error, status, "square root by %s: %s", names[method], tw_status_text(status));
}

/* LAPACK's scratch of 1 + 6 n + 2 n^2 numbers is counted in 32 bits. */
enum { LARGEST_ORDER = 32000 };

tw_status tw_sqrt_spd(int n, const double *A, tw_sqrt_method method, double *O,
                      tw_sqrt_report *report, tw_error *error)
{
    if (n < 1 || n > LARGEST_ORDER || !A || !O || (int)method < TW_SQRT_EIGEN ||
        method > TW_SQRT_NEWTON)
        return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    if (!tw_dense_is_finite((size_t)n * (size_t)n, A)) return tw_fail_plain(error, TW_NOT_FINITE);

    /* The root of A / 4^half is the root of A divided by 2^half. */
    tw_sqrt_report local = {0};
    sqrt_work work;
    tw_status status = reserve(&work, n);
    if (status == TW_OK) {
        int half = load(&work, A);
        status = compute(&work, method, O, &local);
        for (size_t i = 0; i < work.square; i++) O[i] = ldexp(O[i], half);
    }
    release(&work);

    /* Only finite values leave. */
    if (status != TW_OK && status != TW_ILL_CONDITIONED)
        memset(O, 0, (size_t)n * (size_t)n * sizeof *O);
    if (!tw_dense_is_finite((size_t)n * (size_t)n, O)) {
        memset(O, 0, (size_t)n * (size_t)n * sizeof *O);
        status = status ? status : TW_NOT_FINITE;
    }

    if (report) *report = local;

    return explain(status, method, &local, error);
}

tw_status tw_to_omega(int n, const double *O, double *u, tw_error *error)
{
    if (n < 1 || !O || !u) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    if (!tw_dense_is_finite((size_t)n, u)) return tw_fail_plain(error, TW_NOT_FINITE);
    double *x = TW_NEW_ARRAY(n, double);
    if (!x) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* u_x = O x; u stays as it was if the product overflows. */
    memcpy(x, u, (size_t)n * sizeof *x);
    tw_dense_apply(false, n, n, O, x, u);
    bool finite = tw_dense_is_finite((size_t)n, u);
    if (!finite) memcpy(u, x, (size_t)n * sizeof *x);
    tw_release(x);

    return finite ? TW_OK : tw_fail_plain(error, TW_NOT_FINITE);
}

tw_status tw_from_omega(int n, const double *O, double *u, tw_error *error)
{
    if (n < 1 || !O || !u) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    if (!tw_dense_is_finite((size_t)n, u)) return tw_fail_plain(error, TW_NOT_FINITE);
    double *L = TW_NEW_ARRAY((size_t)n * (size_t)n, double);
    if (!L) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* x = O^-1 u_x by Cholesky's factor of O */
    memcpy(L, O, (size_t)n * (size_t)n * sizeof *L);
    tw_status status = tw_dense_cholesky(n, L);
    if (status == TW_OK) {
        tw_dense_lower_solve(false, n, L, 1, u);
        tw_dense_lower_solve(true, n, L, 1, u);
    }
    tw_release(L);

    return status ? tw_fail(error, status, "Omega: %s", tw_status_text(status)) : TW_OK;
}
