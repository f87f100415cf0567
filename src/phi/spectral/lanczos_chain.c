/* Functions of the small tridiagonal matrix T_m that a Lanczos chain leaves: coefficients, and an
 * estimate of their error (spectral.h, tw_chain_estimate, says how). */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/dense.h"
#include "phi/spectral/spectral.h"

/* The maximum of r counts with this weight against its mean square. True errors above the estimate
 * divided by this weight are ruled out, and smooth functions are not over-resolved. */
static const double maximum_weight = 0.25;

/* Unseen modes count with this weight, because the bound on them is a crude one. */
static const double hidden_weight = 1e-6;

/* Values of a function this much above those on the Ritz values count as growth. */
static const double notable_growth = 10;

/* Gaps between Ritz values below this share of the spectrum are not sampled. Copies of one
 * eigenvalue, which appear when orthogonality is lost, leave no gap. */
static const double least_relative_gap = 1e-10;

/* ---- decompositions ---- */

static int ascending(const void *a, const void *b)
{
    double x = ((const tw_ritz *)a)->theta;
    double y = ((const tw_ritz *)b)->theta;
    return (x > y) - (x < y);
}

tw_status tw_chain_decompose(const tw_chain *chain, int m, tw_chain_scratch *scratch)
{
    /* Rows 1 and m of the eigenvectors of T_m. */
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

/* d, e = T_m continued by TW_CHAIN_PAD rows: alpha is the mean of the last few, beta the largest of
 * the last few, which is the pessimistic side. */
static void continue_chain(const tw_chain *chain, int m, double *d, double *e)
{
    memcpy(d, chain->alpha, (size_t)m * sizeof(double));
    memcpy(e, chain->beta, (size_t)m * sizeof(double));
    int recent = m < TW_CHAIN_PAD ? m : TW_CHAIN_PAD;
    double alpha = 0;
    double beta = 0;
    for (int k = m - recent; k < m; k++) {
        alpha += chain->alpha[k] / recent;
        beta = fmax(beta, chain->beta[k]);
    }
    for (int k = m; k < m + TW_CHAIN_PAD; k++) {
        d[k] = alpha;
        e[k] = beta;
    }
}

/* Eigenvalues of the continued chain in scratch->d, rows 1 and m+1.. of its eigenvectors
 * in scratch->rows. */
static tw_status decompose_padded(const tw_chain *chain, int m, tw_chain_scratch *scratch)
{
    int n = m + TW_CHAIN_PAD;
    int rows = 1 + TW_CHAIN_PAD;
    continue_chain(chain, m, scratch->d, scratch->e);
    memset(scratch->rows, 0, (size_t)rows * (size_t)n * sizeof(double));
    scratch->rows[0] = 1;
    for (int r = 0; r < TW_CHAIN_PAD; r++)
        scratch->rows[(size_t)(m + r) * (size_t)rows + (size_t)(1 + r)] = 1;

    return tw_tridiagonal_rows(n, scratch->d, scratch->e, rows, scratch->rows);
}

/* |f(T~) e_1| in the rows by which T_m was continued to T~. */
static double padded_error(const tw_spectral_function *f, int n, const double *d, const double *Z)
{
    enum { ROWS = 1 + TW_CHAIN_PAD };
    double added[TW_CHAIN_PAD] = {0};
    for (int k = 0; k < n; k++) {
        const double *z = Z + (size_t)k * ROWS;
        double value = f->value(f->context, d[k]);
        for (int r = 0; r < TW_CHAIN_PAD; r++) added[r] += z[1 + r] * z[0] * value;
    }

    double sum = 0;
    for (int r = 0; r < TW_CHAIN_PAD; r++) sum += added[r] * added[r];

    return sqrt(sum);
}

/* ---- samples of r(lambda) ---- */

typedef struct samples {
    int count;
    double square;  /* sum r^2 */
    double largest; /* max |r| */
    double noise;   /* sum of (rounding error of r)^2 */
} samples;

static void sample(const tw_spectral_function *f, int m, const tw_ritz *ritz, double beta,
                   double lambda, samples *s)
{
    /* r(lambda) = beta_m sum_k first_k last_k (f(lambda) - f(theta_k))/(lambda - theta_k) */
    double r = 0;
    double noise = 0;
    double value = f->value(f->context, lambda);
    for (int k = 0; k < m; k++) {
        double weight = ritz[k].first * ritz[k].last / (lambda - ritz[k].theta);
        r += weight * (value - ritz[k].value);
        noise += fabs(weight) * (fabs(value) + fabs(ritz[k].value));
    }

    /* The rounding error of r does not count as an error of f. */
    noise *= beta * DBL_EPSILON;
    r = fmax(fabs(beta * r) - noise, 0);
    s->count++;
    s->square += r * r;
    s->noise += noise * noise;
    s->largest = fmax(s->largest, r);
}

/* The largest |f| on the Ritz values. */
static double largest_value(int m, const tw_ritz *ritz)
{
    double largest = 0;
    for (int k = 0; k < m; k++) largest = fmax(largest, fabs(ritz[k].value));
    return largest;
}

/* Samples zero (or what lies a residual below a negative end), every gap between Ritz values, the
 * upper end, and the known end of the spectrum if f grows towards it. */
static samples sample_gaps(const tw_spectral_function *f, int m, const tw_ritz *ritz, double beta,
                           const tw_chain_range *range)
{
    samples s = {0};
    double low = ritz[0].theta < 0 ? ritz[0].theta - beta * fabs(ritz[0].last) : 0;
    low = fmin(low, range->lowest);
    double high = ritz[m - 1].theta + beta * fabs(ritz[m - 1].last);
    double least_gap = least_relative_gap * (high - low);

    /* Below the smallest Ritz value. */
    if (ritz[0].theta - low > least_gap) {
        sample(f, m, ritz, beta, low, &s);
        sample(f, m, ritz, beta, 0.5 * (low + ritz[0].theta), &s);
    }

    /* In the gaps. A filter is a peak at zero, which may lie inside an indefinite spectrum. */
    for (int k = 0; k + 1 < m; k++) {
        if (!(ritz[k + 1].theta - ritz[k].theta > least_gap)) continue;
        sample(f, m, ritz, beta, 0.5 * (ritz[k].theta + ritz[k + 1].theta), &s);
        if (ritz[k].theta < -least_gap && ritz[k + 1].theta > least_gap)
            sample(f, m, ritz, beta, 0, &s);
    }

    if (high - ritz[m - 1].theta > least_gap) sample(f, m, ritz, beta, high, &s);

    /* A smooth start vector hides the stiff modes, however fast they grow. */
    if (range->highest - high > least_gap &&
        fabs(f->value(f->context, range->highest)) > notable_growth * largest_value(m, ritz))
        sample(f, m, ritz, beta, range->highest, &s);

    return s;
}

/* The largest |f(lambda)| times the largest weight that an unseen mode at lambda can have. lambda
 * goes from `end` outwards up to `reach`. Only values well above those on the Ritz values count. */
static double hidden_error(const tw_spectral_function *f, int m, const tw_ritz *ritz, double spread,
                           double end, double reach)
{
    enum { PLACES = 8 };         /* where f is looked at */
    const double overflow = 700; /* cosh of more is no double */
    double known = largest_value(m, ritz);

    /* 1/T_m(1 + 2 distance/spread) = 1/cosh(m acosh(1 + 2 distance/spread)) */
    double worst = 0;
    for (int j = 1; j <= PLACES; j++) {
        double distance = reach * j * j / (PLACES * PLACES);
        double value = fabs(f->value(f->context, end + distance));
        double seen = m * acosh(1 + 2 * fabs(distance) / spread);
        if (isfinite(value) && value > notable_growth * known)
            worst = fmax(worst, value / cosh(fmin(seen, overflow)));
    }

    return worst;
}

/* The estimate from the samples and from hidden modes. *noisy: rounding hides r. */
static double sampled_error(const tw_spectral_function *f, int m, const tw_ritz *ritz, double beta,
                            const tw_chain_range *range, bool *noisy)
{
    /* Mean square of r, or a fraction of its maximum. */
    samples s = sample_gaps(f, m, ritz, beta, range);
    *noisy = s.count == 0 || s.square <= 4 * s.noise;
    double error = 0;
    if (s.count > 0) error = fmax(sqrt(s.square / s.count), maximum_weight * s.largest);

    double low = fmin(ritz[0].theta, range->lowest);
    double high = ritz[m - 1].theta;
    double spread = high - low;
    if (!(spread > 0)) return error;

    /* Modes that hide above the largest Ritz value, up to half the spectrum further. */
    error = fmax(error, hidden_weight * hidden_error(f, m, ritz, spread, high, 0.5 * spread));

    /* Modes that hide below. A tangent that is barely indefinite hides no strongly
     * negative ones. */
    double below = range->hidden_growth ? 0.5 * spread : fmin(0.5 * spread, -3 * range->lowest);
    if (below > 0)
        error = fmax(error, hidden_weight * hidden_error(f, m, ritz, spread, low, -below));

    return error;
}

/* ---- errors and coefficients ---- */

/* The norm of f(T) e_1, and its change when rounding perturbs T and b: that of doubles, or that of
 * rough products. Fills the values of f. */
static tw_chain_error size_of(const tw_spectral_function *f, int m, tw_ritz *ritz, double rough,
                              const tw_chain_range *range)
{
    double largest = fmax(fabs(ritz[0].theta), fabs(ritz[m - 1].theta));
    double nudge = (4 * DBL_EPSILON + rough) * largest;

    /* Rounding of b excites every mode there is. */
    double top =
        fmax(fabs(f->value(f->context, range->lowest)), fabs(f->value(f->context, range->highest)));

    double norm = 0;
    double change = 0;
    for (int k = 0; k < m; k++) {
        ritz[k].value = f->value(f->context, ritz[k].theta);
        double moved = f->value(f->context, ritz[k].theta + nudge) - ritz[k].value;
        double weight = ritz[k].first;
        norm += weight * ritz[k].value * weight * ritz[k].value;
        change += weight * moved * weight * moved;
        top = fmax(top, fabs(ritz[k].value));
    }

    return (tw_chain_error){.norm = sqrt(norm),
                            .rounding = sqrt(change) + (2 * DBL_EPSILON + rough) * top};
}

tw_status tw_chain_estimate(const tw_chain *chain, int m, tw_chain_range *range,
                            tw_function_list functions, tw_chain_scratch *scratch,
                            tw_chain_error *errors)
{
    bool exact = chain->exhausted && m == chain->dimension;
    bool padded = false;
    bool noisy = false;

    /* Ritz values; what they say of the range of the spectrum serves the other chains too. */
    tw_status status = tw_chain_decompose(chain, m, scratch);
    if (status == TW_OK) {
        range->lowest = fmin(range->lowest, scratch->ritz[0].theta);
        range->highest = fmax(range->highest, scratch->ritz[m - 1].theta);
    }

    for (int i = 0; i < functions.count && status == TW_OK; i++) {
        const tw_spectral_function *f = functions.first + (size_t)i * (size_t)functions.stride;
        errors[i] = (tw_chain_error){0};
        if (!f->value) continue;

        /* Steps 1 and 2 of the estimate. */
        tw_chain_error one = size_of(f, m, scratch->ritz, chain->rough, range);
        if (!exact)
            one.error = sampled_error(f, m, scratch->ritz, chain->beta[m - 1], range, &noisy);

        /* Step 3, where rounding hides r. One decomposition serves all functions. */
        if (!exact && noisy) {
            if (!padded) status = decompose_padded(chain, m, scratch);
            padded = true;
            one.error =
                fmax(one.error, padded_error(f, m + TW_CHAIN_PAD, scratch->d, scratch->rows));
        }

        errors[i] = (tw_chain_error){chain->norm * one.error, chain->norm * one.norm,
                                     chain->norm * one.rounding};
        if (!isfinite(errors[i].error) || !isfinite(errors[i].norm)) status = TW_NOT_FINITE;
    }

    return status;
}

double tw_chain_spread(const tw_chain *chain, int m)
{
    double low = 0;
    double high = 0;
    for (int k = 0; k < m; k++) {
        double radius = (k > 0 ? chain->beta[k - 1] : 0) + (k < m - 1 ? chain->beta[k] : 0);
        low = fmin(low, chain->alpha[k] - radius);
        high = fmax(high, chain->alpha[k] + radius);
    }

    return high - low;
}

tw_status tw_chain_coefficients(const tw_chain *chain, tw_function_list functions,
                                tw_chain_scratch *scratch, int64_t row, double *coefficients)
{
    /* T = Q Theta Q^T */
    int m = chain->dimension;
    memcpy(scratch->d, chain->alpha, (size_t)m * sizeof(double));
    memcpy(scratch->e, chain->beta, (size_t)m * sizeof(double));
    tw_status status = tw_tridiagonal_eigen(m, scratch->d, scratch->e, scratch->Q, scratch->eigen);
    if (status) return status;

    const double *Q = scratch->Q;
    for (int i = 0; i < functions.count; i++) {
        double *c = coefficients + i * row;
        const tw_spectral_function *f = functions.first + (size_t)i * (size_t)functions.stride;
        memset(c, 0, (size_t)m * sizeof(double));
        if (!f->value) continue;

        /* f(T) e_1 = Q f(Theta) Q^T e_1 */
        for (int k = 0; k < m; k++) {
            double weight = f->value(f->context, scratch->d[k]) * Q[(size_t)k * (size_t)m];
            for (int r = 0; r < m; r++) c[r] += weight * Q[(size_t)k * (size_t)m + (size_t)r];
        }

        /* The vectors are not normalised: q_r = scale_r vector_r. */
        for (int r = 0; r < m; r++) c[r] *= chain->norm * chain->scale[r];
    }

    return TW_OK;
}
