/* Deformed states in which energy, force and tangent are compared: x = A X, every entry disturbed. */
#ifndef TESTS_DEFORMED_STATE_H
#define TESTS_DEFORMED_STATE_H

#include <stdint.h>
#include <twang/model.h>

typedef struct deformed_state {
    const char *name;
    double A[9], disturbance; /* [m] */
    double step;              /* of the differences: small against what makes the state special */
} deformed_state;

/* Positions of the n unknowns; freed by the caller. */
double *deformed_positions(const deformed_state *state, int64_t n, const double *rest,
                           uint64_t seed);
/* From where the simulation starts: force and tangent to 1e-6 by central differences, the matrix to 1e-14. */
void deformed_check_derivatives(const deformed_state *state, tw_simulation *simulation,
                                uint64_t seed);
/* Bitwise the same for any number of threads (force_checks.h). */
void deformed_check_threads(const deformed_state *state, tw_simulation *simulation, uint64_t seed);

#endif
