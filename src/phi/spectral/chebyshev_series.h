/* Chebyshev coefficients of scalar functions on an interval. */
#ifndef TW_PHI_CHEBYSHEV_SERIES_H
#define TW_PHI_CHEBYSHEV_SERIES_H

#include <stddef.h>
#include <twang/phi.h>

/* f(lambda) ~ sum_{k < count} c_k T_k(x), x = (lambda - middle)/half. */
typedef struct tw_chebyshev_interval {
    double middle, half;
} tw_chebyshev_interval;

/* Doubles of scratch for series of `count` (a power of two) terms. */
size_t tw_chebyshev_scratch(int count);

/* c[0..count-1] by the discrete cosine transform of `count` (a power of two) samples: O(count log count).
 * TW_NOT_FINITE if f is not finite somewhere. */
tw_status tw_chebyshev_coefficients(const tw_spectral_function *f,
                                    const tw_chebyshev_interval *interval, int count,
                                    double *scratch, double *c);

/* tail[k] = sum of |c_l| over l > k, in place of c's copy: what a series cut after T_k lacks at most. */
void tw_chebyshev_tails(int count, const double *c, double *tail);

#endif
