/* Bodies: what the elements of all forces join. */
#ifndef TW_MODEL_JOINED_BODIES_H
#define TW_MODEL_JOINED_BODIES_H

#include <stdbool.h>

#include "model/force.h"

/* Particles that say how their body moves: the pinned ones, or all where there are none; sorted by body, and cut into
 * chunks inside each body: the blocks of parallel sums. */
typedef struct tw_bodies {
    int64_t count;
    int32_t *body;     /* of each particle */
    int32_t *particle; /* those of the sums, body after body, ascending inside each */
    int64_t *start;    /* count + 1 offsets into particle */
    bool *held;        /* the body has a pinned particle */
    int64_t held_count;
    int64_t chunk_count;
    int64_t *chunk_begin; /* chunk_count + 1 offsets into particle */
    int64_t *first_chunk; /* of each body: count + 1 */
} tw_bodies;

tw_status tw_bodies_find(const tw_particles *particles, int force_count, const tw_force *forces,
                         tw_bodies *bodies);
void tw_bodies_free(tw_bodies *bodies);

#endif
