/* A block Krylov space of S = (M + gamma K)^-1 M, orthonormal in the mass inner product, in which S is symmetric.
 *
 *     f(A) b ~ Q f~(H) Q^T M b,   H = Q^T M S Q,   f~(theta) = f((1/theta - 1)/gamma)
 * The space of all start vectors together serves each of them. Orthogonalisation is complete and done twice: the space
 * is small, and what makes it small is that it is used to the full. A vector that turns out to depend on the earlier
 * ones is dropped, and the block becomes narrower. */
#ifndef TW_PHI_SHIFT_INVERT_BASIS_H
#define TW_PHI_SHIFT_INVERT_BASIS_H

#include <stdbool.h>

#include "linalg/mass.h"

enum { TW_RATIONAL_MAX = 256 /* most vectors of any basis */ };

/* How far a basis had come. */
typedef struct tw_rational_edge {
    int processed, count;
    double rest
        [TW_MAX_BLOCK]
        [TW_MAX_BLOCK]; /* if Galerkin: q_i^T (M + gamma K) q_j of the vectors not yet processed */
} tw_rational_edge;

typedef struct tw_rational_basis {
    int64_t size; /* N, local */
    int capacity; /* most vectors */
    double *Q;    /* capacity vectors */
    double *
        H; /* capacity x capacity, column-major: columns 0..processed-1 are known, `count` rows of them */
    int count;     /* vectors in Q */
    int processed; /* of them, how many S was applied to: the dimension of the space in use */
    int start_count;
    int active;                               /* start vectors that are not zero */
    double norm[TW_MAX_BLOCK];                /* |b_j|_M of the (smoothed) start vectors */
    double start[TW_MAX_BLOCK][TW_MAX_BLOCK]; /* b_j/|b_j| in terms of the first vectors of Q */
    double gamma;
    double
        theta_low; /* lower end of S's spectrum: 1/(1 + gamma lambda_max) if that is known, else 0 */
    bool smooth;   /* the start vectors were multiplied by S first: functions carry 1/theta */
    int extensions; /* so far */
    tw_rational_edge *
        edge; /* after each extension, edge[extensions - 1] being the present one; `capacity` of them */
    bool galerkin; /* functions are of Q^T K Q instead of H, see shift_invert_error.h */
} tw_rational_basis;

/* What building a basis needs besides: TW_MAX_BLOCK vectors each, and one in `weighed`. */
typedef struct tw_rational_scratch {
    double *image, *force, *weighed;
} tw_rational_scratch;

/* Empties the basis and takes in the start vectors (NULL: zero), smoothed by S if asked. Adds to *solves. */
tw_status tw_rational_begin(tw_rational_basis *basis, const tw_second_order *op, int start_count,
                            const double *const *starts, double gamma, bool smooth,
                            tw_rational_scratch *scratch, int64_t *solves);

/* Applies S to the vectors it was not applied to yet (at most TW_MAX_BLOCK) and adds what is new.
 * TW_NOT_CONVERGED when the capacity is reached. */
tw_status tw_rational_extend(tw_rational_basis *basis, const tw_second_order *op,
                             tw_rational_scratch *scratch, int64_t *solves);

/* For a Galerkin basis, after each extension: fills the edge's `rest`. Adds to *products. */
tw_status tw_rational_measure_rest(tw_rational_basis *basis, const tw_second_order *op,
                                   tw_rational_scratch *scratch, int64_t *products);

/* The basis as it was `ago` extensions before (empty if it had not begun). It shares the vectors. */
tw_rational_basis tw_rational_past(const tw_rational_basis *basis, int ago);

/* Whether S maps the space into itself: results are exact then. */
static inline bool tw_rational_is_invariant(const tw_rational_basis *basis)
{
    return basis->processed == basis->count;
}

#endif
