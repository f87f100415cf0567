/* Bodies made by a procedure, so that a scene needs no file. Each function overwrites `out`,
 * which is freed by tw_mesh_free also when the function fails. */
#ifndef TW_MESH_BODIES_H
#define TW_MESH_BODIES_H

#include <stdbool.h>
#include <twang/mesh.h>

/* A grid of n[0] x n[1] x n[2] vertices, at least 2 each. Vertex a + n[0] b + n[0] n[1] c is at
 * (a, b, c). Each cell is split into six tetrahedra (Kuhn) along the diagonal from (a, b, c) to
 * (a + 1, b + 1, c + 1). The caller moves the vertices and then calls tw_lattice_orient.
 * TW_UNSUPPORTED beyond 2^31 - 1 vertices. */
tw_status tw_lattice(const int64_t n[3], tw_mesh *out, tw_error *error);
/* Turns all tetrahedra around if the map that moved the vertices was left-handed. */
void tw_lattice_orient(tw_mesh *mesh);

/* The coil of the 2018 paper: a helical wire of `across` x `across` vertices per cross-section. */
typedef struct tw_coil {
    int64_t sections;                 /* cross-sections along the wire */
    int64_t across;                   /* vertices along a side of a cross-section */
    double turns;                     /* of the helix */
    double radius, height, thickness; /* [m] */
} tw_coil;
tw_status tw_body_coil(const tw_coil *coil, tw_mesh *out, tw_error *error);

/* A block from the origin to `size` [m], with cells[k] cells along axis k. */
tw_status tw_body_box(const double size[3], const int64_t cells[3], tw_mesh *out, tw_error *error);

/* `links` edges of equal length [m] along +x from the origin. */
tw_status tw_body_rope(int64_t links, double length, tw_mesh *out, tw_error *error);

/* A sheet of columns x rows vertices. Vertex c + columns r is in column c at x = width c /
 * (columns - 1) and in row r at z = height r / (rows - 1). Each cell is two triangles, with
 * diagonals that alternate. */
typedef struct tw_cloth {
    int64_t columns, rows; /* at least 2 */
    double width, height;  /* [m] */
} tw_cloth;
tw_status tw_body_cloth(const tw_cloth *cloth, tw_mesh *out, tw_error *error);

/* Groups of edges that keep a sheet in shape: between neighbours along a thread, both diagonals of
 * each cell, and between every second vertex along a thread. */
typedef enum tw_cloth_group {
    TW_CLOTH_STRUCTURAL,
    TW_CLOTH_SHEAR,
    TW_CLOTH_BENDING,
    TW_CLOTH_GROUPS
} tw_cloth_group;
/* Edges of one group, two vertices each; `*edges` is freed by tw_release. */
tw_status tw_cloth_edges(const tw_cloth *cloth, tw_cloth_group group, int64_t **edges,
                         int64_t *count, tw_error *error);

/* A sheet from a file. `surface` is the mesh as in the file, `sheet` the same after a repair, whose
 * vertices become particles. `*map` gets the vertex of the sheet for every vertex of the file; freed
 * by tw_release. */
tw_status tw_sheet_map(const tw_mesh *sheet, const tw_mesh *surface, int64_t **map,
                       tw_error *error);

/* The edges of each group, two vertices of the sheet each: along the sides of the polygons; both
 * diagonals of quadrangles and the like; between the two corners that face a side. */
typedef struct tw_sheet_springs {
    int64_t *edges[TW_CLOTH_GROUPS];
    int64_t count[TW_CLOTH_GROUPS];
} tw_sheet_springs;
/* `out` is overwritten and freed by tw_sheet_springs_free, also when the function fails. */
tw_status tw_sheet_edges(const tw_mesh *sheet, const tw_mesh *surface, tw_sheet_springs *out,
                         tw_error *error);
void tw_sheet_springs_free(tw_sheet_springs *springs);

/* Marks in `near`, one byte per vertex of the solid, the vertices on its surface that stand for the
 * chosen triangles of the surface that it fills: no other triangle is nearer. (near_triangles.c) */
tw_status tw_vertices_near_triangles(const tw_mesh *solid, const tw_mesh *surface,
                                     const char *chosen, char *near, tw_error *error);

/* A lattice tower in the manner of Eiffel's: four legs with arches between them, two platforms,
 * a shaft, a spire. Girders are edges; the base stands on z = 0 around the origin. `detail` 1
 * has about 5,000 nodes, 2 twice as many cross-sections. */
typedef struct tw_tower {
    double height; /* of the tip of the spire [m] */
    double width;  /* of the base [m] */
    double detail; /* > 0: number of cross-sections, relative to the default */
} tw_tower;
tw_status tw_body_tower(const tw_tower *tower, tw_mesh *out, tw_error *error);

/* Points on an ellipsoid about the origin, in rings around z that lie as far apart as the points in
 * them: point 0 is the upper pole, the last one the lower. The surface is closed. At least 8. */
typedef struct tw_cell {
    int64_t points;
    double radii[3]; /* along x, y, z [m] */
} tw_cell;
tw_status tw_body_cell(const tw_cell *cell, tw_mesh *out, tw_error *error);
/* Edges between every two of them; `*edges` is freed by tw_release. */
tw_status tw_cell_edges(int64_t points, int64_t **edges, int64_t *count, tw_error *error);

/* A sedan of about so many vertices, at least 2,000: shell with windows, floor, firewall, seats,
 * engine block, wheels. It stands on z = 0 and points to +x, from the tail at x = 0 to the nose at
 * x = 4.4 m. (body_car.c) */
tw_status tw_body_car(int64_t vertices, tw_mesh *out, tw_error *error);

#endif
