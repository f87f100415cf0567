#include "phi/chebyshev_series.h"

#include <math.h>
#include <stddef.h>

/* In-place transform sum_j z_j exp(-2 pi i j k / n) of n = 2^m complex numbers (re, im interleaved); root: exp(-2 pi i
 * j / n), j < n/2, interleaved. */
static void fourier(int n, const double *root, double *z)
{
    for (int i = 1, j = 0; i < n; i++) { /* bit reversal */
        int bit = n >> 1;
        for (; j & bit; bit >>= 1) j ^= bit;
        j ^= bit;
        if (i >= j) continue;
        double re = z[2 * i], im = z[2 * i + 1];
        z[2 * i] = z[2 * j], z[2 * i + 1] = z[2 * j + 1];
        z[2 * j] = re, z[2 * j + 1] = im;
    }
    for (int half = 1; half < n; half *= 2)
        for (int start = 0; start < n; start += 2 * half)
            for (int k = 0; k < half; k++) {
                const double *w = root + 2 * (ptrdiff_t)k * (n / (2 * half));
                double *a = z + 2 * (start + k), *b = a + 2 * half;
                double re = w[0] * b[0] - w[1] * b[1], im = w[0] * b[1] + w[1] * b[0];
                b[0] = a[0] - re, b[1] = a[1] - im;
                a[0] += re, a[1] += im;
            }
}

/* c_k = (2 - [k = 0])/n sum_j f(x_j) cos(k t_j), t_j = pi (2j + 1)/(2n): a cosine transform, by one Fourier transform
 * of the samples with the odd ones in reverse behind the even ones (Makhoul 1980). */
tw_status tw_chebyshev_coefficients(const tw_spectral_function *f, double low, double high, int nodes, double *scratch,
                                    double *coefficients)
{
    double *z = scratch, *root = scratch + 2 * (size_t)nodes, pi = acos(-1.0);
    double middle = 0.5 * (low + high), half = 0.5 * (high - low);
    for (int j = 0; j < nodes; j++) {
        double sample = f->value(f->context, middle + half * cos(pi * (2 * j + 1) / (2.0 * nodes)));
        if (!isfinite(sample)) return TW_NOT_FINITE;
        int at = j % 2 == 0 ? j / 2 : nodes - 1 - j / 2;
        z[2 * at] = sample;
        z[2 * at + 1] = 0;
    }
    for (int j = 0; j < nodes / 2; j++) {
        root[2 * j] = cos(2 * pi * j / nodes);
        root[2 * j + 1] = -sin(2 * pi * j / nodes);
    }
    fourier(nodes, root, z);
    for (int k = 0; k < nodes; k++) {
        double angle = pi * k / (2.0 * nodes);
        coefficients[k] = (k == 0 ? 1.0 : 2.0) / nodes * (cos(angle) * z[2 * k] + sin(angle) * z[2 * k + 1]);
    }
    return TW_OK;
}

double tw_chebyshev_tail(const double *coefficients, int nodes, int degree)
{
    double sum = 0;
    for (int k = nodes - 1; k > degree; k--) sum += fabs(coefficients[k]);
    return sum;
}
