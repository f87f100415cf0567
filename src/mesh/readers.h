/* One function per format: from a file in memory to a mesh under construction. They return TW_OK, TW_BAD_INPUT with the
 * place and the reason in the scan's error, or TW_OUT_OF_MEMORY. What they built so far is the caller's to free. */
#ifndef TW_MESH_READERS_H
#define TW_MESH_READERS_H

#include "mesh/builder.h"
#include "mesh/scan.h"

typedef tw_status tw_mesh_reader(tw_scan *scan, tw_builder *out);

tw_mesh_reader tw_read_obj, tw_read_ply, tw_read_stl, tw_read_gmsh, tw_read_vtk, tw_read_medit;

/* TetGen's two files. *first is the number of the first vertex, 0 or 1. */
tw_status tw_read_tetgen_nodes(tw_scan *scan, tw_builder *out, int64_t *first);
tw_status tw_read_tetgen_elements(tw_scan *scan, tw_builder *out, int64_t first);

/* The reader for a file by what is in it, else by its suffix; NULL if neither says (TetGen has none here). */
tw_mesh_reader *tw_choose_reader(const char *name, const char *bytes, size_t size);

/* Whether `name` ends in the suffix, upper or lower case. */
bool tw_has_suffix(const char *name, const char *suffix);

/* A whole file of one format, checked: it has vertices and cells. `mesh` is overwritten. */
tw_status tw_parse_mesh(tw_mesh_reader *reader, const char *name, const char *bytes, size_t size,
                        tw_mesh *mesh, tw_error *error);
tw_status tw_parse_tetgen(const char *node_name, const char *nodes, size_t node_size,
                          const char *element_name, const char *elements, size_t element_size,
                          tw_mesh *mesh, tw_error *error);

#endif
