/* The coil linearised at a state, its stiffness assembled and ready to be factored with any shift: what the tests of
 * the spectral engines and their benchmark work on. */
#ifndef PROBLEMS_COIL_CASE_H
#define PROBLEMS_COIL_CASE_H

#include <twang/cholesky.h>

#include "problems/coil_state.h"
#include "problems/position_update.h"

typedef struct coil_case {
    spring_network *network;
    problem p;
    tw_sparse *K;
    tw_shifted_cholesky *solver;
    tw_second_order op;
    double *x, *v, *a;   /* a state, and the acceleration in it */
    double *out, *exact; /* room for two more vectors, zeroed */
} coil_case;

/* `seconds` after the coil was released (coil_state.h), linearised there. Freed by coil_case_free, also after a
 * failure. */
tw_status coil_case_create(coil_parameters parameters, double seconds, coil_case *c,
                           tw_error *error);
/* a and op follow x. */
void coil_case_linearise(coil_case *c);
void coil_case_free(coil_case *c);

/* out = the position update by this engine; `out` is one of the vectors of c. */
tw_status coil_case_update(const coil_case *c, tw_phi_engine engine, double tolerance, double h,
                           double *out, tw_phi_statistics *statistics, tw_error *error);

#endif
