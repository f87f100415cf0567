/* Meshes as text. */
#ifndef TW_MESH_WRITE_H
#define TW_MESH_WRITE_H

#include <stddef.h>
#include <twang/mesh.h>

/* Text that grows; memory that runs out is remembered and asked for once, at the end. */
typedef struct tw_mesh_text {
    char *bytes; /* freed by tw_release */
    size_t size, capacity;
    int failed;
} tw_mesh_text;

typedef void tw_mesh_writer(const tw_mesh *mesh, tw_mesh_text *out);

/* Triangles are written where the format has them; for OBJ and PLY the mesh is a surface already. */
tw_mesh_writer tw_write_node, tw_write_ele, tw_write_gmsh, tw_write_vtk, tw_write_medit,
    tw_write_obj, tw_write_ply;

#endif
