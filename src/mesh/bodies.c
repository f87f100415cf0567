/* The simple procedural bodies: a grid of tetrahedra, the box and the coil
 * made of it, and the rope. */
#include "mesh/bodies.h"

#include <math.h>

#include "base/fail.h"

static const double pi = 3.14159265358979323846;

/* ---- a grid of cells, each split into six tetrahedra ---- */

/* Corners of the six tetrahedra of a cell, as bits (1: a + 1, 2: b + 1, 4: c + 1). Each
 * tetrahedron walks the three axes from corner 0 to corner 7 in another order. For odd orders
 * the two middle corners are swapped, so that all six have positive volume. */
static const int kuhn[6][4] = {{0, 1, 3, 7}, {0, 2, 6, 7}, {0, 4, 5, 7},
                               {0, 3, 2, 7}, {0, 6, 4, 7}, {0, 5, 1, 7}};

/* Writes the tetrahedra of the cell whose lowest corner is `vertex`, and
 * returns the place behind them. */
static int64_t *add_cell(int64_t *corners, const int64_t n[3], int64_t vertex)
{
    for (int t = 0; t < 6; t++)
        for (int k = 0; k < 4; k++) {
            int bits = kuhn[t][k];
            *corners++ = vertex + (bits & 1) + n[0] * (bits >> 1 & 1) + n[0] * n[1] * (bits >> 2);
        }
    return corners;
}

tw_status tw_lattice(const int64_t n[3], tw_mesh *out, tw_error *error)
{
    /* The count is taken in floating point, where it cannot overflow. */
    double vertices = (double)n[0] * (double)n[1] * (double)n[2];
    *out = (tw_mesh){0};
    if (vertices > (double)INT32_MAX)
        return tw_fail(error, TW_UNSUPPORTED, "more than 2^31 - 1 vertices");

    int64_t cells = (n[0] - 1) * (n[1] - 1) * (n[2] - 1);
    TW_TRY(tw_mesh_allocate(out, (int64_t)vertices, 0, 0, 6 * cells, error));

    /* Every vertex that is not on an upper side of the grid is the lowest corner of a cell. */
    int64_t *corners = out->tetrahedra;
    for (int64_t i = 0; i < out->vertex_count; i++) {
        int64_t at[3] = {i % n[0], i / n[0] % n[1], i / (n[0] * n[1])};
        for (int k = 0; k < 3; k++) out->vertices[3 * i + k] = (double)at[k];

        if (at[0] + 1 < n[0] && at[1] + 1 < n[1] && at[2] + 1 < n[2])
            corners = add_cell(corners, n, i);
    }

    return TW_OK;
}

void tw_lattice_orient(tw_mesh *mesh)
{
    if (tw_mesh_volume(mesh) >= 0.0) return;

    /* Swapping two corners changes the sign of a volume. */
    for (int64_t t = 0; t < mesh->tetrahedron_count; t++) {
        int64_t *corners = mesh->tetrahedra + 4 * t;
        int64_t kept = corners[2];
        corners[2] = corners[3];
        corners[3] = kept;
    }
}

/* ---- bodies ---- */

tw_status tw_body_box(const double size[3], const int64_t cells[3], tw_mesh *out, tw_error *error)
{
    int64_t n[3] = {cells[0] + 1, cells[1] + 1, cells[2] + 1};
    TW_TRY(tw_lattice(n, out, error));

    /* Coordinate k of the grid runs from 0 to cells[k], that of the box from 0 to size[k]. */
    for (int64_t i = 0; i < 3 * out->vertex_count; i++)
        out->vertices[i] = size[i % 3] * (out->vertices[i] / (double)cells[i % 3]);
    return TW_OK;
}

/* A helical wire of square cross-section. With 500 sections of 4 x 4 vertices it is the coil of
 * Luan and Michels (2018): s = c/499, th = 2 pi 6 s, u = 0.3 (a/3 - 1/2), w = 0.3 (b/3 - 1/2),
 * vertex ((1 + u) cos th, (1 + u) sin th, 4 s + w). */
tw_status tw_body_coil(const tw_coil *coil, tw_mesh *out, tw_error *error)
{
    int64_t n[3] = {coil->across, coil->across, coil->sections};
    TW_TRY(tw_lattice(n, out, error));

    for (int64_t i = 0; i < out->vertex_count; i++) {
        double *p = out->vertices + 3 * i;

        /* s in [0, 1] runs along the wire; u and w go across it, outwards and upwards. */
        double s = p[2] / (double)(n[2] - 1);
        double angle = 2 * pi * coil->turns * s;
        double u = coil->thickness * (p[0] / (double)(n[0] - 1) - 0.5);
        double w = coil->thickness * (p[1] / (double)(n[1] - 1) - 0.5);

        p[0] = (coil->radius + u) * cos(angle);
        p[1] = (coil->radius + u) * sin(angle);
        p[2] = coil->height * s + w;
    }

    tw_lattice_orient(out);
    return TW_OK;
}

tw_status tw_body_rope(int64_t links, double length, tw_mesh *out, tw_error *error)
{
    TW_TRY(tw_mesh_allocate(out, links + 1, links, 0, 0, error));

    /* Link i joins the vertices i and i + 1. */
    for (int64_t i = 0; i <= links; i++) out->vertices[3 * i] = (double)i * length;
    for (int64_t i = 0; i < 2 * links; i++) out->edges[i] = (i + 1) / 2;
    return TW_OK;
}
