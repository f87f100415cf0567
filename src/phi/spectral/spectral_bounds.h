/* Where the spectrum of A = M^-1 K lies, from a few Lanczos steps. */
#ifndef TW_PHI_SPECTRAL_BOUNDS_H
#define TW_PHI_SPECTRAL_BOUNDS_H

#include "phi/spectral/spectral_memory.h"

typedef struct tw_spectral_interval {
    double low,
        high; /* outermost Ritz values and zero, moved outwards by their residuals: not far inside the true ends */
} tw_spectral_interval;

/* `steps` products with K, fewer if the space is used up, from `start` (not zero; NULL: a pseudo-random vector). Works
 * in TW_SPECTRAL_OWN_SLOT, which it empties, and leaves `rolling` alone. Adds to *products. */
tw_status tw_spectral_find_interval(tw_spectral_memory *memory, const tw_second_order *op,
                                    int steps, const double *start, tw_spectral_interval *interval,
                                    int64_t *products);

/* A bound of the spectrum that holds here and now: at most `bound`, which may hold everywhere and be far too large.
 * Some products; not proven, like all that a few Lanczos steps tell, but they overshoot by their residual
 * (docs/phi.md), and chebyshev notices a bound that is too small. TW_OK with *sharp = bound where the workspace has no
 * spectral engine. */
tw_status tw_spectral_sharpen(tw_phi_workspace *workspace, const tw_second_order *op, double bound,
                              double *sharp);

#endif
