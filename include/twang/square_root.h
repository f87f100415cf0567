/** @file square_root.h
 *  Omega = sqrt(A) for small symmetric positive definite A, and the papers' variables (Omega x,
 *  v).
 */
#ifndef TWANG_SQUARE_ROOT_H
#define TWANG_SQUARE_ROOT_H

#include <twang/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tw_sqrt_method {
    TW_SQRT_EIGEN, /**< symmetric eigendecomposition: the default choice */
    /** Product form of the Denman-Beavers iteration, inverses by Cholesky: stable. */
    TW_SQRT_PRODUCT,
    /** The published `O <- (O + O^-1 A)/2`: unstable for cond(A) above about 10; its breakdown is
     *  detected and reported as TW_ILL_CONDITIONED. */
    TW_SQRT_NEWTON
} tw_sqrt_method;

/** What the iteration did. */
typedef struct tw_sqrt_report {
    int iterations;   /**< 0 for TW_SQRT_EIGEN */
    double residual;  /**< |O O - A|_F / |A|_F */
    double condition; /**< estimate of cond_2(A) (from eigenvalues, or Cholesky-based) */
} tw_sqrt_report;

/** O = sqrt(A), n x n column-major, A kept. TW_NOT_POSITIVE_DEFINITE if A is not; `report`, `error`
 *  may be NULL. */
TW_API tw_status tw_sqrt_spd(int n, const double *A, tw_sqrt_method method, double *O,
                             tw_sqrt_report *report, tw_error *error);

/** (x, v) -> (Omega x, v) in place: `u` has 2n entries. */
TW_API tw_status tw_to_omega(int n, const double *O, double *u, tw_error *error);
/** (Omega x, v) -> (x, v) in place, by a solve with Omega. */
TW_API tw_status tw_from_omega(int n, const double *O, double *u, tw_error *error);

#ifdef __cplusplus
}
#endif
#endif
