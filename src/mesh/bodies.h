/* Bodies made by a procedure, so that a scene needs no file. Each overwrites `out`, which is
 * freed by tw_mesh_free also when it fails. */
#ifndef TW_MESH_BODIES_H
#define TW_MESH_BODIES_H

#include <stdbool.h>
#include <twang/mesh.h>

/* A grid of n[0] x n[1] x n[2] vertices (at least 2 each), index a + n[0] b + n[0] n[1] c, whose
 * cells are split into six tetrahedra each (Kuhn) along the diagonal from (a,b,c) to
 * (a+1,b+1,c+1). Vertices are at (a, b, c): the caller moves them, and calls tw_lattice_orient.
 * TW_UNSUPPORTED beyond 2^31 - 1 vertices. */
tw_status tw_lattice(const int64_t n[3], tw_mesh *out, tw_error *error);
/* Turns all tetrahedra around if the map that moved the vertices was left-handed. */
void tw_lattice_orient(tw_mesh *mesh);

/* The coil of the 2018 paper: a helical wire of `across` x `across` vertices per cross-section. */
typedef struct tw_coil {
    int64_t sections, across;
    double turns, radius, height, thickness; /* [m] but turns */
} tw_coil;
tw_status tw_body_coil(const tw_coil *coil, tw_mesh *out, tw_error *error);

/* A block of size [m] from the origin, of so many cells along x, y, z. */
tw_status tw_body_box(const double size[3], const int64_t cells[3], tw_mesh *out, tw_error *error);

/* `links` links of equal length along +x from the origin: edges, no cells. */
tw_status tw_body_rope(int64_t links, double length, tw_mesh *out, tw_error *error);

/* A sheet of columns x rows vertices, index c + columns r, column c at x = width c / (columns -
 * 1), row r at z = height r / (rows - 1): triangles, two per cell, with diagonals that
 * alternate. */
typedef struct tw_cloth {
    int64_t columns, rows; /* at least 2 */
    double width, height;  /* [m] */
} tw_cloth;
tw_status tw_body_cloth(const tw_cloth *cloth, tw_mesh *out, tw_error *error);

/* What keeps a sheet in shape: its threads; the diagonals of its cells, both; every second
 * vertex along a thread. */
typedef enum tw_cloth_group {
    TW_CLOTH_STRUCTURAL,
    TW_CLOTH_SHEAR,
    TW_CLOTH_BENDING,
    TW_CLOTH_GROUPS
} tw_cloth_group;
/* Edges of one group, two vertices each; `*edges` is freed by tw_release. */
tw_status tw_cloth_edges(const tw_cloth *cloth, tw_cloth_group group, int64_t **edges,
                         int64_t *count, tw_error *error);

/* A lattice tower in the manner of Eiffel's: four legs with arches between them, two platforms,
 * a shaft, a spire. Girders are edges; the base stands on z = 0 around the origin. `detail` 1
 * has about 5,000 nodes, 2 twice as many cross-sections. */
typedef struct tw_tower {
    double height, width; /* to the tip of the spire; of the base [m] */
    double detail;        /* > 0: number of sections, relative to the default */
} tw_tower;
tw_status tw_body_tower(const tw_tower *tower, tw_mesh *out, tw_error *error);

#endif
