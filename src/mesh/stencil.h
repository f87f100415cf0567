/* What remains of the lattice's tetrahedra inside the surface. */
#ifndef TW_MESH_STENCIL_H
#define TW_MESH_STENCIL_H

#include "mesh/bcc_lattice.h"
#include "mesh/builder.h"

/* Tetrahedra of positive volume between nodes and cuts of the lattice; the mesh has vertices for those used only. */
tw_status tw_bcc_cut_tetrahedra(const tw_bcc *lattice, tw_mesh *out, tw_error *error);

#endif
