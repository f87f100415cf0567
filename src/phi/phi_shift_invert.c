/* shift-invert: functions of A in a Krylov space of (M + gamma K)^-1 M (shift_invert_basis.h). A rational
 * approximation: its cost does not grow with stiffness. One sparse Cholesky per linearisation, gamma = (sigma t)^2.
 *
 * Error: coefficients in nested spaces are compared. Rational convergence can pause, so the largest of the last WINDOW
 * changes counts, stretched by the rate at which they fall. */
#include <float.h>
#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/dense.h"
#include "linalg/vector.h"
#include "phi/phi_internal.h"
#include "phi/shift_invert_basis.h"
#include "phi/spectral_memory.h"

enum { MAX_OUTPUTS = 2 * TW_PHI_MAX_NODES, CAPACITY = TW_RATIONAL_MAX, WINDOW = 3, MAX_SHRINKS = 12, MAX_CHANGES = 3 };

/* sigma of gamma = (sigma t)^2 where the caller does not choose: see docs/phi.md for the measurements. */
static const double default_sigma = 0.3, safety = 2;

typedef struct shift_invert_memory {
    tw_rational_basis slot[TW_PHI_MAX_SLOTS + 1]; /* the last is phi_from_spectral's own */
    int slots, capacity;
    tw_rational_scratch scratch;
    double *vectors;                           /* scratch's */
    double *H, *eigenvalues, *eigen, *weights; /* small: capacity^2, capacity, eigen scratch, capacity */
    double *coefficients;                      /* MAX_OUTPUTS rows of capacity */
    double *before;                            /* those of the last look */
    double *storage;                           /* all slots' Q and H */
} shift_invert_memory;

static int capacity_of(const tw_phi_limits *limits)
{
    double allowed = limits->basis_bytes / (8.0 * (double)limits->size * (limits->slots + 1.0));
    int capacity = limits->max_dimension > 0 && limits->max_dimension < CAPACITY ? limits->max_dimension : CAPACITY;
    if (allowed < capacity) capacity = (int)allowed;
    return capacity < 3 * TW_MAX_BLOCK ? 3 * TW_MAX_BLOCK : capacity;
}

static tw_status allocate(shift_invert_memory *memory, const tw_phi_limits *limits)
{
    size_t n = (size_t)limits->size, c = (size_t)memory->capacity, slots = (size_t)memory->slots;
    memory->storage = TW_NEW_ARRAY(slots * (n * c + c * c), double);
    memory->vectors = TW_NEW_ARRAY((2 * TW_MAX_BLOCK + 1) * n, double);
    size_t eigen = tw_dense_eigen_scratch(memory->capacity);
    memory->H = TW_NEW_ARRAY(c * c + 2 * c + eigen + 2 * MAX_OUTPUTS * c, double);
    if (!memory->storage || !memory->vectors || !memory->H) return TW_OUT_OF_MEMORY;
    memory->eigenvalues = memory->H + c * c;
    memory->weights = memory->eigenvalues + c;
    memory->eigen = memory->weights + c;
    memory->coefficients = memory->eigen + eigen;
    memory->before = memory->coefficients + MAX_OUTPUTS * c;
    memory->scratch = (tw_rational_scratch){.image = memory->vectors,
                                            .force = memory->vectors + TW_MAX_BLOCK * n,
                                            .weighed = memory->vectors + 2 * TW_MAX_BLOCK * n};
    for (size_t s = 0; s < slots; s++) {
        double *base = memory->storage + s * (n * c + c * c);
        memory->slot[s] =
            (tw_rational_basis){.size = limits->size, .capacity = memory->capacity, .Q = base, .H = base + n * c};
    }
    return TW_OK;
}

static tw_status shift_invert_reserve(tw_phi_workspace *workspace, tw_error *error)
{
    if (!workspace->limits.second_order) return TW_OK;
    tw_status status = tw_spectral_reserve(workspace, error); /* phi_from_spectral.c works in it */
    if (status) return status;
    shift_invert_memory *memory = TW_NEW(shift_invert_memory);
    if (!memory) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    workspace->memory[TW_PHI_SHIFT_INVERT] = memory;
    memory->slots = workspace->limits.slots + 1;
    memory->capacity = capacity_of(&workspace->limits);
    status = allocate(memory, &workspace->limits);
    return status ? tw_fail_plain(error, status) : TW_OK;
}

static void shift_invert_release(tw_phi_workspace *workspace)
{
    tw_spectral_release(workspace);
    shift_invert_memory *memory = workspace->memory[TW_PHI_SHIFT_INVERT];
    if (!memory) return;
    tw_release(memory->storage);
    tw_release(memory->vectors);
    tw_release(memory->H);
    tw_release(memory);
    workspace->memory[TW_PHI_SHIFT_INVERT] = NULL;
}

static tw_rational_basis *basis_of(shift_invert_memory *memory, int slot)
{
    return &memory->slot[slot < TW_PHI_MAX_SLOTS ? slot : memory->slots - 1];
}

/* Spectral decomposition of the processed part of H; symmetric up to rounding. */
static tw_status decompose(shift_invert_memory *memory, const tw_rational_basis *basis)
{
    int p = basis->processed;
    for (int j = 0; j < p; j++)
        for (int i = 0; i < p; i++)
            memory->H[j * p + i] = 0.5 * (basis->H[j * basis->capacity + i] + basis->H[i * basis->capacity + j]);
    return tw_symmetric_eigen(p, memory->H, memory->eigenvalues, memory->eigen);
}

/* f((1/theta - 1)/gamma), times 1/theta for smoothed starts. Rounding may leave theta at or below zero: the stiffest
 * modes. A theta that is 1 but for rounding is a mode without stiffness. */
static double value_at(const tw_rational_basis *basis, const tw_spectral_function *f, double theta)
{
    if (!f->value) return 0;
    double safe = fmax(theta, DBL_EPSILON);
    if (fabs(safe - 1) <= 16 * DBL_EPSILON) safe = 1;
    double value = f->value(f->context, (1 / safe - 1) / basis->gamma);
    return basis->smooth ? value / safe : value;
}

/* Starts of the request in the eigenvector k of H. */
static double share_of(const shift_invert_memory *memory, const tw_rational_basis *basis, int j, int k)
{
    int p = basis->processed;
    double share = 0;
    for (int l = 0; l < TW_MAX_BLOCK && l < p; l++) share += memory->H[k * p + l] * basis->start[j][l];
    return share;
}

/* coefficients of output i in Q: sum_j U f_ij(theta) U^T start_j. */
static tw_status find_coefficients(shift_invert_memory *memory, const tw_rational_basis *basis,
                                   const tw_spectral_request *request)
{
    int p = basis->processed, capacity = memory->capacity;
    tw_status status = decompose(memory, basis);
    if (status) return status;
    for (int i = 0; i < request->output_count; i++) {
        double *row = memory->coefficients + (size_t)i * (size_t)capacity;
        for (int k = 0; k < p; k++) memory->weights[k] = 0;
        for (int j = 0; j < request->start_count; j++) {
            const tw_spectral_function *f = &request->functions[i * request->start_count + j];
            for (int k = 0; k < p && f->value; k++) {
                double share = share_of(memory, basis, j, k);
                if (share != 0) memory->weights[k] += value_at(basis, f, memory->eigenvalues[k]) * share;
            }
        }
        tw_dense_apply(false, p, p, memory->H, memory->weights, row);
        if (!tw_dense_is_finite((size_t)p, row)) return TW_NOT_FINITE;
        for (int k = p; k < capacity; k++) row[k] = 0;
    }
    return TW_OK;
}

/* Largest change of an output since the last look, relative to what its error is promised in. */
static double find_change(shift_invert_memory *memory, const tw_spectral_request *request)
{
    double worst = 0;
    int capacity = memory->capacity;
    for (int i = 0; i < request->output_count; i++) {
        const double *now = memory->coefficients + (size_t)i * (size_t)capacity;
        double *old = memory->before + (size_t)i * (size_t)capacity;
        double change = 0, size = 0;
        for (int k = 0; k < capacity; k++) {
            change = hypot(change, now[k] - old[k]);
            size = hypot(size, now[k]);
            old[k] = now[k];
        }
        double scale = fmax(size, request->reference ? request->reference[i] : 0);
        if (change > 0) worst = fmax(worst, change / scale);
    }
    return worst;
}

/* The largest change of output i over its eigenvectors when each theta moves to 1/(1/theta +- off) or theta +- eps |S|.
 */
static double change_by_rounding(const shift_invert_memory *memory, const tw_rational_basis *basis,
                                 const tw_spectral_request *request, int i, double largest, double off)
{
    double change = 0, step = 4 * DBL_EPSILON * largest;
    for (int k = 0; k < basis->processed; k++) {
        double moved = 0, theta = memory->eigenvalues[k];
        double near = fmin(theta - step, theta / (1 + fabs(theta) * off)), far = theta + step;
        for (int j = 0; j < request->start_count; j++) {
            const tw_spectral_function *f = &request->functions[i * request->start_count + j];
            double share = f->value ? share_of(memory, basis, j, k) : 0;
            if (share == 0) continue;
            double here = value_at(basis, f, theta), below = value_at(basis, f, near);
            moved += fmax(fabs(below - here), fabs(value_at(basis, f, far) - here)) * fabs(share);
        }
        change = hypot(change, moved);
    }
    return change;
}

/* What rounding alone does: theta is known to some eps |S|, and M + gamma K, hence 1/theta, to eps |M + gamma K|, of
 * which the smallest theta tells (smoothed starts carry nothing of those modes). The largest over outputs, relative to
 * what their error is promised in. H holds the eigenvectors. */
static double find_rounding(const shift_invert_memory *memory, const tw_rational_basis *basis,
                            const tw_spectral_request *request)
{
    double worst = 0, largest = 1, lowest = 1;
    for (int k = 0; k < basis->processed; k++) {
        largest = fmax(largest, memory->eigenvalues[k]);
        lowest = fmin(lowest, fabs(memory->eigenvalues[k]));
    }
    double off = basis->smooth ? 0 : DBL_EPSILON / fmax(lowest, DBL_EPSILON);
    for (int i = 0; i < request->output_count; i++) {
        const double *row = memory->coefficients + (size_t)i * (size_t)memory->capacity;
        double size = 0, change = change_by_rounding(memory, basis, request, i, largest, off);
        for (int k = 0; k < basis->processed; k++) size = hypot(size, row[k]);
        if (change > 0) worst = fmax(worst, change / fmax(size, request->reference ? request->reference[i] : 0));
    }
    return worst;
}

/* What is still to come, if changes go on falling as they did. */
static double extrapolate(const double *changes, int looks)
{
    if (looks <= WINDOW) return INFINITY;
    double largest = 0;
    for (int i = 1; i <= WINDOW; i++) largest = fmax(largest, changes[looks - i]);
    double rate = pow(changes[looks - 1] / fmax(changes[looks - WINDOW - 1], DBL_MIN), 1.0 / WINDOW);
    if (!(rate < 0.9)) rate = 0.9;
    return safety * largest * fmax(1, rate / (1 - rate));
}

/* Factorises M + gamma K, shrinking gamma while it is not positive definite. */
static tw_status factorise(const tw_second_order *op, double *gamma, tw_phi_statistics *statistics, tw_error *error)
{
    const int64_t *count = op->shifted->factorizations;
    int64_t before = count ? *count : 0;
    tw_status status = TW_NOT_POSITIVE_DEFINITE;
    for (int shrinks = 0; status == TW_NOT_POSITIVE_DEFINITE && shrinks < MAX_SHRINKS; shrinks++) {
        if (shrinks > 0) *gamma *= 0.25;
        status = op->shifted->factor(op->shifted->context, *gamma);
    }
    statistics->factorizations += count ? *count - before : 1;
    statistics->pole = *gamma;
    if (status == TW_NOT_POSITIVE_DEFINITE)
        return tw_fail(error, status,
                       "M + gamma K is not positive definite even at gamma = %g: the tangent is strongly "
                       "indefinite; use lanczos or a smaller step",
                       *gamma);
    return status ? tw_fail_plain(error, status) : TW_OK;
}

/* Extends the space until the coefficients settle. */
static tw_status converge(shift_invert_memory *memory, tw_rational_basis *basis, const tw_second_order *op,
                          const tw_spectral_request *request, double tolerance, tw_phi_statistics *statistics)
{
    double changes[CAPACITY + 1];
    int looks = 0;
    bool exhausted = basis->count == 0;
    for (size_t k = 0; k < (size_t)MAX_OUTPUTS * (size_t)memory->capacity; k++) memory->before[k] = 0;
    while (!exhausted) {
        tw_status status = tw_rational_extend(basis, op, &memory->scratch, &statistics->solves, &exhausted);
        if (status) return status;
        status = find_coefficients(memory, basis, request);
        if (status) return status;
        changes[looks++] = find_change(memory, request);
        statistics->estimated_error = exhausted ? DBL_EPSILON : extrapolate(changes, looks);
        if (statistics->estimated_error <= tolerance) return TW_OK;
    }
    return TW_OK;
}

static void form_outputs(const shift_invert_memory *memory, const tw_rational_basis *basis,
                         const tw_spectral_request *request)
{
    if (basis->processed == 0) {
        for (int i = 0; i < request->output_count; i++) tw_vector_fill(basis->size, 0.0, request->outputs[i]);
        return;
    }
    /* rows of `coefficients` are capacity long, tw_vector_combine wants them dense */
    double *packed = memory->before;
    for (int i = 0; i < request->output_count; i++)
        for (int k = 0; k < basis->processed; k++)
            packed[i * basis->processed + k] = memory->coefficients[(size_t)i * (size_t)memory->capacity + (size_t)k];
    tw_vector_combine(basis->size, basis->processed, basis->Q, request->output_count, packed, request->outputs);
}

/* (sigma t)^2, the caller's sigma or ours. */
static double first_gamma(const tw_phi_options *options, double time)
{
    double sigma = options->pole > 0 ? options->pole : default_sigma, gamma = (sigma * time) * (sigma * time);
    return gamma > DBL_MIN ? gamma : DBL_MIN;
}

/* lambda = (1/theta - 1)/gamma is known to eps/(gamma theta^2). Where every theta of the space is close to 1, nothing
 * in the starts is stiff, and a larger gamma sees more; where one is lost in rounding, a smaller one does. Returns
 * gamma itself if it is well chosen. Smoothed starts have no stiff part to lose. */
static double better_gamma(const shift_invert_memory *memory, const tw_rational_basis *basis)
{
    double widest = 0, lowest = 1;
    for (int k = 0; k < basis->processed; k++) {
        widest = fmax(widest, fabs(1 - memory->eigenvalues[k]));
        lowest = fmin(lowest, fabs(memory->eigenvalues[k]));
    }
    if (basis->processed == 0) return basis->gamma;
    /* Rounding may hide how small it is: then further than rounding reaches, unless there is no stiffness at all. */
    if (widest <= 0.05) return 0.3 * basis->gamma / fmax(widest, 16 * DBL_EPSILON * basis->processed);
    return lowest < 1e-12 && !basis->smooth ? 1e-4 * basis->gamma : basis->gamma;
}

static tw_status judge(double rounding, double tolerance, tw_error *error)
{
    if (rounding <= tolerance) return TW_OK;
    return tw_fail(error, TW_ILL_CONDITIONED, "shift-invert: rounding alone makes an error of %.1e", rounding);
}

static tw_status shift_invert_spectral(tw_phi_workspace *workspace, const tw_second_order *op,
                                       const tw_spectral_request *request, tw_phi_statistics *statistics,
                                       tw_error *error)
{
    shift_invert_memory *memory = workspace->memory[TW_PHI_SHIFT_INVERT];
    if (op->stiffness.symmetry != TW_SYMMETRIC)
        return tw_fail(error, TW_UNSUPPORTED, "shift-invert needs a symmetric stiffness");
    if (!op->shifted)
        return tw_fail(error, TW_UNSUPPORTED, "shift-invert needs a solver for M + gamma K (tw_second_order.shifted)");
    tw_rational_basis *basis = basis_of(memory, request->slot);
    if (request->slot < TW_PHI_MAX_SLOTS) workspace->slot_engine[request->slot] = TW_PHI_ENGINE_COUNT;
    double gamma = first_gamma(&workspace->options, request->time);
    tw_status status = TW_OK;
    statistics->substeps = 1;
    for (int attempt = 0; status == TW_OK; attempt++) {
        status = factorise(op, &gamma, statistics, error);
        if (status) return status;
        status = tw_rational_begin(basis, op, request->start_count, request->starts, gamma, request->smooth,
                                   &memory->scratch, &statistics->solves);
        if (status == TW_OK) status = converge(memory, basis, op, request, workspace->options.tolerance, statistics);
        double better = status == TW_OK && workspace->options.pole == 0 ? better_gamma(memory, basis) : gamma;
        if (attempt == MAX_CHANGES || better == gamma) break;
        gamma = better;
        statistics->rejected++;
    }
    statistics->dimension = basis->processed;
    if (status == TW_NOT_CONVERGED)
        return tw_fail(error, status, "shift-invert needs more than %d dimensions", basis->capacity);
    if (status) return tw_fail_plain(error, status);
    double rounding = basis->processed > 0 ? find_rounding(memory, basis, request) : 0;
    statistics->estimated_error = fmax(statistics->estimated_error, rounding);
    form_outputs(memory, basis, request);
    if (request->slot < TW_PHI_MAX_SLOTS) workspace->slot_engine[request->slot] = TW_PHI_SHIFT_INVERT;
    return judge(rounding, workspace->options.tolerance, error);
}

/* The kept space is judged by what it gives with WINDOW * TW_MAX_BLOCK dimensions fewer. */
static double nested_change(shift_invert_memory *memory, tw_rational_basis *basis, const tw_spectral_request *request,
                            tw_status *status)
{
    int whole = basis->processed, less = whole - 2 * basis->start_count;
    if (basis->processed == basis->count) less = whole; /* invariant: exact */
    if (less < 1) return INFINITY;
    basis->processed = less;
    *status = find_coefficients(memory, basis, request);
    basis->processed = whole;
    if (*status) return INFINITY;
    find_change(memory, request);
    *status = find_coefficients(memory, basis, request);
    return *status ? INFINITY : find_change(memory, request);
}

static tw_status shift_invert_reuse(tw_phi_workspace *workspace, const tw_spectral_request *request,
                                    tw_phi_statistics *statistics, tw_error *error)
{
    shift_invert_memory *memory = workspace->memory[TW_PHI_SHIFT_INVERT];
    tw_rational_basis *basis = basis_of(memory, request->slot);
    if (request->start_count != basis->start_count)
        return tw_fail(error, TW_INVALID_ARGUMENT, "the slot holds a basis for %d start vectors, not %d",
                       basis->start_count, request->start_count);
    tw_status status = TW_OK;
    double change = basis->count > 0 ? nested_change(memory, basis, request, &status) : 0;
    if (status) return tw_fail_plain(error, status);
    statistics->estimated_error = change;
    statistics->dimension = basis->processed;
    statistics->pole = basis->gamma;
    if (change > 2 * workspace->options.tolerance)
        return tw_fail(error, TW_NOT_CONVERGED, "the kept basis is too small: estimated error %.1e", change);
    double rounding = basis->processed > 0 ? find_rounding(memory, basis, request) : 0;
    statistics->estimated_error = fmax(change, rounding);
    form_outputs(memory, basis, request);
    return judge(rounding, workspace->options.tolerance, error);
}

static tw_status shift_invert_second_order(tw_phi_workspace *workspace, const tw_second_order *op,
                                           const tw_phi_request *request, tw_phi_statistics *statistics,
                                           tw_error *error)
{
    return tw_phi_spectral_evaluate(workspace, &tw_phi_shift_invert, op, request, statistics, error);
}

const tw_phi_engine_table tw_phi_shift_invert = {.reserve = shift_invert_reserve,
                                                 .release = shift_invert_release,
                                                 .second_order = shift_invert_second_order,
                                                 .spectral = shift_invert_spectral,
                                                 .reuse = shift_invert_reuse};
