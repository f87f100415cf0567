/* The dense engine: the oracle of the others, and the engine of small problems.
 *
 * The operator is written out by applying it to unit vectors. Symmetric problems (a symmetric first-order operator, or
 * a second-order one with symmetric K and at most Rayleigh damping) go through the eigendecomposition and scalar
 * functions; all others through the exponential of an augmented matrix, for second order on
 *     J = [[0, theta], [-A^/theta, -B^]],  A^ = L^-1 K L^-T, B^ = L^-1 D L^-T, M = L L^T,
 * in the coordinates (theta L^T x, L^T v), theta^2 ~ |A^|, whose Euclidean norm is the mass norm of each part. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/dense.h"
#include "linalg/vector.h"
#include "phi/phi_dense.h"
#include "phi/scalar_functions.h"

enum {
    LARGEST = 2000,     /* order above which a dense matrix is no sensible answer */
    LARGEST_AUTO = 512, /* and above which `auto` is not worth the memory */
    VECTORS = TW_PHI_MAX_ORDER + 1,
    BASES = TW_PHI_MAX_SLOTS + 1 /* the last one serves calls without a slot */
};

typedef struct dense_memory {
    int n;             /* order of the operator (of K) */
    int general_order; /* order of the general path's matrix; 0 if it is too large for it */
    int basis_count;   /* slots, and one more */
    double *factor;    /* L, n x n lower triangle, or its diagonal in the first n entries (lumped mass) */
    double *eigen;     /* scratch of the eigendecomposition; also holds D^ */
    double *vectors;   /* the request's vectors in the coordinates used: VECTORS columns */
    double *columns;   /* TW_MAX_BLOCK columns of n entries */
    double *modal;     /* scratch of tw_dense_modal */
    double *general;   /* Z, then scratch of tw_dense_general */
    tw_dense_basis bases[BASES];
} dense_memory;

/* ---- memory ---- */

static void release(tw_phi_workspace *workspace)
{
    dense_memory *memory = workspace->memory[TW_PHI_DENSE];
    if (!memory) return;
    tw_release(memory->factor);
    tw_release(memory->eigen);
    tw_release(memory->vectors);
    tw_release(memory->columns);
    tw_release(memory->modal);
    tw_release(memory->general);
    for (int i = 0; i < BASES; i++) tw_release(memory->bases[i].X);
    tw_release(memory);
    workspace->memory[TW_PHI_DENSE] = NULL;
}

/* X, lambda and starts of one basis in one block. */
static bool reserve_basis(tw_dense_basis *basis, int n)
{
    size_t m = (size_t)n;
    basis->n = n;
    basis->X = TW_NEW_ARRAY(m * m + m + TW_MAX_BLOCK * m, double);
    if (!basis->X) return false;
    basis->lambda = basis->X + m * m;
    basis->starts = basis->lambda + m;
    return true;
}

static tw_status reserve(tw_phi_workspace *workspace, tw_error *error)
{
    const tw_phi_limits *limits = &workspace->limits;
    bool chosen = limits->options.engine == TW_PHI_DENSE;
    int largest = chosen ? LARGEST : LARGEST_AUTO;
    if (limits->size > largest)
        return chosen ? tw_fail(error, TW_UNSUPPORTED, "phi engine dense stops at order %d, this problem has %lld",
                                LARGEST, (long long)limits->size)
                      : TW_OK;
    dense_memory *memory = TW_NEW(dense_memory);
    if (!memory) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    workspace->memory[TW_PHI_DENSE] = memory;
    size_t n = (size_t)limits->size, d = (size_t)workspace->vector_size;
    memory->n = (int)n;
    memory->general_order = (int)d <= largest ? (int)d : 0;
    memory->basis_count = limits->slots + 1;
    memory->factor = TW_NEW_ARRAY(limits->second_order ? n * n : 1, double);
    memory->eigen = TW_NEW_ARRAY(tw_dense_eigen_scratch((int)n), double);
    memory->vectors = TW_NEW_ARRAY((VECTORS + 1) * d, double);
    memory->columns = TW_NEW_ARRAY(TW_MAX_BLOCK * n, double);
    memory->modal = TW_NEW_ARRAY(tw_dense_modal_scratch((int)n), double);
    memory->general = TW_NEW_ARRAY(memory->general_order ? d * d + tw_dense_general_scratch((int)d) : 1, double);
    bool complete =
        memory->factor && memory->eigen && memory->vectors && memory->columns && memory->modal && memory->general;
    for (int i = 0; i < memory->basis_count && complete; i++) complete = reserve_basis(&memory->bases[i], (int)n);
    return complete ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);
}

static tw_status check_memory(const tw_phi_workspace *workspace, const tw_space *space, tw_error *error)
{
    if (!workspace->memory[TW_PHI_DENSE])
        return tw_fail(error, TW_UNSUPPORTED, "phi engine dense: no memory is reserved for order %lld (at most %d)",
                       (long long)workspace->limits.size, LARGEST_AUTO);
    if (space->reduce) return tw_fail(error, TW_UNSUPPORTED, "phi engine dense: the operator is distributed");
    return TW_OK;
}

/* ---- writing operators out ---- */

/* matrix = the operator, column by column. */
static tw_status materialise(const dense_memory *memory, tw_apply_function *apply, void *context, double *matrix)
{
    int n = memory->n;
    for (int j = 0; j < n; j += TW_MAX_BLOCK) {
        int count = n - j < TW_MAX_BLOCK ? n - j : TW_MAX_BLOCK;
        memset(memory->columns, 0, (size_t)n * TW_MAX_BLOCK * sizeof(double));
        for (int c = 0; c < count; c++) memory->columns[(size_t)c * (size_t)n + (size_t)(j + c)] = 1;
        tw_status status = apply(context, count, memory->columns, matrix + (size_t)j * (size_t)n);
        if (status) return status;
    }
    return tw_dense_is_finite((size_t)n * (size_t)n, matrix) ? TW_OK : TW_NOT_FINITE;
}

/* The same for K or A, counted against the budget. */
static tw_status materialise_counted(const tw_phi_workspace *workspace, const tw_operator *op, double *matrix,
                                     tw_phi_statistics *statistics, tw_error *error)
{
    const dense_memory *memory = workspace->memory[TW_PHI_DENSE];
    if (memory->n > workspace->options.max_products)
        return tw_fail(error, TW_BUDGET_EXHAUSTED, "phi engine dense needs %d products", memory->n);
    tw_status status = materialise(memory, op->apply, op->context, matrix);
    if (status) return tw_fail(error, status, "phi engine dense: writing the operator out: %s", tw_status_text(status));
    statistics->products += memory->n;
    double bytes = op->bytes_per_product > 0 ? op->bytes_per_product : 8.0 * memory->n * memory->n;
    statistics->cost += memory->n * bytes;
    return TW_OK;
}

/* factor = L, M = L L^T; for lumped or unit mass its diagonal. */
static tw_status factor_mass(const dense_memory *memory, const tw_second_order *op, tw_error *error)
{
    int n = memory->n;
    if (!op->mass) {
        for (int i = 0; i < n; i++) {
            double mass = op->lumped_mass ? op->lumped_mass[i] : 1;
            if (!(mass > 0) || isinf(mass))
                return tw_fail(error, TW_NOT_POSITIVE_DEFINITE, "phi engine dense: mass %d is %g", i, mass);
            memory->factor[i] = sqrt(mass);
        }
        return TW_OK;
    }
    tw_status status = materialise(memory, op->mass->apply, op->mass->context, memory->factor);
    if (status == TW_OK) status = tw_dense_cholesky(n, memory->factor);
    if (status) return tw_fail(error, status, "phi engine dense: mass matrix: %s", tw_status_text(status));
    return TW_OK;
}

/* A = L^-1 A L^-T. */
static void scale_by_mass(const dense_memory *memory, const tw_second_order *op, double *A)
{
    size_t n = (size_t)memory->n;
    if (op->mass) {
        tw_dense_congruence(memory->n, memory->factor, A);
        return;
    }
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) A[j * n + i] = A[j * n + i] / memory->factor[i] / memory->factor[j];
}

/* y = L^T x: the mass norm of x is the Euclidean norm of y. */
static void to_mass_coordinates(const dense_memory *memory, const tw_second_order *op, const double *x, double *y)
{
    size_t n = (size_t)memory->n;
    for (size_t j = 0; j < n; j++) {
        double sum = 0;
        if (op->mass)
            for (size_t i = j; i < n; i++) sum += memory->factor[j * n + i] * x[i];
        else
            sum = memory->factor[j] * x[j];
        y[j] = sum;
    }
}

/* x = L^-T y in place. */
static void from_mass_coordinates(const dense_memory *memory, const tw_second_order *op, double *y)
{
    if (op->mass) {
        tw_dense_lower_solve(true, memory->n, memory->factor, 1, y);
        return;
    }
    for (int i = 0; i < memory->n; i++) y[i] /= memory->factor[i];
}

/* ---- measuring ---- */

static double norm_of(int n, const double *x)
{
    double largest = 0, sum = 0;
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(x[i]));
    if (largest == 0) return 0;
    for (int i = 0; i < n; i++) sum += x[i] / largest * (x[i] / largest);
    return largest * sqrt(sum);
}

/* A power of two near the largest entry, by which vectors are divided while we compute; 1 for zero. */
static double unit_of(int64_t count, const double *x)
{
    double largest = 0;
    for (int64_t i = 0; i < count; i++) largest = fmax(largest, fabs(x[i]));
    return largest > 0 ? ldexp(1.0, ilogb(largest)) : 1;
}

/* Notes the relative error of one part of one output. */
static void note_error(tw_phi_statistics *statistics, double error, double size)
{
    double relative = error == 0 ? 0 : error / size;
    if (!(relative <= statistics->estimated_error)) statistics->estimated_error = relative;
}

static tw_status judge(const tw_phi_workspace *workspace, const tw_phi_statistics *statistics, tw_error *error)
{
    double estimate = statistics->estimated_error, tolerance = workspace->options.tolerance;
    if (estimate <= tolerance) return TW_OK;
    return tw_fail(error, TW_ILL_CONDITIONED, "phi engine dense: rounding alone makes an error of %.1e, above %.1e",
                   estimate, tolerance);
}

/* The highest k whose vector is not NULL. */
static int effective_order(const tw_phi_request *request)
{
    int order = request->order;
    while (order > 0 && !request->vectors[order]) order--;
    return order;
}

/* ---- the symmetric path ---- */

/* Eigendecomposition of the symmetric part of the matrix in basis->X, which is already in mass coordinates. */
static tw_status decompose(const dense_memory *memory, tw_dense_basis *basis, tw_phi_statistics *statistics,
                           tw_error *error)
{
    size_t n = (size_t)basis->n;
    basis->start_count = 0;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < j; i++)
            basis->X[i * n + j] = basis->X[j * n + i] = 0.5 * (basis->X[j * n + i] + basis->X[i * n + j]);
    tw_status status = tw_symmetric_eigen(basis->n, basis->X, basis->lambda, memory->eigen);
    if (status) return tw_fail(error, status, "phi engine dense: eigendecomposition: %s", tw_status_text(status));
    basis->uncertainty = 2 * DBL_EPSILON * fmax(fabs(basis->lambda[0]), fabs(basis->lambda[n - 1]));
    statistics->dimension = basis->n;
    statistics->substeps = 1;
    statistics->cost += 9.0 * (double)n * (double)n * (double)n;
    return TW_OK;
}

/* A second-order operator's basis, M-orthonormal. A mass matrix spreads the errors of K by its condition. */
static tw_status decompose_second_order(tw_phi_workspace *workspace, const tw_second_order *op, tw_dense_basis *basis,
                                        tw_phi_statistics *statistics, tw_error *error)
{
    const dense_memory *memory = workspace->memory[TW_PHI_DENSE];
    size_t n = (size_t)memory->n;
    tw_status status = factor_mass(memory, op, error);
    if (status == TW_OK) status = materialise_counted(workspace, &op->stiffness, basis->X, statistics, error);
    if (status) return status;
    scale_by_mass(memory, op, basis->X);
    status = decompose(memory, basis, statistics, error);
    if (status) return status;
    if (op->mass) {
        double smallest = INFINITY, largest = 0;
        for (size_t i = 0; i < n; i++) {
            smallest = fmin(smallest, memory->factor[i * n + i]);
            largest = fmax(largest, memory->factor[i * n + i]);
        }
        basis->uncertainty *= largest / smallest;
    }
    return TW_OK;
}

/* modal = X^T y, y in mass coordinates (X still being the eigenvectors of A^). */
static void to_modal(const tw_dense_basis *basis, const double *y, double *modal)
{
    tw_dense_apply(true, basis->n, basis->n, basis->X, y, modal);
}

typedef struct phi_functions {
    double tau;
    int order;
    double alpha, beta; /* Rayleigh */
} phi_functions;

/* phi_k(tau lambda). */
static void first_order_table(const void *context, double lambda, double *table)
{
    const phi_functions *f = context;
    tw_phi_scalar(f->tau * lambda, f->order + 1, table);
}

/* The 2x2 phi_k(tau [[0, 1], [-lambda, -alpha - beta lambda]]); inputs are x_0, v_0, x_1, v_1, ... */
static void second_order_table(const void *context, double lambda, double *table)
{
    const phi_functions *f = context;
    int inputs = 2 * (f->order + 1);
    double c[TW_PHI_MAX_ORDER + 2];
    bool damped = f->alpha != 0 || f->beta != 0;
    if (!damped) tw_stumpff(f->tau * f->tau * lambda, f->order + 2, c);
    for (int k = 0; k <= f->order; k++) {
        double entries[4] = {0};
        if (damped) {
            tw_phi_oscillator(f->tau, lambda, f->alpha + f->beta * lambda, k, entries);
        } else { /* phi_k(tau J) = c_k + c_{k+1} tau J */
            entries[0] = entries[3] = c[k];
            entries[1] = f->tau * c[k + 1];
            entries[2] = -lambda * f->tau * c[k + 1];
        }
        for (int i = 0; i < 4; i++) table[(i / 2) * inputs + 2 * k + i % 2] = entries[i];
    }
}

/* sum_k |part r of v_k| / k!, and the reference, whichever is larger. */
static double promised_size(const tw_dense_modal_job *job, int n, int parts, int r, double reference)
{
    double sum = 0;
    for (int q = r; q < job->inputs; q += parts)
        if (job->in[q]) sum += tw_inverse_factorial[q / parts] * norm_of(n, job->in[q]);
    return fmax(sum, reference);
}

/* What both orders share: the request's vectors, `parts` per k, in modal coordinates, through the functions. */
typedef struct symmetric_call {
    const tw_phi_request *request;
    const tw_second_order *op; /* NULL for first order */
    tw_dense_basis *basis;
    int parts;
    phi_functions functions;
    double unit;
} symmetric_call;

static void load_modal(const dense_memory *memory, const symmetric_call *call, tw_dense_modal_job *job)
{
    size_t n = (size_t)memory->n;
    for (int q = 0; q < job->inputs; q++) {
        const double *vector = call->request->vectors[q / call->parts];
        double *modal = memory->vectors + (size_t)q * n, *y = memory->columns, *scaled = y + n;
        job->in[q] = NULL;
        if (!vector) continue;
        vector += (size_t)(q % call->parts) * n;
        for (size_t i = 0; i < n; i++) scaled[i] = vector[i] / call->unit;
        if (call->op) {
            to_mass_coordinates(memory, call->op, scaled, y);
            to_modal(call->basis, y, modal);
        } else {
            to_modal(call->basis, scaled, modal);
        }
        job->in[q] = modal;
    }
}

static void symmetric_nodes(const dense_memory *memory, symmetric_call *call, tw_phi_statistics *statistics)
{
    const tw_phi_request *request = call->request;
    int n = memory->n;
    tw_dense_modal_job job = {.inputs = call->parts * (call->functions.order + 1), .outputs = call->parts};
    job.functions = call->op ? second_order_table : first_order_table;
    job.context = &call->functions;
    load_modal(memory, call, &job);
    for (int r = 0; r < call->parts; r++) job.out[r] = memory->columns + (size_t)r * (size_t)n;
    for (int i = 0; i < request->node_count; i++) {
        call->functions.tau = request->nodes[i] * request->time;
        tw_dense_modal(call->basis, &job, memory->modal);
        for (int r = 0; r < call->parts; r++) {
            double size = promised_size(&job, n, call->parts, r, request->reference[r] / call->unit);
            note_error(statistics, job.error[r], fmax(size, norm_of(n, job.out[r])));
            double *part = request->outputs[i] + (size_t)r * (size_t)n;
            tw_dense_apply(false, n, n, call->basis->X, job.out[r], part);
            if (call->op) from_mass_coordinates(memory, call->op, part);
            tw_vector_scale(n, call->unit, part);
        }
    }
}

/* One unit for all vectors of the request. */
static double request_unit(const tw_phi_request *request, int64_t size)
{
    double unit = 0;
    for (int k = 0; k <= request->order; k++)
        if (request->vectors[k] && norm_of((int)size, request->vectors[k]) > 0)
            unit = fmax(unit, unit_of(size, request->vectors[k]));
    return unit > 0 ? unit : 1;
}

/* ---- the general path ---- */

/* `vectors` holds the request's vectors in the coordinates of Z; outputs are left in them too. */
static tw_status general_nodes(tw_phi_workspace *workspace, const tw_phi_request *request, int order, int split,
                               const double reference[2], tw_phi_statistics *statistics, tw_error *error)
{
    const dense_memory *memory = workspace->memory[TW_PHI_DENSE];
    int d = memory->general_order;
    size_t square = (size_t)d * (size_t)d;
    tw_dense_general_job job = {.d = d, .order = order, .split = split, .Z = memory->general};
    job.vectors = memory->vectors;
    double norm = tw_dense_norm1(d, job.Z), sizes[2] = {reference[0], reference[1]}, sums[2] = {0, 0};
    for (int k = 0; k <= order; k++) {
        const double *v = job.vectors + (size_t)k * (size_t)d;
        sums[0] += tw_inverse_factorial[k] * norm_of(split, v);
        sums[1] += tw_inverse_factorial[k] * norm_of(d - split, v + split);
    }
    for (int i = 0; i < request->node_count; i++) {
        job.tau = norm > 0 ? request->nodes[i] * request->time : 0;
        job.out = request->outputs[i];
        tw_status status = tw_dense_general(&job, memory->general + square);
        if (status)
            return tw_fail(error, status, "phi engine dense: exponential at node %d: %s", i, tw_status_text(status));
        double part[2] = {norm_of(split, job.out), norm_of(d - split, job.out + split)};
        for (int r = 0; r < 2; r++) note_error(statistics, job.error[r], fmax(part[r], fmax(sums[r], sizes[r])));
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
    const dense_memory *memory = workspace->memory[TW_PHI_DENSE];
    size_t n = (size_t)memory->n, d = 2 * n;
    double *A = memory->bases[memory->basis_count - 1].X, *B = memory->eigen, *Z = memory->general;
    tw_status status = factor_mass(memory, op, error);
    if (status == TW_OK) status = materialise_counted(workspace, &op->stiffness, A, statistics, error);
    if (status) return status;
    memset(B, 0, n * n * sizeof *B);
    if (op->damping) status = materialise(memory, op->damping->apply, op->damping->context, B);
    if (status) return tw_fail(error, status, "phi engine dense: damping operator: %s", tw_status_text(status));
    scale_by_mass(memory, op, A);
    scale_by_mass(memory, op, B);
    for (size_t i = 0; i < n * n; i++) B[i] += op->rayleigh_stiffness * A[i];
    for (size_t i = 0; i < n; i++) B[i * n + i] += op->rayleigh_mass;
    double theta = sqrt(tw_dense_norm1(memory->n, A));
    if (theta == 0) theta = tw_dense_norm1(memory->n, B);
    if (!isfinite(theta)) return tw_fail(error, TW_NOT_FINITE, "phi engine dense: the operator overflows");
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

static void load_pair(const dense_memory *memory, const tw_second_order *op, const tw_phi_request *request, int order,
                      double theta, double unit)
{
    size_t n = (size_t)memory->n;
    for (int q = 0; q < 2 * (order + 1); q++) {
        const double *vector = request->vectors[q / 2];
        double *out = memory->vectors + (size_t)q * n, scale = q % 2 == 0 ? theta / unit : 1 / unit;
        if (vector) to_mass_coordinates(memory, op, vector + (size_t)(q % 2) * n, out);
        for (size_t i = 0; i < n; i++) out[i] = vector ? out[i] * scale : 0;
    }
}

static tw_status general_second_order(tw_phi_workspace *workspace, const tw_second_order *op,
                                      const tw_phi_request *request, tw_phi_statistics *statistics, tw_error *error)
{
    const dense_memory *memory = workspace->memory[TW_PHI_DENSE];
    int n = memory->n, order = effective_order(request);
    if (!memory->general_order)
        return tw_fail(error, TW_UNSUPPORTED, "phi engine dense: general damping stops at %d unknowns, here are %d",
                       (workspace->limits.options.engine == TW_PHI_DENSE ? LARGEST : LARGEST_AUTO) / 2, n);
    double theta = 1;
    tw_status status = write_pair(workspace, op, &theta, statistics, error);
    if (status) return status;
    double unit = request_unit(request, workspace->vector_size) * theta;
    load_pair(memory, op, request, order, theta, unit);
    double reference[2] = {request->reference[0] * theta / unit, request->reference[1] / unit};
    status = general_nodes(workspace, request, order, n, reference, statistics, error);
    if (status) return status;
    for (int i = 0; i < request->node_count; i++)
        for (int r = 0; r < 2; r++) {
            double *part = request->outputs[i] + (size_t)r * (size_t)n;
            from_mass_coordinates(memory, op, part);
            tw_vector_scale(n, r == 0 ? unit / theta : unit, part);
        }
    return judge(workspace, statistics, error);
}

/* ---- the engine's calls ---- */

static tw_status general_first_order(tw_phi_workspace *workspace, const tw_operator *op, const tw_phi_request *request,
                                     tw_phi_statistics *statistics, tw_error *error)
{
    const dense_memory *memory = workspace->memory[TW_PHI_DENSE];
    int n = memory->n, order = effective_order(request);
    tw_status status = materialise_counted(workspace, op, memory->general, statistics, error);
    if (status) return status;
    double unit = request_unit(request, n), reference[2] = {request->reference[0] / unit, 0};
    for (int k = 0; k <= order; k++)
        for (int i = 0; i < n; i++)
            memory->vectors[(size_t)k * (size_t)n + (size_t)i] =
                request->vectors[k] ? request->vectors[k][i] / unit : 0;
    status = general_nodes(workspace, request, order, n, reference, statistics, error);
    if (status) return status;
    for (int i = 0; i < request->node_count; i++) tw_vector_scale(n, unit, request->outputs[i]);
    return judge(workspace, statistics, error);
}

static tw_status first_order(tw_phi_workspace *workspace, const tw_operator *op, const tw_phi_request *request,
                             tw_phi_statistics *statistics, tw_error *error)
{
    tw_status status = check_memory(workspace, &op->space, error);
    if (status) return status;
    dense_memory *memory = workspace->memory[TW_PHI_DENSE];
    if (op->symmetry != TW_SYMMETRIC) return general_first_order(workspace, op, request, statistics, error);
    tw_dense_basis *basis = &memory->bases[memory->basis_count - 1];
    status = materialise_counted(workspace, op, basis->X, statistics, error);
    if (status == TW_OK) status = decompose(memory, basis, statistics, error);
    if (status) return status;
    symmetric_call call = {.request = request, .basis = basis, .parts = 1, .unit = request_unit(request, memory->n)};
    call.functions.order = effective_order(request);
    symmetric_nodes(memory, &call, statistics);
    return judge(workspace, statistics, error);
}

static tw_status second_order(tw_phi_workspace *workspace, const tw_second_order *op, const tw_phi_request *request,
                              tw_phi_statistics *statistics, tw_error *error)
{
    tw_status status = check_memory(workspace, &op->stiffness.space, error);
    if (status) return status;
    dense_memory *memory = workspace->memory[TW_PHI_DENSE];
    if (op->stiffness.symmetry != TW_SYMMETRIC || op->damping)
        return general_second_order(workspace, op, request, statistics, error);
    tw_dense_basis *basis = &memory->bases[memory->basis_count - 1];
    status = decompose_second_order(workspace, op, basis, statistics, error);
    if (status) return status;
    symmetric_call call = {.request = request, .op = op, .basis = basis, .parts = 2};
    call.unit = request_unit(request, workspace->vector_size);
    call.functions =
        (phi_functions){.order = effective_order(request), .alpha = op->rayleigh_mass, .beta = op->rayleigh_stiffness};
    symmetric_nodes(memory, &call, statistics);
    return judge(workspace, statistics, error);
}

/* Functions of the request's output `row`. */
typedef struct spectral_row {
    const tw_spectral_function *functions;
    int count;
} spectral_row;

static void spectral_table(const void *context, double lambda, double *table)
{
    const spectral_row *row = context;
    for (int j = 0; j < row->count; j++)
        table[j] = row->functions[j].value ? row->functions[j].value(row->functions[j].context, lambda) : 0;
}

/* Outputs from the starts kept in the basis; X is M-orthonormal here. */
static tw_status spectral_outputs(tw_phi_workspace *workspace, const tw_dense_basis *basis,
                                  const tw_spectral_request *request, tw_phi_statistics *statistics, tw_error *error)
{
    const dense_memory *memory = workspace->memory[TW_PHI_DENSE];
    size_t n = (size_t)memory->n;
    double unit = unit_of((int64_t)n * basis->start_count, basis->starts), *scaled = memory->vectors;
    for (size_t i = 0; i < n * (size_t)basis->start_count; i++) scaled[i] = basis->starts[i] / unit;
    for (int i = 0; i < request->output_count; i++) {
        spectral_row row = {request->functions + (size_t)i * (size_t)request->start_count, request->start_count};
        tw_dense_modal_job job = {.inputs = request->start_count, .outputs = 1, .out = {memory->columns}};
        job.functions = spectral_table;
        job.context = &row;
        for (int j = 0; j < request->start_count; j++)
            job.in[j] = row.functions[j].value ? scaled + (size_t)j * n : NULL;
        tw_dense_modal(basis, &job, memory->modal);
        double reference = request->reference ? request->reference[i] / unit : 0;
        note_error(statistics, job.error[0], fmax(norm_of((int)n, job.out[0]), reference));
        tw_dense_apply(false, (int)n, (int)n, basis->X, job.out[0], request->outputs[i]);
        tw_vector_scale((int64_t)n, unit, request->outputs[i]);
    }
    statistics->dimension = (int)n;
    return judge(workspace, statistics, error);
}

static tw_status spectral(tw_phi_workspace *workspace, const tw_second_order *op, const tw_spectral_request *request,
                          tw_phi_statistics *statistics, tw_error *error)
{
    tw_status status = check_memory(workspace, &op->stiffness.space, error);
    if (status) return status;
    if (op->stiffness.symmetry != TW_SYMMETRIC)
        return tw_fail(error, TW_UNSUPPORTED, "phi engine dense: functions of the spectrum need a symmetric stiffness");
    dense_memory *memory = workspace->memory[TW_PHI_DENSE];
    size_t n = (size_t)memory->n;
    tw_dense_basis *basis = &memory->bases[request->slot];
    workspace->slot_engine[request->slot] = TW_PHI_ENGINE_COUNT;
    status = decompose_second_order(workspace, op, basis, statistics, error);
    if (status) return status;
    for (int j = 0; j < request->start_count; j++) {
        double *modal = basis->starts + (size_t)j * n;
        memset(modal, 0, n * sizeof *modal);
        if (!request->starts[j]) continue;
        to_mass_coordinates(memory, op, request->starts[j], memory->columns);
        to_modal(basis, memory->columns, modal);
    }
    for (size_t j = 0; j < n; j++) from_mass_coordinates(memory, op, basis->X + j * n);
    basis->start_count = request->start_count;
    workspace->slot_engine[request->slot] = TW_PHI_DENSE;
    return spectral_outputs(workspace, basis, request, statistics, error);
}

static tw_status reuse(tw_phi_workspace *workspace, const tw_spectral_request *request, tw_phi_statistics *statistics,
                       tw_error *error)
{
    const dense_memory *memory = workspace->memory[TW_PHI_DENSE];
    const tw_dense_basis *basis = &memory->bases[request->slot];
    if (basis->start_count != request->start_count)
        return tw_fail(error, TW_INVALID_ARGUMENT, "slot %d keeps %d start vectors, %d were asked for", request->slot,
                       basis->start_count, request->start_count);
    return spectral_outputs(workspace, basis, request, statistics, error);
}

const tw_phi_engine_table tw_phi_dense = {reserve, release, first_order, second_order, spectral, reuse};
