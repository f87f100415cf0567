/* Inner loops on a few vectors at once, V_j = V + j * stride, inlined with their
 * number constant. */
#ifndef TW_LINALG_VECTOR_KERNELS_H
#define TW_LINALG_VECTOR_KERNELS_H

#include "base/simd.h"

enum { TW_GROUP = 4 /* most vectors at once */ };

/* sums[j] += <V_j, x>, j < vectors. Two accumulators per vector keep additions in flight even for
 * one vector. */
TW_ALWAYS_INLINE void tw_add_dots(const int vectors, int64_t length, const double *V,
                                  int64_t stride, const double *x, double *sums)
{
    tw_wide even[TW_GROUP];
    tw_wide odd[TW_GROUP];
    for (int j = 0; j < vectors; j++) even[j] = odd[j] = tw_wide_zero();

    /* Eight entries at a time. */
    int64_t i = 0;
    for (; i + 8 <= length; i += 8) {
        const tw_wide x0 = tw_wide_load(x + i);
        const tw_wide x1 = tw_wide_load(x + i + 4);
        for (int j = 0; j < vectors; j++) {
            even[j] = tw_wide_fma(tw_wide_load(V + j * stride + i), x0, even[j]);
            odd[j] = tw_wide_fma(tw_wide_load(V + j * stride + i + 4), x1, odd[j]);
        }
    }

    /* The entries that are left, and the sum of all. */
    for (int j = 0; j < vectors; j++) {
        double rest = 0;
        for (int64_t k = i; k < length; k++) rest += V[j * stride + k] * x[k];
        sums[j] += tw_wide_sum(tw_wide_add(even[j], odd[j])) + rest;
    }
}

/* y_q += sum_j c[q][j] V_j, j < vectors, q < outputs. */
TW_ALWAYS_INLINE void tw_add_combinations(const int vectors, const int outputs, int64_t length,
                                          const double *V, int64_t stride, const double *const *c,
                                          double *const *y)
{
    int64_t i = 0;
    for (; i + TW_WIDE_LANES <= length; i += TW_WIDE_LANES) {
        tw_wide v[TW_GROUP];
        for (int j = 0; j < vectors; j++) v[j] = tw_wide_load(V + j * stride + i);

        for (int q = 0; q < outputs; q++) {
            tw_wide sum = tw_wide_load(y[q] + i);
            for (int j = 0; j < vectors; j++) sum = tw_wide_fma(tw_wide_splat(c[q][j]), v[j], sum);
            tw_wide_store(y[q] + i, sum);
        }
    }

    for (; i < length; i++)
        for (int q = 0; q < outputs; q++)
            for (int j = 0; j < vectors; j++) y[q][i] += c[q][j] * V[j * stride + i];
}

#endif
