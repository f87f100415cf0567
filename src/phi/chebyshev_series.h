/* Chebyshev series of scalar functions on an interval: f(lambda) = sum_k c_k T_k((2 lambda - low - high) / (high -
 * low)). */
#ifndef TW_PHI_CHEBYSHEV_SERIES_H
#define TW_PHI_CHEBYSHEV_SERIES_H

#include <twang/phi.h>

/* Coefficients from `nodes` (a power of two) samples at the Chebyshev points; scratch: 5 nodes doubles. TW_NOT_FINITE
 * where f overflows. coefficients: `nodes` doubles. */
tw_status tw_chebyshev_coefficients(const tw_spectral_function *f, double low, double high, int nodes, double *scratch,
                                    double *coefficients);

/* sum_{k > degree} |c_k|: what cutting the series there can cost at most. */
double tw_chebyshev_tail(const double *coefficients, int nodes, int degree);

#endif
