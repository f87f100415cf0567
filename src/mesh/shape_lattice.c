/* Grids of cells split into tetrahedra: coil, box and bar are such a grid, bent. */

#include "mesh/shape.h"

/* Corner bits (1: a, 2: b, 4: c) of the six tetrahedra of a cell, one per order in which the three axes are walked from
 * corner 0 to corner 7; the middle two swapped for odd orders, so that all are positive. */
static const int kuhn[6][4] = {{0, 1, 3, 7}, {0, 2, 6, 7}, {0, 4, 5, 7}, {0, 3, 2, 7}, {0, 6, 4, 7}, {0, 5, 1, 7}};

/* The two triangles of each face of a cell, in the diagonals that Kuhn's split has, seen from outside: a = 0, a = 1,
 * b = 0, b = 1, c = 0, c = 1. */
static const int faces[6][2][3] = {{{0, 6, 2}, {0, 4, 6}}, {{1, 3, 7}, {1, 7, 5}}, {{0, 1, 5}, {0, 5, 4}},
                                   {{2, 7, 3}, {2, 6, 7}}, {{0, 3, 1}, {0, 2, 3}}, {{4, 5, 7}, {4, 7, 6}}};

static int64_t corner(const int64_t n[3], int64_t point, int bits)
{
    return point + (bits & 1) + n[0] * (bits >> 1 & 1) + n[0] * n[1] * (bits >> 2);
}

/* Whether the point has neighbours in all directions of `bits`. */
static bool has_corner(const int64_t n[3], const int64_t at[3], int bits)
{
    for (int k = 0; k < 3; k++)
        if (bits >> k & 1 && at[k] + 1 >= n[k]) return false;
    return true;
}

static void add_cell(tw_shape *shape, const int64_t n[3], const int64_t at[3], int64_t point)
{
    for (int t = 0; t < 6; t++) {
        int64_t *corners = shape->tetrahedra + 4 * shape->tetrahedron_count++;
        for (int k = 0; k < 4; k++) corners[k] = corner(n, point, kuhn[t][k]);
    }
    for (int f = 0; f < 6; f++) {
        bool outside = f % 2 ? at[f / 2] + 2 == n[f / 2] : at[f / 2] == 0;
        for (int t = 0; outside && t < 2; t++)
            tw_shape_add_triangle(shape, corner(n, point, faces[f][t][0]), corner(n, point, faces[f][t][1]),
                                  corner(n, point, faces[f][t][2]));
    }
}

static void fill(tw_shape *shape, const int64_t n[3])
{
    shape->point_count = n[0] * n[1] * n[2];
    for (int64_t i = 0; i < shape->point_count; i++) {
        int64_t at[3] = {i % n[0], i / n[0] % n[1], i / (n[0] * n[1])};
        for (int k = 0; k < 3; k++) shape->points[3 * i + k] = (double)at[k];
        for (int bits = 1; bits < 8; bits++)
            if (has_corner(n, at, bits)) tw_shape_add_edge(shape, i, corner(n, i, bits), TW_EDGE_STRUCTURAL);
        if (has_corner(n, at, 7)) add_cell(shape, n, at, i);
    }
}

tw_status tw_shape_lattice(tw_shape *shape, const int64_t n[3])
{
    double points = (double)n[0] * (double)n[1] * (double)n[2];
    if (points > (double)INT32_MAX) return TW_UNSUPPORTED;
    int64_t m[3] = {n[0] - 1, n[1] - 1, n[2] - 1};
    int64_t triangles = 4 * (m[0] * m[1] + m[1] * m[2] + m[2] * m[0]);
    tw_status status = tw_shape_reserve(shape, (int64_t)points, 7 * (int64_t)points, triangles, 6 * m[0] * m[1] * m[2]);
    if (status == TW_OK) fill(shape, n);
    return status;
}

static double volume_of(const tw_shape *shape, const int64_t *corners)
{
    double e[3][3];
    const double *o = shape->points + 3 * corners[0];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) e[i][k] = shape->points[3 * corners[i + 1] + k] - o[k];
    return (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) + e[0][1] * (e[1][2] * e[2][0] - e[1][0] * e[2][2]) +
            e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
           6.0;
}

static void swap(int64_t *a, int64_t *b)
{
    int64_t kept = *a;
    *a = *b;
    *b = kept;
}

void tw_shape_orient(tw_shape *shape)
{
    if (shape->tetrahedron_count == 0 || volume_of(shape, shape->tetrahedra) > 0.0) return;
    for (int64_t t = 0; t < shape->tetrahedron_count; t++)
        swap(&shape->tetrahedra[4 * t + 2], &shape->tetrahedra[4 * t + 3]);
    for (int64_t t = 0; t < shape->triangle_count; t++)
        swap(&shape->triangles[3 * t + 1], &shape->triangles[3 * t + 2]);
}
