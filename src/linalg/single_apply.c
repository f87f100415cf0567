/* Vectors in single precision, and products with a matrix. */
#include "base/parallel_for.h"
#include "linalg/single_internal.h"

enum { CONVERT_SLICES = 64 /* slices that are converted at a time: a microsecond */ };

/* ---- vectors ---- */

typedef struct convert_job {
    const tw_single *single;
    double factor;
    const double *in;
    double *out;
    const float *from;
    float *to;
} convert_job;

/* How many rows a slice has: the last one may have less than TW_LANES. */
static int64_t rows_of(const tw_single *single, int64_t slice)
{
    int64_t rows = single->rows - slice * TW_LANES;
    return rows < TW_LANES ? rows : TW_LANES;
}

static void load_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const convert_job *job = context;

    for (int64_t s = begin; s < end; s++) {
        const double *in = job->in + 3 * TW_LANES * s;
        int64_t rows = rows_of(job->single, s);
        double rest[3 * TW_LANES];
        if (rows < TW_LANES) {
            for (int k = 0; k < 3 * TW_LANES; k++) rest[k] = k < 3 * rows ? in[k] : 0;
            in = rest;
        }

        /* Three components from packed rows. */
        tw_lanes packed[3];
        tw_lanes component[3];
        for (int k = 0; k < 3; k++)
            packed[k] = tw_lanes_from_doubles(in + k * TW_LANES, job->factor);
        tw_lanes_split3(packed, component);
        for (int c = 0; c < 3; c++)
            tw_lanes_store(job->to + c * job->single->width + s * TW_LANES, component[c]);
    }
}

/* The entries behind the last slice are zero. */
static void clear_end(const tw_single *single, float *x)
{
    for (int c = 0; c < 3; c++)
        for (int64_t i = single->slices * TW_LANES; i < single->width; i++)
            x[c * single->width + i] = 0;
}

void tw_single_load(const tw_single *single, const double *in, double factor, float *x)
{
    convert_job job = {.single = single, .factor = factor, .in = in, .to = x};
    tw_parallel_for(single->slices, CONVERT_SLICES, load_block, &job);
    clear_end(single, x);
}

static void store_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const convert_job *job = context;

    for (int64_t s = begin; s < end; s++) {
        /* Packed rows from three components. */
        tw_lanes component[3];
        tw_lanes packed[3];
        for (int c = 0; c < 3; c++)
            component[c] = tw_lanes_load(job->from + c * job->single->width + s * TW_LANES);
        tw_lanes_join3(component, packed);

        double *out = job->out + 3 * TW_LANES * s;
        int64_t rows = rows_of(job->single, s);
        double rest[3 * TW_LANES];
        double *to = rows == TW_LANES ? out : rest;
        for (int k = 0; k < 3; k++) tw_lanes_to_doubles(packed[k], job->factor, to + k * TW_LANES);
        for (int k = 0; k < 3 * rows && to == rest; k++) out[k] = rest[k];
    }
}

void tw_single_store(const tw_single *single, const float *x, double factor, double *out)
{
    convert_job job = {.single = single, .factor = factor, .from = x, .out = out};
    tw_parallel_for(single->slices, CONVERT_SLICES, store_block, &job);
}

/* ---- products ---- */

typedef struct multiply_job {
    const tw_single *single;
    tw_single_kernel *kernel;
    int count;
    int64_t stride;
    const float *x;
    float *y;
} multiply_job;

static void multiply_parts(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const multiply_job *job = context;

    for (int64_t part = begin; part < end; part++)
        job->kernel(job->single, (int)part, job->count, job->stride, job->x);
}

/* Adds to the rows of a part what the windows of the parts before it hold for them, in their order,
 * and clears it there. */
static void collect_gifts(const tw_single *single, int part, int v, int c)
{
    int64_t first = single->part_start[part] * TW_LANES;
    int64_t end = single->part_start[part + 1] * TW_LANES;
    float *own = tw_single_y(single, part, v, c);

    for (int giver = 0; giver < part; giver++) {
        int64_t reach = single->part_reach[giver];
        int64_t last = reach < end ? reach : end;
        float *gifts =
            tw_single_y(single, giver, v, c) - single->part_start[giver] * TW_LANES + first;
        for (int64_t i = 0; i < last - first; i++) {
            own[i] += gifts[i];
            gifts[i] = 0;
        }
    }
}

/* The rows of a part go to the result, and its window is cleared. */
static void collect_parts(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const multiply_job *job = context;
    const tw_single *single = job->single;

    for (int64_t part = begin; part < end; part++)
        for (int vc = 0; vc < 3 * job->count; vc++) {
            collect_gifts(single, (int)part, vc / 3, vc % 3);
            int64_t first = single->part_start[part] * TW_LANES;
            int64_t rows = single->part_start[part + 1] * TW_LANES - first;
            float *own = tw_single_y(single, (int)part, vc / 3, vc % 3);

            float *y = job->y + vc / 3 * job->stride + vc % 3 * single->width + first;
            for (int64_t i = 0; i < rows; i += TW_LANES) {
                tw_lanes_store(y + i, tw_lanes_load(own + i));
                tw_lanes_store(own + i, tw_lanes_zero());
            }
        }
}

/* Lanes that stand for no row have given zeros, or a NaN if x has one, beyond the last row: the windows
 * end as they began. */
static void clear_ends_of_windows(const tw_single *single, int count)
{
    for (int p = 0; p < single->parts; p++)
        for (int vc = 0; vc < 3 * count; vc++) {
            float *y = tw_single_y(single, p, vc / 3, vc % 3);
            int64_t begin = single->slices * TW_LANES - single->part_start[p] * TW_LANES;
            int64_t rows = single->part_reach[p] - single->part_start[p] * TW_LANES;
            for (int64_t i = begin; i < rows; i++) y[i] = 0;
        }
}

void tw_single_multiply_with(tw_single_kernel *kernel, const tw_single *single, int count,
                             int64_t stride, const float *x, float *y)
{
    for (int v = 0; v < count; v += TW_SINGLE_VECTORS) {
        multiply_job job = {.single = single,
                            .kernel = kernel,
                            .count = count - v < TW_SINGLE_VECTORS ? count - v : TW_SINGLE_VECTORS,
                            .stride = stride,
                            .x = x + v * stride,
                            .y = y + v * stride};
        tw_parallel_for(single->parts, 1, multiply_parts, &job);
        tw_parallel_for(single->parts, 1, collect_parts, &job);
        clear_ends_of_windows(single, job.count);
        for (int w = 0; w < job.count; w++) clear_end(single, job.y + w * stride);
    }
}

void tw_single_multiply(const tw_single *single, int count, int64_t stride, const float *x,
                        float *y)
{
    tw_single_multiply_with(&tw_single_kernel_wide, single, count, stride, x, y);
}
