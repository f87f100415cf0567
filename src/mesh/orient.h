#ifndef TW_MESH_ORIENT_H
#define TW_MESH_ORIENT_H

#include <twang/mesh.h>

/* Turns triangles to agree with the majority of their patch (connected by edges of exactly two triangles; a patch that
 * cannot be oriented stays as it is), then all of a closed surface that is inside out. Adds how many were turned. */
tw_status tw_orient_triangles(tw_mesh *mesh, int64_t *turned, tw_error *error);

#endif
