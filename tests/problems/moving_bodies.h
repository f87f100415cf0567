/* Small bodies on which unresolved modes, moved supports and rotation show, built through the public model: a rope
 * shaken at its root, a hair moved at its root, a free box that spins or tumbles, a pendulum. */
#ifndef PROBLEMS_MOVING_BODIES_H
#define PROBLEMS_MOVING_BODIES_H

#include <twang/model.h>

/* How a root moves: 3 cm along x and along y, at 2 Hz. */
typedef enum shake {
    SHAKE_JERK,   /* A sin(w t): starts with a jump of the velocity */
    SHAKE_SMOOTH, /* A (1 - cos(w t)): starts at rest */
    SHAKE_NONE    /* pinned */
} shake;

/* Displacement of the root at time t, along x and along y alike [m]. */
double shake_displacement(shake kind, double t);

enum {
    SHAKEN_LINKS = 10,
    HAIR_SEGMENTS = 8,
    BOX_PARTICLES = 12,
    BOX_SPRINGS = 66 /* at most: every pair of particles */
};

/* Ten links of 0.1 m along +x from the shaken root, masses 0.1 kg, gravity 9.81. */
tw_status shaken_rope_create(double stiffness, shake kind, tw_simulation **out, tw_error *error);

enum { CLOTH_SIDE = 5 };

/* A cloth of 5 x 5 particles of 10 g at distances of 0.1 m, nearly flat, in gravity. Its first edge is shaken. Springs
 * of 1,000 N/m along the edges and 300 N/m along the diagonals, Rayleigh damping alpha and beta. */
tw_status shaken_cloth_create(shake kind, double alpha, double beta, tw_simulation **out,
                              tw_error *error);

/* A human hair of 0.3 m along +x in gravity: cuboid segments with a spine. The root section is moved smoothly. */
tw_status hair_create(tw_simulation **out, tw_error *error);
/* The middle of every section but the root, three entries each, from the state of the simulation. */
void hair_centres(const double *u, double centres[3 * HAIR_SEGMENTS]);
/* The length of the line through the root and these centres at time t [m]. */
double hair_length(double t, const double centres[3 * HAIR_SEGMENTS]);

/* Two unit cubes side by side, particles of 1 kg, springs of 1e6 N/m between all particles nearer than 1.75 m. It turns
 * freely about its middle with the angular velocity `spin` [rad/s]. */
tw_status box_create(const double spin[3], tw_simulation **out, tw_error *error);
/* Angular momentum about the origin and kinetic energy of a state. */
void box_momentum(const double *u, double momentum[3], double *kinetic);
/* The largest |l / L - 1| of a spring. */
double box_strain(const double *u);

/* A mass of 1 kg on a spring of 1 m, released at 60 degrees from the vertical. */
tw_status pendulum_create(double stiffness, tw_simulation **out, tw_error *error);
/* Its angle from the vertical [degrees]. */
double pendulum_angle(const double *u);

#endif
