#include "phi/spectral/spectral_combine.h"

#include <string.h>

#include "base/parallel_for.h"

/* A tile of this many entries of a few vectors stays in the first-level cache while all outputs take from it. */
enum { TILE = 512, GROUP = 4 };

typedef struct combine_job {
    int count, output_count;
    int64_t row;
    double *const *vectors;
    const double *coefficients;
    double *const *outputs;
    bool add;
} combine_job;

static void add_four(int64_t n, const double *c, double *const *v, int64_t at, double *restrict y)
{
    const double *restrict v0 = v[0] + at, *restrict v1 = v[1] + at, *restrict v2 = v[2] + at,
                           *restrict v3 = v[3] + at;
    for (int64_t i = 0; i < n; i++)
        y[i] += (c[0] * v0[i] + c[1] * v1[i]) + (c[2] * v2[i] + c[3] * v3[i]);
}

static void add_one(int64_t n, double c, const double *restrict v, double *restrict y)
{
    for (int64_t i = 0; i < n; i++) y[i] += c * v[i];
}

static void combine_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const combine_job *job = context;
    int64_t n = end - begin;
    for (int i = 0; i < job->output_count && !job->add; i++)
        memset(job->outputs[i] + begin, 0, (size_t)n * sizeof(double));
    int k = 0;
    for (; k + GROUP <= job->count; k += GROUP)
        for (int i = 0; i < job->output_count; i++)
            add_four(n, job->coefficients + i * job->row + k, job->vectors + k, begin,
                     job->outputs[i] + begin);
    for (; k < job->count; k++)
        for (int i = 0; i < job->output_count; i++)
            add_one(n, job->coefficients[i * job->row + k], job->vectors[k] + begin,
                    job->outputs[i] + begin);
}

void tw_spectral_combine(int64_t n, int count, double *const *vectors, int output_count,
                         int64_t row, const double *coefficients, bool add, double *const *outputs)
{
    combine_job job = {count, output_count, row, vectors, coefficients, outputs, add};
    tw_parallel_for(n, TILE, combine_body, &job);
}
