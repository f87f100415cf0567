/* A block Krylov space of S = (M + gamma K)^-1 M, orthonormal in the mass inner product, in which S is symmetric.
 *
 *     f(A) b ~ Q f~(H) Q^T M b,   H = Q^T M S Q,   f~(theta) = f((1/theta - 1)/gamma)
 * The space of all start vectors together serves each of them. Orthogonalisation is complete and done twice: the space
 * is small, and what makes it small is that it is used to the full. */
#ifndef TW_PHI_SHIFT_INVERT_BASIS_H
#define TW_PHI_SHIFT_INVERT_BASIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <twang/phi.h>

enum { TW_RATIONAL_MAX = 160 /* most vectors of any basis */ };

typedef struct tw_rational_basis {
    int64_t size;  /* N, local */
    int capacity;  /* most vectors */
    double *Q;     /* capacity vectors */
    double *H;     /* capacity x capacity, column-major: columns 0..processed-1 are known */
    int count;     /* vectors in Q */
    int processed; /* of them, how many S was applied to: the dimension of the space in use */
    int start_count;
    double start[TW_MAX_BLOCK][TW_MAX_BLOCK]; /* start vectors in terms of the first ones of Q */
    double gamma;
    bool smooth; /* the start vectors were multiplied by S first: functions carry 1/theta */
} tw_rational_basis;

/* What building a basis needs besides: 2 TW_MAX_BLOCK + 1 vectors. */
typedef struct tw_rational_scratch {
    double *image, *force, *weighed;
} tw_rational_scratch;

/* Empties the basis and takes in the start vectors (NULL: zero), smoothed by S if asked. Adds to *solves. */
tw_status tw_rational_begin(tw_rational_basis *basis, const tw_second_order *op, int start_count,
                            const double *const *starts, double gamma, bool smooth, tw_rational_scratch *scratch,
                            int64_t *solves);

/* Applies S to the vectors it was not applied to yet (at most TW_MAX_BLOCK) and adds what is new. *exhausted: nothing
 * was, so the space is invariant. TW_NOT_CONVERGED when the capacity is reached. */
tw_status tw_rational_extend(tw_rational_basis *basis, const tw_second_order *op, tw_rational_scratch *scratch,
                             int64_t *solves, bool *exhausted);

#endif
