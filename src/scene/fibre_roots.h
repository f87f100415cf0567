/* Where the fibres of a body begin. */
#ifndef TW_SCENE_FIBRE_ROOTS_H
#define TW_SCENE_FIBRE_ROOTS_H

#include "base/vector3.h"
#include "scene/scene_internal.h"

typedef struct tw_fibre_roots {
    int64_t count;
    double *points;     /* x, y, z each */
    double *directions; /* in which each fibre begins, of any length but zero: x, y, z */
    double *sides;      /* to which each curls: x, y, z; NULL: any */
} tw_fibre_roots;

/* The roots that the keys of the body describe: from a file, on a grid, on an
 * obstacle, or one. */
tw_status tw_fibre_roots_find(const tw_body *body, tw_fibre_roots *out, tw_error *error);
/* Accepts what tw_fibre_roots_find left after a failure. */
void tw_fibre_roots_free(tw_fibre_roots *roots);

/* Room for `count` roots; adding one. The sides are left to the caller. */
tw_status tw_fibre_roots_allocate(tw_fibre_roots *roots, int64_t count, tw_error *error);
void tw_fibre_roots_append(tw_fibre_roots *roots, vec3 point, vec3 direction);

/* Uniform in [0, 1), by seed and index alone. */
double tw_random_unit(uint64_t seed, uint64_t index);

#endif
