/* The passes of the Lanczos recurrence over vectors in single precision (linalg/single.h). Sums are made
 * of blocks of fixed length: in a block by lanes of floats, over the blocks by doubles. */
#include "base/lanes.h"
#include "base/parallel_for.h"
#include "phi/spectral/spectral.h"

enum {
    SUM_BLOCK = 2048,    /* entries that one partial sum covers; more for very long vectors */
    PARTIALS = 512,      /* most partial sums of a column */
    COMBINE_BLOCK = 1024 /* entries of a sum that stay in the first-level cache */
};

/* sum q y */
static double dot_range(int64_t begin, int64_t end, const float *q, const float *y)
{
    tw_lanes sum = tw_lanes_zero();
    for (int64_t i = begin; i < end; i += TW_LANES)
        sum = tw_lanes_fma(tw_lanes_load(q + i), tw_lanes_load(y + i), sum);

    return tw_lanes_sum(sum);
}

static void dot_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    const tw_single_pass *pass = context;
    for (int j = 0; j < pass->count; j++)
        pass->partial[block * TW_MAX_BLOCK + j] = dot_range(
            begin, end, pass->current + j * pass->stride, pass->product + j * pass->stride);
}

/* r = a y / m + b q + c o; returns sum m r^2 */
static double update_range(int64_t begin, int64_t end, const tw_single_pass *pass, int j)
{
    const tw_lanes a = tw_lanes_splat(pass->a[j]);
    const tw_lanes b = tw_lanes_splat(pass->b[j]);
    const tw_lanes c = tw_lanes_splat(pass->c[j]);
    const float *y = pass->product + j * pass->stride;
    const float *q = pass->current + j * pass->stride;
    const float *o = pass->previous[j];
    float *r = pass->next + j * pass->stride;
    tw_lanes sum = tw_lanes_zero();

    for (int64_t i = begin; i < end; i += TW_LANES) {
        tw_lanes inverse = tw_lanes_multiply(a, tw_lanes_load(pass->inverse_mass + i));
        tw_lanes value = tw_lanes_multiply(c, tw_lanes_load(o + i));
        value = tw_lanes_fma(b, tw_lanes_load(q + i), value);
        value = tw_lanes_fma(inverse, tw_lanes_load(y + i), value);
        tw_lanes_store(r + i, value);
        sum = tw_lanes_fma(tw_lanes_multiply(value, value), tw_lanes_load(pass->mass + i), sum);
    }
    return tw_lanes_sum(sum);
}

static void update_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    const tw_single_pass *pass = context;
    for (int j = 0; j < pass->count; j++)
        pass->partial[block * TW_MAX_BLOCK + j] = update_range(begin, end, pass, j);
}

/* Runs the pass and adds its partial sums per column, over ranks too. */
static tw_status run_pass(const tw_space *space, tw_parallel_block *function, tw_single_pass *pass,
                          double *sums)
{
    double partial[PARTIALS * TW_MAX_BLOCK];
    int64_t block = SUM_BLOCK;
    while (tw_parallel_blocks(pass->size, block) > PARTIALS) block *= 2;
    pass->partial = partial;
    tw_parallel_for(pass->size, block, function, pass);

    for (int j = 0; j < pass->count; j++) {
        sums[j] = 0;
        for (int64_t b = 0; b < tw_parallel_blocks(pass->size, block); b++)
            sums[j] += partial[b * TW_MAX_BLOCK + j];
    }
    return space->reduce ? space->reduce(space->context, sums, pass->count) : TW_OK;
}

tw_status tw_single_pass_dots(const tw_space *space, tw_single_pass *pass, double *sums)
{
    return run_pass(space, dot_block, pass, sums);
}

tw_status tw_single_pass_update(const tw_space *space, tw_single_pass *pass, double *sums)
{
    return run_pass(space, update_block, pass, sums);
}

/* ---- outputs from a basis ---- */

/* sum += c_0 v_0 + ... + c_3 v_3 */
static void add_four(int64_t begin, int64_t end, const double *c, double *const *v, float *sum)
{
    tw_lanes factor[4];
    const float *x[4];

    for (int k = 0; k < 4; k++) {
        factor[k] = tw_lanes_splat((float)c[k]);
        x[k] = tw_single_in(v[k]);
    }

    for (int64_t i = begin; i < end; i += TW_LANES) {
        tw_lanes value = tw_lanes_load(sum + i);
        for (int k = 0; k < 4; k++) value = tw_lanes_fma(factor[k], tw_lanes_load(x[k] + i), value);
        tw_lanes_store(sum + i, value);
    }
}

static void add_one(int64_t begin, int64_t end, double c, const double *v, float *sum)
{
    const tw_lanes factor = tw_lanes_splat((float)c);
    const float *x = tw_single_in(v);

    for (int64_t i = begin; i < end; i += TW_LANES)
        tw_lanes_store(sum + i, tw_lanes_fma(factor, tw_lanes_load(x + i), tw_lanes_load(sum + i)));
}

static void combine_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const tw_single_combination *job = context;
    int k = 0;

    for (; k + 4 <= job->count; k += 4)
        for (int i = 0; i < job->output_count; i++)
            add_four(begin, end, job->coefficients + i * job->row + k, job->vectors + k,
                     job->sums[i]);
    for (; k < job->count; k++)
        for (int i = 0; i < job->output_count; i++)
            add_one(begin, end, job->coefficients[i * job->row + k], job->vectors[k], job->sums[i]);
}

void tw_single_combine(int64_t size, const tw_single_combination *combination)
{
    tw_single_combination job = *combination;
    tw_parallel_for(size, COMBINE_BLOCK, combine_block, &job);
}
