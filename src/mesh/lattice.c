/* Grids of cells split into tetrahedra: coil, box and bar are such a grid, bent. */
#include "base/fail.h"
#include "mesh/bodies.h"

/* Corner bits (1: a, 2: b, 4: c) of the six tetrahedra of a cell, one per order in which the three axes are walked from
 * corner 0 to corner 7; the middle two swapped for odd orders, so that all are positive. */
static const int kuhn[6][4] = {{0, 1, 3, 7}, {0, 2, 6, 7}, {0, 4, 5, 7},
                               {0, 3, 2, 7}, {0, 6, 4, 7}, {0, 5, 1, 7}};

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
    double vertices = (double)n[0] * (double)n[1] * (double)n[2];
    *out = (tw_mesh){0};
    if (vertices > (double)INT32_MAX)
        return tw_fail(error, TW_UNSUPPORTED, "more than 2^31 - 1 vertices");
    int64_t cells = (n[0] - 1) * (n[1] - 1) * (n[2] - 1);
    tw_status status = tw_mesh_allocate(out, (int64_t)vertices, 0, 0, 6 * cells, error);
    if (status != TW_OK) return status;
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
    for (int64_t t = 0; t < mesh->tetrahedron_count; t++) {
        int64_t *corners = mesh->tetrahedra + 4 * t, kept = corners[2];
        corners[2] = corners[3];
        corners[3] = kept;
    }
}
