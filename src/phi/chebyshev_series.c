#include "phi/chebyshev_series.h"

#include <math.h>
#include <stddef.h>

/* c_k = (2 - [k = 0])/n sum_j f(x_j) cos(k t_j), t_j = pi (2j + 1)/(2n): the angles are multiples of pi/(2n), so that a
 * table of 4n cosines serves all; the sum is O(n^2) but without a single call of cos. */
tw_status tw_chebyshev_coefficients(const tw_spectral_function *f, double low, double high, int nodes, double *scratch,
                                    double *coefficients)
{
    double *table = scratch, *sample = scratch + 4 * (size_t)nodes, pi = acos(-1.0);
    double middle = 0.5 * (low + high), half = 0.5 * (high - low);
    for (int i = 0; i < 4 * nodes; i++) table[i] = cos(pi * i / (2.0 * nodes));
    for (int j = 0; j < nodes; j++) {
        sample[j] = f->value(f->context, middle + half * table[2 * j + 1]);
        if (!isfinite(sample[j])) return TW_NOT_FINITE;
    }
    unsigned mask = 4u * (unsigned)nodes - 1;
    for (int k = 0; k < nodes; k++) {
        double sum = 0;
        for (int j = 0; j < nodes; j++) sum += sample[j] * table[((unsigned)k * (2u * (unsigned)j + 1)) & mask];
        coefficients[k] = (k == 0 ? 1.0 : 2.0) / nodes * sum;
    }
    return TW_OK;
}

double tw_chebyshev_tail(const double *coefficients, int nodes, int degree)
{
    double sum = 0;
    for (int k = nodes - 1; k > degree; k--) sum += fabs(coefficients[k]);
    return sum;
}
