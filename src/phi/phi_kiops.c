/* KIOPS: the exponential of an augmented operator, incomplete orthogonalisation, m grows before tau shrinks.
 * S. Gaudreault, G. Rainwater and M. Tokman, J. Comput. Phys. 372 (2018). Time is scaled so that the last node is 1:
 * of the paper's two sets of constants the one for tau_end <= 1 holds. */
#include "phi/phi_krylov.h"

static const tw_krylov_method method = {
    .augmented = true,
    .simultaneous = true,
    .dimension_first = true,
    .window = 2,
    .min_dimension = 10,
    .start_dimension = 10,
    .max_dimension = 128,
    .aim = 0.9,
    .aim_at_limit = 0.6,
    .accept = 1.4,
    .most_growth = 5,
};

static tw_status reserve(tw_phi_workspace *workspace, tw_error *error)
{
    return tw_krylov_reserve(workspace, TW_PHI_KIOPS, error);
}

static void release(tw_phi_workspace *workspace)
{
    tw_krylov_release(workspace, TW_PHI_KIOPS);
}

static tw_status first_order(tw_phi_workspace *workspace, const tw_operator *op, const tw_phi_request *request,
                             tw_phi_statistics *statistics, tw_error *error)
{
    return tw_krylov_evaluate(workspace, &method, op, request, statistics, error);
}

static tw_status second_order(tw_phi_workspace *workspace, const tw_second_order *op, const tw_phi_request *request,
                              tw_phi_statistics *statistics, tw_error *error)
{
    return tw_phi_pair_evaluate(workspace, &tw_phi_kiops, op, request, statistics, error);
}

const tw_phi_engine_table tw_phi_kiops = {
    .reserve = reserve,
    .release = release,
    .first_order = first_order,
    .second_order = second_order,
};
