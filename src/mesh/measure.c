/* The shape of a mesh in numbers: lengths, angles, volumes, components,
 * edges that are not closed. */
#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/mesh_internal.h"

/* The cells of the highest dimension: tetrahedra, or triangles if there are none. */
typedef struct top_cells {
    int width; /* corners per cell */
    int64_t count;
    const int64_t *corners;
} top_cells;

static top_cells top_cells_of(const tw_mesh *mesh)
{
    if (mesh->tetrahedron_count > 0)
        return (top_cells){4, mesh->tetrahedron_count, mesh->tetrahedra};
    return (top_cells){3, mesh->triangle_count, mesh->triangles};
}

/* ---- lengths, angles, volumes ---- */

/* The angle between the two faces at edge (a, b), which are (a, b, c) and (a, b, d): the angle
 * between their normals e x (c - a) and e x (d - a), with e = b - a. */
static double angle_at(vec3 a, vec3 b, vec3 c, vec3 d)
{
    vec3 edge = vec3_subtract(b, a);
    vec3 n = vec3_cross(edge, vec3_subtract(c, a));
    vec3 m = vec3_cross(edge, vec3_subtract(d, a));
    return atan2(vec3_length(vec3_cross(n, m)), vec3_dot(n, m));
}

void tw_dihedral_range(const vec3 p[4], double *smallest, double *largest)
{
    /* The two corners of each edge, then the two other corners. */
    static const int at[6][4] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2},
                                 {1, 2, 0, 3}, {1, 3, 0, 2}, {2, 3, 0, 1}};
    for (int e = 0; e < 6; e++) {
        double angle = angle_at(p[at[e][0]], p[at[e][1]], p[at[e][2]], p[at[e][3]]);
        *smallest = fmin(*smallest, angle);
        *largest = fmax(*largest, angle);
    }
}

static void include_edges(int width, const vec3 *p, tw_mesh_quality *q)
{
    for (int a = 0; a < width; a++)
        for (int b = 0; b < a; b++) {
            double length = vec3_length(vec3_subtract(p[a], p[b]));
            q->shortest_edge = fmin(q->shortest_edge, length);
            q->longest_edge = fmax(q->longest_edge, length);
        }
}

static void measure_cells(const tw_mesh *mesh, tw_mesh_quality *q)
{
    const double degrees = 57.29577951308232; /* 180 / pi */
    top_cells cells = top_cells_of(mesh);
    double smallest_angle = INFINITY;
    double largest_angle = 0.0;

    q->shortest_edge = INFINITY;
    q->smallest_volume = INFINITY;

    for (int64_t i = 0; i < cells.count; i++) {
        vec3 p[4];
        for (int k = 0; k < cells.width; k++)
            p[k] = vec3_at(mesh->vertices, cells.corners[cells.width * i + k]);
        include_edges(cells.width, p, q);

        /* Angles and volumes are those of tetrahedra. */
        if (cells.width < 4) continue;
        tw_dihedral_range(p, &smallest_angle, &largest_angle);
        q->smallest_volume =
            fmin(q->smallest_volume, vec3_six_volumes(p[0], p[1], p[2], p[3]) / 6.0);
    }

    /* A minimum over nothing is reported as 0. */
    if (cells.count == 0) q->shortest_edge = 0.0;
    if (cells.width < 4 || cells.count == 0) {
        smallest_angle = 0.0;
        q->smallest_volume = 0.0;
    }

    q->smallest_angle = degrees * smallest_angle;
    q->largest_angle = degrees * largest_angle;
}

/* ---- components ---- */

/* Counts the sets of vertices that cells connect. `parent` and `used` have an entry for each
 * vertex; `used` is zeroed. */
static int64_t join_components(const tw_mesh *mesh, int64_t *parent, char *used)
{
    top_cells cells = top_cells_of(mesh);

    /* Join each corner with the first corner of its cell. */
    for (int64_t i = 0; i < mesh->vertex_count; i++) parent[i] = i;
    for (int64_t i = 0; i < cells.count * cells.width; i++) {
        used[cells.corners[i]] = 1;
        tw_set_join(parent, cells.corners[i - i % cells.width], cells.corners[i]);
    }

    int64_t components = 0;
    for (int64_t i = 0; i < mesh->vertex_count; i++) components += used[i] && parent[i] == i;
    return components;
}

static tw_status count_components(const tw_mesh *mesh, int64_t *components, tw_error *error)
{
    int64_t *parent = TW_NEW_ARRAY(mesh->vertex_count, int64_t);
    char *used = tw_allocate_zeroed((size_t)mesh->vertex_count, 1);

    tw_status status = TW_OK;

    /* Isolated vertices are in no component. */
    if (parent && used)
        *components = join_components(mesh, parent, used);
    else
        status = tw_fail_plain(error, TW_OUT_OF_MEMORY);

    tw_release(parent);
    tw_release(used);
    return status;
}

/* ---- edges ---- */

static tw_status count_edges(const tw_mesh *mesh, tw_mesh_quality *out, tw_error *error)
{
    int64_t *surface = NULL;
    int64_t count = 0;
    TW_TRY(tw_mesh_surface(mesh, &surface, &count, error));

    /* Edges of the boundary with one or more than two triangles are
     * where the mesh is not closed. */
    tw_edge_pairs pairs = {0};
    tw_status status = tw_edge_pairs_find(count, surface, mesh->vertex_count, &pairs, error);
    out->open_edges = pairs.open;
    out->crowded_edges = pairs.crowded;
    tw_release(pairs.partner);
    tw_mesh_free_indices(surface);
    return status;
}

tw_status tw_mesh_measure(const tw_mesh *mesh, tw_mesh_quality *out, tw_error *error)
{
    if (!mesh || !out) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    *out = (tw_mesh_quality){0};
    TW_TRY(tw_mesh_check(mesh, error));
    measure_cells(mesh, out);
    TW_TRY(count_components(mesh, &out->components, error));
    return count_edges(mesh, out, error);
}
