/* A velocity measured by the displacement it makes: a mode lambda moves by at most v/sqrt(lambda), and within `time` by
 * at most time v. The weight joins the two smoothly: time (1 + time^2 |lambda|)^-1/2. */
#ifndef TW_PHI_DISPLACEMENT_NORM_H
#define TW_PHI_DISPLACEMENT_NORM_H

#include <twang/phi.h>

/* The weight; it keeps the pointer. Its largest value is *time. */
tw_spectral_function tw_displacement_weight(const double *time);

/* weight times f, both of which must live as long as the result. */
typedef struct tw_weighted_function {
    const tw_spectral_function *weight, *f;
} tw_weighted_function;
tw_spectral_function tw_weigh_function(const tw_spectral_function *weight,
                                       const tw_spectral_function *f, tw_weighted_function *pair);

#endif
