/* Four plain springs at a time, in registers from the ends' positions on. */
#ifndef TW_MODEL_SPRING_BATCH_H
#define TW_MODEL_SPRING_BATCH_H

#include "base/simd.h"
#include "model/springs.h"

typedef struct tw_spring_batch {
    tw_wide d[4];                          /* of each spring; the fourth lane is 0 */
    double length[4], across[4], slope[4]; /* l, T/l, T'; of springs without length 1, T', T' */
    bool undefined;                        /* one of them has no direction and should have one */
} tw_spring_batch;

/* Springs without length: k I if that is their rest length. */
static inline void tw_spring_batch_correct(int count, const double *rest_length,
                                           tw_spring_batch *batch)
{
    for (int j = 0; j < count; j++) {
        if (batch->length[j] > 0.0) continue;
        if (!(rest_length[j] == 0.0 && batch->length[j] == 0.0)) batch->undefined = true;
        batch->length[j] = 1.0;
        batch->across[j] = batch->slope[j];
    }
}

/* The values of a batch: where they are, or padded in `room`. */
static inline tw_wide tw_spring_batch_values(const double *values, int64_t first, int count)
{
    double room[4] = {0.0, 0.0, 0.0, 0.0};
    if (!values) return tw_wide_zero();
    if (count == 4) return tw_wide_load(values + first);
    for (int j = 0; j < count; j++) room[j] = values[first + j];
    return tw_wide_load(room);
}

/* Evaluates springs first to first + count - 1, count <= 4; the rest of the batch repeats the last one's d. */
TW_ALWAYS_INLINE void tw_spring_batch_evaluate(const tw_springs *s, const double *x, int64_t first,
                                               int count, tw_spring_batch *batch)
{
    const int32_t *corner = s->corner + 2 * first;
    tw_wide part[4];
    for (int j = 0; j < 4; j++) {
        int at = j < count ? j : count - 1;
        batch->d[j] = part[j] = tw_wide_subtract(tw_wide_load3(x + 3 * (int64_t)corner[2 * at + 1]),
                                                 tw_wide_load3(x + 3 * (int64_t)corner[2 * at]));
    }
    tw_wide_transpose4(part); /* x, y, z of all four */
    tw_wide k = tw_spring_batch_values(s->stiffness, first, count);
    tw_wide L = tw_spring_batch_values(s->rest_length, first, count);
    tw_wide q = tw_spring_batch_values(s->cubic, first, count);
    tw_wide square = tw_wide_multiply(part[0], part[0]);
    square = tw_wide_fma(part[2], part[2], tw_wide_fma(part[1], part[1], square));
    tw_wide l = tw_wide_sqrt(square), e = tw_wide_subtract(l, L),
            bent = tw_wide_multiply(q, tw_wide_multiply(e, e));
    tw_wide_store(batch->length, l);
    tw_wide_store(batch->slope, tw_wide_fma(tw_wide_splat(3.0), bent, k));
    tw_wide_store(batch->across, tw_wide_divide(tw_wide_multiply(e, tw_wide_add(k, bent)), l));
    batch->undefined = false;
    bool sound = batch->length[0] > 0.0 && batch->length[1] > 0.0 && batch->length[2] > 0.0 &&
                 batch->length[3] > 0.0;
    if (!sound) tw_spring_batch_correct(count, s->rest_length + first, batch);
}

#endif
