/* The mesh itself: memory, checks, sums over its cells. */
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/mesh_internal.h"

/* ---- memory ---- */

tw_status tw_mesh_allocate(tw_mesh *mesh, int64_t vertices, int64_t edges, int64_t triangles,
                           int64_t tetrahedra, tw_error *error)
{
    if (!mesh) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    *mesh = (tw_mesh){0};
    if (vertices < 0 || edges < 0 || triangles < 0 || tetrahedra < 0)
        return tw_fail(error, TW_INVALID_ARGUMENT, "a mesh with a negative count");

    /* Empty arrays get a byte of memory, so that NULL always means failure. */
    mesh->vertices = tw_allocate_zeroed((size_t)vertices, 3 * sizeof *mesh->vertices);
    mesh->edges = tw_allocate_zeroed((size_t)edges, 2 * sizeof *mesh->edges);
    mesh->triangles = tw_allocate_zeroed((size_t)triangles, 3 * sizeof *mesh->triangles);
    mesh->tetrahedra = tw_allocate_zeroed((size_t)tetrahedra, 4 * sizeof *mesh->tetrahedra);
    if (!mesh->vertices || !mesh->edges || !mesh->triangles || !mesh->tetrahedra) {
        tw_mesh_free(mesh);
        return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    }

    mesh->vertex_count = vertices;
    mesh->edge_count = edges;
    mesh->triangle_count = triangles;
    mesh->tetrahedron_count = tetrahedra;
    return TW_OK;
}

void tw_mesh_free(tw_mesh *mesh)
{
    if (!mesh) return;
    tw_release(mesh->vertices);
    tw_release(mesh->edges);
    tw_release(mesh->triangles);
    tw_release(mesh->tetrahedra);
    tw_mesh_forget_faces(mesh);
    *mesh = (tw_mesh){0};
}

void tw_mesh_free_indices(int64_t *indices)
{
    tw_release(indices);
}

/* Copies an array; those of an empty mesh may be NULL. */
static void copy_array(void *to, const void *from, int64_t count, size_t size)
{
    if (count > 0) memcpy(to, from, (size_t)count * size);
}

tw_status tw_mesh_copy(const tw_mesh *mesh, tw_mesh *out, tw_error *error)
{
    if (!mesh || !out) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    TW_TRY(tw_mesh_check_counts(mesh, error));
    TW_TRY(tw_mesh_allocate(out, mesh->vertex_count, mesh->edge_count, mesh->triangle_count,
                            mesh->tetrahedron_count, error));

    /* The arrays, then the faces, whose memory may fail. */
    copy_array(out->vertices, mesh->vertices, mesh->vertex_count, 3 * sizeof(double));
    copy_array(out->edges, mesh->edges, mesh->edge_count, 2 * sizeof(int64_t));
    copy_array(out->triangles, mesh->triangles, mesh->triangle_count, 3 * sizeof(int64_t));
    copy_array(out->tetrahedra, mesh->tetrahedra, mesh->tetrahedron_count, 4 * sizeof(int64_t));
    if (tw_faces_copy(&mesh->faces, &out->faces) == TW_OK) return TW_OK;

    tw_mesh_free(out);
    return tw_fail_plain(error, TW_OUT_OF_MEMORY);
}

/* ---- checks ---- */

/* A count is sensible if it is not negative and an array of so many entries could exist; then the
 * array must be there. */
static bool is_array(int64_t count, const void *array)
{
    return count == 0 || (tw_is_count(count) && array);
}

tw_status tw_mesh_check_counts(const tw_mesh *mesh, tw_error *error)
{
    const tw_mesh_faces *f = &mesh->faces;
    if (is_array(mesh->vertex_count, mesh->vertices) && is_array(mesh->edge_count, mesh->edges) &&
        is_array(mesh->triangle_count, mesh->triangles) &&
        is_array(mesh->tetrahedron_count, mesh->tetrahedra) && is_array(f->count, f->start) &&
        is_array(f->count, f->corners) && is_array(f->texture_count, f->texture) &&
        is_array(f->statement_count, f->statement_face) &&
        is_array(f->statement_count, f->statement_end) &&
        is_array(f->statement_count, f->statements))
        return TW_OK;
    return tw_fail(error, TW_INVALID_ARGUMENT,
                   "a count of the mesh is negative or too large, or its array is missing");
}

/* Every corner of a cell must be a vertex. `name` is what the cell is called. */
static tw_status check_indices(const tw_mesh *mesh, int64_t count, int width,
                               const int64_t *indices, const char *name, tw_error *error)
{
    for (int64_t i = 0; i < count * width; i++)
        if (indices[i] < 0 || indices[i] >= mesh->vertex_count)
            return tw_fail(
                error, TW_INVALID_ARGUMENT, "%s %lld of the mesh has vertex %lld, there are %lld",
                name, (long long)(i / width), (long long)indices[i], (long long)mesh->vertex_count);
    return TW_OK;
}

tw_status tw_mesh_check(const tw_mesh *mesh, tw_error *error)
{
    if (!mesh) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    TW_TRY(tw_mesh_check_counts(mesh, error));
    for (int64_t i = 0; i < 3 * mesh->vertex_count; i++)
        if (!isfinite(mesh->vertices[i]))
            return tw_fail(error, TW_NOT_FINITE, "vertex %lld of the mesh is not finite",
                           (long long)(i / 3));

    /* Every kind of cell refers to existing vertices only. */
    TW_TRY(check_indices(mesh, mesh->edge_count, 2, mesh->edges, "edge", error));
    TW_TRY(check_indices(mesh, mesh->triangle_count, 3, mesh->triangles, "triangle", error));
    TW_TRY(check_indices(mesh, mesh->tetrahedron_count, 4, mesh->tetrahedra, "tetrahedron", error));

    return tw_faces_check(mesh, error);
}

/* ---- sums ---- */

/* Whether the arrays are there. Without them a mesh counts as empty. */
static bool has_arrays(const tw_mesh *mesh)
{
    return mesh && tw_mesh_check_counts(mesh, NULL) == TW_OK;
}

static double tetrahedron_volume(const tw_mesh *mesh, int64_t index)
{
    const int64_t *t = mesh->tetrahedra + 4 * index;
    const double *x = mesh->vertices;
    return vec3_six_volumes(vec3_at(x, t[0]), vec3_at(x, t[1]), vec3_at(x, t[2]),
                            vec3_at(x, t[3])) /
           6.0;
}

void tw_mesh_volumes(const tw_mesh *mesh, double *volumes)
{
    if (!volumes || !has_arrays(mesh)) return;
    for (int64_t i = 0; i < mesh->tetrahedron_count; i++) volumes[i] = tetrahedron_volume(mesh, i);
}

/* The volume inside a closed surface is the sum of the signed volumes of the tetrahedra
 * (origin, a, b, c) over all triangles (a, b, c). An origin in the middle of the mesh loses
 * no digits to cancellation. */
static double enclosed_volume(const tw_mesh *mesh)
{
    double lower[3];
    double upper[3];

    tw_mesh_bounds(mesh, lower, upper);
    vec3 origin = {0.5 * (lower[0] + upper[0]), 0.5 * (lower[1] + upper[1]),
                   0.5 * (lower[2] + upper[2])};

    /* Sum over the triangles. */
    double sum = 0.0;
    for (int64_t i = 0; i < mesh->triangle_count; i++) {
        const int64_t *t = mesh->triangles + 3 * i;
        const double *x = mesh->vertices;
        sum += vec3_six_volumes(origin, vec3_at(x, t[0]), vec3_at(x, t[1]), vec3_at(x, t[2])) / 6.0;
    }

    return sum;
}

double tw_mesh_volume(const tw_mesh *mesh)
{
    if (!has_arrays(mesh)) return 0.0;
    if (mesh->tetrahedron_count == 0) return enclosed_volume(mesh);
    double sum = 0.0;
    for (int64_t i = 0; i < mesh->tetrahedron_count; i++) sum += tetrahedron_volume(mesh, i);
    return sum;
}

void tw_mesh_bounds(const tw_mesh *mesh, double lower[3], double upper[3])
{
    if (!lower || !upper) return;
    bool is_empty = !has_arrays(mesh) || mesh->vertex_count == 0;
    for (int k = 0; k < 3; k++) lower[k] = upper[k] = is_empty ? 0.0 : mesh->vertices[k];
    if (is_empty) return;

    for (int64_t i = 1; i < mesh->vertex_count; i++)
        for (int k = 0; k < 3; k++) {
            lower[k] = fmin(lower[k], mesh->vertices[3 * i + k]);
            upper[k] = fmax(upper[k], mesh->vertices[3 * i + k]);
        }
}
