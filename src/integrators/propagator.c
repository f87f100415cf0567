#include "integrators/propagator.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/vector.h"
#include "phi/phi_internal.h"
#include "phi/scalar_functions.h"

enum { MAX_OUTPUTS = 2 * TW_SUM_MAX_ROWS };

/* Reference magnitude of an incidental row, in the units of the row. An error relative to it is
 * always below the tolerance, so the row never decides how large a basis becomes. It is far above
 * every state and far enough below the largest double (1.8e308) to be multiplied by a tolerance or
 * a norm. */
static const double decides_nothing = 1e250;

/* Largest relative error that is accepted as rounding. */
static const double rounding_accepted = 1e-6;

/* Rounding errors of a step, relative to the terms that it is made of: some units in the
 * last place. */
static const double rounding_share = 1e-15;

/* Below this h omega_max a sharper eigenvalue bound costs as many products as it saves. */
static const double worthwhile_to_sharpen = 40;

/* Tolerances outside of this range make no sense to an engine. */
static const double smallest_tolerance = 1e-15;
static const double largest_tolerance = 0.5;

/* ---- creating ---- */

bool tw_phi_engine_is_spectral(tw_phi_engine engine)
{
    return engine == TW_PHI_LANCZOS || engine == TW_PHI_CHEBYSHEV || engine == TW_PHI_SHIFT_INVERT;
}

static bool fits_spectral(const tw_system *system, tw_phi_engine engine)
{
    /* These engines evaluate functions of a symmetric operator. */
    bool engine_fits =
        engine == TW_PHI_AUTO || engine == TW_PHI_DENSE || tw_phi_engine_is_spectral(engine);

    /* The scalar functions need A = M^-1 K symmetric, and D = alpha M + beta K. */
    return engine_fits && system->second_order && !system->second.stiffness_is_general &&
           !system->pair.damping;
}

/* Says no to an engine that cannot evaluate J of this system: what does not fit together is refused
 * before the first step. */
static tw_status check_engine(const tw_system *system, const tw_phi_options *options,
                              tw_error *error)
{
    tw_phi_engine engine = options->engine;
    const char *name = tw_phi_engine_name(engine);
    if (tw_phi_engine_is_spectral(engine)) {
        if (!system->second_order)
            return tw_fail(
                error, TW_UNSUPPORTED,
                "phi engine %s does not apply to first-order problems, take auto, dense, "
                "kiops or phipm",
                name);
        if (system->pair.damping)
            return tw_fail(error, TW_UNSUPPORTED,
                           "phi engine %s knows Rayleigh damping only, with dashpots or wind take "
                           "auto, dense, kiops or phipm",
                           name);
    }

    /* Incomplete orthogonalisation of raw (x, v) can fail without notice. */
    bool is_incomplete =
        engine == TW_PHI_KIOPS || engine == TW_PHI_PHIPM_IOM2 || engine == TW_PHI_PHIPM_SIMUL_IOM2;
    if (system->second_order && is_incomplete && options->inner_product == TW_INNER_EUCLIDEAN)
        return tw_fail(error, TW_UNSUPPORTED,
                       "phi engine %s is not safe with inner_product euclidean, take scaled or "
                       "energy",
                       name);
    return TW_OK;
}

static tw_status allocate(tw_propagator *propagator, const tw_system *system, int slots,
                          tw_error *error)
{
    /* Create the workspace of the engine. */
    tw_phi_limits limits = tw_phi_limits_default();
    limits.size = system->n;
    limits.second_order = system->second_order;
    limits.slots = slots;
    limits.max_dimension = propagator->options.max_dimension;
    limits.options = propagator->options;
    TW_TRY(tw_phi_workspace_create(&limits, &propagator->workspace, error));

    /* These vectors hold gathered terms of a row, or the rows of a further block. */
    propagator->vectors = TW_NEW_ARRAY((TW_PHI_MAX_ORDER + 2) * system->size, double);
    return propagator->vectors ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);
}

tw_status tw_propagator_create(tw_system *system, const tw_phi_options *options, int slots,
                               tw_propagator **out, tw_error *error)
{
    *out = NULL;
    TW_TRY(check_engine(system, options, error));
    tw_propagator *propagator = TW_NEW(tw_propagator);
    if (!propagator) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    propagator->options = *options;
    propagator->size = system->size;
    propagator->spectral = fits_spectral(system, options->engine);
    system->assumes_symmetry = propagator->spectral;

    tw_status status = allocate(propagator, system, slots, error);
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

/* ---- what an evaluation tells ---- */

void tw_propagator_count(tw_system *system, const tw_phi_statistics *s)
{
    tw_integrator_statistics *counts = system->counts;

    /* Costs add up. */
    counts->solves += s->solves;
    counts->factorisations += s->factorisations;
    counts->engine = s->engine;
    counts->work += s->cost;

    /* These describe the last step. */
    if (s->pole > 0) counts->pole = s->pole;
    if (s->dimension > counts->krylov_dimension) counts->krylov_dimension = s->dimension;
    counts->phi_error_estimate = fmax(counts->phi_error_estimate, s->estimated_error);
}

tw_status tw_accept_rounding(tw_status status, const tw_phi_statistics *statistics)
{
    bool small = statistics->estimated_error < rounding_accepted;
    return status == TW_ILL_CONDITIONED && small ? TW_OK : status;
}

/* ---- scalar functions of the spectrum ---- */

/* phi_k(t [[0, 1], [-lambda, -delta]]) at the last t and lambda. The functions of a block ask for the
 * same matrix one after the other. Each order is computed alone: the bits of phi_k then do not depend on
 * which other orders are asked for, and a step does not on announced points of output. */
typedef struct mode_matrix {
    double t;
    double lambda;
    unsigned known; /* bit k: phi_k is known */
    double entries[TW_PHI_MAX_ORDER + 1][4];
} mode_matrix;

/* The scalar function f(lambda) by which a start vector (the x- or v-part of a source) contributes
 * to one part (x or v) of a row. */
typedef struct part_function {
    const tw_phi_sum *sum;
    int row;
    int source;
    int entry; /* of the 2x2 matrix phi_k: 2 * (output is v) + (start is the v-part) */
    double alpha;
    double beta;
    mode_matrix *matrix; /* shared by the functions of a block */
} part_function;

/* The entry of phi_k(t [[0, 1], [-lambda, -delta]]), delta = alpha + beta lambda. */
static double phi_entry(const part_function *part, int k, double t, double lambda)
{
    mode_matrix *matrix = part->matrix;
    if (matrix->lambda != lambda || matrix->t != t) matrix->known = 0;
    matrix->t = t;
    matrix->lambda = lambda;

    if (!(matrix->known & 1u << k)) {
        double delta = part->alpha + part->beta * lambda;
        double entries[TW_PHI_MAX_ORDER + 1][4];
        tw_mode_phi(t, lambda, delta, 1u << k, entries);
        memcpy(matrix->entries[k], entries[k], sizeof entries[k]);
        matrix->known |= 1u << k;
    }
    return matrix->entries[k][part->entry];
}

static double part_value(const void *context, double lambda)
{
    const part_function *part = context;

    /* f(lambda) = sum of coefficient * entry of phi_k over the terms of this row and source. */
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
    int count;
    int first; /* of the block that is evaluated */
    int source[2 * TW_SUM_MAX_SOURCES];
    bool is_v[2 * TW_SUM_MAX_SOURCES];
    const double *vector[2 * TW_SUM_MAX_SOURCES];
} start_list;

static void add_start(start_list *list, int source, bool is_v, const double *vector)
{
    list->source[list->count] = source;
    list->is_v[list->count] = is_v;
    list->vector[list->count++] = vector;
}

static start_list list_starts(const tw_phi_sum *sum, int64_t n)
{
    start_list list = {0};
    for (int j = 0; j < sum->source_count; j++) {
        if (sum->force_only[j]) {
            add_start(&list, j, true, sum->source[j]);
        } else {
            add_start(&list, j, false, sum->source[j]);
            add_start(&list, j, true, sum->source[j] + n);
        }
    }
    return list;
}

/* ---- one block of start vectors ---- */

/* A request to the spectral engines and the arrays it points to. Output o is the x-part (o even) or
 * the v-part (o odd) of row o / 2. */
typedef struct spectral_block {
    int start_count;
    int output_count;
    part_function parts[MAX_OUTPUTS * TW_MAX_BLOCK];
    mode_matrix matrix;
    tw_spectral_function functions[MAX_OUTPUTS * TW_MAX_BLOCK];
    double reference[MAX_OUTPUTS];
    bool velocity[MAX_OUTPUTS];
} spectral_block;

/* f_oj: what start j contributes to output o. */
static void describe_functions(const tw_system *system, const tw_phi_sum *sum,
                               const start_list *list, spectral_block *block)
{
    block->matrix = (mode_matrix){0};

    for (int o = 0; o < block->output_count; o++)
        for (int j = 0; j < block->start_count; j++) {
            int at = o * block->start_count + j;
            int row = o / 2;
            int source = list->source[list->first + j];

            /* The function knows its row, its source and its entry of the 2x2 matrix. */
            block->parts[at] = (part_function){.sum = sum,
                                               .row = row,
                                               .source = source,
                                               .entry = 2 * (o % 2) + list->is_v[list->first + j],
                                               .alpha = system->pair.rayleigh_mass,
                                               .beta = system->pair.rayleigh_stiffness,
                                               .matrix = &block->matrix};

            /* A row without a term on this source gets the zero function. */
            block->functions[at] = (tw_spectral_function){NULL, &block->parts[at]};
            if (has_term(sum, row, source)) block->functions[at].value = part_value;
        }
}

/* In the displacement norm the tolerance of a velocity refers to the displacement as well. */
static void describe_outputs(const tw_phi_sum *sum, bool displacements, spectral_block *block)
{
    for (int o = 0; o < block->output_count; o++) {
        int row = o / 2;
        int part = displacements ? 0 : o % 2;
        block->velocity[o] = o % 2 == 1;
        block->reference[o] = sum->incidental[row] ? decides_nothing : sum->reference[row][part];
    }
}

/* Evaluates: from the kept basis if there is one that suffices, else with a new one. */
static tw_status evaluate(tw_propagator *propagator, tw_system *system, bool same_sources,
                          const tw_spectral_request *request, tw_error *error)
{
    tw_phi_statistics statistics = {0};
    tw_status status = TW_UNSUPPORTED;

    /* The basis in the slot may suffice: it costs no product. */
    if (same_sources) {
        status = tw_spectral_reuse(propagator->workspace, request, &statistics, NULL);
        status = tw_accept_rounding(status, &statistics);
    }

    /* Otherwise a new basis is built. */
    if (status != TW_OK) {
        status =
            tw_spectral_apply(propagator->workspace, &system->pair, request, &statistics, error);
        status = tw_accept_rounding(status, &statistics);
    }

    tw_propagator_count(system, &statistics);
    propagator->polynomial = propagator->polynomial && statistics.engine != TW_PHI_SHIFT_INVERT;

    /* chebyshev raises its bound when it meets an eigenvalue above it; further calls for this
     * tangent begin with the raised bound. */
    if (system->pair.eigenvalue_max > 0)
        system->pair.eigenvalue_max = fmax(system->pair.eigenvalue_max, statistics.eigenvalue_max);
    return status;
}

/* What the starts [first, first + TW_MAX_BLOCK) contribute to all outputs. */
static tw_status apply_block(tw_propagator *propagator, tw_system *system, const tw_phi_sum *sum,
                             const start_list *list, double *const *outputs, tw_error *error)
{
    spectral_block block;
    bool displacements = propagator->options.norm == TW_NORM_DISPLACEMENT;
    block.output_count = 2 * sum->row_count;
    block.start_count = list->count - list->first;
    if (block.start_count > TW_MAX_BLOCK) block.start_count = TW_MAX_BLOCK;

    /* Set f_oj of every output and start, and what the tolerance refers to. */
    describe_functions(system, sum, list, &block);
    describe_outputs(sum, displacements, &block);

    tw_spectral_request request = {.start_count = block.start_count,
                                   .starts = list->vector + list->first,
                                   .output_count = block.output_count,
                                   .outputs = outputs,
                                   .functions = block.functions,
                                   .reference = block.reference,
                                   .velocity = displacements ? block.velocity : NULL,
                                   .time = sum->h,
                                   .single_use = sum->single_use,
                                   .slot = sum->slot + list->first / TW_MAX_BLOCK};
    return evaluate(propagator, system, sum->same_sources, &request, error);
}

/* The first block writes the rows; each further block writes aside and is added. */
static tw_status apply_spectral(tw_propagator *propagator, tw_system *system, const tw_phi_sum *sum,
                                tw_error *error)
{
    /* An output is the x- or the v-part of a row. */
    int output_count = 2 * sum->row_count;
    double *outputs[MAX_OUTPUTS];
    double *aside[MAX_OUTPUTS];
    for (int o = 0; o < output_count; o++) {
        outputs[o] = sum->row[o / 2] + (o % 2) * system->n;
        aside[o] = propagator->vectors + o * system->n;
    }

    start_list list = list_starts(sum, system->n);
    propagator->polynomial = true;

    /* The first block holds all starts in the common case. */
    TW_TRY(apply_block(propagator, system, sum, &list, outputs, error));

    /* Further blocks are added. */
    for (list.first = TW_MAX_BLOCK; list.first < list.count; list.first += TW_MAX_BLOCK) {
        tw_status status = apply_block(propagator, system, sum, &list, aside, error);
        for (int o = 0; o < output_count; o++) tw_vector_axpy(system->n, 1.0, aside[o], outputs[o]);
        if (status) return status;
    }
    return TW_OK;
}

/* ---- the sum ---- */

/* The problem's bound of the largest eigenvalue holds in every state. chebyshev pays for all of its
 * interval and auto compares costs, so both want the bound of this tangent: on the coil it is 0.4
 * of the former. It is found anew at each linearisation, so that a resumed run finds the same. */
static tw_status sharpen_bound(tw_propagator *propagator, tw_system *system, double h)
{
    if (!propagator->spectral || propagator->sharpened == system->linearisation) return TW_OK;

    /* A new linearisation begins with the bound of the problem. */
    double bound = system->second.eigenvalue_max;
    system->pair.eigenvalue_max = bound;

    tw_phi_engine engine = propagator->options.engine;
    bool wanted = engine == TW_PHI_CHEBYSHEV || engine == TW_PHI_AUTO;
    bool worthwhile = h * h * bound > worthwhile_to_sharpen * worthwhile_to_sharpen;
    if (!wanted || !worthwhile) return TW_OK;

    propagator->sharpened = system->linearisation;
    return tw_spectral_sharpen(propagator->workspace, &system->pair, bound,
                               &system->pair.eigenvalue_max);
}

tw_status tw_propagator_note_rounding(tw_propagator *propagator, const tw_system *system, double h,
                                      const double *u, const double *F)
{
    const double *mass = system->second.lumped_mass;
    tw_space space = system->jacobian.space;
    space.local_size = system->n;

    /* |x| + h |v| and |v| + h |a|, in the mass norm. */
    for (int part = 0; part < (system->second_order ? 2 : 1); part++) {
        const double *state = u + part * system->n;
        const double *slope = F + part * system->n;
        double state_square = 0;
        double slope_square = 0;
        TW_TRY(tw_vector_weighted_dot(&space, mass, state, state, &state_square));
        TW_TRY(tw_vector_weighted_dot(&space, mass, slope, slope, &slope_square));
        propagator->rounding[part] = rounding_share * (sqrt(state_square) + h * sqrt(slope_square));
    }
    return TW_OK;
}

/* The sum, with references so large that no error below rounding is asked for. */
static tw_phi_sum raise_references(const tw_propagator *propagator, const tw_phi_sum *sum,
                                   double tolerance)
{
    tw_phi_sum raised = *sum;
    for (int row = 0; row < sum->row_count; row++)
        for (int part = 0; part < 2; part++)
            raised.reference[row][part] =
                fmax(sum->reference[row][part], propagator->rounding[part] / tolerance);
    return raised;
}

tw_status tw_propagator_apply(tw_propagator *propagator, tw_system *system, const tw_phi_sum *sum,
                              tw_error *error)
{
    /* The sum has a tolerance of its own. */
    tw_phi_options options = propagator->options;
    options.tolerance = fmin(fmax(sum->tolerance, smallest_tolerance), largest_tolerance);
    tw_status status = tw_phi_workspace_set_options(propagator->workspace, &options);
    if (status == TW_OK) status = sharpen_bound(propagator, system, sum->h);
    if (status) return tw_fail_plain(error, status);

    /* No engine is asked for an error below the rounding of the state. */
    tw_phi_sum above_rounding = raise_references(propagator, sum, options.tolerance);
    if (propagator->spectral) return apply_spectral(propagator, system, &above_rounding, error);
    return tw_propagator_apply_general(propagator, system, &above_rounding, error);
}
