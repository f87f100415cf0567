/* phipm: adaptive substeps, adaptive dimension, full Arnoldi (Lanczos when the operator is symmetric or skew).
 * J. Niesen and W. M. Wright, "Algorithm 919", ACM Trans. Math. Softw. 38 (2012). */
#include "phi/phi_krylov.h"

static const tw_krylov_method method = {
    .window = 0,
    .min_dimension = 1,
    .start_dimension = 10,
    .max_dimension = 100,
    .aim = 0.8,
    .aim_at_limit = 0.8,
    .accept = 1.2,
    .most_growth = 2,
};

static tw_status reserve(tw_phi_workspace *workspace, tw_error *error)
{
    return tw_krylov_reserve(workspace, TW_PHI_PHIPM, error);
}

static void release(tw_phi_workspace *workspace)
{
    tw_krylov_release(workspace, TW_PHI_PHIPM);
}

static tw_status first_order(tw_phi_workspace *workspace, const tw_operator *op, const tw_phi_request *request,
                             tw_phi_statistics *statistics, tw_error *error)
{
    return tw_krylov_evaluate(workspace, &method, op, request, statistics, error);
}

static tw_status second_order(tw_phi_workspace *workspace, const tw_second_order *op, const tw_phi_request *request,
                              tw_phi_statistics *statistics, tw_error *error)
{
    return tw_phi_pair_evaluate(workspace, &tw_phi_phipm, op, request, statistics, error);
}

const tw_phi_engine_table tw_phi_phipm = {
    .reserve = reserve,
    .release = release,
    .first_order = first_order,
    .second_order = second_order,
};
