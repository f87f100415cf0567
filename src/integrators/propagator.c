#include "integrators/propagator.h"

#include <math.h>
#include <twang/stumpff.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/vector.h"
#include "phi/phi_internal.h"

struct tw_propagator {
    tw_phi_workspace *workspace;
    tw_phi_options options;
    bool spectral;     /* by scalar functions of the spectrum */
    bool polynomial;   /* every engine of the last call made polynomials, or exact functions */
    int64_t sharpened; /* the linearisation whose bound was made sharper, by its number; 0: none */
    double *
        vectors; /* TW_PHI_MAX_ORDER + 2 vectors of size entries: gathered terms, or rows of a further block */
    int64_t size;
};

static bool fits_spectral(const tw_system *system, tw_phi_engine engine)
{
    bool engine_fits = engine == TW_PHI_AUTO || engine == TW_PHI_DENSE ||
                       engine == TW_PHI_LANCZOS || engine == TW_PHI_CHEBYSHEV ||
                       engine == TW_PHI_SHIFT_INVERT;
    return engine_fits && system->second_order && !system->second.stiffness_is_general &&
           !system->pair.damping;
}

tw_status tw_propagator_create(const tw_system *system, const tw_phi_options *options, int slots,
                               tw_propagator **out, tw_error *error)
{
    *out = NULL;
    tw_propagator *propagator = TW_NEW(tw_propagator);
    if (!propagator) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    propagator->options = *options;
    propagator->size = system->size;
    propagator->spectral = fits_spectral(system, options->engine);
    tw_phi_limits limits = tw_phi_limits_default();
    limits.size = system->n;
    limits.second_order = system->second_order;
    limits.slots = slots;
    limits.max_dimension = options->max_dimension;
    limits.options = *options;
    tw_status status = tw_phi_workspace_create(&limits, &propagator->workspace, error);
    if (status == TW_OK) {
        propagator->vectors = TW_NEW_ARRAY((TW_PHI_MAX_ORDER + 2) * system->size, double);
        if (!propagator->vectors) status = tw_fail_plain(error, TW_OUT_OF_MEMORY);
    }
    if (status) {
        tw_propagator_free(propagator);
        return status;
    }
    *out = propagator;
    return TW_OK;
}

void tw_propagator_free(tw_propagator *propagator)
{
    if (!propagator) return;
    tw_phi_workspace_free(propagator->workspace);
    tw_release(propagator->vectors);
    tw_release(propagator);
}

bool tw_propagator_keeps_bases(const tw_propagator *propagator)
{
    return propagator->spectral && propagator->options.engine != TW_PHI_CHEBYSHEV;
}

bool tw_propagator_is_spectral(const tw_propagator *propagator)
{
    return propagator->spectral;
}

bool tw_propagator_made_incidental(const tw_propagator *propagator)
{
    return propagator->polynomial;
}

tw_status tw_phi_sum_add(tw_phi_sum *sum, int row, int source, int k, double node,
                         double coefficient)
{
    if (sum->term_count == TW_SUM_MAX_TERMS) return TW_INTERNAL;
    sum->term[sum->term_count++] = (tw_sum_term){row, source, k, node, coefficient};
    return TW_OK;
}

static void count(tw_system *system, const tw_phi_statistics *s)
{
    tw_integrator_statistics *counts = system->counts;
    counts->solves += s->solves;
    counts->factorisations += s->factorisations;
    counts->engine = s->engine;
    counts->work += s->cost;
    if (s->pole > 0) counts->pole = s->pole;
    if (s->dimension > counts->krylov_dimension) counts->krylov_dimension = s->dimension;
    counts->phi_error_estimate = fmax(counts->phi_error_estimate, s->estimated_error);
}

static tw_status accept_rounding(tw_status status, const tw_phi_statistics *s)
{
    return status == TW_ILL_CONDITIONED && s->estimated_error < 1e-6 ? TW_OK : status;
}

/* One scalar function: the part (x or v) of a row that a start vector (x- or v-part of a source) contributes. */
typedef struct part_function {
    const tw_phi_sum *sum;
    int row, source;
    int entry; /* of the 2x2 matrix phi_k: 2 * (output is v) + (start is v-part) */
    double alpha, beta;
} part_function;

/* phi_k(t [[0,1],[-lambda,0]]) = c_k + c_{k+1} t [[0,1],[-lambda,0]] (Stumpff); Rayleigh: the damped 2x2. */
static double phi_entry(const part_function *part, int k, double t, double lambda)
{
    double delta = part->alpha + part->beta * lambda, c[TW_PHI_MAX_ORDER + 2], entries[4];
    if (delta != 0) {
        tw_phi_oscillator(t, lambda, delta, k, entries);
        return entries[part->entry];
    }
    tw_stumpff(t * t * lambda, k + 2, c);
    switch (part->entry) {
    case 1:
        return t * c[k + 1];
    case 2:
        return -t * lambda * c[k + 1];
    default:
        return c[k];
    }
}

static double part_value(const void *context, double lambda)
{
    const part_function *part = context;
    double value = 0;
    for (int i = 0; i < part->sum->term_count; i++) {
        const tw_sum_term *term = &part->sum->term[i];
        if (term->row == part->row && term->source == part->source)
            value +=
                term->coefficient * phi_entry(part, term->k, term->node * part->sum->h, lambda);
    }
    return value;
}

static bool has_term(const tw_phi_sum *sum, int row, int source)
{
    for (int i = 0; i < sum->term_count; i++)
        if (sum->term[i].row == row && sum->term[i].source == source) return true;
    return false;
}

/* A source is one start vector (0, d), or two (p, q). */
typedef struct start_list {
    int count, source[2 * TW_SUM_MAX_SOURCES];
    bool is_v[2 * TW_SUM_MAX_SOURCES];
    const double *vector[2 * TW_SUM_MAX_SOURCES];
} start_list;

static start_list list_starts(const tw_phi_sum *sum, int64_t n)
{
    start_list list = {0};
    for (int j = 0; j < sum->source_count; j++)
        for (int part = sum->force_only[j] ? 1 : 0; part < 2; part++) {
            list.source[list.count] = j;
            list.is_v[list.count] = part == 1;
            list.vector[list.count++] =
                sum->force_only[j] ? sum->source[j] : sum->source[j] + part * n;
        }
    return list;
}

enum { MAX_OUTPUTS = 2 * TW_SUM_MAX_ROWS };

/* One block of starts: outputs are the x- and v-parts of every row. */
static tw_status spectral_block(tw_propagator *propagator, tw_system *system, const tw_phi_sum *sum,
                                const start_list *list, int first, double *const *outputs,
                                tw_error *error)
{
    part_function parts[MAX_OUTPUTS * TW_MAX_BLOCK];
    tw_spectral_function functions[MAX_OUTPUTS * TW_MAX_BLOCK];
    const double decides_nothing = 1e250;
    double reference[MAX_OUTPUTS];
    bool velocity[MAX_OUTPUTS], displacements = propagator->options.norm == TW_NORM_DISPLACEMENT;
    int starts = list->count - first < TW_MAX_BLOCK ? list->count - first : TW_MAX_BLOCK;
    for (int o = 0; o < 2 * sum->row_count; o++) {
        velocity[o] = o % 2 == 1;
        reference[o] = sum->incidental[o / 2] ? decides_nothing
                                              : sum->reference[o / 2][displacements ? 0 : o % 2];
        for (int j = 0; j < starts; j++) {
            int source = list->source[first + j], at = o * starts + j;
            parts[at] = (part_function){sum,
                                        o / 2,
                                        source,
                                        2 * (o % 2) + list->is_v[first + j],
                                        system->pair.rayleigh_mass,
                                        system->pair.rayleigh_stiffness};
            functions[at] = (tw_spectral_function){has_term(sum, o / 2, source) ? part_value : NULL,
                                                   &parts[at]};
        }
    }
    tw_spectral_request request = {.start_count = starts,
                                   .starts = list->vector + first,
                                   .output_count = 2 * sum->row_count,
                                   .outputs = outputs,
                                   .functions = functions,
                                   .reference = reference,
                                   .velocity = displacements ? velocity : NULL,
                                   .time = sum->h,
                                   .single_use = sum->single_use,
                                   .slot = sum->slot + first / TW_MAX_BLOCK};
    tw_phi_statistics statistics = {0};
    tw_status status = TW_UNSUPPORTED;
    if (sum->same_sources)
        status = accept_rounding(
            tw_spectral_reuse(propagator->workspace, &request, &statistics, NULL), &statistics);
    if (status) {
        status =
            tw_spectral_apply(propagator->workspace, &system->pair, &request, &statistics, error);
        status = accept_rounding(status, &statistics);
    }
    count(system, &statistics);
    propagator->polynomial = propagator->polynomial && statistics.engine != TW_PHI_SHIFT_INVERT;
    /* chebyshev met something above its interval: the further calls for this tangent shall know */
    if (system->pair.eigenvalue_max > 0)
        system->pair.eigenvalue_max = fmax(system->pair.eigenvalue_max, statistics.eigenvalue_max);
    return status;
}

/* The first four starts write the rows; each further block writes aside and is added. */
static tw_status apply_spectral(tw_propagator *propagator, tw_system *system, const tw_phi_sum *sum,
                                tw_error *error)
{
    start_list list = list_starts(sum, system->n);
    propagator->polynomial = true;
    double *outputs[MAX_OUTPUTS], *aside[MAX_OUTPUTS];
    for (int o = 0; o < 2 * sum->row_count; o++) {
        outputs[o] = sum->row[o / 2] + (o % 2) * system->n;
        aside[o] = propagator->vectors + o * system->n;
    }
    tw_status status = spectral_block(propagator, system, sum, &list, 0, outputs, error);
    for (int first = TW_MAX_BLOCK; first < list.count && status == TW_OK; first += TW_MAX_BLOCK) {
        status = spectral_block(propagator, system, sum, &list, first, aside, error);
        for (int o = 0; o < 2 * sum->row_count; o++)
            tw_vector_axpy(system->n, 1.0, aside[o], outputs[o]);
    }
    return status;
}

/* vectors[k] = sum of the terms of this row, node and k; NULL where there is none. */
static void gather(tw_propagator *propagator, const tw_system *system, const tw_phi_sum *sum,
                   int row, double node, const double **vectors)
{
    for (int k = 0; k <= TW_PHI_MAX_ORDER; k++) {
        double *v = propagator->vectors + k * propagator->size;
        vectors[k] = NULL;
        for (int i = 0; i < sum->term_count; i++) {
            const tw_sum_term *term = &sum->term[i];
            if (term->row != row || term->node != node || term->k != k) continue;
            if (!vectors[k]) tw_vector_fill(propagator->size, 0.0, v);
            vectors[k] = v;
            if (sum->force_only[term->source])
                tw_vector_axpy(system->n, term->coefficient, sum->source[term->source],
                               v + system->n);
            else
                tw_vector_axpy(propagator->size, term->coefficient, sum->source[term->source], v);
        }
    }
}

/* Rows whose terms are the same but for the node (the stages' and the step's phi_1 F) share one call. */
static bool row_matches(const tw_phi_sum *sum, int row, int other)
{
    int i = 0, j = 0, n = sum->term_count;
    for (;; i++, j++) {
        while (i < n && sum->term[i].row != row) i++;
        while (j < n && sum->term[j].row != other) j++;
        if (i == n || j == n) return i == n && j == n;
        const tw_sum_term *a = &sum->term[i], *b = &sum->term[j];
        if (a->source != b->source || a->k != b->k || a->coefficient != b->coefficient)
            return false;
    }
}

/* The node all terms of a row share, or NAN. */
static double common_node(const tw_phi_sum *sum, int row)
{
    double node = NAN;
    for (int i = 0; i < sum->term_count; i++) {
        if (sum->term[i].row != row) continue;
        if (!isnan(node) && sum->term[i].node != node) return NAN;
        node = sum->term[i].node;
    }
    return node;
}

static tw_status evaluate(tw_propagator *propagator, tw_system *system,
                          const tw_phi_request *request, tw_error *error)
{
    tw_phi_statistics statistics = {0};
    tw_status status = system->second_order
                           ? tw_phi_evaluate_second_order(propagator->workspace, &system->pair,
                                                          request, &statistics, error)
                           : tw_phi_evaluate(propagator->workspace, &system->jacobian, request,
                                             &statistics, error);
    count(system, &statistics);
    return accept_rounding(status, &statistics);
}

/* Row by row and node by node, summed. */
static tw_status apply_row(tw_propagator *propagator, tw_system *system, const tw_phi_sum *sum,
                           int row, tw_error *error)
{
    double *part = propagator->vectors + (TW_PHI_MAX_ORDER + 1) * propagator->size;
    tw_vector_fill(propagator->size, 0.0, sum->row[row]);
    for (int i = 0; i < sum->term_count; i++) {
        double node = sum->term[i].node;
        bool seen = sum->term[i].row != row;
        for (int j = 0; j < i && !seen; j++)
            seen = sum->term[j].row == row && sum->term[j].node == node;
        if (seen) continue;
        const double *vectors[TW_PHI_MAX_ORDER + 1];
        gather(propagator, system, sum, row, node, vectors);
        tw_phi_request request = {.time = sum->h,
                                  .node_count = 1,
                                  .nodes = &node,
                                  .order = TW_PHI_MAX_ORDER,
                                  .vectors = vectors,
                                  .outputs = &part,
                                  .reference = {sum->reference[row][0], sum->reference[row][1]}};
        while (request.order > 0 && !vectors[request.order]) request.order--;
        tw_status status = evaluate(propagator, system, &request, error);
        if (status) return status;
        tw_vector_axpy(propagator->size, 1.0, part, sum->row[row]);
    }
    return TW_OK;
}

/* All rows alike but for their node: one call with all nodes. */
static tw_status apply_nodes(tw_propagator *propagator, tw_system *system, const tw_phi_sum *sum,
                             tw_error *error)
{
    const double *vectors[TW_PHI_MAX_ORDER + 1];
    double nodes[TW_SUM_MAX_ROWS] = {0};
    for (int r = 0; r < sum->row_count; r++) nodes[r] = common_node(sum, r);
    gather(propagator, system, sum, 0, nodes[0], vectors);
    tw_phi_request request = {.time = sum->h,
                              .node_count = sum->row_count,
                              .nodes = nodes,
                              .order = TW_PHI_MAX_ORDER,
                              .vectors = vectors,
                              .outputs = sum->row,
                              .reference = {sum->reference[0][0], sum->reference[0][1]}};
    while (request.order > 0 && !vectors[request.order]) request.order--;
    return evaluate(propagator, system, &request, error);
}

static tw_status apply_general(tw_propagator *propagator, tw_system *system, const tw_phi_sum *sum,
                               tw_error *error)
{
    bool alike = true;
    for (int r = 0; r < sum->row_count; r++)
        alike = alike && !isnan(common_node(sum, r)) && row_matches(sum, 0, r);
    if (alike) return apply_nodes(propagator, system, sum, error);
    for (int r = 0; r < sum->row_count; r++) {
        tw_status status = apply_row(propagator, system, sum, r, error);
        if (status) return status;
    }
    return TW_OK;
}

/* The problem's bound holds in every state; the interval of chebyshev, which pays for all of it, and the choice of auto
 * want the one of this tangent: on the coil it is 0.4 of the former. Found anew at each linearisation, so that a
 * resumed run finds the same. */
static tw_status sharpen_bound(tw_propagator *propagator, tw_system *system, double h)
{
    const double worthwhile = 40; /* h omega_max below which the steps would cost what they save */
    tw_phi_engine engine = propagator->options.engine;
    double bound = system->second.eigenvalue_max;
    if (!propagator->spectral || propagator->sharpened == system->linearisation) return TW_OK;
    system->pair.eigenvalue_max = bound;
    if ((engine != TW_PHI_CHEBYSHEV && engine != TW_PHI_AUTO) ||
        !(h * h * bound > worthwhile * worthwhile))
        return TW_OK;
    propagator->sharpened = system->linearisation;
    return tw_spectral_sharpen(propagator->workspace, &system->pair, bound,
                               &system->pair.eigenvalue_max);
}

tw_status tw_propagator_apply(tw_propagator *propagator, tw_system *system, const tw_phi_sum *sum,
                              tw_error *error)
{
    tw_phi_options options = propagator->options;
    options.tolerance = fmin(fmax(sum->tolerance, 1e-15), 0.5);
    tw_status status = tw_phi_workspace_set_options(propagator->workspace, &options);
    if (status == TW_OK) status = sharpen_bound(propagator, system, sum->h);
    if (status) return tw_fail_plain(error, status);
    return propagator->spectral ? apply_spectral(propagator, system, sum, error)
                                : apply_general(propagator, system, sum, error);
}
