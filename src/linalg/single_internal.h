/* How a matrix in single precision is stored, and the kernel that multiplies a part of it. */
#ifndef TW_LINALG_SINGLE_INTERNAL_H
#define TW_LINALG_SINGLE_INTERNAL_H

#include <stdint.h>

#include "base/lanes.h"
#include "linalg/single.h"

enum {
    TW_SINGLE_GROUP = 9 * TW_LANES, /* floats of a group */
    TW_SINGLE_VECTORS = 2           /* most vectors that one pass over the matrix serves */
};

/* A slice is TW_LANES consecutive block rows. Its blocks are in groups: the blocks (i, i + offset) of
 * all its rows i, entry by entry, each entry of the block for all rows side by side; rows without
 * such a block have zeros. The offsets of a slice ascend.
 *
 * Vectors are stored component by component. A part is a range of slices, the job of one thread. It
 * adds to rows up to `reach` in a window of its own, in which its first row has place 0. */
struct tw_single {
    int64_t rows;         /* block rows */
    int64_t blocks;       /* stored blocks of the matrix */
    int64_t slices;       /* rows / TW_LANES, rounded up */
    int64_t *slice_start; /* slices + 1: groups before a slice */
    int32_t *offset;      /* of each group */
    uint32_t *place;      /* of each block of the matrix: TW_LANES * group + lane */
    float *values;        /* TW_SINGLE_GROUP for each group */
    double unit;          /* tw_single_unit */
    double *peaks;        /* of blocks of a loop: largest entries met */

    int parts;
    int64_t *part_start;   /* parts + 1 slices */
    int64_t *part_reach;   /* rows: a multiple of TW_LANES, at least those of the part */
    int64_t *window_start; /* parts + 1: rows of windows before this part's */
    int64_t width;         /* entries of a component of a vector: all rows that any lane reads */
    float *y; /* windows of TW_SINGLE_VECTORS times three components, zero between products */
};

/* Adds A x of the slices of one part to its window, for `count` vectors that are `stride` apart. */
typedef void tw_single_kernel(const tw_single *single, int part, int count, int64_t stride,
                              const float *x);
extern tw_single_kernel tw_single_kernel_wide;
extern tw_single_kernel tw_single_kernel_portable;

/* The same by a certain kernel, for tests. */
void tw_single_multiply_with(tw_single_kernel *kernel, const tw_single *single, int count,
                             int64_t stride, const float *x, float *y);

/* Component c of vector v in the window of a part. */
static inline float *tw_single_y(const tw_single *single, int part, int v, int c)
{
    int64_t rows = single->window_start[part + 1] - single->window_start[part];
    return single->y + 3 * TW_SINGLE_VECTORS * single->window_start[part] + (3 * v + c) * rows;
}

#endif
