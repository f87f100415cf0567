/* The separate pieces of a mesh, and the box of each. */
#include <math.h>
#include <stdlib.h>

#include "view.h"

/* The vertex that stands for the piece of vertex i; the way to it is halved for the next time. */
static int64_t root_of(int64_t *parent, int64_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* Joins the pieces that the edges connect; the first vertex of a piece stands for it. */
static void join(int64_t *parent, const int64_t *edges, int64_t count)
{
    for (int64_t e = 0; e < count; e++) {
        int64_t a = root_of(parent, edges[2 * e]);
        int64_t b = root_of(parent, edges[2 * e + 1]);
        parent[a > b ? a : b] = a > b ? b : a;
    }
}

/* Numbers the pieces by their first vertices, and makes their boxes. `number` is per vertex. A vertex
 * without any edge is no piece. */
static int64_t make_boxes(const tw_mesh *mesh, int64_t *parent, int64_t *number,
                          const bool *is_used, int most, mesh_box *boxes)
{
    int64_t count = 0;
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        if (!is_used[i]) continue;
        int64_t root = root_of(parent, i);
        if (root == i) number[i] = count++;
        if (number[root] >= most) continue;

        mesh_box *box = &boxes[number[root]];
        const double *x = mesh->vertices + 3 * i;
        for (int k = 0; k < 3; k++) {
            box->lower[k] = root == i ? x[k] : fmin(box->lower[k], x[k]);
            box->upper[k] = root == i ? x[k] : fmax(box->upper[k], x[k]);
        }
    }
    return count;
}

tw_status find_mesh_pieces(const tw_mesh *mesh, int most, mesh_box *boxes, int64_t *count,
                           tw_error *error)
{
    *count = 0;
    int64_t *edges = NULL;
    int64_t edge_count = 0;
    tw_status status = tw_mesh_unique_edges(mesh, &edges, &edge_count, error);
    if (status != TW_OK) return status;

    size_t vertices = (size_t)mesh->vertex_count;
    int64_t *parent = malloc((2 * vertices + 1) * sizeof *parent);
    bool *is_used = calloc(vertices + 1, sizeof *is_used);
    if (parent && is_used) {
        for (size_t i = 0; i < vertices; i++) parent[i] = (int64_t)i;
        for (int64_t i = 0; i < 2 * edge_count; i++) is_used[edges[i]] = true;
        join(parent, edges, edge_count);
        *count = make_boxes(mesh, parent, parent + vertices, is_used, most, boxes);
    } else
        status = TW_OUT_OF_MEMORY;

    free(is_used);
    free(parent);
    tw_mesh_free_indices(edges);
    return status;
}
