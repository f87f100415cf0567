/* Particles: where they are at t = 0, and which of them are unknowns. */
#ifndef TW_MODEL_PARTICLES_H
#define TW_MODEL_PARTICLES_H

#include <stdbool.h>
#include <stdint.h>

enum { TW_PARTICLE_BLOCK = 1024 /* particles or elements per block of a parallel loop */ };

typedef struct tw_particles {
    int64_t count, free_count;
    double *position, *velocity; /* at t = 0, three per particle */
    double *mass;
    bool *pinned;
    /* once the model is complete: */
    int32_t *
        unknown; /* index among the free ones; -1 if pinned. Its unknowns are 3 i, 3 i + 1, 3 i + 2 */
    int32_t *particle; /* the reverse: particle of each free index */
    const double
        *load; /* what a uniform acceleration acts on: mass, or the row sums of a consistent mass */
} tw_particles;

#endif
