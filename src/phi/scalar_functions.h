/* What the scalar functions share with the engines and the integrators. */
#ifndef TW_PHI_SCALAR_FUNCTIONS_H
#define TW_PHI_SCALAR_FUNCTIONS_H

#include <twang/phi.h>
#include <twang/stumpff.h>

enum { TW_FACTORIALS = 64 };

/* 1/k! for k < TW_FACTORIALS. */
extern const double tw_inverse_factorial[TW_FACTORIALS];

/* phi_k(t [[0, 1], [-lambda, -delta]]) for every k <= TW_PHI_MAX_ORDER whose bit is set in
 * `orders`: entries[k] = {xx, xv, vx, vv}; the other entries[k] are not touched. This is the one
 * place that chooses between the Stumpff functions (delta = 0) and the damped oscillator. Each
 * entry depends on the highest order asked for, in its last digit: without damping the Stumpff
 * functions of all orders come from one recurrence. */
void tw_mode_phi(double t, double lambda, double delta, unsigned orders, double entries[][4]);

#endif
