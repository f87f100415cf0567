/* Where the spectrum of A = M^-1 K lies, from a few Lanczos steps. */
#ifndef TW_PHI_SPECTRAL_BOUNDS_H
#define TW_PHI_SPECTRAL_BOUNDS_H

#include "phi/spectral_memory.h"

typedef struct tw_spectral_interval {
    double low,
        high; /* outermost Ritz values and zero, moved outwards by their residuals: not far inside the true ends */
} tw_spectral_interval;

/* `steps` products with K, fewer if the space is used up, from `start` (not zero; NULL: a pseudo-random vector). Works
 * in TW_SPECTRAL_OWN_SLOT, which it empties, and leaves `rolling` alone. Adds to *products. */
tw_status tw_spectral_find_interval(tw_spectral_memory *memory, const tw_second_order *op, int steps,
                                    const double *start, tw_spectral_interval *interval, int64_t *products);

#endif
