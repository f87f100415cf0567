#include "mesh/thin_parts.h"

#include <stdbool.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/builder.h"
#include "mesh/embed.h"
#include "mesh/winding.h"

/* In cells: what is lost, what leads there, and how far that may be away. A bevelled corner is 0.87 at most. */
static const double lost_gap = 1.0, leading_gap = 0.1, leading_distance = 2.0;

/* Halves the longest edge until none is longer than `length`; the pieces need not fit together. */
static tw_status split_triangle(tw_builder *out, int64_t a, int64_t b, int64_t c, double length)
{
    const double *x = out->mesh.vertices;
    if (!x) return TW_INTERNAL; /* corners of a surface without vertices */
    vec3 p = vec3_at(x, a), q = vec3_at(x, b), r = vec3_at(x, c);
    double pq = vec3_length(vec3_subtract(p, q)), qr = vec3_length(vec3_subtract(q, r));
    double rp = vec3_length(vec3_subtract(r, p));
    if (fmax(pq, fmax(qr, rp)) <= length) return tw_builder_triangle(out, a, b, c);
    if (qr >= pq && qr >= rp)
        return split_triangle(out, b, c, a, length); /* so that the edge from a to b is longest */
    if (rp > pq) return split_triangle(out, c, a, b, length);
    vec3 middle = vec3_scale(0.5, vec3_add(p, q));
    const double point[3] = {middle.x, middle.y, middle.z};
    int64_t m = out->mesh.vertex_count;
    tw_status status = tw_builder_vertex(out, point);
    if (status == TW_OK) status = split_triangle(out, a, m, c, length);
    return status == TW_OK ? split_triangle(out, m, b, c, length) : status;
}

static tw_status split_surface(const tw_mesh *surface, double length, tw_builder *out,
                               tw_error *error)
{
    tw_status status = TW_OK;
    for (int64_t i = 0; i < surface->vertex_count && status == TW_OK; i++)
        status = tw_builder_vertex(out, surface->vertices + 3 * i);
    for (int64_t i = 0; i < surface->triangle_count && status == TW_OK; i++) {
        const int64_t *t = surface->triangles + 3 * i;
        status = split_triangle(out, t[0], t[1], t[2], length);
    }
    return status == TW_OK ? TW_OK : tw_fail_plain(error, status);
}

static double farthest(const tw_mesh *pieces, const double *distances, int64_t triangle)
{
    const int64_t *t = pieces->triangles + 3 * triangle;
    return fmax(distances[t[0]], fmax(distances[t[1]], distances[t[2]]));
}

static vec3 centroid(const tw_mesh *pieces, int64_t triangle)
{
    vec3 sum = {0, 0, 0};
    for (int k = 0; k < 3; k++)
        sum = vec3_add(sum, vec3_at(pieces->vertices, pieces->triangles[3 * triangle + k]));
    return vec3_scale(1.0 / 3.0, sum);
}

/* The pieces farther out than `gap` and, unless `around` is NULL, within `reach` of it. */
static tw_status take_pieces(const tw_mesh *pieces, const double *distances, double gap,
                             const tw_winding *around, double reach, tw_mesh *out, tw_error *error)
{
    tw_builder taken = {0};
    tw_status status = TW_OK;
    for (int64_t i = 0; i < pieces->vertex_count && status == TW_OK; i++)
        status = tw_builder_vertex(&taken, pieces->vertices + 3 * i);
    for (int64_t i = 0; i < pieces->triangle_count && status == TW_OK; i++) {
        const int64_t *t = pieces->triangles + 3 * i;
        if (farthest(pieces, distances, i) <= gap) continue;
        if (around && !tw_winding_is_near(around, centroid(pieces, i), reach)) continue;
        status = tw_builder_triangle(&taken, t[0], t[1], t[2]);
    }
    *out = taken.mesh;
    if (status == TW_OK) return TW_OK;
    tw_mesh_free(out);
    return tw_fail_plain(error, status);
}

static tw_status take_thin(const tw_mesh *pieces, const double *distances, double cell,
                           tw_mesh *out, tw_error *error)
{
    tw_mesh lost = {0};
    tw_winding around = {0};
    tw_status status = take_pieces(pieces, distances, lost_gap * cell, NULL, 0.0, &lost, error);
    if (status == TW_OK && lost.triangle_count > 0) {
        status = tw_winding_create(&lost, &around, error);
        if (status == TW_OK)
            status = take_pieces(pieces, distances, leading_gap * cell, &around,
                                 leading_distance * cell, out, error);
    }
    tw_winding_free(&around);
    tw_mesh_free(&lost);
    return status;
}

tw_status tw_find_thin_parts(const tw_mesh *surface, const tw_mesh *solid, double cell,
                             tw_mesh *out, tw_error *error)
{
    tw_builder pieces = {0};
    tw_embedding embedding = {0};
    *out = (tw_mesh){0};
    tw_status status = split_surface(surface, cell, &pieces, error);
    double *distances = status == TW_OK ? TW_NEW_ARRAY(pieces.mesh.vertex_count, double) : NULL;
    if (status == TW_OK && !distances) status = tw_fail_plain(error, TW_OUT_OF_MEMORY);
    if (status == TW_OK)
        status = tw_embed_points(solid, pieces.mesh.vertex_count, pieces.mesh.vertices, &embedding,
                                 distances, error);
    if (status == TW_OK) status = take_thin(&pieces.mesh, distances, cell, out, error);
    tw_embedding_free(&embedding);
    tw_release(distances);
    tw_builder_free(&pieces);
    return status;
}
