#include <stdbool.h>
#include <string.h>

#include "base/parallel_for.h"
#include "linalg/sparse_internal.h"

typedef struct apply_job {
    const tw_sparse *matrix;
    tw_sparse_kernel *kernel;
    int count;
    const double *in;
    double *out;
} apply_job;

static double *spill_of(const tw_sparse *matrix, int64_t part)
{
    return matrix->parts.spill + matrix->parts.offset[part] * matrix->block * TW_MAX_BLOCK;
}

static int64_t spill_stride(const tw_sparse *matrix, int64_t part)
{
    return (matrix->parts.reach[part] - matrix->parts.start[part + 1]) * matrix->block;
}

static void multiply_part(void *context, int64_t begin, int64_t end, int64_t part)
{
    (void)begin, (void)end;
    const apply_job *job = context;
    const tw_sparse *matrix = job->matrix;
    const int64_t n = tw_sparse_size(matrix), *start = matrix->parts.start + part;
    tw_sparse_job rows = {matrix, job->count, start[0], start[1], job->in, job->out, NULL, 0};
    if (matrix->storage == TW_STORE_UPPER) {
        rows.spill = spill_of(matrix, part);
        rows.spill_stride = spill_stride(matrix, part);
        memset(rows.spill, 0, (size_t)(rows.spill_stride * job->count) * sizeof(double));
        for (int v = 0; v < job->count; v++)
            memset(job->out + v * n + start[0] * matrix->block, 0,
                   (size_t)((start[1] - start[0]) * matrix->block) * sizeof(double));
    }
    job->kernel(&rows);
}

/* Adds to the rows of one part what the parts before it spilled there, in their order. */
static void gather_spills(void *context, int64_t begin, int64_t end, int64_t part)
{
    (void)begin, (void)end;
    const apply_job *job = context;
    const tw_sparse *matrix = job->matrix;
    const tw_sparse_parts *parts = &matrix->parts;
    const int64_t n = tw_sparse_size(matrix), first = parts->start[part], last = parts->start[part + 1];
    for (int64_t giver = 0; giver < part; giver++) {
        const int64_t spill_first = parts->start[giver + 1], reach = parts->reach[giver];
        const int64_t upto = (reach < last ? reach : last) * matrix->block;
        const double *spill = spill_of(matrix, giver);
        for (int v = 0; v < job->count; v++, spill += spill_stride(matrix, giver))
            for (int64_t i = first * matrix->block; i < upto; i++)
                job->out[v * n + i] += spill[i - spill_first * matrix->block];
    }
}

void tw_sparse_apply_with(const tw_sparse_kernels *kernels, const tw_sparse *matrix, int count, const double *in,
                          double *out)
{
    const bool upper = matrix->storage == TW_STORE_UPPER;
    apply_job job = {.matrix = matrix, .count = count, .in = in, .out = out};
    if (matrix->block == 3)
        job.kernel = upper ? kernels->upper3 : kernels->full3;
    else
        job.kernel = upper ? kernels->upper1 : kernels->full1;
    tw_parallel_for(matrix->parts.count, 1, multiply_part, &job);
    if (upper) tw_parallel_for(matrix->parts.count, 1, gather_spills, &job);
}

tw_status tw_sparse_apply(const tw_sparse *matrix, int count, const double *in, double *out)
{
    if (!matrix || count < 1 || count > TW_MAX_BLOCK || !in || !out) return TW_INVALID_ARGUMENT;
    tw_sparse_apply_with(&tw_sparse_kernels_wide, matrix, count, in, out);
    return TW_OK;
}

static tw_status apply_operator(void *context, int count, const double *in, double *out)
{
    return tw_sparse_apply(context, count, in, out);
}

tw_operator tw_sparse_operator(const tw_sparse *matrix)
{
    return (tw_operator){.space = {.local_size = tw_sparse_size(matrix)},
                         .apply = apply_operator,
                         .context = (void *)matrix,
                         .symmetry = matrix->storage == TW_STORE_UPPER ? TW_SYMMETRIC : TW_GENERAL,
                         .bytes_per_product = tw_sparse_bytes_per_product(matrix)};
}
