/* Small bodies that touch each other, and an independent test of whether they have crossed. */
#ifndef TESTS_TOUCHING_BODIES_H
#define TESTS_TOUCHING_BODIES_H

#include <twang/twang.h>

/* Uniform in [-1, 1], the same every time. */
double touching_random(uint64_t *state);

/* A cube of eight particles held by all its 28 springs, turned by `turn` radians about (1, 1, 1).
 * Returns its first particle. */
int64_t touching_cube(tw_model *model, const double centre[3], double edge, double turn,
                      const double velocity[3], double mass, double stiffness);

/* A sheet of columns x rows particles, spanned by u and v from its origin: springs along the grid
 * and across its cells. */
int64_t touching_sheet(tw_model *model, const double origin[3], const double u[3],
                       const double v[3], int columns, int rows, const double velocity[3],
                       double mass, double stiffness);

/* A straight chain of springs with `count` particles from a to b, shown as a line. */
int64_t touching_line(tw_model *model, const double a[3], const double b[3], int count,
                      const double velocity[3], double mass, double stiffness);

/* A fresh model with this gravity along z. */
tw_model *touching_model(double gravity);

/* The simulation of the model with these options of contact. */
tw_simulation *touching_simulation(tw_model *model, const tw_contact_options *options);

/* How many edges pierce triangles in this state: 0 unless surfaces have crossed. It knows nothing
 * of the library's contact: it looks at all edges and triangles of all displays. */
int64_t touching_crossings(tw_simulation *simulation, double t, const double *u);

#endif
