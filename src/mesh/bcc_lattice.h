/* The body-centred cubic lattice over a surface: which nodes are inside, where its edges are cut, and which nodes are
 * moved onto the surface (Labelle and Shewchuk 2007, isosurface stuffing).
 *
 * Nodes are the corners of cubes and their centres. A node has six long edges, to its neighbours of the same kind, and
 * eight short ones, to those of the other. A node owns its long edges along +x, +y, +z (numbers 0, 1, 2); a centre owns
 * its short edges besides (3 + octant). */
#ifndef TW_MESH_BCC_LATTICE_H
#define TW_MESH_BCC_LATTICE_H

#include <stdbool.h>

#include "mesh/winding.h"

enum { TW_BCC_SHORT = 3, TW_BCC_OWNED = 11 };

/* What is to be filled: the inside of a surface, and all within `reach` of its parts that are too thin for the lattice.
 */
typedef struct tw_body_shape {
    const tw_winding *surface;
    const tw_winding *thin; /* NULL: no such parts */
    double reach;
} tw_body_shape;

typedef struct tw_bcc {
    double cell;      /* edge of a cube */
    vec3 origin;      /* of the first corner */
    int64_t cubes[3]; /* along each axis; the outermost are outside of the surface */
    int64_t corner_count, node_count;
    signed char *signs;  /* of each node: 1 inside, -1 outside, 0 moved onto the surface */
    uint16_t *cut_masks; /* of each node: which of its own edges are cut */
    int64_t *cut_starts; /* of each node: the number of its first cut */
    int64_t cut_count;
    vec3 *cuts;     /* where the surface cuts */
    int64_t *moved; /* of each node: the cut it was moved to, or -1 */
} tw_bcc;

/* A lattice of this cell over the surface. TW_BAD_INPUT if it would have more than `most` nodes. */
tw_status tw_bcc_create(const tw_body_shape *shape, double cell, double most, tw_bcc *out,
                        tw_error *error);
/* Moves nodes onto cuts that are too near to them; done by tw_bcc_create. */
void tw_bcc_move_nodes(tw_bcc *lattice);
void tw_bcc_free(tw_bcc *lattice);

/* Share of the lattice's nodes that are inside, times its volume: an estimate of the volume enclosed. Creates nothing
 * but the signs. */
tw_status tw_bcc_estimate_volume(const tw_body_shape *shape, double cell, double *volume,
                                 tw_error *error);

int64_t tw_bcc_corner(const tw_bcc *lattice, int64_t i, int64_t j, int64_t k);
int64_t tw_bcc_centre(const tw_bcc *lattice, int64_t i, int64_t j, int64_t k);
/* Where a node is now. */
vec3 tw_bcc_position(const tw_bcc *lattice, int64_t node);
/* The cut of the edge number `edge` that the node owns, -1 if there is none. */
int64_t tw_bcc_cut(const tw_bcc *lattice, int64_t owner, int edge);

#endif
