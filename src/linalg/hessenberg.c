#include "linalg/hessenberg.h"

#include <lapacke.h>

#include "linalg/dense.h"

tw_status tw_hessenberg_eigenvalues(int n, double *H, double *real, double *imaginary,
                                    double *scratch)
{
    if (n <= 0) return TW_OK;
    tw_dense_initialise();
    if (!tw_dense_is_finite((size_t)n * (size_t)n, H)) return TW_NOT_FINITE;
    double unused = 0;
    lapack_int info = LAPACKE_dhseqr_work(LAPACK_COL_MAJOR, 'E', 'N', n, 1, n, H, n, real,
                                          imaginary, &unused, 1, scratch, n);
    return info == 0 ? TW_OK : TW_NOT_CONVERGED;
}
