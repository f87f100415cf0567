/* Roots of fibres, scattered over a surface of triangles. */
#ifndef TW_SCENE_SURFACE_ROOTS_H
#define TW_SCENE_SURFACE_ROOTS_H

#include "scene/fibre_roots.h"

typedef struct tw_root_scatter {
    int64_t count;
    uint64_t seed;
    double upper; /* only in this upper share of the height, in (0, 1] */
} tw_root_scatter;

/* Appends the roots with their directions, which are the smoothed outward normals, and sides, which
 * go down along the surface. `out` has room for them. */
tw_status tw_scatter_over_surface(const tw_mesh *surface, const tw_root_scatter *scatter,
                                  tw_fibre_roots *out, tw_error *error);

#endif
