/* What a tw_sparse is made of, and the kernels that multiply a range of its rows. */
#ifndef TW_LINALG_SPARSE_INTERNAL_H
#define TW_LINALG_SPARSE_INTERNAL_H

#include <twang/sparse.h>

/* The rows cut into parts of about equal work, each the job of one thread. The cut depends on the pattern alone.
 *
 * In upper storage a block (i, j) also gives to row j. Where j lies past its part, that goes into the part's private
 * spill: rows [start[p+1], reach[p]), TW_MAX_BLOCK vectors of them, at spill + block * TW_MAX_BLOCK * offset[p]. */
typedef struct tw_sparse_parts {
    int count;
    int64_t *start;  /* count + 1 block rows */
    int64_t *reach;  /* upper storage: one past the last row that part p gives to, >= start[p+1] */
    int64_t *offset; /* upper storage: count + 1, spilled block rows before part p */
    double *spill;   /* upper storage */
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

/* Cuts the rows; needs the pattern. TW_OUT_OF_MEMORY leaves what was allocated to tw_sparse_parts_free. */
tw_status tw_sparse_parts_create(tw_sparse *matrix);
void tw_sparse_parts_free(tw_sparse_parts *parts);

/* The rows of one part times `count` vectors. Vectors (of x and y) are tw_sparse_size apart.
 * Full storage: y = A x on these rows. Upper storage: y and spill hold zeros on entry and are added to. */
typedef struct tw_sparse_job {
    const tw_sparse *matrix;
    int count;
    int64_t begin, end; /* block rows */
    const double *x;
    double *y;
    double *spill;        /* its first row is row `end` */
    int64_t spill_stride; /* doubles from one vector of the spill to the next */
} tw_sparse_job;

typedef void tw_sparse_kernel(const tw_sparse_job *job);

/* One set of kernels, compiled twice: over vector instructions where there are any, and portably. */
typedef struct tw_sparse_kernels {
    tw_sparse_kernel *full1, *full3, *upper1, *upper3;
} tw_sparse_kernels;
extern const tw_sparse_kernels tw_sparse_kernels_wide, tw_sparse_kernels_portable;

/* tw_sparse_apply with the kernels of one's choice. */
void tw_sparse_apply_with(const tw_sparse_kernels *kernels, const tw_sparse *matrix, int count, const double *in,
                          double *out);

#endif
