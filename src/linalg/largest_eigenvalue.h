/* Estimates of the largest eigenvalue of A = M^-1 K from a few products with K.
 *
 * Both methods approach it from below. A caller who needs a bound multiplies by a safety factor or
 * adds a residual. */
#ifndef TW_LINALG_LARGEST_EIGENVALUE_H
#define TW_LINALG_LARGEST_EIGENVALUE_H

#include "linalg/mass.h"

/* The pair of K x = lambda M x. Plain data; owns nothing. */
typedef struct tw_matrix_pencil {
    tw_apply_function *stiffness; /* out = K in */
    void *context;                /* handed to stiffness */
    tw_mass_metric mass;          /* also tells the space */
} tw_matrix_pencil;

typedef struct tw_power_estimate {
    double largest; /* max over the steps of |A x| with |x| = 1 */
    double last;    /* length of the last vector; not finite if a product was not */
    int products;   /* products with K */
} tw_power_estimate;

/* The power method, for any K. x: N entries, the start vector, which is overwritten; work: N
 * entries of scratch. Stops early at a vector whose length is zero or not finite; that is no
 * failure, the caller looks at `last`. */
tw_status tw_power_method(const tw_matrix_pencil *pencil, int steps, double *x, double *work,
                          tw_power_estimate *estimate);

enum { TW_LANCZOS_MOST_STEPS = 200 };

/* The largest Ritz value of at most `steps` steps of Lanczos in the inner product of M, for
 * symmetric K. Steps above TW_LANCZOS_MOST_STEPS are left out. memory: 4 N entries, of which the
 * first N are the start vector. A spectrum without positive Ritz values gives 0. */
tw_status tw_lanczos_largest(const tw_matrix_pencil *pencil, int steps, double *memory,
                             double *eigenvalue);

#endif
