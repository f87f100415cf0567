#include "phi/spectral/chebyshev_series.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

size_t tw_chebyshev_scratch(int count)
{
    return 4 * (size_t)count; /* complex samples and roots of unity */
}

/* Exchanges entries whose indices are each other's bits reversed. */
static void reverse_bits(int n, double *z)
{
    for (int i = 0, j = 0; i < n; i++) {
        if (i < j)
            for (int part = 0; part < 2; part++) {
                double swap = z[2 * i + part];
                z[2 * i + part] = z[2 * j + part];
                z[2 * j + part] = swap;
            }
        int bit = n >> 1;
        for (; bit > 0 && (j & bit); bit >>= 1) j ^= bit;
        j |= bit;
    }
}

/* z <- sum_l z_l exp(-2 pi i k l / n), radix 2 in place; roots[k] = exp(-2 pi i k / n). */
static void transform(int n, double *z, const double *roots)
{
    reverse_bits(n, z);
    for (int length = 2; length <= n; length *= 2)
        for (int start = 0; start < n; start += length)
            for (int k = 0; k < length / 2; k++) {
                const double *w = roots + 2 * (size_t)k * (size_t)(n / length);
                double *a = z + 2 * (size_t)(start + k), *b = a + length;
                double re = w[0] * b[0] - w[1] * b[1], im = w[0] * b[1] + w[1] * b[0];
                b[0] = a[0] - re, b[1] = a[1] - im;
                a[0] += re, a[1] += im;
            }
}

tw_status tw_chebyshev_coefficients(const tw_spectral_function *f,
                                    const tw_chebyshev_interval *interval, int count,
                                    double *scratch, double *c)
{
    double *z = scratch, *roots = scratch + 2 * (size_t)count;
    for (int k = 0; k < count; k++) {
        roots[2 * k] = cos(2 * pi * k / count);
        roots[2 * k + 1] = -sin(2 * pi * k / count);
    }
    /* c_k = 2/n sum_l f(cos(pi (l + 1/2)/n)) cos(pi k (l + 1/2)/n); even samples forwards, odd ones backwards turn it
     * into a Fourier transform of the same length (Makhoul 1980). */
    for (int l = 0; l < count; l++) {
        double value =
            f->value(f->context, interval->middle + interval->half * cos(pi * (l + 0.5) / count));
        if (!isfinite(value)) return TW_NOT_FINITE;
        int place = l % 2 == 0 ? l / 2 : count - 1 - l / 2;
        z[2 * place] = value;
        z[2 * place + 1] = 0;
    }
    transform(count, z, roots);
    for (int k = 0; k < count; k++) {
        double angle = pi * k / (2.0 * count);
        c[k] = (k == 0 ? 1.0 : 2.0) / count * (cos(angle) * z[2 * k] + sin(angle) * z[2 * k + 1]);
    }
    return TW_OK;
}

void tw_chebyshev_tails(int count, const double *c, double *tail)
{
    double sum = 0;
    for (int k = count - 1; k >= 0; k--) {
        tail[k] = sum;
        sum += fabs(c[k]);
    }
}
