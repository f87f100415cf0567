/* The product kernels, written once over tw_wide. sparse_kernels_wide.c and
 * sparse_kernels_portable.c each include this file after choosing what a tw_wide is, and name the
 * resulting set.
 *
 * A 3x3 block B is nine doubles, column-major, so that y += B x is y += B[:,0] x_0 + B[:,1] x_1 +
 * B[:,2] x_2: three four-wide multiply-adds on unaligned loads, whose fourth lane is the next
 * column's business and is never stored. Each column has its own accumulator: one chain of
 * dependent additions would be slower than memory.
 *
 * Values are read once and in order, but the processor's own prefetching keeps too little in flight
 * and stops at page borders: asking ahead saves a tenth to a fifth of the time. */
#ifndef TW_LINALG_SPARSE_KERNELS_H
#define TW_LINALG_SPARSE_KERNELS_H

#include "base/simd.h"
#include "linalg/sparse_internal.h"

/* How far ahead to ask for values [bytes], by measurement. A kernel that computes little per value
 * wants the smaller one: otherwise lines leave the first-level cache before they are used. */
enum { PREFETCH_NEAR = 1024, PREFETCH_FAR = 2048 };

/* A block of 72 bytes touches a new line, or two. */
TW_ALWAYS_INLINE void prefetch_block(const double *B, uintptr_t ahead)
{
    tw_prefetch(B, ahead);
    tw_prefetch(B, ahead + 64);
}

/* Calls rows(count, job) with count a compile-time constant. */
#define TW_FOR_CONSTANT_COUNT(rows, job)                                                           \
    switch ((job)->count) {                                                                        \
    case 1:                                                                                        \
        rows(1, job);                                                                              \
        break;                                                                                     \
    case 2:                                                                                        \
        rows(2, job);                                                                              \
        break;                                                                                     \
    case 3:                                                                                        \
        rows(3, job);                                                                              \
        break;                                                                                     \
    default:                                                                                       \
        rows(4, job);                                                                              \
        break;                                                                                     \
    }

/* The job with its pointers in local variables. The compiler must assume that a store of a double
 * changes what lies behind a pointer, and would read a struct there again after every store. */
typedef struct row_view {
    const int64_t *row_start;
    const int32_t *column;
    const double *values;
    const double *x;
    double *y;
    int64_t n; /* from one vector to the next */
} row_view;

TW_ALWAYS_INLINE row_view view_of(const tw_sparse_job *job)
{
    const tw_sparse *A = job->matrix;
    return (row_view){A->row_start, A->column, A->values, job->x, job->y, A->block * A->block_rows};
}

/* Full storage, blocks of 3: y_i = sum_j B_ij x_j. */
TW_ALWAYS_INLINE void full3_rows(const int count, const tw_sparse_job *job)
{
    const row_view A = view_of(job);
    const int64_t begin = job->begin;
    const int64_t end = job->end;
    const uintptr_t ahead = count == 1 ? PREFETCH_NEAR : PREFETCH_FAR;

    int64_t p = A.row_start[begin];
    for (int64_t i = begin; i < end; i++) {
        tw_wide y[TW_MAX_BLOCK][3];
        for (int v = 0; v < count; v++)
            for (int c = 0; c < 3; c++) y[v][c] = tw_wide_zero();

        /* Column c of each block goes to accumulator c. */
        for (const int64_t row_end = A.row_start[i + 1]; p < row_end; p++) {
            const double *B = A.values + 9 * p;
            const double *x = A.x + 3 * (int64_t)A.column[p];
            prefetch_block(B, ahead);
            for (int c = 0; c < 3; c++) {
                tw_wide column = tw_wide_load(B + 3 * c);
                for (int v = 0; v < count; v++)
                    y[v][c] = tw_wide_fma(column, tw_wide_splat(x[v * A.n + c]), y[v][c]);
            }
        }

        for (int v = 0; v < count; v++)
            tw_wide_store3(A.y + v * A.n + 3 * i,
                           tw_wide_add(tw_wide_add(y[v][0], y[v][1]), y[v][2]));
    }
}

/* Full storage, single entries. Even and odd entries of a row have an accumulator each. */
TW_ALWAYS_INLINE void full1_rows(const int count, const tw_sparse_job *job)
{
    const row_view A = view_of(job);
    const int64_t begin = job->begin;
    const int64_t end = job->end;

    int64_t p = A.row_start[begin];
    for (int64_t i = begin; i < end; i++) {
        double even[TW_MAX_BLOCK] = {0};
        double odd[TW_MAX_BLOCK] = {0};
        const int64_t row_end = A.row_start[i + 1];

        for (; p + 1 < row_end; p += 2)
            for (int v = 0; v < count; v++) {
                even[v] += A.values[p] * A.x[v * A.n + A.column[p]];
                odd[v] += A.values[p + 1] * A.x[v * A.n + A.column[p + 1]];
            }
        if (p < row_end) {
            for (int v = 0; v < count; v++) even[v] += A.values[p] * A.x[v * A.n + A.column[p]];
            p++;
        }

        for (int v = 0; v < count; v++) A.y[v * A.n + i] = even[v] + odd[v];
    }
}

/* Upper storage, one or two vectors: row i of x, and row i of y while its blocks are added. */
typedef struct upper3_row {
    tw_wide x[2][3]; /* each component in all lanes */
    tw_wide y[2];
} upper3_row;

/* One off-diagonal block of upper storage: y_i += B x_j and y_j += B^T x_i. */
TW_ALWAYS_INLINE void upper3_block(const int count, const double *B, const double *x_j, int64_t n,
                                   upper3_row *row, double *y_j)
{
    tw_wide column[3];
    tw_wide transposed[3];
    prefetch_block(B, PREFETCH_FAR);
    for (int c = 0; c < 3; c++) column[c] = tw_wide_load(B + 3 * c);
    tw_wide_transpose3(column[0], column[1], column[2], transposed);

    for (int v = 0; v < count; v++) {
        /* y_i += B x_j */
        tw_wide own = tw_wide_multiply(column[0], tw_wide_splat(x_j[v * n]));
        own = tw_wide_fma(column[1], tw_wide_splat(x_j[v * n + 1]), own);
        own = tw_wide_fma(column[2], tw_wide_splat(x_j[v * n + 2]), own);
        row->y[v] = tw_wide_add(row->y[v], own);

        /* y_j += B^T x_i */
        tw_wide gift = tw_wide_load(y_j + 4 * v);
        for (int c = 0; c < 3; c++) gift = tw_wide_fma(transposed[c], row->x[v][c], gift);
        tw_wide_store(y_j + 4 * v, gift);
    }
}

/* Upper storage, blocks of 3, one or two vectors. */
TW_ALWAYS_INLINE void upper3_rows(const int count, const tw_sparse_job *job)
{
    const row_view A = view_of(job);
    const int64_t begin = job->begin;
    const int64_t end = job->end;
    const int64_t mask = job->window.mask;
    const int64_t stride = 4 * count;
    double *window = job->window.y;

    int64_t p = A.row_start[begin];
    for (int64_t i = begin; i < end; i++) {
        const int64_t row_end = A.row_start[i + 1];
        upper3_row row;

        /* y_i begins with what earlier rows gave; its place in the window is cleared. */
        for (int v = 0; v < count; v++) {
            double *gifts = window + (i & mask) * stride + 4 * v;
            row.y[v] = tw_wide_load(gifts);
            tw_wide_store(gifts, tw_wide_zero());
            for (int c = 0; c < 3; c++) row.x[v][c] = tw_wide_splat(A.x[v * A.n + 3 * i + c]);
        }

        /* The block on the diagonal, if there is one, counts once. */
        if (p < row_end && A.column[p] == i) {
            for (int c = 0; c < 3; c++) {
                const tw_wide column = tw_wide_load(A.values + 9 * p + 3 * c);
                for (int v = 0; v < count; v++)
                    row.y[v] = tw_wide_fma(column, row.x[v][c], row.y[v]);
            }
            p++;
        }

        for (; p < row_end; p++) {
            const int64_t j = A.column[p];
            upper3_block(count, A.values + 9 * p, A.x + 3 * j, A.n, &row,
                         window + (j & mask) * stride);
        }
        for (int v = 0; v < count; v++) tw_wide_store3(A.y + v * A.n + 3 * i, row.y[v]);
    }
}

/* Upper storage, three or four vectors: here a lane is a vector, and each number of B is copied to
 * all lanes, for both y_i += B x_j and y_j += B^T x_i. This takes a window of x beside that of y,
 * into which one row enters for each row that is done. */

/* Writes a row of `count` vectors, n apart, as three components of four lanes. */
TW_ALWAYS_INLINE void enter_lanes(const int count, const double *x, int64_t n, double *place)
{
    tw_wide row[4];
    for (int v = 0; v < 4; v++) row[v] = v < count ? tw_wide_load3(x + v * n) : tw_wide_zero();
    tw_wide_transpose4(row);
    for (int c = 0; c < 3; c++) tw_wide_store(place + 4 * c, row[c]);
}

/* The other way round. */
TW_ALWAYS_INLINE void leave_lanes(const int count, const tw_wide lanes[3], int64_t n, double *y)
{
    tw_wide row[4] = {lanes[0], lanes[1], lanes[2], tw_wide_zero()};
    tw_wide_transpose4(row);
    for (int v = 0; v < count; v++) tw_wide_store3(y + v * n, row[v]);
}

/* y_i += B x_j in lanes */
TW_ALWAYS_INLINE void add_lanes(const double *B, const tw_wide x_j[3], tw_wide y_i[3])
{
    for (int r = 0; r < 3; r++) {
        tw_wide own = tw_wide_multiply(tw_wide_splat(B[r]), x_j[0]);
        own = tw_wide_fma(tw_wide_splat(B[3 + r]), x_j[1], own);
        own = tw_wide_fma(tw_wide_splat(B[6 + r]), x_j[2], own);
        y_i[r] = tw_wide_add(y_i[r], own);
    }
}

/* One off-diagonal block in lanes, place being that of row j in both windows. */
TW_ALWAYS_INLINE void lanes_block(const double *B, const double *place_x, double *place_y,
                                  const tw_wide x_i[3], tw_wide y_i[3])
{
    prefetch_block(B, PREFETCH_FAR);

    /* y_i += B x_j */
    tw_wide x_j[3];
    for (int c = 0; c < 3; c++) x_j[c] = tw_wide_load(place_x + 4 * c);
    add_lanes(B, x_j, y_i);

    /* y_j += B^T x_i */
    for (int c = 0; c < 3; c++) {
        tw_wide gift = tw_wide_load(place_y + 4 * c);
        for (int r = 0; r < 3; r++) gift = tw_wide_fma(tw_wide_splat(B[3 * c + r]), x_i[r], gift);
        tw_wide_store(place_y + 4 * c, gift);
    }
}

/* Upper storage, blocks of 3, three or four vectors. */
TW_ALWAYS_INLINE void upper3_lanes(const int count, const tw_sparse_job *job)
{
    const row_view A = view_of(job);
    const int64_t begin = job->begin;
    const int64_t end = job->end;
    const int64_t mask = job->window.mask;
    const int64_t rows = job->matrix->block_rows;
    double *window_y = job->window.y;
    double *window_x = job->window.x;

    /* The window of x begins full. */
    for (int64_t j = begin; j <= begin + mask && j < rows; j++)
        enter_lanes(count, A.x + 3 * j, A.n, window_x + 12 * (j & mask));

    int64_t p = A.row_start[begin];
    for (int64_t i = begin; i < end; i++) {
        const int64_t row_end = A.row_start[i + 1];
        double *gifts = window_y + 12 * (i & mask);
        double *own = window_x + 12 * (i & mask);
        tw_wide x_i[3];
        tw_wide y_i[3];

        /* y_i begins with what earlier rows gave; its place in the window is cleared. */
        for (int c = 0; c < 3; c++) {
            x_i[c] = tw_wide_load(own + 4 * c);
            y_i[c] = tw_wide_load(gifts + 4 * c);
            tw_wide_store(gifts + 4 * c, tw_wide_zero());
        }

        if (p < row_end && A.column[p] == i) add_lanes(A.values + 9 * p++, x_i, y_i);
        for (; p < row_end; p++) {
            const int64_t place = 12 * (A.column[p] & mask);
            lanes_block(A.values + 9 * p, window_x + place, window_y + place, x_i, y_i);
        }

        /* Row i is complete; its place goes to the row that enters the window. */
        leave_lanes(count, y_i, A.n, A.y + 3 * i);
        if (i + mask + 1 < rows) enter_lanes(count, A.x + 3 * (i + mask + 1), A.n, own);
    }
}

/* Upper storage, single entries. */
TW_ALWAYS_INLINE void upper1_rows(const int count, const tw_sparse_job *job)
{
    const row_view A = view_of(job);
    const int64_t begin = job->begin;
    const int64_t end = job->end;
    const int64_t mask = job->window.mask;
    double *window = job->window.y;

    int64_t p = A.row_start[begin];
    for (int64_t i = begin; i < end; i++) {
        const int64_t row_end = A.row_start[i + 1];
        double x_i[TW_MAX_BLOCK];
        double y_i[TW_MAX_BLOCK];

        /* y_i begins with what earlier rows gave; its place in the window is cleared. */
        for (int v = 0; v < count; v++) {
            double *gifts = window + (i & mask) * count + v;
            y_i[v] = *gifts;
            *gifts = 0;
            x_i[v] = A.x[v * A.n + i];
        }

        /* The diagonal counts once, every other entry for its row and for its column. */
        if (p < row_end && A.column[p] == i) {
            for (int v = 0; v < count; v++) y_i[v] += A.values[p] * x_i[v];
            p++;
        }
        for (; p < row_end; p++) {
            const int64_t j = A.column[p];
            for (int v = 0; v < count; v++) {
                y_i[v] += A.values[p] * A.x[v * A.n + j];
                window[(j & mask) * count + v] += A.values[p] * x_i[v];
            }
        }

        for (int v = 0; v < count; v++) A.y[v * A.n + i] = y_i[v];
    }
}

static void full1(const tw_sparse_job *job)
{
    TW_FOR_CONSTANT_COUNT(full1_rows, job)
}

static void full3(const tw_sparse_job *job)
{
    TW_FOR_CONSTANT_COUNT(full3_rows, job)
}

static void upper1(const tw_sparse_job *job)
{
    TW_FOR_CONSTANT_COUNT(upper1_rows, job)
}

static void upper3(const tw_sparse_job *job)
{
    switch (job->count) {
    case 1:
        upper3_rows(1, job);
        break;
    case 2:
        upper3_rows(2, job);
        break;
    case 3:
        upper3_lanes(3, job);
        break;
    default:
        upper3_lanes(4, job);
        break;
    }
}

#endif
