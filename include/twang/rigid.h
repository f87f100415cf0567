/** @file rigid.h
 *  A body whose global motion is that of a rigid body, and whose deformation is computed in its
 *  frame. docs/plasticity.md says how, and when this is right. */
#ifndef TWANG_RIGID_H
#define TWANG_RIGID_H

#include <twang/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Makes all free particles of the model one body whose global motion is that of a rigid body: mass,
 *  inertia, quaternion, by a symplectic scheme that keeps momentum and angular momentum. Its bounding
 *  box touches the planes of the model by the law of tw_model_add_contact; particles touch nothing.
 *  The unknowns of the problem are then the places of the particles in the frame of the body, and the
 *  rows of the simulation are in the world.
 *
 *  Making the simulation is TW_UNSUPPORTED with pinned particles, motions, obstacles other than
 *  planes, consistent mass, a fluid, and forces from outside other than gravity. */
TW_API tw_status tw_model_set_rigid_motion(tw_model *model, tw_error *error);

#ifdef __cplusplus
}
#endif
#endif
