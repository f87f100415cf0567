/* The product kernels, written once over tw_wide. sparse_kernels_wide.c and sparse_kernels_portable.c each include this
 * file after choosing what a tw_wide is, and name the resulting set.
 *
 * A 3x3 block B is nine doubles, column-major, so that y += B x is y += B[:,0] x_0 + B[:,1] x_1 + B[:,2] x_2: three
 * four-wide multiply-adds on unaligned loads, whose fourth lane is the next column's business and is never stored. Each
 * column has its own accumulator: one chain of dependent additions would be slower than memory. */
#ifndef TW_LINALG_SPARSE_KERNELS_H
#define TW_LINALG_SPARSE_KERNELS_H

#include <stdbool.h>

#include "base/simd.h"
#include "linalg/sparse_internal.h"

/* Calls rows(count, job) with count a compile-time constant. */
#define TW_FOR_CONSTANT_COUNT(rows, job)                                                                               \
    switch ((job)->count) {                                                                                            \
    case 1:                                                                                                            \
        rows(1, job);                                                                                                  \
        break;                                                                                                         \
    case 2:                                                                                                            \
        rows(2, job);                                                                                                  \
        break;                                                                                                         \
    case 3:                                                                                                            \
        rows(3, job);                                                                                                  \
        break;                                                                                                         \
    default:                                                                                                           \
        rows(4, job);                                                                                                  \
        break;                                                                                                         \
    }

TW_ALWAYS_INLINE void full3_rows(const int count, const tw_sparse_job *job)
{
    const tw_sparse *A = job->matrix;
    const int64_t n = 3 * A->block_rows;
    for (int64_t i = job->begin; i < job->end; i++) {
        tw_wide y[TW_MAX_BLOCK][3];
        for (int v = 0; v < count; v++)
            for (int c = 0; c < 3; c++) y[v][c] = tw_wide_zero();
        for (int64_t p = A->row_start[i]; p < A->row_start[i + 1]; p++) {
            const double *B = A->values + 9 * p, *x = job->x + 3 * (int64_t)A->column[p];
            for (int c = 0; c < 3; c++) {
                tw_wide column = tw_wide_load(B + 3 * c);
                for (int v = 0; v < count; v++) y[v][c] = tw_wide_fma(column, tw_wide_splat(x[v * n + c]), y[v][c]);
            }
        }
        for (int v = 0; v < count; v++)
            tw_wide_store3(job->y + v * n + 3 * i, tw_wide_add(tw_wide_add(y[v][0], y[v][1]), y[v][2]));
    }
}

TW_ALWAYS_INLINE void full1_rows(const int count, const tw_sparse_job *job)
{
    const tw_sparse *A = job->matrix;
    const int64_t n = A->block_rows;
    for (int64_t i = job->begin; i < job->end; i++) {
        double even[TW_MAX_BLOCK] = {0}, odd[TW_MAX_BLOCK] = {0};
        int64_t p = A->row_start[i], end = A->row_start[i + 1];
        for (; p + 1 < end; p += 2)
            for (int v = 0; v < count; v++) {
                even[v] += A->values[p] * job->x[v * n + A->column[p]];
                odd[v] += A->values[p + 1] * job->x[v * n + A->column[p + 1]];
            }
        if (p < end)
            for (int v = 0; v < count; v++) even[v] += A->values[p] * job->x[v * n + A->column[p]];
        for (int v = 0; v < count; v++) job->y[v * n + i] = even[v] + odd[v];
    }
}

/* One off-diagonal block of upper storage: y_i += B x_j and y_j += B^T x_i. */
TW_ALWAYS_INLINE void upper3_block(const int count, const double *B, int64_t n, const double *x_i, const double *x_j,
                                   tw_wide y_i[TW_MAX_BLOCK][3], double *y_j, int64_t y_stride)
{
    tw_wide column[3], row[3];
    for (int c = 0; c < 3; c++) column[c] = tw_wide_load(B + 3 * c);
    tw_wide_transpose3(column[0], column[1], column[2], row);
    for (int v = 0; v < count; v++) {
        tw_wide sum = tw_wide_load3(y_j + v * y_stride);
        for (int c = 0; c < 3; c++) {
            y_i[v][c] = tw_wide_fma(column[c], tw_wide_splat(x_j[v * n + c]), y_i[v][c]);
            sum = tw_wide_fma(row[c], tw_wide_splat(x_i[v * n + c]), sum);
        }
        tw_wide_store3(y_j + v * y_stride, sum);
    }
}

TW_ALWAYS_INLINE void upper3_rows(const int count, const tw_sparse_job *job)
{
    const tw_sparse *A = job->matrix;
    const int64_t n = 3 * A->block_rows;
    for (int64_t i = job->begin; i < job->end; i++) {
        const double *x_i = job->x + 3 * i;
        int64_t p = A->row_start[i], end = A->row_start[i + 1];
        tw_wide y_i[TW_MAX_BLOCK][3];
        for (int v = 0; v < count; v++) {
            y_i[v][0] = tw_wide_load3(job->y + v * n + 3 * i);
            y_i[v][1] = y_i[v][2] = tw_wide_zero();
        }
        if (p < end && A->column[p] == i) {
            for (int c = 0; c < 3; c++) {
                tw_wide column = tw_wide_load(A->values + 9 * p + 3 * c);
                for (int v = 0; v < count; v++)
                    y_i[v][c] = tw_wide_fma(column, tw_wide_splat(x_i[v * n + c]), y_i[v][c]);
            }
            p++;
        }
        for (; p < end && A->column[p] < job->end; p++) {
            int64_t j = A->column[p];
            upper3_block(count, A->values + 9 * p, n, x_i, job->x + 3 * j, y_i, job->y + 3 * j, n);
        }
        for (; p < end; p++) {
            int64_t j = A->column[p];
            upper3_block(count, A->values + 9 * p, n, x_i, job->x + 3 * j, y_i, job->spill + 3 * (j - job->end),
                         job->spill_stride);
        }
        for (int v = 0; v < count; v++)
            tw_wide_store3(job->y + v * n + 3 * i, tw_wide_add(tw_wide_add(y_i[v][0], y_i[v][1]), y_i[v][2]));
    }
}

TW_ALWAYS_INLINE void upper1_rows(const int count, const tw_sparse_job *job)
{
    const tw_sparse *A = job->matrix;
    const int64_t n = A->block_rows;
    for (int64_t i = job->begin; i < job->end; i++) {
        double y_i[TW_MAX_BLOCK] = {0};
        for (int64_t p = A->row_start[i]; p < A->row_start[i + 1]; p++) {
            const int64_t j = A->column[p];
            const bool own = j < job->end;
            double *y_j = own ? job->y + j : job->spill + (j - job->end);
            const int64_t stride = own ? n : job->spill_stride;
            for (int v = 0; v < count; v++) {
                y_i[v] += A->values[p] * job->x[v * n + j];
                if (j != i) y_j[v * stride] += A->values[p] * job->x[v * n + i];
            }
        }
        for (int v = 0; v < count; v++) job->y[v * n + i] += y_i[v];
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
    TW_FOR_CONSTANT_COUNT(upper3_rows, job)
}

#endif
