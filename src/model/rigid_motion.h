/* A body whose global motion is that of a rigid body, and whose deformation is a system of coupled
 * oscillators in its frame (docs/plasticity.md).
 *
 * The unknowns of the integrator are places y and velocities y' in the frame: the world has x = X +
 * R y. In the frame
 *     m y'' = f(y, y') + g - m (a + w' x y + w x (w x y) + 2 w x y'),
 * where f are the forces inside the body, g is the push of walls on the particles at the faces of the
 * bounding box, a = F/M the acceleration of the frame without weight, and w its spin. F acts at the
 * corners of the box. Its part along each axis of the frame is shared by the particles that lay next to
 * that face at the start, and the face follows their mean: what the walls do on the particles is the
 * change of the energy of the box.
 *
 * X, R, momentum and angular momentum are internal variables. A step moves them first, with the box
 * where its faces will be in the middle of the step, and then the particles in the frame that moves so.
 * After the step the frame is that in which the particles have no momentum and no angular momentum. */
#ifndef TW_MODEL_RIGID_MOTION_H
#define TW_MODEL_RIGID_MOTION_H

#include <twang/contact.h>

#include "model/contact_force.h"
#include "model/force.h"
#include "model/rigid_box.h"

typedef struct tw_rigid_motion tw_rigid_motion;

/* What the frame takes from its model. */
typedef struct tw_rigid_source {
    const tw_obstacle_list *obstacles;
    const tw_contact_options *contact; /* NULL: there is no contact */
    double gravity[3];
} tw_rigid_source;

/* The forces of the frame; the particles are numbered. (rigid_motion.c) */
tw_status tw_rigid_motion_create(const tw_particles *particles, const tw_rigid_source *source,
                                 tw_force *out);

/* The start in the frame: positions and then velocities of the unknowns. (rigid_motion.c) */
void tw_rigid_motion_start(const tw_rigid_motion *motion, double *u);

/* From the frame to the world: positions and velocities of all free particles at time t.
 * (rigid_motion.c) */
void tw_rigid_motion_place(tw_rigid_motion *motion, double t, double *x, double *v);

/* Contacts of the box at time t, and what they did since the last call. (rigid_motion.c) */
void tw_rigid_motion_measure(tw_rigid_motion *motion, double t, tw_measurement *out);

/* What was told by the last measurement, for a checkpoint. (rigid_motion.c) */
double *tw_rigid_motion_told(tw_rigid_motion *motion);

#endif
