#ifndef TW_MESH_THIN_PARTS_H
#define TW_MESH_THIN_PARTS_H

#include <twang/mesh.h>

/* The parts of `surface` that the lattice of this cell lost: what is more than a cell outside of `solid`, and what
 * leads there. Edges and corners that were bevelled are not among them. `out` gets pieces of triangles, none longer
 * than a cell; no triangles if nothing was lost. */
tw_status tw_find_thin_parts(const tw_mesh *surface, const tw_mesh *solid, double cell,
                             tw_mesh *out, tw_error *error);

#endif
