/* Which vertices of a solid stand for a part of the surface that it fills. */
#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/parallel_for.h"
#include "mesh/bodies.h"
#include "mesh/mesh_internal.h"

enum { BLOCK = 64 }; /* vertices per block of work */

/* A vertex where two parts of the surface meet is as near to one as to the other, but for this share
 * of a cell of the solid. */
static const double TIE = 0.1;

typedef struct near_search {
    const tw_mesh *surface;
    const char *chosen; /* per triangle of the surface; NULL: all of them */
} near_search;

/* Square of the distance to a triangle; one that is not chosen is infinitely far. */
static double distance_to_triangle(const void *context, int64_t item, vec3 q)
{
    const near_search *s = context;
    if (s->chosen && !s->chosen[item]) return INFINITY;

    const int64_t *t = s->surface->triangles + 3 * item;
    const double *x = s->surface->vertices;
    vec3 p = tw_closest_on_triangle(q, vec3_at(x, t[0]), vec3_at(x, t[1]), vec3_at(x, t[2]));
    vec3 d = vec3_subtract(p, q);
    return vec3_dot(d, d);
}

typedef struct near_work {
    const tw_mesh *surface;
    const tw_mesh *solid;
    const char *chosen;
    tw_box_tree tree;
    double tie; /* [m] */
    char *near; /* in: the vertex is on the surface of the solid; out: and near what is chosen */
} near_work;

static void near_block(void *context, int64_t begin, int64_t end, int64_t block_index)
{
    (void)block_index;
    near_work *w = context;
    near_search all = {.surface = w->surface};
    near_search part = {.surface = w->surface, .chosen = w->chosen};

    for (int64_t i = begin; i < end; i++) {
        if (!w->near[i]) continue;

        /* The vertex belongs to the part if nothing else is nearer. */
        vec3 q = vec3_at(w->solid->vertices, i);
        double to_all = INFINITY;
        double to_part = INFINITY;
        tw_box_tree_nearest(&w->tree, q, distance_to_triangle, &all, &to_all);
        tw_box_tree_nearest(&w->tree, q, distance_to_triangle, &part, &to_part);
        w->near[i] = sqrt(to_part) <= sqrt(to_all) + w->tie;
    }
}

static tw_status build_tree(const tw_mesh *surface, tw_box_tree *tree, tw_error *error)
{
    tw_box *boxes = TW_NEW_ARRAY(surface->triangle_count, tw_box);
    if (!boxes) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    for (int64_t i = 0; i < surface->triangle_count; i++) {
        const int64_t *t = surface->triangles + 3 * i;
        vec3 p = vec3_at(surface->vertices, t[0]);
        boxes[i] = (tw_box){{p.x, p.y, p.z}, {p.x, p.y, p.z}};
        for (int k = 1; k < 3; k++) tw_box_include(boxes + i, vec3_at(surface->vertices, t[k]));
    }

    tw_status status = tw_box_tree_build(surface->triangle_count, boxes, tree, error);
    tw_release(boxes);
    return status;
}

/* The side of a cube with the volume that one vertex of the solid has. */
static double cell_of(const tw_mesh *solid)
{
    return cbrt(fabs(tw_mesh_volume(solid)) / (double)solid->vertex_count);
}

tw_status tw_vertices_near_triangles(const tw_mesh *solid, const tw_mesh *surface,
                                     const char *chosen, char *near, tw_error *error)
{
    /* Only vertices on the surface of the solid can belong to a part of the surface. */
    int64_t *triangles = NULL;
    int64_t count = 0;
    TW_TRY(tw_mesh_surface(solid, &triangles, &count, error));
    for (int64_t i = 0; i < solid->vertex_count; i++) near[i] = 0;
    for (int64_t i = 0; i < 3 * count; i++) near[triangles[i]] = 1;
    tw_mesh_free_indices(triangles);

    near_work work = {.surface = surface,
                      .solid = solid,
                      .chosen = chosen,
                      .tie = TIE * cell_of(solid),
                      .near = near};
    TW_TRY(build_tree(surface, &work.tree, error));
    tw_parallel_for(solid->vertex_count, BLOCK, near_block, &work);
    tw_box_tree_free(&work.tree);
    return TW_OK;
}
