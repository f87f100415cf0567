#include "mesh/orient.h"

#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/edge_pairs.h"

static void turn(int64_t *triangle)
{
    int64_t swap = triangle[1];
    triangle[1] = triangle[2];
    triangle[2] = swap;
}

/* Of each triangle: 0 not seen, 1 as the first of its patch, -1 against it. */
typedef struct patch_walk {
    const int64_t *triangles, *partner;
    signed char *sense;
    int64_t *queue; /* the triangles of the patch */
} patch_walk;

/* Two neighbours agree if they run along their edge in opposite ways. */
static int agrees(const patch_walk *w, int64_t half_edge, int64_t other)
{
    return w->triangles[half_edge] != w->triangles[other];
}

/* Number of triangles of the patch; *orientable tells whether their senses are consistent. */
static int64_t walk_patch(patch_walk *w, int64_t start, int64_t *against, int *orientable)
{
    int64_t count = 1;
    *against = 0;
    *orientable = 1;
    w->queue[0] = start;
    w->sense[start] = 1;
    for (int64_t i = 0; i < count; i++)
        for (int e = 0; e < 3; e++) {
            int64_t h = 3 * w->queue[i] + e, other = w->partner[h];
            if (other < 0) continue;
            int wanted = agrees(w, h, other) ? w->sense[h / 3] : -w->sense[h / 3];
            if (w->sense[other / 3] == 0) {
                w->sense[other / 3] = (signed char)wanted;
                w->queue[count++] = other / 3;
                *against += wanted < 0;
            } else if (w->sense[other / 3] != wanted) {
                *orientable = 0;
            }
        }
    return count;
}

static void orient_patches(tw_mesh *mesh, patch_walk *w, int64_t *turned)
{
    for (int64_t start = 0; start < mesh->triangle_count; start++) {
        if (w->sense[start] != 0) continue;
        int64_t against = 0;
        int orientable = 0;
        int64_t count = walk_patch(w, start, &against, &orientable);
        if (!orientable) continue;
        int minority = 2 * against > count ? 1 : -1;
        for (int64_t i = 0; i < count; i++) {
            if (w->sense[w->queue[i]] != minority) continue;
            turn(mesh->triangles + 3 * w->queue[i]);
            ++*turned;
        }
    }
}

tw_status tw_orient_triangles(tw_mesh *mesh, int64_t *turned, tw_error *error)
{
    if (mesh->triangle_count == 0) return TW_OK;
    tw_edge_pairs pairs;
    tw_status status = tw_edge_pairs_find(mesh->triangle_count, mesh->triangles, mesh->vertex_count,
                                          &pairs, error);
    if (status != TW_OK) return status;
    patch_walk w = {mesh->triangles, pairs.partner,
                    tw_allocate_zeroed((size_t)mesh->triangle_count, 1),
                    TW_NEW_ARRAY(mesh->triangle_count, int64_t)};
    if (w.sense && w.queue) {
        orient_patches(mesh, &w, turned);
        if (pairs.open == 0 && pairs.crowded == 0 && mesh->tetrahedron_count == 0 &&
            tw_mesh_volume(mesh) < 0.0) {
            for (int64_t i = 0; i < mesh->triangle_count; i++) turn(mesh->triangles + 3 * i);
            *turned += mesh->triangle_count;
        }
    } else {
        status = tw_fail_plain(error, TW_OUT_OF_MEMORY);
    }
    tw_release(w.sense);
    tw_release(w.queue);
    tw_release(pairs.partner);
    return status;
}
