/* Sparse LU over KLU, for matrices a I + b J where J is general: Newton's matrix of first-order
 * problems, I - gamma J.
 *
 * The pattern is analysed once (block triangular form, minimum degree). The first
 * factorisation chooses pivots. Later ones keep them, which is several times faster and
 * allocates nothing, as long as the growth of the factors shows that they are still good;
 * otherwise pivots are chosen anew.
 *
 * KLU is LGPL. (UMFPACK, its sibling for denser factors, is GPL.) */
#ifndef TW_LINALG_SPARSE_LU_H
#define TW_LINALG_SPARSE_LU_H

#include <twang/sparse.h>

typedef struct tw_sparse_lu tw_sparse_lu;

/* Analyses the pattern of J, with the diagonal added where it is missing. J is kept, not copied: it
 * must outlive the solver, and its values may change. Full storage, blocks of 1 or 3.
 * TW_UNSUPPORTED for other storage; TW_INVALID_ARGUMENT for an empty matrix. */
tw_status tw_sparse_lu_create(const tw_sparse *J, tw_sparse_lu **out, tw_error *error);
/* Accepts NULL. */
void tw_sparse_lu_free(tw_sparse_lu *lu);

/* Factorises a I + b J with the present values of J. TW_SINGULAR if a pivot is 0, TW_NOT_FINITE if
 * an entry is not finite; then there is no factor. */
tw_status tw_sparse_lu_factorise(tw_sparse_lu *lu, double a, double b);

/* Solves (a I + b J) x = rhs with the last factor; x and rhs may be the same array.
 * TW_INVALID_ARGUMENT without a factor, TW_NOT_FINITE if the result is not finite. */
tw_status tw_sparse_lu_solve(tw_sparse_lu *lu, const double *rhs, double *x);

/* Entries of both factors, and how often pivots were chosen, for cost models and tests. */
typedef struct tw_sparse_lu_counts {
    int64_t entries;
    int64_t pivot_searches;
    int64_t factorisations; /* all */
} tw_sparse_lu_counts;
tw_sparse_lu_counts tw_sparse_lu_counts_now(const tw_sparse_lu *lu);

#endif
