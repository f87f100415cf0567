/* Distances from a point to triangles and tetrahedra. */
#ifndef TW_MESH_CLOSEST_H
#define TW_MESH_CLOSEST_H

#include "base/vector3.h"

/* The point of the triangle nearest to q. Degenerate triangles are allowed. */
vec3 tw_closest_on_triangle(vec3 q, vec3 a, vec3 b, vec3 c);

/* Barycentric coordinates of q in the tetrahedron; false if that is flat. */
int tw_barycentric(vec3 q, const vec3 corners[4], double weights[4]);

/* Square of the distance to a tetrahedron; 0 inside. */
double tw_tetrahedron_distance(vec3 q, const vec3 corners[4]);

#endif
