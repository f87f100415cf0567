#include "phi/spectral/spectral_tridiagonal.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/dense.h"

enum { MAX_SWEEPS = 60 };

/* Multiplies columns i and i + 1 of Z by the rotation. */
static void rotate(int rows, double *z, double s, double c)
{
    for (int r = 0; r < rows; r++) {
        double left = z[r], right = z[rows + r];
        z[rows + r] = s * left + c * right;
        z[r] = c * left - s * right;
    }
}

/* One implicit QL sweep with Wilkinson's shift on rows l..m (Martin & Wilkinson 1968, imtql2). */
static void ql_sweep(int l, int m, double *d, double *e, int rows, double *Z)
{
    double g = (d[l + 1] - d[l]) / (2 * e[l]);
    double r = sqrt(g * g + 1);
    g = d[m] - d[l] + e[l] / (g + copysign(r, g));
    double s = 1, c = 1, p = 0;
    for (int i = m - 1; i >= l; i--) {
        double f = s * e[i], b = c * e[i];
        r = sqrt(f * f + g * g);
        e[i + 1] = r;
        if (r == 0) {
            d[i + 1] -= p;
            e[m] = 0;
            return;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        rotate(rows, Z + (size_t)i * (size_t)rows, s, c);
    }
    d[l] -= p;
    e[l] = g;
    e[m] = 0;
}

/* First m >= l with a negligible e[m]. */
static int block_end(int l, int n, const double *d, const double *e)
{
    int m = l;
    while (m < n - 1) {
        double near = fabs(d[m]) + fabs(d[m + 1]);
        if (fabs(e[m]) <= DBL_EPSILON * near || fabs(e[m]) <= 1e-20) break;
        m++;
    }
    return m;
}

/* Power of two near the largest entry: T is brought to order one, so that squares neither overflow nor vanish. */
static double tridiagonal_unit(int n, const double *d, const double *e)
{
    double largest = 0;
    for (int i = 0; i < n; i++)
        largest = fmax(largest, fmax(fabs(d[i]), i < n - 1 ? fabs(e[i]) : 0));
    if (!(largest > 0) || !isfinite(largest)) return 1;
    int exponent = 0;
    frexp(largest, &exponent);
    return ldexp(1.0, exponent);
}

tw_status tw_tridiagonal_rows(int n, double *d, double *e, int row_count, double *Z)
{
    if (n < 1) return TW_OK;
    if (!tw_dense_is_finite((size_t)n, d) || !tw_dense_is_finite((size_t)n - 1, e))
        return TW_NOT_FINITE;
    e[n - 1] = 0;
    double unit = tridiagonal_unit(n, d, e);
    for (int i = 0; i < n; i++) d[i] /= unit, e[i] /= unit;
    for (int l = 0; l < n; l++) {
        int sweeps = 0;
        for (int m = block_end(l, n, d, e); m != l; m = block_end(l, n, d, e)) {
            if (sweeps++ == MAX_SWEEPS) return TW_NOT_CONVERGED;
            ql_sweep(l, m, d, e, row_count, Z);
        }
    }
    for (int i = 0; i < n; i++) d[i] *= unit;
    return TW_OK;
}

/* d, e = T_m continued by `pad` rows: alpha as their recent mean, beta as the recent largest (the pessimistic side). */
static void continued_chain(const tw_chain *chain, int m, int pad, double *d, double *e)
{
    memcpy(d, chain->alpha, (size_t)m * sizeof(double));
    memcpy(e, chain->beta, (size_t)m * sizeof(double));
    int recent = m < TW_CHAIN_PAD ? m : TW_CHAIN_PAD;
    double alpha = 0, beta = 0;
    for (int k = m - recent; k < m; k++) {
        alpha += chain->alpha[k] / recent;
        beta = fmax(beta, chain->beta[k]);
    }
    for (int k = m; k < m + pad; k++) d[k] = alpha, e[k] = beta;
}

/* What f has in the rows by which T_m was continued: |f(T~) e_1| there. */
static double padded_error(const tw_spectral_function *f, int n, const double *d, const double *Z)
{
    enum { ROWS = 1 + TW_CHAIN_PAD };
    double added[TW_CHAIN_PAD] = {0}, sum = 0;
    for (int k = 0; k < n; k++) {
        const double *z = Z + (size_t)k * ROWS;
        double value = f->value(f->context, d[k]);
        for (int r = 0; r < TW_CHAIN_PAD; r++) added[r] += z[1 + r] * z[0] * value;
    }
    for (int r = 0; r < TW_CHAIN_PAD; r++) sum += added[r] * added[r];
    return sqrt(sum);
}

/* Eigenvalues of the continued chain in scratch->d, rows 1 and m+1.. of its eigenvectors in scratch->rows. */
static tw_status decompose_padded(const tw_chain *chain, int m, tw_chain_scratch *scratch)
{
    int n = m + TW_CHAIN_PAD, rows = 1 + TW_CHAIN_PAD;
    continued_chain(chain, m, TW_CHAIN_PAD, scratch->d, scratch->e);
    memset(scratch->rows, 0, (size_t)rows * (size_t)n * sizeof(double));
    scratch->rows[0] = 1;
    for (int r = 0; r < TW_CHAIN_PAD; r++)
        scratch->rows[(size_t)(m + r) * (size_t)rows + (size_t)(1 + r)] = 1;
    return tw_tridiagonal_rows(n, scratch->d, scratch->e, rows, scratch->rows);
}

static int ascending(const void *a, const void *b)
{
    double x = ((const tw_ritz *)a)->theta, y = ((const tw_ritz *)b)->theta;
    return (x > y) - (x < y);
}

tw_status tw_chain_decompose(const tw_chain *chain, int m, tw_chain_scratch *scratch)
{
    memcpy(scratch->d, chain->alpha, (size_t)m * sizeof(double));
    memcpy(scratch->e, chain->beta, (size_t)m * sizeof(double));
    memset(scratch->rows, 0, 2 * (size_t)m * sizeof(double));
    scratch->rows[0] = 1;
    scratch->rows[2 * (size_t)m - 1] = 1;
    tw_status status = tw_tridiagonal_rows(m, scratch->d, scratch->e, 2, scratch->rows);
    if (status) return status;
    for (int k = 0; k < m; k++)
        scratch->ritz[k] =
            (tw_ritz){scratch->d[k], scratch->rows[2 * k], scratch->rows[2 * k + 1], 0};
    qsort(scratch->ritz, (size_t)m, sizeof(tw_ritz), ascending);
    return TW_OK;
}

/* Samples of r(lambda), gathered. */
typedef struct samples {
    int count;
    double square, largest, noise; /* sum r^2, max |r|, sum of (rounding error of r)^2 */
} samples;

static void sample(const tw_spectral_function *f, int m, const tw_ritz *ritz, double beta,
                   double lambda, samples *s)
{
    double r = 0, noise = 0, value = f->value(f->context, lambda);
    for (int k = 0; k < m; k++) {
        double weight = ritz[k].first * ritz[k].last / (lambda - ritz[k].theta);
        r += weight * (value - ritz[k].value);
        noise += fabs(weight) * (fabs(value) + fabs(ritz[k].value));
    }
    noise *= beta * DBL_EPSILON;
    r = fmax(fabs(beta * r) - noise, 0);
    s->count++;
    s->square += r * r;
    s->noise += noise * noise;
    s->largest = fmax(s->largest, r);
}

/* Samples zero (or what lies a residual below a negative end), every gap between Ritz values, and the upper end. Ghosts
 * of one eigenvalue, which appear when orthogonality is lost, leave no gap to look into. */
static samples sample_gaps(const tw_spectral_function *f, int m, const tw_ritz *ritz, double beta,
                           double lowest)
{
    samples s = {0};
    double low = ritz[0].theta < 0 ? ritz[0].theta - beta * fabs(ritz[0].last) : 0;
    low = fmin(low, lowest);
    double high = ritz[m - 1].theta + beta * fabs(ritz[m - 1].last);
    double least_gap = 1e-10 * (high - low);
    if (ritz[0].theta - low > least_gap) {
        sample(f, m, ritz, beta, low, &s);
        sample(f, m, ritz, beta, 0.5 * (low + ritz[0].theta), &s);
    }
    for (int k = 0; k + 1 < m; k++) {
        if (!(ritz[k + 1].theta - ritz[k].theta > least_gap)) continue;
        sample(f, m, ritz, beta, 0.5 * (ritz[k].theta + ritz[k + 1].theta), &s);
        /* a filter is a peak at zero, which may stand in the middle of an indefinite spectrum */
        if (ritz[k].theta < -least_gap && ritz[k + 1].theta > least_gap)
            sample(f, m, ritz, beta, 0, &s);
    }
    if (high - ritz[m - 1].theta > least_gap) sample(f, m, ritz, beta, high, &s);
    return s;
}

/* Largest |f(lambda)| times the largest weight an unseen mode at lambda can have, lambda going from `end` outwards up
 * to `reach`, as far as f exceeds what it is on the Ritz values. */
static double hidden_error(const tw_spectral_function *f, int m, const tw_ritz *ritz, double spread,
                           double end, double reach)
{
    enum { PLACES = 8 };
    const double growth = 10;
    double worst = 0, known = 0;
    for (int k = 0; k < m; k++) known = fmax(known, fabs(ritz[k].value));
    for (int j = 1; j <= PLACES; j++) {
        double distance = reach * j * j / (PLACES * PLACES);
        double value = fabs(f->value(f->context, end + distance));
        double seen = m * acosh(1 + 2 * fabs(distance) / spread);
        if (isfinite(value) && value > growth * known)
            worst = fmax(worst, value / cosh(fmin(seen, 700)));
    }
    return worst;
}

/* Norm of f(T) e_1, and what a perturbation of T and of b by rounding does to it. */
static tw_chain_error size_of(const tw_spectral_function *f, int m, tw_ritz *ritz,
                              const tw_chain_range *range)
{
    double largest = fmax(fabs(ritz[0].theta), fabs(ritz[m - 1].theta)),
           nudge = 4 * DBL_EPSILON * largest;
    double norm = 0, change = 0;
    /* Rounding of b excites every mode there is. */
    double top =
        fmax(fabs(f->value(f->context, range->lowest)), fabs(f->value(f->context, range->highest)));
    for (int k = 0; k < m; k++) {
        ritz[k].value = f->value(f->context, ritz[k].theta);
        double moved = f->value(f->context, ritz[k].theta + nudge) - ritz[k].value,
               weight = ritz[k].first;
        norm += weight * ritz[k].value * weight * ritz[k].value;
        change += weight * moved * weight * moved;
        top = fmax(top, fabs(ritz[k].value));
    }
    return (tw_chain_error){.norm = sqrt(norm), .rounding = sqrt(change) + 2 * DBL_EPSILON * top};
}

/* The maximum of r counts with this weight against its mean square: true errors beyond the bound over this weight are
 * ruled out, and smooth functions are not over-resolved. */
static const double maximum_weight = 0.25;

/* Unseen modes count with this weight: the bound on them is a crude one. */
static const double hidden_weight = 1e-6;

static double sampled_error(const tw_spectral_function *f, int m, const tw_ritz *ritz, double beta,
                            const tw_chain_range *range, bool *noisy)
{
    samples s = sample_gaps(f, m, ritz, beta, range->lowest);
    *noisy = s.count == 0 || s.square <= 4 * s.noise;
    double error = s.count > 0 ? fmax(sqrt(s.square / s.count), maximum_weight * s.largest) : 0;
    double low = fmin(ritz[0].theta, range->lowest), high = ritz[m - 1].theta, spread = high - low;
    if (!(spread > 0)) return error;
    error = fmax(error, hidden_weight * hidden_error(f, m, ritz, spread, high, 0.5 * spread));
    /* A tangent that is barely indefinite hides no strongly negative modes. */
    double below = range->hidden_growth ? 0.5 * spread : fmin(0.5 * spread, -3 * range->lowest);
    if (below > 0)
        error = fmax(error, hidden_weight * hidden_error(f, m, ritz, spread, low, -below));
    return error;
}

tw_status tw_chain_estimate(const tw_chain *chain, int m, tw_chain_range *range, int count,
                            int stride, const tw_spectral_function *f, tw_chain_scratch *scratch,
                            tw_chain_error *errors)
{
    bool exact = chain->exhausted && m == chain->dimension, padded = false, noisy = false;
    tw_status status = tw_chain_decompose(chain, m, scratch);
    if (status == TW_OK) {
        range->lowest = fmin(range->lowest, scratch->ritz[0].theta);
        range->highest = fmax(range->highest, scratch->ritz[m - 1].theta);
    }
    for (int i = 0; i < count && status == TW_OK; i++) {
        const tw_spectral_function *fi = f + (size_t)i * (size_t)stride;
        errors[i] = (tw_chain_error){0};
        if (!fi->value) continue;
        tw_chain_error one = size_of(fi, m, scratch->ritz, range);
        if (!exact)
            one.error = sampled_error(fi, m, scratch->ritz, chain->beta[m - 1], range, &noisy);
        if (!exact && noisy) {
            if (!padded) status = decompose_padded(chain, m, scratch);
            padded = true;
            one.error =
                fmax(one.error, padded_error(fi, m + TW_CHAIN_PAD, scratch->d, scratch->rows));
        }
        errors[i] = (tw_chain_error){chain->norm * one.error, chain->norm * one.norm,
                                     chain->norm * one.rounding};
        if (!isfinite(errors[i].error) || !isfinite(errors[i].norm)) status = TW_NOT_FINITE;
    }
    return status;
}

double tw_chain_spread(const tw_chain *chain, int m)
{
    double low = 0, high = 0;
    for (int k = 0; k < m; k++) {
        double radius = (k > 0 ? chain->beta[k - 1] : 0) + (k < m - 1 ? chain->beta[k] : 0);
        low = fmin(low, chain->alpha[k] - radius);
        high = fmax(high, chain->alpha[k] + radius);
    }
    return high - low;
}

tw_status tw_chain_coefficients(const tw_chain *chain, int m, int count, int stride,
                                const tw_spectral_function *f, tw_chain_scratch *scratch,
                                int64_t row, double *coefficients)
{
    memcpy(scratch->d, chain->alpha, (size_t)m * sizeof(double));
    memcpy(scratch->e, chain->beta, (size_t)m * sizeof(double));
    tw_status status = tw_tridiagonal_eigen(m, scratch->d, scratch->e, scratch->Q, scratch->eigen);
    if (status) return status;
    const double *Q = scratch->Q;
    for (int i = 0; i < count; i++) {
        double *c = coefficients + i * row;
        const tw_spectral_function *fi = f + (size_t)i * (size_t)stride;
        memset(c, 0, (size_t)m * sizeof(double));
        if (!fi->value) continue;
        /* f(T) e_1 = Q f(Theta) Q^T e_1 */
        for (int k = 0; k < m; k++) {
            double weight = fi->value(fi->context, scratch->d[k]) * Q[(size_t)k * (size_t)m];
            for (int r = 0; r < m; r++) c[r] += weight * Q[(size_t)k * (size_t)m + (size_t)r];
        }
        for (int r = 0; r < m; r++) c[r] *= chain->norm * chain->scale[r];
    }
    return TW_OK;
}
