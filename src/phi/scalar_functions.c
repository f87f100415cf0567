/* Scalar functions: phi_k of a real number, the Stumpff functions c_k, and the phi_k of one mode.
 *
 *     phi_k(z) = sum_j z^j / (k + j)!,          phi_k = 1/k! + z phi_{k+1}
 *     c_k(z)   = sum_j (-z)^j / (k + 2j)!,      c_k   = 1/k! - z c_{k+2}
 *
 * Downwards (from k + 1 to k) the recurrence of phi multiplies a relative error by about |z|/k,
 * upwards by k/|z|. For z < 0 each index is reached from the side that damps errors: upwards from
 * exp(z) for k <= |z|, downwards from the series at the highest index for k > |z|. For z > 0
 * nothing cancels on the way down. The same holds for c_k with sqrt(z) in the place of |z|, and
 * with cosine and sine in the place of exp(z). */
#include "phi/scalar_functions.h"

#include <float.h>
#include <math.h>

/* Users ask for up to 16 functions; the oscillator needs two more on its way. */
enum { LARGEST_COUNT = 18 };

/* clang-format off: four to a line */
const double tw_inverse_factorial[TW_FACTORIALS] = {
    1.0,
    1.0,
    0.5,
    0.16666666666666667,
    0.041666666666666667,
    0.0083333333333333333,
    0.0013888888888888889,
    0.00019841269841269841,
    2.4801587301587302e-5,
    2.7557319223985891e-6,
    2.7557319223985891e-7,
    2.5052108385441719e-8,
    2.0876756987868099e-9,
    1.6059043836821615e-10,
    1.1470745597729725e-11,
    7.6471637318198165e-13,
    4.7794773323873853e-14,
    2.8114572543455208e-15,
    1.5619206968586226e-16,
    8.2206352466243297e-18,
    4.1103176233121649e-19,
    1.9572941063391261e-20,
    8.8967913924505733e-22,
    3.868170170630684e-23,
    1.6117375710961183e-24,
    6.4469502843844734e-26,
    2.4795962632247975e-27,
    9.1836898637955461e-29,
    3.2798892370698379e-30,
    1.1309962886447717e-31,
    3.7699876288159056e-33,
    1.2161250415535179e-34,
    3.8003907548547436e-36,
    1.151633562077195e-37,
    3.3871575355211618e-39,
    9.677592958631891e-41,
    2.6882202662866364e-42,
    7.2654601791530713e-44,
    1.9119632050402819e-45,
    4.9024697565135434e-47,
    1.2256174391283858e-48,
    2.9893108271424045e-50,
    7.1174067312914393e-52,
    1.6552108677421952e-53,
    3.7618428812322618e-55,
    8.359650847182804e-57,
    1.8173154015614791e-58,
    3.8666285139605939e-60,
    8.0554760707512373e-62,
    1.643974708316579e-63,
    3.2879494166331581e-65,
    6.4469596404571727e-67,
    1.2397999308571486e-68,
    2.3392451525606577e-70,
    4.3319354677049217e-72,
    7.8762463049180395e-74,
    1.4064725544496499e-75,
    2.4674957095607893e-77,
    4.2543029475186023e-79,
    7.210682961895936e-81,
    1.2017804936493227e-82,
    1.9701319568021683e-84,
    3.1776321883905941e-86,
    5.0438606164930064e-88,
};
/* clang-format on */

enum {
    UPWARD_FROM = 24,   /* positive z beyond which exp(z) hides 1/k! for every k <= 16 */
    SERIES_UP_TO = 100, /* -z up to which c_k is the series, whose terms are positive there */
    HUGE_FROM = 700     /* exponent beyond which exp overflows, or nearly */
};

/* ---- phi_k ---- */

static double phi_series(double z, int k)
{
    double term = tw_inverse_factorial[k];
    double sum = 0;
    for (int j = k + 1; sum + term != sum; j++) {
        sum += term;
        term *= z / j;
    }

    return sum;
}

/* phi_k = e^z / z^k; what is left out is smaller by e^-z. The factor e^(z/2) is applied twice, so
 * that only the result overflows. */
static void phi_of_huge(double z, int count, double *phi)
{
    double root = exp(0.5 * z);
    double power = 1;

    for (int k = 0; k < count; k++, power *= z) phi[k] = isinf(root) ? root : root / power * root;
}

void tw_phi_scalar(double z, int count, double *phi)
{
    if (!phi || count < 1 || count > LARGEST_COUNT) return;
    if (z > HUGE_FROM) {
        phi_of_huge(z, count, phi);
        return;
    }

    /* Indices up to `up` are reached from exp(z). */
    int top = count - 1;
    int up = 0;
    if (z < 0 || z > UPWARD_FROM) up = top;
    if (z < 0 && -z < top) up = (int)-z;
    phi[0] = exp(z);
    for (int k = 0; k < up; k++) phi[k + 1] = (phi[k] - tw_inverse_factorial[k]) / z;
    if (up == top) return;

    /* The others are reached from the series at the highest index. */
    phi[top] = phi_series(z, top);
    for (int k = top - 1; k > up; k--) phi[k] = z * phi[k + 1] + tw_inverse_factorial[k];
}

/* ---- Stumpff functions ---- */

static double stumpff_series(double z, int k)
{
    double term = tw_inverse_factorial[k];
    double sum = 0;
    for (int j = k + 1; sum + term != sum; j += 2) {
        sum += term;
        term *= -z / (j * (j + 1.0));
    }

    return sum;
}

/* Fills the indices above `up`: the top two by their series, the others from those. */
static void stumpff_downward(double z, int up, int count, double *c)
{
    for (int k = count - 1; k > up; k--)
        c[k] = k + 2 < count ? tw_inverse_factorial[k] - z * c[k + 2] : stumpff_series(z, k);
}

/* Fills the indices 2..up from c_0 and c_1. */
static void stumpff_upward(double z, int up, double *c)
{
    for (int k = 0; k + 2 <= up; k++) c[k + 2] = (tw_inverse_factorial[k] - c[k]) / z;
}

/* c_k = e^s / (2 s^k). The factor e^(s/2) is applied twice, so that only the result overflows.
 * `rest` corrects s. */
static void stumpff_of_huge(double s, double rest, int count, double *c)
{
    double root = exp(0.5 * s);
    double power = 2 * (1 - rest);

    for (int k = 0; k < count; k++, power *= s) c[k] = isinf(root) ? root : root / power * root;
}

static void stumpff_of_negative(double z, int count, double *c)
{
    if (-z <= SERIES_UP_TO) {
        stumpff_downward(z, -1, count, c);
        return;
    }

    /* sqrt(-z) = s + rest */
    double s = sqrt(-z);
    double rest = 0;
    if (!isinf(s)) rest = fma(-s, s, -z) / (2 * s);
    if (s > HUGE_FROM) {
        stumpff_of_huge(s, rest, count, c);
        return;
    }

    /* c_0 = cosh(s + rest) and c_1 = sinh(s + rest)/s to first order in rest. */
    double hyperbolic_cosine = cosh(s);
    double hyperbolic_sine = sinh(s);
    c[0] = hyperbolic_cosine + rest * hyperbolic_sine;
    if (count > 1) c[1] = (hyperbolic_sine + rest * hyperbolic_cosine) / s;
    stumpff_upward(z, count - 1, c);
}

/* c_0 and c_1, without the error that the rounding of s = sqrt(z) would put into the phase. */
static void cosine_and_sine(double z, double s, int count, double *c)
{
    double rest = 0;
    if (s > 0) rest = fma(-s, s, z) / (2 * s);

    /* cos(s + rest) and sin(s + rest)/s by the addition theorems; cos(rest) = 1 - rest^2/2 and
     * sin(rest) = rest (1 - rest^2/6) round to 1 and rest where rest^2 is below the last digit. */
    double cosine = cos(s);
    double sine = sin(s);
    double rest_cosine = 1;
    double rest_sine = rest;
    if (rest * rest > DBL_EPSILON / 4) {
        rest_cosine = cos(rest);
        rest_sine = sin(rest);
    }
    c[0] = cosine * rest_cosine - sine * rest_sine;
    if (count > 1) c[1] = s > 0 ? (sine * rest_cosine + cosine * rest_sine) / s : 1;
}

void tw_stumpff(double z, int count, double *c)
{
    if (!c || count < 1 || count > LARGEST_COUNT) return;
    if (z < 0) {
        stumpff_of_negative(z, count, c);
        return;
    }

    /* An infinite phase is unknown: the mean value takes its place. */
    double s = sqrt(z);
    if (isinf(s)) {
        for (int k = 0; k < count; k++) c[k] = 0;
        return;
    }

    /* Indices up to `up` are reached from c_0 and c_1, the others from the series. */
    int top = count - 1;
    int up = top;
    if (s < top) up = (int)s;
    if (up < 1) up = top < 1 ? 0 : 1;
    cosine_and_sine(z, s, count, c);
    stumpff_upward(z, up, c);
    stumpff_downward(z, up, count, c);
}

/* ---- one mode ---- */

/* phi_k(t J) = c_k + c_{k+1} t J with c_k at t^2 lambda. */
static void undamped_mode(double t, double lambda, unsigned orders, double entries[][4])
{
    /* The highest order asked for says how many Stumpff functions are needed. */
    int last = 0;
    for (int k = 0; k <= TW_PHI_MAX_ORDER; k++)
        if (orders >> k & 1u) last = k;

    double c[TW_PHI_MAX_ORDER + 2];
    tw_stumpff(t * t * lambda, last + 2, c);
    for (int k = 0; k <= last; k++) {
        if (!(orders >> k & 1u)) continue;
        entries[k][0] = c[k];
        entries[k][1] = t * c[k + 1];
        entries[k][2] = -t * lambda * c[k + 1];
        entries[k][3] = c[k];
    }
}

void tw_mode_phi(double t, double lambda, double delta, unsigned orders, double entries[][4])
{
    if (delta == 0) {
        undamped_mode(t, lambda, orders, entries);
        return;
    }

    for (int k = 0; k <= TW_PHI_MAX_ORDER; k++)
        if (orders >> k & 1u) tw_phi_oscillator(t, lambda, delta, k, entries[k]);
}
