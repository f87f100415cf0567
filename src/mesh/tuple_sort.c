#include "mesh/tuple_sort.h"

#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"

/* One stable counting pass by the entry at `column`. */
static void counting_pass(int64_t count, int width, int column, const int64_t *tuples,
                          int64_t bound, const int64_t *from, int64_t *to, int64_t *starts)
{
    memset(starts, 0, (size_t)(bound + 1) * sizeof *starts);
    for (int64_t i = 0; i < count; i++) starts[tuples[width * i + column] + 1]++;
    for (int64_t b = 0; b < bound; b++) starts[b + 1] += starts[b];
    for (int64_t i = 0; i < count; i++) to[starts[tuples[width * from[i] + column]]++] = from[i];
}

tw_status tw_tuple_sort(int64_t count, int width, const int64_t *tuples, int64_t bound,
                        int64_t *order, tw_error *error)
{
    int64_t *other = TW_NEW_ARRAY(count, int64_t), *starts = TW_NEW_ARRAY(bound + 1, int64_t);
    tw_status status = other && starts ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);
    if (status == TW_OK) {
        int64_t *from = width % 2 ? other : order, *to = width % 2 ? order : other;
        for (int64_t i = 0; i < count; i++) from[i] = i;
        for (int column = width - 1; column >= 0; column--) {
            counting_pass(count, width, column, tuples, bound, from, to, starts);
            int64_t *swap = from;
            from = to;
            to = swap;
        }
    }
    tw_release(other);
    tw_release(starts);
    return status;
}
