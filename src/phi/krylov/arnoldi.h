/* The Krylov basis of the four Arnoldi engines, orthogonalised against all or only the last few of its vectors
 * (incomplete orthogonalisation, IOM), in the Euclidean or another inner product. Whatever the window, exactly
 *     L V_m = V_m H_m + h_{m+1,m} v_{m+1} e_m^T,
 * where L is `scale * A` or, with a tail of p entries, the augmented operator of KIOPS
 *     L (u; a) = (scale A u + sum_k a_k columns[k]; a_2, ..., a_p, 0). */
#ifndef TW_PHI_ARNOLDI_H
#define TW_PHI_ARNOLDI_H

#include <stdbool.h>

#include "phi/phi_internal.h"

typedef struct tw_arnoldi {
    const tw_operator *op;       /* A */
    const tw_phi_metric *metric; /* NULL: Euclidean */
    double scale;
    int window;                                   /* vectors orthogonalised against; 0: all */
    int tail;                                     /* p, 0..TW_PHI_MAX_ORDER */
    const double *columns[TW_PHI_MAX_ORDER];      /* NULL means zero */
    const double *column_duals[TW_PHI_MAX_ORDER]; /* G columns[k], only with a metric */
    double column_factor;                         /* multiplies every column */

    int capacity;            /* most vectors, without the last */
    double *basis;           /* capacity + 1 vectors of op->space.local_size */
    double *duals;           /* the same, only with a metric */
    double *tails;           /* capacity + 1 times TW_PHI_MAX_ORDER */
    double *H;               /* (capacity + 1)^2, column-major */
    double *window_products; /* capacity + 1, scratch */

    int dimension; /* m: columns of H that are there */
    double
        steepest; /* largest |scale A v| / |v| (2-norm) seen in this basis; only with a tail, else 0 */
    bool exhausted;       /* the space is invariant to rounding: it cannot and need not grow */
    int64_t products;     /* done so far, over all bases */
    int64_t max_products; /* then TW_BUDGET_EXHAUSTED */
} tw_arnoldi;

/* Begins a basis with (u; tail); *length is its norm, 0 if there is nothing to build on. */
tw_status tw_arnoldi_start(tw_arnoldi *arnoldi, const double *u, const double *tail,
                           double *length);

/* Grows the basis to `dimension`, or until it is exhausted. */
tw_status tw_arnoldi_extend(tw_arnoldi *arnoldi, int dimension);

/* dual = G u, counted as a product; only with a metric. */
tw_status tw_arnoldi_dual(tw_arnoldi *arnoldi, const double *u, double *dual);

/* out = scale * A u, counted. */
tw_status tw_arnoldi_apply(tw_arnoldi *arnoldi, const double *u, double *out);

#endif
