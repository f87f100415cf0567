/* The matrix of Newton's iteration, prepared once and solved with often.
 *
 * Second order: M + g K at the system's linearisation, by sparse Cholesky or conjugate gradients.
 * First order: I - g J, by sparse LU where the problem gives jacobian_matrix, else by dense LU. */
#ifndef TW_INTEGRATORS_STAGE_MATRIX_H
#define TW_INTEGRATORS_STAGE_MATRIX_H

#include "integrators/system.h"

typedef struct tw_stage_matrix tw_stage_matrix;

tw_status tw_stage_matrix_create(tw_system *system, tw_linear_solver solver, tw_stage_matrix **out,
                                 tw_error *error);
void tw_stage_matrix_free(tw_stage_matrix *matrix);

/* Prepares M + g K, or I - g J, at the present linearisation. TW_NOT_POSITIVE_DEFINITE leaves
 * nothing prepared. */
tw_status tw_stage_matrix_prepare(tw_stage_matrix *matrix, double g);

/* The same with M + g K made definite where it is not: M is replaced by (1 + r) M with the smallest
 * r of 1, 16, 256 ... that will do. */
tw_status tw_stage_matrix_prepare_raised(tw_stage_matrix *matrix, double g);

/* out = (what was prepared)^-1 in. Conjugate gradients end at the relative residual `accuracy`; a
 * factor needs none. */
tw_status tw_stage_matrix_solve(tw_stage_matrix *matrix, double accuracy, const double *in,
                                double *out);

/* g of what is prepared; 0: nothing is. */
double tw_stage_matrix_shift(const tw_stage_matrix *matrix);
/* Whether what is prepared is M + g K itself, without a raised diagonal. */
bool tw_stage_matrix_is_exact(const tw_stage_matrix *matrix);
/* Forgets what was prepared. */
void tw_stage_matrix_forget(tw_stage_matrix *matrix);

/* How many solves cost as much as one preparation, by a count of operations. */
double tw_stage_matrix_cost(const tw_stage_matrix *matrix);

#endif
