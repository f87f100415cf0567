/* An upper bound of the norm of a sparse matrix, from its row sums. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "linalg/sparse_internal.h"

static double scale_of(const double *scale, int64_t i)
{
    return scale ? fabs(scale[i]) : 1.0;
}

/* A non-finite entry or sum must not be lost in a comparison: it makes the bound infinite. */
static double larger(double bound, double sum)
{
    if (sum <= bound) return bound;
    return isfinite(sum) ? sum : INFINITY;
}

/* sum_j |a_ij| s_j over one scalar row of full storage */
static double full_row_sum(const tw_sparse *A, const double *scale, int64_t row)
{
    const int64_t block = A->block;
    const int64_t inside = row % block;
    const int64_t block_row = row / block;

    double sum = 0;
    for (int64_t p = A->row_start[block_row]; p < A->row_start[block_row + 1]; p++)
        for (int64_t c = 0; c < block; c++)
            sum += fabs(A->values[(p * block + c) * block + inside]) *
                   scale_of(scale, A->column[p] * block + c);
    return sum;
}

/* Each stored entry counts for its row, and above the block diagonal for its column too. */
static void add_upper_row_sums(const tw_sparse *A, const double *scale, int64_t block_row,
                               double *sums)
{
    const int64_t block = A->block;
    for (int64_t p = A->row_start[block_row]; p < A->row_start[block_row + 1]; p++)
        for (int64_t c = 0; c < block; c++)
            for (int64_t r = 0; r < block; r++) {
                const int64_t i = block_row * block + r;
                const int64_t j = A->column[p] * block + c;
                const double entry = fabs(A->values[(p * block + c) * block + r]);

                sums[i] += entry * scale_of(scale, j);
                if (A->column[p] != block_row) sums[j] += entry * scale_of(scale, i);
            }
}

double tw_sparse_norm_bound(const tw_sparse *matrix, const double *scale)
{
    if (!matrix) return 0;
    const int64_t n = tw_sparse_size(matrix);
    const bool upper = matrix->storage == TW_STORE_UPPER;

    /* Upper storage: all row sums in one pass, because an entry belongs to two of them. */
    if (upper) {
        memset(matrix->row_sums, 0, (size_t)n * sizeof(double));
        for (int64_t i = 0; i < matrix->block_rows; i++)
            add_upper_row_sums(matrix, scale, i, matrix->row_sums);
    }

    /* max_i s_i sum_j |a_ij| s_j bounds the norm of diag(s) A diag(s). */
    double bound = 0;
    for (int64_t i = 0; i < n; i++) {
        double sum = upper ? matrix->row_sums[i] : full_row_sum(matrix, scale, i);
        bound = larger(bound, sum * scale_of(scale, i));
    }
    return bound;
}
