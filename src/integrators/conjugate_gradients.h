/* Conjugate gradients for M + g K at the system's last linearisation, for solids that are too large
 * to factorise. K is applied as an operator. The preconditioner is block Jacobi if K is assembled,
 * else the mass. */
#ifndef TW_INTEGRATORS_CONJUGATE_GRADIENTS_H
#define TW_INTEGRATORS_CONJUGATE_GRADIENTS_H

#include "integrators/system.h"

typedef struct tw_conjugate_gradients tw_conjugate_gradients;

tw_status tw_conjugate_gradients_create(tw_system *system, tw_conjugate_gradients **out,
                                        tw_error *error);
void tw_conjugate_gradients_free(tw_conjugate_gradients *gradients);

/* Sets g and makes the preconditioner at the present linearisation. */
tw_status tw_conjugate_gradients_prepare(tw_conjugate_gradients *gradients, double g);

/* out = (M + g K)^-1 in to the relative residual `accuracy`, in the norm of the preconditioner.
 * TW_NOT_POSITIVE_DEFINITE on negative curvature, TW_NOT_CONVERGED after 10 N iterations. */
tw_status tw_conjugate_gradients_solve(tw_conjugate_gradients *gradients, double accuracy,
                                       const double *in, double *out);

#endif
