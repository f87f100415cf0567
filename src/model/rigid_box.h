/* The bounding box of a body against walls and ground: its eight corners are pushed away from planes
 * by the law of contact (contact/contact_law.h). A restitution below 1 weakens the push on corners that
 * leave, and friction is an impulse after each substep. */
#ifndef TW_MODEL_RIGID_BOX_H
#define TW_MODEL_RIGID_BOX_H

#include <stdbool.h>
#include <stdint.h>

#include "contact/contact_law.h"
#include "model/rigid_body.h"

/* The half space behind a plane is forbidden. */
typedef struct tw_rigid_plane {
    double point[3];
    double normal[3]; /* of length 1, outward */
} tw_rigid_plane;

/* What contact did since the start. The loss by restitution is that of the motion of the box as it is;
 * `kept` of tw_rigid_forces times the way of the faces comes on top. */
typedef struct tw_rigid_account {
    double impulse[3];    /* on all planes together [N s] */
    double contact_loss;  /* [J] */
    double friction_loss; /* [J] */
} tw_rigid_account;
enum { TW_RIGID_ACCOUNT_SIZE = 5 };

typedef struct tw_rigid_box {
    tw_rigid_body body;
    double face[3][2]; /* lower and upper bound along the axes of the body's frame [m] */
    double rate[3][2]; /* how fast the faces move there [m/s] */
    double gravity[3]; /* [m/s^2] */
    int plane_count;
    tw_rigid_plane *planes; /* not owned */
    double *pressed;        /* scratch: eight per plane. Not owned */
    double *share;          /* of the law at each corner, eight per plane. Not owned */
    tw_contact_law law;     /* stiffness 0: no contact */
    double restitution;
    double friction;
} tw_rigid_box;

/* The forces on a box. */
typedef struct tw_rigid_forces {
    double contact[3];  /* of all planes, in the world's axes [N] */
    double face[3][2];  /* the part along each axis of the frame, on the face where it acts [N] */
    double kept[3][2];  /* by how much the push on each face is weakened by restitution [N] */
    double energy;      /* of contact and weight [J] */
    double penetration; /* of the deepest corner; 0: none [m] */
    int64_t touching;   /* number of corners in contact */
} tw_rigid_forces;
void tw_rigid_box_push(const tw_rigid_box *box, const tw_rigid_state *state, tw_rigid_forces *out);

/* Decides which corners leave the planes: with a restitution e they get the share e^2 of the law until
 * the next call, so that an impact ends with e times its speed, and the forces stay smooth within
 * a step. */
void tw_rigid_box_decide(const tw_rigid_box *box, const tw_rigid_state *state);

/* How many substeps resolve a step of h. */
int tw_rigid_box_substeps(const tw_rigid_box *box, double h, const tw_rigid_state *state);

/* Moves the body by h in equal substeps, and adds what contact did. */
void tw_rigid_box_advance(const tw_rigid_box *box, double h, int substeps, tw_rigid_state *state,
                          tw_rigid_account *account);

#endif
