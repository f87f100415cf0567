/* A body before it is a model: points, and what joins them. Procedural bodies (body_*.c) make one; the scene loader
 * gives it masses and forces. Nothing here knows about materials. */
#ifndef TW_MESH_SHAPE_H
#define TW_MESH_SHAPE_H

#include <stdbool.h>
#include <stdint.h>
#include <twang/status.h>

/* What an edge is for. */
typedef enum tw_edge_group { TW_EDGE_STRUCTURAL, TW_EDGE_SHEAR, TW_EDGE_BENDING, TW_EDGE_GROUPS } tw_edge_group;

typedef struct tw_shape {
    int64_t point_count, edge_count, triangle_count, tetrahedron_count;
    double *points;       /* x, y, z each [m] */
    int64_t *edges;       /* two points each */
    uint8_t *edge_groups; /* tw_edge_group of each */
    int64_t *triangles;   /* three points each, anticlockwise seen from outside */
    int64_t *tetrahedra;  /* four points each, positively oriented */
} tw_shape;

/* Room for so many of each; freed by tw_shape_free also when it fails. */
tw_status tw_shape_reserve(tw_shape *shape, int64_t points, int64_t edges, int64_t triangles, int64_t tetrahedra);
void tw_shape_free(tw_shape *shape);
/* Appends an edge; there must be room. */
void tw_shape_add_edge(tw_shape *shape, int64_t from, int64_t to, tw_edge_group group);
void tw_shape_add_triangle(tw_shape *shape, int64_t a, int64_t b, int64_t c);

/* A grid of n[0] x n[1] x n[2] points, index a + n[0] b + n[0] n[1] c, whose cells are split into six tetrahedra each
 * (Kuhn) along the diagonal from (a,b,c) to (a+1,b+1,c+1). Edges in the order of their first point, then of the bits
 * (da, db, dc); triangles are the outside. Points are at (a, b, c): the caller moves them. Fails with TW_UNSUPPORTED
 * beyond 2^31 - 1 points. */
tw_status tw_shape_lattice(tw_shape *shape, const int64_t n[3]);
/* After points were moved: turns tetrahedra and triangles around if the map was left-handed. */
void tw_shape_orient(tw_shape *shape);

/* The coil of the 2018 paper: a helical wire of `across` x `across` points per cross-section. */
typedef struct tw_coil {
    int64_t sections, across;
    double turns, radius, height, thickness; /* [m] but turns */
} tw_coil;
tw_status tw_body_coil(const tw_coil *coil, tw_shape *out);

#endif
