/* Eigenvalues of a small upper Hessenberg matrix. */
#ifndef TW_LINALG_HESSENBERG_H
#define TW_LINALG_HESSENBERG_H

#include <twang/status.h>

/* real[i] + i imaginary[i], i < n. H (column-major, leading dimension n) is destroyed; scratch has
 * n entries. */
tw_status tw_hessenberg_eigenvalues(int n, double *H, double *real, double *imaginary,
                                    double *scratch);

#endif
