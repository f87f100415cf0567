/* The block Krylov space of S = (M + gamma K)^-1 M that shift-invert works in (spectral.h). */
#include <float.h>
#include <math.h>
#include <stddef.h>

#include "base/fail.h"
#include "linalg/vector.h"
#include "phi/spectral/spectral.h"

/* A vector that keeps less than this share of its length after orthogonalisation is nothing
 * but rounding. */
static const double new_share = 1e-13;

/* image = (M + gamma K)^-1 M in. */
static tw_status apply_inverse(const tw_second_order *op, int count, const double *in,
                               tw_shift_invert_scratch *scratch, double *image, int64_t *solves)
{
    tw_mass_metric metric = tw_mass_metric_of(op);
    tw_status status = tw_mass_multiply(&metric, count, in, scratch->force);
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

/* x -= Q (Q^T weighed), weighed being M x; column += the coefficients. */
static tw_status project_out(const tw_shift_invert_basis *basis, const tw_mass_metric *metric,
                             const double *weighed, double *x, double *column)
{
    /* part = Q^T M x */
    double part[TW_SHIFT_INVERT_MAX];
    TW_TRY(tw_vector_dots(&metric->space, basis->count, basis->Q, weighed, part));
    for (int i = 0; i < basis->count; i++) {
        column[i] += part[i];
        part[i] = -part[i];
    }
    tw_vector_add_combination(basis->size, basis->count, basis->Q, part, x);

    return TW_OK;
}

/* Orthogonalises x against Q, twice, and adds the coefficients to `column`. What is left becomes
 * the next vector of Q if it is new, and its length is put below the coefficients. */
static tw_status take_in(tw_shift_invert_basis *basis, const tw_mass_metric *metric, double *x,
                         double *weighed, double *column)
{
    /* Two passes: the second removes what rounding left of the first. */
    double before = 0;
    double after = 0;
    TW_TRY(length(metric, x, weighed, &before));
    TW_TRY(project_out(basis, metric, weighed, x, column));
    TW_TRY(tw_mass_multiply(metric, 1, x, weighed));
    TW_TRY(project_out(basis, metric, weighed, x, column));
    TW_TRY(length(metric, x, weighed, &after));

    /* A vector that depends on the earlier ones is dropped. */
    if (!(after > new_share * before) || after < DBL_MIN) return TW_OK;
    if (basis->count == basis->capacity) return TW_NOT_CONVERGED;

    /* The next vector of Q is x/|x|. */
    column[basis->count] = after;
    double *q = basis->Q + basis->count * basis->size;
    tw_vector_copy(basis->size, x, q);
    tw_vector_scale(basis->size, 1 / after, q);
    basis->count++;

    return TW_OK;
}

/* Puts the start vectors that are not zero into scratch->image, normalised, and their numbers
 * into `number`. */
static tw_status gather_starts(tw_shift_invert_basis *basis, const tw_mass_metric *metric,
                               const double *const *starts, tw_shift_invert_scratch *scratch,
                               int *number)
{
    for (int j = 0; j < basis->start_count; j++) {
        basis->norm[j] = 0;
        for (int i = 0; i < TW_MAX_BLOCK; i++) basis->start[j][i] = 0;
        if (!starts[j]) continue;
        TW_TRY(tw_mass_norm(metric, starts[j], scratch->weighed, &basis->norm[j]));
        if (!(basis->norm[j] > 0)) continue;

        /* A start vector that is not zero joins the block. */
        tw_normalised_copy(basis->size, basis->norm[j], starts[j],
                           scratch->image + basis->active * basis->size);
        number[basis->active++] = j;
    }

    return TW_OK;
}

tw_status tw_shift_invert_begin(tw_shift_invert_basis *basis, const tw_second_order *op,
                                const tw_spectral_request *request, double gamma,
                                tw_shift_invert_scratch *scratch, int64_t *solves)
{
    basis->count = 0;
    basis->processed = 0;
    basis->active = 0;
    basis->start_count = request->start_count;
    basis->gamma = gamma;
    basis->theta_low = op->eigenvalue_max > 0 ? 1 / (1 + gamma * op->eigenvalue_max) : 0;
    basis->smooth = request->smooth;
    basis->extensions = 0;

    tw_mass_metric metric = tw_mass_metric_of(op);
    int number[TW_MAX_BLOCK];
    TW_TRY(gather_starts(basis, &metric, request->starts, scratch, number));

    /* Smooth starts are S b instead of b. */
    if (basis->smooth && basis->active > 0)
        TW_TRY(apply_inverse(op, basis->active, scratch->image, scratch, scratch->image, solves));

    /* The coordinates of the starts in Q are kept. */
    for (int c = 0; c < basis->active; c++)
        TW_TRY(take_in(basis, &metric, scratch->image + c * basis->size, scratch->weighed,
                       basis->start[number[c]]));

    return TW_OK;
}

tw_status tw_shift_invert_extend(tw_shift_invert_basis *basis, const tw_second_order *op,
                                 tw_shift_invert_scratch *scratch, int64_t *solves)
{
    tw_mass_metric metric = tw_mass_metric_of(op);
    int first = basis->processed;
    int width = basis->count - first;
    if (width > TW_MAX_BLOCK) width = TW_MAX_BLOCK;
    if (width <= 0) return TW_OK;

    /* image = S q for the vectors not yet processed. */
    TW_TRY(
        apply_inverse(op, width, basis->Q + first * basis->size, scratch, scratch->image, solves));

    /* Each image gives a column of H and perhaps a new vector. */
    for (int j = 0; j < width; j++) {
        double *column = basis->H + (size_t)(first + j) * (size_t)basis->capacity;
        for (int i = 0; i < basis->capacity; i++) column[i] = 0;
        TW_TRY(take_in(basis, &metric, scratch->image + j * basis->size, scratch->weighed, column));
        basis->processed++;
    }

    /* The state is kept, so that the space can be looked at as it was (tw_shift_invert_past). */
    basis->edge[basis->extensions++] =
        (tw_shift_invert_edge){.processed = basis->processed, .count = basis->count};

    return TW_OK;
}

tw_status tw_shift_invert_measure_rest(tw_shift_invert_basis *basis, const tw_second_order *op,
                                       tw_shift_invert_scratch *scratch, int64_t *products)
{
    const tw_operator *K = &op->stiffness;
    tw_shift_invert_edge *edge = &basis->edge[basis->extensions - 1];
    int width = basis->count - basis->processed;
    const double *q = basis->Q + basis->processed * basis->size;
    if (width == 0) return TW_OK;

    /* q^T (M + gamma K) q = I + gamma q^T K q, because the vectors are orthonormal. */
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

tw_shift_invert_basis tw_shift_invert_past(const tw_shift_invert_basis *basis, int ago)
{
    tw_shift_invert_basis past = *basis;
    past.extensions = 0;
    if (basis->extensions > ago) past.extensions = basis->extensions - ago;
    past.processed = 0;
    past.count = 0;
    if (past.extensions > 0) {
        past.processed = past.edge[past.extensions - 1].processed;
        past.count = past.edge[past.extensions - 1].count;
    }

    return past;
}
