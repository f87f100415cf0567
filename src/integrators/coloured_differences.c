#include "integrators/coloured_differences.h"

#include <float.h>
#include <math.h>

#include <stdbool.h>

#include "base/allocate.h"

struct tw_coloured_differences {
    int64_t block_rows;
    int block;
    int colours;              /* of block columns */
    int32_t *colour;          /* of each block column */
    int64_t *neighbour_start; /* full (both triangles) adjacency with diagonal, CSR */
    int32_t *neighbour;
    double *moved, *difference, *step;
};

static void count_neighbours(const tw_sparse *pattern, int64_t rows, int64_t *start)
{
    const int64_t *row_start = tw_sparse_row_start(pattern);
    const int32_t *column = tw_sparse_column(pattern);
    bool upper = tw_sparse_storage_of(pattern) == TW_STORE_UPPER;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t p = row_start[i]; p < row_start[i + 1]; p++) {
            start[i + 1]++;
            if (upper && column[p] != i) start[column[p] + 1]++;
        }
    for (int64_t i = 0; i < rows; i++) start[i + 1] += start[i];
}

static void fill_neighbours(const tw_sparse *pattern, int64_t rows, const int64_t *start,
                            int64_t *next, int32_t *neighbour)
{
    const int64_t *row_start = tw_sparse_row_start(pattern);
    const int32_t *column = tw_sparse_column(pattern);
    bool upper = tw_sparse_storage_of(pattern) == TW_STORE_UPPER;
    for (int64_t i = 0; i < rows; i++) next[i] = start[i];
    for (int64_t i = 0; i < rows; i++)
        for (int64_t p = row_start[i]; p < row_start[i + 1]; p++) {
            neighbour[next[i]++] = column[p];
            if (upper && column[p] != i) neighbour[next[column[p]]++] = (int32_t)i;
        }
}

/* Greedy distance-two colouring: two columns of one colour share no row. The pattern is structurally symmetric or
 * treated as if it were, by rows: columns j, k conflict if some row holds both. `columns_of` is the transposed
 * adjacency. */
static void colour_columns(tw_coloured_differences *d, const int64_t *column_start,
                           const int32_t *column_rows, int64_t *forbidden)
{
    for (int64_t j = 0; j < d->block_rows; j++) d->colour[j] = -1, forbidden[j] = -1;
    d->colours = 0;
    for (int64_t j = 0; j < d->block_rows; j++) {
        for (int64_t p = column_start[j]; p < column_start[j + 1]; p++) {
            int32_t row = column_rows[p];
            for (int64_t q = d->neighbour_start[row]; q < d->neighbour_start[row + 1]; q++)
                if (d->colour[d->neighbour[q]] >= 0) forbidden[d->colour[d->neighbour[q]]] = j;
        }
        int32_t c = 0;
        while (forbidden[c] == j) c++;
        d->colour[j] = c;
        if (c + 1 > d->colours) d->colours = c + 1;
    }
}

static void transpose(const tw_coloured_differences *d, int64_t *column_start, int64_t *next,
                      int32_t *column_rows)
{
    for (int64_t p = 0; p < d->neighbour_start[d->block_rows]; p++)
        column_start[d->neighbour[p] + 1]++;
    for (int64_t j = 0; j < d->block_rows; j++) column_start[j + 1] += column_start[j];
    for (int64_t j = 0; j < d->block_rows; j++) next[j] = column_start[j];
    for (int64_t i = 0; i < d->block_rows; i++)
        for (int64_t p = d->neighbour_start[i]; p < d->neighbour_start[i + 1]; p++)
            column_rows[next[d->neighbour[p]]++] = (int32_t)i;
}

static tw_status build(tw_coloured_differences *d, const tw_sparse *pattern)
{
    int64_t rows = d->block_rows, n = rows * d->block;
    d->neighbour_start = tw_allocate_zeroed((size_t)rows + 1, sizeof(int64_t));
    d->colour = TW_NEW_ARRAY(rows, int32_t);
    d->moved = TW_NEW_ARRAY(n, double);
    d->difference = TW_NEW_ARRAY(n, double);
    d->step = TW_NEW_ARRAY(n, double);
    int64_t *column_start = tw_allocate_zeroed((size_t)rows + 1, sizeof(int64_t));
    int64_t *next = TW_NEW_ARRAY(rows + 1, int64_t);
    int32_t *column_rows = NULL;
    tw_status status = TW_OUT_OF_MEMORY;
    if (!d->neighbour_start || !d->colour || !d->moved || !d->difference || !d->step ||
        !column_start || !next)
        goto done;
    count_neighbours(pattern, rows, d->neighbour_start);
    d->neighbour = TW_NEW_ARRAY(d->neighbour_start[rows], int32_t);
    column_rows = TW_NEW_ARRAY(d->neighbour_start[rows], int32_t);
    if (!d->neighbour || !column_rows) goto done;
    fill_neighbours(pattern, rows, d->neighbour_start, next, d->neighbour);
    transpose(d, column_start, next, column_rows);
    colour_columns(d, column_start, column_rows, next);
    status = TW_OK;
done:
    tw_release(column_start);
    tw_release(next);
    tw_release(column_rows);
    return status;
}

tw_status tw_coloured_differences_create(const tw_sparse *pattern, tw_coloured_differences **out)
{
    *out = NULL;
    tw_coloured_differences *d = TW_NEW(tw_coloured_differences);
    if (!d) return TW_OUT_OF_MEMORY;
    d->block = tw_sparse_block(pattern);
    d->block_rows = tw_sparse_size(pattern) / d->block;
    tw_status status = build(d, pattern);
    if (status) {
        tw_coloured_differences_free(d);
        return status;
    }
    *out = d;
    return TW_OK;
}

void tw_coloured_differences_free(tw_coloured_differences *d)
{
    if (!d) return;
    tw_release(d->colour);
    tw_release(d->neighbour_start);
    tw_release(d->neighbour);
    tw_release(d->moved);
    tw_release(d->difference);
    tw_release(d->step);
    tw_release(d);
}

/* Writes column `inner` of every block whose column has colour c. */
static void scatter(const tw_coloured_differences *d, int c, int inner, double sign,
                    tw_sparse *matrix)
{
    const int64_t *row_start = tw_sparse_row_start(matrix);
    const int32_t *column = tw_sparse_column(matrix);
    double *values = tw_sparse_values(matrix);
    int b = d->block;
    for (int64_t i = 0; i < d->block_rows; i++)
        for (int64_t p = row_start[i]; p < row_start[i + 1]; p++) {
            int64_t j = column[p];
            if (d->colour[j] != c) continue;
            double scale = sign / d->step[j * b + inner];
            for (int r = 0; r < b; r++)
                values[p * b * b + inner * b + r] = scale * d->difference[i * b + r];
        }
}

tw_status tw_coloured_differences_fill(tw_coloured_differences *d, tw_difference_function *function,
                                       void *context, const double *x, const double *f,
                                       double scale, double sign, tw_sparse *matrix)
{
    int64_t n = d->block_rows * d->block;
    for (int64_t i = 0; i < n; i++) {
        double moved = x[i] + sqrt(DBL_EPSILON) * fmax(fabs(x[i]), scale);
        d->step[i] = moved - x[i]; /* exactly representable */
    }
    for (int c = 0; c < d->colours; c++)
        for (int inner = 0; inner < d->block; inner++) {
            for (int64_t j = 0; j < d->block_rows; j++)
                for (int r = 0; r < d->block; r++) {
                    int64_t i = j * d->block + r;
                    d->moved[i] = x[i] + (d->colour[j] == c && r == inner ? d->step[i] : 0.0);
                }
            tw_status status = function(context, d->moved, d->difference);
            if (status) return status;
            for (int64_t i = 0; i < n; i++) d->difference[i] -= f[i];
            scatter(d, c, inner, sign, matrix);
        }
    return TW_OK;
}
