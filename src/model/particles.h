/* Particles: where they are at t = 0, and which of them are unknowns. */
#ifndef TW_MODEL_PARTICLES_H
#define TW_MODEL_PARTICLES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { TW_PARTICLE_BLOCK = 256 /* particles or elements per block of a parallel loop */ };

typedef struct tw_particles {
    int64_t count;
    int64_t free_count; /* of those not pinned */
    double *position;   /* at t = 0, three entries per particle */
    double *velocity;   /* likewise */
    double *mass;
    bool *pinned; /* held in place or moved */

    /* The rest is set by tw_model_complete. */
    int32_t *unknown; /* index i among the free particles; -1 if pinned. Unknowns 3 i ... 3 i + 2 */
    int32_t *particle;           /* the reverse: the particle of each free index */
    const unsigned char *active; /* of each free particle: what is computed is wanted; NULL: all */
    const double *load; /* mass on which gravity acts: mass, or the row sums of a consistent mass */
} tw_particles;

/* Whether what is computed for the free particle i is wanted. */
static inline bool tw_particles_want(const tw_particles *particles, int64_t i)
{
    return !particles->active || particles->active[i];
}

/* Finds the next run of free particles that are wanted, from *begin on and before `end`. *begin becomes
 * its first one. Returns where it ends; *begin = `end` if there is none. */
static inline int64_t tw_particles_run(const tw_particles *particles, int64_t *begin, int64_t end)
{
    const unsigned char *active = particles->active;
    if (!active || *begin >= end) return end;
    const unsigned char *first = memchr(active + *begin, 1, (size_t)(end - *begin));
    if (!first) {
        *begin = end;
        return end;
    }
    *begin = first - active;
    const unsigned char *last = memchr(first, 0, (size_t)(end - *begin));
    return last ? last - active : end;
}

/* Whether one of the particles begin ... end - 1, free or not, is wanted. */
static inline bool tw_particles_want_some(const tw_particles *particles, int64_t begin, int64_t end)
{
    if (!particles->active) return true;

    /* Free indices ascend with the particles. */
    while (begin < end && particles->unknown[begin] < 0) begin++;
    while (begin < end && particles->unknown[end - 1] < 0) end--;
    if (begin == end) return false;
    int64_t first = particles->unknown[begin];
    int64_t last = particles->unknown[end - 1];
    tw_particles_run(particles, &first, last + 1);
    return first <= last;
}

#endif
