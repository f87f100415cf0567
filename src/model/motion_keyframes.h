/* A cubic spline through keyframes of three components each. */
#ifndef TW_MODEL_MOTION_KEYFRAMES_H
#define TW_MODEL_MOTION_KEYFRAMES_H

#include <twang/motion.h>

typedef struct tw_keyframes tw_keyframes;

/* Checks and copies `count` >= 2 ascending times and as many values of three entries each. Values
 * count from the one at t = 0, so that a particle starts where it is. */
tw_status tw_keyframes_create(int64_t count, const double *times, const double *values,
                              tw_keyframes **out, tw_error *error);
/* Accepts NULL. */
void tw_keyframes_release(void *context);
/* A tw_motion.at: start + value at time t, and its derivatives. */
void tw_keyframes_at(void *context, double t, const double start[3], double position[3],
                     double velocity[3], double acceleration[3]);

#endif
