/* How the rows of a sparse matrix are shared among threads. */
#include <stdbool.h>

#include "base/allocate.h"
#include "base/simd.h"
#include "linalg/sparse_internal.h"

enum {
    VALUES_PER_PART = 8192, /* some microseconds of work */
    FULL_PARTS = 256,       /* most parts in full storage: any number of cores shares them evenly */
    UPPER_PARTS = 64        /* most parts in upper storage, where every part needs a window */
};

/* Cuts the rows into parts of equal work, which is counted as stored blocks + rows: part p ends at
 * the first row where p + 1 shares are complete. */
static void cut_evenly(tw_sparse *matrix, int count)
{
    const int64_t rows = matrix->block_rows;
    const int64_t work = matrix->row_start[rows] + rows;

    int64_t row = 0;
    matrix->parts.start[0] = 0;
    for (int p = 0; p < count; p++) {
        /* work (p + 1) / count, without overflow */
        int64_t share = work / count * (p + 1) + work % count * (p + 1) / count;
        while (row < rows && matrix->row_start[row] + row < share) row++;
        matrix->parts.start[p + 1] = p + 1 < count ? row : rows;
    }
    matrix->parts.count = count;
}

/* Fills reach, mask and offset; returns the total of the windows' rows. */
static int64_t measure_windows(tw_sparse *matrix)
{
    tw_sparse_parts *parts = &matrix->parts;
    parts->offset[0] = 0;
    parts->left = 0;

    for (int p = 0; p < parts->count; p++) {
        /* How far below itself a row of the part gives, at most. */
        int64_t furthest = 0;
        parts->reach[p] = parts->start[p + 1];
        for (int64_t i = parts->start[p]; i < parts->start[p + 1]; i++) {
            int64_t end = matrix->row_start[i + 1];
            if (end == matrix->row_start[i]) continue;
            int64_t last = matrix->column[end - 1]; /* columns ascend */
            if (last >= parts->reach[p]) parts->reach[p] = last + 1;
            if (last - i > furthest) furthest = last - i;
        }
        parts->left += parts->reach[p] - parts->start[p + 1];

        /* The window holds row i and all rows that it gives to; its size is a power of two. */
        int64_t rows = 1;
        while (rows <= furthest) rows *= 2;
        parts->mask[p] = rows - 1;
        parts->offset[p + 1] = parts->offset[p] + rows;
    }
    return parts->offset[parts->count];
}

static tw_status create_windows(tw_sparse *matrix, int count)
{
    tw_sparse_parts *parts = &matrix->parts;
    parts->reach = TW_NEW_ARRAY(count, int64_t);
    parts->mask = TW_NEW_ARRAY(count, int64_t);
    parts->offset = TW_NEW_ARRAY(count + 1, int64_t);
    if (!parts->reach || !parts->mask || !parts->offset) return TW_OUT_OF_MEMORY;

    /* A row of a window costs about as much time as a row of the result. Therefore there are fewer
     * parts where the windows would have more than half as many rows as the matrix. For unknowns in
     * random order one part is left, and one thread. */
    int64_t rows = measure_windows(matrix);
    while (count > 1 && rows > matrix->block_rows / 2) {
        count /= 2;
        cut_evenly(matrix, count);
        rows = measure_windows(matrix);
    }

    const size_t row = matrix->block == 3 ? TW_WINDOW_ROW_3 : TW_WINDOW_ROW_1;
    parts->window = tw_allocate_zeroed((size_t)rows, row * sizeof(double));
    return parts->window ? TW_OK : TW_OUT_OF_MEMORY;
}

tw_status tw_sparse_parts_create(tw_sparse *matrix)
{
    const bool upper = matrix->storage == TW_STORE_UPPER;
    const int64_t area = (int64_t)matrix->block * matrix->block;
    const int64_t wanted = matrix->row_start[matrix->block_rows] * area / VALUES_PER_PART;
    const int most = upper ? UPPER_PARTS : FULL_PARTS;

    /* A power of two: two, four or eight threads share it evenly. */
    int count = 1;
    while (2 * count <= wanted && 2 * count <= most) count *= 2;

    matrix->parts.start = TW_NEW_ARRAY(count + 1, int64_t);
    if (!matrix->parts.start) return TW_OUT_OF_MEMORY;

    cut_evenly(matrix, count);
    return upper ? create_windows(matrix, count) : TW_OK;
}

tw_window tw_window_of(const tw_sparse *matrix, int64_t part, int count)
{
    const tw_sparse_parts *parts = &matrix->parts;
    tw_window window = {.mask = parts->mask[part]};

    if (matrix->block == 1) {
        window.y = parts->window + parts->offset[part] * TW_WINDOW_ROW_1;
        window.row = count;
        window.vector = 1;
        return window;
    }

    window.y = parts->window + parts->offset[part] * TW_WINDOW_ROW_3;
    if (count <= 2) {
        /* Each vector has four doubles per row, the last of them unused. */
        window.row = 4 * count;
        window.vector = 4;
        window.component = 1;
    } else {
        /* Each component has four lanes per row, one per vector. */
        window.row = 3 * TW_WIDE_LANES;
        window.vector = 1;
        window.component = TW_WIDE_LANES;
        window.x = window.y + (window.mask + 1) * window.row;
    }
    return window;
}

void tw_sparse_parts_free(tw_sparse_parts *parts)
{
    tw_release(parts->start);
    tw_release(parts->reach);
    tw_release(parts->mask);
    tw_release(parts->offset);
    tw_release(parts->window);
}
