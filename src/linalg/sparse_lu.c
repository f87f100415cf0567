#include "linalg/sparse_lu.h"

#include <klu.h>
#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/cholesky_internal.h"
#include "linalg/vector.h"

/* The diagonal is the pivot unless it is below this share of the largest entry of its column. KLU's
 * own 0.001 keeps factors a little sparser and costs up to three digits. */
static const double DIAGONAL_PREFERENCE = 0.1;

/* Kept pivots are good while the largest entry of U exceeds that of the matrix by less than the
 * inverse of this: the solution loses at most three digits. */
static const double LEAST_RECIPROCAL_GROWTH = 1e-3;

struct tw_sparse_lu {
    const tw_sparse *J;
    int64_t n; /* scalar rows */

    /* Scalar rows of a I + b J. KLU wants columns: it is given these rows as the columns of the
     * transpose, and solves with the transpose of that. */
    SuiteSparse_long *start;  /* n + 1 */
    SuiteSparse_long *column; /* ascending in each row */
    int64_t *source;          /* place among the values of J; -1 for a diagonal that J lacks */
    double *values;

    klu_l_common common;
    klu_l_symbolic *symbolic;
    klu_l_numeric *numeric; /* NULL: none yet, or the last factorisation failed */
    tw_solver_memory memory;
    tw_sparse_lu_counts counts;
};

/* ---- pattern ---- */

/* Entries of the scalar matrix with its whole diagonal. */
static int64_t count_entries(const tw_sparse *J)
{
    int64_t block = tw_sparse_block(J);
    int64_t block_rows = tw_sparse_size(J) / block;
    int64_t entries = tw_sparse_row_start(J)[block_rows] * block * block;
    for (int64_t i = 0; i < block_rows; i++)
        if (tw_sparse_find(J, i, i) < 0) entries += block;
    return entries;
}

/* Writes one scalar row: component c of block row i. Returns the place behind its last entry. */
static int64_t write_row(tw_sparse_lu *lu, int64_t i, int64_t c, int64_t at)
{
    const int64_t *row_start = tw_sparse_row_start(lu->J);
    const int32_t *block_column = tw_sparse_column(lu->J);
    int64_t block = tw_sparse_block(lu->J);
    int64_t diagonal = i * block + c;
    bool has_diagonal = tw_sparse_find(lu->J, i, i) >= 0;
    for (int64_t k = row_start[i]; k < row_start[i + 1]; k++) {
        /* A missing diagonal goes before the first block to its right. */
        if (!has_diagonal && block_column[k] > i) {
            lu->column[at] = diagonal;
            lu->source[at++] = -1;
            has_diagonal = true;
        }

        /* Blocks are stored by columns. */
        for (int64_t d = 0; d < block; d++) {
            lu->column[at] = block_column[k] * block + d;
            lu->source[at++] = k * block * block + d * block + c;
        }
    }

    /* ... or at the end of the row. */
    if (!has_diagonal) {
        lu->column[at] = diagonal;
        lu->source[at++] = -1;
    }
    return at;
}

static tw_status build_pattern(tw_sparse_lu *lu)
{
    int64_t entries = count_entries(lu->J);
    lu->start = TW_NEW_ARRAY(lu->n + 1, SuiteSparse_long);
    lu->column = TW_NEW_ARRAY(entries, SuiteSparse_long);
    lu->source = TW_NEW_ARRAY(entries, int64_t);
    lu->values = TW_NEW_ARRAY(entries, double);
    if (!lu->start || !lu->column || !lu->source || !lu->values) return TW_OUT_OF_MEMORY;

    /* Row after row. */
    int64_t block = tw_sparse_block(lu->J);
    int64_t at = 0;
    for (int64_t row = 0; row < lu->n; row++) {
        lu->start[row] = at;
        at = write_row(lu, row / block, row % block, at);
    }
    lu->start[lu->n] = at;
    return TW_OK;
}

/* ---- KLU ---- */

static tw_status status_of(const tw_sparse_lu *lu)
{
    if (lu->memory.failed) return TW_OUT_OF_MEMORY;
    switch (lu->common.status) {
    case KLU_OK:
        return TW_OK;
    case KLU_SINGULAR:
        return TW_SINGULAR;
    case KLU_OUT_OF_MEMORY:
    case KLU_TOO_LARGE:
        return TW_OUT_OF_MEMORY;
    default:
        return TW_INTERNAL;
    }
}

static tw_status analyse(tw_sparse_lu *lu)
{
    tw_solver_memory *previous = tw_solver_memory_enter(&lu->memory);
    klu_l_defaults(&lu->common);
    lu->common.tol = DIAGONAL_PREFERENCE;
    lu->symbolic = klu_l_analyze(lu->n, lu->start, lu->column, &lu->common);
    tw_solver_memory_leave(previous);

    /* A pattern that is singular for all values is not known before the values: it waits. */
    tw_status status = status_of(lu);
    return lu->symbolic && status == TW_SINGULAR ? TW_OK : status;
}

tw_status tw_sparse_lu_create(const tw_sparse *J, tw_sparse_lu **out, tw_error *error)
{
    if (!J || !out || tw_sparse_size(J) < 1)
        return tw_fail(error, TW_INVALID_ARGUMENT, "sparse LU needs a matrix with rows");
    *out = NULL;
    if (tw_sparse_storage_of(J) != TW_STORE_FULL)
        return tw_fail(error, TW_UNSUPPORTED, "sparse LU needs a matrix in full storage");

    tw_sparse_lu *lu = TW_NEW(tw_sparse_lu);
    if (!lu) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    lu->J = J;
    lu->n = tw_sparse_size(J);

    /* Blocks that KLU gives back are kept from now on: further factorisations ask for the same. */
    lu->memory.keep = true;
    tw_status status = build_pattern(lu);
    if (status == TW_OK) status = analyse(lu);
    if (status) {
        tw_sparse_lu_free(lu);
        return tw_fail_plain(error, status);
    }
    *out = lu;
    return TW_OK;
}

/* Gives the factor back to KLU. */
static void drop_factor(tw_sparse_lu *lu)
{
    tw_solver_memory *previous = tw_solver_memory_enter(&lu->memory);
    if (lu->numeric) klu_l_free_numeric(&lu->numeric, &lu->common);
    lu->numeric = NULL;
    tw_solver_memory_leave(previous);
}

void tw_sparse_lu_free(tw_sparse_lu *lu)
{
    if (!lu) return;
    drop_factor(lu);
    tw_solver_memory *previous = tw_solver_memory_enter(&lu->memory);
    if (lu->symbolic) klu_l_free_symbolic(&lu->symbolic, &lu->common);
    tw_solver_memory_leave(previous);
    tw_solver_memory_drain(&lu->memory);

    tw_release(lu->start);
    tw_release(lu->column);
    tw_release(lu->source);
    tw_release(lu->values);
    tw_release(lu);
}

/* ---- numbers ---- */

/* values = a I + b J */
static void fill_values(tw_sparse_lu *lu, double a, double b)
{
    const double *J = tw_sparse_values_const(lu->J);
    for (int64_t row = 0; row < lu->n; row++)
        for (int64_t k = lu->start[row]; k < lu->start[row + 1]; k++) {
            double value = lu->source[k] < 0 ? 0 : b * J[lu->source[k]];
            if (lu->column[k] == row) value += a;
            lu->values[k] = value;
        }
}

/* Factorises with the pivots at hand. False if they are not good for the present values. */
static bool keep_pivots(tw_sparse_lu *lu)
{
    if (!lu->numeric) return false;
    if (!klu_l_refactor(lu->start, lu->column, lu->values, lu->symbolic, lu->numeric, &lu->common))
        return false;
    if (lu->common.status != KLU_OK) return false;

    /* rgrowth = min over columns of max |a_ij| / max |u_ij|, of the scaled matrix. */
    if (!klu_l_rgrowth(lu->start, lu->column, lu->values, lu->symbolic, lu->numeric, &lu->common))
        return false;
    return lu->common.rgrowth >= LEAST_RECIPROCAL_GROWTH;
}

tw_status tw_sparse_lu_factorise(tw_sparse_lu *lu, double a, double b)
{
    fill_values(lu, a, b);
    if (!tw_vector_is_finite(lu->start[lu->n], lu->values)) {
        drop_factor(lu);
        return TW_NOT_FINITE;
    }

    /* Old pivots first, new ones where the old are missing or bad. */
    lu->memory.failed = false;
    lu->counts.factorisations++;
    tw_solver_memory *previous = tw_solver_memory_enter(&lu->memory);
    bool kept = keep_pivots(lu);
    if (!kept) {
        if (lu->numeric) klu_l_free_numeric(&lu->numeric, &lu->common);
        lu->counts.pivot_searches++;
        lu->numeric = klu_l_factor(lu->start, lu->column, lu->values, lu->symbolic, &lu->common);
    }
    tw_solver_memory_leave(previous);

    /* A factor that failed is not kept. */
    tw_status status = status_of(lu);
    if (status != TW_OK || !lu->numeric) {
        drop_factor(lu);
        return status != TW_OK ? status : TW_SINGULAR;
    }
    lu->counts.entries = lu->numeric->lnz + lu->numeric->unz;
    return TW_OK;
}

tw_status tw_sparse_lu_solve(tw_sparse_lu *lu, const double *rhs, double *x)
{
    if (!lu->numeric) return TW_INVALID_ARGUMENT;
    if (x != rhs) tw_vector_copy(lu->n, rhs, x);

    /* KLU's matrix is the transpose of ours. */
    tw_solver_memory *previous = tw_solver_memory_enter(&lu->memory);
    bool solved = klu_l_tsolve(lu->symbolic, lu->numeric, lu->n, 1, x, &lu->common) != 0;
    tw_solver_memory_leave(previous);
    if (!solved) return status_of(lu) == TW_OK ? TW_INTERNAL : status_of(lu);
    return tw_vector_is_finite(lu->n, x) ? TW_OK : TW_NOT_FINITE;
}

tw_sparse_lu_counts tw_sparse_lu_counts_now(const tw_sparse_lu *lu)
{
    return lu->counts;
}
