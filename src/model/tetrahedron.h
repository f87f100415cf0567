/* The geometry of tetrahedra with four or ten nodes. */
#ifndef TW_MODEL_TETRAHEDRON_H
#define TW_MODEL_TETRAHEDRON_H

#include <stdbool.h>
#include <stdint.h>

enum { TW_TETRAHEDRON_MAX_NODES = 10, TW_TETRAHEDRON_MAX_POINTS = 4 };

/* With the barycentric coordinates L_c, grad N_a = sum_c (dN_a / dL_c) grad L_c. At an integration
 * point a ten-node element therefore deforms like a four-node element with the corners y_c = sum_a
 * (dN_a / dL_c) x_a. Forces and tangents of those corners are spread to the nodes by the same
 * weights. Four-node elements have one point, and y_c = x_c. */
typedef struct tw_shape_term {
    int node;
    double weight; /* dN_node / dL_corner */
} tw_shape_term;

typedef struct tw_shape {
    int nodes;
    int points; /* of integration */
    int terms;  /* nodes that take part in a corner y_c */
    tw_shape_term corner[TW_TETRAHEDRON_MAX_POINTS][4][4];
    double lumped[TW_TETRAHEDRON_MAX_NODES]; /* share of the mass of each node */
} tw_shape;

/* For 4 or 10 nodes, else NULL. */
const tw_shape *tw_shape_of(int nodes);

/* The two corners whose edge the node 4..9 halves. */
extern const int tw_tetrahedron_edges[6][2];

/* Finds grad L_c, c = 1..3, of the tetrahedron with these corners; grad L_0 is minus their sum.
 * Returns its volume > 0, or 0 if the volume vanishes within rounding. */
double tw_tetrahedron_gradients(const double *const corner[4], double gradient[3][3]);

#endif
