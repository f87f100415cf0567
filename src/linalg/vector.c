/* Vector kernels that do not sum: entry by entry, each block of entries the job of one thread. */
#include "linalg/vector.h"

#include <stdatomic.h>
#include <string.h>

#include "base/parallel_for.h"
#include "linalg/vector_kernels.h"

/* Entries per block of a parallel loop: about a microsecond of work. */
enum { MAP_BLOCK = 4096 };

/* Entries of the outputs that stay in the first-level cache while all basis vectors pass: four
 * outputs take 32 KB. */
enum { CHUNK = 1024 };

/* y = a x + b y, and what is simpler; w is a diagonal matrix. */
typedef struct map_job {
    double a;
    double b;
    const double *x;
    const double *w;
    double *y;
} map_job;

static void copy_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const map_job *job = context;
    memcpy(job->y + begin, job->x + begin, (size_t)(end - begin) * sizeof(double));
}

void tw_vector_copy(int64_t n, const double *x, double *y)
{
    tw_parallel_for(n, MAP_BLOCK, copy_block, &(map_job){.x = x, .y = y});
}

static void fill_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const map_job job = *(const map_job *)context;
    for (int64_t i = begin; i < end; i++) job.y[i] = job.a;
}

void tw_vector_fill(int64_t n, double value, double *y)
{
    tw_parallel_for(n, MAP_BLOCK, fill_block, &(map_job){.a = value, .y = y});
}

static void scale_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const map_job job = *(const map_job *)context;
    for (int64_t i = begin; i < end; i++) job.y[i] *= job.a;
}

void tw_vector_scale(int64_t n, double a, double *y)
{
    tw_parallel_for(n, MAP_BLOCK, scale_block, &(map_job){.a = a, .y = y});
}

static void axpy_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const map_job job = *(const map_job *)context;
    for (int64_t i = begin; i < end; i++) job.y[i] += job.a * job.x[i];
}

void tw_vector_axpy(int64_t n, double a, const double *x, double *y)
{
    tw_parallel_for(n, MAP_BLOCK, axpy_block, &(map_job){.a = a, .x = x, .y = y});
}

static void axpby_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const map_job job = *(const map_job *)context;
    for (int64_t i = begin; i < end; i++) job.y[i] = job.a * job.x[i] + job.b * job.y[i];
}

void tw_vector_axpby(int64_t n, double a, const double *x, double b, double *y)
{
    tw_parallel_for(n, MAP_BLOCK, axpby_block, &(map_job){.a = a, .b = b, .x = x, .y = y});
}

static void multiply_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const map_job job = *(const map_job *)context;
    for (int64_t i = begin; i < end; i++) job.y[i] = job.w[i] * job.x[i];
}

void tw_vector_multiply(int64_t n, const double *w, const double *x, double *y)
{
    tw_parallel_for(n, MAP_BLOCK, multiply_block, &(map_job){.w = w, .x = x, .y = y});
}

static void divide_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const map_job job = *(const map_job *)context;
    for (int64_t i = begin; i < end; i++) job.y[i] = job.x[i] / job.w[i];
}

void tw_vector_divide(int64_t n, const double *w, const double *x, double *y)
{
    tw_parallel_for(n, MAP_BLOCK, divide_block, &(map_job){.w = w, .x = x, .y = y});
}

/* outputs_i += sum_j C_ij V_j. */
typedef struct combine_job {
    int64_t n;
    int count;
    const double *basis;
    int outputs_count;
    const double *C; /* outputs_count * count */
    double *const *outputs;
    bool overwrite; /* outputs start from zero */
} combine_job;

/* Entries [start, start + length) of `outputs` outputs from output o on. */
TW_ALWAYS_INLINE void combine_outputs(const int outputs, const combine_job *job, int o,
                                      int64_t start, int64_t length)
{
    double *y[TW_GROUP];
    for (int q = 0; q < outputs; q++) y[q] = job->outputs[o + q] + start;

    for (int j = 0; j < job->count;) {
        /* Basis vectors from V_j on, and where their coefficients stand in each row of C. */
        const double *V = job->basis + j * job->n + start;
        const double *c[TW_GROUP];
        for (int q = 0; q < outputs; q++) c[q] = job->C + (int64_t)(o + q) * job->count + j;

        /* A group of basis vectors in one pass, those that are left one by one. */
        if (j + TW_GROUP <= job->count) {
            tw_add_combinations(TW_GROUP, outputs, length, V, job->n, c, y);
            j += TW_GROUP;
        } else {
            tw_add_combinations(1, outputs, length, V, job->n, c, y);
            j++;
        }
    }
}

static void combine_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const combine_job *job = context;

    for (int64_t start = begin; start < end; start += CHUNK) {
        const int64_t length = end - start < CHUNK ? end - start : CHUNK;

        for (int q = 0; q < job->outputs_count && job->overwrite; q++)
            memset(job->outputs[q] + start, 0, (size_t)length * sizeof(double));

        /* Four outputs at a time, then two, then one: each number is a compile-time constant. */
        int o = 0;
        for (; o + TW_GROUP <= job->outputs_count; o += TW_GROUP)
            combine_outputs(TW_GROUP, job, o, start, length);
        for (; o + 2 <= job->outputs_count; o += 2) combine_outputs(2, job, o, start, length);
        for (; o < job->outputs_count; o++) combine_outputs(1, job, o, start, length);
    }
}

void tw_vector_add_combination(int64_t n, int count, const double *basis, const double *c,
                               double *y)
{
    tw_parallel_for(n, MAP_BLOCK, combine_block, &(combine_job){n, count, basis, 1, c, &y, false});
}

void tw_vector_combine(int64_t n, int count, const double *basis, int outputs_count,
                       const double *C, double *const *outputs)
{
    tw_parallel_for(n, MAP_BLOCK, combine_block,
                    &(combine_job){n, count, basis, outputs_count, C, outputs, true});
}

typedef struct finite_job {
    const double *x;
    atomic_bool found; /* whether an entry is not finite */
} finite_job;

/* 0 * x is NaN where x is not finite, and a sum with a NaN in it stays NaN. */
static void finite_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    finite_job *job = context;
    const double *x = job->x;

    tw_wide sum[4] = {tw_wide_zero(), tw_wide_zero(), tw_wide_zero(), tw_wide_zero()};
    int64_t i = begin;
    for (; i + 16 <= end; i += 16)
        for (int k = 0; k < 4; k++)
            sum[k] = tw_wide_fma(tw_wide_zero(), tw_wide_load(x + i + 4 * k), sum[k]);

    /* The entries that are left. */
    double rest = 0;
    for (; i < end; i++) rest += 0 * x[i];
    rest += tw_wide_sum(tw_wide_add(tw_wide_add(sum[0], sum[1]), tw_wide_add(sum[2], sum[3])));
    if (rest != 0) atomic_store_explicit(&job->found, true, memory_order_relaxed);
}

bool tw_vector_is_finite(int64_t n, const double *x)
{
    finite_job job = {.x = x};
    tw_parallel_for(n, MAP_BLOCK, finite_block, &job);
    return !atomic_load(&job.found);
}

/* What the next two functions share: a sum of 0 * x_i is NaN if an entry is not finite. */
typedef struct checked_job {
    int64_t n;
    double a;
    double h;
    const double *x;
    const double *y;
    double *out;
    atomic_bool found; /* whether an entry is not finite */
} checked_job;

static void note_sum(checked_job *job, double sum)
{
    if (sum != 0) atomic_store_explicit(&job->found, true, memory_order_relaxed);
}

static void add_scaled_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    checked_job *job = context;
    const tw_wide a = tw_wide_splat(job->a);
    tw_wide sum = tw_wide_zero();

    int64_t i = begin;
    for (; i + TW_WIDE_LANES <= end; i += TW_WIDE_LANES) {
        tw_wide out = tw_wide_fma(a, tw_wide_load(job->x + i), tw_wide_load(job->y + i));
        tw_wide_store(job->out + i, out);
        sum = tw_wide_fma(tw_wide_zero(), out, sum);
    }

    /* The entries that are left. */
    double rest = tw_wide_sum(sum);
    for (; i < end; i++) {
        job->out[i] = job->y[i] + job->a * job->x[i];
        rest += 0 * job->out[i];
    }
    note_sum(job, rest);
}

bool tw_vector_add_scaled(int64_t n, const double *y, double a, const double *x, double *out)
{
    checked_job job = {.a = a, .x = x, .y = y, .out = out};
    tw_parallel_for(n, MAP_BLOCK, add_scaled_block, &job);
    return !atomic_load(&job.found);
}

static void kick_and_drift_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    checked_job *job = context;
    const double *x = job->y;
    const double *v = job->y + job->n;
    double *x_new = job->out;
    double *v_new = job->out + job->n;
    const tw_wide k = tw_wide_splat(job->a);
    const tw_wide h = tw_wide_splat(job->h);
    tw_wide sum = tw_wide_zero();

    int64_t i = begin;
    for (; i + TW_WIDE_LANES <= end; i += TW_WIDE_LANES) {
        tw_wide kicked = tw_wide_fma(k, tw_wide_load(job->x + i), tw_wide_load(v + i));
        tw_wide drifted = tw_wide_fma(h, kicked, tw_wide_load(x + i));
        tw_wide_store(v_new + i, kicked);
        tw_wide_store(x_new + i, drifted);
        sum = tw_wide_fma(tw_wide_zero(), drifted, sum);
    }

    /* The entries that are left. */
    double rest = tw_wide_sum(sum);
    for (; i < end; i++) {
        v_new[i] = v[i] + job->a * job->x[i];
        x_new[i] = x[i] + job->h * v_new[i];
        rest += 0 * x_new[i];
    }
    note_sum(job, rest);
}

bool tw_vector_kick_and_drift(int64_t n, const double *u, double k, const double *a, double h,
                              double *u_new)
{
    checked_job job = {.n = n, .a = k, .h = h, .x = a, .y = u, .out = u_new};
    tw_parallel_for(n, MAP_BLOCK, kick_and_drift_block, &job);
    return !atomic_load(&job.found);
}
