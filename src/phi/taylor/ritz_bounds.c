/* Where the spectrum of an operator lies, from a few Arnoldi steps. */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/start_vector.h"
#include "linalg/dense.h"
#include "linalg/vector.h"
#include "phi/taylor/taylor.h"

enum {
    STEPS = TW_RITZ_STEPS,
    LOWEST_POWER = 2,  /* of (H - mu)^p in the growth of powers */
    HIGHEST_POWER = 9, /* Al-Mohy & Higham use p <= 8, and p + 1 */
    SMALL_STEPS = 3    /* products that show whether longest_time |A| is small */
};

/* Below this longest_time |A|, one substep suffices wherever the spectrum lies. */
static const double SMALL_TIME = 1.0;

/* A residual below this share of |A| ends the Krylov space: the start vector has a part in every
 * eigenvector. */
static const double EXHAUSTED = 1e-12;

/* Ritz values of a nonnormal operator do not show how far they are from the spectrum. They are
 * taken to miss this share of its extent. */
static const double GENERAL_MARGIN = 0.04;

tw_status tw_phi_spend(const tw_phi_workspace *workspace, tw_phi_statistics *statistics, int count)
{
    if (statistics->products + count > workspace->options.max_products) return TW_BUDGET_EXHAUSTED;
    statistics->products += count;
    return TW_OK;
}

tw_status tw_phi_random_direction(const tw_space *space, double *x)
{
    double norm = 0;
    tw_fill_start_vector(space->local_size, x);
    TW_TRY(tw_vector_norm(space, x, &norm));
    if (norm > 0) tw_vector_scale(space->local_size, 1 / norm, x);
    return TW_OK;
}

/* ---- Arnoldi ---- */

/* Column k of H (leading dimension STEPS + 1) and the next basis vector, by classical Gram-Schmidt
 * done twice. */
static tw_status arnoldi_step(const tw_phi_workspace *workspace, const tw_operator *op,
                              double *basis, int k, double *column, double norms[2])
{
    int64_t n = op->space.local_size;
    double *w = basis + (k + 1) * n;

    /* w = A v_k, measured by parts. */
    if (op->apply(op->context, 1, basis + k * n, w)) return TW_CALLBACK_FAILED;
    TW_TRY(tw_phi_part_norms(workspace, &op->space, w, norms));
    if (!(isfinite(norms[0]) && isfinite(norms[1]))) return TW_NOT_FINITE;

    /* w -= V V^T w, twice. */
    memset(column, 0, (STEPS + 1) * sizeof *column);
    for (int pass = 0; pass < 2; pass++) {
        double dots[STEPS + 1];
        TW_TRY(tw_vector_dots(&op->space, k + 1, basis, w, dots));
        for (int i = 0; i <= k; i++) {
            column[i] += dots[i];
            dots[i] = -dots[i];
        }
        tw_vector_add_combination(n, k + 1, basis, dots, w);
    }

    /* v_{k+1} = w / |w|. */
    TW_TRY(tw_vector_norm(&op->space, w, &column[k + 1]));
    if (column[k + 1] > 0) tw_vector_scale(n, 1 / column[k + 1], w);
    return TW_OK;
}

/* ---- Ritz values ---- */

/* Ritz values of a symmetric operator, or of i times a skew one, each widened by its residual beta
 * |s_k|. */
static tw_status find_tridiagonal(tw_ritz_bounds *bounds, double beta)
{
    int k = bounds->dimension;
    double d[STEPS];
    double e[STEPS];
    double Q[STEPS * STEPS];
    double scratch[3 * STEPS * STEPS + 32 * STEPS];
    bool skew = bounds->symmetry == TW_SKEW;

    /* The tridiagonal matrix; for a skew operator its diagonal is zero. */
    for (int i = 0; i < k; i++) {
        d[i] = skew ? 0 : bounds->H[i + i * k];
        if (i + 1 < k) e[i] = bounds->H[i + 1 + i * k];
    }
    TW_TRY(tw_tridiagonal_eigen(k, d, e, Q, scratch));

    /* An eigenvalue lies within the residual of every Ritz value. */
    double low = d[0];
    double high = d[k - 1];
    for (int i = 0; i < k; i++) {
        double residual = beta * fabs(Q[k - 1 + i * k]);
        low = fmin(low, d[i] - residual);
        high = fmax(high, d[i] + residual);
    }

    /* A symmetric operator has a real spectrum, a skew one an imaginary spectrum. */
    if (skew) {
        bounds->imag_max = fmax(high, -low);
    } else {
        bounds->real_min = low;
        bounds->real_max = high;
    }
    return TW_OK;
}

/* Ritz values of a general operator, with a margin unless the Krylov space is exhausted. */
static tw_status find_general(tw_ritz_bounds *bounds, double beta)
{
    int k = bounds->dimension;
    double H[STEPS * STEPS];
    double scratch[STEPS];
    double *real = bounds->ritz_real;
    double *imaginary = bounds->ritz_imaginary;
    memcpy(H, bounds->H, (size_t)(k * k) * sizeof *H);
    TW_TRY(tw_hessenberg_eigenvalues(k, H, real, imaginary, scratch));

    /* The box around them. */
    bounds->ritz_count = k;
    bounds->real_min = real[0];
    bounds->real_max = real[0];
    bounds->imag_max = 0;
    for (int i = 0; i < k; i++) {
        bounds->real_min = fmin(bounds->real_min, real[i]);
        bounds->real_max = fmax(bounds->real_max, real[i]);
        bounds->imag_max = fmax(bounds->imag_max, fabs(imaginary[i]));
    }

    /* The margin on all sides. */
    bool exhausted = beta <= EXHAUSTED * bounds->norm;
    double extent = fmax(bounds->real_max - bounds->real_min, 2 * bounds->imag_max);
    bounds->margin = exhausted ? 0 : GENERAL_MARGIN / 2 * extent;
    bounds->real_min -= bounds->margin;
    bounds->real_max += bounds->margin;
    bounds->imag_max += bounds->margin;
    return TW_OK;
}

/* Too early for Ritz values: the bounds are a disc of twice the norm seen. */
static void settle_coarse(tw_ritz_bounds *bounds)
{
    double radius = 2 * bounds->norm;
    bounds->coarse = true;
    if (bounds->symmetry != TW_SKEW) {
        bounds->real_min = -radius;
        bounds->real_max = radius;
    }
    if (bounds->symmetry != TW_SYMMETRIC) bounds->imag_max = radius;
}

tw_status tw_ritz_bounds_find(tw_phi_workspace *workspace, const tw_operator *op,
                              double longest_time, double *basis, tw_phi_statistics *statistics,
                              tw_ritz_bounds *bounds)
{
    double columns[STEPS][STEPS + 1];
    *bounds = (tw_ritz_bounds){.symmetry = op->symmetry};
    TW_TRY(tw_phi_random_direction(&op->space, basis));

    /* Arnoldi, until the space is exhausted or the time turns out to be short. */
    int k = 0;
    double beta = 0;
    bool small = false;
    while (k < STEPS) {
        double norms[2] = {0};
        TW_TRY(tw_phi_spend(workspace, statistics, 1));
        TW_TRY(arnoldi_step(workspace, op, basis, k, columns[k], norms));

        /* |A v_k| bounds the norm from below. */
        bounds->norm = fmax(bounds->norm, hypot(norms[0], norms[1]));
        for (int b = 0; b < 2; b++) bounds->part_norm[b] = fmax(bounds->part_norm[b], norms[b]);

        beta = columns[k][k + 1];
        k++;
        small = k >= SMALL_STEPS && fabs(longest_time) * bounds->norm <= SMALL_TIME;
        if (beta <= EXHAUSTED * bounds->norm || small) break;
    }

    /* H without its last row. */
    bounds->dimension = k;
    for (int j = 0; j < k; j++) memcpy(bounds->H + j * k, columns[j], (size_t)k * sizeof(double));

    /* A short time needs no better bounds than a disc. */
    if (small && beta > EXHAUSTED * bounds->norm) {
        settle_coarse(bounds);
        return TW_OK;
    }
    return op->symmetry == TW_GENERAL ? find_general(bounds, beta) : find_tridiagonal(bounds, beta);
}

/* ---- the growth of powers ---- */

/* min over p of max(d_p, d_{p+1}), d_p = |(H - mu)^p|_1^(1/p). Powers are scaled so that none
 * overflows. */
static double power_growth(const tw_ritz_bounds *bounds, double mu)
{
    int k = bounds->dimension;
    double B[STEPS * STEPS];
    double P[STEPS * STEPS];
    double next[STEPS * STEPS];

    /* B = (H - mu) / |H - mu|_1. */
    memcpy(B, bounds->H, (size_t)(k * k) * sizeof *B);
    for (int i = 0; i < k; i++) B[i + i * k] -= mu;
    double scale = tw_dense_norm1(k, B);
    if (!(scale > 0)) return 0;
    for (int i = 0; i < k * k; i++) B[i] /= scale;

    /* P runs through the powers of B. */
    memcpy(P, B, sizeof B);
    double best = scale;
    double previous = scale;
    for (int p = 2; p <= HIGHEST_POWER; p++) {
        tw_dense_multiply(k, 1.0, P, B, 0.0, next);
        memcpy(P, next, sizeof P);

        double d = scale * pow(tw_dense_norm1(k, P), 1.0 / p);
        if (p > LOWEST_POWER) best = fmin(best, fmax(previous, d));
        previous = d;
    }
    return best;
}

double tw_ritz_bounds_radius(const tw_ritz_bounds *bounds, double mu, bool with_zero)
{
    double left = fabs(bounds->real_min - mu);
    double right = fabs(bounds->real_max - mu);
    double radius = hypot(fmax(left, right), bounds->imag_max);

    /* Powers of a nonnormal operator grow differently from its spectral radius. */
    if (bounds->symmetry == TW_GENERAL && !bounds->coarse) radius = power_growth(bounds, mu);
    return with_zero ? fmax(radius, fabs(mu)) : radius;
}
