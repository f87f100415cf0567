/* shift-invert: functions of A in a Krylov space of (M + gamma K)^-1 M (shift_invert_basis.h). A rational
 * approximation: its cost does not grow with stiffness. One sparse Cholesky per linearisation, gamma = (sigma t)^2. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/vector.h"
#include "phi/phi_internal.h"
#include "phi/spectral/displacement_norm.h"
#include "phi/spectral/shift_invert_error.h"
#include "phi/spectral/spectral_bounds.h"
#include "phi/spectral/spectral_combine.h"
#include "phi/spectral/spectral_memory.h"

enum {
    MAX_OUTPUTS = 2 * TW_PHI_MAX_NODES,
    CAPACITY = TW_RATIONAL_MAX,
    MAX_SHRINKS = 12,
    BOUND_STEPS = 8,
    LAG = 3,       /* extensions over which the outputs must not change, in the displacement norm */
    PATIENCE = 16, /* extensions before it may look hopeless */
    GALERKIN_PATIENCE = 48 /* and where modes must be found first */
};

static const double safety = 2;

typedef struct shift_invert_memory {
    tw_rational_basis slot[TW_PHI_MAX_SLOTS + 1]; /* the last in use is phi_from_spectral's own */
    int slots, capacity;
    tw_rational_scratch scratch;
    tw_rational_modes modes;
    double *vectors;         /* scratch's */
    double *numbers;         /* modes' */
    double *coefficients;    /* MAX_OUTPUTS rows of capacity */
    double *past;            /* the same in the space of some extensions ago */
    tw_rational_edge *edges; /* all slots' */
    double *storage;         /* all slots' Q and H */
} shift_invert_memory;

static int capacity_of(const tw_phi_limits *limits)
{
    double allowed = limits->basis_bytes / (8.0 * (double)limits->size * (limits->slots + 1.0));
    int capacity = limits->max_dimension > 0 && limits->max_dimension < CAPACITY
                       ? limits->max_dimension
                       : CAPACITY;
    if (allowed < capacity) capacity = (int)allowed;
    return capacity < 3 * TW_MAX_BLOCK ? 3 * TW_MAX_BLOCK : capacity;
}

static tw_status allocate(shift_invert_memory *memory, const tw_phi_limits *limits)
{
    size_t n = (size_t)limits->size, c = (size_t)memory->capacity, slots = (size_t)memory->slots;
    memory->storage = TW_NEW_ARRAY(slots * (n * c + c * c), double);
    memory->vectors = TW_NEW_ARRAY((2 * TW_MAX_BLOCK + 1) * n, double);
    memory->numbers = TW_NEW_ARRAY(tw_rational_modes_scratch(memory->capacity), double);
    memory->coefficients = TW_NEW_ARRAY(2 * MAX_OUTPUTS * c, double);
    memory->edges = TW_NEW_ARRAY(slots * c, tw_rational_edge);
    if (!memory->storage || !memory->vectors || !memory->numbers || !memory->coefficients ||
        !memory->edges)
        return TW_OUT_OF_MEMORY;
    memory->past = memory->coefficients + MAX_OUTPUTS * c;
    tw_rational_modes_share_out(&memory->modes, memory->capacity, memory->numbers);
    memory->scratch = (tw_rational_scratch){.image = memory->vectors,
                                            .force = memory->vectors + TW_MAX_BLOCK * n,
                                            .weighed = memory->vectors + 2 * TW_MAX_BLOCK * n};
    for (size_t s = 0; s < slots; s++) {
        double *base = memory->storage + s * (n * c + c * c);
        memory->slot[s] = (tw_rational_basis){.size = limits->size,
                                              .capacity = memory->capacity,
                                              .Q = base,
                                              .H = base + n * c,
                                              .edge = memory->edges + s * c};
    }
    return TW_OK;
}

static void shift_invert_release(tw_phi_workspace *workspace)
{
    tw_spectral_release(workspace);
    shift_invert_memory *memory = workspace->memory[TW_PHI_SHIFT_INVERT];
    if (!memory) return;
    tw_release(memory->storage);
    tw_release(memory->vectors);
    tw_release(memory->numbers);
    tw_release(memory->coefficients);
    tw_release(memory->edges);
    tw_release(memory);
    workspace->memory[TW_PHI_SHIFT_INVERT] = NULL;
}

static tw_status shift_invert_reserve(tw_phi_workspace *workspace, tw_error *error)
{
    if (!workspace->limits.second_order) return TW_OK;
    tw_status status = tw_spectral_reserve(workspace, error);
    if (status) return status;
    shift_invert_memory *memory = TW_NEW(shift_invert_memory);
    if (!memory) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    workspace->memory[TW_PHI_SHIFT_INVERT] = memory;
    memory->slots = workspace->limits.slots + 1;
    memory->capacity = capacity_of(&workspace->limits);
    status = allocate(memory, &workspace->limits);
    return status ? tw_fail_plain(error, status) : TW_OK;
}

static tw_rational_basis *basis_of(shift_invert_memory *memory, int slot)
{
    return &memory->slot[slot < TW_PHI_MAX_SLOTS ? slot : memory->slots - 1];
}

/* ---- the pole ---- */

/* sigma where the caller does not choose. Poles near 1/h resolve few oscillations well, poles far out more of them
 * later: measured on the coil (docs/phi.md), 0.2 is best for an error of 1e-3, 0.1 for 1e-5. */
static double chosen_sigma(const tw_phi_options *options)
{
    if (options->pole > 0) return options->pole;
    return fmax(0.05, fmin(0.4, 0.2 * pow(options->tolerance / 1e-3, 0.15)));
}

/* Factorises M + gamma K, shrinking gamma while it is not positive definite. */
static tw_status factor(const tw_second_order *op, double *gamma, tw_phi_statistics *statistics,
                        tw_error *error)
{
    if (!(*gamma > 0))
        return tw_fail(error, TW_UNSUPPORTED, "shift-invert needs the time scale of the functions");
    const int64_t *count = op->shifted->factorisations;
    int64_t before = count ? *count : 0;
    tw_status status = TW_NOT_POSITIVE_DEFINITE;
    for (int shrinks = 0; status == TW_NOT_POSITIVE_DEFINITE && shrinks < MAX_SHRINKS; shrinks++) {
        if (shrinks > 0) *gamma *= 0.25;
        status = op->shifted->factor(op->shifted->context, *gamma);
    }
    statistics->factorisations += count ? *count - before : 1;
    statistics->pole = *gamma;
    if (status == TW_NOT_POSITIVE_DEFINITE)
        return tw_fail(
            error, status,
            "M + gamma K is not positive definite even at gamma = %g: the tangent is strongly "
            "indefinite; use lanczos or a smaller step",
            *gamma);
    return status ? tw_fail_plain(error, status) : TW_OK;
}

/* A gamma so small that S hardly differs from the identity lets A drown in the rounding of the solves. If the first
 * look shows no stiff mode, a few products with K tell whether there are any; *gamma grows to suit them if not. */
static tw_status enlarge_gamma(tw_spectral_memory *memory, const tw_second_order *op,
                               const tw_rational_modes *modes, double *gamma, bool *enlarged,
                               tw_phi_statistics *statistics)
{
    const double soft = 1e-2;
    *enlarged = false;
    if (1 / fmax(modes->theta[0], DBL_EPSILON) - 1 >= soft) return TW_OK;
    tw_spectral_interval interval = {0, op->eigenvalue_max};
    tw_status status = TW_OK;
    if (!(op->eigenvalue_max > 0))
        status = tw_spectral_find_interval(memory, op, BOUND_STEPS, NULL, &interval,
                                           &statistics->products);
    double stiffest = fmax(fabs(interval.low), fabs(interval.high));
    if (status || !(*gamma * stiffest < soft) || !(stiffest > DBL_MIN)) return status;
    *gamma = 0.5 / stiffest;
    *enlarged = true;
    return TW_OK;
}

/* ---- convergence ---- */

/* The verdict on all outputs. */
typedef struct look {
    double excess;    /* largest error / allowed error; at most 1: converged */
    double estimated; /* largest error / scale */
    bool ill_conditioned;
} look;

static double *row_of(const shift_invert_memory *memory, double *rows, int output)
{
    return rows + (size_t)output * (size_t)memory->capacity;
}

/* In the displacement norm phases decide: hundreds of turns within the step, of modes that the space is still finding.
 * Sampling r between the theta_k cannot tell that. So what the outputs were, LAG extensions ago, is kept: */
static tw_status look_back(shift_invert_memory *memory, const tw_rational_basis *basis,
                           const tw_spectral_request *request)
{
    const tw_rational_basis past = tw_rational_past(basis, LAG);
    tw_rational_error unused;
    memset(memory->past, 0,
           (size_t)request->output_count * (size_t)memory->capacity * sizeof(double));
    tw_status status = past.processed > 0 ? tw_rational_decompose(&past, &memory->modes) : TW_OK;
    for (int i = 0; i < request->output_count && status == TW_OK && past.processed > 0; i++)
        status = tw_rational_look(&past, &memory->modes,
                                  request->functions + (size_t)i * (size_t)request->start_count,
                                  NULL, row_of(memory, memory->past, i), &unused);
    return status;
}

/* ... and how much output i has changed since then is its error then, and more than its error now. */
static double change_of(const shift_invert_memory *memory, const tw_rational_basis *basis,
                        const tw_spectral_function *weight, int i)
{
    const double *now = row_of(memory, memory->coefficients, i),
                 *then = row_of(memory, memory->past, i);
    double change[CAPACITY], scratch[CAPACITY];
    for (int k = 0; k < basis->processed; k++) change[k] = now[k] - then[k];
    return tw_rational_weighted_norm(basis, &memory->modes, weight, change, scratch);
}

/* Norm and error of every output; *largest: of the norms. */
static tw_status look_at_outputs(shift_invert_memory *memory, const tw_rational_basis *basis,
                                 const tw_spectral_request *request, tw_rational_error *errors,
                                 double *largest)
{
    const tw_spectral_function weight = tw_displacement_weight(&request->time);
    bool lagging = request->velocity && !tw_rational_is_invariant(basis);
    tw_status status = lagging ? look_back(memory, basis, request) : TW_OK;
    if (status == TW_OK) status = tw_rational_decompose(basis, &memory->modes);
    *largest = 0;
    for (int i = 0; i < request->output_count && status == TW_OK; i++) {
        const tw_spectral_function *w = request->velocity && request->velocity[i] ? &weight : NULL;
        status = tw_rational_look(basis, &memory->modes,
                                  request->functions + (size_t)i * (size_t)request->start_count, w,
                                  row_of(memory, memory->coefficients, i), &errors[i]);
        errors[i].error *= safety;
        if (lagging && status == TW_OK)
            errors[i].error = fmax(errors[i].error, change_of(memory, basis, w, i));
        *largest = fmax(*largest, errors[i].norm);
    }
    return status;
}

static tw_status look_at(shift_invert_memory *memory, const tw_rational_basis *basis,
                         const tw_spectral_request *request, double tolerance, look *out)
{
    tw_rational_error errors[MAX_OUTPUTS] = {0};
    double largest = 0;
    tw_status status = look_at_outputs(memory, basis, request, errors, &largest);
    *out = (look){0};
    for (int i = 0; i < request->output_count && status == TW_OK; i++) {
        const tw_rational_error *e = &errors[i];
        double scale = fmax(request->velocity ? largest : e->norm,
                            request->reference ? request->reference[i] : 0);
        double allowed = fmax(tolerance * scale, 8 * safety * e->rounding);
        if (e->error > 0) out->excess = fmax(out->excess, e->error / allowed);
        if (scale > 0)
            out->estimated = fmax(out->estimated, fmax(e->error / safety, e->rounding) / scale);
        if (e->rounding > tolerance * scale) out->ill_conditioned = true;
    }
    return status;
}

/* Whether going on is hopeless: the error falls like a power of the dimension, and at that power the space would have
 * to become several times larger than it can. */
static bool is_hopeless(const tw_rational_basis *basis, double excess, double excess_at_half)
{
    double steps = log2(basis->capacity / (double)basis->processed) +
                   2; /* doublings up to four times the capacity */
    return log2(excess) > steps * fmax(log2(excess_at_half / excess), 0);
}

/* In the displacement norm the space may be so coarse that only Galerkin's keeps the energy. */
static tw_status extend(shift_invert_memory *memory, tw_rational_basis *basis,
                        const tw_second_order *op, tw_phi_statistics *statistics)
{
    tw_status status = tw_rational_extend(basis, op, &memory->scratch, &statistics->solves);
    if (status || !basis->galerkin) return status;
    return tw_rational_measure_rest(basis, op, &memory->scratch, &statistics->products);
}

/* Extends the space until every output is good enough. */
static tw_status converge(shift_invert_memory *memory, tw_rational_basis *basis,
                          const tw_second_order *op, const tw_spectral_request *request,
                          const tw_phi_options *options, look *verdict,
                          tw_phi_statistics *statistics)
{
    double excess[CAPACITY + 1] = {0}, total = 0;
    tw_status status = tw_global_size(&op->stiffness.space, &total);
    int limit = basis->capacity, blocks = 0;
    if (options->max_dimension > 0 && options->max_dimension < limit)
        limit = options->max_dimension;
    while (status == TW_OK && !tw_rational_is_invariant(basis)) {
        if (statistics->solves + basis->count - basis->processed > options->max_products)
            return TW_BUDGET_EXHAUSTED;
        if (basis->count > limit) return TW_NOT_CONVERGED;
        status = extend(memory, basis, op, statistics);
        if (status == TW_OK) status = look_at(memory, basis, request, options->tolerance, verdict);
        if (status || verdict->excess <= 1) break;
        statistics->rejected++;
        excess[++blocks] = verdict->excess;
        if (blocks >= (basis->galerkin ? GALERKIN_PATIENCE : PATIENCE) && blocks % 4 == 0 &&
            total > limit && is_hopeless(basis, excess[blocks], excess[blocks / 2]))
            return TW_NOT_CONVERGED;
    }
    return status;
}

static void form_outputs(const shift_invert_memory *memory, const tw_rational_basis *basis,
                         const tw_spectral_request *request)
{
    double *vectors[CAPACITY];
    for (int k = 0; k < basis->processed; k++) vectors[k] = basis->Q + k * basis->size;
    tw_spectral_combine(basis->size, basis->processed, vectors, request->output_count,
                        memory->capacity, memory->coefficients, false, request->outputs);
}

static tw_status finish(shift_invert_memory *memory, const tw_rational_basis *basis,
                        const tw_spectral_request *request, const look *verdict,
                        tw_phi_statistics *statistics, tw_error *error)
{
    form_outputs(memory, basis, request);
    statistics->substeps = 1;
    statistics->dimension = basis->processed;
    statistics->estimated_error = verdict->estimated;
    statistics->pole = basis->gamma;
    if (verdict->ill_conditioned)
        return tw_fail(error, TW_ILL_CONDITIONED, "rounding alone is about %.1e of the result",
                       verdict->estimated);
    return TW_OK;
}

static tw_status explain(tw_status status, const tw_rational_basis *basis, const look *verdict,
                         tw_error *error)
{
    if (status == TW_NOT_CONVERGED)
        return tw_fail(error, status,
                       "shift-invert stopped at dimension %d with %.1e times the tolerance",
                       basis->processed, verdict->excess);
    return status ? tw_fail_plain(error, status) : TW_OK;
}

/* Builds the space at gamma and evaluates. *again: gamma was too small, and has been enlarged for the next attempt. */
static tw_status attempt(tw_phi_workspace *workspace, const tw_second_order *op,
                         const tw_spectral_request *request, double *gamma, bool *again,
                         look *verdict, tw_phi_statistics *statistics, tw_error *error)
{
    shift_invert_memory *memory = workspace->memory[TW_PHI_SHIFT_INVERT];
    tw_rational_basis *basis = basis_of(memory, request->slot);
    const tw_phi_options *options = &workspace->options;
    bool may_enlarge = *again && !(options->pole > 0);
    *again = false;
    tw_status status = factor(op, gamma, statistics, error);
    if (status) return status;
    basis->galerkin = request->velocity != NULL;
    status = tw_rational_begin(basis, op, request->start_count, request->starts, *gamma,
                               request->smooth, &memory->scratch, &statistics->solves);
    if (status == TW_OK && basis->count > 0) {
        status = extend(memory, basis, op, statistics);
        if (status == TW_OK) status = look_at(memory, basis, request, options->tolerance, verdict);
        if (status == TW_OK && may_enlarge)
            status = enlarge_gamma(tw_spectral_memory_of(workspace), op, &memory->modes, gamma,
                                   again, statistics);
        if (*again) return TW_OK;
        if (status == TW_OK && verdict->excess > 1)
            status = converge(memory, basis, op, request, options, verdict, statistics);
    }
    return explain(status, basis, verdict, error);
}

static tw_status shift_invert_spectral(tw_phi_workspace *workspace, const tw_second_order *op,
                                       const tw_spectral_request *request,
                                       tw_phi_statistics *statistics, tw_error *error)
{
    shift_invert_memory *memory = workspace->memory[TW_PHI_SHIFT_INVERT];
    if (op->stiffness.symmetry != TW_SYMMETRIC)
        return tw_fail(error, TW_UNSUPPORTED, "shift-invert needs a symmetric stiffness");
    if (!op->shifted)
        return tw_fail(error, TW_UNSUPPORTED,
                       "shift-invert needs a solver for M + gamma K (tw_second_order.shifted)");
    tw_rational_basis *basis = basis_of(memory, request->slot);
    double root = chosen_sigma(&workspace->options) * request->time, gamma = root * root;
    look verdict = {0};
    tw_spectral_set_engine(workspace, request->slot, TW_PHI_ENGINE_COUNT);
    bool again = true;
    tw_status status = attempt(workspace, op, request, &gamma, &again, &verdict, statistics, error);
    if (status == TW_OK && again)
        status =
            attempt(workspace, op, request, &gamma, &(bool){false}, &verdict, statistics, error);
    statistics->dimension = basis->processed;
    if (basis->processed > 0 || status == TW_OK)
        tw_spectral_set_engine(workspace, request->slot, TW_PHI_SHIFT_INVERT);
    return status ? status : finish(memory, basis, request, &verdict, statistics, error);
}

static tw_status shift_invert_reuse(tw_phi_workspace *workspace, const tw_spectral_request *request,
                                    tw_phi_statistics *statistics, tw_error *error)
{
    shift_invert_memory *memory = workspace->memory[TW_PHI_SHIFT_INVERT];
    const tw_rational_basis *basis = basis_of(memory, request->slot);
    if (request->start_count != basis->start_count)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "the slot holds a basis for %d start vectors, not %d", basis->start_count,
                       request->start_count);
    look verdict = {0};
    tw_status status = TW_OK;
    if (basis->processed > 0)
        status = look_at(memory, basis, request, workspace->options.tolerance, &verdict);
    if (status == TW_OK && verdict.excess > 1) status = TW_NOT_CONVERGED;
    if (status) return explain(status, basis, &verdict, error);
    return finish(memory, basis, request, &verdict, statistics, error);
}

static tw_status shift_invert_second_order(tw_phi_workspace *workspace, const tw_second_order *op,
                                           const tw_phi_request *request,
                                           tw_phi_statistics *statistics, tw_error *error)
{
    return tw_phi_spectral_evaluate(workspace, &tw_phi_shift_invert, op, request, statistics,
                                    error);
}

const tw_phi_engine_table tw_phi_shift_invert = {.reserve = shift_invert_reserve,
                                                 .release = shift_invert_release,
                                                 .second_order = shift_invert_second_order,
                                                 .spectral = shift_invert_spectral,
                                                 .reuse = shift_invert_reuse};
