/* The faces of a bounding box that follows a body, and the rigid part of the motion of particles. */
#ifndef TW_MODEL_RIGID_FACES_H
#define TW_MODEL_RIGID_FACES_H

#include <twang/status.h>

#include "model/particles.h"

/* A face of the box: the particles that lay next to it at the start. */
typedef struct tw_rigid_face {
    int64_t count;
    int32_t *particle;
    double *weight;   /* share of each in the mass of all */
    double offset;    /* from their mean to the face, along its axis [m] */
    double centre[3]; /* their mean at the last call of tw_rigid_faces_centre [m] */
} tw_rigid_face;

/* Lower and upper faces of the three axes. */
typedef struct tw_rigid_faces {
    tw_rigid_face list[3][2];
} tw_rigid_faces;

tw_status tw_rigid_faces_create(const tw_particles *particles, const double *x,
                                tw_rigid_faces *faces);
void tw_rigid_faces_free(tw_rigid_faces *faces);

/* Where the faces are along their axes, for positions of all particles, and how fast they move. */
void tw_rigid_faces_find(const tw_rigid_faces *faces, const double *x, double face[3][2]);
void tw_rigid_faces_rates(const tw_rigid_faces *faces, const double *v, double rate[3][2]);
void tw_rigid_faces_centre(tw_rigid_faces *faces, const double *x);

/* The moment of pushes on the faces about the origin. */
void tw_rigid_faces_moment(const tw_rigid_faces *faces, const double push[3][2], double moment[3]);
/* force += factor times the shares of the particles in the pushes on the faces. */
void tw_rigid_faces_add(const tw_rigid_faces *faces, double factor, const double push[3][2],
                        double *force);

/* The inertia of the free particles about the origin, in full storage. */
void tw_rigid_inertia(const tw_particles *particles, const double *x, double inertia[9]);

/* Moves the centre of mass of the free particles to the origin, and takes momentum and angular
 * momentum from them. */
void tw_rigid_take_motion(const tw_particles *particles, double *x, double *v);

#endif
