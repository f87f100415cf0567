/* What a tw_sparse is made of, and the kernels that multiply a range of its rows. */
#ifndef TW_LINALG_SPARSE_INTERNAL_H
#define TW_LINALG_SPARSE_INTERNAL_H

#include <twang/sparse.h>

/* The rows cut into parts of about equal work, each the job of one thread. The cut depends on the
 * pattern alone.
 *
 * In upper storage a block (i, j) also gives to row j > i. Each part sums such gifts in a window of
 * its own, a ring of mask + 1 rows (a power of two) in which row j has place j & mask. Row i is
 * complete once the part has passed it: it goes to the result and its place is free for a row
 * further on. What is left at the end, rows [start[p+1], reach[p]), belongs to later parts and is
 * added there afterwards, in the order of the parts. Between products windows are zero. */
typedef struct tw_sparse_parts {
    int count;
    int64_t *start; /* count + 1 block rows */

    /* In upper storage only: */
    int64_t *reach;  /* one past the last row that part p gives to, >= start[p+1] */
    int64_t *mask;   /* of part p's window */
    int64_t *offset; /* count + 1: rows of all windows before p's */
    double *window;  /* see tw_window_of */
    int64_t left;    /* rows left in all windows after a product */
} tw_sparse_parts;

struct tw_sparse {
    int block; /* 1 or 3 */
    tw_sparse_storage storage;
    int64_t block_rows;
    int64_t *row_start; /* block_rows + 1 */
    int32_t *column;
    double *values; /* padded by TW_SPARSE_PADDING */
    tw_sparse_parts parts;
    double *row_sums; /* upper storage: scratch of tw_sparse_norm_bound, one per scalar row */
};

enum {
    /* The last column of the last 3x3 block is read four wide. */
    TW_SPARSE_PADDING = 4
};

/* Where a part's window keeps entry `component` of vector `vector` of a row, in doubles. With
 * blocks of 3, one or two vectors have a 3-vector in each four doubles; three or four have one
 * vector in each lane, and beside the window of y a window of x in the same form. */
typedef struct tw_window {
    double *y;
    double *x;         /* NULL unless vectors are lanes */
    int64_t mask;      /* row i has place i & mask */
    int64_t row;       /* doubles from one place to the next, */
    int64_t vector;    /* from one vector to the next, */
    int64_t component; /* from one component to the next */
} tw_window;
tw_window tw_window_of(const tw_sparse *matrix, int64_t part, int count);

enum {
    TW_WINDOW_ROW_1 = TW_MAX_BLOCK,         /* doubles per row, blocks of 1 */
    TW_WINDOW_ROW_3 = 2 * 3 * TW_MAX_BLOCK, /* doubles per row, blocks of 3: y and x */
};

/* Cuts the rows; needs the pattern. TW_OUT_OF_MEMORY leaves what was allocated to
 * tw_sparse_parts_free. */
tw_status tw_sparse_parts_create(tw_sparse *matrix);
void tw_sparse_parts_free(tw_sparse_parts *parts);

/* The rows of one part times `count` vectors. Vectors (of x and y) are tw_sparse_size apart. */
typedef struct tw_sparse_job {
    const tw_sparse *matrix;
    int count;
    int64_t begin, end; /* block rows */
    const double *x;
    double *y;
    tw_window window; /* upper storage */
} tw_sparse_job;

typedef void tw_sparse_kernel(const tw_sparse_job *job);

/* One set of kernels, compiled twice: with vector instructions where the processor has them,
 * and without. */
typedef struct tw_sparse_kernels {
    tw_sparse_kernel *full1, *full3, *upper1, *upper3;
} tw_sparse_kernels;
extern const tw_sparse_kernels tw_sparse_kernels_wide, tw_sparse_kernels_portable;

/* tw_sparse_apply with the given kernels. */
void tw_sparse_apply_with(const tw_sparse_kernels *kernels, const tw_sparse *matrix, int count,
                          const double *in, double *out);

#endif
