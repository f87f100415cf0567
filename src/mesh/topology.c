/* The edges of a mesh, each once, and the surface of a solid. */
#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/mesh_internal.h"

/* Faces of a tetrahedron of positive volume, counterclockwise seen from outside. */
static const int tetrahedron_faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
static const int tetrahedron_edges[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

/* ---- edges ---- */

/* Lists the edges of all cells, with repetitions. */
static void gather_edges(const tw_mesh *mesh, int64_t *edges)
{
    int64_t count = 0;

    /* Six edges per tetrahedron. */
    for (int64_t i = 0; i < mesh->tetrahedron_count; i++)
        for (int e = 0; e < 6; e++) {
            const int64_t *t = mesh->tetrahedra + 4 * i;
            const int *ends = tetrahedron_edges[e];
            tw_put_edge(edges + 2 * count++, t[ends[0]], t[ends[1]]);
        }

    /* Three edges per triangle. */
    for (int64_t i = 0; i < mesh->triangle_count; i++)
        for (int e = 0; e < 3; e++) {
            const int64_t *t = mesh->triangles + 3 * i;
            tw_put_edge(edges + 2 * count++, t[e], t[(e + 1) % 3]);
        }
}

/* Whether place i of the sorted list has another edge than the place before. */
static bool is_first(const int64_t *edges, const int64_t *order, int64_t i)
{
    return i == 0 || !tw_tuple_equal(2, edges + 2 * order[i], edges + 2 * order[i - 1]);
}

/* Memory for the edges of all cells. */
typedef struct edge_memory {
    int64_t count;     /* of edges, with repetitions */
    int64_t *gathered; /* two ends each */
    int64_t *order;
} edge_memory;

/* Sorts the edges and copies each once. Counts first, so that the result has no slack. */
static tw_status copy_unique(const tw_mesh *mesh, const edge_memory *m, int64_t **edges,
                             int64_t *count, tw_error *error)
{
    gather_edges(mesh, m->gathered);
    TW_TRY(tw_tuple_sort(m->count, 2, m->gathered, mesh->vertex_count, m->order, error));

    /* Count. */
    int64_t kept = 0;
    for (int64_t i = 0; i < m->count; i++) kept += is_first(m->gathered, m->order, i);
    int64_t *unique = TW_NEW_ARRAY(2 * kept, int64_t);
    if (!unique) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* Copy. */
    int64_t *end = unique;
    for (int64_t i = 0; i < m->count; i++) {
        if (!is_first(m->gathered, m->order, i)) continue;
        *end++ = m->gathered[2 * m->order[i]];
        *end++ = m->gathered[2 * m->order[i] + 1];
    }

    *edges = unique;
    *count = kept;
    return TW_OK;
}

tw_status tw_mesh_unique_edges(const tw_mesh *mesh, int64_t **edges, int64_t *count,
                               tw_error *error)
{
    if (!mesh || !edges || !count) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    *edges = NULL;
    *count = 0;
    TW_TRY(tw_mesh_check_counts(mesh, error));

    int64_t all = 6 * mesh->tetrahedron_count + 3 * mesh->triangle_count;
    edge_memory memory = {.count = all,
                          .gathered = TW_NEW_ARRAY(2 * all, int64_t),
                          .order = TW_NEW_ARRAY(all, int64_t)};
    tw_status status = TW_OK;
    if (memory.gathered && memory.order)
        status = copy_unique(mesh, &memory, edges, count, error);
    else
        status = tw_fail_plain(error, TW_OUT_OF_MEMORY);

    tw_release(memory.gathered);
    tw_release(memory.order);
    return status;
}

/* ---- surface ---- */

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

/* Marks in `lonely` the faces (4 i + f) that no other tetrahedron has.
 * Returns how many there are. */
static int64_t mark_lonely(int64_t count, const int64_t *faces, const int64_t *order, char *lonely)
{
    int64_t found = 0;
    for (int64_t i = 0; i < count; i++) {
        /* Equal faces stand side by side in the sorted order. */
        const int64_t *face = faces + 3 * order[i];
        bool before = i > 0 && tw_tuple_equal(3, face, faces + 3 * order[i - 1]);
        bool after = i + 1 < count && tw_tuple_equal(3, face, faces + 3 * order[i + 1]);
        lonely[order[i]] = (char)(!before && !after);
        found += lonely[order[i]];
    }

    return found;
}

static bool is_inverted(const tw_mesh *mesh, const int64_t *t)
{
    const double *x = mesh->vertices;
    return vec3_six_volumes(vec3_at(x, t[0]), vec3_at(x, t[1]), vec3_at(x, t[2]),
                            vec3_at(x, t[3])) < 0.0;
}

/* Writes the lonely faces as triangles that look outwards, also for inverted tetrahedra. */
static void put_lonely(const tw_mesh *mesh, const char *lonely, int64_t *out)
{
    for (int64_t i = 0; i < 4 * mesh->tetrahedron_count; i++) {
        if (!lonely[i]) continue;
        const int64_t *t = mesh->tetrahedra + 4 * (i / 4);
        const int *f = tetrahedron_faces[i % 4];

        /* Two corners are swapped if the tetrahedron is inverted. */
        bool turned = is_inverted(mesh, t);
        *out++ = t[f[0]];
        int second = turned ? 2 : 1;
        *out++ = t[f[second]];
        *out++ = t[f[3 - second]];
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

/* Memory for the faces of all tetrahedra. */
typedef struct face_memory {
    int64_t count;  /* of faces: four per tetrahedron */
    int64_t *faces; /* three corners each */
    int64_t *order;
    char *lonely;
} face_memory;

static tw_status surface_of_tetrahedra(const tw_mesh *mesh, const face_memory *m,
                                       int64_t **triangles, int64_t *count, tw_error *error)
{
    /* List the faces with rising corners, and sort them. */
    for (int64_t i = 0; i < m->count; i++) {
        for (int k = 0; k < 3; k++)
            m->faces[3 * i + k] = mesh->tetrahedra[4 * (i / 4) + tetrahedron_faces[i % 4][k]];
        sort_three(m->faces + 3 * i);
    }

    TW_TRY(tw_tuple_sort(m->count, 3, m->faces, mesh->vertex_count, m->order, error));

    /* The surface consists of the faces that belong to one tetrahedron only. */
    int64_t found = mark_lonely(m->count, m->faces, m->order, m->lonely);
    int64_t *out = TW_NEW_ARRAY(3 * found, int64_t);
    if (!out) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    put_lonely(mesh, m->lonely, out);
    *triangles = out;
    *count = found;
    return TW_OK;
}

tw_status tw_mesh_surface(const tw_mesh *mesh, int64_t **triangles, int64_t *count, tw_error *error)
{
    if (!mesh || !triangles || !count) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    *triangles = NULL;
    *count = 0;
    TW_TRY(tw_mesh_check_counts(mesh, error));
    if (mesh->tetrahedron_count == 0) return surface_of_triangles(mesh, triangles, count, error);

    /* A tetrahedron has four faces. */
    int64_t all = 4 * mesh->tetrahedron_count;
    face_memory memory = {.count = all,
                          .faces = TW_NEW_ARRAY(3 * all, int64_t),
                          .order = TW_NEW_ARRAY(all, int64_t),
                          .lonely = TW_NEW_ARRAY(all, char)};
    tw_status status = TW_OK;
    if (memory.faces && memory.order && memory.lonely)
        status = surface_of_tetrahedra(mesh, &memory, triangles, count, error);
    else
        status = tw_fail_plain(error, TW_OUT_OF_MEMORY);

    tw_release(memory.faces);
    tw_release(memory.order);
    tw_release(memory.lonely);
    return status;
}
