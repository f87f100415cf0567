/* Surfaces to fill. */
#ifndef TESTS_SURFACES_H
#define TESTS_SURFACES_H

#include <twang/mesh.h>

/* The box from (0, 0, 0) to (x, y, z), twelve triangles. */
void surface_box(double x, double y, double z, tw_mesh *out);
/* A torus around the z axis, `around` times `across` quadrilaterals of two triangles each. */
void surface_torus(double major, double minor, int around, int across, tw_mesh *out);
/* A sphere of radius 1, 2 `rings` meridians. */
void surface_sphere(int rings, tw_mesh *out);
/* The regular solid with 4, 6, 8, 12 or 20 faces around the origin. Edges of the first three are exactly equal. Returns
 * its volume. */
double surface_regular(int faces, tw_mesh *out);
/* Both in one mesh, the second moved; `a` and `b` are freed. */
void surface_join(tw_mesh *a, tw_mesh *b, const double move[3], tw_mesh *out);
/* Removes triangles whose centroid is within `radius` of the centroid of triangle `index`. */
void surface_punch(tw_mesh *mesh, int64_t index, double radius);
/* x becomes A x. */
void surface_transform(tw_mesh *mesh, const double A[9]);

#endif
