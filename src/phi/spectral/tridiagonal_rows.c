/* Eigenvalues of a symmetric tridiagonal matrix with a few rows of the eigenvectors, by the
 * implicit QL algorithm (Martin & Wilkinson 1968, imtql2). */
#include <float.h>
#include <math.h>

#include "linalg/dense.h"
#include "phi/spectral/spectral.h"

enum { MAX_ITERATIONS = 60 /* per eigenvalue; two or three are usual */ };

/* An off-diagonal entry this small is zero, T being of order one. */
static const double negligible = 1e-20;

/* Multiplies columns i and i + 1 of Z by the rotation. */
static void rotate(int rows, double *z, double s, double c)
{
    for (int r = 0; r < rows; r++) {
        double left = z[r];
        double right = z[rows + r];
        z[rows + r] = s * left + c * right;
        z[r] = c * left - s * right;
    }
}

/* One implicit QL iteration with Wilkinson's shift on rows l..m. The names are those of imtql2. */
static void ql_iteration(int l, int m, double *d, double *e, int rows, double *Z)
{
    /* Wilkinson's shift from the leading 2x2 block. */
    double g = (d[l + 1] - d[l]) / (2 * e[l]);
    double r = sqrt(g * g + 1);
    g = d[m] - d[l] + e[l] / (g + copysign(r, g));

    /* Rotations from the bottom to the top chase the entry outside the three diagonals. */
    double s = 1;
    double c = 1;
    double p = 0;
    for (int i = m - 1; i >= l; i--) {
        double f = s * e[i];
        double b = c * e[i];
        r = sqrt(f * f + g * g);
        e[i + 1] = r;

        /* The matrix falls into two parts: the iteration ends early. */
        if (r == 0) {
            d[i + 1] -= p;
            e[m] = 0;
            return;
        }

        /* The rotation that makes the entry vanish, applied to both sides of T. */
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        rotate(rows, Z + (size_t)i * (size_t)rows, s, c);
    }
    d[l] -= p;
    e[l] = g;
    e[m] = 0;
}

/* First m >= l with a negligible e[m]. */
static int block_end(int l, int n, const double *d, const double *e)
{
    int m = l;
    while (m < n - 1) {
        /* Negligible means: below the rounding of its neighbours on the diagonal. */
        double near = fabs(d[m]) + fabs(d[m + 1]);
        if (fabs(e[m]) <= DBL_EPSILON * near || fabs(e[m]) <= negligible) break;
        m++;
    }

    return m;
}

/* A power of two near the largest entry. Division by it brings T to order one, so that squares
 * neither overflow nor vanish. */
static double tridiagonal_unit(int n, const double *d, const double *e)
{
    double largest = 0;
    for (int i = 0; i < n; i++)
        largest = fmax(largest, fmax(fabs(d[i]), i < n - 1 ? fabs(e[i]) : 0));
    if (!(largest > 0) || !isfinite(largest)) return 1;

    int exponent = 0;
    frexp(largest, &exponent);

    return ldexp(1.0, exponent);
}

tw_status tw_tridiagonal_rows(int n, double *d, double *e, int row_count, double *Z)
{
    if (n < 1) return TW_OK;
    if (!tw_dense_is_finite((size_t)n, d) || !tw_dense_is_finite((size_t)n - 1, e))
        return TW_NOT_FINITE;

    /* Bring T to order one. */
    e[n - 1] = 0;
    double unit = tridiagonal_unit(n, d, e);
    for (int i = 0; i < n; i++) {
        d[i] /= unit;
        e[i] /= unit;
    }

    /* Isolate one eigenvalue after the other. */
    for (int l = 0; l < n; l++) {
        int iterations = 0;
        for (int m = block_end(l, n, d, e); m != l; m = block_end(l, n, d, e)) {
            if (iterations++ == MAX_ITERATIONS) return TW_NOT_CONVERGED;
            ql_iteration(l, m, d, e, row_count, Z);
        }
    }

    for (int i = 0; i < n; i++) d[i] *= unit;

    return TW_OK;
}
