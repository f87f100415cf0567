/** @file cholesky.h
 *  Sparse Cholesky behind a small interface (CHOLMOD underneath): analyse once, refactor often,
 *  solve blocks.
 *
 *  What is global: SuiteSparse has one process-wide set of memory functions (SuiteSparse_config).
 *  The first factor created replaces it by functions that serve Twang's factors through Twang's
 *  allocator (memory.h) and pass an application's own SuiteSparse calls to the functions it had
 *  before; do not replace them again afterwards. OpenBLAS has one thread meanwhile. Analysis takes a
 *  process-wide lock, because METIS uses rand(), whose sequence it restarts.
 *
 *  Licence: CHOLMOD's supernodal code is GPL. Configured with TWANG_GPL=OFF, Twang calls its
 *  simplicial code instead.
 */
#ifndef TWANG_CHOLESKY_H
#define TWANG_CHOLESKY_H

#include <twang/sparse.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Factor of `a * diag(mass) + b * K` (or of `a * M + b * K`). One object, one thread at a time. */
typedef struct tw_cholesky tw_cholesky;

/** Analyses the pattern of `stiffness` (united with `mass_matrix`'s, if not NULL) and allocates
 *  everything that later factorisations and solves with up to TW_MAX_BLOCK columns need. Each
 *  matrix may be in full or in upper storage; a full one must be symmetric. The matrices
 *  are kept by reference and must outlive the factor. */
TW_API tw_status tw_cholesky_create(const tw_sparse *stiffness, const tw_sparse *mass_matrix,
                                    tw_cholesky **out, tw_error *error);

/** Factorises `mass_factor * M + stiffness_factor * K` with the values the matrices hold now; M is
 *  the mass matrix given at creation, or diag(lumped_mass), or (both NULL) the identity. Only the
 *  upper triangles are read. TW_NOT_POSITIVE_DEFINITE and TW_NOT_FINITE leave no factor. Allocates
 *  nothing. */
TW_API tw_status tw_cholesky_factor(tw_cholesky *factor, double mass_factor,
                                    const double *lumped_mass, double stiffness_factor);

/** out = (factored matrix)^-1 in, `count` columns. Allocates nothing. `in == out` is allowed.
 *  TW_INVALID_ARGUMENT if there is no factor, TW_NOT_FINITE (and `out` untouched) if the solution
 *  is not finite. */
TW_API tw_status tw_cholesky_solve(tw_cholesky *factor, int count, const double *in, double *out);

typedef struct tw_cholesky_counts {
    int64_t factorisations; /**< successful or not */
    int64_t solves;         /**< columns solved */
    double factor_flops;    /**< of one factorisation */
    int64_t factor_nonzeros;
    double solve_bytes; /**< memory one solve with one vector must move */
} tw_cholesky_counts;
TW_API tw_cholesky_counts tw_cholesky_counts_now(const tw_cholesky *factor);

/** Frees; accepts NULL. */
TW_API void tw_cholesky_free(tw_cholesky *factor);

/** `M + gamma K` by Cholesky as a tw_shifted_solver, refactored only when gamma or the stiffness
 *  values changed. */
typedef struct tw_shifted_cholesky tw_shifted_cholesky;

/** As tw_cholesky_create; `lumped_mass` (N values kept by reference, NULL for ones) where
 *  mass_matrix is NULL. */
TW_API tw_status tw_shifted_cholesky_create(const tw_sparse *stiffness,
                                            const tw_sparse *mass_matrix, const double *lumped_mass,
                                            tw_shifted_cholesky **out, tw_error *error);
/** Says that the values of K (or M) changed: the next factor() factorises anew. */
TW_API void tw_shifted_cholesky_invalidate(tw_shifted_cholesky *solver);
/** The view to put into tw_second_order.shifted; lives as long as the object. */
TW_API const tw_shifted_solver *tw_shifted_cholesky_view(const tw_shifted_cholesky *solver);
/** gamma of the factor that it holds; 0 if it holds none. */
TW_API double tw_shifted_cholesky_gamma(const tw_shifted_cholesky *solver);
TW_API tw_cholesky_counts tw_shifted_cholesky_counts(const tw_shifted_cholesky *solver);
TW_API void tw_shifted_cholesky_free(tw_shifted_cholesky *solver);

#ifdef __cplusplus
}
#endif
#endif
