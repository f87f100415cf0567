/* What a rational Krylov space says about a function of A: coefficients, size and error, from the small H alone.
 *
 * With H = U diag(theta) U^T, R = (rows of H below the processed block) U and w_j = U^T (coordinates of b_j), the error
 * of sum_j f_j(A) b_j is exactly the vectors not yet processed, each multiplied by one component of
 *     r(S) = sum_k R_k sum_j w_jk f~_j[theta_k, S]        (divided differences; f~(theta) = f((1/theta - 1)/gamma)),
 * with which the rest of the space of S enters. r is sampled between the theta_k, below the smallest and at theta = 1
 * (lambda = 0). If the unprocessed vectors spread evenly over the spectrum, the error is the mean square of the
 * samples; it cannot exceed their maximum. On the coil, at three stiffnesses, the mean square was within 30 % of the
 * true error from the third solve on, also where convergence stagnates and differences of nested spaces are three times
 * too small. */
#ifndef TW_PHI_SHIFT_INVERT_ERROR_H
#define TW_PHI_SHIFT_INVERT_ERROR_H

#include <stddef.h>
#include <twang/phi.h>

#include "phi/shift_invert_basis.h"

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
    double unit;                  /* length of the largest start vector */
} tw_rational_modes;

typedef struct tw_rational_error {
    double error, norm, rounding; /* as tw_chain_error */
} tw_rational_error;

size_t tw_rational_modes_scratch(int capacity);
void tw_rational_modes_share_out(tw_rational_modes *modes, int capacity, double *numbers);

tw_status tw_rational_decompose(const tw_rational_basis *basis, tw_rational_modes *modes);

/* Looks at one output, f = its start_count functions; leaves its coefficients in Q in coefficients[0..p-1]. */
tw_status tw_rational_look(const tw_rational_basis *basis, tw_rational_modes *modes, const tw_spectral_function *f,
                           double *coefficients, tw_rational_error *error);

#endif
