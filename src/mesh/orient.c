/* Turning the triangles of a surface so that neighbours agree. */
#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/mesh_internal.h"

static void turn(int64_t *triangle)
{
    int64_t swap = triangle[1];
    triangle[1] = triangle[2];
    triangle[2] = swap;
}

/* A walk over the triangles of one patch after the other. */
typedef struct patch_walk {
    const int64_t *triangles;
    const int64_t *partner; /* of tw_edge_pairs */
    signed char *sense;     /* 0 not seen, 1 as the first triangle of the patch, -1 against it */
    int64_t *queue;         /* the triangles of the patch */
} patch_walk;

/* What the walk over a patch found. */
typedef struct patch {
    int64_t count;   /* of triangles */
    int64_t against; /* of those with sense -1 */
    bool orientable; /* whether the senses are consistent */
} patch;

/* Two neighbours agree if they run along their common edge in opposite directions. */
static bool agrees(const patch_walk *w, int64_t half_edge, int64_t other)
{
    return w->triangles[half_edge] != w->triangles[other];
}

/* Breadth-first walk from `start`: gives every triangle of the patch its sense. */
static patch walk_patch(patch_walk *w, int64_t start)
{
    patch found = {.count = 1, .orientable = true};
    w->queue[0] = start;
    w->sense[start] = 1;

    for (int64_t i = 0; i < found.count; i++)
        for (int e = 0; e < 3; e++) {
            int64_t h = 3 * w->queue[i] + e;
            int64_t other = w->partner[h];
            if (other < 0) continue;

            /* The sense that the neighbour should have. If it has the other one already,
             * no orientation is right. */
            int wanted = agrees(w, h, other) ? w->sense[h / 3] : -w->sense[h / 3];
            if (w->sense[other / 3] == 0) {
                w->sense[other / 3] = (signed char)wanted;
                w->queue[found.count++] = other / 3;
                found.against += wanted < 0;
            } else if (w->sense[other / 3] != wanted) {
                found.orientable = false;
            }
        }

    return found;
}

static void orient_patches(tw_mesh *mesh, patch_walk *w, int64_t *turned)
{
    for (int64_t start = 0; start < mesh->triangle_count; start++) {
        if (w->sense[start] != 0) continue;
        patch found = walk_patch(w, start);
        if (!found.orientable) continue;

        /* Turn the triangles of the minority. */
        int minority = 2 * found.against > found.count ? 1 : -1;
        for (int64_t i = 0; i < found.count; i++) {
            if (w->sense[w->queue[i]] != minority) continue;
            turn(mesh->triangles + 3 * w->queue[i]);
            ++*turned;
        }
    }
}

/* A closed surface is inside out if the volume inside is negative. */
static bool is_inside_out(const tw_mesh *mesh, const tw_edge_pairs *pairs)
{
    bool closed = pairs->open == 0 && pairs->crowded == 0;
    return closed && mesh->tetrahedron_count == 0 && tw_mesh_volume(mesh) < 0.0;
}

tw_status tw_orient_triangles(tw_mesh *mesh, int64_t *turned, tw_error *error)
{
    if (mesh->triangle_count == 0) return TW_OK;
    tw_edge_pairs pairs;
    TW_TRY(tw_edge_pairs_find(mesh->triangle_count, mesh->triangles, mesh->vertex_count, &pairs,
                              error));

    /* Make neighbours agree, patch by patch. */
    patch_walk w = {mesh->triangles, pairs.partner,
                    tw_allocate_zeroed((size_t)mesh->triangle_count, 1),
                    TW_NEW_ARRAY(mesh->triangle_count, int64_t)};
    tw_status status = TW_OK;
    if (w.sense && w.queue)
        orient_patches(mesh, &w, turned);
    else
        status = tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* Then make the normals of a closed surface look outwards. */
    if (status == TW_OK && is_inside_out(mesh, &pairs)) {
        for (int64_t i = 0; i < mesh->triangle_count; i++) turn(mesh->triangles + 3 * i);
        *turned += mesh->triangle_count;
    }

    tw_release(w.sense);
    tw_release(w.queue);
    tw_release(pairs.partner);
    return status;
}
