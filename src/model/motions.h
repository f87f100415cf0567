/* Particles that go where they are told (twang/motion.h). */
#ifndef TW_MODEL_MOTIONS_H
#define TW_MODEL_MOTIONS_H

#include <twang/motion.h>

#include "model/particles.h"

/* Some particles and their motion. */
typedef struct tw_prescribed {
    int64_t first, last;
    tw_motion motion;
} tw_prescribed;

typedef struct tw_motions {
    tw_prescribed *list;
    int count, capacity;
} tw_motions;

void tw_motions_free(tw_motions *motions);
/* Positions, velocities and, unless NULL, accelerations of the particles that move, into arrays of all particles. */
void tw_motions_evaluate(const tw_motions *motions, const tw_particles *particles, double t,
                         double *x, double *v, double *a);

#endif
