/* Functions of the space of shift-invert, and their errors, from the small matrix H
 * alone (spectral.h). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "linalg/dense.h"
#include "phi/spectral/spectral.h"

/* The maximum of r counts with this weight against its mean square, as in lanczos_chain.c. */
static const double maximum_weight = 0.25;

/* Gaps between the theta_k below this share of theta are not sampled. It is relative to theta,
 * because the stiff modes crowd near zero. */
static const double least_gap = 1e-9;

/* ---- decomposition ---- */

size_t tw_shift_invert_modes_scratch(int capacity)
{
    size_t c = (size_t)capacity;
    return 2 * c * c + c + 3 * TW_MAX_BLOCK * c + tw_dense_eigen_scratch(capacity);
}

void tw_shift_invert_modes_share_out(tw_shift_invert_modes *modes, int capacity, double *numbers)
{
    size_t c = (size_t)capacity;

    /* Two square arrays, one of eigenvalues, three per start vector, and scratch. */
    modes->U = numbers;
    modes->factor = modes->U + c * c;
    modes->theta = modes->factor + c * c;

    double *next = modes->theta + c;
    for (int j = 0; j < TW_MAX_BLOCK; j++) {
        modes->weight[j] = next;
        modes->rest[j] = next + c;
        modes->value[j] = next + 2 * c;
        next += 3 * c;
    }
    modes->eigen = next;
}

/* R_ls: the part of S q_l in the direction of the unprocessed vector s. */
static double rest_of(const tw_shift_invert_basis *basis, int l, int s)
{
    return basis->H[(size_t)l * (size_t)basis->capacity + (size_t)(basis->processed + s)];
}

/* lift = H^-1 R, by H's Cholesky factor. */
static tw_status lift_rest(const tw_shift_invert_basis *basis, tw_shift_invert_modes *modes,
                           double *const *lift)
{
    int p = modes->count;

    /* H = L L^T */
    memcpy(modes->factor, modes->U, (size_t)p * (size_t)p * sizeof *modes->U);
    tw_status status = tw_dense_cholesky(p, modes->factor);
    for (int s = 0; s < modes->residual && status == TW_OK; s++) {
        /* L^-T L^-1 R_s */
        for (int l = 0; l < p; l++) lift[s][l] = rest_of(basis, l, s);
        tw_dense_lower_solve(false, p, modes->factor, 1, lift[s]);
        tw_dense_lower_solve(true, p, modes->factor, 1, lift[s]);
    }

    return status;
}

/* U = H becomes (I + gamma T)^-1 = H - R (C^-1 + R^T H^-1 R)^-1 R^T. */
static tw_status make_galerkin(const tw_shift_invert_basis *basis, tw_shift_invert_modes *modes,
                               double *const *lift)
{
    int p = modes->count;
    int width = modes->residual;
    const tw_shift_invert_edge *edge = &basis->edge[basis->extensions - 1];
    double Z[TW_MAX_BLOCK * TW_MAX_BLOCK];
    double unused;
    TW_TRY(lift_rest(basis, modes, lift));

    /* Z = C^-1 */
    for (int s = 0; s < width; s++)
        for (int i = 0; i < width; i++) Z[s * width + i] = edge->rest[s][i];
    TW_TRY(tw_dense_spd_invert(width, Z, &unused));

    /* Z = (C^-1 + R^T H^-1 R)^-1 */
    for (int s = 0; s < width; s++)
        for (int i = 0; i < width; i++)
            for (int l = 0; l < p; l++) Z[s * width + i] += rest_of(basis, l, i) * lift[s][l];
    TW_TRY(tw_dense_spd_invert(width, Z, &unused));

    /* U -= R Z R^T */
    for (int l = 0; l < p; l++)
        for (int s = 0; s < width; s++) {
            double weight = 0;
            for (int i = 0; i < width; i++) weight += Z[s * width + i] * rest_of(basis, l, i);
            for (int i = 0; i < p; i++) modes->U[l * p + i] -= rest_of(basis, i, s) * weight;
        }

    return TW_OK;
}

/* The start vectors in terms of the eigenvectors, and R_k. `lift` is NULL unless Galerkin. */
static void resolve_modes(const tw_shift_invert_basis *basis, tw_shift_invert_modes *modes,
                          const double *const *lift)
{
    int p = modes->count;
    for (int k = 0; k < p; k++) {
        const double *u = modes->U + (size_t)k * (size_t)p;

        /* w_jk = u_k^T (coordinates of b_j) */
        for (int j = 0; j < basis->start_count; j++) {
            double sum = 0;
            for (int l = 0; l < TW_MAX_BLOCK && l < p; l++) sum += u[l] * basis->start[j][l];
            modes->weight[j][k] = sum * (basis->norm[j] / modes->unit);
        }

        /* R_k = R^T u_k, or theta_k R^T H^-1 u_k for Galerkin. */
        for (int s = 0; s < modes->residual; s++) {
            double sum = 0;
            for (int l = 0; l < p; l++)
                sum += (lift ? modes->theta[k] * lift[s][l] : rest_of(basis, l, s)) * u[l];
            modes->rest[s][k] = sum;
        }
    }
}

tw_status tw_shift_invert_decompose(const tw_shift_invert_basis *basis,
                                    tw_shift_invert_modes *modes)
{
    int p = basis->processed;
    int capacity = basis->capacity;
    double *const *lift = modes->value; /* unused until a function is examined */
    modes->count = p;
    modes->residual = basis->count - p;
    if (modes->residual > TW_MAX_BLOCK) modes->residual = TW_MAX_BLOCK;
    bool galerkin = basis->galerkin && modes->residual > 0;

    modes->unit = 0;
    for (int j = 0; j < basis->start_count; j++) modes->unit = fmax(modes->unit, basis->norm[j]);

    /* H is symmetric up to rounding. */
    for (int j = 0; j < p; j++)
        for (int i = 0; i < p; i++)
            modes->U[j * p + i] = 0.5 * (basis->H[j * capacity + i] + basis->H[i * capacity + j]);
    if (galerkin) TW_TRY(make_galerkin(basis, modes, lift));

    TW_TRY(tw_symmetric_eigen(p, modes->U, modes->theta, modes->eigen));
    resolve_modes(basis, modes, galerkin ? (const double *const *)lift : NULL);

    return TW_OK;
}

/* ---- samples of r(theta) ---- */

/* f~(theta) = f((1/theta - 1)/gamma), times 1/theta for smooth starts. Rounding may leave theta
 * at or below zero: those are the stiffest modes. A theta within rounding of 1 is a mode
 * without stiffness. */
static double value_at(const tw_shift_invert_basis *basis, const tw_spectral_function *f,
                       double theta)
{
    if (!f->value) return 0;

    double safe = fmax(theta, DBL_EPSILON);
    if (fabs(safe - 1) <= 16 * DBL_EPSILON) safe = 1;

    double value = f->value(f->context, (1 / safe - 1) / basis->gamma);
    return basis->smooth ? value / safe : value;
}

typedef struct samples {
    int count;
    double square;  /* sum |r|^2 */
    double largest; /* max |r| */
} samples;

/* Adds |r(theta)| to the samples. */
static void sample(const tw_shift_invert_basis *basis, const tw_shift_invert_modes *modes,
                   const tw_spectral_function *f, double theta, samples *s)
{
    /* f~_j(theta) */
    double here[TW_MAX_BLOCK];
    for (int j = 0; j < basis->start_count; j++) here[j] = value_at(basis, &f[j], theta);

    /* r = sum_k R_k sum_j w_jk (f~_j(theta) - f~_j(theta_k))/(theta - theta_k) */
    double r[TW_MAX_BLOCK] = {0};
    for (int k = 0; k < modes->count; k++) {
        double sum = 0;
        for (int j = 0; j < basis->start_count; j++)
            sum += modes->weight[j][k] * (here[j] - modes->value[j][k]);
        sum /= theta - modes->theta[k];
        for (int i = 0; i < modes->residual; i++) r[i] += sum * modes->rest[i][k];
    }

    double square = 0;
    for (int i = 0; i < modes->residual; i++) square += r[i] * r[i];
    s->count++;
    s->square += square;
    s->largest = fmax(s->largest, sqrt(square));
}

/* Samples r below the smallest theta, in every gap, and above the largest. */
static double sampled_error(const tw_shift_invert_basis *basis, const tw_shift_invert_modes *modes,
                            const tw_spectral_function *f)
{
    samples s = {0};
    int p = modes->count;
    const double *theta = modes->theta;
    if (theta[0] - basis->theta_low > least_gap * theta[0])
        sample(basis, modes, f, 0.5 * (basis->theta_low + theta[0]), &s);
    if (basis->grows && theta[0] - basis->theta_low > least_gap * theta[0])
        sample(basis, modes, f, basis->theta_low, &s);

    /* A filter is a peak at lambda = 0 (theta = 1), which may lie inside an indefinite spectrum. */
    for (int k = 0; k + 1 < p; k++) {
        if (!(theta[k + 1] - theta[k] > least_gap * theta[k + 1])) continue;
        sample(basis, modes, f, 0.5 * (theta[k] + theta[k + 1]), &s);
        if (theta[k] < 1 - least_gap && theta[k + 1] > 1 + least_gap)
            sample(basis, modes, f, 1, &s);
    }

    /* The upper end is theta = 1 (lambda = 0), or a residual above a theta that exceeds it. */
    double top = theta[p - 1];
    double residual = 0;
    for (int i = 0; i < modes->residual; i++) residual = hypot(residual, modes->rest[i][p - 1]);
    double above = top < 1 ? 1 : top + residual;
    if (above - top > least_gap * above) {
        sample(basis, modes, f, 0.5 * (top + above), &s);
        sample(basis, modes, f, above, &s);
    }

    if (s.count == 0) return 0;
    return fmax(sqrt(s.square / s.count), maximum_weight * s.largest);
}

/* ---- one output ---- */

/* The change of y_k by rounding. H is known to eps |H|. M + gamma K, and with it 1/theta, is
 * known to eps |M + gamma K|, whose size is 1/(smallest theta). Smooth starts hold nothing of
 * those modes. */
static double rounding_of(const tw_shift_invert_basis *basis, const tw_shift_invert_modes *modes,
                          const tw_spectral_function *f, int k)
{
    double theta = modes->theta[k];
    double step = 4 * DBL_EPSILON * fmax(modes->theta[modes->count - 1], 1);
    double off = basis->smooth ? 0 : DBL_EPSILON / fmax(fabs(modes->theta[0]), DBL_EPSILON);
    double below = fmin(theta - step, theta / (1 + fabs(theta) * off));

    /* The larger of the changes towards both sides. */
    double moved = 0;
    for (int j = 0; j < basis->start_count; j++) {
        double here = modes->value[j][k];
        double change = fmax(fabs(value_at(basis, &f[j], below) - here),
                             fabs(value_at(basis, &f[j], theta + step) - here));
        moved += change * fabs(modes->weight[j][k]);
    }

    return moved;
}

/* y = sum_j f~_j(theta) w_j: the result in terms of the eigenvectors of H. Returns its norm and its
 * change by rounding of H and b. */
static tw_shift_invert_error sum_values(const tw_shift_invert_basis *basis,
                                        tw_shift_invert_modes *modes, const tw_spectral_function *f,
                                        double *y)
{
    double norm = 0;
    double change = 0;
    double largest = 0;
    for (int k = 0; k < modes->count; k++) {
        /* Component k of the result. */
        y[k] = 0;
        for (int j = 0; j < basis->start_count; j++) {
            double value = value_at(basis, &f[j], modes->theta[k]);
            modes->value[j][k] = value;
            y[k] += value * modes->weight[j][k];
            largest = fmax(largest, fabs(value) * (basis->norm[j] / modes->unit));
        }

        /* Squares of the result and of its change. */
        double moved = rounding_of(basis, modes, f, k);
        norm += y[k] * y[k];
        change += moved * moved;
    }

    /* Rounding of b excites the modes that grow fastest, too. */
    for (int j = 0; basis->grows && j < basis->start_count; j++)
        largest = fmax(largest, fabs(value_at(basis, &f[j], basis->theta_low)) *
                                    (basis->norm[j] / modes->unit));

    return (tw_shift_invert_error){.norm = sqrt(norm),
                                   .rounding = sqrt(change) + 2 * DBL_EPSILON * largest};
}

tw_status tw_shift_invert_examine(const tw_shift_invert_basis *basis, tw_shift_invert_modes *modes,
                                  const tw_spectral_function *f, const tw_spectral_function *weight,
                                  double *coefficients, tw_shift_invert_error *error)
{
    int p = modes->count;
    double y[TW_SHIFT_INVERT_MAX];
    *error = sum_values(basis, modes, f, y);

    /* The coefficients are those of f; its error may be measured with a weight. */
    tw_weighted_function pair[TW_MAX_BLOCK];
    tw_spectral_function weighted[TW_MAX_BLOCK];
    double weighted_y[TW_SHIFT_INVERT_MAX];
    if (weight) {
        for (int j = 0; j < basis->start_count; j++)
            weighted[j] = tw_weigh_function(weight, &f[j], &pair[j]);
        f = weighted;
        *error = sum_values(basis, modes, f, weighted_y);
    }
    if (!tw_shift_invert_is_invariant(basis)) error->error = sampled_error(basis, modes, f);

    /* Lengths were relative to the largest start vector. */
    error->error *= modes->unit;
    error->norm *= modes->unit;
    error->rounding *= modes->unit;
    for (int k = 0; k < p; k++) y[k] *= modes->unit;
    tw_dense_apply(false, p, p, modes->U, y, coefficients);

    bool finite = isfinite(error->error) && isfinite(error->norm) && isfinite(error->rounding);

    return finite ? TW_OK : TW_NOT_FINITE;
}

double tw_shift_invert_weighted_norm(const tw_shift_invert_basis *basis,
                                     const tw_shift_invert_modes *modes,
                                     const tw_spectral_function *weight, const double *change,
                                     double *scratch)
{
    int p = modes->count;
    tw_dense_apply(true, p, p, modes->U, change, scratch);

    double square = 0;
    for (int k = 0; k < p; k++) {
        double safe = fmax(modes->theta[k], DBL_EPSILON);
        double part = scratch[k] *
                      (weight ? weight->value(weight->context, (1 / safe - 1) / basis->gamma) : 1);
        square += part * part;
    }

    return sqrt(square);
}
