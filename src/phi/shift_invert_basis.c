#include "phi/shift_invert_basis.h"

#include <float.h>
#include <math.h>

#include "linalg/vector.h"

/* A vector that keeps less than this share of its length after orthogonalisation adds nothing but rounding. */
static const double new_share = 1e-11;

static tw_status weigh(const tw_second_order *op, int count, const double *in, double *out)
{
    int64_t n = op->stiffness.space.local_size;
    if (op->mass) return op->mass->apply(op->mass->context, count, in, out);
    for (int j = 0; j < count; j++) {
        if (op->lumped_mass)
            tw_vector_multiply(n, op->lumped_mass, in + j * n, out + j * n);
        else
            tw_vector_copy(n, in + j * n, out + j * n);
    }
    return TW_OK;
}

/* image = (M + gamma K)^-1 M in. */
static tw_status apply_inverse(const tw_second_order *op, int count, const double *in, tw_rational_scratch *scratch,
                               double *image, int64_t *solves)
{
    tw_status status = weigh(op, count, in, scratch->force);
    if (status == TW_OK) status = op->shifted->solve(op->shifted->context, count, scratch->force, image);
    *solves += count;
    return status;
}

static tw_status mass_norm(const tw_second_order *op, const double *x, double *weighed, double *norm)
{
    double square = 0;
    tw_status status = weigh(op, 1, x, weighed);
    if (status == TW_OK) status = tw_vector_dot(&op->stiffness.space, x, weighed, &square);
    *norm = sqrt(fmax(square, 0));
    return status == TW_OK && !isfinite(square) ? TW_NOT_FINITE : status;
}

/* x -= Q (Q^T M x), twice; column += the coefficients; what is left becomes the next vector of Q if it is new, and its
 * length is put below the coefficients. */
static tw_status take_in(tw_rational_basis *basis, const tw_second_order *op, double *x, double *weighed,
                         double *column, bool *is_new)
{
    const tw_space *space = &op->stiffness.space;
    double before = 0, after = 0, part[TW_RATIONAL_MAX];
    *is_new = false;
    tw_status status = mass_norm(op, x, weighed, &before);
    for (int pass = 0; pass < 2 && status == TW_OK; pass++) {
        if (pass > 0) status = weigh(op, 1, x, weighed);
        if (status == TW_OK) status = tw_vector_dots(space, basis->count, basis->Q, weighed, part);
        for (int i = 0; i < basis->count; i++) {
            column[i] += part[i];
            part[i] = -part[i];
        }
        tw_vector_add_combination(basis->size, basis->count, basis->Q, part, x);
    }
    if (status == TW_OK) status = mass_norm(op, x, weighed, &after);
    if (status || !(after > new_share * before) || after < DBL_MIN) return status;
    if (basis->count == basis->capacity) return TW_NOT_CONVERGED;
    column[basis->count] = after;
    double *q = basis->Q + basis->count * basis->size;
    tw_vector_copy(basis->size, x, q);
    tw_vector_scale(basis->size, 1 / after, q);
    basis->count++;
    *is_new = true;
    return TW_OK;
}

/* image = x / unit, unit a power of two near the largest entry: squares of 1e150 must not overflow. */
static tw_status scaled_copy(const tw_space *space, const double *x, double *image, double *unit)
{
    double norm = 0;
    tw_status status = tw_vector_norm(space, x, &norm);
    if (status == TW_OK && !isfinite(norm)) status = TW_NOT_FINITE;
    if (status) return status;
    *unit = norm > 0 ? ldexp(1.0, ilogb(norm)) : 1;
    for (int64_t i = 0; i < space->local_size; i++) image[i] = x[i] / *unit;
    return TW_OK;
}

tw_status tw_rational_begin(tw_rational_basis *basis, const tw_second_order *op, int start_count,
                            const double *const *starts, double gamma, bool smooth, tw_rational_scratch *scratch,
                            int64_t *solves)
{
    basis->count = basis->processed = 0;
    basis->start_count = start_count;
    basis->gamma = gamma;
    basis->smooth = smooth;
    for (int j = 0; j < start_count; j++) {
        for (int i = 0; i < TW_MAX_BLOCK; i++) basis->start[j][i] = 0;
        if (!starts[j]) continue;
        bool is_new = false;
        double unit = 1, *copy = smooth ? scratch->image + basis->size : scratch->image;
        tw_status status = scaled_copy(&op->stiffness.space, starts[j], copy, &unit);
        if (status == TW_OK && smooth) status = apply_inverse(op, 1, copy, scratch, scratch->image, solves);
        if (status == TW_OK) status = take_in(basis, op, scratch->image, scratch->weighed, basis->start[j], &is_new);
        if (status) return status;
        for (int i = 0; i < TW_MAX_BLOCK; i++) basis->start[j][i] *= unit;
    }
    return TW_OK;
}

tw_status tw_rational_extend(tw_rational_basis *basis, const tw_second_order *op, tw_rational_scratch *scratch,
                             int64_t *solves, bool *exhausted)
{
    int first = basis->processed, width = basis->count - first;
    if (width > TW_MAX_BLOCK) width = TW_MAX_BLOCK;
    tw_status status = TW_OK;
    if (width > 0) status = apply_inverse(op, width, basis->Q + first * basis->size, scratch, scratch->image, solves);
    for (int j = 0; j < width && status == TW_OK; j++) {
        double *column = basis->H + (size_t)(first + j) * (size_t)basis->capacity;
        for (int i = 0; i < basis->capacity; i++) column[i] = 0;
        bool is_new = false;
        status = take_in(basis, op, scratch->image + j * basis->size, scratch->weighed, column, &is_new);
        if (status == TW_OK) basis->processed++;
    }
    *exhausted = status == TW_OK && basis->processed == basis->count;
    return status;
}
