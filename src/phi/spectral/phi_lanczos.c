/* lanczos: f(A) b = |b| Q_m f(T_m) e_1 by the symmetric Lanczos recurrence in the mass inner product.
 *
 * Several start vectors share the sweep over K, each with its own three-term recurrence; a chain leaves the sweep when
 * its share of the error is small enough. Any number of functions comes out of one basis. */
#include <math.h>
#include <stddef.h>

#include "base/fail.h"
#include "linalg/vector.h"
#include "phi/phi_internal.h"
#include "phi/spectral/displacement_norm.h"
#include "phi/spectral/spectral_combine.h"
#include "phi/spectral/spectral_recurrence.h"

enum { MAX_OUTPUTS = TW_SPECTRAL_MAX_OUTPUTS, SMALL = 128, MAX_ATTEMPTS = 4 };

/* Estimates are multiplied by this: in the validation (docs/phi.md) they were never more than this factor too small. */
static const double safety = 2;

/* One evaluation under way. */
typedef struct run {
    const tw_spectral_request *request;
    const tw_spectral_function
        *judged; /* whose errors count: the request's, or weighed for the displacement norm */
    tw_spectral_memory *memory;
    tw_spectral_slot *slot;
    double tolerance;
    int starts; /* nonzero ones: the tolerance is shared between them */
    tw_chain_error errors[TW_MAX_BLOCK][MAX_OUTPUTS]; /* of the last check */
    double measured[MAX_OUTPUTS]; /* |output|_M once it was formed, else negative */
    double worst;                 /* largest error/allowed of the last check */
    bool ill_conditioned;
} run;

/* The functions of a request in the displacement norm. */
typedef struct weighing {
    tw_spectral_function weight;
    tw_weighted_function pair[MAX_OUTPUTS * TW_MAX_BLOCK];
    tw_spectral_function function[MAX_OUTPUTS * TW_MAX_BLOCK];
} weighing;

static const tw_spectral_function *weigh(const tw_spectral_request *request, weighing *w)
{
    w->weight = tw_displacement_weight(&request->time);
    for (int k = 0; k < request->output_count * request->start_count; k++) {
        const tw_spectral_function *f = &request->functions[k];
        w->function[k] = request->velocity[k / request->start_count]
                             ? tw_weigh_function(&w->weight, f, &w->pair[k])
                             : *f;
    }
    return w->function;
}

static run run_of(tw_phi_workspace *workspace, const tw_spectral_request *request,
                  weighing *weighed)
{
    tw_spectral_memory *memory = tw_spectral_memory_of(workspace);
    run r = {.request = request,
             .judged = request->velocity ? weigh(request, weighed) : request->functions,
             .memory = memory,
             .slot = &memory->slot[request->slot],
             .tolerance = workspace->options.tolerance};
    for (int i = 0; i < MAX_OUTPUTS; i++) r.measured[i] = -1;
    return r;
}

/* ---- convergence ---- */

/* What the error of output i is compared with. Until the output is formed its norm is taken as if the contributions of
 * the start vectors were orthogonal. */
static double size_of(const run *r, int i)
{
    double norm = 0;
    if (r->measured[i] >= 0) return r->measured[i];
    for (int j = 0; j < r->slot->start_count; j++) norm = hypot(norm, r->errors[j][i].norm);
    return norm;
}

static double scale_of(const run *r, int i)
{
    double scale = fmax(r->request->reference ? r->request->reference[i] : 0, size_of(r, i));
    for (int k = 0; r->request->velocity && k < r->request->output_count; k++)
        scale = fmax(scale, size_of(r, k));
    return scale;
}

/* error / allowed error of chain j, the largest over the outputs; at most 1 means converged. What rounding alone does
 * is not asked to become smaller. */
static double chain_excess(run *r, int j)
{
    double worst = 0;
    for (int i = 0; i < r->request->output_count; i++) {
        const tw_chain_error *e = &r->errors[j][i];
        double allowed = r->tolerance * scale_of(r, i) / r->starts;
        if (safety * e->error <= allowed) continue;
        double excess = safety * e->error / fmax(allowed, 8 * safety * e->rounding);
        worst = fmax(worst, allowed > 0 || e->rounding > 0 ? excess : INFINITY);
    }
    return worst;
}

static tw_status estimate_chain(run *r, int j, int m)
{
    const tw_spectral_request *q = r->request;
    return tw_chain_estimate(&r->slot->chain[j], m, &r->slot->range, q->output_count,
                             q->start_count, r->judged + j, &r->memory->scratch, r->errors[j]);
}

/* ln of the factor by which the error has fallen at dimension m: the Bessel function J_2m(tau), which bounds the
 * Chebyshev coefficients of cos(tau sqrt x), by Debye's expansion. */
static double expected_decay(int m, double tau)
{
    double order = 2.0 * m;
    if (order <= tau) return 0;
    double a = acosh(order / fmax(tau, 1e-300));
    return order * (a - tanh(a));
}

/* The dimension at which to look again: most of the way to where the error is expected to be small enough, by the
 * Bessel model and by the slope between the last two looks (both overshoot: the decay accelerates). */
static int next_look(const run *r, const tw_sweep *sweep, int last_look, double last_worst,
                     int limit)
{
    int m = sweep->dimension, expected = m + 1;
    double spread = 0, missing = log(fmin(r->worst, 1e300));
    for (int c = 0; c < sweep->active; c++)
        spread = fmax(spread, tw_chain_spread(&r->slot->chain[sweep->chain[c]], m));
    double tau = fabs(r->request->time) * sqrt(spread), now = expected_decay(m, tau);
    while (expected < limit && expected_decay(expected, tau) - now < missing) expected++;
    double fallen = log(fmin(last_worst, 1e300)) - missing;
    if (last_look > 0 && fallen > 0.5) {
        double linear = m + 1 + (m - last_look) * missing / fallen;
        if (linear < expected) expected = (int)linear;
    }
    /* A look costs about as much as a step. Far from the goal few are needed; near it, smooth vectors may get there
     * long before the model thinks. */
    int next = m + (7 * (expected - m)) / 10, most = m + m / (r->worst > 1e4 ? 3 : 8) + 1;
    if (next > most) next = most;
    if (next <= m) next = m + 1;
    return next < limit ? next : limit;
}

/* Small systems use up their space: keep the vectors orthogonal then, so that it ends after N steps. It is decided
 * before any orthogonality can be lost. */
static void choose_orthogonality(const run *r, tw_sweep *sweep)
{
    if (sweep->reorthogonalise || !sweep->storing || sweep->total_size > r->memory->capacity)
        return;
    if (sweep->total_size * sweep->active > (double)r->memory->pool_vectors) return;
    double spread = 0;
    for (int c = 0; c < sweep->active; c++)
        spread = fmax(spread, tw_chain_spread(&r->slot->chain[sweep->chain[c]], sweep->dimension));
    double predicted = 0.65 * fabs(r->request->time) * sqrt(spread);
    sweep->reorthogonalise =
        sweep->total_size <= SMALL || (sweep->dimension <= 16 && predicted > sweep->total_size / 3);
}

static tw_status grow(tw_sweep *sweep, int target, int64_t max_products)
{
    while (sweep->dimension < target) {
        if (sweep->products + sweep->active > max_products) return TW_BUDGET_EXHAUSTED;
        tw_status status = tw_sweep_step(sweep);
        if (status) return status;
        for (int c = 0; c < sweep->active; c++)
            if (sweep->memory->slot[sweep->slot].chain[sweep->chain[c]].exhausted) return TW_OK;
    }
    return TW_OK;
}

/* Looks at every active chain; those within their share leave the sweep. */
static tw_status look(run *r, tw_sweep *sweep)
{
    bool keep[TW_MAX_BLOCK] = {false};
    r->worst = 0;
    for (int c = 0; c < sweep->active; c++) {
        tw_status status = estimate_chain(r, sweep->chain[c], sweep->dimension);
        if (status) return status;
    }
    for (int c = 0; c < sweep->active; c++) {
        int j = sweep->chain[c];
        double excess = chain_excess(r, j);
        keep[j] = excess > 1 && !r->slot->chain[j].exhausted;
        if (keep[j]) r->worst = fmax(r->worst, excess);
    }
    tw_sweep_retire(sweep, keep);
    return TW_OK;
}

static tw_status converge(run *r, tw_sweep *sweep, const tw_phi_options *options,
                          tw_phi_statistics *statistics, tw_error *error)
{
    int limit = r->memory->capacity, last_look = 0, target = 1;
    if (options->max_dimension > 0 && options->max_dimension < limit)
        limit = options->max_dimension;
    double last_worst = 0;
    while (sweep->active > 0) {
        choose_orthogonality(r, sweep);
        tw_status status = grow(sweep, target, options->max_products);
        if (status == TW_OK) status = look(r, sweep);
        if (status == TW_BUDGET_EXHAUSTED)
            return tw_fail(error, status, "lanczos used up its budget of %lld products",
                           (long long)options->max_products);
        if (status == TW_NOT_FINITE)
            return tw_fail(error, status, "an operator or a function of it overflowed");
        if (status) return tw_fail_plain(error, status);
        if (sweep->active == 0) break;
        if (sweep->dimension >= limit)
            return tw_fail(error, TW_NOT_CONVERGED, "lanczos needs more than %d dimensions", limit);
        target = next_look(r, sweep, last_look, last_worst, limit);
        last_look = sweep->dimension;
        last_worst = r->worst;
        statistics->rejected++;
    }
    return TW_OK;
}

/* ---- outputs ---- */

static tw_status form_outputs(run *r, tw_sweep *sweep)
{
    const tw_spectral_request *q = r->request;
    tw_spectral_memory *memory = r->memory;
    int64_t row = (int64_t)TW_MAX_BLOCK * memory->capacity, offset[TW_MAX_BLOCK];
    bool add = false;
    for (int j = 0; j < q->start_count; j++) {
        const tw_chain *chain = &r->slot->chain[j];
        offset[j] = (int64_t)j * memory->capacity;
        if (chain->dimension == 0) continue;
        double *coefficients = memory->coefficients + offset[j];
        tw_status status =
            tw_chain_coefficients(chain, chain->dimension, q->output_count, q->start_count,
                                  q->functions + j, &memory->scratch, row, coefficients);
        if (status) return status;
        int count = chain->stored < chain->dimension ? chain->stored : chain->dimension;
        tw_spectral_combine(memory->size, count, chain->vector, q->output_count, row, coefficients,
                            add, q->outputs);
        add = true;
    }
    for (int i = 0; i < q->output_count && !add; i++)
        tw_vector_fill(memory->size, 0, q->outputs[i]);
    return sweep ? tw_sweep_repeat(sweep, q->output_count, q->outputs, row, offset,
                                   memory->coefficients)
                 : TW_OK;
}

/* The norms of the outputs, where the reference alone does not settle the matter and cancellation between start vectors
 * could have been overlooked. Returns in *again whether an output is so small that its error is too large. */
static tw_status measure_outputs(run *r, bool *again)
{
    *again = false;
    for (int i = 0; i < r->request->output_count; i++) {
        double error = 0, reference = r->request->reference ? r->request->reference[i] : 0;
        int contributions = 0;
        for (int j = 0; j < r->slot->start_count; j++) {
            error += safety * r->errors[j][i].error;
            contributions += r->errors[j][i].norm > 0;
        }
        if (contributions < 2 || error <= r->tolerance * reference || r->measured[i] >= 0) continue;
        if (r->request->velocity && r->request->velocity[i])
            continue; /* its weighed norm is known of the chains alone */
        tw_status status = tw_mass_norm(&r->slot->metric, r->request->outputs[i],
                                        r->memory->product, &r->measured[i]);
        if (status) return status;
        if (error > r->tolerance * scale_of(r, i)) *again = true;
    }
    return TW_OK;
}

/* The error in units of what was promised, and whether rounding alone exceeds that. */
static double relative_error(run *r)
{
    double worst = 0;
    for (int i = 0; i < r->request->output_count; i++) {
        double error = 0, rounding = 0, scale = scale_of(r, i);
        for (int j = 0; j < r->slot->start_count; j++) {
            error += r->errors[j][i].error;
            rounding += r->errors[j][i].rounding;
        }
        if (scale > 0) worst = fmax(worst, fmax(error, rounding) / scale);
        if (rounding > r->tolerance * scale) r->ill_conditioned = true;
    }
    return worst;
}

static int largest_dimension(const tw_spectral_slot *slot)
{
    int largest = 0;
    for (int j = 0; j < slot->start_count; j++)
        if (slot->chain[j].dimension > largest) largest = slot->chain[j].dimension;
    return largest;
}

static tw_status verdict(run *r, tw_phi_statistics *statistics, tw_error *error)
{
    statistics->substeps = 1;
    statistics->dimension = largest_dimension(r->slot);
    statistics->estimated_error = relative_error(r);
    if (r->ill_conditioned)
        return tw_fail(error, TW_ILL_CONDITIONED, "rounding alone is about %.1e of the result",
                       statistics->estimated_error);
    return TW_OK;
}

/* Whether a chain that left the sweep early would have stayed, had it known of the negative eigenvalues seen later. */
static tw_status left_too_early(run *r, double lowest_before, bool *again)
{
    *again = false;
    if (r->slot->range.lowest >= lowest_before) return TW_OK;
    for (int j = 0; j < r->slot->start_count; j++) {
        if (r->slot->chain[j].dimension == 0) continue;
        tw_status status = estimate_chain(r, j, r->slot->chain[j].dimension);
        if (status) return status;
        if (chain_excess(r, j) > 1 && !r->slot->chain[j].exhausted) *again = true;
    }
    return TW_OK;
}

/* Sweeps until the estimates are content, and forms the outputs. *again: the next attempt will know more. */
static tw_status attempt(run *r, const tw_second_order *op, const tw_phi_options *options,
                         tw_phi_statistics *statistics, bool *again, tw_error *error)
{
    double lowest = r->slot->range.lowest;
    const tw_spectral_request *q = r->request;
    tw_sweep sweep;
    tw_status status = tw_sweep_begin(&sweep, op, r->memory, q->slot, q->start_count, q->starts);
    if (status) return tw_fail_plain(error, status);
    sweep.products = statistics->products;
    r->starts = sweep.active > 0 ? sweep.active : 1;
    r->slot->range.hidden_growth = sweep.total_size <= SMALL;
    status = converge(r, &sweep, options, statistics, error);
    if (status == TW_OK) {
        status = left_too_early(r, lowest, again);
        if (status == TW_OK && !*again) status = form_outputs(r, &sweep);
        if (status == TW_OK && !*again) status = measure_outputs(r, again);
        if (status) tw_fail_plain(error, status);
    }
    statistics->products = sweep.products;
    return status;
}

static tw_status lanczos_spectral(tw_phi_workspace *workspace, const tw_second_order *op,
                                  const tw_spectral_request *request, tw_phi_statistics *statistics,
                                  tw_error *error)
{
    if (op->stiffness.symmetry != TW_SYMMETRIC)
        return tw_fail(error, TW_UNSUPPORTED, "lanczos needs a symmetric stiffness");
    weighing weighed;
    run r = run_of(workspace, request, &weighed);
    tw_spectral_set_engine(workspace, request->slot, TW_PHI_LANCZOS);
    /* phi_from_spectral.c goes through several blocks of one operator: what one has seen the next may know. */
    if (request->slot != TW_SPECTRAL_OWN_SLOT) r.slot->range = (tw_chain_range){0};
    /* Again from the start when a chain left too early, or when contributions cancelled and the result is smaller than
     * was thought: a new attempt knows the range or the size. */
    tw_status status = TW_OK;
    bool again = true;
    for (int attempts = 0; again && status == TW_OK && attempts < MAX_ATTEMPTS; attempts++)
        status = attempt(&r, op, &workspace->options, statistics, &again, error);
    if (again && status == TW_OK) status = tw_fail(error, TW_NOT_CONVERGED, "lanczos found no end");
    return status ? status : verdict(&r, statistics, error);
}

static tw_status lanczos_reuse(tw_phi_workspace *workspace, const tw_spectral_request *request,
                               tw_phi_statistics *statistics, tw_error *error)
{
    weighing weighed;
    run r = run_of(workspace, request, &weighed);
    if (request->start_count != r.slot->start_count)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "the slot holds a basis for %d start vectors, not %d", r.slot->start_count,
                       request->start_count);
    for (int j = 0; j < request->start_count; j++) r.starts += r.slot->chain[j].dimension > 0;
    double worst = 0;
    for (int j = 0; j < request->start_count; j++) {
        tw_chain *chain = &r.slot->chain[j];
        if (chain->dimension > chain->stored)
            chain->dimension = chain->stored, chain->exhausted = false;
        if (chain->dimension == 0) continue;
        tw_status status = estimate_chain(&r, j, chain->dimension);
        if (status) return tw_fail_plain(error, status);
    }
    for (int j = 0; j < request->start_count; j++) worst = fmax(worst, chain_excess(&r, j));
    bool again = worst > 1;
    tw_status status = again ? TW_OK : form_outputs(&r, NULL);
    if (status == TW_OK && !again) status = measure_outputs(&r, &again);
    if (status) return tw_fail_plain(error, status);
    if (again)
        return tw_fail(error, TW_NOT_CONVERGED,
                       "the kept basis is too small: error %.1e times the tolerance", worst);
    return verdict(&r, statistics, error);
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
