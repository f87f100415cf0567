/* The faces of a surface as its file has them, within a mesh. */
#ifndef TW_MESH_FACES_H
#define TW_MESH_FACES_H

#include <twang/mesh.h>

/* A copy with arrays of its own; `out` is overwritten. TW_OUT_OF_MEMORY or TW_OK. */
tw_status tw_faces_copy(const tw_mesh_faces *faces, tw_mesh_faces *out);
/* Part of tw_mesh_check. */
tw_status tw_faces_check(const tw_mesh *mesh, tw_error *error);

#endif
