/* One sweep of an adaptive Krylov engine: u' = s A u + sum_{k>=1} theta^{k-1}/(k-1)! b_k, u(0) = b_0, whose solution is
 *     u(theta) = sum_k theta^k phi_k(theta s A) b_k,
 * followed from theta = 0 to the last node through substeps. */
#ifndef TW_PHI_SUBSTEPS_H
#define TW_PHI_SUBSTEPS_H

#include "phi/krylov/arnoldi.h"
#include "phi/krylov/krylov_control.h"
#include "phi/krylov/projection.h"

/* Memory shared by the four engines of a workspace. */
typedef struct tw_krylov_memory {
    tw_arnoldi arnoldi;
    tw_projection projection;
    double
        *recurrence; /* TW_PHI_MAX_ORDER + 1 vectors: phipm's w_j, or the duals of KIOPS' columns */
    double *vectors[3]; /* u, the next u, and one more */
} tw_krylov_memory;

/* What is asked of a sweep, and what came of it. Blocks: see tw_phi_frame; the second is unused without one. */
typedef struct tw_phi_sweep {
    double scale;                                /* s, not zero */
    int order;                                   /* highest k with a b_k */
    const double *vectors[TW_PHI_MAX_ORDER + 1]; /* b_k / factor, NULL means zero */
    double factor;                               /* a power of two */
    double sizes[TW_PHI_MAX_ORDER + 1][2];       /* norms of b_k, per block */
    double tolerance;                            /* relative, for the whole sweep */
    int node_count;                              /* of what follows */
    double nodes[TW_PHI_MAX_NODES];              /* ascending, in (0, 1], the last is 1 */
    double *outputs[TW_PHI_MAX_NODES];           /* += weight * u(node) */
    double weights[TW_PHI_MAX_NODES];
    double scales[TW_PHI_MAX_NODES][2]; /* least size to which the tolerance relates, per block */

    double errors[TW_PHI_MAX_NODES][2]; /* estimated, per block: what truncation left in u(node) */
    double rounding[TW_PHI_MAX_NODES][2]; /* and rounding */
} tw_phi_sweep;

/* Runs the sweep; adds to substeps, rejected and dimension of *statistics. memory->arnoldi counts the products. */
tw_status tw_phi_substeps_run(const tw_phi_workspace *workspace, const tw_krylov_method *method,
                              tw_krylov_memory *memory, tw_phi_sweep *sweep,
                              tw_phi_statistics *statistics);

#endif
