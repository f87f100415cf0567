/* The four adaptive Krylov engines (phipm, phipm-iom2, phipm-simul-iom2, kiops): one evaluation, four tables.
 *
 * A sweep (phi_substeps.h) delivers sum_k theta^k phi_k(theta s A) b_k, a request asks for sum_k phi_k(c_i t A) v_k
 * with the same v_k at every node: the powers of theta stand in the way as soon as there are several nodes and several
 * k. So the request is cut into sweeps, each right by itself: one node               one sweep, theta = 1, b_k = v_k;
 *   one k, several nodes   one sweep, outputs divided by theta_i^k;
 *   several of both        a sweep per node (all k), or a sweep per k (all nodes): whichever covers less time.
 * Nodes of different sign never share a sweep; equal nodes share an output; node 0 needs none: sum_k v_k / k!. */
#ifndef TW_PHI_KRYLOV_H
#define TW_PHI_KRYLOV_H

#include "phi/krylov/krylov_control.h"
#include "phi/phi_internal.h"

/* reserve and release of each of the four; they share their memory. */
tw_status tw_krylov_reserve(tw_phi_workspace *workspace, tw_phi_engine engine, tw_error *error);
void tw_krylov_release(tw_phi_workspace *workspace, tw_phi_engine engine);

/* first_order of each of the four. */
tw_status tw_krylov_evaluate(tw_phi_workspace *workspace, const tw_krylov_method *method,
                             const tw_operator *op, const tw_phi_request *request,
                             tw_phi_statistics *statistics, tw_error *error);

/* The table `name` of the engine whose `method` is all that it has of its own. */
#define TW_KRYLOV_ENGINE(name, engine, method)                                                     \
    static tw_status reserve(tw_phi_workspace *workspace, tw_error *error)                         \
    {                                                                                              \
        return tw_krylov_reserve(workspace, (engine), error);                                      \
    }                                                                                              \
    static void release(tw_phi_workspace *workspace)                                               \
    {                                                                                              \
        tw_krylov_release(workspace, (engine));                                                    \
    }                                                                                              \
    static tw_status first_order(tw_phi_workspace *workspace, const tw_operator *op,               \
                                 const tw_phi_request *request, tw_phi_statistics *statistics,     \
                                 tw_error *error)                                                  \
    {                                                                                              \
        return tw_krylov_evaluate(workspace, &(method), op, request, statistics, error);           \
    }                                                                                              \
    static tw_status second_order(tw_phi_workspace *workspace, const tw_second_order *op,          \
                                  const tw_phi_request *request, tw_phi_statistics *statistics,    \
                                  tw_error *error)                                                 \
    {                                                                                              \
        return tw_phi_pair_evaluate(workspace, &(name), op, request, statistics, error);           \
    }                                                                                              \
    const tw_phi_engine_table name = {.reserve = reserve,                                          \
                                      .release = release,                                          \
                                      .first_order = first_order,                                  \
                                      .second_order = second_order}

#endif
