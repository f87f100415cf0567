/* The velocities of a body that moves as a rigid one. */
#ifndef TW_MODEL_RIGID_VELOCITY_H
#define TW_MODEL_RIGID_VELOCITY_H

#include <stdint.h>

/* v = velocity + spin x (x - centre of mass), for `count` particles with three entries each. */
void tw_rigid_velocities(int64_t count, const double *x, const double *masses,
                         const double velocity[3], const double spin[3], double *v);

#endif
