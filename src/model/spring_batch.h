/* Four plain springs at a time: from the positions of the ends on,
 * everything stays in registers. */
#ifndef TW_MODEL_SPRING_BATCH_H
#define TW_MODEL_SPRING_BATCH_H

#include "base/simd.h"
#include "model/springs.h"

/* For a spring without length, length is 1 and across is T'. */
typedef struct tw_spring_batch {
    tw_wide d[4];     /* vector of each spring; the fourth lane is 0 */
    double length[4]; /* l */
    double across[4]; /* T/l */
    double slope[4];  /* T' */
    bool undefined;   /* a spring has no length, and its rest length is not 0 */
} tw_spring_batch;

/* Corrects the springs without length: their derivative is T' I if their rest length is 0. */
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

/* The values of a batch, padded with zeros if it has less than four springs. */
static inline tw_wide tw_spring_batch_values(const double *values, int64_t first, int count)
{
    if (!values) return tw_wide_zero();
    if (count == 4) return tw_wide_load(values + first);

    double room[4] = {0.0, 0.0, 0.0, 0.0};
    for (int j = 0; j < count; j++) room[j] = values[first + j];
    return tw_wide_load(room);
}

/* The lengths of the springs first to first + count - 1, count <= 4, and their vectors d. The rest
 * of the batch repeats the last spring. */
TW_ALWAYS_INLINE tw_wide tw_spring_batch_lengths(const tw_springs *s, const double *x,
                                                 int64_t first, int count, tw_wide d[4])
{
    /* d = x_1 - x_0 of each spring. */
    const int32_t *corner = s->corner + 2 * first;
    tw_wide part[4];
    for (int j = 0; j < 4; j++) {
        int at = j < count ? j : count - 1;
        d[j] = part[j] = tw_wide_subtract(tw_wide_load3(x + 3 * (int64_t)corner[2 * at + 1]),
                                          tw_wide_load3(x + 3 * (int64_t)corner[2 * at]));
    }

    /* After the transposition part[0], part[1] and part[2] hold x, y and z of all
     * four springs: l = |d|. */
    tw_wide_transpose4(part);
    tw_wide square = tw_wide_multiply(part[0], part[0]);
    square = tw_wide_fma(part[2], part[2], tw_wide_fma(part[1], part[1], square));
    return tw_wide_sqrt(square);
}

/* Whether one of the springs of a batch with the deflections e flows, or is at its limit. */
TW_ALWAYS_INLINE bool tw_spring_batch_flows(const tw_springs *s, int64_t first, int count,
                                            tw_wide e)
{
    if (!s->limit) return false;
    tw_wide limit = tw_spring_batch_values(s->limit, first, count);
    tw_wide inside = tw_wide_subtract(tw_wide_multiply(limit, limit), tw_wide_multiply(e, e));
    return !tw_wide_all_positive(inside);
}

/* T/l and T' of springs of which some flow, one by one. */
static inline void tw_spring_batch_flow(const tw_springs *s, int64_t first, int count,
                                        tw_spring_batch *batch)
{
    for (int j = 0; j < count; j++) {
        tw_spring_law law = tw_springs_law(s, first + j);
        tw_spring_pull pull = tw_spring_pull_at(&law, batch->length[j]);
        batch->across[j] = pull.tension / batch->length[j];
        batch->slope[j] = pull.slope;
    }
}

/* Evaluates the springs first to first + count - 1, count <= 4. The rest of the batch repeats
 * the d of the last one. */
TW_ALWAYS_INLINE void tw_spring_batch_evaluate(const tw_springs *s, const double *x, int64_t first,
                                               int count, tw_spring_batch *batch)
{
    tw_wide l = tw_spring_batch_lengths(s, x, first, count, batch->d);

    /* T' = k + 3 q e^2 and T/l = e (k + q e^2) / l, with e = l - L. */
    tw_wide k = tw_spring_batch_values(s->stiffness, first, count);
    tw_wide L = tw_spring_batch_values(s->rest_length, first, count);
    tw_wide q = tw_spring_batch_values(s->cubic, first, count);
    tw_wide e = tw_wide_subtract(l, L);
    tw_wide bent = tw_wide_multiply(q, tw_wide_multiply(e, e));
    tw_wide_store(batch->length, l);
    tw_wide_store(batch->slope, tw_wide_fma(tw_wide_splat(3.0), bent, k));
    tw_wide_store(batch->across, tw_wide_divide(tw_wide_multiply(e, tw_wide_add(k, bent)), l));

    if (tw_spring_batch_flows(s, first, count, e)) tw_spring_batch_flow(s, first, count, batch);

    /* Springs without length are rare, so one test serves the whole batch. */
    batch->undefined = false;
    bool sound = batch->length[0] > 0.0 && batch->length[1] > 0.0 && batch->length[2] > 0.0 &&
                 batch->length[3] > 0.0;
    if (!sound) tw_spring_batch_correct(count, s->rest_length + first, batch);
}

#endif
