/** @file motion.h
 *  Prescribed motion of particles. Like pinned particles (tw_model_pin) they are no
 *  unknowns, and they act on the others through the forces that join them. A later call for a
 *  particle replaces an earlier one. */
#ifndef TWANG_MOTION_H
#define TWANG_MOTION_H

#include <twang/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A motion. It must be as smooth as the order of the integrator requires. */
typedef struct tw_motion {
    void *context; /**< handed to the callbacks; may be NULL */
    /** Position, velocity and acceleration at time t of the particle that the model has at `start`.
     *  At t = 0 the position must be the one from which the particle is to start. May be called
     *  from several threads at once. */
    void (*at)(void *context, double t, const double start[3], double position[3],
               double velocity[3], double acceleration[3]);
    /** The same for `count` particles at once, three entries each, for motions that have much in
     *  common for all particles at one time. NULL: `at` is called for each of them. */
    void (*all_at)(void *context, double t, int64_t count, const double *start, double *position,
                   double *velocity, double *acceleration);
    void (*release)(void *context); /**< called once when the model is freed; NULL: nothing to do */
} tw_motion;

/** Moves the particles `first` to `last` in this way. The model takes the context over; on failure
 *  it stays with the caller. */
TW_API tw_status tw_model_prescribe(tw_model *model, int64_t first, int64_t last,
                                    const tw_motion *motion, tw_error *error);
/** x = start + velocity t. */
TW_API tw_status tw_model_prescribe_velocity(tw_model *model, int64_t first, int64_t last,
                                             const double velocity[3], tw_error *error);
/** x = start + amplitude (sin(2 pi frequency t + phase) - sin(phase)) [m, Hz, rad]. */
TW_API tw_status tw_model_prescribe_oscillation(tw_model *model, int64_t first, int64_t last,
                                                const double amplitude[3], double frequency,
                                                double phase, tw_error *error);
/** The particles turn about the axis through `point` at `rate` [rad/s]. The axis
 *  need not have length 1. */
TW_API tw_status tw_model_prescribe_rotation(tw_model *model, int64_t first, int64_t last,
                                             const double point[3], const double axis[3],
                                             double rate, tw_error *error);
/** The particles turn about the axis through `point` by the angle [rad] of the cubic spline through
 *  `count` >= 2 angles at ascending times [s]. At both ends it stands still, as
 *  tw_model_prescribe_keyframes does. Angles count from the one at t = 0, where
 *  the particles start. */
TW_API tw_status tw_model_prescribe_turning(tw_model *model, int64_t first, int64_t last,
                                            const double point[3], const double axis[3],
                                            int64_t count, const double *times,
                                            const double *angles, tw_error *error);
/** x = start + the cubic spline through `count` >= 2 displacements (three entries each [m]) at
 *  ascending times [s]. The spline is twice differentiable and at rest at both ends. Before and
 *  after, the particles stand still. Displacements count from the one at t = 0, where the particles
 *  start. */
TW_API tw_status tw_model_prescribe_keyframes(tw_model *model, int64_t first, int64_t last,
                                              int64_t count, const double *times,
                                              const double *displacements, tw_error *error);

#ifdef __cplusplus
}
#endif
#endif
