/* phi_k of a real number.
 *
 * phi_k(z) = sum_j z^j / (k + j)!, and phi_k = z phi_{k+1} + 1/k!. Going down multiplies a relative error by about
 * |z|/k, going up by k/|z|, so for z < 0 each index is reached from the side that damps errors: upward from exp(z) for
 * k <= |z|, downward from the series at the highest index for k > |z|. For z > 0 nothing cancels on the way down. */
#include <math.h>

#include "phi/scalar_functions.h"

const double tw_inverse_factorial[TW_FACTORIALS] = {1.0,
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
                                                    5.0438606164930064e-88};

enum {
    UPWARD_FROM = 24, /* positive z beyond which exp(z) hides 1/k! for every k <= 16 */
    HUGE_FROM = 700   /* beyond which phi_0 overflows, or nearly */
};

static double series(double z, int k)
{
    double term = tw_inverse_factorial[k], sum = 0;
    for (int j = k + 1; sum + term != sum; j++) {
        sum += term;
        term *= z / j;
    }
    return sum;
}

/* phi_k = e^z / z^k: what is left out is smaller by e^-z. The factor e^(z/2) twice, so that only the result overflows.
 */
static void huge_argument(double z, int count, double *phi)
{
    double root = exp(0.5 * z), power = 1;
    for (int k = 0; k < count; k++, power *= z) phi[k] = isinf(root) ? root : root / power * root;
}

void tw_phi_scalar(double z, int count, double *phi)
{
    if (z > HUGE_FROM) {
        huge_argument(z, count, phi);
        return;
    }
    int top = count - 1,
        up = z > UPWARD_FROM ? top : 0; /* indices up to `up` are reached from exp(z) */
    if (z < 0) up = -z < top ? (int)-z : top;
    phi[0] = exp(z);
    for (int k = 0; k < up; k++) phi[k + 1] = (phi[k] - tw_inverse_factorial[k]) / z;
    if (up == top) return;
    phi[top] = series(z, top);
    for (int k = top - 1; k > up; k--) phi[k] = z * phi[k + 1] + tw_inverse_factorial[k];
}
