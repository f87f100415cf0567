/* Brings the shape of a body to its place at t = 0. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "scene/scene_internal.h"

static const double RADIANS_PER_DEGREE = 3.14159265358979323846 / 180.0;

static void move(tw_mesh *mesh, const double origin[3])
{
    for (int64_t i = 0; i < 3 * mesh->vertex_count; i++) mesh->vertices[i] += origin[i % 3];
}

/* Turns the plane of the axes j and k by `degrees`, j towards k. */
static void turn(tw_mesh *mesh, int j, int k, double degrees)
{
    if (degrees == 0.0) return;

    double angle = degrees * RADIANS_PER_DEGREE;
    double c = cos(angle);
    double s = sin(angle);
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        double *v = mesh->vertices + 3 * i;
        double a = v[j];
        double b = v[k];
        v[j] = c * a - s * b;
        v[k] = s * a + c * b;
    }
}

/* (x, y, z) becomes (x, -z, y): what was y points up. */
static void raise_y(tw_mesh *mesh)
{
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        double *v = mesh->vertices + 3 * i;
        double y = v[1];
        v[1] = -v[2];
        v[2] = y;
    }
}

static void scale(tw_mesh *mesh, double factor)
{
    for (int64_t i = 0; i < 3 * mesh->vertex_count; i++) mesh->vertices[i] *= factor;
}

/* The factor that makes the longest side of the mesh `extent` long. */
static double factor_to_extent(const tw_mesh *mesh, double extent)
{
    double lower[3];
    double upper[3];
    tw_mesh_bounds(mesh, lower, upper);

    double longest = 0.0;
    for (int k = 0; k < 3; k++) longest = fmax(longest, upper[k] - lower[k]);
    return longest > 0.0 ? extent / longest : 1.0;
}

/* ---- rounding ---- */

/* Coordinates may round the lengths of a body by this share, no more. */
static const double ROUNDING_SHARE = 1e-6;

/* The largest of all coordinates, without their signs. */
static double reach_of(const tw_mesh *mesh)
{
    double reach = 0.0;
    for (int64_t i = 0; i < 3 * mesh->vertex_count; i++)
        reach = fmax(reach, fabs(mesh->vertices[i]));
    return reach;
}

/* The shortest distance above 0 between two corners of a cell, over `count` cells of `corners` each. */
static double shortest_side(const tw_mesh *mesh, const int64_t *cells, int64_t count, int corners)
{
    double shortest = INFINITY;
    for (int64_t c = 0; c < count; c++)
        for (int i = 0; i < corners; i++)
            for (int j = 0; j < i; j++) {
                const double *a = mesh->vertices + 3 * cells[corners * c + i];
                const double *b = mesh->vertices + 3 * cells[corners * c + j];
                double length = hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
                if (length > 0.0) shortest = fmin(shortest, length);
            }
    return shortest;
}

static double shortest_length(const tw_mesh *mesh)
{
    double edge = shortest_side(mesh, mesh->edges, mesh->edge_count, 2);
    double triangle = shortest_side(mesh, mesh->triangles, mesh->triangle_count, 3);
    double tetrahedron = shortest_side(mesh, mesh->tetrahedra, mesh->tetrahedron_count, 4);
    return fmin(edge, fmin(triangle, tetrahedron));
}

/* Refuses an origin so far away that its rounding would change the shortest length of the body. What is
 * not finite at all is refused with the particles. */
static tw_status check_rounding(const tw_body *body, double shortest, tw_error *error)
{
    double spacing = DBL_EPSILON * reach_of(&body->mesh);
    bool is_sound = !(spacing > ROUNDING_SHARE * shortest);
    if (is_sound || !isfinite(spacing)) return TW_OK;
    const tw_node *origin = tw_node_find(body->node, "origin");
    return tw_fail_at(error, origin ? origin->mark : body->node->mark,
                      "%s.origin is too far away: numbers are %.2g m apart there, and the shortest "
                      "element of the body is %.2g m long",
                      body->path, spacing, shortest);
}

/* Places a rope: particle i is at origin + i length direction / |direction|. */
static tw_status lay_along_direction(tw_body *body, const double origin[3], tw_error *error)
{
    double length = tw_node_number(body->node, "length");
    double direction[3];
    tw_node_numbers(body->node, "direction", 3, direction);

    double norm = sqrt(direction[0] * direction[0] + direction[1] * direction[1] +
                       direction[2] * direction[2]);
    if (!(norm > 0.0) || !isfinite(norm))
        return tw_fail_at(error, tw_node_find(body->node, "direction")->mark,
                          "%s.direction has length zero, give it any other", body->path);

    for (int64_t i = 0; i < body->mesh.vertex_count; i++)
        for (int k = 0; k < 3; k++)
            body->mesh.vertices[3 * i + k] = origin[k] + (double)i * length * (direction[k] / norm);
    return check_rounding(body, length, error);
}

tw_status tw_place_body(tw_body *body, tw_error *error)
{
    double origin[3];
    tw_node_numbers(body->node, "origin", 3, origin);
    if (tw_node_find(body->node, "direction")) return lay_along_direction(body, origin, error);

    /* A file with y up is turned by a right angle about x, without rounding. */
    tw_mesh *both[] = {&body->mesh, &body->surface};
    const tw_node *up = tw_node_find(body->node, "up");
    bool is_y_up = up && strcmp(up->text, "y") == 0;
    for (int i = 0; i < 2 && is_y_up; i++) raise_y(both[i]);

    /* Turn about the axes x, y, z, in this order. The surface that is shown goes with the mesh. */
    double rotation[3];
    tw_node_numbers(body->node, "rotation", 3, rotation);
    for (int i = 0; i < 2; i++) {
        turn(both[i], 1, 2, rotation[0]);
        turn(both[i], 2, 0, rotation[1]);
        turn(both[i], 0, 1, rotation[2]);
    }

    /* Scale by a factor, or to the extent that the scene asks for. */
    const tw_node *given = tw_node_find(body->node, "scale");
    if (given && tw_node_find(body->node, "extent"))
        return tw_fail_at(error, given->key_mark, "%s has both extent and scale, keep one of them",
                          body->path);
    if (given)
        for (int i = 0; i < 2; i++) scale(both[i], given->number);
    if (tw_node_find(body->node, "extent")) {
        double factor = factor_to_extent(&body->mesh, tw_node_number(body->node, "extent"));
        for (int i = 0; i < 2; i++) scale(both[i], factor);
    }

    /* A length that rounding has changed before is not the fault of the origin. */
    double shortest = shortest_length(&body->mesh);
    if (DBL_EPSILON * reach_of(&body->mesh) > ROUNDING_SHARE * shortest) shortest = INFINITY;
    for (int i = 0; i < 2; i++) move(both[i], origin);
    return check_rounding(body, shortest, error);
}
