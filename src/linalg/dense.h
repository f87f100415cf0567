/* Small dense algebra over LAPACK. Column-major; nothing allocates: scratch is handed in, its size
 * asked for first. Where OpenBLAS has no memory (blas_session.h), functions with a status return
 * TW_OUT_OF_MEMORY, and the others write a NaN. */
#ifndef TW_LINALG_DENSE_H
#define TW_LINALG_DENSE_H

#include <stdbool.h>
#include <stddef.h>
#include <twang/status.h>

/* Doubles of scratch for the functions below at order n. */
size_t tw_dense_eigen_scratch(int n); /* tw_symmetric_eigen, tw_tridiagonal_eigen */
size_t tw_dense_expm_scratch(int n);  /* tw_expm */

/* A = Q diag(w) Q^T: w ascending, Q overwrites A (n x n, leading dimension n). */
tw_status tw_symmetric_eigen(int n, double *A, double *w, double *scratch);

/* Tridiagonal T (diagonal d[n], off-diagonal e[n-1], both destroyed; d becomes the eigenvalues
 * ascending), Q n x n. */
tw_status tw_tridiagonal_eigen(int n, double *d, double *e, double *Q, double *scratch);

/* Eigenvalues real[i] + i imaginary[i], i < n, of an upper Hessenberg matrix. H (leading dimension
 * n) is destroyed; scratch has n entries. */
tw_status tw_hessenberg_eigenvalues(int n, double *H, double *real, double *imaginary,
                                    double *scratch);

/* E = exp(A) by scaling and squaring with Pade approximants (Al-Mohy & Higham 2009). A is kept.
 * TW_NOT_FINITE if A is not finite or exp overflows. */
tw_status tw_expm(int n, const double *A, double *E, double *scratch);

/* C = alpha A B + beta C, n x n. */
void tw_dense_multiply(int n, double alpha, const double *A, const double *B, double beta,
                       double *C);

/* Solves A X = B by LU with partial pivoting; A destroyed, B (n x columns) becomes X. */
tw_status tw_dense_solve(int n, double *A, int columns, double *B, int *pivots);

/* P A = L U in place, and the solution of A x = b from it, which overwrites b. */
tw_status tw_dense_lu(int n, double *A, int *pivots);
tw_status tw_dense_lu_solve(int n, const double *LU, const int *pivots, double *b);

/* A = L L^T, lower triangle overwritten by L. TW_NOT_POSITIVE_DEFINITE if it is not. */
tw_status tw_dense_cholesky(int n, double *A);

/* A = A^-1 for symmetric positive definite A (lower triangle read, both written); log det A
 * into *log_determinant. */
tw_status tw_dense_spd_invert(int n, double *A, double *log_determinant);

/* Estimate of cond_1(A) from its Cholesky factor L and |A|_1; scratch of 4 n doubles. */
double tw_dense_cholesky_condition(int n, const double *L, double norm1, double *scratch);

/* y = A x, or A^T x if transposed; A is rows x columns. */
void tw_dense_apply(bool transposed, int rows, int columns, const double *A, const double *x,
                    double *y);

/* x = L^-1 x, or L^-T x if transposed, for `columns` columns; L lower triangular, n x n. */
void tw_dense_lower_solve(bool transposed, int n, const double *L, int columns, double *x);

/* A = L^-1 A L^-T, A any n x n matrix. */
void tw_dense_congruence(int n, const double *L, double *A);

/* Largest absolute column sum. */
double tw_dense_norm1(int n, const double *A);

bool tw_dense_is_finite(size_t count, const double *A);

#endif
