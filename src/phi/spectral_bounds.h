/* Where the spectrum of A = M^-1 K lies, from a few Lanczos steps with a pseudo-random start vector. */
#ifndef TW_PHI_SPECTRAL_BOUNDS_H
#define TW_PHI_SPECTRAL_BOUNDS_H

#include "phi/spectral_memory.h"

typedef struct tw_spectral_interval {
    double low, high; /* Ritz values, each moved outwards by its residual: rarely inside the true ends, never by much */
} tw_spectral_interval;

/* `steps` products with K, fewer if the space is used up. Works in TW_SPECTRAL_OWN_SLOT, which it empties. Adds to
 * *products. */
tw_status tw_spectral_find_interval(tw_spectral_memory *memory, const tw_second_order *op, int steps,
                                    tw_spectral_interval *interval, int64_t *products);

#endif
