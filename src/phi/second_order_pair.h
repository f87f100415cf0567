/* A second-order system as a first-order operator in coordinates where both parts of a vector weigh alike:
 *     y = (omega R x, R v),  R = M^1/2 (lumped mass) or 1 (unit or consistent mass),  omega^2 ~ lambda_max(M^-1 K),
 *     J y = (omega y_v, -K^ (y_x/omega + beta y_v) - D^ y_v - alpha y_v),  K^ = R^-1 K R^-1 or M^-1 K.
 * Never run incomplete orthogonalisation on raw (x, v): it can fail without a sign. */
#ifndef TW_PHI_SECOND_ORDER_PAIR_H
#define TW_PHI_SECOND_ORDER_PAIR_H

#include <stddef.h>

#include "phi/phi_internal.h"

typedef struct tw_phi_pair {
    const tw_second_order *op;
    tw_phi_inner_product inner_product;
    int64_t n;          /* unknowns: half a vector */
    tw_space half;      /* space of x or v alone */
    double omega;       /* scale of the x-part; 1 in raw coordinates */
    const double *root; /* R, n entries; NULL means ones */
    int64_t products;   /* with K so far */
    double *scratch[3]; /* n entries each */
    tw_phi_metric metric;
    tw_phi_frame frame;
} tw_phi_pair;

/* Scratch of the calls below, in doubles. */
size_t tw_phi_pair_scratch(int64_t n);

/* Binds the pair to op; omega is still to be set. `root` (n entries) and `scratch` are the caller's memory. */
void tw_phi_pair_bind(tw_phi_pair *pair, const tw_second_order *op,
                      tw_phi_inner_product inner_product, double *root, double *scratch);

/* sqrt of op->eigenvalue_max, or of an estimate by a few power steps with A = M^-1 K (counted); `fallback` if A = 0. */
tw_status tw_phi_pair_frequency(tw_phi_pair *pair, double fallback, double *omega);

/* J as an operator on vectors of 2n entries. Lives as long as the pair. */
tw_operator tw_phi_pair_operator(tw_phi_pair *pair);

#endif
