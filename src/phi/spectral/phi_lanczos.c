/* lanczos: f(A) b = |b| Q_m f(T_m) e_1 by the symmetric Lanczos recurrence in the mass
 * inner product.
 *
 * Several start vectors share one sweep, each with its own three-term recurrence (a chain), so that
 * K is read once per step for all of them. A chain leaves the sweep when its share of the error is
 * small enough. One basis serves any number of functions.
 *
 * lanczos_spectral makes attempts. An attempt lets the chains grow and checks their errors in turn
 * (converge), then forms the outputs and measures them (conclude). lanczos_reuse does the second
 * half alone, on the basis that is kept in a slot. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/fail.h"
#include "linalg/vector.h"
#include "phi/spectral/spectral.h"

enum {
    MAX_OUTPUTS = TW_SPECTRAL_MAX_OUTPUTS,
    SMALL_SYSTEM = 128,     /* unknowns up to which the basis is always kept orthogonal */
    EARLY_DIMENSION = 16,   /* dimension up to which no orthogonality is lost yet */
    MAX_SINGLE_OUTPUTS = 8, /* of single precision: their sums have a place of their own */
    MAX_ATTEMPTS = 4        /* each knows the spectrum's range or the result's size better */
};

/* Estimates are multiplied by this. In the validation (docs/phi.md) they were never more than this
 * factor too small. */
static const double safety = 2;

/* Rounding of single precision may take this share of the tolerance. */
static const double single_share = 0.1;

/* The error of a chain is estimated from this share of its expected dimension on. */
static const double early_share = 0.85;

/* Excesses above this count as this, so that their logarithm is finite. */
static const double largest_excess = 1e300;

/* One evaluation under way. */
typedef struct evaluation {
    const tw_spectral_request *request;
    const tw_spectral_function *judged; /* whose errors count: the request's, or weighted ones */
    tw_spectral_memory *memory;
    tw_spectral_slot *slot;
    const tw_phi_options *options;
    bool single; /* vectors and products are in single precision */
    int limit;   /* largest dimension of a chain */
    int starts;  /* nonzero ones: the tolerance is shared between them */
    tw_chain_error errors[TW_MAX_BLOCK][MAX_OUTPUTS]; /* of the last check */
    double measured[MAX_OUTPUTS]; /* |output|_M once it was formed, else negative */
    double worst;                 /* largest error / allowed error of the last check */
} evaluation;

/* The functions of a request in the displacement norm. */
typedef struct weighted_functions {
    tw_spectral_function weight;
    tw_weighted_function pair[MAX_OUTPUTS * TW_MAX_BLOCK];
    tw_spectral_function function[MAX_OUTPUTS * TW_MAX_BLOCK];
} weighted_functions;

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* The functions of velocities are multiplied by the weight, the others stay. */
static const tw_spectral_function *weight_functions(const tw_spectral_request *request,
                                                    weighted_functions *w)
{
    w->weight = tw_displacement_weight(&request->time);
    for (int k = 0; k < request->output_count * request->start_count; k++) {
        const tw_spectral_function *f = &request->functions[k];
        w->function[k] = *f;
        if (request->velocity[k / request->start_count])
            w->function[k] = tw_weigh_function(&w->weight, f, &w->pair[k]);
    }

    return w->function;
}

static evaluation evaluation_of(tw_phi_workspace *workspace, const tw_spectral_request *request,
                                weighted_functions *weighted)
{
    tw_spectral_memory *memory = tw_spectral_memory_of(workspace);
    evaluation ev = {.request = request,
                     .judged = request->velocity ? weight_functions(request, weighted)
                                                 : request->functions,
                     .memory = memory,
                     .slot = &memory->slot[request->slot],
                     .options = &workspace->options,
                     .limit = memory->capacity};
    int asked = workspace->options.max_dimension;
    if (asked > 0) ev.limit = smaller(ev.limit, asked);
    for (int i = 0; i < MAX_OUTPUTS; i++) ev.measured[i] = -1;

    return ev;
}

/* ---- errors ---- */

/* |output i|_M. Until the output is formed it is taken as if the contributions of the start vectors
 * were orthogonal. */
static double size_of(const evaluation *ev, int i)
{
    if (ev->measured[i] >= 0) return ev->measured[i];

    double norm = 0;
    for (int j = 0; j < ev->slot->start_count; j++) norm = hypot(norm, ev->errors[j][i].norm);
    return norm;
}

static double reference_of(const evaluation *ev, int i)
{
    return ev->request->reference ? ev->request->reference[i] : 0;
}

/* What the error of output i is compared with. In the displacement norm it is the
 * largest output. */
static double scale_of(const evaluation *ev, int i)
{
    double scale = fmax(reference_of(ev, i), size_of(ev, i));
    for (int k = 0; ev->request->velocity && k < ev->request->output_count; k++)
        scale = fmax(scale, size_of(ev, k));
    return scale;
}

/* error / allowed error of chain j, the largest over the outputs; at most 1 means converged.
 * The allowed error is never below what rounding leaves, because a larger basis cannot mend that. */
static double chain_excess(const evaluation *ev, int j)
{
    double worst = 0;
    for (int i = 0; i < ev->request->output_count; i++) {
        const tw_chain_error *e = &ev->errors[j][i];
        double allowed = ev->options->tolerance * scale_of(ev, i) / ev->starts;
        if (safety * e->error <= allowed) continue;

        /* A zero scale allows no error at all. */
        double excess = safety * e->error / fmax(allowed, 8 * safety * e->rounding);
        worst = fmax(worst, allowed > 0 || e->rounding > 0 ? excess : INFINITY);
    }

    return worst;
}

/* Errors of all outputs that the first m dimensions of chain j leave. */
static tw_status estimate_chain(evaluation *ev, int j, int m)
{
    const tw_spectral_request *q = ev->request;
    tw_function_list functions = {q->output_count, q->start_count, ev->judged + j};
    return tw_chain_estimate(&ev->slot->chain[j], m, &ev->slot->range, functions,
                             &ev->memory->scratch, ev->errors[j]);
}

/* ---- when to check ---- */

/* -ln of the factor by which the error has fallen at dimension m: the Bessel function J_2m(tau),
 * which bounds the Chebyshev coefficients of cos(tau sqrt x), by Debye's expansion. */
static double expected_decay(int m, double tau)
{
    double order = 2.0 * m;
    if (order <= tau) return 0;
    double a = acosh(order / fmax(tau, 1e-300));
    return order * (a - tanh(a));
}

/* The largest spread of the spectrum that an active chain shows. */
static double active_spread(const evaluation *ev, const tw_sweep *sweep)
{
    double spread = 0;
    for (int c = 0; c < sweep->active; c++)
        spread = fmax(spread, tw_chain_spread(&ev->slot->chain[sweep->chain[c]], sweep->dimension));
    return spread;
}

/* The last check before this one. */
typedef struct earlier_check {
    int dimension; /* 0: there was none */
    double worst;
} earlier_check;

/* The dimension at which to check again: most of the way to where the error is expected to be small
 * enough, by the Bessel model and by the slope between the last two checks. Both overshoot, because
 * the decay accelerates. The fractions below decide how often the error is checked, not
 * what a check accepts. */
static int next_check(const evaluation *ev, const tw_sweep *sweep, earlier_check earlier, int limit)
{
    /* The Bessel model. */
    int m = sweep->dimension;
    double missing = log(fmin(ev->worst, largest_excess));
    double tau = fabs(ev->request->time) * sqrt(active_spread(ev, sweep));
    double now = expected_decay(m, tau);
    int expected = m + 1;
    while (expected < limit && expected_decay(expected, tau) - now < missing) expected++;

    /* The slope, if the error has fallen enough to show one. */
    double fallen = log(fmin(earlier.worst, largest_excess)) - missing;
    if (earlier.dimension > 0 && fallen > 0.5) {
        double linear = m + 1 + (m - earlier.dimension) * missing / fallen;
        if (linear < expected) expected = (int)linear;
    }

    /* A check costs about as much as a step. Far from the goal few are needed. Near it, smooth
     * vectors may get there long before the model thinks. */
    int next = m + (7 * (expected - m)) / 10;
    int most = m + m / (ev->worst > 1e4 ? 3 : 8) + 1;
    if (next > most) next = most;

    /* The error may stand still for long, where a filter is sharp. A check takes the time of
     * several steps there. */
    int least = m + m / 12 + 1;
    if (next < least) next = least;

    return next < limit ? next : limit;
}

/* A small system uses up its space. Its vectors are then kept orthogonal, so that the chain ends
 * after N steps. This is decided before any orthogonality can be lost. */
static void choose_orthogonality(const evaluation *ev, tw_sweep *sweep)
{
    if (ev->single || sweep->reorthogonalise || !sweep->storing ||
        sweep->total_size > ev->memory->capacity)
        return;
    if (sweep->total_size * sweep->active > (double)ev->memory->pool_vectors) return;

    /* The Bessel model predicts a dimension of about 0.65 t omega_max. */
    double predicted = 0.65 * fabs(ev->request->time) * sqrt(active_spread(ev, sweep));
    sweep->reorthogonalise =
        sweep->total_size <= SMALL_SYSTEM ||
        (sweep->dimension <= EARLY_DIMENSION && predicted > sweep->total_size / 3);
}

/* ---- the sweep ---- */

/* Steps to dimension `target`, or until a chain is exhausted. */
static tw_status grow(tw_sweep *sweep, int target, int64_t max_products)
{
    while (sweep->dimension < target) {
        if (sweep->products + sweep->active > max_products) return TW_BUDGET_EXHAUSTED;
        TW_TRY(tw_sweep_step(sweep));

        /* An exhausted chain cannot take another step. */
        for (int c = 0; c < sweep->active; c++)
            if (sweep->memory->slot[sweep->slot].chain[sweep->chain[c]].exhausted) return TW_OK;
    }

    return TW_OK;
}

/* The dimension from which on chain j is worth a check. */
static int first_check(const evaluation *ev, int j)
{
    const int *expected = ev->request->dimensions;
    double due = expected ? early_share * expected[j] : 0;
    return due > 1 ? smaller((int)due, ev->limit) : 1;
}

/* Whether chain j is checked at this dimension. */
static bool is_due(const evaluation *ev, const tw_sweep *sweep, int j)
{
    return sweep->dimension >= first_check(ev, j) || ev->slot->chain[j].exhausted;
}

/* Checks every active chain that is due. Chains whose error is within their share leave the
 * sweep. */
static tw_status check(evaluation *ev, tw_sweep *sweep)
{
    for (int c = 0; c < sweep->active; c++)
        if (is_due(ev, sweep, sweep->chain[c]))
            TW_TRY(estimate_chain(ev, sweep->chain[c], sweep->dimension));

    bool keep[TW_MAX_BLOCK] = {false};
    ev->worst = 0;
    for (int c = 0; c < sweep->active; c++) {
        int j = sweep->chain[c];
        keep[j] = true;
        if (!is_due(ev, sweep, j)) continue;
        double excess = chain_excess(ev, j);
        keep[j] = excess > 1 && !ev->slot->chain[j].exhausted;
        if (keep[j]) ev->worst = fmax(ev->worst, excess);
    }
    tw_sweep_retire(sweep, keep);

    return TW_OK;
}

/* Sweeps until no chain is active any more. */
static tw_status converge(evaluation *ev, tw_sweep *sweep, tw_phi_statistics *statistics,
                          tw_error *error)
{
    const tw_phi_options *options = ev->options;
    int limit = ev->limit;
    int target = smaller(limit, EARLY_DIMENSION);
    for (int c = 0; c < sweep->active; c++)
        target = smaller(target, first_check(ev, sweep->chain[c]));
    earlier_check earlier = {0, 0};
    while (sweep->active > 0) {
        choose_orthogonality(ev, sweep);
        tw_status status = grow(sweep, target, options->max_products);
        if (status == TW_OK) status = check(ev, sweep);

        /* A failure is explained in words. */
        if (status == TW_BUDGET_EXHAUSTED)
            return tw_fail(error, status, "lanczos used up its budget of %lld products",
                           (long long)options->max_products);
        if (status == TW_NOT_FINITE)
            return tw_fail(error, status, "an operator or a function of it overflowed");
        if (status) return tw_fail_plain(error, status);

        /* The sweep ends when no chain needs more, and fails when no more is allowed. */
        if (sweep->active == 0) break;
        if (sweep->dimension >= limit)
            return tw_fail(error, TW_NOT_CONVERGED, "lanczos needs more than %d dimensions", limit);

        /* The next check comes where the error may be small, or where another chain is due. */
        target = limit;
        if (ev->worst > 0) target = next_check(ev, sweep, earlier, limit);
        for (int c = 0; c < sweep->active; c++)
            if (!is_due(ev, sweep, sweep->chain[c]))
                target = smaller(target, first_check(ev, sweep->chain[c]));
        earlier = (earlier_check){sweep->dimension, ev->worst};

        /* The basis must become larger: the statistics call this a rejection. */
        statistics->rejected++;
    }

    return TW_OK;
}

/* ---- outputs ---- */

/* outputs_i = sum_j f_ij(A) b_j from all chains in single precision. Sums stand in the rolling places, which single precision does not use;
 * they are relative to the largest start vector, so that they stay in the range of floats. */
static tw_status form_single_outputs(evaluation *ev)
{
    const tw_spectral_request *q = ev->request;
    tw_spectral_memory *memory = ev->memory;
    const tw_single *single = ev->slot->single;
    int64_t row = (int64_t)TW_MAX_BLOCK * memory->capacity;
    float *sums[MAX_SINGLE_OUTPUTS];
    for (int i = 0; i < q->output_count; i++) {
        sums[i] = tw_single_room(memory->rolling + i * memory->size);
        memset(sums[i], 0, (size_t)tw_single_size(single) * sizeof(float));
    }

    double largest = 0;
    for (int j = 0; j < q->start_count; j++) largest = fmax(largest, ev->slot->chain[j].norm);
    for (int j = 0; j < q->start_count; j++) {
        const tw_chain *chain = &ev->slot->chain[j];
        if (chain->dimension == 0) continue;

        double *coefficients = memory->coefficients + (int64_t)j * memory->capacity;
        tw_function_list functions = {q->output_count, q->start_count, q->functions + j};
        TW_TRY(tw_chain_coefficients(chain, functions, &memory->scratch, row, coefficients));
        for (int i = 0; i < q->output_count; i++)
            for (int k = 0; k < chain->dimension; k++) coefficients[i * row + k] /= largest;

        tw_single_combination kept = {.count = chain->dimension,
                                      .vectors = chain->vector,
                                      .output_count = q->output_count,
                                      .sums = sums,
                                      .row = row,
                                      .coefficients = coefficients};
        tw_single_combine(tw_single_size(single), &kept);
    }

    for (int i = 0; i < q->output_count; i++)
        tw_single_store(single, sums[i], largest, q->outputs[i]);
    return TW_OK;
}

/* outputs_i = sum_j f_ij(A) b_j from all chains. `sweep` repeats what the pool had no room for;
 * NULL if that is not wanted. */
static tw_status form_outputs(evaluation *ev, tw_sweep *sweep)
{
    if (ev->slot->single) return form_single_outputs(ev);

    const tw_spectral_request *q = ev->request;
    tw_spectral_memory *memory = ev->memory;
    int64_t row = (int64_t)TW_MAX_BLOCK * memory->capacity;
    bool add = false;
    for (int j = 0; j < q->start_count; j++) {
        const tw_chain *chain = &ev->slot->chain[j];
        if (chain->dimension == 0) continue;

        /* Coefficients of all functions of start vector j. */
        double *coefficients = memory->coefficients + (int64_t)j * memory->capacity;
        tw_function_list functions = {q->output_count, q->start_count, q->functions + j};
        TW_TRY(tw_chain_coefficients(chain, functions, &memory->scratch, row, coefficients));

        /* The vectors that were kept. The first chain overwrites the outputs. */
        tw_combination kept = {.count = chain->stored,
                               .vectors = chain->vector,
                               .output_count = q->output_count,
                               .outputs = q->outputs,
                               .row = row,
                               .coefficients = coefficients,
                               .add = add};
        if (kept.count > chain->dimension) kept.count = chain->dimension;
        tw_spectral_combine(memory->size, &kept);
        add = true;
    }

    /* Without any chain the outputs are zero. */
    for (int i = 0; i < q->output_count && !add; i++)
        tw_vector_fill(memory->size, 0, q->outputs[i]);

    if (!sweep) return TW_OK;
    return tw_sweep_repeat(sweep, q->output_count, q->outputs);
}

/* Measures the outputs where the reference alone does not decide and where contributions of several
 * start vectors may have cancelled. *again: an output is so small that its error is too large. */
static tw_status measure_outputs(evaluation *ev, bool *again)
{
    *again = false;
    double tolerance = ev->options->tolerance;
    for (int i = 0; i < ev->request->output_count; i++) {
        /* Contributions of at least two start vectors may cancel. */
        double error = 0;
        int contributions = 0;
        for (int j = 0; j < ev->slot->start_count; j++) {
            error += safety * ev->errors[j][i].error;
            contributions += ev->errors[j][i].norm > 0;
        }
        bool settled = contributions < 2 || error <= tolerance * reference_of(ev, i);
        if (settled || ev->measured[i] >= 0) continue;

        /* Only the chains know the weighted norm of a velocity. */
        if (ev->request->velocity && ev->request->velocity[i]) continue;

        TW_TRY(tw_mass_norm(&ev->slot->metric, ev->request->outputs[i], ev->memory->product,
                            &ev->measured[i]));
        if (error > tolerance * scale_of(ev, i)) *again = true;
    }

    return TW_OK;
}

/* The largest error in units of the scale. */
static double relative_error(const evaluation *ev)
{
    double worst = 0;
    for (int i = 0; i < ev->request->output_count; i++) {
        /* The errors of the chains add up. */
        double error = 0;
        double rounding = 0;
        double scale = scale_of(ev, i);
        for (int j = 0; j < ev->slot->start_count; j++) {
            error += ev->errors[j][i].error;
            rounding += ev->errors[j][i].rounding;
        }
        if (scale > 0) worst = fmax(worst, fmax(error, rounding) / scale);
    }

    return worst;
}

static tw_status finish(evaluation *ev, tw_phi_statistics *statistics, tw_error *error)
{
    statistics->substeps = 1;
    statistics->dimension = 0;
    for (int j = 0; j < ev->slot->start_count; j++)
        if (ev->slot->chain[j].dimension > statistics->dimension)
            statistics->dimension = ev->slot->chain[j].dimension;

    /* The sweep ends above the tolerance only where rounding is no smaller. */
    statistics->estimated_error = relative_error(ev);
    if (statistics->estimated_error > ev->options->tolerance)
        return tw_fail(error, TW_ILL_CONDITIONED, "rounding alone is about %.1e of the result",
                       statistics->estimated_error);

    return TW_OK;
}

/* ---- the whole ---- */

/* Whether a chain that left the sweep early would have stayed, had it known of the negative
 * eigenvalues that other chains met later. */
static tw_status left_too_early(evaluation *ev, double lowest_before, bool *again)
{
    *again = false;
    if (ev->slot->range.lowest >= lowest_before) return TW_OK;
    for (int j = 0; j < ev->slot->start_count; j++) {
        if (ev->slot->chain[j].dimension == 0) continue;
        TW_TRY(estimate_chain(ev, j, ev->slot->chain[j].dimension));
        if (chain_excess(ev, j) > 1 && !ev->slot->chain[j].exhausted) *again = true;
    }

    return TW_OK;
}

/* Forms and measures the outputs of a sweep that has ended, unless a chain left too early. */
static tw_status conclude(evaluation *ev, tw_sweep *sweep, double lowest_before, bool *again)
{
    TW_TRY(left_too_early(ev, lowest_before, again));
    if (*again) return TW_OK;
    TW_TRY(form_outputs(ev, sweep));
    return measure_outputs(ev, again);
}

/* Sweeps until the estimates are small enough, and forms the outputs. *again: the next attempt will
 * know more. */
static tw_status attempt(evaluation *ev, const tw_second_order *op, tw_phi_statistics *statistics,
                         bool *again, tw_error *error)
{
    double lowest = ev->slot->range.lowest;
    const tw_spectral_request *q = ev->request;
    tw_sweep sweep;
    tw_status status = tw_sweep_begin(&sweep, op, ev->memory, q->slot, q->start_count, q->starts);
    if (status) return tw_fail_plain(error, status);

    if (ev->single) tw_sweep_use_single(&sweep, q->starts);

    /* The products of earlier attempts count too. */
    sweep.products = statistics->products;
    ev->starts = sweep.active > 0 ? sweep.active : 1;
    ev->slot->range.hidden_growth = sweep.total_size <= SMALL_SYSTEM;
    status = converge(ev, &sweep, statistics, error);
    if (status == TW_OK) {
        status = conclude(ev, &sweep, lowest, again);
        if (status) tw_fail_plain(error, status);
    }
    statistics->products = sweep.products;

    return status;
}

/* Another attempt follows if a chain left too early, or if contributions cancelled and the result is
 * smaller than assumed. It knows the range or the size. */
static tw_status make_attempts(evaluation *ev, const tw_second_order *op,
                               tw_phi_statistics *statistics, tw_error *error)
{
    tw_status status = TW_OK;
    bool again = true;
    for (int attempts = 0; again && status == TW_OK && attempts < MAX_ATTEMPTS; attempts++)
        status = attempt(ev, op, statistics, &again, error);
    if (again && status == TW_OK)
        status = tw_fail(error, TW_NOT_CONVERGED,
                         "lanczos did not reach the tolerance in %d attempts", (int)MAX_ATTEMPTS);
    return status;
}

/* Whether single precision may serve. */
static bool may_be_single(const evaluation *ev, const tw_second_order *op)
{
    return op->stiffness.single && !op->mass && ev->request->output_count <= MAX_SINGLE_OUTPUTS &&
           tw_single_products_may_serve(ev->options->tolerance);
}

/* Whether the rounding of single precision is a noticeable share of what the tolerance allows. */
static bool is_too_rough(const evaluation *ev)
{
    for (int i = 0; i < ev->request->output_count; i++) {
        double rounding = 0;
        for (int j = 0; j < ev->slot->start_count; j++) rounding += ev->errors[j][i].rounding;
        if (rounding > single_share * ev->options->tolerance * scale_of(ev, i)) return true;
    }
    return false;
}

static tw_status lanczos_spectral(tw_phi_workspace *workspace, const tw_second_order *op,
                                  const tw_spectral_request *request, tw_phi_statistics *statistics,
                                  tw_error *error)
{
    if (op->stiffness.symmetry != TW_SYMMETRIC)
        return tw_fail(error, TW_UNSUPPORTED, "lanczos needs a symmetric stiffness");
    weighted_functions weighted;
    evaluation ev = evaluation_of(workspace, request, &weighted);
    tw_spectral_set_engine(workspace, request->slot, TW_PHI_LANCZOS);

    /* phi_from_spectral.c evaluates several blocks of one operator: there the range that one block
     * has seen serves the next. */
    tw_chain_range known = {0};
    if (request->slot == TW_SPECTRAL_OWN_SLOT) known = ev.slot->range;

    /* Single precision comes first, where few digits are asked for, and doubles where it does not
     * serve. */
    ev.single = may_be_single(&ev, op);
    ev.slot->range = known;
    tw_status status = make_attempts(&ev, op, statistics, error);
    bool user_ends = status == TW_INTERRUPTED || status == TW_BUDGET_EXHAUSTED;
    if (ev.single && !user_ends && (status != TW_OK || is_too_rough(&ev))) {
        evaluation exact = evaluation_of(workspace, request, &weighted);
        ev = exact;
        ev.slot->range = known;
        status = make_attempts(&ev, op, statistics, error);
    }

    if (status) return status;
    for (int j = 0; request->dimensions && j < request->start_count; j++)
        request->dimensions[j] = ev.slot->chain[j].dimension;
    return finish(&ev, statistics, error);
}

/* Errors of the kept chains; *worst is the largest error / allowed error. */
static tw_status check_kept(evaluation *ev, double *worst)
{
    /* The tolerance is shared between the chains that are not empty. */
    for (int j = 0; j < ev->request->start_count; j++)
        ev->starts += ev->slot->chain[j].dimension > 0;

    for (int j = 0; j < ev->request->start_count; j++) {
        /* Vectors that were not stored are lost. */
        tw_chain *chain = &ev->slot->chain[j];
        if (chain->dimension > chain->stored) {
            chain->dimension = chain->stored;
            chain->exhausted = false;
        }
        if (chain->dimension > 0) TW_TRY(estimate_chain(ev, j, chain->dimension));
    }

    *worst = 0;
    for (int j = 0; j < ev->request->start_count; j++) *worst = fmax(*worst, chain_excess(ev, j));

    return TW_OK;
}

static tw_status lanczos_reuse(tw_phi_workspace *workspace, const tw_spectral_request *request,
                               tw_phi_statistics *statistics, tw_error *error)
{
    weighted_functions weighted;
    evaluation ev = evaluation_of(workspace, request, &weighted);
    if (request->start_count != ev.slot->start_count)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "the slot holds a basis for %d start vectors, not %d", ev.slot->start_count,
                       request->start_count);

    /* The kept basis either is good enough, or the caller must build a new one. */
    double worst = 0;
    tw_status status = check_kept(&ev, &worst);
    bool again = worst > 1;
    if (status == TW_OK && !again) status = form_outputs(&ev, NULL);
    if (status == TW_OK && !again) status = measure_outputs(&ev, &again);
    if (status) return tw_fail_plain(error, status);
    if (again)
        return tw_fail(error, TW_NOT_CONVERGED,
                       "the kept basis is too small: error %.1e times the tolerance", worst);

    return finish(&ev, statistics, error);
}

static tw_status lanczos_second_order(tw_phi_workspace *workspace, const tw_second_order *op,
                                      const tw_phi_request *request, tw_phi_statistics *statistics,
                                      tw_error *error)
{
    return tw_phi_spectral_evaluate(workspace, &tw_phi_lanczos, op, request, statistics, error);
}

const tw_phi_engine_table tw_phi_lanczos = {.reserve = tw_spectral_reserve,
                                            .release = tw_spectral_release,
                                            .second_order = lanczos_second_order,
                                            .spectral = lanczos_spectral,
                                            .reuse = lanczos_reuse};
