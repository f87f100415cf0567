/* Bodies made by a procedure, so that a scene needs no file. Each overwrites `out`, which is freed by tw_mesh_free also
 * when it fails. */
#ifndef TW_MESH_BODIES_H
#define TW_MESH_BODIES_H

#include <stdbool.h>
#include <twang/mesh.h>

/* A grid of n[0] x n[1] x n[2] vertices (at least 2 each), index a + n[0] b + n[0] n[1] c, whose cells are split into
 * six tetrahedra each (Kuhn) along the diagonal from (a,b,c) to (a+1,b+1,c+1). Vertices are at (a, b, c): the caller
 * moves them, and calls tw_lattice_orient. TW_UNSUPPORTED beyond 2^31 - 1 vertices. */
tw_status tw_lattice(const int64_t n[3], tw_mesh *out, tw_error *error);
/* Turns all tetrahedra around if the map that moved the vertices was left-handed. */
void tw_lattice_orient(tw_mesh *mesh);

/* The coil of the 2018 paper: a helical wire of `across` x `across` vertices per cross-section. */
typedef struct tw_coil {
    int64_t sections, across;
    double turns, radius, height, thickness; /* [m] but turns */
} tw_coil;
tw_status tw_body_coil(const tw_coil *coil, tw_mesh *out, tw_error *error);

#endif
