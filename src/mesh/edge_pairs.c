#include "mesh/edge_pairs.h"

#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/tuple_sort.h"

static void group_half_edges(int64_t count, const int64_t *edges, const int64_t *order,
                             tw_edge_pairs *out)
{
    for (int64_t begin = 0, end = 0; begin < count; begin = end) {
        for (end = begin + 1; end < count; end++)
            if (!tw_tuple_equal(2, edges + 2 * order[begin], edges + 2 * order[end])) break;
        for (int64_t i = begin; i < end; i++) out->partner[order[i]] = -1;
        out->open += end - begin == 1;
        out->crowded += end - begin > 2;
        if (end - begin != 2) continue;
        out->partner[order[begin]] = order[begin + 1];
        out->partner[order[begin + 1]] = order[begin];
    }
}

tw_status tw_edge_pairs_find(int64_t triangle_count, const int64_t *triangles, int64_t vertex_count,
                             tw_edge_pairs *out, tw_error *error)
{
    int64_t count = 3 * triangle_count;
    *out = (tw_edge_pairs){.partner = TW_NEW_ARRAY(count, int64_t)};
    int64_t *edges = TW_NEW_ARRAY(2 * count, int64_t), *order = TW_NEW_ARRAY(count, int64_t);
    tw_status status =
        out->partner && edges && order ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);
    if (status == TW_OK) {
        for (int64_t h = 0; h < count; h++) {
            int64_t a = triangles[h], b = triangles[h % 3 == 2 ? h - 2 : h + 1];
            edges[2 * h] = a < b ? a : b;
            edges[2 * h + 1] = a < b ? b : a;
        }
        status = tw_tuple_sort(count, 2, edges, vertex_count, order, error);
    }
    if (status == TW_OK) group_half_edges(count, edges, order, out);
    tw_release(edges);
    tw_release(order);
    if (status == TW_OK) return TW_OK;
    tw_release(out->partner);
    *out = (tw_edge_pairs){0};
    return status;
}
