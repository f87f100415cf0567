/* OpenBLAS as a guest in the process of somebody else: on one thread while we use it, with its
 * threads put back afterwards, and never where it has no memory. */
#ifndef TW_LINALG_BLAS_SESSION_H
#define TW_LINALG_BLAS_SESSION_H

#include <twang/status.h>

/* Call it before BLAS or LAPACK, and tw_blas_leave() after it, on any thread; sessions may overlap
 * and nest. Our matrices are small, and results must not depend on the threads of OpenBLAS.
 * TW_OUT_OF_MEMORY, and no session, if the buffer of OpenBLAS cannot be had. It stays in memory
 * once it was there: later sessions do not fail. */
tw_status tw_blas_enter(void);
void tw_blas_leave(void);

/* The same as a status with a text, for functions that create what will use BLAS later. */
tw_status tw_blas_reserve(tw_error *error);

#endif
