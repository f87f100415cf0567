/* Sorting edges and faces, and pairing the half-edges of triangles. Both are linear in the
 * number of cells and give the same result on every machine. */
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/mesh_internal.h"

/* ---- sorting ---- */

typedef struct tuple_list {
    int64_t count;
    int width;
    const int64_t *tuples;
    int64_t bound; /* entries are below it */
} tuple_list;

/* One stable counting pass: moves the numbers in `from` to `to`, sorted by the entry at
 * `column`. `starts` has room for bound + 1 numbers. */
static void counting_pass(const tuple_list *list, int column, const int64_t *from, int64_t *to,
                          int64_t *starts)
{
    const int64_t *tuples = list->tuples;
    int width = list->width;

    /* starts[b] becomes the number of tuples whose entry is below b. */
    memset(starts, 0, (size_t)(list->bound + 1) * sizeof *starts);
    for (int64_t i = 0; i < list->count; i++) starts[tuples[width * i + column] + 1]++;
    for (int64_t b = 0; b < list->bound; b++) starts[b + 1] += starts[b];

    for (int64_t i = 0; i < list->count; i++)
        to[starts[tuples[width * from[i] + column]]++] = from[i];
}

/* Radix sort from the last column to the first. `order` and `other` change roles after each
 * pass; the roles at the start are chosen so that the last pass writes to `order`. */
static void sort_columns(const tuple_list *list, int64_t *order, int64_t *other, int64_t *starts)
{
    int64_t *from = order;
    int64_t *to = other;

    if (list->width % 2 == 1) {
        from = other;
        to = order;
    }

    /* A stable sort by the last column, then by the one before it, gives
     * the lexicographic order. */
    for (int64_t i = 0; i < list->count; i++) from[i] = i;
    for (int column = list->width - 1; column >= 0; column--) {
        counting_pass(list, column, from, to, starts);
        int64_t *swap = from;
        from = to;
        to = swap;
    }
}

tw_status tw_tuple_sort(int64_t count, int width, const int64_t *tuples, int64_t bound,
                        int64_t *order, tw_error *error)
{
    tuple_list list = {count, width, tuples, bound};
    int64_t *other = TW_NEW_ARRAY(count, int64_t);
    int64_t *starts = TW_NEW_ARRAY(bound + 1, int64_t);

    tw_status status = TW_OK;

    /* Sort with scratch memory for a second order and the counts. */
    if (other && starts)
        sort_columns(&list, order, other, starts);
    else
        status = tw_fail_plain(error, TW_OUT_OF_MEMORY);

    tw_release(other);
    tw_release(starts);
    return status;
}

/* ---- pairing ---- */

/* Equal edges stand side by side in `order`: a run of one is open, a run of two is a pair,
 * a longer one is crowded. */
static void pair_half_edges(int64_t count, const int64_t *edges, const int64_t *order,
                            tw_edge_pairs *out)
{
    for (int64_t begin = 0, end = 0; begin < count; begin = end) {
        /* Find the end of the run. */
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

/* edges[2 h], edges[2 h + 1] become the ends of half-edge h, the smaller one first. */
static void list_half_edges(int64_t count, const int64_t *triangles, int64_t *edges)
{
    for (int64_t h = 0; h < count; h++) {
        int64_t next = h % 3 == 2 ? h - 2 : h + 1;
        tw_put_edge(edges + 2 * h, triangles[h], triangles[next]);
    }
}

tw_status tw_edge_pairs_find(int64_t triangle_count, const int64_t *triangles, int64_t vertex_count,
                             tw_edge_pairs *out, tw_error *error)
{
    int64_t count = 3 * triangle_count;
    *out = (tw_edge_pairs){.partner = TW_NEW_ARRAY(count, int64_t)};
    int64_t *edges = TW_NEW_ARRAY(2 * count, int64_t);
    int64_t *order = TW_NEW_ARRAY(count, int64_t);

    /* Sort the half-edges by their ends, then pair neighbours in that order. */
    tw_status status = TW_OK;
    if (out->partner && edges && order) {
        list_half_edges(count, triangles, edges);
        status = tw_tuple_sort(count, 2, edges, vertex_count, order, error);
    } else {
        status = tw_fail_plain(error, TW_OUT_OF_MEMORY);
    }

    if (status == TW_OK) pair_half_edges(count, edges, order, out);

    tw_release(edges);
    tw_release(order);
    if (status == TW_OK) return TW_OK;

    tw_release(out->partner);
    *out = (tw_edge_pairs){0};
    return status;
}
