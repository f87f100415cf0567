/* shift-invert: functions of A in a Krylov space of (M + gamma K)^-1 M (spectral.h). It is a
 * rational approximation, so its cost does not grow with the stiffness. One linearisation needs one
 * sparse Cholesky factorisation, with gamma = (sigma t)^2. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "phi/spectral/spectral.h"

enum {
    MAX_OUTPUTS = TW_SPECTRAL_MAX_OUTPUTS,
    CAPACITY = TW_SHIFT_INVERT_MAX,
    MAX_SHRINKS = 12,      /* of gamma, by 4 each: gamma falls by 2e-7 at most */
    BOUND_STEPS = 8,       /* products with K that look for stiff modes */
    LAG = 3,               /* extensions over which the outputs must not change (see look_back) */
    PATIENCE = 16,         /* extensions before convergence may be called hopeless */
    GALERKIN_PATIENCE = 48 /* the same for Galerkin, where modes must be found first */
};

/* Estimates are multiplied by this. In the validation (docs/phi.md) they were never more than this
 * factor too small. */
static const double safety = 2;

/* gamma lambda_max below this means that gamma is too small: S hardly differs from the identity. */
static const double soft = 1e-2;

typedef struct shift_invert_memory {
    tw_shift_invert_basis slot[TW_PHI_MAX_SLOTS + 1]; /* the last one is phi_from_spectral.c's */
    int slots;
    int capacity;
    tw_shift_invert_scratch scratch;
    tw_shift_invert_modes modes;
    double *vectors;             /* of scratch */
    double *numbers;             /* of modes */
    double *coefficients;        /* MAX_OUTPUTS rows of `capacity` */
    double *past;                /* the same in the space of LAG extensions ago */
    tw_shift_invert_edge *edges; /* of all slots */
    double *storage;             /* Q and H of all slots */
} shift_invert_memory;

/* How good all outputs are together. */
typedef struct verdict {
    double excess;    /* largest error / allowed error; at most 1: converged */
    double estimated; /* largest error / scale */
} verdict;

/* One evaluation under way. */
typedef struct evaluation {
    shift_invert_memory *memory;
    tw_shift_invert_basis *basis;
    tw_spectral_memory *shared;
    const tw_second_order *op; /* NULL when a kept basis is used again */
    const tw_spectral_request *request;
    const tw_phi_options *options;
    double gamma;
    verdict verdict;
    tw_phi_statistics *statistics;
} evaluation;

/* ---- memory ---- */

/* Most vectors of one basis: what the limits allow, but at least three blocks. */
static int capacity_of(const tw_phi_limits *limits)
{
    double allowed = limits->basis_bytes / (8.0 * (double)limits->size * (limits->slots + 1.0));
    int capacity = CAPACITY;
    if (limits->max_dimension > 0 && limits->max_dimension < CAPACITY)
        capacity = limits->max_dimension;
    if (allowed < capacity) capacity = (int)allowed;

    if (capacity < 3 * TW_MAX_BLOCK) capacity = 3 * TW_MAX_BLOCK;

    return capacity;
}

static tw_status allocate(shift_invert_memory *memory, const tw_phi_limits *limits)
{
    size_t n = (size_t)limits->size;
    size_t c = (size_t)memory->capacity;
    size_t slots = (size_t)memory->slots;
    memory->storage = TW_NEW_ARRAY(slots * (n * c + c * c), double);
    memory->vectors = TW_NEW_ARRAY((2 * TW_MAX_BLOCK + 1) * n, double);
    memory->numbers = TW_NEW_ARRAY(tw_shift_invert_modes_scratch(memory->capacity), double);
    memory->coefficients = TW_NEW_ARRAY(2 * MAX_OUTPUTS * c, double);
    memory->edges = TW_NEW_ARRAY(slots * c, tw_shift_invert_edge);
    if (!memory->storage || !memory->vectors || !memory->numbers || !memory->coefficients ||
        !memory->edges)
        return TW_OUT_OF_MEMORY;

    /* Scratch. */
    memory->past = memory->coefficients + MAX_OUTPUTS * c;
    tw_shift_invert_modes_share_out(&memory->modes, memory->capacity, memory->numbers);
    memory->scratch = (tw_shift_invert_scratch){.image = memory->vectors,
                                                .force = memory->vectors + TW_MAX_BLOCK * n,
                                                .weighed = memory->vectors + 2 * TW_MAX_BLOCK * n};

    /* The bases. */
    for (size_t s = 0; s < slots; s++) {
        double *base = memory->storage + s * (n * c + c * c);
        memory->slot[s] = (tw_shift_invert_basis){.size = limits->size,
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

static evaluation evaluation_of(tw_phi_workspace *workspace, const tw_second_order *op,
                                const tw_spectral_request *request, tw_phi_statistics *statistics)
{
    shift_invert_memory *memory = workspace->memory[TW_PHI_SHIFT_INVERT];
    int slot = request->slot < TW_PHI_MAX_SLOTS ? request->slot : memory->slots - 1;

    return (evaluation){.memory = memory,
                        .basis = &memory->slot[slot],
                        .shared = tw_spectral_memory_of(workspace),
                        .op = op,
                        .request = request,
                        .options = &workspace->options,
                        .statistics = statistics};
}

/* ---- the pole ---- */

/* sigma where the caller does not choose it. A pole near 1/h resolves few oscillations well; a pole
 * further out resolves more of them, but later. Measured on the coil (docs/phi.md), 0.2 is best for
 * an error of 1e-3 and 0.1 for 1e-5. */
static double chosen_sigma(const tw_phi_options *options)
{
    if (options->pole > 0) return options->pole;
    return fmax(0.05, fmin(0.4, 0.2 * pow(options->tolerance / 1e-3, 0.15)));
}

/* Factorises M + gamma K. gamma shrinks while the matrix is not positive definite. */
static tw_status factor(evaluation *ev, tw_error *error)
{
    if (!(ev->gamma > 0))
        return tw_fail(error, TW_UNSUPPORTED, "shift-invert needs the time scale of the functions");

    const tw_shifted_solver *shifted = ev->op->shifted;
    const int64_t *count = shifted->factorisations;
    int64_t before = count ? *count : 0;

    /* A smaller gamma brings M + gamma K nearer to the mass, which is positive definite. */
    tw_status status = TW_NOT_POSITIVE_DEFINITE;
    for (int shrinks = 0; status == TW_NOT_POSITIVE_DEFINITE && shrinks < MAX_SHRINKS; shrinks++) {
        if (shrinks > 0) ev->gamma *= 0.25;
        status = shifted->factor(shifted->context, ev->gamma);
    }

    /* A solver that counts tells how often it really factorised. */
    ev->statistics->factorisations += count ? *count - before : 1;
    ev->statistics->pole = ev->gamma;
    if (status == TW_NOT_POSITIVE_DEFINITE)
        return tw_fail(
            error, status,
            "M + gamma K is not positive definite even at gamma = %g: the tangent is strongly "
            "indefinite; use lanczos or a smaller step",
            ev->gamma);

    return status ? tw_fail_plain(error, status) : TW_OK;
}

/* A gamma so small that S hardly differs from the identity loses A in the rounding of the
 * solves. If the space shows no stiff mode after its first extension, then a few products with K
 * tell whether there are any. If there are none, gamma grows to suit the stiffest, and *enlarged
 * is set. */
static tw_status enlarge_gamma(evaluation *ev, bool *enlarged)
{
    const tw_second_order *op = ev->op;
    double smallest_theta = ev->memory->modes.theta[0];
    if (1 / fmax(smallest_theta, DBL_EPSILON) - 1 >= soft) return TW_OK;

    /* The stiffest mode, from the operator's bound or from a few products. */
    tw_spectral_interval interval = {0, op->eigenvalue_max};
    if (!(op->eigenvalue_max > 0))
        TW_TRY(tw_spectral_find_interval(ev->shared, op, BOUND_STEPS, NULL, &interval,
                                         &ev->statistics->products));

    double stiffest = fmax(fabs(interval.low), fabs(interval.high));

    /* gamma lambda_max becomes 1/2. */
    if (!(ev->gamma * stiffest < soft) || !(stiffest > DBL_MIN)) return TW_OK;
    ev->gamma = 0.5 / stiffest;
    *enlarged = true;

    return TW_OK;
}

/* ---- convergence ---- */

static double *row_of(const shift_invert_memory *memory, double *rows, int output)
{
    return rows + (size_t)output * (size_t)memory->capacity;
}

static const tw_spectral_function *functions_of(const tw_spectral_request *request, int output)
{
    return request->functions + (size_t)output * (size_t)request->start_count;
}

/* The displacement norm allows steps in which a mode turns hundreds of times. The error is then an
 * error of phase, of modes that the space has not found exactly yet. Samples of r between the
 * theta_k do not show it. Therefore the outputs are computed a second time, in the space as it was
 * LAG extensions ago, and compared (change_of). This function fills memory->past with the
 * coefficients of that space, which are zero if it was empty. */
static tw_status look_back(const evaluation *ev)
{
    shift_invert_memory *memory = ev->memory;
    const tw_spectral_request *request = ev->request;
    const tw_shift_invert_basis past = tw_shift_invert_past(ev->basis, LAG);
    memset(memory->past, 0,
           (size_t)request->output_count * (size_t)memory->capacity * sizeof(double));
    if (past.processed == 0) return TW_OK;

    tw_shift_invert_error unused;
    TW_TRY(tw_shift_invert_decompose(&past, &memory->modes));
    for (int i = 0; i < request->output_count; i++)
        TW_TRY(tw_shift_invert_examine(&past, &memory->modes, functions_of(request, i), NULL,
                                       row_of(memory, memory->past, i), &unused));

    return TW_OK;
}

/* The norm of the change of output i over the last LAG extensions. It is about the error that the
 * output had then, and larger than the error that it has now. */
static double change_of(const evaluation *ev, const tw_spectral_function *weight, int i)
{
    const shift_invert_memory *memory = ev->memory;
    const double *now = row_of(memory, memory->coefficients, i);
    const double *then = row_of(memory, memory->past, i);
    double change[CAPACITY];
    double scratch[CAPACITY];
    for (int k = 0; k < ev->basis->processed; k++) change[k] = now[k] - then[k];

    return tw_shift_invert_weighted_norm(ev->basis, &memory->modes, weight, change, scratch);
}

/* Coefficients, norm and error of every output; *largest is the largest norm. */
static tw_status examine_outputs(const evaluation *ev, tw_shift_invert_error *errors,
                                 double *largest)
{
    const tw_spectral_request *request = ev->request;
    shift_invert_memory *memory = ev->memory;
    const tw_spectral_function weight = tw_displacement_weight(&request->time);
    bool compare = request->velocity && !tw_shift_invert_is_invariant(ev->basis);
    if (compare) TW_TRY(look_back(ev));
    TW_TRY(tw_shift_invert_decompose(ev->basis, &memory->modes));

    *largest = 0;
    for (int i = 0; i < request->output_count; i++) {
        /* Velocities are measured in the displacement norm. */
        const tw_spectral_function *w = NULL;
        if (request->velocity && request->velocity[i]) w = &weight;
        TW_TRY(tw_shift_invert_examine(ev->basis, &memory->modes, functions_of(request, i), w,
                                       row_of(memory, memory->coefficients, i), &errors[i]));

        /* The larger of the two estimates counts. */
        errors[i].error *= safety;
        if (compare) errors[i].error = fmax(errors[i].error, change_of(ev, w, i));
        *largest = fmax(*largest, errors[i].norm);
    }

    return TW_OK;
}

/* Computes the coefficients of all outputs and judges them. */
static tw_status judge(evaluation *ev)
{
    const tw_spectral_request *request = ev->request;
    double tolerance = ev->options->tolerance;
    tw_shift_invert_error errors[MAX_OUTPUTS] = {0};
    double largest = 0;
    ev->verdict = (verdict){0};
    TW_TRY(examine_outputs(ev, errors, &largest));

    for (int i = 0; i < request->output_count; i++) {
        /* The scale is the output's norm, or the largest one in the displacement norm. */
        const tw_shift_invert_error *e = &errors[i];
        double norm = request->velocity ? largest : e->norm;
        double scale = fmax(norm, request->reference ? request->reference[i] : 0);

        /* Rounding alone is not asked to become smaller. */
        double allowed = fmax(tolerance * scale, 8 * safety * e->rounding);

        /* The worst output decides. */
        if (e->error > 0) ev->verdict.excess = fmax(ev->verdict.excess, e->error / allowed);
        if (scale > 0)
            ev->verdict.estimated =
                fmax(ev->verdict.estimated, fmax(e->error / safety, e->rounding) / scale);
    }

    return TW_OK;
}

/* Whether to go on is hopeless. The error falls like a power of the dimension; at that power the
 * space would have to become more than four times larger than its capacity. */
static bool is_hopeless(const tw_shift_invert_basis *basis, double excess, double excess_at_half)
{
    double doublings = log2(basis->capacity / (double)basis->processed) + 2;
    return log2(excess) > doublings * fmax(log2(excess_at_half / excess), 0);
}

/* One extension. In the displacement norm the space may be so coarse that only Galerkin's
 * projection keeps the energy; that needs products with K. */
static tw_status extend(evaluation *ev)
{
    tw_shift_invert_scratch *scratch = &ev->memory->scratch;
    TW_TRY(tw_shift_invert_extend(ev->basis, ev->op, scratch, &ev->statistics->solves));
    if (!ev->basis->galerkin) return TW_OK;
    return tw_shift_invert_measure_rest(ev->basis, ev->op, scratch, &ev->statistics->products);
}

/* Extends the space until every output is good enough. */
static tw_status converge(evaluation *ev)
{
    const tw_phi_options *options = ev->options;
    tw_shift_invert_basis *basis = ev->basis;
    int limit = basis->capacity;
    if (options->max_dimension > 0 && options->max_dimension < limit)
        limit = options->max_dimension;
    int patience = basis->galerkin ? GALERKIN_PATIENCE : PATIENCE;
    double total = 0;
    TW_TRY(tw_global_size(&ev->op->stiffness.space, &total));

    /* The space grows within the budget and the limit. */
    double excess[CAPACITY + 1] = {0}; /* after each extension made here */
    int extensions = 0;
    while (!tw_shift_invert_is_invariant(basis)) {
        if (ev->statistics->solves + basis->count - basis->processed > options->max_products)
            return TW_BUDGET_EXHAUSTED;
        if (basis->count > limit) return TW_NOT_CONVERGED;

        TW_TRY(extend(ev));
        TW_TRY(judge(ev));
        if (ev->verdict.excess <= 1) return TW_OK;
        ev->statistics->rejected++;

        /* Now and then the progress since half as many extensions decides whether to give up. */
        excess[++extensions] = ev->verdict.excess;
        bool decide = extensions >= patience && extensions % 4 == 0 && total > limit;
        if (decide && is_hopeless(basis, excess[extensions], excess[extensions / 2]))
            return TW_NOT_CONVERGED;
    }

    return TW_OK;
}

/* ---- the whole ---- */

/* Forms the outputs from the coefficients of the last judgement. */
static tw_status finish(const evaluation *ev, tw_error *error)
{
    const tw_shift_invert_basis *basis = ev->basis;

    /* outputs = Q coefficients */
    double *vectors[CAPACITY];
    for (int k = 0; k < basis->processed; k++) vectors[k] = basis->Q + k * basis->size;
    tw_spectral_combine(basis->size, &(tw_combination){.count = basis->processed,
                                                       .vectors = vectors,
                                                       .output_count = ev->request->output_count,
                                                       .outputs = ev->request->outputs,
                                                       .row = ev->memory->capacity,
                                                       .coefficients = ev->memory->coefficients});

    ev->statistics->substeps = 1;
    ev->statistics->dimension = basis->processed;
    ev->statistics->estimated_error = ev->verdict.estimated;
    ev->statistics->pole = basis->gamma;

    /* The space is left above the tolerance only where rounding is no smaller. */
    if (ev->verdict.estimated > ev->options->tolerance)
        return tw_fail(error, TW_ILL_CONDITIONED, "rounding alone is about %.1e of the result",
                       ev->verdict.estimated);

    return TW_OK;
}

static tw_status explain(tw_status status, const evaluation *ev, tw_error *error)
{
    if (status == TW_NOT_CONVERGED)
        return tw_fail(error, status,
                       "shift-invert stopped at dimension %d with %.1e times the tolerance",
                       ev->basis->processed, ev->verdict.excess);
    return status ? tw_fail_plain(error, status) : TW_OK;
}

/* Builds the space and judges the outputs. *again: gamma was too small. It has been enlarged for
 * the next attempt, and nothing else was done. */
static tw_status build(evaluation *ev, bool may_enlarge, bool *again)
{
    ev->basis->galerkin = ev->request->velocity != NULL;
    ev->basis->grows = ev->shared->growing_end > 0;
    TW_TRY(tw_shift_invert_begin(ev->basis, ev->op, ev->request, ev->gamma, &ev->memory->scratch,
                                 &ev->statistics->solves));
    if (ev->basis->count == 0) return TW_OK;

    /* The first extension shows whether gamma suits the spectrum. */
    TW_TRY(extend(ev));
    TW_TRY(judge(ev));
    if (may_enlarge) TW_TRY(enlarge_gamma(ev, again));
    if (*again) return TW_OK;

    /* It does not show whether the outputs are good: a space of the start vectors alone has too few
     * samples. A damped pair of seven unknowns had 15 times the error that was allowed. */
    return converge(ev);
}

static tw_status attempt(evaluation *ev, bool may_enlarge, bool *again, tw_error *error)
{
    *again = false;
    tw_status status = factor(ev, error);
    if (status) return status;
    status = build(ev, may_enlarge, again);
    return explain(status, ev, error);
}

static tw_status shift_invert_spectral(tw_phi_workspace *workspace, const tw_second_order *op,
                                       const tw_spectral_request *request,
                                       tw_phi_statistics *statistics, tw_error *error)
{
    if (op->stiffness.symmetry != TW_SYMMETRIC)
        return tw_fail(error, TW_UNSUPPORTED, "shift-invert needs a symmetric stiffness");
    if (!op->shifted)
        return tw_fail(error, TW_UNSUPPORTED,
                       "shift-invert needs a solver for M + gamma K (tw_second_order.shifted)");

    /* gamma = (sigma t)^2 */
    evaluation ev = evaluation_of(workspace, op, request, statistics);
    double root = chosen_sigma(&workspace->options) * request->time;
    ev.gamma = root * root;

    /* A second attempt follows if gamma was enlarged. A pole chosen by the caller stays. */
    bool again = false;
    bool may_enlarge = !(workspace->options.pole > 0);
    tw_spectral_set_engine(workspace, request->slot, TW_PHI_ENGINE_COUNT);
    tw_status status = attempt(&ev, may_enlarge, &again, error);
    if (status == TW_OK && again) status = attempt(&ev, false, &again, error);

    /* The basis stays in its slot for tw_spectral_reuse, also if it did not converge. */
    statistics->dimension = ev.basis->processed;
    if (ev.basis->processed > 0 || status == TW_OK)
        tw_spectral_set_engine(workspace, request->slot, TW_PHI_SHIFT_INVERT);

    if (status) return status;
    return finish(&ev, error);
}

static tw_status shift_invert_reuse(tw_phi_workspace *workspace, const tw_spectral_request *request,
                                    tw_phi_statistics *statistics, tw_error *error)
{
    evaluation ev = evaluation_of(workspace, NULL, request, statistics);
    if (request->start_count != ev.basis->start_count)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "the slot holds a basis for %d start vectors, not %d", ev.basis->start_count,
                       request->start_count);

    /* The kept basis is judged for the new functions. An empty one has zero outputs. */
    tw_status status = TW_OK;
    if (ev.basis->processed > 0) status = judge(&ev);
    if (status == TW_OK && ev.verdict.excess > 1) status = TW_NOT_CONVERGED;
    if (status) return explain(status, &ev, error);

    return finish(&ev, error);
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
