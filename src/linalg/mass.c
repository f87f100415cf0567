/* Products and solves with the mass matrix, and the norm that belongs to it. */
#include "linalg/mass.h"

#include <math.h>

#include "base/fail.h"
#include "base/parallel_for.h"
#include "linalg/vector.h"

enum {
    SUM_BLOCK = 4096, /* entries of the smallest block of a sum: some microseconds of work */
    PARTIALS = 1024   /* most blocks; their sums stand on the stack */
};

/* Keeps 1 / scale finite: the reciprocal of a subnormal number overflows. */
static const double LARGEST_SCALE = 0x1p1000;

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
    const double *x;
    const double *w; /* NULL: ones */
    const double *y;
    double scale;
    double *partial; /* one per block */
} sum_job;

/* sum_i |x_i| */
static void absolute_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    const sum_job *job = context;
    double sum = 0;
    for (int64_t i = begin; i < end; i++) sum += fabs(job->x[i]);
    job->partial[block] = sum;
}

/* sum_i w_i (scale x_i)(scale y_i) */
static void square_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    const sum_job *job = context;
    double sum = 0;
    for (int64_t i = begin; i < end; i++)
        sum += (job->scale * job->x[i]) * (job->scale * job->y[i]) * (job->w ? job->w[i] : 1.0);
    job->partial[block] = sum;
}

/* Adds the sums of the blocks in their order, and those of all ranks. */
static tw_status sum(const tw_space *space, tw_parallel_block *function, sum_job *job,
                     double *result)
{
    double partial[PARTIALS];
    int64_t block = SUM_BLOCK;

    /* The blocks depend on the size alone. */
    while (tw_parallel_blocks(space->local_size, block) > PARTIALS) block *= 2;

    job->partial = partial;
    tw_parallel_for(space->local_size, block, function, job);

    *result = 0;
    for (int64_t b = 0; b < tw_parallel_blocks(space->local_size, block); b++)
        *result += partial[b];
    return space->reduce ? space->reduce(space->context, result, 1) : TW_OK;
}

/* |x|_M = s sqrt((x/s)^T M (x/s)) with s = |x|_1, which bounds every entry and which, unlike a
 * maximum, can be summed over ranks. */
tw_status tw_mass_norm(const tw_mass_metric *metric, const double *x, double *scratch, double *norm)
{
    sum_job job = {.x = x, .w = metric->lumped, .y = x};
    *norm = 0;

    /* s = |x|_1 */
    double size = 0;
    TW_TRY(sum(&metric->space, absolute_block, &job, &size));
    if (size == 0) return TW_OK;
    if (!isfinite(size)) return TW_NOT_FINITE;

    /* y = M x for a consistent mass; a lumped one is the weight w. */
    if (metric->consistent) {
        TW_TRY(tw_mass_multiply(metric, 1, x, scratch));
        job.y = scratch;
    }

    /* |x|_M^2 / s^2 */
    double square = 0;
    job.scale = fmin(1 / size, LARGEST_SCALE);
    TW_TRY(sum(&metric->space, square_block, &job, &square));

    *norm = sqrt(fmax(square, 0)) / job.scale;
    return isfinite(*norm) ? TW_OK : TW_NOT_FINITE;
}

tw_status tw_global_size(const tw_space *space, double *size)
{
    *size = (double)space->local_size;
    return space->reduce ? space->reduce(space->context, size, 1) : TW_OK;
}
