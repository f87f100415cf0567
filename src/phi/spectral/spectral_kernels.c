/* Norms, and fused kernels: one pass over the memory serves all columns or all outputs. Sums are
 * made of blocks of fixed length, so that the number of threads does not change them. */
#include <math.h>
#include <string.h>

#include "base/parallel_for.h"
#include "linalg/vector.h"
#include "phi/spectral/spectral.h"

enum {
    SUM_BLOCK = 4096,    /* entries that one partial sum covers; more for very long vectors */
    PARTIALS = 512,      /* most partial sums of a column */
    LANES = 8,           /* sums that run side by side, for the compiler's wide registers */
    COMBINE_BLOCK = 512, /* entries of a few vectors that stay in the first-level cache */
    GROUP = 4            /* vectors that are added to an output at once */
};

/* ---- norms ---- */

void tw_normalised_copy(int64_t n, double norm, const double *x, double *y)
{
    double half = 1 / sqrt(norm);

    tw_vector_copy(n, x, y);
    tw_vector_scale(n, half, y);
    tw_vector_scale(n, half, y);
}

static double weight_value(const void *context, double lambda)
{
    double time = fabs(*(const double *)context);
    return time / sqrt(1 + time * time * fabs(lambda));
}

tw_spectral_function tw_displacement_weight(const double *time)
{
    return (tw_spectral_function){weight_value, time};
}

static double weighted_value(const void *context, double lambda)
{
    const tw_weighted_function *pair = context;
    return pair->weight->value(pair->weight->context, lambda) *
           pair->f->value(pair->f->context, lambda);
}

tw_spectral_function tw_weigh_function(const tw_spectral_function *weight,
                                       const tw_spectral_function *f, tw_weighted_function *pair)
{
    *pair = (tw_weighted_function){weight, f};
    return (tw_spectral_function){f->value ? weighted_value : NULL, pair};
}

/* ---- the passes of the three-term recurrence ---- */

static double add_lanes(const double *lane)
{
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

static double dot_range(int64_t begin, int64_t end, const double *restrict x,
                        const double *restrict y)
{
    double lane[LANES] = {0};
    double rest = 0;
    int64_t i = begin;

    /* Full groups of lanes, then the entries that are left over. */
    for (; i + LANES <= end; i += LANES)
        for (int l = 0; l < LANES; l++) lane[l] += x[i + l] * y[i + l];
    for (; i < end; i++) rest += x[i] * y[i];

    return add_lanes(lane) + rest;
}

/* r = a y + b q + c o, s = {a, b, c}; returns sum r^2 */
static double update_range(int64_t begin, int64_t end, const double s[3], const double *restrict y,
                           const double *restrict q, const double *restrict o, double *restrict r)
{
    double lane[LANES] = {0};
    double rest = 0;
    int64_t i = begin;
    for (; i + LANES <= end; i += LANES)
        for (int l = 0; l < LANES; l++) {
            double value = s[0] * y[i + l] + s[1] * q[i + l] + s[2] * o[i + l];
            r[i + l] = value;
            lane[l] += value * value;
        }
    for (; i < end; i++) {
        r[i] = s[0] * y[i] + s[1] * q[i] + s[2] * o[i];
        rest += r[i] * r[i];
    }

    return add_lanes(lane) + rest;
}

/* r = a y / m + b q + c o, s = {a, b, c}; returns sum m r^2 */
static double update_range_lumped(int64_t begin, int64_t end, const double s[3],
                                  const double *restrict m, const double *restrict y,
                                  const double *restrict q, const double *restrict o,
                                  double *restrict r)
{
    double lane[LANES] = {0};
    double rest = 0;
    int64_t i = begin;
    for (; i + LANES <= end; i += LANES)
        for (int l = 0; l < LANES; l++) {
            double value = s[0] * (y[i + l] / m[i + l]) + s[1] * q[i + l] + s[2] * o[i + l];
            r[i + l] = value;
            lane[l] += m[i + l] * value * value;
        }
    for (; i < end; i++) {
        r[i] = s[0] * (y[i] / m[i]) + s[1] * q[i] + s[2] * o[i];
        rest += m[i] * r[i] * r[i];
    }

    return add_lanes(lane) + rest;
}

static void dot_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    const tw_column_pass *pass = context;
    for (int j = 0; j < pass->count; j++)
        pass->partial[block * TW_MAX_BLOCK + j] =
            dot_range(begin, end, pass->current + j * pass->size, pass->product + j * pass->size);
}

static void update_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    const tw_column_pass *pass = context;
    for (int j = 0; j < pass->count; j++) {
        /* Column j of all arrays. */
        const double s[3] = {pass->a[j], pass->b[j], pass->c[j]};
        int64_t at = j * pass->size;
        const double *y = pass->product + at;
        const double *q = pass->current + at;
        double *sum = &pass->partial[block * TW_MAX_BLOCK + j];

        if (pass->mass)
            *sum = update_range_lumped(begin, end, s, pass->mass, y, q, pass->previous[j],
                                       pass->next + at);
        else
            *sum = update_range(begin, end, s, y, q, pass->previous[j], pass->next + at);
    }
}

/* Runs the pass and adds its partial sums per column, over ranks too. */
static tw_status run_pass(const tw_space *space, tw_parallel_block *function, tw_column_pass *pass,
                          double *sums)
{
    double partial[PARTIALS * TW_MAX_BLOCK];
    int64_t block = SUM_BLOCK;
    while (tw_parallel_blocks(pass->size, block) > PARTIALS) block *= 2;

    /* One partial sum per block of the loop and column. */
    pass->partial = partial;
    tw_parallel_for(pass->size, block, function, pass);

    /* They are added in the order of the blocks. */
    for (int j = 0; j < pass->count; j++) {
        sums[j] = 0;
        for (int64_t b = 0; b < tw_parallel_blocks(pass->size, block); b++)
            sums[j] += partial[b * TW_MAX_BLOCK + j];
    }

    return space->reduce ? space->reduce(space->context, sums, pass->count) : TW_OK;
}

tw_status tw_pass_dots(const tw_space *space, tw_column_pass *pass, double *sums)
{
    return run_pass(space, dot_block, pass, sums);
}

tw_status tw_pass_update(const tw_space *space, tw_column_pass *pass, double *sums)
{
    return run_pass(space, update_block, pass, sums);
}

/* ---- outputs from a basis ---- */

static void add_four(int64_t n, const double *c, double *const *v, int64_t at, double *restrict y)
{
    const double *restrict v0 = v[0] + at;
    const double *restrict v1 = v[1] + at;
    const double *restrict v2 = v[2] + at;
    const double *restrict v3 = v[3] + at;
    for (int64_t i = 0; i < n; i++)
        y[i] += (c[0] * v0[i] + c[1] * v1[i]) + (c[2] * v2[i] + c[3] * v3[i]);
}

static void add_one(int64_t n, double c, const double *restrict v, double *restrict y)
{
    for (int64_t i = 0; i < n; i++) y[i] += c * v[i];
}

static void combine_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const tw_combination *job = context;
    int64_t n = end - begin;

    /* A sum that is not added to anything starts from zero. */
    for (int i = 0; i < job->output_count && !job->add; i++)
        memset(job->outputs[i] + begin, 0, (size_t)n * sizeof(double));

    /* Groups of four vectors first: all outputs take from them while they are in the cache. */
    int k = 0;
    for (; k + GROUP <= job->count; k += GROUP)
        for (int i = 0; i < job->output_count; i++)
            add_four(n, job->coefficients + i * job->row + k, job->vectors + k, begin,
                     job->outputs[i] + begin);

    /* The vectors that are left over follow one by one. */
    for (; k < job->count; k++)
        for (int i = 0; i < job->output_count; i++)
            add_one(n, job->coefficients[i * job->row + k], job->vectors[k] + begin,
                    job->outputs[i] + begin);
}

void tw_spectral_combine(int64_t n, const tw_combination *combination)
{
    tw_combination job = *combination;
    tw_parallel_for(n, COMBINE_BLOCK, combine_block, &job);
}
