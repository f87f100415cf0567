#include "phi/phi_internal.h"

tw_status tw_phi_pair_evaluate(tw_phi_workspace *workspace, const tw_phi_engine_table *engine,
                               const tw_second_order *op, const tw_phi_request *request, tw_phi_statistics *statistics,
                               tw_error *error)
{
    (void)workspace, (void)engine, (void)op, (void)request, (void)statistics, (void)error;
    return TW_UNSUPPORTED;
}
