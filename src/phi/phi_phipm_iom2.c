/* phipm/IOM2: phipm with incomplete orthogonalisation, "iom = 2" meaning the last three vectors.
 * S. Gaudreault and J. A. Pudykiewicz, J. Comput. Phys. 322 (2016). */
#include "phi/phi_krylov.h"

static const tw_krylov_method method = {
    .window = 3,
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
    return tw_krylov_reserve(workspace, TW_PHI_PHIPM_IOM2, error);
}

static void release(tw_phi_workspace *workspace)
{
    tw_krylov_release(workspace, TW_PHI_PHIPM_IOM2);
}

static tw_status first_order(tw_phi_workspace *workspace, const tw_operator *op, const tw_phi_request *request,
                             tw_phi_statistics *statistics, tw_error *error)
{
    return tw_krylov_evaluate(workspace, &method, op, request, statistics, error);
}

static tw_status second_order(tw_phi_workspace *workspace, const tw_second_order *op, const tw_phi_request *request,
                              tw_phi_statistics *statistics, tw_error *error)
{
    return tw_phi_pair_evaluate(workspace, &tw_phi_phipm_iom2, op, request, statistics, error);
}

const tw_phi_engine_table tw_phi_phipm_iom2 = {
    .reserve = reserve,
    .release = release,
    .first_order = first_order,
    .second_order = second_order,
};
