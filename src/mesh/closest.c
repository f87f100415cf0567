/* Distances from a point to triangles and tetrahedra. */
#include "mesh/mesh_internal.h"

static vec3 closest_on_segment(vec3 q, vec3 a, vec3 b)
{
    vec3 edge = vec3_subtract(b, a);
    double length = vec3_dot(edge, edge);
    double s = length > 0.0 ? vec3_dot(vec3_subtract(q, a), edge) / length : 0.0;
    return vec3_add_scaled(a, fmin(fmax(s, 0.0), 1.0), edge);
}

static double square_distance(vec3 a, vec3 b)
{
    vec3 d = vec3_subtract(a, b);
    return vec3_dot(d, d);
}

vec3 tw_closest_on_triangle(vec3 q, vec3 a, vec3 b, vec3 c)
{
    vec3 normal = vec3_cross(vec3_subtract(b, a), vec3_subtract(c, a));
    double square = vec3_dot(normal, normal);
    vec3 from_a = vec3_subtract(q, a);
    vec3 from_b = vec3_subtract(q, b);
    vec3 from_c = vec3_subtract(q, c);

    /* If q is in the prism over the triangle, the foot of the perpendicular is nearest. */
    if (square > 0.0 && vec3_dot(vec3_cross(from_a, from_b), normal) >= 0.0 &&
        vec3_dot(vec3_cross(from_b, from_c), normal) >= 0.0 &&
        vec3_dot(vec3_cross(from_c, from_a), normal) >= 0.0)
        return vec3_add_scaled(q, -vec3_dot(from_a, normal) / square, normal);

    /* Otherwise the nearest point is on one of the three sides. */
    vec3 best = closest_on_segment(q, a, b);
    vec3 other = closest_on_segment(q, b, c);
    if (square_distance(q, other) < square_distance(q, best)) best = other;
    other = closest_on_segment(q, c, a);
    return square_distance(q, other) < square_distance(q, best) ? other : best;
}

bool tw_barycentric(vec3 q, const vec3 corners[4], double weights[4])
{
    const vec3 *p = corners;
    double whole = vec3_six_volumes(p[0], p[1], p[2], p[3]);
    if (whole == 0.0) return false;

    /* Weight k is the share of the volume that remains when q replaces corner k. */
    weights[1] = vec3_six_volumes(p[0], q, p[2], p[3]) / whole;
    weights[2] = vec3_six_volumes(p[0], p[1], q, p[3]) / whole;
    weights[3] = vec3_six_volumes(p[0], p[1], p[2], q) / whole;
    weights[0] = 1.0 - weights[1] - weights[2] - weights[3];

    /* The quotients overflow if the tetrahedron is nearly flat. */
    for (int k = 0; k < 4; k++)
        if (!isfinite(weights[k])) return false;

    return true;
}

double tw_tetrahedron_distance(vec3 q, const vec3 corners[4])
{
    const vec3 *p = corners;
    double weights[4];

    /* A point with four weights >= 0 is inside. */
    if (tw_barycentric(q, corners, weights) && weights[0] >= 0.0 && weights[1] >= 0.0 &&
        weights[2] >= 0.0 && weights[3] >= 0.0)
        return 0.0;

    /* Otherwise the nearest point is on one of the four faces. */
    double best = square_distance(q, tw_closest_on_triangle(q, p[1], p[2], p[3]));
    best = fmin(best, square_distance(q, tw_closest_on_triangle(q, p[0], p[2], p[3])));
    best = fmin(best, square_distance(q, tw_closest_on_triangle(q, p[0], p[1], p[3])));
    return fmin(best, square_distance(q, tw_closest_on_triangle(q, p[0], p[1], p[2])));
}
