/* A cell: points on an ellipsoid, in rings from pole to pole. */
#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/bodies.h"

static const double PI = 3.14159265358979323846;

/* A ring of points, or a pole. */
typedef struct ring {
    int64_t first;
    int64_t count;
    double shift; /* of its points against angle 0, in points */
    double angle; /* from the upper pole [rad] */
} ring;

/* Rings lie as far apart as points in them: each point has the area 4 pi / count. */
static int64_t ring_count(int64_t points)
{
    double spacing = sqrt(4.0 * PI / (double)points);
    return (int64_t)round(PI / spacing) - 1;
}

/* The rings with their numbers of points, which are in proportion to their lengths. */
static void divide_points(int64_t points, int64_t rings, ring *list)
{
    double length = 0.0;
    for (int64_t j = 0; j < rings; j++) {
        list[j].angle = PI * (double)(j + 1) / (double)(rings + 1);
        length += sin(list[j].angle);
    }

    /* Rounding the sums and not the numbers makes them add up. Point 0 is the upper pole. */
    double passed = 0.0;
    int64_t next = 1;
    for (int64_t j = 0; j < rings; j++) {
        passed += sin(list[j].angle);
        int64_t end = 1 + (int64_t)round((double)(points - 2) * passed / length);
        list[j].first = next;
        list[j].count = end - next;
        list[j].shift = j % 2 == 0 ? 0.0 : 0.5;
        next = end;
    }
}

static void place_points(const tw_cell *cell, int64_t rings, const ring *list, double *vertices)
{
    vertices[2] = cell->radii[2];
    vertices[3 * (cell->points - 1) + 2] = -cell->radii[2];

    for (int64_t j = 0; j < rings; j++)
        for (int64_t k = 0; k < list[j].count; k++) {
            double around = 2.0 * PI * ((double)k + list[j].shift) / (double)list[j].count;
            double *vertex = vertices + 3 * (list[j].first + k);
            vertex[0] = cell->radii[0] * sin(list[j].angle) * cos(around);
            vertex[1] = cell->radii[1] * sin(list[j].angle) * sin(around);
            vertex[2] = cell->radii[2] * cos(list[j].angle);
        }
}

static int64_t *add_triangle(int64_t *corners, int64_t a, int64_t b, int64_t c)
{
    corners[0] = a;
    corners[1] = b;
    corners[2] = c;
    return corners + 3;
}

/* Point k of a ring; after the last comes the first. */
static int64_t point_of(const ring *r, int64_t k)
{
    return k < r->count ? r->first + k : r->first;
}

/* Fills the strip between two rings: goes around both, always on that side whose next point is
 * nearer. Triangles are counter-clockwise seen from outside. */
static int64_t *add_strip(int64_t *corners, const ring *upper, const ring *lower)
{
    int64_t a = 0;
    int64_t b = 0;

    while (a < upper->count || b < lower->count) {
        double next_a = ((double)a + 1.0 + upper->shift) / (double)upper->count;
        double next_b = ((double)b + 1.0 + lower->shift) / (double)lower->count;
        bool above = b == lower->count || (a < upper->count && next_a <= next_b);
        if (above) {
            corners = add_triangle(corners, point_of(upper, a), point_of(lower, b),
                                   point_of(upper, a + 1));
            a++;
        } else {
            corners = add_triangle(corners, point_of(upper, a), point_of(lower, b),
                                   point_of(lower, b + 1));
            b++;
        }
    }
    return corners;
}

static void add_surface(const tw_cell *cell, int64_t rings, const ring *list, int64_t *corners)
{
    const ring *top = list;
    const ring *bottom = list + rings - 1;

    /* The caps at the poles, and the strips between them. */
    for (int64_t k = 0; k < top->count; k++)
        corners = add_triangle(corners, 0, point_of(top, k), point_of(top, k + 1));
    for (int64_t j = 0; j + 1 < rings; j++) corners = add_strip(corners, list + j, list + j + 1);
    for (int64_t k = 0; k < bottom->count; k++)
        corners =
            add_triangle(corners, cell->points - 1, point_of(bottom, k + 1), point_of(bottom, k));
}

tw_status tw_body_cell(const tw_cell *cell, tw_mesh *out, tw_error *error)
{
    *out = (tw_mesh){0};
    int64_t rings = ring_count(cell->points);
    ring *list = tw_allocate_zeroed((size_t)rings, sizeof *list);
    if (!list) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    divide_points(cell->points, rings, list);

    /* A closed surface of triangles has 2 n - 4 of them. */
    tw_status status = tw_mesh_allocate(out, cell->points, 0, 2 * cell->points - 4, 0, error);
    if (status == TW_OK) {
        place_points(cell, rings, list, out->vertices);
        add_surface(cell, rings, list, out->triangles);
    }

    tw_release(list);
    return status;
}

tw_status tw_cell_edges(int64_t points, int64_t **edges, int64_t *count, tw_error *error)
{
    *count = points * (points - 1) / 2;
    *edges = TW_NEW_ARRAY(2 * *count, int64_t);
    if (!*edges) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    int64_t next = 0;
    for (int64_t i = 0; i < points; i++)
        for (int64_t j = i + 1; j < points; j++) {
            (*edges)[next++] = i;
            (*edges)[next++] = j;
        }
    return TW_OK;
}
