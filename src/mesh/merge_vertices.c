#include "mesh/merge_vertices.h"

#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"

static uint64_t hash_vertex(const double *vertex)
{
    uint64_t hash = 0;
    for (int k = 0; k < 3; k++) {
        double value = vertex[k] + 0.0; /* -0 becomes 0 */
        uint64_t bits = 0;
        memcpy(&bits, &value, sizeof bits);
        hash = (hash ^ bits) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return hash ^ (hash >> 32);
}

static int same_place(const double *a, const double *b)
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

/* A table with open addressing, at most half full; slots hold numbers of first vertices. */
tw_status tw_find_equal_vertices(int64_t count, const double *vertices, int64_t *first,
                                 int64_t *merged, tw_error *error)
{
    uint64_t size = 16;
    while (size < 2 * (uint64_t)count) size *= 2;
    int64_t *slots = TW_NEW_ARRAY(size, int64_t);
    if (!slots) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    for (uint64_t s = 0; s < size; s++) slots[s] = -1;
    *merged = 0;
    for (int64_t i = 0; i < count; i++) {
        uint64_t s = hash_vertex(vertices + 3 * i) & (size - 1);
        while (slots[s] >= 0 && !same_place(vertices + 3 * slots[s], vertices + 3 * i))
            s = (s + 1) & (size - 1);
        if (slots[s] < 0) slots[s] = i;
        first[i] = slots[s];
        *merged += first[i] != i;
    }
    tw_release(slots);
    return TW_OK;
}
