/* What one mode of the linear model does during a step of expmid2: scalar functions of its eigenvalue.
 *
 * Resolved (chi = 1): the exact flow of a_m - A (x - x_m) - B (v - v_m), written on the two vectors v_n and a_m,
 *     q = (1 + t delta + t^2 lambda) a_m + t lambda v_n      (acceleration at the step's start, t = h/2)
 *     x(s) = x_n + s (phi_xx v_n + phi_xv q),   v(s) = v_n + s (phi_vx v_n + phi_vv q)
 * with the 2x2 phi_1(s [[0, 1], [-lambda, -delta]]), delta = alpha + beta lambda (Rayleigh), s = theta h.
 * Unresolved (chi = 0): the path even about the midpoint, damped, and a share mu of the strain let go:
 *     x = x_n + theta (1 - theta) h v_n - mu theta e,   e = -(t/2 v_n + t^2 a_m)
 *     v = (1 - 2 theta) e^(-s delta) v_n
 * e is how far the even path passes the stage: x_n + t/2 v_n - x_m. An element that rides on a slow rotation has none;
 * what strain gathers in the state beside that is e, and would stay for good, since x_n is kept. The undamped
 * unresolved path needs no function of A: it is added by hand to all modes and taken back where chi is not 0. */
#ifndef TW_INTEGRATORS_EXPMID2_MODES_H
#define TW_INTEGRATORS_EXPMID2_MODES_H

#include <stdbool.h>

typedef struct tw_mode_function {
    double slow;     /* |v|/|a|, for tw_mode_accumulating */
    double h, theta; /* the state at t_n + theta h of a step h */
    double cutoff,
        mu; /* beta of the filter chi(z) = exp(-(z/beta^2)^4), z = h^2 lambda; share let go */
    double alpha, beta; /* Rayleigh */
    bool velocity;      /* the output is v, not x */
    bool from_a;        /* the start vector is a_m, not v_n */
} tw_mode_function;

/* The coefficient added by hand to every mode. */
double tw_mode_by_hand(const tw_mode_function *f);

/* The rest, as tw_spectral_function.value wants it (context is a tw_mode_function). */
double tw_mode_value(const void *context, double lambda);

/* chi(h^2 lambda). */
double tw_mode_filter(const tw_mode_function *f, double lambda);

/* chi / (1 + lambda slow^2): what of a remainder the error estimate counts. Remainders in slow modes add up from step
 * to step. In a fast mode they are a smooth load that it carries at rest; and it has at most the share 1/(omega slow)
 * of the speed, because omega |v_fast| <= |a| = |v|/slow. */
double tw_mode_accumulating(const tw_mode_function *f, double lambda);

#endif
