/* Writes operators out as matrices, for the dense engine; mass coordinates; norms. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "linalg/dense.h"
#include "phi/dense/phi_dense.h"

/* ---- matrices ---- */

tw_status tw_dense_write_out(const tw_dense_memory *memory, tw_apply_function *apply, void *context,
                             double *matrix)
{
    int n = memory->n;

    for (int j = 0; j < n; j += TW_MAX_BLOCK) {
        /* A block of unit vectors e_j, e_{j+1}, ... */
        int count = TW_MAX_BLOCK;
        if (n - j < count) count = n - j;
        memset(memory->columns, 0, (size_t)n * TW_MAX_BLOCK * sizeof(double));
        for (int c = 0; c < count; c++)
            memory->columns[(size_t)c * (size_t)n + (size_t)(j + c)] = 1;

        /* Their images are the columns of the matrix. */
        TW_TRY(apply(context, count, memory->columns, matrix + (size_t)j * (size_t)n));
    }
    return tw_dense_is_finite((size_t)n * (size_t)n, matrix) ? TW_OK : TW_NOT_FINITE;
}

tw_status tw_dense_materialise(const tw_phi_workspace *workspace, const tw_operator *op,
                               double *matrix, tw_phi_statistics *statistics, tw_error *error)
{
    const tw_dense_memory *memory = workspace->memory[TW_PHI_DENSE];
    if (memory->n > workspace->options.max_products)
        return tw_fail(error, TW_BUDGET_EXHAUSTED, "phi engine dense needs %d products", memory->n);

    tw_status status = tw_dense_write_out(memory, op->apply, op->context, matrix);
    if (status)
        return tw_fail(error, status, "phi engine dense: writing the operator out: %s",
                       tw_status_text(status));

    statistics->products += memory->n;
    return TW_OK;
}

/* ---- mass coordinates ---- */

/* The square roots of lumped or unit masses. */
static tw_status factor_lumped(const tw_dense_memory *memory, const tw_second_order *op,
                               tw_error *error)
{
    for (int i = 0; i < memory->n; i++) {
        double mass = op->lumped_mass ? op->lumped_mass[i] : 1;
        if (!(mass > 0) || isinf(mass))
            return tw_fail(error, TW_NOT_POSITIVE_DEFINITE, "phi engine dense: mass %d is %g", i,
                           mass);
        memory->factor[i] = sqrt(mass);
    }
    return TW_OK;
}

tw_status tw_dense_factor_mass(const tw_dense_memory *memory, const tw_second_order *op,
                               tw_error *error)
{
    if (!op->mass) return factor_lumped(memory, op, error);

    double *factor = memory->factor;
    tw_status status = tw_dense_write_out(memory, op->mass->apply, op->mass->context, factor);
    if (status == TW_OK) status = tw_dense_cholesky(memory->n, factor);
    if (status)
        return tw_fail(error, status, "phi engine dense: mass matrix: %s", tw_status_text(status));
    return TW_OK;
}

void tw_dense_scale_by_mass(const tw_dense_memory *memory, const tw_second_order *op, double *A)
{
    size_t n = (size_t)memory->n;
    if (op->mass) {
        tw_dense_congruence(memory->n, memory->factor, A);
        return;
    }

    /* A diagonal mass divides rows and columns. */
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            A[j * n + i] = A[j * n + i] / memory->factor[i] / memory->factor[j];
}

void tw_dense_to_mass(const tw_dense_memory *memory, const tw_second_order *op, const double *x,
                      double *y)
{
    size_t n = (size_t)memory->n;
    for (size_t j = 0; j < n; j++) {
        double sum = 0;

        /* Row j of L^T is column j of L. */
        if (op->mass)
            for (size_t i = j; i < n; i++) sum += memory->factor[j * n + i] * x[i];
        else
            sum = memory->factor[j] * x[j];
        y[j] = sum;
    }
}

void tw_dense_from_mass(const tw_dense_memory *memory, const tw_second_order *op, double *y)
{
    if (op->mass) {
        tw_dense_lower_solve(true, memory->n, memory->factor, 1, y);
        return;
    }

    for (int i = 0; i < memory->n; i++) y[i] /= memory->factor[i];
}

/* ---- norms and errors ---- */

double tw_dense_norm(int n, const double *x)
{
    double largest = 0;
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(x[i]));
    if (largest == 0) return 0;

    /* Squares of numbers up to 1 do not overflow. */
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] / largest * (x[i] / largest);
    return largest * sqrt(sum);
}

double tw_dense_unit(int64_t count, const double *x)
{
    double largest = 0;

    for (int64_t i = 0; i < count; i++) largest = fmax(largest, fabs(x[i]));
    return largest > 0 ? ldexp(1.0, ilogb(largest)) : 1;
}

double tw_dense_request_unit(const tw_phi_request *request, int64_t size)
{
    double unit = 0;

    for (int k = 0; k <= request->order; k++)
        if (request->vectors[k] && tw_dense_norm((int)size, request->vectors[k]) > 0)
            unit = fmax(unit, tw_dense_unit(size, request->vectors[k]));
    return unit > 0 ? unit : 1;
}

void tw_dense_note_error(tw_phi_statistics *statistics, double error, double size)
{
    /* The negated comparison lets a NaN through, which the judgement then rejects. */
    double relative = error == 0 ? 0 : error / size;
    if (!(relative <= statistics->estimated_error)) statistics->estimated_error = relative;
}

tw_status tw_dense_judge(const tw_phi_workspace *workspace, const tw_phi_statistics *statistics,
                         tw_error *error)
{
    double estimate = statistics->estimated_error;
    double tolerance = workspace->options.tolerance;

    if (estimate <= tolerance) return TW_OK;
    return tw_fail(error, TW_ILL_CONDITIONED,
                   "phi engine dense: rounding alone makes an error of %.1e, above %.1e", estimate,
                   tolerance);
}
