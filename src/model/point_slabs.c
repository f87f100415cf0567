#include "model/point_slabs.h"

#include <math.h>
#include <stdbool.h>

#include "base/allocate.h"

tw_status tw_point_slabs_create(tw_point_slabs *slabs, int64_t capacity)
{
    *slabs = (tw_point_slabs){.capacity = capacity, .point = TW_NEW_ARRAY(capacity + 1, int32_t)};
    return slabs->point ? TW_OK : TW_OUT_OF_MEMORY;
}

void tw_point_slabs_free(tw_point_slabs *slabs)
{
    tw_release(slabs->point);
    *slabs = (tw_point_slabs){0};
}

/* The slab of a coordinate; what lies outside belongs to the first or the last. */
static int slab_of(const tw_point_slabs *slabs, double coordinate)
{
    double slab = floor((coordinate - slabs->low) / slabs->width);
    return (int)fmin(fmax(slab, 0.0), TW_POINT_SLABS - 1.0);
}

/* Chooses the axis along which the points extend furthest, and cuts their extent. */
static void choose_axis(tw_point_slabs *slabs, int64_t first, int64_t count, const double *x)
{
    slabs->low = 0.0;
    slabs->width = 0.0;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY;
        double high = -INFINITY;
        for (int64_t p = first; p < first + count; p++) {
            low = fmin(low, x[3 * p + k]);
            high = fmax(high, x[3 * p + k]);
        }
        if (!(high - low > slabs->width * TW_POINT_SLABS)) continue;
        slabs->axis = k;
        slabs->low = low;
        slabs->width = (high - low) / TW_POINT_SLABS;
    }

    /* Points in one place: one slab holds them all. */
    if (!(slabs->width > 0.0)) slabs->width = INFINITY;
}

void tw_point_slabs_sort(tw_point_slabs *slabs, int64_t first, int64_t count, const double *weight,
                         const double *x)
{
    choose_axis(slabs, first, count, x);
    int64_t *start = slabs->start;
    for (int s = 0; s <= TW_POINT_SLABS; s++) start[s] = 0;

    /* start[s] counts the points of slab s, and then becomes the offset of the first of them. */
    for (int64_t p = first; p < first + count; p++)
        if (weight[p] > 0.0) start[slab_of(slabs, x[3 * p + slabs->axis])]++;
    int64_t sum = 0;
    for (int s = 0; s <= TW_POINT_SLABS; s++) {
        int64_t here = start[s];
        start[s] = sum;
        sum += here;
    }

    /* Filling moves start[s] up to start[s + 1], so that the offsets are shifted back by one. */
    for (int64_t p = first; p < first + count; p++)
        if (weight[p] > 0.0)
            slabs->point[start[slab_of(slabs, x[3 * p + slabs->axis])]++] = (int32_t)p;
    for (int s = TW_POINT_SLABS; s > 0; s--) start[s] = start[s - 1];
    start[0] = 0;
}

/* The nearest point found so far. */
typedef struct found {
    int64_t point;
    double square; /* of its distance */
} found;

static void search_slab(const tw_point_slabs *slabs, int slab, const double *x,
                        const double place[3], found *best)
{
    for (int64_t i = slabs->start[slab]; i < slabs->start[slab + 1]; i++) {
        int64_t p = slabs->point[i];
        double square = 0.0;

        for (int k = 0; k < 3; k++) square += (x[3 * p + k] - place[k]) * (x[3 * p + k] - place[k]);
        bool nearer = square < best->square || (square == best->square && p < best->point);
        if (nearer) *best = (found){p, square};
    }
}

int64_t tw_point_slabs_nearest(const tw_point_slabs *slabs, const double *x, const double place[3])
{
    found best = {-1, INFINITY};
    double coordinate = place[slabs->axis];
    int middle = slab_of(slabs, coordinate);
    search_slab(slabs, middle, x, place, &best);

    /* Slabs on both sides, as long as they may hold a point that is as near. */
    for (int s = middle + 1; s < TW_POINT_SLABS; s++) {
        double gap = slabs->low + s * slabs->width - coordinate;
        if (gap > 0.0 && gap * gap > best.square * (1.0 + 1e-12)) break;
        search_slab(slabs, s, x, place, &best);
    }
    for (int s = middle - 1; s >= 0; s--) {
        double gap = coordinate - (slabs->low + (s + 1) * slabs->width);
        if (gap > 0.0 && gap * gap > best.square * (1.0 + 1e-12)) break;
        search_slab(slabs, s, x, place, &best);
    }
    return best.point;
}
