#include "phi/krylov/arnoldi.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "linalg/vector.h"

/* What is left of L v after orthogonalisation is rounding if it is below this share of L v. Relative, never absolute.
 */
static const double BREAKDOWN = 16 * DBL_EPSILON;
/* The same for a vector of another inner product: it and its dual are updated apart, and drift apart. */
static const double METRIC_NOISE = 1024 * DBL_EPSILON;
/* Orthogonalise again when this much was lost. All vectors: "twice is enough". A window only needs its own few. */
static const double REPEAT_FULL = 0.7, REPEAT_WINDOW = 0.25;

static double *vector_of(const tw_arnoldi *a, int j)
{
    return a->basis + j * a->op->space.local_size;
}

static double *dual_of(const tw_arnoldi *a, int j)
{
    return a->metric ? a->duals + j * a->op->space.local_size : NULL;
}

static double *tail_of(const tw_arnoldi *a, int j)
{
    return a->tails + (size_t)j * TW_PHI_MAX_ORDER;
}

static double tail_dot(const tw_arnoldi *a, int i, int j)
{
    double sum = 0;
    for (int k = 0; k < a->tail; k++) sum += tail_of(a, i)[k] * tail_of(a, j)[k];
    return sum;
}

static tw_status spend(tw_arnoldi *a)
{
    if (a->products >= a->max_products) return TW_BUDGET_EXHAUSTED;
    a->products++;
    return TW_OK;
}

tw_status tw_arnoldi_apply(tw_arnoldi *a, const double *u, double *out)
{
    tw_status status = spend(a);
    if (status == TW_OK) status = a->op->apply(a->op->context, 1, u, out);
    if (status == TW_OK && a->scale != 1) tw_vector_scale(a->op->space.local_size, a->scale, out);
    return status;
}

tw_status tw_arnoldi_dual(tw_arnoldi *a, const double *u, double *dual)
{
    tw_status status = spend(a);
    return status ? status : a->metric->dual(a->metric->context, u, dual);
}

/* Norm of vector j, tail included; `noise` as in tw_phi_metric. */
static tw_status norm_of(const tw_arnoldi *a, int j, double noise, double *norm)
{
    double value = 0;
    tw_status status = TW_OK;
    if (a->metric) {
        status =
            a->metric->square(a->metric->context, vector_of(a, j), dual_of(a, j), noise, &value);
        value = sqrt(fmax(value, 0));
    } else {
        status = tw_vector_norm(&a->op->space, vector_of(a, j), &value);
    }
    *norm = a->tail ? hypot(value, sqrt(tail_dot(a, j, j))) : value;
    return status == TW_OK && !isfinite(*norm) ? TW_NOT_FINITE : status;
}

static void divide_by(const tw_arnoldi *a, int j, double norm)
{
    int64_t n = a->op->space.local_size;
    tw_vector_scale(n, 1 / norm, vector_of(a, j));
    if (a->metric) tw_vector_scale(n, 1 / norm, dual_of(a, j));
    for (int k = 0; k < a->tail; k++) tail_of(a, j)[k] /= norm;
}

tw_status tw_arnoldi_start(tw_arnoldi *a, const double *u, const double *tail, double *length)
{
    int64_t n = a->op->space.local_size;
    size_t side = (size_t)a->capacity + 1;
    memset(a->H, 0, side * side * sizeof *a->H);
    a->dimension = 0;
    a->exhausted = false;
    a->steepest = 0;
    tw_vector_copy(n, u, vector_of(a, 0));
    for (int k = 0; k < a->tail; k++) tail_of(a, 0)[k] = tail[k];
    tw_status status = a->metric ? tw_arnoldi_dual(a, u, dual_of(a, 0)) : TW_OK;
    if (status == TW_OK) status = norm_of(a, 0, 0, length);
    if (status == TW_OK && *length > 0) divide_by(a, 0, *length);
    return status;
}

/* Vector j + 1 = scale A v_j, without the tail. */
static tw_status apply_operator(tw_arnoldi *a, int j)
{
    int64_t n = a->op->space.local_size;
    double *z = vector_of(a, j + 1), *dual = dual_of(a, j + 1);
    if (!a->metric) return tw_arnoldi_apply(a, vector_of(a, j), z);
    tw_status status = spend(a);
    if (status == TW_OK)
        status = a->metric->apply(a->metric->context, vector_of(a, j), dual_of(a, j), z, dual);
    if (status == TW_OK && a->scale != 1) {
        tw_vector_scale(n, a->scale, z);
        tw_vector_scale(n, a->scale, dual);
    }
    return status;
}

/* The same where there is a tail: the rest of v_j may be zero, which needs no product, and H says nothing of the size
 * of A, so it is measured. */
static tw_status apply_beside_tail(tw_arnoldi *a, int j)
{
    int64_t n = a->op->space.local_size;
    double before = 0, after = 0;
    tw_status status = tw_vector_norm(&a->op->space, vector_of(a, j), &before);
    if (status == TW_OK && before == 0) {
        tw_vector_fill(n, 0.0, vector_of(a, j + 1));
        if (a->metric) tw_vector_fill(n, 0.0, dual_of(a, j + 1));
        return TW_OK;
    }
    if (status == TW_OK) status = apply_operator(a, j);
    if (status == TW_OK) status = tw_vector_norm(&a->op->space, vector_of(a, j + 1), &after);
    if (status == TW_OK) a->steepest = fmax(a->steepest, after / before);
    return status;
}

/* Vector j + 1 = L v_j. */
static tw_status apply_augmented(tw_arnoldi *a, int j)
{
    int64_t n = a->op->space.local_size;
    tw_status status = a->tail ? apply_beside_tail(a, j) : apply_operator(a, j);
    for (int k = 0; k < a->tail; k++) {
        double coefficient = a->column_factor * tail_of(a, j)[k];
        tail_of(a, j + 1)[k] = k + 1 < a->tail ? tail_of(a, j)[k + 1] : 0;
        if (!a->columns[k] || coefficient == 0) continue;
        tw_vector_axpy(n, coefficient, a->columns[k], vector_of(a, j + 1));
        if (a->metric) tw_vector_axpy(n, coefficient, a->column_duals[k], dual_of(a, j + 1));
    }
    return status;
}

/* One classical Gram-Schmidt pass of vector j + 1 against [first, j]; adds the coefficients to column j of H. */
static tw_status subtract_projections(tw_arnoldi *a, int first, int j)
{
    int64_t n = a->op->space.local_size;
    int count = j + 1 - first;
    double *c = a->window_products, *z = vector_of(a, j + 1),
           *column = a->H + (size_t)j * ((size_t)a->capacity + 1);
    const double *right = a->metric ? dual_of(a, j + 1) : z;
    tw_status status = tw_vector_dots(&a->op->space, count, vector_of(a, first), right, c);
    if (status) return status;
    for (int i = 0; i < count; i++) {
        c[i] += tail_dot(a, first + i, j + 1);
        column[first + i] += c[i];
        c[i] = -c[i];
        for (int k = 0; k < a->tail; k++) tail_of(a, j + 1)[k] += c[i] * tail_of(a, first + i)[k];
    }
    tw_vector_add_combination(n, count, vector_of(a, first), c, z);
    if (a->metric) tw_vector_add_combination(n, count, dual_of(a, first), c, dual_of(a, j + 1));
    return TW_OK;
}

/* Norm of the vector that H's column j and what is left of it stand for. */
static double norm_before(const double *column, int first, int j, double rest)
{
    double sum = 0;
    for (int i = first; i <= j; i++) sum = hypot(sum, column[i]);
    return hypot(sum, rest);
}

/* Squared Euclidean length below which a metric's vector j is rounding. */
static tw_status noise_of(const tw_arnoldi *a, int j, double *noise)
{
    *noise = 0;
    if (!a->metric) return TW_OK;
    tw_status status = tw_vector_dot(&a->op->space, vector_of(a, j), vector_of(a, j), noise);
    *noise *= METRIC_NOISE * METRIC_NOISE;
    return status;
}

static tw_status add_vector(tw_arnoldi *a)
{
    int j = a->dimension, first = a->window > 0 && j + 1 > a->window ? j + 1 - a->window : 0;
    double *column = a->H + (size_t)j * ((size_t)a->capacity + 1), rest = 0, whole = 0, noise = 0;
    tw_status status = apply_augmented(a, j);
    if (status == TW_OK) status = noise_of(a, j + 1, &noise);
    if (status == TW_OK) status = subtract_projections(a, first, j);
    if (status == TW_OK) status = norm_of(a, j + 1, noise, &rest);
    whole = norm_before(column, first, j, rest);
    if (status == TW_OK && rest < (a->window > 0 ? REPEAT_WINDOW : REPEAT_FULL) * whole) {
        status = subtract_projections(a, first, j);
        if (status == TW_OK) status = norm_of(a, j + 1, noise, &rest);
    }
    if (status) return status;
    if (!isfinite(whole)) return TW_NOT_FINITE;
    a->dimension++;
    a->exhausted = rest <= BREAKDOWN * whole;
    column[j + 1] = fmax(rest, DBL_EPSILON * whole); /* rounding hides the rest below that */
    if (!a->exhausted) divide_by(a, j + 1, rest);
    return TW_OK;
}

tw_status tw_arnoldi_extend(tw_arnoldi *a, int dimension)
{
    tw_status status = TW_OK;
    while (a->dimension < dimension && !a->exhausted && status == TW_OK) status = add_vector(a);
    return status;
}
