/* Sums over vectors. A vector is cut into blocks that depend on its length alone. Each block is
 * summed in a fixed order, and the sums of the blocks are added in the order of the blocks. The
 * result is therefore the same for any number of threads. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/parallel_for.h"
#include "linalg/vector.h"
#include "linalg/vector_kernels.h"

enum {
    SUM_BLOCK = 4096, /* entries of the smallest block: about a microsecond of work */
    PARTIALS = 256,   /* most blocks; their sums stand on the stack */
    PASS = 16,        /* most dot products in one pass over x */
    CHUNK = 2048      /* entries of x that stay in the first-level cache during a pass: 16 KB */
};

/* Entries per block, doubled until at most PARTIALS blocks cover n. */
static int64_t sum_block(int64_t n)
{
    int64_t block = SUM_BLOCK;
    while (tw_parallel_blocks(n, block) > PARTIALS) block *= 2;
    return block;
}

/* Sums over all ranks. */
static tw_status reduce(const tw_space *space, double *values, int count)
{
    return space->reduce ? space->reduce(space->context, values, count) : TW_OK;
}

typedef struct dots_job {
    int count; /* <= PASS */
    int64_t n;
    const double *basis;
    const double *x;
    double *partial; /* PASS per block */
} dots_job;

static void dots_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    const dots_job *job = context;
    double *sums = job->partial + block * PASS;
    memset(sums, 0, PASS * sizeof *sums);

    for (int64_t start = begin; start < end; start += CHUNK) {
        const int64_t length = end - start < CHUNK ? end - start : CHUNK;
        const double *V = job->basis + start;

        /* Four vectors at a time share the loads of x. */
        int j = 0;
        for (; j + TW_GROUP <= job->count; j += TW_GROUP)
            tw_add_dots(TW_GROUP, length, V + j * job->n, job->n, job->x + start, sums + j);
        for (; j < job->count; j++)
            tw_add_dots(1, length, V + j * job->n, job->n, job->x + start, sums + j);
    }
}

/* results[j] = <V_j, x> for at most PASS vectors. */
static void pass_of_dots(int64_t n, int count, const double *basis, const double *x,
                         double *results)
{
    double partial[PARTIALS * PASS];
    const int64_t block = sum_block(n);
    const int64_t blocks = tw_parallel_blocks(n, block);
    tw_parallel_for(n, block, dots_block, &(dots_job){count, n, basis, x, partial});

    for (int j = 0; j < count; j++) {
        results[j] = 0;
        for (int64_t b = 0; b < blocks; b++) results[j] += partial[b * PASS + j];
    }
}

tw_status tw_vector_dots(const tw_space *space, int count, const double *basis, const double *x,
                         double *results)
{
    const int64_t n = space->local_size;
    for (int j = 0; j < count; j += PASS) {
        const int some = count - j < PASS ? count - j : PASS;
        pass_of_dots(n, some, basis + j * n, x, results + j);
    }
    return count > 0 ? reduce(space, results, count) : TW_OK;
}

typedef struct dot_job {
    const double *w; /* NULL: ones */
    const double *x;
    const double *y;
    double *partial; /* one per block */
} dot_job;

/* (a_0 + a_1) + (a_2 + a_3), summed over the lanes. */
static inline double sum_of_four(const tw_wide a[4])
{
    return tw_wide_sum(tw_wide_add(tw_wide_add(a[0], a[1]), tw_wide_add(a[2], a[3])));
}

/* Four accumulators keep additions in flight; the entries that are left are added at the end. */
static void dot_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    const dot_job *job = context;
    const double *x = job->x;
    const double *y = job->y;

    tw_wide sum[4] = {tw_wide_zero(), tw_wide_zero(), tw_wide_zero(), tw_wide_zero()};
    int64_t i = begin;
    for (; i + 16 <= end; i += 16)
        for (int k = 0; k < 4; k++)
            sum[k] = tw_wide_fma(tw_wide_load(x + i + 4 * k), tw_wide_load(y + i + 4 * k), sum[k]);

    double rest = 0;
    for (; i < end; i++) rest += x[i] * y[i];
    job->partial[block] = sum_of_four(sum) + rest;
}

static void weighted_dot_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    const dot_job *job = context;
    const double *w = job->w;
    const double *x = job->x;
    const double *y = job->y;

    tw_wide sum[4] = {tw_wide_zero(), tw_wide_zero(), tw_wide_zero(), tw_wide_zero()};
    int64_t i = begin;
    for (; i + 16 <= end; i += 16)
        for (int k = 0; k < 4; k++) {
            const tw_wide wx =
                tw_wide_multiply(tw_wide_load(w + i + 4 * k), tw_wide_load(x + i + 4 * k));
            sum[k] = tw_wide_fma(wx, tw_wide_load(y + i + 4 * k), sum[k]);
        }

    double rest = 0;
    for (; i < end; i++) rest += w[i] * x[i] * y[i];
    job->partial[block] = sum_of_four(sum) + rest;
}

tw_status tw_vector_weighted_dot(const tw_space *space, const double *w, const double *x,
                                 const double *y, double *result)
{
    double partial[PARTIALS];
    const int64_t n = space->local_size;
    const int64_t block = sum_block(n);
    tw_parallel_for(n, block, w ? weighted_dot_block : dot_block, &(dot_job){w, x, y, partial});

    *result = 0;
    for (int64_t b = 0; b < tw_parallel_blocks(n, block); b++) *result += partial[b];
    return reduce(space, result, 1);
}

tw_status tw_vector_dot(const tw_space *space, const double *x, const double *y, double *result)
{
    return tw_vector_weighted_dot(space, NULL, x, y, result);
}

/* Squares that neither overflow nor underflow: Blue's three accumulators (1978) with the constants
 * of LAPACK's dnrm2. Their scales are fixed, so that they can be summed over ranks. */
enum { SMALL, MIDDLE, BIG, SIZES };
#define SAFE_SQUARE 1e-250
#define SMALL_BELOW 0x1p-511
#define SMALL_SCALE 0x1p537
#define BIG_ABOVE   0x1p486
#define BIG_SCALE   0x1p-538

/* Adds each square to the sum of its size: small, middle or big. */
static void scaled_squares(int64_t n, const double *x, double sums[SIZES])
{
    for (int64_t i = 0; i < n; i++) {
        const double size = fabs(x[i]);

        if (size > BIG_ABOVE)
            sums[BIG] += (size * BIG_SCALE) * (size * BIG_SCALE);
        else if (size < SMALL_BELOW)
            sums[SMALL] += (size * SMALL_SCALE) * (size * SMALL_SCALE);
        else
            sums[MIDDLE] += size * size;
    }
}

/* The root of all squares together. Small ones do not count beside a big one. */
static double root_of_scaled(const double sums[SIZES])
{
    if (!(sums[BIG] <= 0))
        return sqrt(sums[BIG] + (sums[MIDDLE] * BIG_SCALE) * BIG_SCALE) / BIG_SCALE;

    const double middle = sqrt(sums[MIDDLE]);
    const double small = sqrt(sums[SMALL]) / SMALL_SCALE;
    return small > 0 ? hypot(middle, small) : middle;
}

tw_status tw_vector_norm(const tw_space *space, const double *x, double *result)
{
    double square = 0;
    tw_status status = tw_vector_dot(space, x, x, &square);
    *result = sqrt(square);

    /* Squares below DBL_MIN = 2e-308 are lost. In a sum above SAFE_SQUARE they are 1e-50 of it at
     * most. All ranks see the same sum and take the same way. */
    if (status || (square > SAFE_SQUARE && square <= DBL_MAX)) return status;

    /* The sum overflowed, underflowed or is NaN: the same with scaled squares. */
    double sums[SIZES] = {0};
    scaled_squares(space->local_size, x, sums);
    status = reduce(space, sums, SIZES);
    *result = root_of_scaled(sums);
    return status;
}

/* The sum of (x_i - y_i)^2, in the order of dot_block. */
static void distance_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    const dot_job *job = context;
    const double *x = job->x;
    const double *y = job->y;

    tw_wide sum[4] = {tw_wide_zero(), tw_wide_zero(), tw_wide_zero(), tw_wide_zero()};
    int64_t i = begin;
    for (; i + 16 <= end; i += 16)
        for (int k = 0; k < 4; k++) {
            tw_wide d = tw_wide_subtract(tw_wide_load(x + i + 4 * k), tw_wide_load(y + i + 4 * k));
            sum[k] = tw_wide_fma(d, d, sum[k]);
        }

    double rest = 0;
    for (; i < end; i++) rest += (x[i] - y[i]) * (x[i] - y[i]);
    job->partial[block] = sum_of_four(sum) + rest;
}

tw_status tw_vector_distance(const tw_space *space, const double *x, const double *y, double *room,
                             double *result)
{
    double partial[PARTIALS];
    const int64_t n = space->local_size;
    const int64_t block = sum_block(n);
    tw_parallel_for(n, block, distance_block, &(dot_job){NULL, x, y, partial});

    double square = 0;
    for (int64_t b = 0; b < tw_parallel_blocks(n, block); b++) square += partial[b];
    tw_status status = reduce(space, &square, 1);
    *result = sqrt(square);
    if (status || (square > SAFE_SQUARE && square <= DBL_MAX)) return status;

    /* Squares overflowed or underflowed, or x is y. */
    for (int64_t i = 0; i < n; i++) room[i] = x[i] - y[i];
    return tw_vector_norm(space, room, result);
}
