/* Particles joined by linear springs in a uniform field: the coil, the rope, any mesh's edges.
 *     V(x) = sum_s k_s (|x_j - x_i| - L_s)^2 / 2 - sum_i m_i g . x_i
 * Pinned particles are no unknowns. Everything is threaded and bitwise the same for any number of threads: a block
 * of particles sums its own forces from its own list of springs. */
#ifndef PROBLEMS_SPRING_NETWORK_H
#define PROBLEMS_SPRING_NETWORK_H

#include <stdbool.h>

#include "problems/plain_problem.h"

typedef struct spring {
    int64_t from, to;   /* particles, in the user's numbering */
    double stiffness;   /* [N/m] */
    double rest_length; /* [m] */
} spring;

/* What a network is made of. Everything is copied. */
typedef struct network_input {
    int64_t particle_count;
    const double *positions; /* 3 per particle [m] */
    const double *masses;    /* 1 per particle [kg] */
    const bool *pinned;      /* 1 per particle */
    int64_t spring_count;
    const spring *springs;
    double field[3]; /* an acceleration [m/s^2] */
} network_input;

enum { NETWORK_BLOCK = 512 /* particles whose forces are summed together */ };

/* One end of a spring as its particle sees it. */
typedef struct spring_end {
    int32_t spring;
    int32_t other; /* particle at the other end, in the network's numbering */
} spring_end;

/* A spring as the force kernel reads it. */
typedef struct block_spring {
    int32_t from, to; /* the network's numbering */
    double stiffness, rest_length;
} block_spring;

typedef struct spring_network {
    int64_t particle_count, free_count, spring_count;
    int64_t *
        unknown_of; /* user's particle -> the network's: free ones first, in order, then the pinned */
    double *masses; /* 3 per free particle: the lumped mass of every unknown */
    double field[3];
    double *initial;       /* initial positions of the unknowns */
    block_spring *springs; /* in the user's order */
    double *tangents; /* 5 per spring: direction n, k_perpendicular, k_parallel - k_perpendicular */
    double *padded;   /* 4 per particle: positions of unknowns and pinned alike */
    int64_t *end_start;   /* free_count + 1 offsets into ends */
    spring_end *ends;     /* of free particles, ascending in `other` */
    int64_t *block_start; /* offsets into block_springs for every NETWORK_BLOCK free particles */
    /* Every spring that touches the block, once per block, ordered so that neighbours in the list touch different
     * particles: a sum does not wait for the one before it. */
    block_spring *block_springs;
} spring_network;

/* TW_INVALID_ARGUMENT for springs of length zero or particles that do not exist. */
tw_status spring_network_create(const network_input *input, spring_network **out);
/* Accepts NULL. */
void spring_network_free(spring_network *network);

/* The network as a problem of 3 * free_count unknowns; lives as long as the network. One thread at a time. */
problem spring_network_problem(spring_network *network);

/* Copies the unknowns beside the pinned particles, into network->padded. */
void spring_network_place(spring_network *network, const double *x);

/* The coil of docs/scenes.md. */
typedef struct coil_parameters {
    int64_t
        sections; /* cross-sections of 4 x 4 particles, of the 500 that make the whole coil (same pitch) */
    double stiffness; /* [N/m] */
    double mass;      /* per particle [kg] */
    double gravity;   /* downward acceleration [m/s^2] */
} coil_parameters;
coil_parameters coil_default(void); /* 500, 1e6, 1, 0.05 */
coil_parameters coil_hard(void);    /* mass 0.01, gravity 5: the same motion ten times faster */
tw_status coil_create(coil_parameters parameters, spring_network **out);

/* The rope of docs/scenes.md: ten links of 0.1 along +x from the pinned origin, masses 0.1, gravity 9.81. */
tw_status rope_create(double stiffness, spring_network **out);

#endif
