/* The parts of a surface that a lattice lost because they are thinner than its cells. */
#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/mesh_internal.h"

/* All in cells. A part is lost if it is farther outside of the solid than lost_gap: a bevelled
 * corner of a cube is 0.87 away at most, one of a regular tetrahedron 1.9. A part leads to a lost
 * one if it is farther outside than leading_gap and within leading_distance of it, which reaches
 * back to the solid. The lattice holds everything thicker than thick. */
static const double lost_gap = 2.0;
static const double leading_gap = 0.1;
static const double leading_distance = 3.0;
static const double thick = 1.0;

/* ---- small pieces ---- */

/* The longest edge of a triangle, the first one of equal ones: edge e goes from corner e to corner
 * e + 1. *length becomes its length. */
static int longest_edge(const double *vertices, const int64_t corners[3], double *length)
{
    int longest = 0;
    *length = 0.0;
    for (int e = 0; e < 3; e++) {
        vec3 from = vec3_at(vertices, corners[e]);
        vec3 to = vec3_at(vertices, corners[(e + 1) % 3]);
        double distance = vec3_length(vec3_subtract(to, from));
        if (distance <= *length) continue;
        *length = distance;
        longest = e;
    }
    return longest;
}

static bool is_at(vec3 a, vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* Adds the triangle in pieces: halves the longest edge until no edge is longer than `length`.
 * Pieces of neighbouring triangles need not fit together. */
static tw_status split_triangle(tw_builder *out, const int64_t corners[3], double length)
{
    const double *x = out->mesh.vertices;
    if (!x) return TW_INTERNAL; /* corners of a surface without vertices */

    double longest = 0.0;
    int edge = longest_edge(x, corners, &longest);
    int64_t a = corners[edge];
    int64_t b = corners[(edge + 1) % 3];
    int64_t c = corners[(edge + 2) % 3];

    /* Far from the origin an edge may be so short that no number lies between its ends. */
    vec3 p = vec3_at(x, a);
    vec3 q = vec3_at(x, b);
    vec3 middle = vec3_scale(0.5, vec3_add(p, q));
    bool is_shortest = is_at(middle, p) || is_at(middle, q);
    if (longest <= length || is_shortest) return tw_builder_triangle(out, a, b, c);

    /* Cut at the middle of that edge. */
    const double point[3] = {middle.x, middle.y, middle.z};
    int64_t m = out->mesh.vertex_count;
    TW_TRY(tw_builder_vertex(out, point));
    TW_TRY(split_triangle(out, (const int64_t[3]){a, m, c}, length));

    return split_triangle(out, (const int64_t[3]){m, b, c}, length);
}

static tw_status split_surface(const tw_mesh *surface, double length, tw_builder *out,
                               tw_error *error)
{
    tw_status status = TW_OK;
    for (int64_t i = 0; i < surface->vertex_count && status == TW_OK; i++)
        status = tw_builder_vertex(out, surface->vertices + 3 * i);

    /* Pieces get new vertices behind those of the surface. */
    for (int64_t i = 0; i < surface->triangle_count && status == TW_OK; i++)
        status = split_triangle(out, surface->triangles + 3 * i, length);

    return status == TW_OK ? TW_OK : tw_fail_plain(error, status);
}

/* ---- taking pieces ---- */

/* The pieces of the surface, and how far outside of the solid each of their vertices is. */
typedef struct outside_pieces {
    const tw_mesh *mesh;
    const double *distances;
    const tw_winding *input; /* the whole surface */
    double cell;
} outside_pieces;

/* Which pieces to take: those farther out than `gap` and, unless `around` is
 * NULL, within `reach` of it. */
typedef struct selection {
    double gap;
    const tw_winding *around;
    double reach;
} selection;

static double farthest(const outside_pieces *pieces, int64_t triangle)
{
    const int64_t *t = pieces->mesh->triangles + 3 * triangle;
    const double *distances = pieces->distances;
    return fmax(distances[t[0]], fmax(distances[t[1]], distances[t[2]]));
}

static vec3 centroid(const tw_mesh *pieces, int64_t triangle)
{
    vec3 sum = {0, 0, 0};
    for (int k = 0; k < 3; k++)
        sum = vec3_add(sum, vec3_at(pieces->vertices, pieces->triangles[3 * triangle + k]));
    return vec3_scale(1.0 / 3.0, sum);
}

/* Whether the body behind a piece is thinner than `thick`: neither side of the piece is inside of it
 * at this depth. Both sides are tried, because the triangles of a scan may be turned anyhow. */
static bool is_thin(const outside_pieces *pieces, int64_t triangle)
{
    const int64_t *t = pieces->mesh->triangles + 3 * triangle;
    const double *x = pieces->mesh->vertices;
    vec3 a = vec3_at(x, t[0]);
    vec3 normal =
        vec3_cross(vec3_subtract(vec3_at(x, t[1]), a), vec3_subtract(vec3_at(x, t[2]), a));
    double length = vec3_length(normal);
    if (!(length > 0.0)) return true;

    vec3 middle = centroid(pieces->mesh, triangle);
    vec3 way = vec3_scale(thick * pieces->cell / length, normal);
    return !tw_winding_is_inside(pieces->input, vec3_subtract(middle, way)) &&
           !tw_winding_is_inside(pieces->input, vec3_add(middle, way));
}

static bool is_selected(const outside_pieces *pieces, const selection *which, int64_t triangle)
{
    if (farthest(pieces, triangle) <= which->gap) return false;
    if (which->around &&
        !tw_winding_is_near(which->around, centroid(pieces->mesh, triangle), which->reach))
        return false;
    return is_thin(pieces, triangle);
}

static tw_status take_pieces(const outside_pieces *pieces, const selection *which, tw_mesh *out,
                             tw_error *error)
{
    const tw_mesh *mesh = pieces->mesh;
    tw_builder taken = {0};
    tw_status status = TW_OK;

    /* The result keeps the numbers of the vertices. */
    for (int64_t i = 0; i < mesh->vertex_count && status == TW_OK; i++)
        status = tw_builder_vertex(&taken, mesh->vertices + 3 * i);

    for (int64_t i = 0; i < mesh->triangle_count && status == TW_OK; i++) {
        const int64_t *t = mesh->triangles + 3 * i;
        if (is_selected(pieces, which, i)) status = tw_builder_triangle(&taken, t[0], t[1], t[2]);
    }

    *out = taken.mesh;
    if (status == TW_OK) return TW_OK;
    tw_mesh_free(out);
    return tw_fail_plain(error, status);
}

/* Takes what is lost, then what leads there. Both are in `out`, because
 * what is lost is near itself. */
static tw_status take_thin(const outside_pieces *pieces, tw_mesh *out, tw_error *error)
{
    double cell = pieces->cell;
    tw_mesh lost = {0};
    tw_winding around = {0};
    selection far = {.gap = lost_gap * cell};
    tw_status status = take_pieces(pieces, &far, &lost, error);

    /* Without lost parts nothing leads to them. */
    if (status == TW_OK && lost.triangle_count > 0) {
        selection near = {leading_gap * cell, &around, leading_distance * cell};
        status = tw_winding_create(&lost, &around, error);
        if (status == TW_OK) status = take_pieces(pieces, &near, out, error);
    }
    tw_winding_free(&around);
    tw_mesh_free(&lost);
    return status;
}

/* Measures how far outside of the solid the pieces are, and takes the thin ones. */
static tw_status measure_and_take(const tw_winding *input, const tw_mesh *pieces,
                                  const tw_mesh *solid, double cell, tw_mesh *out, tw_error *error)
{
    double *distances = TW_NEW_ARRAY(pieces->vertex_count, double);
    if (!distances) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* Embedding a point also gives its distance from the solid. */
    tw_embedding embedding = {0};
    tw_status status = tw_embed_points(solid, pieces->vertex_count, pieces->vertices, &embedding,
                                       distances, error);
    outside_pieces measured = {pieces, distances, input, cell};
    if (status == TW_OK) status = take_thin(&measured, out, error);

    tw_embedding_free(&embedding);
    tw_release(distances);
    return status;
}

tw_status tw_find_thin_parts(const tw_winding *input, const tw_mesh *solid, double cell,
                             tw_mesh *out, tw_error *error)
{
    *out = (tw_mesh){0};
    tw_builder pieces = {0};
    tw_status status = split_surface(input->surface, cell, &pieces, error);
    if (status == TW_OK) status = measure_and_take(input, &pieces.mesh, solid, cell, out, error);
    tw_builder_free(&pieces);
    return status;
}
