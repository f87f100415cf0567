/* Boxes of tetrahedra for tests. Failure to build one aborts: it is the test that is broken. */
#ifndef TESTS_BOX_SOLID_H
#define TESTS_BOX_SOLID_H

#include <stdint.h>
#include <twang/solid.h>

/* Cells along x, y, z, each cut into six tetrahedra along its diagonal (Kuhn). */
typedef struct box_shape {
    int cells[3];
    double size[3]; /* one corner at the origin */
    int nodes;      /* of an element: 4 or 10 */
    double
        jitter; /* random displacement of every vertex that is not on the boundary, in parts of a cell */
} box_shape;

typedef struct box_solid {
    int64_t vertices, count;
    int nodes;
    double *positions, *masses; /* masses of density 1, lumped */
    int64_t *elements;
} box_solid;

/* Vertices with the smallest x first. */
box_solid box_solid_make(const box_shape *shape);
void box_solid_free(box_solid *box);

/* A model with its particles, the `held` first of them pinned, and its elements. */
tw_model *box_solid_model(const box_solid *box, int64_t held, const tw_solid_material *material);
tw_simulation *box_solid_simulation(const box_solid *box, int64_t held,
                                    const tw_solid_material *material);

#endif
