#include "phi/taylor/spectrum_bounds.h"

#include <math.h>
#include <string.h>

#include "base/parallel_for.h"
#include "linalg/dense.h"
#include "linalg/hessenberg.h"
#include "linalg/vector.h"
#include "phi/taylor/newton_substep.h"

enum { STEPS = TW_SPECTRUM_STEPS, LOWEST_POWER = 2, HIGHEST_POWER = 9 };

/* longest_time |A| below which one substep does whatever the spectrum, and the products that tells it. */
static const double SMALL_TIME = 1.0;
enum { SMALL_STEPS = 3 };
/* A residual this small against |A| ends the Krylov space: the start vector has a share in every eigenvector. */
static const double EXHAUSTED = 1e-12;
/* Ritz values of a nonnormal operator say nothing of how far they still are from the spectrum. */
static const double GENERAL_MARGIN = 0.04;

static void direction_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    double *x = context;
    for (int64_t i = begin; i < end; i++) {
        uint64_t z = ((uint64_t)i + 1) * 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        z ^= z >> 31;
        x[i] = (double)(z >> 11) * 0x1p-52 - 1.0;
    }
}

tw_status tw_phi_random_direction(const tw_space *space, double *x)
{
    tw_parallel_for(space->local_size, 4096, direction_body, x);
    double norm = 0;
    tw_status status = tw_vector_norm(space, x, &norm);
    if (status == TW_OK && norm > 0) tw_vector_scale(space->local_size, 1 / norm, x);
    return status;
}

/* Column k of H (leading dimension STEPS + 1) and the next basis vector, by classical Gram-Schmidt done twice. */
static tw_status arnoldi_step(const tw_phi_workspace *workspace, const tw_operator *op,
                              double *basis, int k, double *column, double norms[2])
{
    int64_t n = op->space.local_size;
    double *w = basis + (k + 1) * n;
    if (op->apply(op->context, 1, basis + k * n, w)) return TW_CALLBACK_FAILED;
    tw_status status = tw_phi_block_norms(workspace, &op->space, w, norms);
    if (status == TW_OK && !(isfinite(norms[0]) && isfinite(norms[1]))) return TW_NOT_FINITE;
    memset(column, 0, (STEPS + 1) * sizeof *column);
    for (int pass = 0; pass < 2 && status == TW_OK; pass++) {
        double dots[STEPS + 1];
        status = tw_vector_dots(&op->space, k + 1, basis, w, dots);
        for (int i = 0; i <= k; i++) {
            column[i] += dots[i];
            dots[i] = -dots[i];
        }
        tw_vector_add_combination(n, k + 1, basis, dots, w);
    }
    if (status == TW_OK) status = tw_vector_norm(&op->space, w, &column[k + 1]);
    if (status == TW_OK && column[k + 1] > 0) tw_vector_scale(n, 1 / column[k + 1], w);
    return status;
}

/* Ritz values of a symmetric operator, or of i times a skew one, each widened by its residual beta |s_k|. */
static tw_status find_tridiagonal(tw_spectrum_bounds *bounds, double beta)
{
    int k = bounds->dimension;
    double d[STEPS], e[STEPS], Q[STEPS * STEPS], scratch[3 * STEPS * STEPS + 32 * STEPS];
    bool skew = bounds->symmetry == TW_SKEW;
    for (int i = 0; i < k; i++) {
        d[i] = skew ? 0 : bounds->H[i + i * k];
        if (i + 1 < k) e[i] = bounds->H[i + 1 + i * k];
    }
    tw_status status = tw_tridiagonal_eigen(k, d, e, Q, scratch);
    if (status) return status;
    double low = d[0], high = d[k - 1];
    for (int i = 0; i < k; i++) {
        double residual = beta * fabs(Q[k - 1 + i * k]);
        low = fmin(low, d[i] - residual);
        high = fmax(high, d[i] + residual);
    }
    bounds->real_min = skew ? 0 : low;
    bounds->real_max = skew ? 0 : high;
    bounds->imag_max = skew ? fmax(high, -low) : 0;
    return TW_OK;
}

static tw_status find_general(tw_spectrum_bounds *bounds, double beta)
{
    int k = bounds->dimension;
    double H[STEPS * STEPS], *real = bounds->ritz_real, *imaginary = bounds->ritz_imaginary,
                             scratch[STEPS];
    memcpy(H, bounds->H, (size_t)(k * k) * sizeof *H);
    tw_status status = tw_hessenberg_eigenvalues(k, H, real, imaginary, scratch);
    if (status) return status;
    bounds->ritz_count = k;
    bounds->real_min = bounds->real_max = real[0];
    bounds->imag_max = 0;
    for (int i = 0; i < k; i++) {
        bounds->real_min = fmin(bounds->real_min, real[i]);
        bounds->real_max = fmax(bounds->real_max, real[i]);
        bounds->imag_max = fmax(bounds->imag_max, fabs(imaginary[i]));
    }
    bool exhausted = beta <= EXHAUSTED * bounds->norm;
    double extent = fmax(bounds->real_max - bounds->real_min, 2 * bounds->imag_max);
    bounds->margin = exhausted ? 0 : GENERAL_MARGIN / 2 * extent;
    bounds->real_min -= bounds->margin;
    bounds->real_max += bounds->margin;
    bounds->imag_max += bounds->margin;
    return TW_OK;
}

/* Too early for Ritz values: a disc of twice the norm seen. */
static void settle_coarse(tw_spectrum_bounds *bounds)
{
    double radius = 2 * bounds->norm;
    bounds->coarse = true;
    bounds->real_min = bounds->symmetry == TW_SKEW ? 0 : -radius;
    bounds->real_max = bounds->symmetry == TW_SKEW ? 0 : radius;
    bounds->imag_max = bounds->symmetry == TW_SYMMETRIC ? 0 : radius;
}

tw_status tw_spectrum_bounds_find(tw_phi_workspace *workspace, const tw_operator *op,
                                  double longest_time, double *basis, tw_phi_statistics *statistics,
                                  tw_spectrum_bounds *bounds)
{
    double columns[STEPS][STEPS + 1];
    *bounds = (tw_spectrum_bounds){.symmetry = op->symmetry};
    tw_status status = tw_phi_random_direction(&op->space, basis);
    int k = 0;
    double beta = 0;
    bool small = false;
    while (k < STEPS && status == TW_OK) {
        double norms[2] = {0};
        status = tw_phi_spend(workspace, statistics, 1);
        if (status == TW_OK) status = arnoldi_step(workspace, op, basis, k, columns[k], norms);
        if (status) return status;
        bounds->norm = fmax(bounds->norm, hypot(norms[0], norms[1]));
        for (int b = 0; b < 2; b++) bounds->block_norm[b] = fmax(bounds->block_norm[b], norms[b]);
        beta = columns[k][k + 1];
        k++;
        small = k >= SMALL_STEPS && fabs(longest_time) * bounds->norm <= SMALL_TIME;
        if (beta <= EXHAUSTED * bounds->norm || small) break;
    }
    if (status) return status;
    bounds->dimension = k;
    for (int j = 0; j < k; j++) memcpy(bounds->H + j * k, columns[j], (size_t)k * sizeof(double));
    if (small && beta > EXHAUSTED * bounds->norm) {
        settle_coarse(bounds);
        return TW_OK;
    }
    return op->symmetry == TW_GENERAL ? find_general(bounds, beta) : find_tridiagonal(bounds, beta);
}

/* min over p of max(d_p, d_{p+1}), d_p = |(H - mu)^p|_1^(1/p), each power scaled so that none overflows. */
static double power_growth(const tw_spectrum_bounds *bounds, double mu)
{
    int k = bounds->dimension;
    double B[STEPS * STEPS], P[STEPS * STEPS], next[STEPS * STEPS];
    memcpy(B, bounds->H, (size_t)(k * k) * sizeof *B);
    for (int i = 0; i < k; i++) B[i + i * k] -= mu;
    double scale = tw_dense_norm1(k, B);
    if (!(scale > 0)) return 0;
    for (int i = 0; i < k * k; i++) B[i] /= scale;
    memcpy(P, B, sizeof B);
    double best = scale, previous = scale;
    for (int p = 2; p <= HIGHEST_POWER; p++) {
        tw_dense_multiply(k, 1.0, P, B, 0.0, next);
        memcpy(P, next, sizeof P);
        double d = scale * pow(tw_dense_norm1(k, P), 1.0 / p);
        if (p > LOWEST_POWER) best = fmin(best, fmax(previous, d));
        previous = d;
    }
    return best;
}

double tw_spectrum_bounds_radius(const tw_spectrum_bounds *bounds, double mu, bool with_zero)
{
    double left = fabs(bounds->real_min - mu), right = fabs(bounds->real_max - mu);
    double radius = hypot(fmax(left, right), bounds->imag_max);
    if (bounds->symmetry == TW_GENERAL && !bounds->coarse) radius = power_growth(bounds, mu);
    return with_zero ? fmax(radius, fabs(mu)) : radius;
}
