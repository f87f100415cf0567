/* The dense engine on problems that are not symmetric: nodes one by one through tw_dense_general, second order as J. */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "linalg/dense.h"
#include "linalg/vector.h"
#include "phi/dense/phi_dense.h"
#include "phi/scalar_functions.h"

/* `vectors` holds the request's vectors in the coordinates of Z; outputs are left in them too. */
static tw_status general_nodes(tw_phi_workspace *workspace, const tw_phi_request *request,
                               int order, int split, const double reference[2],
                               tw_phi_statistics *statistics, tw_error *error)
{
    const tw_dense_memory *memory = workspace->memory[TW_PHI_DENSE];
    int d = memory->general_order;
    size_t square = (size_t)d * (size_t)d;
    tw_dense_general_job job = {.d = d, .order = order, .split = split, .Z = memory->general};
    job.vectors = memory->vectors;
    double norm = tw_dense_norm1(d, job.Z), sizes[2] = {reference[0], reference[1]},
           sums[2] = {0, 0};
    for (int k = 0; k <= order; k++) {
        const double *v = job.vectors + (size_t)k * (size_t)d;
        sums[0] += tw_inverse_factorial[k] * tw_dense_norm(split, v);
        sums[1] += tw_inverse_factorial[k] * tw_dense_norm(d - split, v + split);
    }
    for (int i = 0; i < request->node_count; i++) {
        job.tau = norm > 0 ? request->nodes[i] * request->time : 0;
        job.out = request->outputs[i];
        tw_status status = tw_dense_general(&job, memory->general + square);
        if (status)
            return tw_fail(error, status, "phi engine dense: exponential at node %d: %s", i,
                           tw_status_text(status));
        double part[2] = {tw_dense_norm(split, job.out), tw_dense_norm(d - split, job.out + split)};
        for (int r = 0; r < 2; r++)
            tw_dense_note_error(statistics, job.error[r], fmax(part[r], fmax(sums[r], sizes[r])));
        double squarings = fmax(0, log2(1 + fabs(job.tau) * norm));
        statistics->cost += 4 * (8 + squarings) * (double)square * d;
    }
    statistics->dimension = d + order;
    statistics->substeps = request->node_count;
    return TW_OK;
}

/* Z = J in the coordinates (theta L^T x, L^T v); returns theta in *scale. */
static tw_status write_pair(tw_phi_workspace *workspace, const tw_second_order *op, double *scale,
                            tw_phi_statistics *statistics, tw_error *error)
{
    const tw_dense_memory *memory = workspace->memory[TW_PHI_DENSE];
    size_t n = (size_t)memory->n, d = 2 * n;
    double *A = memory->bases[memory->basis_count - 1].X, *B = memory->eigen, *Z = memory->general;
    tw_status status = tw_dense_factor_mass(memory, op, error);
    if (status == TW_OK)
        status = tw_dense_materialise(workspace, &op->stiffness, A, statistics, error);
    if (status) return status;
    memset(B, 0, n * n * sizeof *B);
    if (op->damping)
        status = tw_dense_write_out(memory, op->damping->apply, op->damping->context, B);
    if (status)
        return tw_fail(error, status, "phi engine dense: damping operator: %s",
                       tw_status_text(status));
    tw_dense_scale_by_mass(memory, op, A);
    tw_dense_scale_by_mass(memory, op, B);
    for (size_t i = 0; i < n * n; i++) B[i] += op->rayleigh_stiffness * A[i];
    for (size_t i = 0; i < n; i++) B[i * n + i] += op->rayleigh_mass;
    double theta = sqrt(tw_dense_norm1(memory->n, A));
    if (theta == 0) theta = tw_dense_norm1(memory->n, B);
    if (!isfinite(theta))
        return tw_fail(error, TW_NOT_FINITE, "phi engine dense: the operator overflows");
    theta = theta > 0 ? ldexp(1.0, ilogb(theta)) : 1;
    memset(Z, 0, d * d * sizeof *Z);
    for (size_t j = 0; j < n; j++) {
        Z[(n + j) * d + j] = theta;
        for (size_t i = 0; i < n; i++) {
            Z[j * d + n + i] = -A[j * n + i] / theta;
            Z[(n + j) * d + n + i] = -B[j * n + i];
        }
    }
    *scale = theta;
    return TW_OK;
}

static void load_pair(const tw_dense_memory *memory, const tw_second_order *op,
                      const tw_phi_request *request, int order, double theta, double unit)
{
    size_t n = (size_t)memory->n;
    for (int q = 0; q < 2 * (order + 1); q++) {
        const double *vector = request->vectors[q / 2];
        double *out = memory->vectors + (size_t)q * n, scale = q % 2 == 0 ? theta / unit : 1 / unit;
        if (vector) tw_dense_to_mass(memory, op, vector + (size_t)(q % 2) * n, out);
        for (size_t i = 0; i < n; i++) out[i] = vector ? out[i] * scale : 0;
    }
}

tw_status tw_dense_general_second_order(tw_phi_workspace *workspace, const tw_second_order *op,
                                        const tw_phi_request *request,
                                        tw_phi_statistics *statistics, tw_error *error)
{
    const tw_dense_memory *memory = workspace->memory[TW_PHI_DENSE];
    int n = memory->n, order = request->order;
    if (!memory->general_order)
        return tw_fail(error, TW_UNSUPPORTED,
                       "phi engine dense: general damping stops at %d unknowns, here are %d",
                       tw_dense_largest(workspace) / 2, n);
    double theta = 1;
    tw_status status = write_pair(workspace, op, &theta, statistics, error);
    if (status) return status;
    double unit = tw_dense_request_unit(request, workspace->vector_size) * theta;
    load_pair(memory, op, request, order, theta, unit);
    double reference[2] = {request->reference[0] * theta / unit, request->reference[1] / unit};
    status = general_nodes(workspace, request, order, n, reference, statistics, error);
    if (status) return status;
    for (int i = 0; i < request->node_count; i++)
        for (int r = 0; r < 2; r++) {
            double *part = request->outputs[i] + (size_t)r * (size_t)n;
            tw_dense_from_mass(memory, op, part);
            tw_vector_scale(n, r == 0 ? unit / theta : unit, part);
        }
    return tw_dense_judge(workspace, statistics, error);
}

tw_status tw_dense_general_first_order(tw_phi_workspace *workspace, const tw_operator *op,
                                       const tw_phi_request *request, tw_phi_statistics *statistics,
                                       tw_error *error)
{
    const tw_dense_memory *memory = workspace->memory[TW_PHI_DENSE];
    int n = memory->n, order = request->order;
    tw_status status = tw_dense_materialise(workspace, op, memory->general, statistics, error);
    if (status) return status;
    double unit = tw_dense_request_unit(request, n),
           reference[2] = {request->reference[0] / unit, 0};
    for (int k = 0; k <= order; k++)
        for (int i = 0; i < n; i++)
            memory->vectors[(size_t)k * (size_t)n + (size_t)i] =
                request->vectors[k] ? request->vectors[k][i] / unit : 0;
    status = general_nodes(workspace, request, order, n, reference, statistics, error);
    if (status) return status;
    for (int i = 0; i < request->node_count; i++) tw_vector_scale(n, unit, request->outputs[i]);
    return tw_dense_judge(workspace, statistics, error);
}
