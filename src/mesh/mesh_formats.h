/* Mesh files: a reader and a writer per format, from and to memory. load_mesh.c opens files. */
#ifndef TW_MESH_FORMATS_H
#define TW_MESH_FORMATS_H

#include "base/text.h"
#include "mesh/mesh_internal.h"
#include "mesh/scan.h"

/* ---- reading ---- */

/* A reader turns the bytes of a scan into a mesh under construction. It returns TW_OK,
 * TW_OUT_OF_MEMORY, or TW_BAD_INPUT with the place and the reason in the scan's error. The
 * caller frees what was built so far. */
typedef tw_status tw_mesh_reader(tw_scan *scan, tw_builder *out);

tw_mesh_reader tw_read_obj, tw_read_ply, tw_read_stl, tw_read_gmsh, tw_read_vtk, tw_read_medit;

/* TetGen has two files. *first becomes the number of the first vertex, 0 or 1. */
tw_status tw_read_tetgen_nodes(tw_scan *scan, tw_builder *out, int64_t *first);
tw_status tw_read_tetgen_elements(tw_scan *scan, tw_builder *out, int64_t first);

/* Chooses the reader by the first bytes of the file, else by the suffix of its name. NULL if
 * neither tells; TetGen has no reader here. */
tw_mesh_reader *tw_choose_reader(const char *name, const char *bytes, size_t size);

/* Whether `name` ends in the suffix, in upper or lower case. */
bool tw_has_suffix(const char *name, const char *suffix);

/* TetGen's two files have the same name with different suffixes. */
enum { TW_MESH_PATH_SIZE = 4096 };
bool tw_is_tetgen(const char *path);
/* The name of `path` with another suffix; TW_INVALID_ARGUMENT if that is too long. (load_mesh.c) */
tw_status tw_tetgen_path(const char *path, const char *suffix, char out[TW_MESH_PATH_SIZE],
                         tw_error *error);

/* A file in memory. */
typedef struct tw_mesh_bytes {
    const char *name; /* for complaints */
    const char *bytes;
    size_t size;
} tw_mesh_bytes;

/* Reads a whole file of one format and checks that it has vertices and
 * cells. `mesh` is overwritten. */
tw_status tw_parse_mesh(tw_mesh_reader *reader, tw_mesh_bytes file, tw_mesh *mesh, tw_error *error);
/* The same for TetGen's two files. */
tw_status tw_parse_tetgen(tw_mesh_bytes nodes, tw_mesh_bytes elements, tw_mesh *mesh,
                          tw_error *error);

/* ---- writing ---- */

/* A writer appends the whole file to the text. Triangles are written where the format has them;
 * OBJ and PLY expect a mesh that is a surface. */
typedef void tw_mesh_writer(const tw_mesh *mesh, tw_text *out);

tw_mesh_writer tw_write_node, tw_write_ele, tw_write_gmsh, tw_write_vtk, tw_write_medit,
    tw_write_obj, tw_write_ply;

#endif
