/* Conjugate gradients for M + g K in single precision, for solutions of which few digits are asked
 * (linalg/single.h). */
#ifndef TW_INTEGRATORS_SINGLE_GRADIENTS_H
#define TW_INTEGRATORS_SINGLE_GRADIENTS_H

#include "integrators/system.h"

typedef struct tw_single_gradients tw_single_gradients;

/* TW_OK with *out = NULL where the system offers no products in single precision. */
tw_status tw_single_gradients_create(const tw_system *system, tw_single_gradients **out);
void tw_single_gradients_free(tw_single_gradients *gradients);

/* Takes g, and the preconditioner: the inverse diagonal blocks, nine entries each. */
void tw_single_gradients_prepare(tw_single_gradients *gradients, double g, const double *inverse);

/* Solves to a relative residual of `accuracy` in the norm of the preconditioner. Where single precision
 * does not serve, it says TW_UNSUPPORTED, and doubles may. */
tw_status tw_single_gradients_solve(tw_single_gradients *gradients, double accuracy,
                                    const double *in, double *out);

#endif
