#ifndef TW_MESH_LARGEST_PIECE_H
#define TW_MESH_LARGEST_PIECE_H

#include <twang/mesh.h>

/* Keeps the tetrahedra of the largest piece (connected by faces; of equal ones the first) and their vertices. */
tw_status tw_keep_largest_piece(tw_mesh *mesh, int64_t *dropped_pieces, int64_t *dropped_tetrahedra,
                                tw_error *error);

#endif
