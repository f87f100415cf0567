/* Points that follow a solid. */
#include <twang/mesh.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/parallel_for.h"
#include "mesh/box_tree.h"
#include "mesh/closest.h"
#include "mesh/embed.h"

enum { BLOCK = 256 };

static void corners_of(const tw_mesh *mesh, int64_t tetrahedron, vec3 corners[4])
{
    for (int k = 0; k < 4; k++)
        corners[k] = vec3_at(mesh->vertices, mesh->tetrahedra[4 * tetrahedron + k]);
}

static double distance_to_item(const void *context, int64_t item, vec3 q)
{
    vec3 corners[4];
    double weights[4];
    corners_of(context, item, corners);
    return tw_barycentric(q, corners, weights) ? tw_tetrahedron_distance(q, corners)
                                               : INFINITY; /* flat: never */
}

typedef struct search {
    const tw_mesh *mesh;
    const tw_box_tree *tree;
    const double *points;
    tw_embedding *out;
    double *distances; /* may be NULL */
} search;

static void embed_block(void *context, int64_t begin, int64_t end, int64_t block_index)
{
    (void)block_index;
    search *s = context;
    for (int64_t i = begin; i < end; i++) {
        vec3 q = vec3_at(s->points, i), corners[4];
        double distance = INFINITY;
        int64_t found = tw_box_tree_nearest(s->tree, q, distance_to_item, s->mesh, &distance);
        s->out->tetrahedra[i] = distance < INFINITY ? found : -1;
        if (s->distances) s->distances[i] = sqrt(distance);
        if (s->out->tetrahedra[i] < 0) continue;
        corners_of(s->mesh, found, corners);
        tw_barycentric(q, corners, s->out->weights + 4 * i);
        for (int k = 0; k < 4; k++) s->out->corners[4 * i + k] = s->mesh->tetrahedra[4 * found + k];
    }
}

static tw_status build_tree(const tw_mesh *mesh, tw_box_tree *tree, tw_error *error)
{
    tw_box *boxes = TW_NEW_ARRAY(mesh->tetrahedron_count, tw_box);
    if (!boxes) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    for (int64_t i = 0; i < mesh->tetrahedron_count; i++) {
        vec3 p[4];
        corners_of(mesh, i, p);
        boxes[i] = (tw_box){{p[0].x, p[0].y, p[0].z}, {p[0].x, p[0].y, p[0].z}};
        for (int k = 1; k < 4; k++) tw_box_include(boxes + i, p[k]);
    }
    tw_status status = tw_box_tree_build(mesh->tetrahedron_count, boxes, tree, error);
    tw_release(boxes);
    return status;
}

static tw_status allocate_embedding(int64_t count, tw_embedding *out, tw_error *error)
{
    *out = (tw_embedding){.tetrahedra = TW_NEW_ARRAY(count, int64_t),
                          .corners = TW_NEW_ARRAY(4 * count, int64_t),
                          .weights = TW_NEW_ARRAY(4 * count, double)};
    if (!out->tetrahedra || !out->corners || !out->weights)
        return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    out->count = count;
    return TW_OK;
}

static tw_status check_points(int64_t count, const double *points, tw_error *error)
{
    for (int64_t i = 0; i < 3 * count; i++)
        if (!isfinite(points[i]))
            return tw_fail(error, TW_NOT_FINITE, "point %lld is not finite", (long long)(i / 3));
    return TW_OK;
}

tw_status tw_embedding_create(const tw_mesh *mesh, int64_t count, const double *points,
                              tw_embedding *out, tw_error *error)
{
    return tw_embed_points(mesh, count, points, out, NULL, error);
}

tw_status tw_embed_points(const tw_mesh *mesh, int64_t count, const double *points,
                          tw_embedding *out, double *distances, tw_error *error)
{
    if (!mesh || !out || count < 0 || (count > 0 && !points))
        return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    *out = (tw_embedding){0};
    if (mesh->tetrahedron_count == 0)
        return tw_fail(error, TW_INVALID_ARGUMENT, "the mesh has no tetrahedra to embed in");
    tw_box_tree tree = {0};
    tw_status status = tw_mesh_check(mesh, error);
    if (status == TW_OK) status = check_points(count, points, error);
    if (status == TW_OK) status = allocate_embedding(count, out, error);
    if (status == TW_OK) status = build_tree(mesh, &tree, error);
    if (status == TW_OK) {
        search s = {mesh, &tree, points, out, distances};
        tw_parallel_for(count, BLOCK, embed_block, &s);
        for (int64_t i = 0; i < count && status == TW_OK; i++)
            if (out->tetrahedra[i] < 0)
                status = tw_fail(error, TW_INVALID_ARGUMENT, "all tetrahedra of the mesh are flat");
    }
    tw_box_tree_free(&tree);
    if (status != TW_OK) tw_embedding_free(out);
    return status;
}

void tw_embedding_apply(const tw_embedding *embedding, const double *positions, double *out)
{
    for (int64_t i = 0; i < embedding->count; i++) {
        const int64_t *corner = embedding->corners + 4 * i;
        const double *weight = embedding->weights + 4 * i;
        for (int k = 0; k < 3; k++)
            out[3 * i + k] = weight[0] * positions[3 * corner[0] + k] +
                             weight[1] * positions[3 * corner[1] + k] +
                             weight[2] * positions[3 * corner[2] + k] +
                             weight[3] * positions[3 * corner[3] + k];
    }
}

void tw_embedding_free(tw_embedding *embedding)
{
    if (!embedding) return;
    tw_release(embedding->tetrahedra);
    tw_release(embedding->corners);
    tw_release(embedding->weights);
    *embedding = (tw_embedding){0};
}
