/* Sparse matrices: creating them, checking their pattern, finding entries. */
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/sparse_internal.h"

/* What can be checked without looking at the pattern. */
static tw_status check_sizes(int block, int64_t block_rows, const int64_t *row_start,
                             const int64_t *column, tw_sparse_storage storage, tw_error *error)
{
    /* Blocks and storage. */
    if (block != 1 && block != 3)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "sparse matrix: blocks of %d, but only 1 and 3 are known", block);

    if (storage != TW_STORE_FULL && storage != TW_STORE_UPPER)
        return tw_fail(error, TW_INVALID_ARGUMENT, "sparse matrix: unknown storage %d",
                       (int)storage);

    /* The number of rows. */
    if (block_rows < 0)
        return tw_fail(error, TW_INVALID_ARGUMENT, "sparse matrix: %lld block rows",
                       (long long)block_rows);
    if (block_rows > INT32_MAX)
        return tw_fail(error, TW_UNSUPPORTED,
                       "sparse matrix: %lld block rows, at most 2^31 - 1 are possible",
                       (long long)block_rows);

    /* The arrays. */
    if (!row_start || (!column && row_start[block_rows] > 0))
        return tw_fail(error, TW_INVALID_ARGUMENT, "sparse matrix: the pattern is NULL");
    if (row_start[0] != 0)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "sparse matrix: row_start begins with %lld, not 0", (long long)row_start[0]);
    return TW_OK;
}

/* The columns of one row lie inside the matrix (or its upper triangle) and ascend. */
static tw_status check_row(int64_t row, int64_t block_rows, const int64_t *row_start,
                           const int64_t *column, tw_sparse_storage storage, tw_error *error)
{
    int64_t previous = storage == TW_STORE_UPPER ? row - 1 : -1;
    for (int64_t p = row_start[row]; p < row_start[row + 1]; p++) {
        if (column[p] < 0 || column[p] >= block_rows)
            return tw_fail(error, TW_INVALID_ARGUMENT,
                           "sparse matrix: row %lld has column %lld, outside of 0..%lld",
                           (long long)row, (long long)column[p], (long long)block_rows - 1);

        if (storage == TW_STORE_UPPER && column[p] < row)
            return tw_fail(
                error, TW_INVALID_ARGUMENT,
                "sparse matrix: row %lld has column %lld, below the diagonal of upper storage",
                (long long)row, (long long)column[p]);

        if (column[p] <= previous)
            return tw_fail(
                error, TW_INVALID_ARGUMENT,
                "sparse matrix: row %lld has column %lld after column %lld, not ascending",
                (long long)row, (long long)column[p], (long long)previous);

        previous = column[p];
    }
    return TW_OK;
}

static tw_status check_pattern(int64_t block_rows, const int64_t *row_start, const int64_t *column,
                               tw_sparse_storage storage, tw_error *error)
{
    /* All row starts are checked first: a wrong one would lead past the end of `column`. */
    for (int64_t row = 0; row < block_rows; row++)
        if (row_start[row + 1] < row_start[row])
            return tw_fail(error, TW_INVALID_ARGUMENT,
                           "sparse matrix: row_start descends at row %lld", (long long)row);

    for (int64_t row = 0; row < block_rows; row++)
        TW_TRY(check_row(row, block_rows, row_start, column, storage, error));
    return TW_OK;
}

static tw_status copy_pattern(tw_sparse *matrix, const int64_t *row_start, const int64_t *column)
{
    const size_t blocks = (size_t)row_start[matrix->block_rows];
    const size_t area = (size_t)matrix->block * (size_t)matrix->block;
    if (blocks > (SIZE_MAX - TW_SPARSE_PADDING) / area) return TW_OUT_OF_MEMORY;

    matrix->row_start = TW_NEW_ARRAY(matrix->block_rows + 1, int64_t);
    matrix->column = TW_NEW_ARRAY(blocks, int32_t);
    matrix->values = tw_allocate_zeroed(blocks * area + TW_SPARSE_PADDING, sizeof(double));
    if (!matrix->row_start || !matrix->column || !matrix->values) return TW_OUT_OF_MEMORY;

    memcpy(matrix->row_start, row_start, (size_t)(matrix->block_rows + 1) * sizeof *row_start);
    for (size_t p = 0; p < blocks; p++) matrix->column[p] = (int32_t)column[p];

    /* The norm bound of upper storage needs scratch. */
    if (matrix->storage == TW_STORE_UPPER) {
        matrix->row_sums = TW_NEW_ARRAY(tw_sparse_size(matrix), double);
        if (!matrix->row_sums) return TW_OUT_OF_MEMORY;
    }
    return tw_sparse_parts_create(matrix);
}

tw_status tw_sparse_create(int block, int64_t block_rows, const int64_t *row_start,
                           const int64_t *column, tw_sparse_storage storage, tw_sparse **out,
                           tw_error *error)
{
    if (!out) return tw_fail(error, TW_INVALID_ARGUMENT, "sparse matrix: nowhere to put it");
    *out = NULL;
    TW_TRY(check_sizes(block, block_rows, row_start, column, storage, error));
    TW_TRY(check_pattern(block_rows, row_start, column, storage, error));

    tw_sparse *matrix = TW_NEW(tw_sparse);
    if (!matrix) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    matrix->block = block;
    matrix->block_rows = block_rows;
    matrix->storage = storage;

    tw_status status = copy_pattern(matrix, row_start, column);
    if (status) {
        tw_sparse_free(matrix);
        return tw_fail_plain(error, status);
    }
    *out = matrix;
    return TW_OK;
}

void tw_sparse_free(tw_sparse *matrix)
{
    if (!matrix) return;
    tw_sparse_parts_free(&matrix->parts);
    tw_release(matrix->row_start);
    tw_release(matrix->column);
    tw_release(matrix->values);
    tw_release(matrix->row_sums);
    tw_release(matrix);
}

int64_t tw_sparse_size(const tw_sparse *matrix)
{
    if (!matrix) return 0;
    return matrix->block * matrix->block_rows;
}

int tw_sparse_block(const tw_sparse *matrix)
{
    if (!matrix) return 0;
    return matrix->block;
}

tw_sparse_storage tw_sparse_storage_of(const tw_sparse *matrix)
{
    if (!matrix) return TW_STORE_FULL;
    return matrix->storage;
}

const int64_t *tw_sparse_row_start(const tw_sparse *matrix)
{
    if (!matrix) return NULL;
    return matrix->row_start;
}

const int32_t *tw_sparse_column(const tw_sparse *matrix)
{
    if (!matrix) return NULL;
    return matrix->column;
}

double *tw_sparse_values(tw_sparse *matrix)
{
    if (!matrix) return NULL;
    return matrix->values;
}

const double *tw_sparse_values_const(const tw_sparse *matrix)
{
    if (!matrix) return NULL;
    return matrix->values;
}

int64_t tw_sparse_find(const tw_sparse *matrix, int64_t block_row, int64_t block_column)
{
    if (!matrix) return -1;
    if (block_row < 0 || block_row >= matrix->block_rows) return -1;

    /* Bisection: the columns of a row ascend. */
    int64_t low = matrix->row_start[block_row];
    int64_t high = matrix->row_start[block_row + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (matrix->column[middle] == block_column) return middle;
        if (matrix->column[middle] < block_column)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

double tw_sparse_bytes_per_product(const tw_sparse *matrix)
{
    if (!matrix) return 0;
    double blocks = (double)matrix->row_start[matrix->block_rows];
    double rows = (double)matrix->block_rows;

    /* Each value and index is read once, each vector is read or written once. */
    double values = blocks * matrix->block * matrix->block * sizeof(double);
    double pattern = blocks * sizeof(int32_t) + (rows + 1) * sizeof(int64_t);
    double vectors = 2 * rows * matrix->block * sizeof(double);
    return values + pattern + vectors;
}
