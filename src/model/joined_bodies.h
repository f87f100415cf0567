/* Bodies: a body is a set of particles that elements of forces join, directly or through others. */
#ifndef TW_MODEL_JOINED_BODIES_H
#define TW_MODEL_JOINED_BODIES_H

#include <stdbool.h>

#include "model/force.h"

/* The rigid motion of a held body follows from its pinned particles, that of a free body from all
 * its particles. These particles are listed body after body, and cut into chunks inside each body:
 * the blocks of parallel sums. */
typedef struct tw_bodies {
    int64_t count;
    int32_t *body;     /* of each particle */
    int32_t *particle; /* those of the sums, ascending inside each body */
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
