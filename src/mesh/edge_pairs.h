/* Which triangles meet at an edge. Half-edge h = 3 i + e runs from corner e to corner e + 1 of triangle i. */
#ifndef TW_MESH_EDGE_PAIRS_H
#define TW_MESH_EDGE_PAIRS_H

#include <stdint.h>
#include <twang/status.h>

typedef struct tw_edge_pairs {
    int64_t *
        partner; /* of each half-edge: the other one of an edge with exactly two, else -1; freed by tw_release */
    int64_t open;    /* edges with one half-edge */
    int64_t crowded; /* edges with more than two */
} tw_edge_pairs;

tw_status tw_edge_pairs_find(int64_t triangle_count, const int64_t *triangles, int64_t vertex_count,
                             tw_edge_pairs *out, tw_error *error);

#endif
