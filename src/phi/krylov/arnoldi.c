/* The Krylov basis of the adaptive engines: Arnoldi with a full or a short window. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "linalg/vector.h"
#include "phi/krylov/krylov.h"

/* After orthogonalisation, a rest below this share of L v is rounding. It is relative, never
 * absolute. */
static const double BREAKDOWN = 16 * DBL_EPSILON;

/* The same share in another inner product. A vector and its dual are updated separately and drift
 * apart. */
static const double METRIC_NOISE = 1024 * DBL_EPSILON;

/* From one vector to the next the distance between a vector and its dual grows with the share that
 * orthogonalisation takes away, unless that share is usual. Beyond the limit the dual is made anew,
 * which costs a product. */
static const double USUAL_SHARE = 8;
static const double MOST_DRIFT = 1e-13;

/* Orthogonalise again if less than this share of L v is left. Against all vectors, "twice is
 * enough" asks for a share close to 1; a window only has to be orthogonal to its own few
 * vectors. */
static const double REPEAT_FULL = 0.7;
static const double REPEAT_WINDOW = 0.25;

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

/* ---- products and norms ---- */

/* Takes one product from the budget. */
static tw_status spend(tw_arnoldi *a)
{
    if (a->products >= a->max_products) return TW_BUDGET_EXHAUSTED;
    a->products++;
    return TW_OK;
}

tw_status tw_arnoldi_apply(tw_arnoldi *a, const double *u, double *out)
{
    TW_TRY(spend(a));
    TW_TRY(a->op->apply(a->op->context, 1, u, out));

    if (a->scale != 1) tw_vector_scale(a->op->space.local_size, a->scale, out);
    return TW_OK;
}

tw_status tw_arnoldi_dual(tw_arnoldi *a, const double *u, double *dual)
{
    TW_TRY(spend(a));
    return a->metric->dual(a->metric->context, u, dual);
}

/* Norm of vector j with its tail; `noise` is explained at tw_phi_metric. */
static tw_status norm_of(const tw_arnoldi *a, int j, double noise, double *norm)
{
    const double *v = vector_of(a, j);
    double value = 0;
    tw_status status = TW_OK;
    if (a->metric) {
        status = a->metric->square(a->metric->context, v, dual_of(a, j), noise, &value);
        value = sqrt(fmax(value, 0));
    } else {
        status = tw_vector_norm(&a->op->space, v, &value);
    }

    *norm = value;
    if (a->tail) *norm = hypot(value, sqrt(tail_dot(a, j, j)));
    if (status == TW_OK && !isfinite(*norm)) return TW_NOT_FINITE;
    return status;
}

/* Divides vector j, its dual and its tail by the norm. */
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

    /* The basis is empty: H = 0. */
    memset(a->H, 0, side * side * sizeof *a->H);
    a->dimension = 0;
    a->exhausted = false;
    a->steepest = 0;
    a->drift = DBL_EPSILON;
    a->rounding = DBL_EPSILON;

    /* v_1 = (u; tail) / |(u; tail)|. */
    tw_vector_copy(n, u, vector_of(a, 0));
    for (int k = 0; k < a->tail; k++) tail_of(a, 0)[k] = tail[k];
    if (a->metric) TW_TRY(tw_arnoldi_dual(a, u, dual_of(a, 0)));
    TW_TRY(norm_of(a, 0, 0, length));
    if (*length > 0) divide_by(a, 0, *length);
    return TW_OK;
}

/* ---- the next vector ---- */

/* Vector j + 1 = scale A v_j, without the tail. */
static tw_status apply_operator(tw_arnoldi *a, int j)
{
    if (!a->metric) return tw_arnoldi_apply(a, vector_of(a, j), vector_of(a, j + 1));

    /* With a metric, one product gives the vector and its dual. */
    double *z = vector_of(a, j + 1);
    double *dual = dual_of(a, j + 1);
    TW_TRY(spend(a));
    TW_TRY(a->metric->apply(a->metric->context, vector_of(a, j), dual_of(a, j), z, dual));

    int64_t n = a->op->space.local_size;
    if (a->scale != 1) {
        tw_vector_scale(n, a->scale, z);
        tw_vector_scale(n, a->scale, dual);
    }
    return TW_OK;
}

/* The same where there is a tail. The rest of v_j may be zero, which needs no product. H does not
 * show the size of A, so it is measured here. */
static tw_status apply_beside_tail(tw_arnoldi *a, int j)
{
    int64_t n = a->op->space.local_size;
    double before = 0;
    TW_TRY(tw_vector_norm(&a->op->space, vector_of(a, j), &before));
    if (before == 0) {
        tw_vector_fill(n, 0.0, vector_of(a, j + 1));
        if (a->metric) tw_vector_fill(n, 0.0, dual_of(a, j + 1));
        return TW_OK;
    }

    double after = 0;
    TW_TRY(apply_operator(a, j));
    TW_TRY(tw_vector_norm(&a->op->space, vector_of(a, j + 1), &after));
    a->steepest = fmax(a->steepest, after / before);
    return TW_OK;
}

/* Vector j + 1 = L v_j. */
static tw_status apply_augmented(tw_arnoldi *a, int j)
{
    int64_t n = a->op->space.local_size;
    if (a->tail == 0) return apply_operator(a, j);
    TW_TRY(apply_beside_tail(a, j));

    for (int k = 0; k < a->tail; k++) {
        /* The tail moves up by one entry. */
        double coefficient = a->column_factor * tail_of(a, j)[k];
        tail_of(a, j + 1)[k] = k + 1 < a->tail ? tail_of(a, j)[k + 1] : 0;

        /* Its old entry k multiplies column k. */
        if (!a->columns[k] || coefficient == 0) continue;
        tw_vector_axpy(n, coefficient, a->columns[k], vector_of(a, j + 1));
        if (a->metric) tw_vector_axpy(n, coefficient, a->column_duals[k], dual_of(a, j + 1));
    }
    return TW_OK;
}

/* ---- orthogonalisation ---- */

/* One classical Gram-Schmidt pass of vector j + 1 against [first, j]; adds the coefficients to
 * column j of H. */
static tw_status subtract_projections(tw_arnoldi *a, int first, int j)
{
    int64_t n = a->op->space.local_size;
    int count = j + 1 - first;
    double *c = a->window_products;
    double *z = vector_of(a, j + 1);
    double *column = a->H + (size_t)j * ((size_t)a->capacity + 1);

    /* c_i = <v_i, z> of the vectors, by the dual of z if there is a metric. */
    const double *right = a->metric ? dual_of(a, j + 1) : z;
    TW_TRY(tw_vector_dots(&a->op->space, count, vector_of(a, first), right, c));

    /* The tails add their products. All of them come before the first subtraction: a tail alone is
     * not orthogonal to the other tails. */
    for (int i = 0; i < count; i++) {
        c[i] += tail_dot(a, first + i, j + 1);
        column[first + i] += c[i];
        c[i] = -c[i];
    }
    for (int i = 0; i < count; i++)
        for (int k = 0; k < a->tail; k++) tail_of(a, j + 1)[k] += c[i] * tail_of(a, first + i)[k];

    /* z -= sum_i c_i v_i, and the same for the dual. */
    tw_vector_add_combination(n, count, vector_of(a, first), c, z);
    if (a->metric) tw_vector_add_combination(n, count, dual_of(a, first), c, dual_of(a, j + 1));
    return TW_OK;
}

/* Norm of L v_j, from column j of H and the norm of the rest. */
static double norm_before(const double *column, int first, int j, double rest)
{
    double sum = 0;
    for (int i = first; i <= j; i++) sum = hypot(sum, column[i]);
    return hypot(sum, rest);
}

/* Squared Euclidean length below which what is left of vector j = L v_{j-1} is rounding; 0 without
 * a metric. */
static tw_status noise_of(const tw_arnoldi *a, int j, double *noise)
{
    *noise = 0;
    if (!a->metric) return TW_OK;

    tw_status status = tw_vector_dot(&a->op->space, vector_of(a, j), vector_of(a, j), noise);
    *noise *= METRIC_NOISE * METRIC_NOISE;
    return status;
}

/* Makes the dual of vector j + 1 anew if it has drifted away from its vector: then <z, z> is far
 * below |z|^2 and means nothing. */
static tw_status renew_dual(tw_arnoldi *a, int first, int j, double noise, double whole,
                            double *rest)
{
    if (!a->metric || *rest == 0) return TW_OK;
    a->drift *= fmax(1, whole / (USUAL_SHARE * *rest));
    a->rounding = fmax(a->rounding, fmin(a->drift, MOST_DRIFT));
    if (a->drift <= MOST_DRIFT) return TW_OK;

    TW_TRY(tw_arnoldi_dual(a, vector_of(a, j + 1), dual_of(a, j + 1)));
    TW_TRY(subtract_projections(a, first, j));
    a->drift = DBL_EPSILON;
    return norm_of(a, j + 1, noise, rest);
}

/* Adds column j = dimension of H and vector j + 1. */
static tw_status add_vector(tw_arnoldi *a)
{
    int j = a->dimension;
    int first = 0;
    if (a->window > 0 && j + 1 > a->window) first = j + 1 - a->window;
    double *column = a->H + (size_t)j * ((size_t)a->capacity + 1);

    /* z = L v_j, orthogonalised against the window. */
    double noise = 0;
    double rest = 0;
    TW_TRY(apply_augmented(a, j));
    TW_TRY(noise_of(a, j + 1, &noise));
    TW_TRY(subtract_projections(a, first, j));
    TW_TRY(norm_of(a, j + 1, noise, &rest));

    /* A large loss calls for a second pass. */
    double whole = norm_before(column, first, j, rest);
    double repeat = a->window > 0 ? REPEAT_WINDOW : REPEAT_FULL;
    if (rest < repeat * whole) {
        TW_TRY(subtract_projections(a, first, j));
        TW_TRY(norm_of(a, j + 1, noise, &rest));
    }
    if (!isfinite(whole)) return TW_NOT_FINITE;
    TW_TRY(renew_dual(a, first, j, noise, whole, &rest));

    /* h_{m+1,m} is never below what rounding hides. */
    a->dimension++;
    a->exhausted = rest <= BREAKDOWN * whole;
    column[j + 1] = fmax(rest, DBL_EPSILON * whole);
    if (!a->exhausted) divide_by(a, j + 1, rest);
    return TW_OK;
}

tw_status tw_arnoldi_extend(tw_arnoldi *a, int dimension)
{
    while (a->dimension < dimension && !a->exhausted) TW_TRY(add_vector(a));
    return TW_OK;
}
