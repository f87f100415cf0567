/* Points sorted into slabs along an axis, for the nearest of them: a search looks at the slabs near the
 * given place alone. */
#ifndef TW_MODEL_POINT_SLABS_H
#define TW_MODEL_POINT_SLABS_H

#include <stdint.h>
#include <twang/status.h>

enum { TW_POINT_SLABS = 128 };

typedef struct tw_point_slabs {
    int64_t capacity; /* most points */
    int axis;         /* along which the points are sorted: 0, 1 or 2 */
    double low;       /* where the first slab begins [m] */
    double width;     /* of a slab [m] */
    int64_t start[TW_POINT_SLABS + 1];
    int32_t *point; /* the points of each slab, ascending */
} tw_point_slabs;

/* Room for `capacity` points. Free with tw_point_slabs_free, also after failure. */
tw_status tw_point_slabs_create(tw_point_slabs *slabs, int64_t capacity);
void tw_point_slabs_free(tw_point_slabs *slabs);

/* Sorts the points first ... first + count - 1 of x, three entries each, that have a positive weight. */
void tw_point_slabs_sort(tw_point_slabs *slabs, int64_t first, int64_t count, const double *weight,
                         const double *x);

/* The sorted point that is nearest to `place`, the first of them if several are; -1: there are none. x is
 * that of the last sorting. */
int64_t tw_point_slabs_nearest(const tw_point_slabs *slabs, const double *x, const double place[3]);

#endif
