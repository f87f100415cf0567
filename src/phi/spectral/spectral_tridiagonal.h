/* Functions of the small tridiagonal matrices that Lanczos leaves: coefficients, and what the next ones would be. */
#ifndef TW_PHI_SPECTRAL_TRIDIAGONAL_H
#define TW_PHI_SPECTRAL_TRIDIAGONAL_H

#include <stdbool.h>
#include <twang/phi.h>

enum { TW_CHAIN_PAD = 4 /* rows by which a chain is continued to see its error */ };

/* The three-term recurrence of one start vector: A q_k = beta_{k-1} q_{k-1} + alpha_k q_k + beta_k q_{k+1}, q_0 =
 * b/|b|. The vectors are kept unnormalised: q_k = scale_k * vector_k. */
typedef struct tw_chain {
    double norm;    /* |b|_M; zero: nothing to do */
    int dimension;  /* m: alpha_0..alpha_{m-1} and beta_0..beta_{m-1} are known */
    bool exhausted; /* beta_{m-1} vanishes: the space is invariant, f(T) is exact */
    double *alpha, *beta, *scale;
    double **vector;
    int stored; /* vectors 0..stored-1 are kept; fewer than dimension when memory ran out */
} tw_chain;

/* A Ritz value with the first and the last entry of its eigenvector, and the value of a function there. */
typedef struct tw_ritz {
    double theta, first, last, value;
} tw_ritz;

/* Scratch for chains of up to `capacity` dimensions. */
typedef struct tw_chain_scratch {
    int capacity;
    double *d, *e; /* capacity + TW_CHAIN_PAD */
    double *rows;  /* (1 + TW_CHAIN_PAD) times that */
    tw_ritz *ritz; /* capacity */
    double *Q;     /* capacity^2 */
    double *eigen; /* tw_dense_eigen_scratch(capacity) */
} tw_chain_scratch;

/* What is known of the spectrum outside what this chain has seen. */
typedef struct tw_chain_range {
    double lowest,
        highest; /* Ritz values of any chain so far, and 0: widened by tw_chain_estimate */
    /* Whether to allow for growing modes below zero even if no Ritz value is negative. */
    bool hidden_growth;
} tw_chain_range;

/* What is known of |b| f(T_m) e_1 as an approximation to f(A) b. */
typedef struct tw_chain_error {
    double error; /* |f(A) b - approximation|_M, estimated */
    double norm;  /* |approximation|_M */
    double
        rounding; /* change of the approximation when T is perturbed by a few units in the last place of |T| */
} tw_chain_error;

/* Eigenvalues of T (diagonal d[n], off-diagonal e[n], e[n-1] ignored; both destroyed, d becomes the eigenvalues in no
 * order) and, of the eigenvectors, `row_count` rows: Z (row_count entries per column, n columns) is multiplied by them
 * from the right. O(n^2 row_count). */
tw_status tw_tridiagonal_rows(int n, double *d, double *e, int row_count, double *Z);

/* Ritz values of T_m, ascending, into scratch->ritz. */
tw_status tw_chain_decompose(const tw_chain *chain, int m, tw_chain_scratch *scratch);

/* Errors of the first m dimensions for `count` functions (f[0], f[stride], ...), from the chain alone: no product.
 *
 * With Ritz values theta_i and eigenvectors s_i of T_m the error is exactly |b| r(A) q_{m+1},
 *     r(lambda) = beta_m sum_i (e_1^T s_i)(e_m^T s_i) f[theta_i, lambda]   (divided difference).
 * r is sampled between the Ritz values, at zero and a residual beyond the ends. If q_{m+1} spreads evenly over the
 * spectrum the error is the mean square of the samples; it never exceeds their maximum. The estimate is the larger of
 * the first and a fraction of the second. A mode at lambda below all Ritz values has at most the weight
 * 1/T_m(1 + 2 (theta_1 - lambda)/spread) in b (Chebyshev), else it would have been seen; where f grows so fast that
 * this does not suffice, that too is an error. Where rounding hides r, T_m is continued by TW_CHAIN_PAD rows instead,
 * as if the recurrence went on with the coefficients it had last, and the error is what f has in the added rows. */
tw_status tw_chain_estimate(const tw_chain *chain, int m, tw_chain_range *range, int count,
                            int stride, const tw_spectral_function *f, tw_chain_scratch *scratch,
                            tw_chain_error *errors);

/* Largest minus smallest eigenvalue of T_m (or 0, if that is outside), from above by Gershgorin. */
double tw_chain_spread(const tw_chain *chain, int m);

/* coefficients[i * row + k] = |b| scale_k e_k^T f_i(T_m) e_1, so that f_i(A) b = sum_k coefficients_k vector_k. */
tw_status tw_chain_coefficients(const tw_chain *chain, int m, int count, int stride,
                                const tw_spectral_function *f, tw_chain_scratch *scratch,
                                int64_t row, double *coefficients);

#endif
