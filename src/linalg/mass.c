#include "linalg/mass.h"

#include <math.h>

#include "base/parallel_for.h"
#include "linalg/vector.h"

enum { SUM_BLOCK = 4096, PARTIALS = 1024 };

tw_mass_metric tw_mass_metric_of(const tw_second_order *op)
{
    return (tw_mass_metric){
        .space = op->stiffness.space, .lumped = op->lumped_mass, .consistent = op->mass};
}

/* y_j = f(x_j) for `count` columns of length n, f being the product with a diagonal mass or
 * its inverse. */
typedef void diagonal_function(int64_t n, const double *w, const double *x, double *y);

static void for_each_column(const tw_mass_metric *metric, diagonal_function *function, int count,
                            const double *x, double *y)
{
    int64_t n = metric->space.local_size;
    for (int j = 0; j < count; j++) {
        if (metric->lumped)
            function(n, metric->lumped, x + j * n, y + j * n);
        else
            tw_vector_copy(n, x + j * n, y + j * n);
    }
}

tw_status tw_mass_multiply(const tw_mass_metric *metric, int count, const double *x, double *y)
{
    const tw_mass_operator *consistent = metric->consistent;
    if (consistent) return consistent->apply(consistent->context, count, x, y);
    for_each_column(metric, tw_vector_multiply, count, x, y);
    return TW_OK;
}

tw_status tw_mass_solve(const tw_mass_metric *metric, int count, const double *x, double *y)
{
    const tw_mass_operator *consistent = metric->consistent;
    if (consistent) return consistent->solve(consistent->context, count, x, y);
    for_each_column(metric, tw_vector_divide, count, x, y);
    return TW_OK;
}

typedef struct sum_job {
    const double *x, *w, *y;
    double scale;
    double *partial;
} sum_job;

static void absolute_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    const sum_job *job = context;
    double sum = 0;
    for (int64_t i = begin; i < end; i++) sum += fabs(job->x[i]);
    job->partial[block] = sum;
}

/* sum_i w_i (scale x_i)(scale y_i) */
static void square_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    const sum_job *job = context;
    double sum = 0;
    for (int64_t i = begin; i < end; i++)
        sum += (job->scale * job->x[i]) * (job->scale * job->y[i]) * (job->w ? job->w[i] : 1.0);
    job->partial[block] = sum;
}

static tw_status sum(const tw_space *space, tw_parallel_body *body, sum_job *job, double *result)
{
    double partial[PARTIALS];
    int64_t block = SUM_BLOCK;
    while (tw_parallel_blocks(space->local_size, block) > PARTIALS) block *= 2;
    job->partial = partial;
    tw_parallel_for(space->local_size, block, body, job);
    *result = 0;
    for (int64_t b = 0; b < tw_parallel_blocks(space->local_size, block); b++)
        *result += partial[b];
    return space->reduce ? space->reduce(space->context, result, 1) : TW_OK;
}

/* The 1-norm s bounds every entry and can be summed over ranks (a maximum cannot): |x|_M = s
 * sqrt(sum m (x/s)^2). */
tw_status tw_mass_norm(const tw_mass_metric *metric, const double *x, double *scratch, double *norm)
{
    sum_job job = {.x = x, .w = metric->lumped, .y = x};
    double size = 0, square = 0;
    *norm = 0;
    tw_status status = sum(&metric->space, absolute_body, &job, &size);
    if (status || size == 0) return status;
    if (!isfinite(size)) return TW_NOT_FINITE;
    if (metric->consistent) {
        status = metric->consistent->apply(metric->consistent->context, 1, x, scratch);
        if (status) return status;
        job.y = scratch;
    }
    job.scale = fmin(1 / size, 0x1p1000);
    status = sum(&metric->space, square_body, &job, &square);
    if (status) return status;
    *norm = sqrt(fmax(square, 0)) / job.scale;
    return isfinite(*norm) ? TW_OK : TW_NOT_FINITE;
}

tw_status tw_global_size(const tw_space *space, double *size)
{
    *size = (double)space->local_size;
    return space->reduce ? space->reduce(space->context, size, 1) : TW_OK;
}
