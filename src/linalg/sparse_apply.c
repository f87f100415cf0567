/* Products of a sparse matrix with up to four vectors, by several threads. */
#include <stdbool.h>
#include <string.h>

#include "base/parallel_for.h"
#include "linalg/sparse_internal.h"

/* With fewer rows left in the windows than this, one thread adds them: a loop on several threads takes
 * longer to start. */
enum { GATHER_ALONE = 512 };

/* out = A in for `count` vectors. */
typedef struct apply_job {
    const tw_sparse *matrix;
    tw_sparse_kernel *kernel;
    int count;
    const double *in;
    double *out;
} apply_job;

/* The rows of one part; what they give to later parts stays in the part's window. */
static void multiply_part(void *context, int64_t begin, int64_t end, int64_t part)
{
    (void)begin, (void)end;
    const apply_job *job = context;
    const tw_sparse *matrix = job->matrix;
    const int64_t *start = matrix->parts.start + part;
    tw_sparse_job rows = {
        .matrix = matrix, .count = job->count, .begin = start[0], .end = start[1]};
    rows.x = job->in;
    rows.y = job->out;

    if (matrix->storage == TW_STORE_UPPER) rows.window = tw_window_of(matrix, part, job->count);
    job->kernel(&rows);
}

/* Moves what `giver` left for block rows [first, last) from its window to the result. */
static void gather_window(const apply_job *job, int64_t giver, int64_t first, int64_t last)
{
    const int64_t n = tw_sparse_size(job->matrix);
    const int64_t block = job->matrix->block;
    const tw_window window = tw_window_of(job->matrix, giver, job->count);

    for (int64_t row = first; row < last; row++) {
        double *gifts = window.y + (row & window.mask) * window.row;
        for (int v = 0; v < job->count; v++)
            for (int64_t c = 0; c < block; c++)
                job->out[v * n + row * block + c] +=
                    gifts[v * window.vector + c * window.component];

        /* Windows are zero between products. */
        memset(gifts, 0, (size_t)window.row * sizeof *gifts);
    }
}

/* Adds to the rows of parts [begin, end) what the parts before each left for it, in their order. */
static void gather_parts(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const apply_job *job = context;
    const tw_sparse_parts *parts = &job->matrix->parts;
    for (int64_t part = begin; part < end; part++)
        for (int64_t giver = 0; giver < part; giver++) {
            const int64_t reach = parts->reach[giver];
            const int64_t end_of_part = parts->start[part + 1];
            const int64_t last = reach < end_of_part ? reach : end_of_part;
            gather_window(job, giver, parts->start[part], last);
        }
}

void tw_sparse_apply_with(const tw_sparse_kernels *kernels, const tw_sparse *matrix, int count,
                          const double *in, double *out)
{
    const tw_sparse_parts *parts = &matrix->parts;
    const bool upper = matrix->storage == TW_STORE_UPPER;
    apply_job job = {.matrix = matrix, .count = count, .in = in, .out = out};

    /* One kernel for each kind of matrix. */
    if (matrix->block == 3)
        job.kernel = upper ? kernels->upper3 : kernels->full3;
    else
        job.kernel = upper ? kernels->upper1 : kernels->full1;
    tw_parallel_for(parts->count, 1, multiply_part, &job);

    /* Upper storage: what parts gave to later parts is added now. */
    if (upper) {
        const int64_t together = parts->left < GATHER_ALONE ? parts->count : 1;
        tw_parallel_for(parts->count, together, gather_parts, &job);
    }
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
    if (!matrix) return (tw_operator){0};
    return (tw_operator){.space = {.local_size = tw_sparse_size(matrix)},
                         .apply = apply_operator,
                         .context = (void *)matrix,
                         .symmetry = matrix->storage == TW_STORE_UPPER ? TW_SYMMETRIC : TW_GENERAL,
                         .bytes_per_product = tw_sparse_bytes_per_product(matrix)};
}
