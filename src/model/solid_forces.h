/* The forces of elastic solids. Each create function copies what it is given, which has been checked. */
#ifndef TW_MODEL_SOLID_FORCES_H
#define TW_MODEL_SOLID_FORCES_H

#include <twang/solid.h>

#include "model/force.h"

/* TW_INVALID_ARGUMENT if an element has no volume at rest. */
tw_status tw_force_tetrahedra_create(int nodes, int64_t count, const int64_t *elements,
                                     const double *rest, const tw_solid_material *material,
                                     tw_force *out);

/* `transverse` may be NULL. */
tw_status tw_force_warping_create(int64_t count, const int64_t *ends, const double *axial,
                                  const double *transverse, const double *rest, tw_force *out);

#endif
