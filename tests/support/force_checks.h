/* What every force of a model must satisfy. */
#ifndef TESTS_FORCE_CHECKS_H
#define TESTS_FORCE_CHECKS_H

#include <stdbool.h>
#include <stdint.h>
#include <twang/model.h>

typedef struct force_check {
    const char *name;
    const double *x;    /* positions of the unknowns to start from; NULL: those of the simulation */
    double disturbance; /* random, added to positions and velocities */
    uint64_t seed;
    double step;             /* of the differences [m] */
    double matrix_tolerance; /* of the matrix against the product */
    bool damping_matrix;     /* add_damping is D's symmetric part, all of it */
} force_check;

/* At some time: force = -grad energy (where the problem has one), K = -df/dx, D = -df/dv, a_t = da/dt by central
 * differences to 1e-6; blocks of products equal single ones; the matrix equals the (symmetric) product; the
 * symmetric stand-in is symmetric. */
void force_check_derivatives(const force_check *check, tw_simulation *simulation);

/* Without pins: the sums of forces and torques vanish to rounding. */
void force_check_momentum(const char *name, tw_simulation *simulation);

/* 1, 2, 3 and 8 threads give bitwise the same force, energy, products and matrix. */
void force_check_threads(const force_check *check, tw_simulation *simulation);

#endif
