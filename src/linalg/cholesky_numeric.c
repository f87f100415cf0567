/* Numerical factorisation: CHOLMOD's supernodal code (GPL) or its simplicial code (LGPL). Which of
 * the two is decided at analysis; without TWANG_GPL it is always the latter. */
#include <math.h>

#include "base/fail.h"
#include "base/parallel_for.h"
#include "linalg/blas_session.h"
#include "linalg/cholesky_internal.h"

tw_status tw_cholesky_status(const tw_cholesky *factor)
{
    if (factor->memory.failed) return TW_OUT_OF_MEMORY;
    switch (factor->common.status) {
    case CHOLMOD_OK:
        return TW_OK;
    case CHOLMOD_NOT_POSDEF:
        return TW_NOT_POSITIVE_DEFINITE;
    case CHOLMOD_OUT_OF_MEMORY:
        return TW_OUT_OF_MEMORY;
    case CHOLMOD_TOO_LARGE:
        return TW_UNSUPPORTED;
    default:
        return TW_INTERNAL;
    }
}

static cholmod_sparse permuted_view(const tw_permuted *permuted, bool lower)
{
    const tw_triangle *triangle = &permuted->triangle;
    return (cholmod_sparse){.nrow = (size_t)triangle->n,
                            .ncol = (size_t)triangle->n,
                            .nzmax = (size_t)triangle->entries,
                            .p = triangle->start,
                            .i = triangle->row,
                            .x = permuted->values,
                            .stype = lower ? -1 : 1,
                            .itype = CHOLMOD_INT,
                            .xtype = CHOLMOD_REAL,
                            .dtype = CHOLMOD_DOUBLE,
                            .packed = 1};
}

/* Overflow leaves its trace on the diagonal: an infinite or NaN entry of row k makes L_kk NaN,
 * which passes for a square root. */
static bool diagonal_is_finite(const cholmod_factor *L)
{
    const double *x = L->x;

    /* Simplicial: the diagonal entry is the first of its column. */
    if (!L->is_super) {
        const int *start = L->p;
        for (size_t k = 0; k < L->n; k++)
            if (!isfinite(x[start[k]])) return false;
        return true;
    }

    /* Supernodal: the diagonal of a dense matrix of `rows` rows, supernode by supernode. */
    const int *super = L->super;
    const int *row_start = L->pi;
    const int *value_start = L->px;
    for (size_t s = 0; s < L->nsuper; s++) {
        const int rows = row_start[s + 1] - row_start[s];
        for (int c = 0; c < super[s + 1] - super[s]; c++)
            if (!isfinite(x[value_start[s] + (int64_t)c * (rows + 1)])) return false;
    }
    return true;
}

tw_status tw_cholesky_compute(tw_cholesky *factor)
{
    double no_shift[2] = {0, 0};
    cholmod_factor *L = factor->L;

    /* The supernodal code takes the lower triangle, the simplicial code the upper one. */
    cholmod_sparse A = permuted_view(&factor->permuted, L->is_super);

    /* CHOLMOD works in our memory and on the calling thread alone. */
    TW_TRY(tw_blas_enter());
    tw_solver_memory *previous = tw_solver_memory_enter(&factor->memory);
    const int held = tw_parallel_hold();
#ifdef TWANG_GPL
    if (L->is_super) cholmod_super_numeric(&A, NULL, no_shift, L, &factor->common);
#endif
    if (!L->is_super) {
        /* L L^T stops at the first pivot that is not positive; L D L^T would go on. */
        L->is_ll = 1;
        cholmod_rowfac(&A, NULL, no_shift, 0, L->n, L, &factor->common);
    }
    tw_parallel_resume(held);
    tw_solver_memory_leave(previous);
    tw_blas_leave();

    /* minor is the first column whose pivot is not positive. */
    tw_status status = tw_cholesky_status(factor);
    if (!status && L->minor < L->n) status = TW_NOT_POSITIVE_DEFINITE;
    if (!status && !diagonal_is_finite(L)) status = TW_NOT_FINITE;
    return status;
}
