/* The motion of a rigid body: position, orientation, momentum, angular momentum.
 *
 * A step splits the Hamiltonian H = p^2/2M + sum_k m_k^2/2I_k + V into parts that are solved exactly:
 * the kick by V changes the momenta alone, and each of the three turns is one about a principal axis
 * with m_k = a_k . R^T L constant (Dullweber, Leimkuhler, McLachlan, J. Chem. Phys. 107, 1997). The
 * symmetric product of these flows is of second order, and Suzuki's product of five of them of
 * fourth. Both are symplectic. Turns do not touch L, so that a free body keeps momentum and
 * angular momentum to the last bit. */
#ifndef TW_MODEL_RIGID_BODY_H
#define TW_MODEL_RIGID_BODY_H

typedef struct tw_rigid_state {
    double centre[3];           /* X [m] */
    double momentum[3];         /* p [kg m/s] */
    double orientation[4];      /* unit quaternion (w, x, y, z) of R: world = X + R body */
    double angular_momentum[3]; /* L about the centre, in the world's axes [kg m^2/s] */
} tw_rigid_state;
enum { TW_RIGID_STATE_SIZE = 13 };

typedef struct tw_rigid_body {
    double mass;       /* M [kg] */
    double moment[3];  /* I_k [kg m^2]; 0: the body has no extent across this axis */
    double axis[3][3]; /* a_k: principal axes in the body's frame */
} tw_rigid_body;

/* Finds the principal axes of the inertia tensor (full storage). */
void tw_rigid_body_set(tw_rigid_body *body, double mass, const double inertia[9]);

/* world = R body, and body = R^T world. */
void tw_rigid_to_world(const tw_rigid_state *state, const double body[3], double world[3]);
void tw_rigid_to_body(const tw_rigid_state *state, const double world[3], double body[3]);

/* out = I^-1 in, in the body's frame. */
void tw_rigid_divide(const tw_rigid_body *body, const double in[3], double out[3]);

/* The angular velocity in the body's frame, I^-1 R^T L. */
void tw_rigid_spin(const tw_rigid_body *body, const tw_rigid_state *state, double spin[3]);

double tw_rigid_kinetic(const tw_rigid_body *body, const tw_rigid_state *state);

/* Changes the momenta by what forces do within h at a fixed place. h may be negative. */
typedef void tw_rigid_kick(void *context, double h, tw_rigid_state *state);

/* A step of fourth order. `kick` may be NULL: the body is free. */
void tw_rigid_step(const tw_rigid_body *body, double h, tw_rigid_kick *kick, void *context,
                   tw_rigid_state *state);

#endif
