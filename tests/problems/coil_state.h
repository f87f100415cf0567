/* States of the coil some time after its release, computed once and kept in a file. */
#ifndef PROBLEMS_COIL_STATE_H
#define PROBLEMS_COIL_STATE_H

#include "problems/spring_network.h"

/* Positions x and velocities v (3 per free particle) `seconds` after the coil was released at rest, by Verlet at 95 %
 * of its stability limit: 1,753 steps per second for the coil of the scene, ten times more for 100 times its
 * stiffness. Read from the build's cache if it is there (then *cached is set; cached may be NULL); a cache that
 * cannot be read or written only costs time. */
tw_status coil_state(coil_parameters parameters, double seconds, double *x, double *v,
                     bool *cached);

#endif
