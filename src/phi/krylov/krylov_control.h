/* How the adaptive Krylov engines choose the next substep tau and dimension m. The engines differ in the data of a
 * tw_krylov_method and in nothing else. */
#ifndef TW_PHI_KRYLOV_CONTROL_H
#define TW_PHI_KRYLOV_CONTROL_H

#include <stdbool.h>

typedef struct tw_krylov_method {
    bool
        augmented; /* KIOPS: exp of the augmented operator; else phipm: recurrence w_j and one phi_p */
    bool simultaneous; /* all nodes in one sweep; else a sweep per node */
    bool skips_zero;   /* no product with a zero vector in the recurrence */
    bool
        dimension_first; /* KIOPS: grow m to its limit, then shrink tau; else phipm: whichever costs less */
    int window; /* vectors orthogonalised against, 0: all (2 if the operator is symmetric or skew) */
    int min_dimension, start_dimension, max_dimension;
    double aim;          /* gamma: error aimed at, in units of the tolerance */
    double aim_at_limit; /* gamma at the largest dimension */
    double accept;       /* delta: error accepted, in the same units */
    double most_growth;  /* of tau from one substep to the next */
} tw_krylov_method;

typedef struct tw_krylov_control {
    const tw_krylov_method *method;
    int min_dimension, max_dimension;
    double vector_size; /* n, of the cost model */
    double entries;     /* flops of a product / 2, of the cost model */
    int columns;        /* phi_0 .. phi_{columns-1} */

    double tau; /* of the trial, then of the next one */
    int m;
    int rejections; /* since the last accepted substep */

    double old_tau, old_omega, order, rate;
    int old_m;
    bool order_is_default, rate_is_default;
    int stretches;  /* of this substep */
    double certain; /* a tau known to be acceptable, 0 if none */
} tw_krylov_control;

/* What a trial of (tau, m) showed. */
typedef struct tw_krylov_trial {
    double omega;     /* error in units of the tolerance for this substep */
    double norm;      /* |tau H| */
    double remaining; /* time to the end before this substep */
    int dimension;    /* reached: m, or less when the space is exhausted */
    bool exhausted;
} tw_krylov_trial;

void tw_krylov_control_begin(tw_krylov_control *control, double tau);

/* Whether the trial is accepted; sets tau and m for what comes next either way. A basis at its largest dimension is
 * dear and a trial of tau cheap: a substep that was shrunk too far is stretched again (that counts as a rejection too).
 */
bool tw_krylov_control_judge(tw_krylov_control *control, const tw_krylov_trial *trial);

/* Rejects without an estimate: tau *= factor. */
void tw_krylov_control_shrink(tw_krylov_control *control, double factor);

#endif
