/* The matrix exponential: A. H. Al-Mohy and N. J. Higham, "A new scaling and squaring algorithm for
 * the matrix exponential", SIAM J. Matrix Anal. Appl. 31 (2009). The scaling follows the norms of
 * powers of A, not of A itself, so that strongly nonnormal matrices are not scaled too far. */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "linalg/blas_session.h"
#include "linalg/dense.h"

enum { POWERS = 4 /* even powers of A that are kept */ };

/* A (scaled), its even powers, and room to work. */
typedef struct expm_work {
    int n;
    double *A;
    double *power[POWERS]; /* A^2, A^4, A^6, A^8 */
    double *U, *V;         /* odd and even part of the numerator */
    double *vector[4];     /* n entries each, for norm estimates */
    int *integers;         /* n entries: pivots, signs */
} expm_work;

size_t tw_dense_expm_scratch(int n)
{
    size_t m = n > 0 ? (size_t)n : 0;
    return (3 + POWERS) * m * m + 4 * m + m + 1;
}

/* Divides the scratch among the arrays. */
static expm_work carve(int n, double *scratch)
{
    size_t square = (size_t)n * (size_t)n;
    expm_work work = {.n = n, .A = scratch};

    for (int i = 0; i < POWERS; i++) work.power[i] = scratch + (size_t)(1 + i) * square;
    work.U = scratch + (1 + POWERS) * square;
    work.V = work.U + square;
    for (int i = 0; i < 4; i++) work.vector[i] = work.V + square + (size_t)i * (size_t)n;
    work.integers = (int *)(void *)(work.V + square + 4 * (size_t)n);
    return work;
}

/* Estimate of ||P Q||_1 without forming the product (Higham's estimator, LAPACK's dlacn2). */
static double product_norm1(expm_work *work, const double *P, const double *Q)
{
    int n = work->n;
    double *x = work->vector[0];
    double *v = work->vector[1];
    double *y = work->vector[2];
    double estimate = 0;
    lapack_int kase = 0;
    lapack_int state[3] = {0};

    /* dlacn2 asks for products P Q x (kase 1) and (P Q)^T x (kase 2) until it is content. */
    for (;;) {
        LAPACKE_dlacn2_work(n, v, x, work->integers, &estimate, &kase, state);
        if (kase == 0) return estimate;

        const bool plain = kase == 1;
        CBLAS_TRANSPOSE transpose = plain ? CblasNoTrans : CblasTrans;
        const double *first = plain ? Q : P;
        const double *second = plain ? P : Q;
        cblas_dgemv(CblasColMajor, transpose, n, n, 1.0, first, n, x, 1, 0.0, y, 1);
        cblas_dgemv(CblasColMajor, transpose, n, n, 1.0, second, n, y, 1, 0.0, x, 1);
    }
}

/* || (|A| / norm)^p ||_1 exactly: the largest entry of (|A|^T / norm)^p 1. */
static double absolute_power_norm1(expm_work *work, double norm, int p)
{
    int n = work->n;
    double *x = work->vector[0];
    double *y = work->vector[1];

    for (int i = 0; i < n; i++) x[i] = 1;
    for (int step = 0; step < p; step++) {
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int i = 0; i < n; i++)
                sum += fabs(work->A[(size_t)j * (size_t)n + (size_t)i]) * x[i];
            y[j] = sum / norm;
        }
        memcpy(x, y, (size_t)n * sizeof *x);
    }

    double largest = 0;
    for (int i = 0; i < n; i++) largest = fmax(largest, x[i]);
    return largest;
}

/* A Pade approximant of degree m. */
typedef struct pade_degree {
    int m;
    double theta;             /* it has full accuracy up to this norm of A */
    double error_coefficient; /* |c_{2m+1}|, the first of the series of the backward error */
} pade_degree;
static const pade_degree degree_3 = {3, 1.495585217958292e-2, 1.0 / 100800.0},
                         degree_5 = {5, 2.539398330063230e-1, 1.0 / 10059033600.0},
                         degree_7 = {7, 9.504178996162932e-1, 1.0 / 4487938430976000.0},
                         degree_9 = {9, 2.097847961257068e0, 1.0 / 5914384781877411840000.0},
                         degree_13 = {13, 4.25, 1.0 / 113250775606021113483283660800000000.0};

/* The function ell of the paper: extra squarings of 2^-s A that rounding in the evaluation makes
 * necessary, ceil(log2(alpha / u) / 2m) with alpha = |c_{2m+1}| || |2^-s A|^(2m+1) || / ||2^-s A||,
 * in logarithms. */
static int extra_scaling(expm_work *work, pade_degree degree, int s)
{
    double norm = tw_dense_norm1(work->n, work->A);
    if (!(norm > 0)) return 0;

    double shape = absolute_power_norm1(work, norm, 2 * degree.m + 1);
    if (shape == 0) return 0;

    /* u = 2^-53 */
    double alpha = log2(degree.error_coefficient) + log2(shape) + 2 * degree.m * (log2(norm) - s);
    double extra = ceil((alpha + 53) / (2 * degree.m));
    return extra > 0 ? (int)extra : 0;
}

/* sum += factor * A^(2j), j = 0 being the identity. */
static void add_power(const expm_work *work, int j, double factor, double *sum)
{
    size_t n = (size_t)work->n;
    if (j == 0) {
        for (size_t i = 0; i < n; i++) sum[i * n + i] += factor;
        return;
    }
    cblas_daxpy((int)(n * n), factor, work->power[j - 1], 1, sum, 1);
}

/* U = A sum_j b[2j+1] A^2j, V = sum_j b[2j] A^2j for degrees 3 to 9; E serves as scratch. */
static void low_degree(expm_work *work, int m, const double *b, double *E)
{
    size_t square = (size_t)work->n * (size_t)work->n;
    memset(E, 0, square * sizeof *E);
    memset(work->V, 0, square * sizeof *E);
    for (int j = 0; 2 * j < m; j++) {
        add_power(work, j, b[2 * j + 1], E);
        add_power(work, j, b[2 * j], work->V);
    }
    tw_dense_multiply(work->n, 1.0, work->A, E, 0.0, work->U);
}

/* The same for degree 13, with A^6 factored out of the upper half: six products in all. */
static void degree_thirteen(expm_work *work, double *E)
{
    static const double b[14] = {64764752532480000.,
                                 32382376266240000.,
                                 7771770303897600.,
                                 1187353796428800.,
                                 129060195264000.,
                                 10559470521600.,
                                 670442572800.,
                                 33522128640.,
                                 1323241920.,
                                 40840800.,
                                 960960.,
                                 16380.,
                                 182.,
                                 1.};
    size_t square = (size_t)work->n * (size_t)work->n;
    double *high = work->power[3];

    /* U = A (A^6 (b13 A^6 + b11 A^4 + b9 A^2) + b7 A^6 + b5 A^4 + b3 A^2 + b1 I) */
    memset(high, 0, square * sizeof *high);
    memset(E, 0, square * sizeof *E);
    for (int j = 1; j <= 3; j++) add_power(work, j, b[2 * j + 7], high);
    for (int j = 0; j <= 3; j++) add_power(work, j, b[2 * j + 1], E);
    tw_dense_multiply(work->n, 1.0, work->power[2], high, 1.0, E);
    tw_dense_multiply(work->n, 1.0, work->A, E, 0.0, work->U);

    /* V = A^6 (b12 A^6 + b10 A^4 + b8 A^2) + b6 A^6 + b4 A^4 + b2 A^2 + b0 I */
    memset(high, 0, square * sizeof *high);
    memset(work->V, 0, square * sizeof *E);
    for (int j = 1; j <= 3; j++) add_power(work, j, b[2 * j + 6], high);
    for (int j = 0; j <= 3; j++) add_power(work, j, b[2 * j], work->V);
    tw_dense_multiply(work->n, 1.0, work->power[2], high, 1.0, work->V);
}

/* Marks in work->integers the indices i that are diagonal blocks by themselves: A is block triangular
 * with the block a_ii, as every block of a triangular matrix is. */
static void find_single_blocks(expm_work *work)
{
    size_t n = (size_t)work->n;
    const double *A = work->A;

    /* Column j has its last entry in row last_j: i is single if no column j <= i reaches below it,
     * and none before it reaches it. */
    size_t reached = 0;
    for (size_t j = 0; j < n; j++) {
        size_t last = n;
        while (last > 0 && A[j * n + last - 1] == 0) last--;
        work->integers[j] = reached <= j && last <= j + 1;
        if (last > reached) reached = last;
    }
}

/* exp(A) has the diagonal block exp(a_ii) where a_ii is a block by itself. Without this, a rounding of
 * exp(2^-s a_ii) would be multiplied by 2^s. */
static void restore_single_blocks(const expm_work *work, double factor, double *E)
{
    size_t n = (size_t)work->n;
    for (size_t i = 0; i < n; i++)
        if (work->integers[i]) E[i * n + i] = exp(factor * work->A[i * n + i]);
}

/* E = (V - U)^-1 (V + U), then squared s times. */
static tw_status divide_and_square(expm_work *work, int s, double *E)
{
    size_t square = (size_t)work->n * (size_t)work->n;

    for (size_t i = 0; i < square; i++) {
        double u = work->U[i];
        double v = work->V[i];
        E[i] = v + u;
        work->V[i] = v - u;
    }
    tw_status status = tw_dense_solve(work->n, work->V, work->n, E, work->integers);
    if (status) return status == TW_SINGULAR ? TW_INTERNAL : status;

    find_single_blocks(work);
    restore_single_blocks(work, 1, E);
    for (int i = 1; i <= s; i++) {
        memcpy(work->U, E, square * sizeof *E);
        tw_dense_multiply(work->n, 1.0, work->U, work->U, 0.0, E);
        restore_single_blocks(work, ldexp(1.0, i), E);
    }
    return tw_dense_is_finite(square, E) ? TW_OK : TW_NOT_FINITE;
}

static double root(double norm, int power)
{
    return pow(norm, 1.0 / power);
}

static void scale_by_power_of_two(expm_work *work, int s)
{
    size_t square = (size_t)work->n * (size_t)work->n;
    cblas_dscal((int)square, ldexp(1.0, -s), work->A, 1);
    for (int j = 0; j < 3; j++)
        cblas_dscal((int)square, ldexp(1.0, -2 * (j + 1) * s), work->power[j], 1);
}

/* Whether the degree is accurate for an A of "size" eta without scaling. */
static bool reaches(expm_work *work, pade_degree degree, double eta)
{
    return eta <= degree.theta && extra_scaling(work, degree, 0) == 0;
}

/* Coefficients of the Pade approximants. */
static const double b3[4] = {120., 60., 12., 1.};
static const double b5[6] = {30240., 15120., 3360., 420., 30., 1.};
static const double b7[8] = {17297280., 8648640., 1995840., 277200., 25200., 1512., 56., 1.};
static const double b9[10] = {17643225600., 8821612800., 2075673600., 302702400., 30270240.,
                              2162160.,     110880.,     3960.,       90.,        1.};

/* exp(A) by an approximant of degree 3 to 9, and s0 squarings. */
static tw_status finish_low_degree(expm_work *work, int m, const double *b, int s0, double *E)
{
    low_degree(work, m, b, E);
    return divide_and_square(work, s0, E);
}

/* Algorithm 6.1 of the paper: chooses degree and scaling from d_k = ||A^k||_1^(1/k). Before that, A
 * has been divided by 2^s0. */
static tw_status approximate(expm_work *work, int s0, double *E)
{
    int n = work->n;
    double **power = work->power;

    /* A^2, A^4, A^6 */
    tw_dense_multiply(n, 1.0, work->A, work->A, 0.0, power[0]);
    tw_dense_multiply(n, 1.0, power[0], power[0], 0.0, power[1]);
    tw_dense_multiply(n, 1.0, power[0], power[1], 0.0, power[2]);

    /* Degrees 3 and 5 need d_4 and d_6. */
    double d4 = root(tw_dense_norm1(n, power[1]), 4);
    double d6 = root(tw_dense_norm1(n, power[2]), 6);
    double eta = fmax(d4, d6);
    if (reaches(work, degree_3, eta)) return finish_low_degree(work, 3, b3, s0, E);
    if (reaches(work, degree_5, eta)) return finish_low_degree(work, 5, b5, s0, E);

    /* Degrees 7 and 9 use d_8 as well. */
    double d8 = root(product_norm1(work, power[1], power[1]), 8);
    eta = fmax(d6, d8);
    if (reaches(work, degree_7, eta)) return finish_low_degree(work, 7, b7, s0, E);
    if (reaches(work, degree_9, eta)) {
        tw_dense_multiply(n, 1.0, power[1], power[1], 0.0, power[3]);
        return finish_low_degree(work, 9, b9, s0, E);
    }

    /* Degree 13, after as many halvings of A as its norm asks for. */
    double d10 = root(product_norm1(work, power[1], power[2]), 10);
    eta = fmin(eta, fmax(d8, d10));
    int s = eta > degree_13.theta ? (int)ceil(log2(eta / degree_13.theta)) : 0;
    s += extra_scaling(work, degree_13, s);
    scale_by_power_of_two(work, s);
    degree_thirteen(work, E);
    return divide_and_square(work, s0 + s, E);
}

tw_status tw_expm(int n, const double *A, double *E, double *scratch)
{
    if (n <= 0) return TW_OK;
    size_t square = (size_t)n * (size_t)n;
    if (!tw_dense_is_finite(square, A)) return TW_NOT_FINITE;

    if (n == 1) {
        E[0] = exp(A[0]);
        return isfinite(E[0]) ? TW_OK : TW_NOT_FINITE;
    }

    /* Entries above 2^30 are scaled first: otherwise A^8 could overflow where exp(A) does not. */
    TW_TRY(tw_blas_enter());
    expm_work work = carve(n, scratch);
    double largest = 0;
    for (size_t i = 0; i < square; i++) largest = fmax(largest, fabs(A[i]));
    int s0 = largest > 0x1p30 ? ilogb(largest) - 30 : 0;
    for (size_t i = 0; i < square; i++) work.A[i] = ldexp(A[i], -s0);
    tw_status status = approximate(&work, s0, E);
    tw_blas_leave();
    return status;
}
