/* Stumpff functions: c_k(z) = sum_j (-z)^j / (k + 2j)!, c_k = 1/k! - z c_{k+2}.
 *
 * As for phi (phi_scalar.c), each index is reached from the side that damps errors: for z > 0 upward from cosine and
 * sine while k <= sqrt z, downward from the series beyond. */
#include <math.h>

#include "phi/scalar_functions.h"

enum {
    SERIES_UP_TO = 100, /* -z below which the series of positive terms is used */
    HUGE_FROM = 700     /* sqrt(-z) beyond which cosh overflows, or nearly */
};

static double series(double z, int k)
{
    double term = tw_inverse_factorial[k], sum = 0;
    for (int j = k + 1; sum + term != sum; j += 2) {
        sum += term;
        term *= -z / (j * (j + 1.0));
    }
    return sum;
}

/* Fills indices above `up` from the top two. */
static void downward(double z, int up, int count, double *c)
{
    for (int k = count - 1; k > up; k--)
        c[k] = k + 2 < count ? tw_inverse_factorial[k] - z * c[k + 2] : series(z, k);
}

static void upward(double z, int up, double *c)
{
    for (int k = 0; k + 2 <= up; k++) c[k + 2] = (tw_inverse_factorial[k] - c[k]) / z;
}

/* c_k = e^s / (2 s^k), the factor e^(s/2) twice so that only the result overflows. `rest` corrects s. */
static void huge_negative(double s, double rest, int count, double *c)
{
    double root = exp(0.5 * s), power = 2 * (1 - rest);
    for (int k = 0; k < count; k++, power *= s) c[k] = isinf(root) ? root : root / power * root;
}

static void negative(double z, int count, double *c)
{
    if (-z <= SERIES_UP_TO) {
        downward(z, -1, count, c);
        return;
    }
    double s = sqrt(-z), rest = isinf(s) ? 0 : fma(-s, s, -z) / (2 * s); /* sqrt(-z) = s + rest */
    if (s > HUGE_FROM) {
        huge_negative(s, rest, count, c);
        return;
    }
    double hyperbolic_cosine = cosh(s), hyperbolic_sine = sinh(s);
    c[0] = hyperbolic_cosine + rest * hyperbolic_sine;
    if (count > 1) c[1] = (hyperbolic_sine + rest * hyperbolic_cosine) / s;
    upward(z, count - 1, c);
}

/* c_0 and c_1 without the error that rounding sqrt z would put into the phase. */
static void cosine_and_sine(double z, double s, int count, double *c)
{
    double rest = s > 0 ? fma(-s, s, z) / (2 * s) : 0, cosine = cos(s), sine = sin(s);
    double rest_cosine = cos(rest), rest_sine = sin(rest);
    c[0] = cosine * rest_cosine - sine * rest_sine;
    if (count > 1) c[1] = s > 0 ? (sine * rest_cosine + cosine * rest_sine) / s : 1;
}

void tw_stumpff(double z, int count, double *c)
{
    if (z < 0) {
        negative(z, count, c);
        return;
    }
    double s = sqrt(z);
    if (isinf(s)) { /* the mean value: no phase is left */
        for (int k = 0; k < count; k++) c[k] = 0;
        return;
    }
    int top = count - 1, up = s < top ? (int)s : top;
    if (up < 1) up = top < 1 ? top : 1;
    cosine_and_sine(z, s, count, c);
    upward(z, up, c);
    downward(z, up, count, c);
}
