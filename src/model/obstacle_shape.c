#include "model/obstacle_shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/vector3.h"
#include "linalg/vector.h"

/* A sphere is shown by this many circles of latitude if nothing else is said, and by twice as many
 * meridians. */
enum { RINGS = 12, MOST_RINGS = 400 };

static int rings_of(const tw_obstacle *o)
{
    return o->rings > 0 ? o->rings : RINGS;
}

static const double pi = 3.14159265358979323846;

void tw_obstacle_shape_free(tw_obstacle_shape *shape)
{
    tw_release(shape->x);
    tw_release(shape->triangles);
    *shape = (tw_obstacle_shape){0};
}

static tw_status allocate(tw_obstacle_shape *s, int64_t count, int64_t triangles, tw_error *error)
{
    s->x = TW_NEW_ARRAY(3 * count, double);
    s->triangles = TW_NEW_ARRAY(3 * triangles, int64_t);
    if (!s->x || !s->triangles) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    return TW_OK;
}

/* ---- checks ---- */

/* Whether all numbers are finite and all indices are right, also those that the kind does not use:
 * they were set by mistake. */
static tw_status check_numbers(const tw_obstacle *o, tw_error *error)
{
    bool finite = tw_vector_is_finite(3, o->point) && tw_vector_is_finite(3, o->other) &&
                  tw_vector_is_finite(3, o->sides) && tw_vector_is_finite(3, o->turn) &&
                  isfinite(o->radius) && isfinite(o->size);
    if (!finite) return tw_fail(error, TW_NOT_FINITE, "an obstacle is not finite");

    /* The mesh. */
    if (o->vertex_count < 0 || o->triangle_count < 0)
        return tw_fail(error, TW_INVALID_ARGUMENT, "a number of vertices or triangles is negative");
    if (o->vertex_count > INT32_MAX || o->triangle_count > INT32_MAX)
        return tw_fail(error, TW_UNSUPPORTED, "more than 2^31 - 1 vertices or triangles");
    if ((o->vertex_count > 0 && !o->vertices) || (o->triangle_count > 0 && !o->triangles))
        return tw_fail(error, TW_INVALID_ARGUMENT, "a mesh needs vertices and triangles");
    if (!tw_vector_is_finite(3 * o->vertex_count, o->vertices))
        return tw_fail(error, TW_NOT_FINITE, "an obstacle is not finite");

    for (int64_t i = 0; i < 3 * o->triangle_count; i++)
        if (o->triangles[i] < 0 || o->triangles[i] >= o->vertex_count)
            return tw_fail(error, TW_INVALID_ARGUMENT, "triangle %lld has no vertex %lld",
                           (long long)(i / 3), (long long)o->triangles[i]);
    return TW_OK;
}

static tw_status check_rings(const tw_obstacle *o, tw_error *error)
{
    bool even = o->rings % 2 == 0;
    if (o->rings == 0 || (even && o->rings >= 4 && o->rings <= MOST_RINGS)) return TW_OK;
    return tw_fail(error, TW_INVALID_ARGUMENT,
                   "the rings of an obstacle must be an even number from 4 to %d", MOST_RINGS);
}

tw_status tw_obstacle_check(const tw_obstacle *o, tw_error *error)
{
    TW_TRY(check_numbers(o, error));
    TW_TRY(check_rings(o, error));
    switch (o->kind) {
    case TW_OBSTACLE_PLANE:
        if (tw_dot3(o->other, o->other) > 0.0 && o->size > 0.0) return TW_OK;
        return tw_fail(error, TW_INVALID_ARGUMENT, "a plane needs a normal and a size");
    case TW_OBSTACLE_SPHERE:
    case TW_OBSTACLE_CAPSULE:
        if (o->radius > 0.0) return TW_OK;
        return tw_fail(error, TW_INVALID_ARGUMENT, "the radius of an obstacle must be positive");
    case TW_OBSTACLE_BOX:
        if (o->sides[0] > 0.0 && o->sides[1] > 0.0 && o->sides[2] > 0.0) return TW_OK;
        return tw_fail(error, TW_INVALID_ARGUMENT, "the sides of a box must be positive");
    case TW_OBSTACLE_MESH:
        if (o->vertex_count >= 3 && o->triangle_count >= 1) return TW_OK;
        return tw_fail(error, TW_INVALID_ARGUMENT, "a mesh needs vertices and triangles");
    }
    return tw_fail(error, TW_INVALID_ARGUMENT, "there is no such kind of obstacle");
}

/* ---- plane, sphere, capsule ---- */

static void add_triangle(tw_obstacle_shape *s, int64_t a, int64_t b, int64_t c)
{
    int64_t *t = s->triangles + 3 * s->triangle_count++;
    t[0] = a;
    t[1] = b;
    t[2] = c;
}

/* Two directions across n, all three orthonormal and right-handed: n = a x b. */
static void across(const double n[3], double a[3], double b[3])
{
    int least = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(n[k]) < fabs(n[least])) least = k;
    double axis[3] = {0.0, 0.0, 0.0};
    axis[least] = 1.0;

    tw_cross3(axis, n, a);
    double length = sqrt(tw_dot3(a, a));
    for (int k = 0; k < 3; k++) a[k] /= length;
    tw_cross3(n, a, b);
}

/* A square around the point. Its first three corners define the plane, its normal outward. */
static void make_plane(const tw_obstacle *o, const double normal[3], tw_obstacle_shape *s)
{
    static const double corner[4][2] = {{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}};
    double a[3];
    double b[3];

    across(normal, a, b);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++)
            s->x[3 * i + k] = o->point[k] + o->size * (corner[i][0] * a[k] + corner[i][1] * b[k]);
    s->count = 4;
    add_triangle(s, 0, 1, 2);
    add_triangle(s, 0, 2, 3);
}

/* The centre, or both ends, and then the skin: rings around the axis `up`. The upper half of the
 * rings belongs to the point `top`. */
static void make_skin(const tw_obstacle *o, const double top[3], const double up[3],
                      tw_obstacle_shape *s)
{
    double a[3];
    double b[3];
    across(up, a, b);
    int64_t first = s->count;
    const double *bottom = o->point;
    double radius = o->radius;
    int rings = rings_of(o);
    int meridians = 2 * rings;

    for (int ring = 0; ring <= rings; ring++) {
        const double *centre = 2 * ring < rings ? bottom : top;
        double latitude = pi * ((double)ring / rings - 0.5);
        int points = ring == 0 || ring == rings ? 1 : meridians;
        for (int m = 0; m < points; m++, s->count++)
            for (int k = 0; k < 3; k++) {
                double angle = 2.0 * pi * m / meridians;
                double out = cos(angle) * a[k] + sin(angle) * b[k];
                s->x[3 * s->count + k] =
                    centre[k] + radius * (sin(latitude) * up[k] + cos(latitude) * out);
            }
    }

    /* Quadrilaterals between rings, and a fan at each pole. */
    int64_t last = s->count - 1;

    for (int m = 0; m < meridians; m++) {
        int64_t next = (m + 1) % meridians;
        add_triangle(s, first, first + 1 + next, first + 1 + m);
        for (int ring = 0; ring + 2 < rings; ring++) {
            int64_t low = first + 1 + (int64_t)ring * meridians;
            int64_t high = low + meridians;
            add_triangle(s, low + m, low + next, high + next);
            add_triangle(s, low + m, high + next, high + m);
        }
        add_triangle(s, last, last - meridians + m, last - meridians + next);
    }
}

/* A plane, a sphere or a capsule. */
static void make_simple(const tw_obstacle *o, tw_obstacle_shape *s)
{
    /* The direction of the normal or of the axis; upward where there is none. */
    double up[3] = {0.0, 0.0, 1.0};
    double along[3];
    for (int k = 0; k < 3; k++) along[k] = o->other[k];
    for (int k = 0; k < 3 && o->kind == TW_OBSTACLE_CAPSULE; k++) along[k] -= o->point[k];
    double length = sqrt(tw_dot3(along, along));
    for (int k = 0; k < 3 && length > 0.0 && o->kind != TW_OBSTACLE_SPHERE; k++)
        up[k] = along[k] / length;

    if (o->kind == TW_OBSTACLE_PLANE) {
        make_plane(o, up, s);
        return;
    }

    memcpy(s->x, o->point, sizeof o->point);
    s->count = 1;
    if (o->kind == TW_OBSTACLE_CAPSULE) {
        memcpy(s->x + 3, o->other, sizeof o->other);
        s->count = 2;
    }
    const double *top = o->kind == TW_OBSTACLE_CAPSULE ? o->other : o->point;
    make_skin(o, top, up, s);
}

/* ---- box and mesh ---- */

/* Turns a vector by `degrees` in the plane of the axes j and k, j towards k. */
static void turn(double x[3], int j, int k, double degrees)
{
    double angle = degrees * pi / 180.0;
    double a = x[j];
    double b = x[k];
    x[j] = cos(angle) * a - sin(angle) * b;
    x[k] = sin(angle) * a + cos(angle) * b;
}

/* Corner i is at the upper end of axis k where bit k of i is set. */
static void make_box(const tw_obstacle *o, tw_obstacle_shape *s)
{
    static const int64_t faces[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                        {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    for (int i = 0; i < 8; i++) {
        double *x = s->x + 3 * (ptrdiff_t)i;
        for (int k = 0; k < 3; k++) x[k] = ((i >> k & 1) - 0.5) * o->sides[k];
        turn(x, 1, 2, o->turn[0]);
        turn(x, 2, 0, o->turn[1]);
        turn(x, 0, 1, o->turn[2]);
        for (int k = 0; k < 3; k++) x[k] += o->point[k];
    }
    s->count = 8;

    /* Each face is two triangles. */
    for (int f = 0; f < 6; f++) {
        add_triangle(s, faces[f][0], faces[f][1], faces[f][2]);
        add_triangle(s, faces[f][0], faces[f][2], faces[f][3]);
    }
}

static void copy_mesh(const tw_obstacle *o, tw_obstacle_shape *s)
{
    s->count = o->vertex_count;
    s->triangle_count = o->triangle_count;
    memcpy(s->x, o->vertices, 3 * (size_t)s->count * sizeof *s->x);
    memcpy(s->triangles, o->triangles, 3 * (size_t)s->triangle_count * sizeof *s->triangles);
}

/* ---- all ---- */

tw_status tw_obstacle_shape_make(const tw_obstacle *obstacle, tw_obstacle_shape *out,
                                 tw_error *error)
{
    *out = (tw_obstacle_shape){0};
    if (obstacle->kind == TW_OBSTACLE_MESH) {
        TW_TRY(allocate(out, obstacle->vertex_count, obstacle->triangle_count, error));
        copy_mesh(obstacle, out);
        return TW_OK;
    }

    /* The skin and both ends of a capsule: a plane and a box need less. */
    int64_t rings = rings_of(obstacle);
    int64_t corners = 2 * rings * (rings - 1) + 2;
    TW_TRY(allocate(out, corners + 2, 2 * (corners + 2 * rings), error));
    if (obstacle->kind == TW_OBSTACLE_BOX)
        make_box(obstacle, out);
    else
        make_simple(obstacle, out);
    return TW_OK;
}

/* An edge of a triangle, with the smaller vertex first. */
typedef struct edge {
    int64_t low;
    int64_t high;
    int sense; /* 1: the triangle runs from low to high; -1: the other way */
} edge;

static int compare_edges(const void *a, const void *b)
{
    const edge *one = a;
    const edge *two = b;
    if (one->low != two->low) return one->low < two->low ? -1 : 1;
    if (one->high != two->high) return one->high < two->high ? -1 : 1;
    return one->sense - two->sense;
}

tw_status tw_obstacle_shape_closed(const tw_obstacle_shape *shape, bool *closed, tw_error *error)
{
    int64_t count = 3 * shape->triangle_count;
    edge *edges = TW_NEW_ARRAY(count, edge);
    if (!edges) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* Sorted, the two sides of an edge are neighbours. */
    for (int64_t i = 0; i < count; i++) {
        int64_t a = shape->triangles[i];
        int64_t b = shape->triangles[3 * (i / 3) + (i + 1) % 3];
        edges[i] = (edge){a < b ? a : b, a < b ? b : a, a < b ? 1 : -1};
    }
    qsort(edges, (size_t)count, sizeof *edges, compare_edges);

    *closed = count % 2 == 0;
    for (int64_t i = 0; i + 1 < count && *closed; i += 2) {
        bool same = edges[i].low == edges[i + 1].low && edges[i].high == edges[i + 1].high;
        bool crowded =
            i + 2 < count && edges[i].low == edges[i + 2].low && edges[i].high == edges[i + 2].high;
        *closed = same && !crowded && edges[i].sense != edges[i + 1].sense;
    }
    tw_release(edges);
    return TW_OK;
}
