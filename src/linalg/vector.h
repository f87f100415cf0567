/* Vector kernels: threaded, fixed blocking, bitwise repeatable. Lengths come from a tw_space; only
 * the functions that sum take the space itself (they call its reduce hook). */
#ifndef TW_LINALG_VECTOR_H
#define TW_LINALG_VECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <twang/operator.h>

/* <x, y>, summed over ranks. */
tw_status tw_vector_dot(const tw_space *space, const double *x, const double *y, double *result);

/* sum_i w_i x_i y_i; w == NULL means ones. */
tw_status tw_vector_weighted_dot(const tw_space *space, const double *w, const double *x,
                                 const double *y, double *result);

/* |x|_2 without overflow or underflow of squares: |x_i| may be 1e300 or 1e-300. */
tw_status tw_vector_norm(const tw_space *space, const double *x, double *result);

/* |x - y|_2 in one pass; `room` has local_size entries, which are written only where squares overflow or
 * underflow. */
tw_status tw_vector_distance(const tw_space *space, const double *x, const double *y, double *room,
                             double *result);

/* results[j] = <V_j, x>, j < count, in one pass over x; V_j = basis + j * local_size. */
tw_status tw_vector_dots(const tw_space *space, int count, const double *basis, const double *x,
                         double *results);

void tw_vector_copy(int64_t n, const double *x, double *y);
void tw_vector_fill(int64_t n, double value, double *y);
void tw_vector_scale(int64_t n, double a, double *y);                 /* y = a y */
void tw_vector_axpy(int64_t n, double a, const double *x, double *y); /* y += a x */
/* out = y + a x; out may be y. Returns whether every entry of out is finite. */
bool tw_vector_add_scaled(int64_t n, const double *y, double a, const double *x, double *out);
/* A kick and a drift: v_new = v + k a and x_new = x + h v_new, in one pass. u = (x, v), 2 n entries.
 * Returns whether every entry of x_new is finite. */
bool tw_vector_kick_and_drift(int64_t n, const double *u, double k, const double *a, double h,
                              double *u_new);
void tw_vector_axpby(int64_t n, double a, const double *x, double b, double *y); /* y = a x + b y */
void tw_vector_multiply(int64_t n, const double *w, const double *x, double *y); /* y_i = w_i x_i */
void tw_vector_divide(int64_t n, const double *w, const double *x, double *y); /* y_i = x_i / w_i */

/* y += sum_j c_j V_j in one pass over y. */
void tw_vector_add_combination(int64_t n, int count, const double *basis, const double *c,
                               double *y);

/* outputs[i] = sum_j C[i * count + j] V_j for all i in one pass over the basis: "one combination
 * pass". Outputs overlap neither each other nor the basis. */
void tw_vector_combine(int64_t n, int count, const double *basis, int outputs_count,
                       const double *C, double *const *outputs);

/* Whether every entry is finite. */
bool tw_vector_is_finite(int64_t n, const double *x);

#endif
