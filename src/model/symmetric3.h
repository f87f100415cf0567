/* Symmetric 3x3 matrices. */
#ifndef TW_MODEL_SYMMETRIC3_H
#define TW_MODEL_SYMMETRIC3_H

/* The pseudo-inverse of a positive semidefinite matrix in full storage. Eigenvalues below
 * `smallest` times the largest count as zero. */
void tw_symmetric3_pseudo_inverse(const double A[9], double smallest, double inverse[9]);

/* The smallest eigenvalue of a matrix in full storage. */
double tw_symmetric3_smallest(const double A[9]);

#endif
