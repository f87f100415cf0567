/* The dense engine on symmetric problems: eigendecomposition and scalar functions. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "linalg/dense.h"
#include "linalg/vector.h"
#include "phi/dense/phi_dense.h"
#include "phi/scalar_functions.h"

/* ---- the basis ---- */

/* Eigendecomposition of the symmetric part of the matrix in basis->X, which is already in mass
 * coordinates. */
static tw_status decompose(const tw_dense_memory *memory, tw_dense_basis *basis,
                           tw_phi_statistics *statistics, tw_error *error)
{
    size_t n = (size_t)basis->n;
    double *X = basis->X;
    basis->start_count = 0;

    /* The symmetric part. */
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < j; i++) {
            double mean = 0.5 * (X[j * n + i] + X[i * n + j]);
            X[j * n + i] = mean;
            X[i * n + j] = mean;
        }

    tw_status status = tw_symmetric_eigen(basis->n, X, basis->lambda, memory->eigen);
    if (status)
        return tw_fail(error, status, "phi engine dense: eigendecomposition: %s",
                       tw_status_text(status));

    /* The eigenvalues are off by some eps |A|. */
    basis->uncertainty = 2 * DBL_EPSILON * fmax(fabs(basis->lambda[0]), fabs(basis->lambda[n - 1]));
    statistics->dimension = basis->n;
    statistics->substeps = 1;
    return TW_OK;
}

/* The basis of a second-order operator, M-orthonormal. */
static tw_status decompose_second_order(tw_phi_workspace *workspace, const tw_second_order *op,
                                        tw_dense_basis *basis, tw_phi_statistics *statistics,
                                        tw_error *error)
{
    const tw_dense_memory *memory = workspace->memory[TW_PHI_DENSE];
    size_t n = (size_t)memory->n;

    /* A^ = L^-1 K L^-T. */
    TW_TRY(tw_dense_factor_mass(memory, op, error));
    TW_TRY(tw_dense_materialise(workspace, &op->stiffness, basis->X, statistics, error));
    tw_dense_scale_by_mass(memory, op, basis->X);
    TW_TRY(decompose(memory, basis, statistics, error));
    if (!op->mass) return TW_OK;

    /* A mass matrix enlarges the errors of K by its condition. */
    double smallest = INFINITY;
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        smallest = fmin(smallest, memory->factor[i * n + i]);
        largest = fmax(largest, memory->factor[i * n + i]);
    }
    basis->uncertainty *= largest / smallest;
    return TW_OK;
}

/* modal = X^T y, y in mass coordinates (X still holds the eigenvectors of A^). */
static void to_modal(const tw_dense_basis *basis, const double *y, double *modal)
{
    tw_dense_apply(true, basis->n, basis->n, basis->X, y, modal);
}

/* ---- phi-functions ---- */

typedef struct phi_functions {
    double tau;
    int order;
    double alpha; /* Rayleigh damping: alpha M + beta K */
    double beta;
} phi_functions;

/* phi_k(tau lambda). */
static void first_order_table(const void *context, double lambda, double *table)
{
    const phi_functions *f = context;
    tw_phi_scalar(f->tau * lambda, f->order + 1, table);
}

/* The 2x2 phi_k(tau [[0, 1], [-lambda, -alpha - beta lambda]]); inputs are x_0, v_0, x_1, v_1,
 * ... */
static void second_order_table(const void *context, double lambda, double *table)
{
    const phi_functions *f = context;
    int inputs = 2 * (f->order + 1);
    double entries[TW_PHI_MAX_ORDER + 1][4];
    unsigned orders = (1u << (f->order + 1)) - 1;
    tw_mode_phi(f->tau, lambda, f->alpha + f->beta * lambda, orders, entries);

    /* Row i / 2 is the part of the output, i % 2 that of the input. */
    for (int k = 0; k <= f->order; k++)
        for (int i = 0; i < 4; i++) table[(i / 2) * inputs + 2 * k + i % 2] = entries[k][i];
}

/* What both orders share: the request's vectors, `parts` per k, in modal coordinates, through the
 * functions. */
typedef struct symmetric_call {
    const tw_phi_request *request;
    const tw_second_order *op; /* NULL for first order */
    tw_dense_basis *basis;
    int parts;
    phi_functions functions;
    double unit;
} symmetric_call;

/* The larger of sum_k |part r of v_k| / k! and the reference. */
static double promised_size(const tw_dense_modal_job *job, int n, int parts, int r,
                            double reference)
{
    double sum = 0;
    for (int q = r; q < job->inputs; q += parts)
        if (job->in[q]) sum += tw_inverse_factorial[q / parts] * tw_dense_norm(n, job->in[q]);
    return fmax(sum, reference);
}

/* Brings the parts of the vectors to modal coordinates. */
static void load_modal(const tw_dense_memory *memory, const symmetric_call *call,
                       tw_dense_modal_job *job)
{
    size_t n = (size_t)memory->n;
    double *y = memory->columns;
    double *scaled = y + n;
    for (int q = 0; q < job->inputs; q++) {
        const double *vector = call->request->vectors[q / call->parts];
        double *modal = memory->vectors + (size_t)q * n;
        job->in[q] = NULL;
        if (!vector) continue;

        /* scaled = part of v_k / unit, y = L^T scaled, modal = X^T y. */
        vector += (size_t)(q % call->parts) * n;
        for (size_t i = 0; i < n; i++) scaled[i] = vector[i] / call->unit;
        if (call->op) {
            tw_dense_to_mass(memory, call->op, scaled, y);
            to_modal(call->basis, y, modal);
        } else {
            to_modal(call->basis, scaled, modal);
        }
        job->in[q] = modal;
    }
}

/* All nodes of the request. */
static void symmetric_nodes(const tw_dense_memory *memory, symmetric_call *call,
                            tw_phi_statistics *statistics)
{
    const tw_phi_request *request = call->request;
    int n = memory->n;
    tw_dense_modal_job job = {.inputs = call->parts * (call->functions.order + 1),
                              .outputs = call->parts,
                              .functions = call->op ? second_order_table : first_order_table,
                              .context = &call->functions};
    load_modal(memory, call, &job);
    for (int r = 0; r < call->parts; r++) job.out[r] = memory->columns + (size_t)r * (size_t)n;

    /* The same job for every node, with another time. */
    for (int i = 0; i < request->node_count; i++) {
        call->functions.tau = request->nodes[i] * request->time;
        tw_dense_modal(call->basis, &job, memory->modal);

        for (int r = 0; r < call->parts; r++) {
            /* The error relates to the size of the inputs or of the output. */
            double reference = request->reference[r] / call->unit;
            double size = promised_size(&job, n, call->parts, r, reference);
            tw_dense_note_error(statistics, job.error[r], fmax(size, tw_dense_norm(n, job.out[r])));

            /* Back from modal coordinates. */
            double *part = request->outputs[i] + (size_t)r * (size_t)n;
            tw_dense_apply(false, n, n, call->basis->X, job.out[r], part);
            if (call->op) tw_dense_from_mass(memory, call->op, part);
            tw_vector_scale(n, call->unit, part);
        }
    }
}

tw_status tw_dense_symmetric_first_order(tw_phi_workspace *workspace, const tw_operator *op,
                                         const tw_phi_request *request,
                                         tw_phi_statistics *statistics, tw_error *error)
{
    tw_dense_memory *memory = workspace->memory[TW_PHI_DENSE];
    tw_dense_basis *basis = &memory->bases[memory->basis_count - 1];
    TW_TRY(tw_dense_materialise(workspace, op, basis->X, statistics, error));
    TW_TRY(decompose(memory, basis, statistics, error));

    symmetric_call call = {.request = request,
                           .basis = basis,
                           .parts = 1,
                           .functions = {.order = request->order},
                           .unit = tw_dense_request_unit(request, memory->n)};
    symmetric_nodes(memory, &call, statistics);
    return tw_dense_judge(workspace, statistics, error);
}

tw_status tw_dense_symmetric_second_order(tw_phi_workspace *workspace, const tw_second_order *op,
                                          const tw_phi_request *request,
                                          tw_phi_statistics *statistics, tw_error *error)
{
    tw_dense_memory *memory = workspace->memory[TW_PHI_DENSE];
    tw_dense_basis *basis = &memory->bases[memory->basis_count - 1];
    TW_TRY(decompose_second_order(workspace, op, basis, statistics, error));

    symmetric_call call = {.request = request,
                           .op = op,
                           .basis = basis,
                           .parts = 2,
                           .functions = {.order = request->order,
                                         .alpha = op->rayleigh_mass,
                                         .beta = op->rayleigh_stiffness},
                           .unit = tw_dense_request_unit(request, workspace->vector_size)};
    symmetric_nodes(memory, &call, statistics);
    return tw_dense_judge(workspace, statistics, error);
}

/* ---- functions of the spectrum ---- */

/* Functions of some outputs of a spectral request. */
typedef struct spectral_rows {
    const tw_spectral_function *functions;
    int count;
} spectral_rows;

static void spectral_table(const void *context, double lambda, double *table)
{
    const spectral_rows *rows = context;
    for (int j = 0; j < rows->count; j++) {
        const tw_spectral_function *function = &rows->functions[j];
        table[j] = function->value ? function->value(function->context, lambda) : 0;
    }
}

/* Outputs i, i + 1, ..., as many as a modal job has: at every eigenvalue their functions are
 * evaluated one after the other, so that they can share what they have in common. */
static void spectral_group(const tw_dense_memory *memory, const tw_dense_basis *basis,
                           const tw_spectral_request *request, int first, double unit,
                           tw_phi_statistics *statistics)
{
    size_t n = (size_t)memory->n;
    int starts = request->start_count;
    int outputs = request->output_count - first;
    if (outputs > TW_DENSE_MAX_PARTS) outputs = TW_DENSE_MAX_PARTS;

    /* Rows `first` ... of the functions, applied in modal coordinates. */
    spectral_rows rows = {request->functions + (size_t)first * (size_t)starts, outputs * starts};
    tw_dense_modal_job job = {
        .inputs = starts, .outputs = outputs, .functions = spectral_table, .context = &rows};
    for (int j = 0; j < starts; j++) job.in[j] = memory->vectors + (size_t)j * n;
    for (int r = 0; r < outputs; r++) job.out[r] = memory->columns + (size_t)r * n;
    tw_dense_modal(basis, &job, memory->modal);

    for (int r = 0; r < outputs; r++) {
        /* The error relates to the output or the reference. */
        double reference = request->reference ? request->reference[first + r] / unit : 0;
        double size = fmax(tw_dense_norm((int)n, job.out[r]), reference);
        tw_dense_note_error(statistics, job.error[r], size);

        /* Back from modal coordinates. */
        double *output = request->outputs[first + r];
        tw_dense_apply(false, (int)n, (int)n, basis->X, job.out[r], output);
        tw_vector_scale((int64_t)n, unit, output);
    }
}

/* Outputs from the starts kept in the basis; X is M-orthonormal here. */
static tw_status spectral_outputs(tw_phi_workspace *workspace, const tw_dense_basis *basis,
                                  const tw_spectral_request *request, tw_phi_statistics *statistics,
                                  tw_error *error)
{
    const tw_dense_memory *memory = workspace->memory[TW_PHI_DENSE];
    size_t n = (size_t)memory->n;
    size_t entries = n * (size_t)basis->start_count;
    double unit = tw_dense_unit((int64_t)entries, basis->starts);
    for (size_t i = 0; i < entries; i++) memory->vectors[i] = basis->starts[i] / unit;

    for (int i = 0; i < request->output_count; i += TW_DENSE_MAX_PARTS)
        spectral_group(memory, basis, request, i, unit, statistics);
    statistics->dimension = (int)n;
    return tw_dense_judge(workspace, statistics, error);
}

tw_status tw_dense_spectral(tw_phi_workspace *workspace, const tw_second_order *op,
                            const tw_spectral_request *request, tw_phi_statistics *statistics,
                            tw_error *error)
{
    if (op->stiffness.symmetry != TW_SYMMETRIC)
        return tw_fail(error, TW_UNSUPPORTED,
                       "phi engine dense: functions of the spectrum need a symmetric stiffness");

    tw_dense_memory *memory = workspace->memory[TW_PHI_DENSE];
    size_t n = (size_t)memory->n;
    tw_dense_basis *basis = &memory->bases[request->slot];
    TW_TRY(decompose_second_order(workspace, op, basis, statistics, error));

    /* The starts are kept in modal coordinates, for reuse. */
    for (int j = 0; j < request->start_count; j++) {
        double *modal = basis->starts + (size_t)j * n;
        memset(modal, 0, n * sizeof *modal);
        if (!request->starts[j]) continue;
        tw_dense_to_mass(memory, op, request->starts[j], memory->columns);
        to_modal(basis, memory->columns, modal);
    }
    basis->start_count = request->start_count;

    /* X becomes M-orthonormal: L^-T times the eigenvectors of A^. */
    for (size_t j = 0; j < n; j++) tw_dense_from_mass(memory, op, basis->X + j * n);
    workspace->slot_engine[request->slot] = TW_PHI_DENSE;
    return spectral_outputs(workspace, basis, request, statistics, error);
}

tw_status tw_dense_reuse(tw_phi_workspace *workspace, const tw_spectral_request *request,
                         tw_phi_statistics *statistics, tw_error *error)
{
    const tw_dense_memory *memory = workspace->memory[TW_PHI_DENSE];
    const tw_dense_basis *basis = &memory->bases[request->slot];
    if (basis->start_count != request->start_count)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "slot %d keeps %d start vectors, %d were asked for", request->slot,
                       basis->start_count, request->start_count);
    return spectral_outputs(workspace, basis, request, statistics, error);
}
