/* Matrices in single precision: their creation and filling. single_apply.c has the product. */
#include <float.h>
#include <math.h>

#include "base/allocate.h"
#include "base/parallel_for.h"
#include "linalg/single_internal.h"

/* A copy is worth its zeros up to this many places per block of the matrix. */
static const double most_places_per_block = 1.5;

/* Matrices with fewer rows are not worth it. */
static const int64_t fewest_rows = 256;

enum {
    GROUPS_PER_PART = 512, /* of a part: some ten microseconds of work */
    MOST_PARTS = 64,
    FILL_BLOCK = 2048 /* blocks of the matrix that are filled at a time */
};

/* Entries whose largest is in this range are stored as they are: sums of products of two such
 * numbers are far from overflow, and seven digits of them from underflow. */
static const double comfortable_least = 1e-12;
static const double comfortable_most = 1e15;

/* The power of two by which entries up to `largest` are divided. */
static double unit_of(double largest)
{
    bool comfortable = largest >= comfortable_least && largest <= comfortable_most;
    if (comfortable || !(largest > 0) || isinf(largest)) return 1;

    int exponent = 0;
    (void)frexp(largest, &exponent);
    return ldexp(1.0, exponent);
}

double tw_single_unit(const tw_single *single)
{
    return single->unit;
}

int64_t tw_single_size(const tw_single *single)
{
    return 3 * single->width;
}

/* ---- the pattern ---- */

/* The offsets of the groups of a slice, ascending, and their number. The rows are merged: `next` is
 * the place that each has reached. */
static int64_t slice_groups(const tw_sparse *matrix, int64_t slice, int32_t *offset,
                            uint32_t *place, int64_t group)
{
    const int64_t *row_start = tw_sparse_row_start(matrix);
    const int32_t *column = tw_sparse_column(matrix);
    int64_t rows = tw_sparse_size(matrix) / 3;
    int64_t first = slice * TW_LANES;
    int64_t next[TW_LANES];
    for (int l = 0; l < TW_LANES; l++) next[l] = first + l < rows ? row_start[first + l] : 0;

    int64_t count = 0;
    for (;; count++) {
        int64_t least = INT64_MAX;
        for (int l = 0; l < TW_LANES && first + l < rows; l++) {
            if (next[l] == row_start[first + l + 1]) continue;
            int64_t here = column[next[l]] - (first + l);
            if (here < least) least = here;
        }
        if (least == INT64_MAX) return count;

        /* Without arrays the groups are only counted. */
        if (offset) offset[group + count] = (int32_t)least;
        for (int l = 0; l < TW_LANES && first + l < rows; l++) {
            if (next[l] == row_start[first + l + 1]) continue;
            if (column[next[l]] - (first + l) != least) continue;
            if (place) place[next[l]] = (uint32_t)((group + count) * TW_LANES + l);
            next[l]++;
        }
    }
}

static bool fits(const tw_sparse *matrix)
{
    return tw_sparse_block(matrix) == 3 && tw_sparse_storage_of(matrix) == TW_STORE_UPPER &&
           tw_sparse_size(matrix) / 3 >= fewest_rows;
}

/* The number of groups of all slices. */
static int64_t count_groups(const tw_sparse *matrix, int64_t slices)
{
    int64_t groups = 0;
    for (int64_t s = 0; s < slices; s++) groups += slice_groups(matrix, s, NULL, NULL, 0);
    return groups;
}

static tw_status list_groups(tw_single *single, const tw_sparse *matrix, int64_t groups)
{
    single->slice_start = TW_NEW_ARRAY(single->slices + 1, int64_t);
    single->offset = TW_NEW_ARRAY(groups, int32_t);
    single->place = TW_NEW_ARRAY(single->blocks, uint32_t);
    single->values = tw_allocate_zeroed((size_t)(groups * TW_SINGLE_GROUP), sizeof(float));
    single->peaks = TW_NEW_ARRAY(tw_parallel_blocks(single->blocks, FILL_BLOCK), double);
    if (!single->slice_start || !single->offset || !single->place || !single->values ||
        !single->peaks)
        return TW_OUT_OF_MEMORY;

    single->slice_start[0] = 0;
    for (int64_t s = 0; s < single->slices; s++)
        single->slice_start[s + 1] =
            single->slice_start[s] +
            slice_groups(matrix, s, single->offset, single->place, single->slice_start[s]);
    return TW_OK;
}

/* ---- the parts ---- */

/* Cuts the slices into parts of about equal work, and returns the rows of all their windows. */
static int64_t cut(tw_single *single, int parts)
{
    int64_t groups = single->slice_start[single->slices];
    int64_t slice = 0;
    int64_t window = 0;
    single->parts = parts;
    for (int p = 0; p < parts; p++) {
        single->part_start[p] = slice;
        int64_t share = p + 1 < parts ? groups * (p + 1) / parts : groups;
        int64_t reach = slice;
        for (; slice < single->slices && single->slice_start[slice + 1] <= share; slice++) {
            /* Offsets ascend. A group reaches into two slices. */
            int64_t last = single->slice_start[slice + 1];
            int64_t furthest = last > single->slice_start[slice] ? single->offset[last - 1] : 0;
            int64_t end = slice + 1 + (furthest + TW_LANES - 1) / TW_LANES;
            if (end > reach) reach = end;
        }
        single->window_start[p] = window;
        single->part_reach[p] = reach * TW_LANES;
        window += (reach - single->part_start[p]) * TW_LANES;
    }
    single->part_start[parts] = single->slices;
    single->window_start[parts] = window;
    return window;
}

static tw_status make_parts(tw_single *single)
{
    int64_t groups = single->slice_start[single->slices];
    int parts = 1;
    while (2 * parts <= MOST_PARTS && 2 * parts * (int64_t)GROUPS_PER_PART <= groups) parts *= 2;

    single->part_start = TW_NEW_ARRAY(parts + 1, int64_t);
    single->part_reach = TW_NEW_ARRAY(parts, int64_t);
    single->window_start = TW_NEW_ARRAY(parts + 1, int64_t);
    if (!single->part_start || !single->part_reach || !single->window_start)
        return TW_OUT_OF_MEMORY;

    /* Fewer parts, where most of what they do would be added up afterwards. */
    int64_t window = cut(single, parts);
    while (single->parts > 1 && window > 2 * single->slices * TW_LANES)
        window = cut(single, single->parts / 2);

    single->width = single->slices * TW_LANES;
    for (int p = 0; p < single->parts; p++)
        if (single->part_reach[p] > single->width) single->width = single->part_reach[p];

    size_t components = 3 * TW_SINGLE_VECTORS;
    single->y = tw_allocate_zeroed(components * (size_t)window, sizeof(float));
    return single->y ? TW_OK : TW_OUT_OF_MEMORY;
}

tw_status tw_single_create(const tw_sparse *matrix, tw_single **out)
{
    *out = NULL;
    if (!fits(matrix)) return TW_OK;
    int64_t rows = tw_sparse_size(matrix) / 3;
    int64_t blocks = tw_sparse_row_start(matrix)[rows];
    int64_t slices = (rows + TW_LANES - 1) / TW_LANES;
    int64_t groups = count_groups(matrix, slices);
    if ((double)groups * TW_LANES > most_places_per_block * (double)blocks) return TW_OK;
    if (groups > UINT32_MAX / TW_LANES) return TW_OK;

    tw_single *single = TW_NEW(tw_single);
    if (!single) return TW_OUT_OF_MEMORY;
    single->rows = rows;
    single->blocks = blocks;
    single->slices = slices;
    single->unit = 1;
    tw_status status = list_groups(single, matrix, groups);
    if (status == TW_OK) status = make_parts(single);
    bool is_wide = single->width > 2 * rows;
    if (status != TW_OK || is_wide) {
        tw_single_free(single);
        return status;
    }
    *out = single;
    return TW_OK;
}

void tw_single_free(tw_single *single)
{
    if (!single) return;
    tw_release(single->slice_start);
    tw_release(single->offset);
    tw_release(single->place);
    tw_release(single->values);
    tw_release(single->peaks);
    tw_release(single->part_start);
    tw_release(single->part_reach);
    tw_release(single->window_start);
    tw_release(single->y);
    tw_release(single);
}

/* ---- the values ---- */

typedef struct fill_job {
    tw_single *single;
    const double *from;
    double factor;
} fill_job;

static void fill_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    const fill_job *job = context;
    const uint32_t *place = job->single->place;
    float *values = job->single->values;
    double largest[9] = {0}; /* nine chains of comparisons, each of which waits for itself alone */

    for (int64_t p = begin; p < end; p++) {
        const double *B = job->from + 9 * p;
        float *to = values + (int64_t)TW_SINGLE_GROUP * (place[p] / TW_LANES) + place[p] % TW_LANES;
        for (int k = 0; k < 9; k++) {
            double value = job->factor * B[k];
            double size = fabs(value);
            to[k * TW_LANES] = (float)value;
            largest[k] = size > largest[k] ? size : largest[k];
        }
    }

    double peak = 0;
    for (int k = 0; k < 9; k++) peak = fmax(peak, largest[k]);
    job->single->peaks[block] = peak;
}

static double fill_scaled(tw_single *single, const tw_sparse *matrix, double unit)
{
    fill_job job = {single, tw_sparse_values_const(matrix), 1 / unit};
    single->unit = unit;
    tw_parallel_for(single->blocks, FILL_BLOCK, fill_block, &job);

    double largest = 0;
    for (int64_t b = 0; b < tw_parallel_blocks(single->blocks, FILL_BLOCK); b++)
        largest = fmax(largest, single->peaks[b]);
    return largest;
}

void tw_single_fill(tw_single *single, const tw_sparse *matrix)
{
    double unit = unit_of(fill_scaled(single, matrix, 1));
    if (unit != 1) (void)fill_scaled(single, matrix, unit);
}
