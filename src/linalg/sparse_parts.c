#include <stdbool.h>

#include "base/allocate.h"
#include "linalg/sparse_internal.h"

enum {
    VALUES_PER_PART = 32768, /* below this a part is not worth waking a thread for */
    FULL_PARTS = 256,        /* most parts: enough for any number of cores to share evenly */
    UPPER_PARTS = 64
};

/* Part p ends with the first row at which p + 1 equal shares of (stored blocks + rows) are complete. */
static void cut_evenly(tw_sparse *matrix, int count)
{
    const int64_t rows = matrix->block_rows, work = matrix->row_start[rows] + rows;
    int64_t row = 0;
    matrix->parts.start[0] = 0;
    for (int p = 0; p < count; p++) {
        int64_t share = work / count * (p + 1) + work % count * (p + 1) / count;
        while (row < rows && matrix->row_start[row] + row < share) row++;
        matrix->parts.start[p + 1] = p + 1 < count ? row : rows;
    }
    matrix->parts.count = count;
}

/* Fills reach and offset; returns the total of spilled rows. */
static int64_t measure_spill(tw_sparse *matrix)
{
    tw_sparse_parts *parts = &matrix->parts;
    parts->offset[0] = 0;
    for (int p = 0; p < parts->count; p++) {
        parts->reach[p] = parts->start[p + 1];
        for (int64_t row = parts->start[p]; row < parts->start[p + 1]; row++) {
            int64_t end = matrix->row_start[row + 1];
            if (end == matrix->row_start[row]) continue;
            int64_t last = matrix->column[end - 1]; /* columns ascend */
            if (last >= parts->reach[p]) parts->reach[p] = last + 1;
        }
        parts->offset[p + 1] = parts->offset[p] + parts->reach[p] - parts->start[p + 1];
    }
    return parts->offset[parts->count];
}

tw_status tw_sparse_parts_create(tw_sparse *matrix)
{
    tw_sparse_parts *parts = &matrix->parts;
    const bool upper = matrix->storage == TW_STORE_UPPER;
    const int64_t area = (int64_t)matrix->block * matrix->block;
    int64_t wanted = matrix->row_start[matrix->block_rows] * area / VALUES_PER_PART;
    int most = upper ? UPPER_PARTS : FULL_PARTS, count = wanted < 1 ? 1 : wanted < most ? (int)wanted : most;

    parts->start = TW_NEW_ARRAY(count + 1, int64_t);
    if (!parts->start) return TW_OUT_OF_MEMORY;
    cut_evenly(matrix, count);
    if (!upper) return TW_OK;

    parts->reach = TW_NEW_ARRAY(count, int64_t);
    parts->offset = TW_NEW_ARRAY(count + 1, int64_t);
    if (!parts->reach || !parts->offset) return TW_OUT_OF_MEMORY;
    /* A spilled row costs about as much as a row of x: fewer parts when they would spill more than half of the rows.
     * Without any ordering of the unknowns this ends at one part, without spill and without threads. */
    int64_t spilled = measure_spill(matrix);
    while (count > 1 && spilled > matrix->block_rows / 2) {
        count /= 2;
        cut_evenly(matrix, count);
        spilled = measure_spill(matrix);
    }
    parts->spill = tw_allocate((size_t)spilled, sizeof(double) * TW_MAX_BLOCK * (size_t)matrix->block);
    return parts->spill ? TW_OK : TW_OUT_OF_MEMORY;
}

void tw_sparse_parts_free(tw_sparse_parts *parts)
{
    tw_release(parts->start);
    tw_release(parts->reach);
    tw_release(parts->offset);
    tw_release(parts->spill);
}
