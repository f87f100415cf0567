/* Symmetric 3x3 matrices, and the cross product. */
#ifndef TW_MODEL_SYMMETRIC3_H
#define TW_MODEL_SYMMETRIC3_H

/* out = a x b; out overlaps neither. */
static inline void tw_cross3(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* The pseudo-inverse of a positive semidefinite matrix (full storage): eigenvalues below `smallest` times the largest
 * count as zero. (symmetric3.c) */
void tw_symmetric3_pseudo_inverse(const double A[9], double smallest, double inverse[9]);

#endif
