/* Generalised winding numbers (Jacobson, Kavan, Sorkine-Hornung 2013): how often a surface goes around a point. 1
 * inside and 0 outside of a closed surface, something between for an open one. Evaluated by a tree whose far nodes act
 * by their first two moments (Barill, Dickson, Schmidt, Levin, Jacobson 2018), in time O(log n) per point. */
#ifndef TW_MESH_WINDING_H
#define TW_MESH_WINDING_H

#include <stdbool.h>
#include <twang/mesh.h>

#include "mesh/box_tree.h"

/* A group of triangles seen from far away. */
typedef struct tw_winding_node {
    vec3 centre;      /* mean by area */
    double radius;    /* no triangle of the group is farther from the centre */
    vec3 normal;      /* sum of a n: area times unit normal */
    double moment[9]; /* sum of a (c - centre) n^T, by rows; c is the centroid of a triangle */
} tw_winding_node;

typedef struct tw_winding {
    const tw_mesh *surface;
    tw_box_tree tree;
    tw_winding_node *nodes; /* beside those of the tree */
} tw_winding;

/* The surface must outlive it. */
tw_status tw_winding_create(const tw_mesh *surface, tw_winding *out, tw_error *error);
void tw_winding_free(tw_winding *winding);

double tw_winding_number(const tw_winding *winding, vec3 q);

/* How often the segment from a to b crosses the surface (1, or 2 for any more), and where the last one found does, as a
 * share of the way. */
int tw_winding_crossings(const tw_winding *winding, vec3 a, vec3 b, double *share);

/* Whether the surface is within this distance of q. */
bool tw_winding_is_near(const tw_winding *winding, vec3 q, double distance);

/* Distance from q to the surface. */
double tw_winding_distance(const tw_winding *winding, vec3 q);

#endif
