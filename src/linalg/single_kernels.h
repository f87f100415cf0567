/* The product kernel in single precision, written once over tw_lanes (compare sparse_kernels.h). */
#ifndef TW_LINALG_SINGLE_KERNELS_H
#define TW_LINALG_SINGLE_KERNELS_H

#include "linalg/single_internal.h"

/* The rows of a slice: what they multiply, and what they gather themselves. */
typedef struct slice_rows {
    tw_lanes x[TW_SINGLE_VECTORS][3];
    tw_lanes y[TW_SINGLE_VECTORS][3];
} slice_rows;

/* One group: y_i += B x_j and, off the diagonal, y_j += B^T x_i, where the vectors' rows j are in
 * memory. The blocks are loaded once for all vectors. */
TW_ALWAYS_INLINE void multiply_group(const int count, const float *values,
                                     const float *const x[][3], float *const y[][3],
                                     slice_rows *rows)
{
    tw_lanes B[3][3]; /* by columns */
    for (int c = 0; c < 3; c++)
        for (int r = 0; r < 3; r++) B[c][r] = tw_lanes_load(values + (3 * c + r) * TW_LANES);

    for (int v = 0; v < count; v++)
        for (int c = 0; c < 3; c++) {
            tw_lanes x_j = tw_lanes_load(x[v][c]);
            for (int r = 0; r < 3; r++) rows->y[v][r] = tw_lanes_fma(B[c][r], x_j, rows->y[v][r]);
        }

    if (!y) return;
    for (int v = 0; v < count; v++)
        for (int c = 0; c < 3; c++) {
            tw_lanes y_j = tw_lanes_load(y[v][c]);
            for (int r = 0; r < 3; r++) y_j = tw_lanes_fma(B[c][r], rows->x[v][r], y_j);
            tw_lanes_store(y[v][c], y_j);
        }
}

TW_ALWAYS_INLINE void multiply_part(const int count, const tw_single *single, int part,
                                    int64_t stride, const float *vectors)
{
    const float *x[TW_SINGLE_VECTORS][3];
    float *y[TW_SINGLE_VECTORS][3];
    for (int v = 0; v < count; v++)
        for (int c = 0; c < 3; c++) {
            x[v][c] = vectors + v * stride + c * single->width;
            y[v][c] = tw_single_y(single, part, v, c);
        }

    const int64_t first = single->part_start[part];
    const float *values = single->values + TW_SINGLE_GROUP * single->slice_start[first];
    int64_t group = single->slice_start[first];

    for (int64_t s = first; s < single->part_start[part + 1]; s++) {
        const int64_t i = s * TW_LANES;
        const int64_t own = i - first * TW_LANES; /* place of row i in the window */
        slice_rows rows;
        for (int v = 0; v < count; v++)
            for (int c = 0; c < 3; c++) {
                rows.x[v][c] = tw_lanes_load(x[v][c] + i);
                rows.y[v][c] = tw_lanes_zero();
            }

        /* The blocks on the diagonal count once. */
        for (; group < single->slice_start[s + 1]; group++, values += TW_SINGLE_GROUP) {
            const int64_t offset = single->offset[group];
            const float *x_j[TW_SINGLE_VECTORS][3];
            float *y_j[TW_SINGLE_VECTORS][3];
            for (int v = 0; v < count; v++)
                for (int c = 0; c < 3; c++) {
                    x_j[v][c] = x[v][c] + i + offset;
                    y_j[v][c] = y[v][c] + own + offset;
                }
            multiply_group(count, values, x_j, offset > 0 ? y_j : NULL, &rows);
        }

        /* Earlier rows, and rows of this slice itself, have given to these rows before. */
        for (int v = 0; v < count; v++)
            for (int c = 0; c < 3; c++) {
                float *place = y[v][c] + own;
                tw_lanes_store(place, tw_lanes_add(tw_lanes_load(place), rows.y[v][c]));
            }
    }
}

static void multiply(const tw_single *single, int part, int count, int64_t stride,
                     const float *vectors)
{
    if (count == 1)
        multiply_part(1, single, part, stride, vectors);
    else
        multiply_part(2, single, part, stride, vectors);
}

#endif
