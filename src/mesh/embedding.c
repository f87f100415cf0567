/* Points that follow a solid: each point is tied to the nearest tetrahedron by its
 * barycentric coordinates. */
#include "base/allocate.h"
#include "base/fail.h"
#include "base/parallel_for.h"
#include "mesh/mesh_internal.h"

enum { BLOCK = 256 }; /* points per block of work */

static void corners_of(const tw_mesh *mesh, int64_t tetrahedron, vec3 corners[4])
{
    for (int k = 0; k < 4; k++)
        corners[k] = vec3_at(mesh->vertices, mesh->tetrahedra[4 * tetrahedron + k]);
}

/* Square of the distance to a tetrahedron. A flat one is infinitely far, because it has no
 * barycentric coordinates. */
static double distance_to_item(const void *context, int64_t item, vec3 q)
{
    vec3 corners[4];
    double weights[4];
    corners_of(context, item, corners);
    if (!tw_barycentric(q, corners, weights)) return INFINITY;
    return tw_tetrahedron_distance(q, corners);
}

typedef struct search {
    const tw_mesh *mesh;
    tw_box_tree tree;
    const double *points;
    tw_embedding *out;
    double *distances; /* may be NULL */
} search;

static void embed_block(void *context, int64_t begin, int64_t end, int64_t block_index)
{
    (void)block_index;
    search *s = context;
    for (int64_t i = begin; i < end; i++) {
        /* Find the nearest tetrahedron; -1 if all are flat. */
        vec3 q = vec3_at(s->points, i);
        double distance = INFINITY;
        int64_t found = tw_box_tree_nearest(&s->tree, q, distance_to_item, s->mesh, &distance);
        s->out->tetrahedra[i] = distance < INFINITY ? found : -1;
        if (s->distances) s->distances[i] = sqrt(distance);
        if (s->out->tetrahedra[i] < 0) continue;

        /* Tie the point to its corners. */
        vec3 corners[4];
        corners_of(s->mesh, found, corners);
        tw_barycentric(q, corners, s->out->weights + 4 * i);
        for (int k = 0; k < 4; k++) s->out->corners[4 * i + k] = s->mesh->tetrahedra[4 * found + k];
    }
}

static tw_status build_tree(const tw_mesh *mesh, tw_box_tree *tree, tw_error *error)
{
    tw_box *boxes = TW_NEW_ARRAY(mesh->tetrahedron_count, tw_box);
    if (!boxes) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* The box of each tetrahedron. */
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

/* Embeds all points of the search, in parallel. */
static tw_status embed_all(search *s, int64_t count, tw_error *error)
{
    TW_TRY(build_tree(s->mesh, &s->tree, error));
    tw_parallel_for(count, BLOCK, embed_block, s);
    tw_box_tree_free(&s->tree);

    /* A point without a tetrahedron means that all of them are flat. */
    for (int64_t i = 0; i < count; i++)
        if (s->out->tetrahedra[i] < 0)
            return tw_fail(error, TW_INVALID_ARGUMENT, "all tetrahedra of the mesh are flat");

    return TW_OK;
}

tw_status tw_embed_points(const tw_mesh *mesh, int64_t count, const double *points,
                          tw_embedding *out, double *distances, tw_error *error)
{
    /* Check the arguments. */
    if (!mesh || !out || !tw_is_count(count) || (count > 0 && !points))
        return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    *out = (tw_embedding){0};
    if (mesh->tetrahedron_count == 0)
        return tw_fail(error, TW_INVALID_ARGUMENT, "the mesh has no tetrahedra to embed in");
    TW_TRY(tw_mesh_check(mesh, error));
    TW_TRY(check_points(count, points, error));

    search s = {.mesh = mesh, .points = points, .out = out, .distances = distances};
    tw_status status = allocate_embedding(count, out, error);
    if (status == TW_OK) status = embed_all(&s, count, error);
    if (status != TW_OK) tw_embedding_free(out);

    return status;
}

tw_status tw_embedding_create(const tw_mesh *mesh, int64_t count, const double *points,
                              tw_embedding *out, tw_error *error)
{
    return tw_embed_points(mesh, count, points, out, NULL, error);
}

void tw_embedding_apply(const tw_embedding *embedding, const double *positions, double *out)
{
    /* Whoever has no points gets none. */
    if (!embedding || !embedding->corners || !embedding->weights || !positions || !out) return;
    if (!tw_is_count(embedding->count)) return;

    /* x_i = sum_c w_ic X_c over the four corners c of the tetrahedron. */
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
