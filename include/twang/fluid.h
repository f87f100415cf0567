/** @file fluid.h
 *  A viscous fluid around a model, and motors that turn one part of a model against another:
 *  what a bacterium needs to swim. docs/fluid.md has the equations.
 *
 *      tw_fluid water = tw_fluid_default();
 *      tw_model_set_fluid(model, &water, &error);
 *      tw_simulation_of_model(model, &simulation, &error);    // now of first order: x' = M(x) f(t, x)
 */
#ifndef TWANG_FLUID_H
#define TWANG_FLUID_H

#include <twang/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A fluid without inertia (Stokes flow) that fills all space and is at rest far away. Start from
 *  tw_fluid_default(), which is water. */
typedef struct tw_fluid {
    double viscosity; /**< mu > 0 [Pa s]. Default 1e-3 */
    /** Radius of the blob through which every particle pushes the fluid, > 0 [m]. 0 (default): chosen
     *  for each particle. Fibres then have the drag of round rods of their thickness, other
     *  particles that of a closed surface. */
    double radius;
    /** true: particles keep their masses, and the fluid brakes them, M x'' = f - mobility^-1 x'. The
     *  problem stays of second order; up to 400 particles. Default false: nothing has inertia. */
    bool inertia;
} tw_fluid;
TW_API tw_fluid tw_fluid_default(void);

/** Puts the model into a fluid, in place of an earlier one. Unless it keeps the particles' inertia, a
 *  simulation of the model is then a problem of first order: every particle moves with the fluid, whose velocity is made by the forces
 *  on all particles. Masses count for gravity only. tw_simulation_of_model returns TW_UNSUPPORTED
 *  if particles are pinned or moved, or if a force depends on velocities. */
TW_API tw_status tw_model_set_fluid(tw_model *model, const tw_fluid *fluid, tw_error *error);

/** A motor that turns the rotor against the stator about an axis: a couple of torque
 *  T(t) = torque cos(2 pi frequency t + phase) on the particles of the rotor, and the opposite couple
 *  on those of the stator. Neither pushes: total force and total torque are zero. Start from
 *  tw_motor_default(). */
typedef struct tw_motor {
    int64_t rotor_first, rotor_last; /**< particles of the rotor, three or more, not on a line */
    int64_t stator_first,
        stator_last;  /**< particles of the stator, likewise, none of the rotor's */
    int64_t axis[2];  /**< two particles: the axis goes from one to the other */
    double torque;    /**< about the axis, positive: counter-clockwise [N m] */
    double frequency; /**< >= 0 [Hz]; 0 (default): the torque is constant */
    double phase;     /**< [rad]. Default 0 */
    /** Stiffness >= 0 [N/m] of springs from each particle of the rotor to the two of the axis, at rest
     *  now: they let it turn about the axis and hold it otherwise. Default 0: none. */
    double bearing;
} tw_motor;
TW_API tw_motor tw_motor_default(void);
TW_API tw_status tw_model_add_motor(tw_model *model, const tw_motor *motor, tw_error *error);

#ifdef __cplusplus
}
#endif
#endif
