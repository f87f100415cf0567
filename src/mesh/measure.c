/* The shape of a mesh in numbers. */
#include <twang/mesh.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/dihedral.h"
#include "mesh/edge_pairs.h"

/* The angle between the faces at edge (a, b): between the components of c - a and d - a normal to the edge. */
static double angle_at(vec3 a, vec3 b, vec3 c, vec3 d)
{
    vec3 edge = vec3_subtract(b, a);
    vec3 n = vec3_cross(edge, vec3_subtract(c, a)), m = vec3_cross(edge, vec3_subtract(d, a));
    return atan2(vec3_length(vec3_cross(n, m)), vec3_dot(n, m));
}

void tw_dihedral_range(const vec3 p[4], double *smallest, double *largest)
{
    static const int at[6][4] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2},
                                 {1, 2, 0, 3}, {1, 3, 0, 2}, {2, 3, 0, 1}};
    for (int e = 0; e < 6; e++) {
        double angle = angle_at(p[at[e][0]], p[at[e][1]], p[at[e][2]], p[at[e][3]]);
        *smallest = fmin(*smallest, angle);
        *largest = fmax(*largest, angle);
    }
}

static void measure_cells(const tw_mesh *mesh, tw_mesh_quality *q)
{
    int width = mesh->tetrahedron_count > 0 ? 4 : 3;
    int64_t count = width == 4 ? mesh->tetrahedron_count : mesh->triangle_count;
    const int64_t *cell = width == 4 ? mesh->tetrahedra : mesh->triangles;
    double smallest = INFINITY, largest = 0.0;
    q->shortest_edge = q->smallest_volume = INFINITY;
    for (int64_t i = 0; i < count; i++, cell += width) {
        vec3 p[4];
        for (int k = 0; k < width; k++) p[k] = vec3_at(mesh->vertices, cell[k]);
        for (int a = 0; a < width; a++)
            for (int b = 0; b < a; b++) {
                double length = vec3_length(vec3_subtract(p[a], p[b]));
                q->shortest_edge = fmin(q->shortest_edge, length);
                q->longest_edge = fmax(q->longest_edge, length);
            }
        if (width < 4) continue;
        tw_dihedral_range(p, &smallest, &largest);
        q->smallest_volume =
            fmin(q->smallest_volume, vec3_six_volumes(p[0], p[1], p[2], p[3]) / 6.0);
    }
    const double degrees = 57.29577951308232;
    if (count == 0) q->shortest_edge = 0.0;
    if (width < 4 || count == 0) smallest = q->smallest_volume = 0.0;
    q->smallest_angle = degrees * smallest;
    q->largest_angle = degrees * largest;
}

static int64_t root_of(int64_t *parent, int64_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* parent and used have an entry for each vertex; used is zeroed. */
static int64_t join_components(const tw_mesh *mesh, int64_t *parent, char *used)
{
    int width = mesh->tetrahedron_count > 0 ? 4 : 3;
    int64_t count = width == 4 ? mesh->tetrahedron_count : mesh->triangle_count, components = 0;
    const int64_t *cell = width == 4 ? mesh->tetrahedra : mesh->triangles;
    for (int64_t i = 0; i < mesh->vertex_count; i++) parent[i] = i;
    for (int64_t i = 0; i < count * width; i++) {
        used[cell[i]] = 1;
        int64_t a = root_of(parent, cell[i - i % width]), b = root_of(parent, cell[i]);
        parent[a < b ? b : a] = a < b ? a : b;
    }
    for (int64_t i = 0; i < mesh->vertex_count; i++) components += used[i] && parent[i] == i;
    return components;
}

static tw_status count_components(const tw_mesh *mesh, int64_t *components, tw_error *error)
{
    int64_t *parent = TW_NEW_ARRAY(mesh->vertex_count, int64_t);
    char *used = tw_allocate_zeroed((size_t)mesh->vertex_count, 1);
    tw_status status = TW_OK;
    if (parent && used)
        *components = join_components(mesh, parent, used);
    else
        status = tw_fail_plain(error, TW_OUT_OF_MEMORY);
    tw_release(parent);
    tw_release(used);
    return status;
}

tw_status tw_mesh_measure(const tw_mesh *mesh, tw_mesh_quality *out, tw_error *error)
{
    if (!mesh || !out) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    *out = (tw_mesh_quality){0};
    measure_cells(mesh, out);
    tw_edge_pairs pairs = {0};
    int64_t *surface = NULL, count = 0;
    tw_status status = count_components(mesh, &out->components, error);
    if (status == TW_OK) status = tw_mesh_surface(mesh, &surface, &count, error);
    if (status == TW_OK)
        status = tw_edge_pairs_find(count, surface, mesh->vertex_count, &pairs, error);
    out->open_edges = pairs.open;
    out->crowded_edges = pairs.crowded;
    tw_release(pairs.partner);
    tw_mesh_free_indices(surface);
    return status;
}
