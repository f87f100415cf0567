/* The shape of an obstacle: its particles, and the triangles between them. */
#ifndef TW_MODEL_OBSTACLE_SHAPE_H
#define TW_MODEL_OBSTACLE_SHAPE_H

#include <stdbool.h>
#include <twang/contact.h>

typedef struct tw_obstacle_shape {
    int64_t count;
    double *x; /* three each */
    int64_t triangle_count;
    int64_t *triangles; /* three each, from 0 */
} tw_obstacle_shape;

tw_status tw_obstacle_check(const tw_obstacle *obstacle, tw_error *error);

/* Makes the shape of an obstacle that was checked. Freed by tw_obstacle_shape_free also after a
 * failure. */
tw_status tw_obstacle_shape_make(const tw_obstacle *obstacle, tw_obstacle_shape *out,
                                 tw_error *error);
void tw_obstacle_shape_free(tw_obstacle_shape *shape);

/* Whether each edge has one triangle on either side. */
tw_status tw_obstacle_shape_closed(const tw_obstacle_shape *shape, bool *closed, tw_error *error);

#endif
