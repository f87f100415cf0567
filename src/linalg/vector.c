#include "linalg/vector.h"

#include <math.h>
#include <string.h>

#include "base/parallel_for.h"

/* Sums are made of blocks of this many entries, whose partial sums are added in order: the same for any thread count.
 */
enum { SUM_BLOCK = 4096, MAP_BLOCK = 16384, PARTIALS = 1024 };

/* Blocks are widened so that at most PARTIALS of them cover n. */
static int64_t sum_block(int64_t n)
{
    int64_t block = SUM_BLOCK;
    while (tw_parallel_blocks(n, block) > PARTIALS) block *= 2;
    return block;
}

static tw_status reduce(const tw_space *space, double *values, int count)
{
    return space->reduce ? space->reduce(space->context, values, count) : TW_OK;
}

typedef struct dot_job {
    const double *w, *x, *y;
    double *partial;
} dot_job;

static void dot_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    const dot_job *job = context;
    double sum = 0;
    if (job->w)
        for (int64_t i = begin; i < end; i++) sum += job->w[i] * job->x[i] * job->y[i];
    else
        for (int64_t i = begin; i < end; i++) sum += job->x[i] * job->y[i];
    job->partial[block] = sum;
}

tw_status tw_vector_weighted_dot(const tw_space *space, const double *w, const double *x, const double *y,
                                 double *result)
{
    double partial[PARTIALS];
    int64_t n = space->local_size, block = sum_block(n);
    tw_parallel_for(n, block, dot_body, &(dot_job){w, x, y, partial});
    double sum = 0;
    for (int64_t b = 0; b < tw_parallel_blocks(n, block); b++) sum += partial[b];
    *result = sum;
    return reduce(space, result, 1);
}

tw_status tw_vector_dot(const tw_space *space, const double *x, const double *y, double *result)
{
    return tw_vector_weighted_dot(space, NULL, x, y, result);
}

tw_status tw_vector_norm(const tw_space *space, const double *x, double *result)
{
    double square = 0;
    tw_status status = tw_vector_dot(space, x, x, &square);
    *result = sqrt(square);
    return status;
}

tw_status tw_vector_dots(const tw_space *space, int count, const double *basis, const double *x, double *results)
{
    tw_space local = {.local_size = space->local_size};
    for (int j = 0; j < count; j++) tw_vector_dot(&local, basis + j * space->local_size, x, &results[j]);
    return reduce(space, results, count);
}

typedef struct map_job {
    double a, b;
    const double *x;
    const double *w;
    double *y;
} map_job;

static void copy_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const map_job *job = context;
    memcpy(job->y + begin, job->x + begin, (size_t)(end - begin) * sizeof(double));
}

void tw_vector_copy(int64_t n, const double *x, double *y)
{
    tw_parallel_for(n, MAP_BLOCK, copy_body, &(map_job){.x = x, .y = y});
}

static void fill_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const map_job *job = context;
    for (int64_t i = begin; i < end; i++) job->y[i] = job->a;
}

void tw_vector_fill(int64_t n, double value, double *y)
{
    tw_parallel_for(n, MAP_BLOCK, fill_body, &(map_job){.a = value, .y = y});
}

static void scale_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const map_job *job = context;
    for (int64_t i = begin; i < end; i++) job->y[i] *= job->a;
}

void tw_vector_scale(int64_t n, double a, double *y)
{
    tw_parallel_for(n, MAP_BLOCK, scale_body, &(map_job){.a = a, .y = y});
}

static void axpby_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const map_job *job = context;
    for (int64_t i = begin; i < end; i++) job->y[i] = job->a * job->x[i] + job->b * job->y[i];
}

void tw_vector_axpby(int64_t n, double a, const double *x, double b, double *y)
{
    tw_parallel_for(n, MAP_BLOCK, axpby_body, &(map_job){.a = a, .b = b, .x = x, .y = y});
}

void tw_vector_axpy(int64_t n, double a, const double *x, double *y)
{
    tw_vector_axpby(n, a, x, 1.0, y);
}

static void multiply_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const map_job *job = context;
    for (int64_t i = begin; i < end; i++) job->y[i] = job->w[i] * job->x[i];
}

void tw_vector_multiply(int64_t n, const double *w, const double *x, double *y)
{
    tw_parallel_for(n, MAP_BLOCK, multiply_body, &(map_job){.w = w, .x = x, .y = y});
}

static void divide_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const map_job *job = context;
    for (int64_t i = begin; i < end; i++) job->y[i] = job->x[i] / job->w[i];
}

void tw_vector_divide(int64_t n, const double *w, const double *x, double *y)
{
    tw_parallel_for(n, MAP_BLOCK, divide_body, &(map_job){.w = w, .x = x, .y = y});
}

void tw_vector_add_combination(int64_t n, int count, const double *basis, const double *c, double *y)
{
    for (int j = 0; j < count; j++) tw_vector_axpy(n, c[j], basis + j * n, y);
}

void tw_vector_combine(int64_t n, int count, const double *basis, int outputs_count, const double *C,
                       double *const *outputs)
{
    for (int i = 0; i < outputs_count; i++) {
        tw_vector_fill(n, 0.0, outputs[i]);
        tw_vector_add_combination(n, count, basis, C + (size_t)i * (size_t)count, outputs[i]);
    }
}

bool tw_vector_is_finite(int64_t n, const double *x)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(x[i])) return false;
    return true;
}
