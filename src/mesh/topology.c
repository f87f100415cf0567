/* Unique edges and the surface of a solid. */
#include <twang/mesh.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/vector3.h"
#include "mesh/tuple_sort.h"

/* Faces of a tetrahedron of positive volume, counterclockwise from outside. */
static const int tetrahedron_faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
static const int tetrahedron_edges[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

static void put_edge(int64_t *edge, int64_t a, int64_t b)
{
    edge[0] = a < b ? a : b;
    edge[1] = a < b ? b : a;
}

static int64_t gather_edges(const tw_mesh *mesh, int64_t *edges)
{
    int64_t count = 0;
    for (int64_t i = 0; i < mesh->tetrahedron_count; i++)
        for (int e = 0; e < 6; e++) {
            const int64_t *t = mesh->tetrahedra + 4 * i;
            put_edge(edges + 2 * count++, t[tetrahedron_edges[e][0]], t[tetrahedron_edges[e][1]]);
        }
    for (int64_t i = 0; i < mesh->triangle_count; i++)
        for (int e = 0; e < 3; e++) {
            const int64_t *t = mesh->triangles + 3 * i;
            put_edge(edges + 2 * count++, t[e], t[(e + 1) % 3]);
        }
    return count;
}

tw_status tw_mesh_unique_edges(const tw_mesh *mesh, int64_t **edges, int64_t *count,
                               tw_error *error)
{
    if (!mesh || !edges || !count) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    *edges = NULL;
    *count = 0;
    int64_t all = 6 * mesh->tetrahedron_count + 3 * mesh->triangle_count, kept = 0;
    int64_t *gathered = TW_NEW_ARRAY(2 * all, int64_t), *order = TW_NEW_ARRAY(all, int64_t);
    int64_t *unique = NULL;
    tw_status status = gathered && order ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);
    if (status == TW_OK) {
        gather_edges(mesh, gathered);
        status = tw_tuple_sort(all, 2, gathered, mesh->vertex_count, order, error);
    }
    if (status == TW_OK) {
        /* The sorted edges take the place of the unsorted ones once copied, so the result has no slack. */
        for (int64_t i = 0; i < all; i++)
            if (i == 0 || !tw_tuple_equal(2, gathered + 2 * order[i], gathered + 2 * order[i - 1]))
                kept++;
        unique = TW_NEW_ARRAY(2 * kept, int64_t);
        if (!unique) status = tw_fail_plain(error, TW_OUT_OF_MEMORY);
    }
    if (status == TW_OK) {
        kept = 0;
        for (int64_t i = 0; i < all; i++) {
            const int64_t *edge = gathered + 2 * order[i];
            if (i > 0 && tw_tuple_equal(2, edge, gathered + 2 * order[i - 1])) continue;
            unique[2 * kept] = edge[0];
            unique[2 * kept++ + 1] = edge[1];
        }
        *edges = unique;
        *count = kept;
    }
    tw_release(gathered);
    tw_release(order);
    return status;
}

static void sort_three(int64_t *t)
{
    for (int i = 0; i < 3; i++)
        for (int j = i + 1; j < 3; j++)
            if (t[j] < t[i]) {
                int64_t swap = t[i];
                t[i] = t[j];
                t[j] = swap;
            }
}

/* Marks in `lonely` the faces (4 i + f) that no other tetrahedron has. Returns how many there are. */
static int64_t mark_lonely(int64_t count, const int64_t *faces, const int64_t *order, char *lonely)
{
    int64_t found = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t *face = faces + 3 * order[i];
        int before = i > 0 && tw_tuple_equal(3, face, faces + 3 * order[i - 1]);
        int after = i + 1 < count && tw_tuple_equal(3, face, faces + 3 * order[i + 1]);
        lonely[order[i]] = (char)(!before && !after);
        found += lonely[order[i]];
    }
    return found;
}

static int is_inverted(const tw_mesh *mesh, const int64_t *t)
{
    const double *x = mesh->vertices;
    return vec3_six_volumes(vec3_at(x, t[0]), vec3_at(x, t[1]), vec3_at(x, t[2]),
                            vec3_at(x, t[3])) < 0.0;
}

static void put_lonely(const tw_mesh *mesh, const char *lonely, int64_t *out)
{
    for (int64_t i = 0; i < 4 * mesh->tetrahedron_count; i++) {
        if (!lonely[i]) continue;
        const int64_t *t = mesh->tetrahedra + 4 * (i / 4);
        const int *f = tetrahedron_faces[i % 4];
        int turned = is_inverted(mesh, t);
        *out++ = t[f[0]];
        *out++ = t[f[turned ? 2 : 1]];
        *out++ = t[f[turned ? 1 : 2]];
    }
}

static tw_status surface_of_triangles(const tw_mesh *mesh, int64_t **triangles, int64_t *count,
                                      tw_error *error)
{
    int64_t *copy = TW_NEW_ARRAY(3 * mesh->triangle_count, int64_t);
    if (!copy) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    for (int64_t i = 0; i < 3 * mesh->triangle_count; i++) copy[i] = mesh->triangles[i];
    *triangles = copy;
    *count = mesh->triangle_count;
    return TW_OK;
}

tw_status tw_mesh_surface(const tw_mesh *mesh, int64_t **triangles, int64_t *count, tw_error *error)
{
    if (!mesh || !triangles || !count) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    *triangles = NULL;
    *count = 0;
    if (mesh->tetrahedron_count == 0) return surface_of_triangles(mesh, triangles, count, error);
    int64_t all = 4 * mesh->tetrahedron_count;
    int64_t *faces = TW_NEW_ARRAY(3 * all, int64_t), *order = TW_NEW_ARRAY(all, int64_t),
            *out = NULL;
    char *lonely = TW_NEW_ARRAY(all, char);
    tw_status status = faces && order && lonely ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);
    if (status == TW_OK) {
        for (int64_t i = 0; i < all; i++) {
            for (int k = 0; k < 3; k++)
                faces[3 * i + k] = mesh->tetrahedra[4 * (i / 4) + tetrahedron_faces[i % 4][k]];
            sort_three(faces + 3 * i);
        }
        status = tw_tuple_sort(all, 3, faces, mesh->vertex_count, order, error);
    }
    if (status == TW_OK) {
        *count = mark_lonely(all, faces, order, lonely);
        out = TW_NEW_ARRAY(3 * *count, int64_t);
        if (!out) status = tw_fail_plain(error, TW_OUT_OF_MEMORY);
    }
    if (status == TW_OK && out) {
        put_lonely(mesh, lonely, out);
        *triangles = out;
    } else {
        *count = 0;
    }
    tw_release(faces);
    tw_release(order);
    tw_release(lonely);
    return status;
}
