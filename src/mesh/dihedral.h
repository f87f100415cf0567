#ifndef TW_MESH_DIHEDRAL_H
#define TW_MESH_DIHEDRAL_H

#include "base/vector3.h"

/* Lowers *smallest and raises *largest to the six dihedral angles of a tetrahedron [radians]. */
void tw_dihedral_range(const vec3 p[4], double *smallest, double *largest);

#endif
