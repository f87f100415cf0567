/* Sorting edges and faces: linear in their number, the same result everywhere. */
#ifndef TW_MESH_TUPLE_SORT_H
#define TW_MESH_TUPLE_SORT_H

#include <stdint.h>
#include <twang/status.h>

/* Fills `order` with the numbers 0 ... count-1 so that tuples (width entries each, 0 <= entry < bound) rise
 * lexicographically; equal ones keep their order. */
tw_status tw_tuple_sort(int64_t count, int width, const int64_t *tuples, int64_t bound,
                        int64_t *order, tw_error *error);

/* Whether two tuples are the same. */
static inline int tw_tuple_equal(int width, const int64_t *a, const int64_t *b)
{
    for (int i = 0; i < width; i++)
        if (a[i] != b[i]) return 0;
    return 1;
}

#endif
