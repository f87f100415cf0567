/* The displays of a model: copies that own their arrays, checked against the particles. */
#ifndef TW_MODEL_DISPLAY_LIST_H
#define TW_MODEL_DISPLAY_LIST_H

#include <twang/display.h>

typedef struct tw_display_list {
    tw_display *list;
    int count, capacity;
} tw_display_list;

void tw_display_list_free(tw_display_list *displays);

/* Finds the faces that belong to one tetrahedron alone, in the order of the tetrahedra. They are
 * turned outward by the `positions` of the particles (x, y, z each). `*out` is freed with
 * tw_release. (display_boundary.c) */
tw_status tw_display_boundary(int64_t count, const int64_t *tetrahedra, int64_t particle_count,
                              const double *positions, int64_t *triangle_count, int64_t **out);

#endif
