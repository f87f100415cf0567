#include "phi/spectral/shift_invert_basis.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#include "linalg/vector.h"

/* A vector that keeps less than this share of its length after orthogonalisation adds nothing but rounding. */
static const double new_share = 1e-13;

/* image = (M + gamma K)^-1 M in. */
static tw_status apply_inverse(const tw_second_order *op, const tw_mass_metric *metric, int count,
                               const double *in, tw_rational_scratch *scratch, double *image,
                               int64_t *solves)
{
    tw_status status = tw_mass_multiply(metric, count, in, scratch->force);
    if (status == TW_OK)
        status = op->shifted->solve(op->shifted->context, count, scratch->force, image);
    *solves += count;
    return status;
}

/* |x|_M of a vector of moderate size; weighed = M x. */
static tw_status length(const tw_mass_metric *metric, const double *x, double *weighed,
                        double *norm)
{
    double square = 0;
    tw_status status = tw_mass_multiply(metric, 1, x, weighed);
    if (status == TW_OK) status = tw_vector_dot(&metric->space, x, weighed, &square);
    *norm = sqrt(fmax(square, 0));
    return status == TW_OK && !isfinite(square) ? TW_NOT_FINITE : status;
}

/* x -= Q (Q^T M x), twice; column += the coefficients; what is left becomes the next vector of Q if it is new, and its
 * length is put below the coefficients. */
static tw_status take_in(tw_rational_basis *basis, const tw_mass_metric *metric, double *x,
                         double *weighed, double *column)
{
    double before = 0, after = 0, part[TW_RATIONAL_MAX];
    tw_status status = length(metric, x, weighed, &before);
    for (int pass = 0; pass < 2 && status == TW_OK; pass++) {
        if (pass > 0) status = tw_mass_multiply(metric, 1, x, weighed);
        if (status == TW_OK)
            status = tw_vector_dots(&metric->space, basis->count, basis->Q, weighed, part);
        for (int i = 0; i < basis->count; i++) {
            column[i] += part[i];
            part[i] = -part[i];
        }
        tw_vector_add_combination(basis->size, basis->count, basis->Q, part, x);
    }
    if (status == TW_OK) status = length(metric, x, weighed, &after);
    if (status || !(after > new_share * before) || after < DBL_MIN) return status;
    if (basis->count == basis->capacity) return TW_NOT_CONVERGED;
    column[basis->count] = after;
    double *q = basis->Q + basis->count * basis->size;
    tw_vector_copy(basis->size, x, q);
    tw_vector_scale(basis->size, 1 / after, q);
    basis->count++;
    return TW_OK;
}

/* image column `to` = b/|b|_M, the division in two halves because 1/|b| may overflow. */
static void place_start(const double *b, double norm, int64_t n, double *to)
{
    double half = 1 / sqrt(norm);
    tw_vector_copy(n, b, to);
    tw_vector_scale(n, half, to);
    tw_vector_scale(n, half, to);
}

/* The start vectors that are not zero, normalised, into scratch->image; their numbers into `number`. */
static tw_status gather_starts(tw_rational_basis *basis, const tw_mass_metric *metric,
                               const double *const *starts, tw_rational_scratch *scratch,
                               int *number)
{
    for (int j = 0; j < basis->start_count; j++) {
        basis->norm[j] = 0;
        for (int i = 0; i < TW_MAX_BLOCK; i++) basis->start[j][i] = 0;
        if (!starts[j]) continue;
        tw_status status = tw_mass_norm(metric, starts[j], scratch->weighed, &basis->norm[j]);
        if (status) return status;
        if (!(basis->norm[j] > 0)) continue;
        place_start(starts[j], basis->norm[j], basis->size,
                    scratch->image + basis->active * basis->size);
        number[basis->active++] = j;
    }
    return TW_OK;
}

tw_status tw_rational_begin(tw_rational_basis *basis, const tw_second_order *op, int start_count,
                            const double *const *starts, double gamma, bool smooth,
                            tw_rational_scratch *scratch, int64_t *solves)
{
    tw_mass_metric metric = tw_mass_metric_of(op);
    int number[TW_MAX_BLOCK];
    basis->count = basis->processed = basis->active = 0;
    basis->start_count = start_count;
    basis->gamma = gamma;
    basis->theta_low = op->eigenvalue_max > 0 ? 1 / (1 + gamma * op->eigenvalue_max) : 0;
    basis->smooth = smooth;
    basis->extensions = 0;
    tw_status status = gather_starts(basis, &metric, starts, scratch, number);
    if (status == TW_OK && smooth && basis->active > 0)
        status = apply_inverse(op, &metric, basis->active, scratch->image, scratch, scratch->image,
                               solves);
    for (int c = 0; c < basis->active && status == TW_OK; c++)
        status = take_in(basis, &metric, scratch->image + c * basis->size, scratch->weighed,
                         basis->start[number[c]]);
    return status;
}

tw_status tw_rational_extend(tw_rational_basis *basis, const tw_second_order *op,
                             tw_rational_scratch *scratch, int64_t *solves)
{
    tw_mass_metric metric = tw_mass_metric_of(op);
    int first = basis->processed, width = basis->count - first;
    if (width > TW_MAX_BLOCK) width = TW_MAX_BLOCK;
    tw_status status = TW_OK;
    if (width > 0)
        status = apply_inverse(op, &metric, width, basis->Q + first * basis->size, scratch,
                               scratch->image, solves);
    for (int j = 0; j < width && status == TW_OK; j++) {
        double *column = basis->H + (size_t)(first + j) * (size_t)basis->capacity;
        for (int i = 0; i < basis->capacity; i++) column[i] = 0;
        status =
            take_in(basis, &metric, scratch->image + j * basis->size, scratch->weighed, column);
        if (status == TW_OK) basis->processed++;
    }
    if (status == TW_OK && width > 0)
        basis->edge[basis->extensions++] =
            (tw_rational_edge){.processed = basis->processed, .count = basis->count};
    return status;
}

tw_status tw_rational_measure_rest(tw_rational_basis *basis, const tw_second_order *op,
                                   tw_rational_scratch *scratch, int64_t *products)
{
    const tw_operator *K = &op->stiffness;
    tw_rational_edge *edge = &basis->edge[basis->extensions - 1];
    int width = basis->count - basis->processed;
    const double *q = basis->Q + basis->processed * basis->size;
    if (width == 0) return TW_OK;
    tw_status status = K->apply(K->context, width, q, scratch->image);
    *products += width;
    for (int j = 0; j < width && status == TW_OK; j++) {
        status =
            tw_vector_dots(&K->space, width, q, scratch->image + j * basis->size, edge->rest[j]);
        for (int i = 0; i < width; i++)
            edge->rest[j][i] = basis->gamma * edge->rest[j][i] + (i == j ? 1 : 0);
    }
    return status;
}

tw_rational_basis tw_rational_past(const tw_rational_basis *basis, int ago)
{
    tw_rational_basis past = *basis;
    past.extensions = basis->extensions > ago ? basis->extensions - ago : 0;
    past.processed = past.extensions > 0 ? past.edge[past.extensions - 1].processed : 0;
    past.count = past.extensions > 0 ? past.edge[past.extensions - 1].count : 0;
    return past;
}
