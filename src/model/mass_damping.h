/* The mass-proportional part of Rayleigh damping: a force over all bodies, made when the others are there. */
#ifndef TW_MODEL_MASS_DAMPING_H
#define TW_MODEL_MASS_DAMPING_H

#include <stdbool.h>

#include "model/force.h"

/* `forces` join particles to bodies. *some_free: a body has no pinned particle. */
tw_status tw_force_mass_damping_create(double alpha, const tw_particles *particles, int force_count,
                                       const tw_force *forces, bool *some_free, tw_force *out);

#endif
