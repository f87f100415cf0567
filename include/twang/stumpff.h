/** @file stumpff.h
 *  Scalar functions: Stumpff functions, phi-functions, and phi of the 2x2 damped oscillator.
 */
#ifndef TWANG_STUMPFF_H
#define TWANG_STUMPFF_H

#include <twang/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** c_0..c_count-1 at z: `c_k(z) = sum_j (-z)^j / (k + 2j)!`; c_0 = cos sqrt z, c_1 = sin(sqrt
 *  z)/sqrt z. Any real z; overflows to infinity where cosh(sqrt -z) does. 1 <= count <= 16.
 *  Relative error a few ulp of max(|c_k|, the envelope near a zero). */
TW_API void tw_stumpff(double z, int count, double *c);

/** phi_0..phi_count-1 at real z; relative error a few ulp. 1 <= count <= 16. */
TW_API void tw_phi_scalar(double z, int count, double *phi);

/** phi_k(t [[0, 1], [-lambda, -delta]]) as four entries row by row (xx, xv, vx, vv), k = 0..16: the
 *  oscillator `x'' + delta x' + lambda x = 0`, any sign of lambda, under-, over- and critically
 *  damped alike. Each entry to some tens of ulp of its size away from its zeros; infinite, never
 *  NaN, where the exponential (k = 0) overflows. */
TW_API void tw_phi_oscillator(double t, double lambda, double delta, int k, double entries[4]);

#ifdef __cplusplus
}
#endif
#endif
