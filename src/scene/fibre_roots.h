/* Where the fibres of a body begin. */
#ifndef TW_SCENE_FIBRE_ROOTS_H
#define TW_SCENE_FIBRE_ROOTS_H

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

#endif
