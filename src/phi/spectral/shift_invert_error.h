/* What a rational Krylov space says about a function of A: coefficients, size and error, from the small H alone.
 *
 * With H = U diag(theta) U^T, R = (rows of H below the processed block) U and w_j = U^T (coordinates of b_j), the error
 * of sum_j f_j(A) b_j is exactly the vectors not yet processed, each multiplied by one component of
 *     r(S) = sum_k R_k sum_j w_jk f~_j[theta_k, S]        (divided differences; f~(theta) = f((1/theta - 1)/gamma)),
 * with which the rest of the space of S enters. r is sampled between the theta_k, below the smallest and at theta = 1
 * (lambda = 0). If the unprocessed vectors spread evenly over the spectrum, the error is the mean square of the
 * samples; it cannot exceed their maximum. On the coil, at three stiffnesses, the mean square was within 30 % of the
 * true error from the third solve on, also where convergence stagnates and differences of nested spaces are three times
 * too small.
 *
 * Galerkin. (M + gamma K)^-1 M is projected by default. With T = Q^T K Q instead the motion is that of the body held to
 * x_n + span Q, which keeps its energy, however coarse the space is. S Q = Q H + q R^T gives, with C = q^T (M + gamma
 * K) q, (I + gamma T)^-1 = H - R (C^-1 + R^T H^-1 R)^-1 R^T, and the error has the same form as above, with theta_k,
 * u_k of this matrix and R_k = theta_k R^T H^-1 u_k. */
#ifndef TW_PHI_SHIFT_INVERT_ERROR_H
#define TW_PHI_SHIFT_INVERT_ERROR_H

#include <stddef.h>
#include <twang/phi.h>

#include "phi/spectral/shift_invert_basis.h"

/* Scratch and result of a decomposition; arrays of TW_RATIONAL_MAX or as many as the basis' capacity. */
typedef struct tw_rational_modes {
    int count;                    /* p, dimension of the space */
    int residual;                 /* vectors not yet processed, at most TW_MAX_BLOCK */
    double *U;                    /* p x p */
    double *theta;                /* ascending */
    double *weight[TW_MAX_BLOCK]; /* w_j, relative to the largest start vector */
    double *rest[TW_MAX_BLOCK];   /* R, a row per unprocessed vector */
    double *value[TW_MAX_BLOCK];  /* f~_j(theta_k) of the function being looked at */
    double *eigen;                /* tw_dense_eigen_scratch */
    double *factor;               /* p x p: H's Cholesky factor, for Galerkin */
    double unit;                  /* length of the largest start vector */
} tw_rational_modes;

typedef struct tw_rational_error {
    double error, norm, rounding; /* as tw_chain_error */
} tw_rational_error;

size_t tw_rational_modes_scratch(int capacity);
void tw_rational_modes_share_out(tw_rational_modes *modes, int capacity, double *numbers);

tw_status tw_rational_decompose(const tw_rational_basis *basis, tw_rational_modes *modes);

/* |weight(A) Q change|, from the small matrix: `change` are coefficients in Q, `weight` NULL for 1; `scratch`: p. */
double tw_rational_weighted_norm(const tw_rational_basis *basis, const tw_rational_modes *modes,
                                 const tw_spectral_function *weight, const double *change,
                                 double *scratch);

/* Looks at one output, f = its start_count functions; leaves its coefficients in Q in coefficients[0..p-1]. Its error,
 * norm and rounding are those of `weight` (NULL: 1) times f. */
tw_status tw_rational_look(const tw_rational_basis *basis, tw_rational_modes *modes,
                           const tw_spectral_function *f, const tw_spectral_function *weight,
                           double *coefficients, tw_rational_error *error);

#endif
