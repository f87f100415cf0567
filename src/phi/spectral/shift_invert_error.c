#include "phi/spectral/shift_invert_error.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "linalg/dense.h"
#include "phi/spectral/displacement_norm.h"

/* The maximum of r counts with this weight against its mean square (spectral_tridiagonal.c). */
static const double maximum_weight = 0.25;

size_t tw_rational_modes_scratch(int capacity)
{
    size_t c = (size_t)capacity;
    return 2 * c * c + c + 3 * TW_MAX_BLOCK * c + tw_dense_eigen_scratch(capacity);
}

void tw_rational_modes_share_out(tw_rational_modes *modes, int capacity, double *numbers)
{
    size_t c = (size_t)capacity;
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

/* R_ls: what S leaves of the processed vector l in the direction of the unprocessed one s. */
static double left_over(const tw_rational_basis *basis, int l, int s)
{
    return basis->H[(size_t)l * (size_t)basis->capacity + (size_t)(basis->processed + s)];
}

/* lift = H^-1 R, by H's Cholesky factor. */
static tw_status lift_rest(const tw_rational_basis *basis, tw_rational_modes *modes,
                           double *const *lift)
{
    int p = modes->count;
    memcpy(modes->factor, modes->U, (size_t)p * (size_t)p * sizeof *modes->U);
    tw_status status = tw_dense_cholesky(p, modes->factor);
    for (int s = 0; s < modes->residual && status == TW_OK; s++) {
        for (int l = 0; l < p; l++) lift[s][l] = left_over(basis, l, s);
        tw_dense_lower_solve(false, p, modes->factor, 1, lift[s]);
        tw_dense_lower_solve(true, p, modes->factor, 1, lift[s]);
    }
    return status;
}

/* U = H becomes (I + gamma T)^-1 = H - R (C^-1 + R^T H^-1 R)^-1 R^T. */
static tw_status make_galerkin(const tw_rational_basis *basis, tw_rational_modes *modes,
                               double *const *lift)
{
    int p = modes->count, width = modes->residual;
    const tw_rational_edge *edge = &basis->edge[basis->extensions - 1];
    double Z[TW_MAX_BLOCK * TW_MAX_BLOCK], unused;
    tw_status status = lift_rest(basis, modes, lift);
    for (int s = 0; s < width; s++)
        for (int i = 0; i < width; i++) Z[s * width + i] = edge->rest[s][i];
    if (status == TW_OK) status = tw_dense_spd_invert(width, Z, &unused);
    for (int s = 0; s < width && status == TW_OK; s++)
        for (int i = 0; i < width; i++)
            for (int l = 0; l < p; l++) Z[s * width + i] += left_over(basis, l, i) * lift[s][l];
    if (status == TW_OK) status = tw_dense_spd_invert(width, Z, &unused);
    for (int l = 0; l < p && status == TW_OK; l++)
        for (int s = 0; s < width; s++) {
            double weight = 0;
            for (int i = 0; i < width; i++) weight += Z[s * width + i] * left_over(basis, l, i);
            for (int i = 0; i < p; i++) modes->U[l * p + i] -= left_over(basis, i, s) * weight;
        }
    return status;
}

/* The start vectors in the eigenvectors, and R_k. */
static void resolve_modes(const tw_rational_basis *basis, tw_rational_modes *modes,
                          const double *const *lift)
{
    int p = modes->count;
    for (int k = 0; k < p; k++) {
        const double *u = modes->U + (size_t)k * (size_t)p;
        for (int j = 0; j < basis->start_count; j++) {
            double sum = 0;
            for (int l = 0; l < TW_MAX_BLOCK && l < p; l++) sum += u[l] * basis->start[j][l];
            modes->weight[j][k] = sum * (basis->norm[j] / modes->unit);
        }
        for (int s = 0; s < modes->residual; s++) {
            double sum = 0;
            for (int l = 0; l < p; l++)
                sum += (lift ? modes->theta[k] * lift[s][l] : left_over(basis, l, s)) * u[l];
            modes->rest[s][k] = sum;
        }
    }
}

tw_status tw_rational_decompose(const tw_rational_basis *basis, tw_rational_modes *modes)
{
    int p = basis->processed, capacity = basis->capacity;
    double *const *lift = modes->value; /* free until a function is looked at */
    modes->count = p;
    modes->residual = basis->count - p < TW_MAX_BLOCK ? basis->count - p : TW_MAX_BLOCK;
    bool galerkin = basis->galerkin && modes->residual > 0;
    modes->unit = 0;
    for (int j = 0; j < basis->start_count; j++) modes->unit = fmax(modes->unit, basis->norm[j]);
    /* symmetric up to rounding */
    for (int j = 0; j < p; j++)
        for (int i = 0; i < p; i++)
            modes->U[j * p + i] = 0.5 * (basis->H[j * capacity + i] + basis->H[i * capacity + j]);
    tw_status status = galerkin ? make_galerkin(basis, modes, lift) : TW_OK;
    if (status == TW_OK) status = tw_symmetric_eigen(p, modes->U, modes->theta, modes->eigen);
    if (status == TW_OK) resolve_modes(basis, modes, galerkin ? (const double *const *)lift : NULL);
    return status;
}

/* f((1/theta - 1)/gamma), times 1/theta for smoothed starts. Rounding may leave theta at or below zero: those are the
 * stiffest modes. A theta that is 1 but for rounding is a mode without stiffness. */
static double value_at(const tw_rational_basis *basis, const tw_spectral_function *f, double theta)
{
    if (!f->value) return 0;
    double safe = fmax(theta, DBL_EPSILON);
    if (fabs(safe - 1) <= 16 * DBL_EPSILON) safe = 1;
    double value = f->value(f->context, (1 / safe - 1) / basis->gamma);
    return basis->smooth ? value / safe : value;
}

typedef struct samples {
    int count;
    double square, largest;
} samples;

/* |r(theta)| */
static void sample(const tw_rational_basis *basis, const tw_rational_modes *modes,
                   const tw_spectral_function *f, double theta, samples *s)
{
    double r[TW_MAX_BLOCK] = {0}, here[TW_MAX_BLOCK], square = 0;
    for (int j = 0; j < basis->start_count; j++) here[j] = value_at(basis, &f[j], theta);
    for (int k = 0; k < modes->count; k++) {
        double sum = 0;
        for (int j = 0; j < basis->start_count; j++)
            sum += modes->weight[j][k] * (here[j] - modes->value[j][k]);
        sum /= theta - modes->theta[k];
        for (int i = 0; i < modes->residual; i++) r[i] += sum * modes->rest[i][k];
    }
    for (int i = 0; i < modes->residual; i++) square += r[i] * r[i];
    s->count++;
    s->square += square;
    s->largest = fmax(s->largest, sqrt(square));
}

static double sampled_error(const tw_rational_basis *basis, const tw_rational_modes *modes,
                            const tw_spectral_function *f)
{
    samples s = {0};
    int p = modes->count;
    const double *theta = modes->theta;
    double top = theta[p - 1], residual = 0,
           least_gap = 1e-9; /* relative: stiff modes crowd near zero */
    for (int i = 0; i < modes->residual; i++) residual = hypot(residual, modes->rest[i][p - 1]);
    if (theta[0] - basis->theta_low > least_gap * theta[0])
        sample(basis, modes, f, 0.5 * (basis->theta_low + theta[0]), &s);
    for (int k = 0; k + 1 < p; k++) {
        if (!(theta[k + 1] - theta[k] > least_gap * theta[k + 1])) continue;
        sample(basis, modes, f, 0.5 * (theta[k] + theta[k + 1]), &s);
        /* a filter is a peak at lambda = 0, which may stand in the middle of an indefinite spectrum */
        if (theta[k] < 1 - least_gap && theta[k + 1] > 1 + least_gap)
            sample(basis, modes, f, 1, &s);
    }
    double above = top < 1 ? 1 : top + residual;
    if (above - top > least_gap * above) {
        sample(basis, modes, f, 0.5 * (top + above), &s);
        sample(basis, modes, f, above, &s);
    }
    return s.count > 0 ? fmax(sqrt(s.square / s.count), maximum_weight * s.largest) : 0;
}

/* What rounding does to output y_k: H is known to eps |H|, and M + gamma K, hence 1/theta, to eps |M + gamma K|, of
 * which the smallest theta tells (smoothed starts carry nothing of those modes). */
static double rounding_of(const tw_rational_basis *basis, const tw_rational_modes *modes,
                          const tw_spectral_function *f, int k)
{
    double theta = modes->theta[k],
           step = 4 * DBL_EPSILON * fmax(modes->theta[modes->count - 1], 1);
    double off = basis->smooth ? 0 : DBL_EPSILON / fmax(fabs(modes->theta[0]), DBL_EPSILON);
    double below = fmin(theta - step, theta / (1 + fabs(theta) * off)), moved = 0;
    for (int j = 0; j < basis->start_count; j++) {
        double here = modes->value[j][k];
        double change = fmax(fabs(value_at(basis, &f[j], below) - here),
                             fabs(value_at(basis, &f[j], theta + step) - here));
        moved += change * fabs(modes->weight[j][k]);
    }
    return moved;
}

/* y = sum_j f~_j(theta) w_j: the result in the eigenvectors of H; its norm and what rounding of H and b does to it. */
static tw_rational_error sum_values(const tw_rational_basis *basis, tw_rational_modes *modes,
                                    const tw_spectral_function *f, double *y)
{
    double norm = 0, change = 0, largest = 0;
    for (int k = 0; k < modes->count; k++) {
        y[k] = 0;
        for (int j = 0; j < basis->start_count; j++) {
            double value = modes->value[j][k] = value_at(basis, &f[j], modes->theta[k]);
            y[k] += value * modes->weight[j][k];
            largest = fmax(largest, fabs(value) * (basis->norm[j] / modes->unit));
        }
        double moved = rounding_of(basis, modes, f, k);
        norm += y[k] * y[k];
        change += moved * moved;
    }
    return (tw_rational_error){.norm = sqrt(norm),
                               .rounding = sqrt(change) + 2 * DBL_EPSILON * largest};
}

tw_status tw_rational_look(const tw_rational_basis *basis, tw_rational_modes *modes,
                           const tw_spectral_function *f, const tw_spectral_function *weight,
                           double *coefficients, tw_rational_error *error)
{
    double y[TW_RATIONAL_MAX], weighted_y[TW_RATIONAL_MAX];
    tw_weighted_function pair[TW_MAX_BLOCK];
    tw_spectral_function weighted[TW_MAX_BLOCK];
    int p = modes->count;
    *error = sum_values(basis, modes, f, y);
    if (weight) {
        for (int j = 0; j < basis->start_count; j++)
            weighted[j] = tw_weigh_function(weight, &f[j], &pair[j]);
        f = weighted;
        *error = sum_values(basis, modes, f, weighted_y);
    }
    if (!tw_rational_is_invariant(basis)) error->error = sampled_error(basis, modes, f);
    error->error *= modes->unit;
    error->norm *= modes->unit;
    error->rounding *= modes->unit;
    for (int k = 0; k < p; k++) y[k] *= modes->unit;
    tw_dense_apply(false, p, p, modes->U, y, coefficients);
    return isfinite(error->error) && isfinite(error->norm) && isfinite(error->rounding)
               ? TW_OK
               : TW_NOT_FINITE;
}

double tw_rational_weighted_norm(const tw_rational_basis *basis, const tw_rational_modes *modes,
                                 const tw_spectral_function *weight, const double *change,
                                 double *scratch)
{
    int p = modes->count;
    double square = 0;
    tw_dense_apply(true, p, p, modes->U, change, scratch);
    for (int k = 0; k < p; k++) {
        double safe = fmax(modes->theta[k], DBL_EPSILON);
        double part = scratch[k] *
                      (weight ? weight->value(weight->context, (1 / safe - 1) / basis->gamma) : 1);
        square += part * part;
    }
    return sqrt(square);
}
