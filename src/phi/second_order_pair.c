/* A second-order request is carried into the coordinates of a tw_phi_pair (phi_internal.h),
 * evaluated there by a first-order engine, and carried back. */
#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/largest_eigenvalue.h"
#include "linalg/vector.h"
#include "phi/phi_internal.h"

enum {
    MAX_VECTORS = TW_PHI_MAX_ORDER + 1,
    POWER_STEPS = 6 /* products with K that estimate omega */
};

/* omega is an estimate from below, so the exchange of an error between the parts gets this margin. */
static const double FREQUENCY_MARGIN = 2;

/* ---- memory ---- */

/* What a workspace keeps for it. */
typedef struct pair_memory {
    double *vectors; /* copies of a request's vectors, 2N entries each */
    double *root;    /* N */
    double *scratch;
} pair_memory;

tw_status tw_phi_pair_reserve(tw_phi_workspace *workspace, tw_error *error)
{
    if (!workspace->limits.second_order || workspace->pair_memory) return TW_OK;
    int64_t n = workspace->limits.size;
    pair_memory *memory = TW_NEW(pair_memory);
    if (!memory) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    workspace->pair_memory = memory;
    memory->vectors = TW_NEW_ARRAY(MAX_VECTORS * 2 * n, double);
    memory->root = TW_NEW_ARRAY(n, double);
    memory->scratch = TW_NEW_ARRAY(tw_phi_pair_scratch(n), double);
    bool complete = memory->vectors && memory->root && memory->scratch;

    return complete ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);
}

void tw_phi_pair_release(tw_phi_workspace *workspace)
{
    pair_memory *memory = workspace->pair_memory;
    if (!memory) return;
    tw_release(memory->vectors);
    tw_release(memory->root);
    tw_release(memory->scratch);
    tw_release(memory);
    workspace->pair_memory = NULL;
}

/* ---- coordinates ---- */

tw_status tw_phi_part_norms(const tw_phi_workspace *workspace, const tw_space *space,
                            const double *u, double norms[2])
{
    const tw_phi_frame *frame = workspace->frame;
    norms[1] = 0;
    if (!frame) return tw_vector_norm(space, u, &norms[0]);
    if (frame->norms) return frame->norms(frame->context, u, norms);

    /* The Euclidean norm of each part. */
    tw_space part = *space;
    part.local_size = frame->split;
    TW_TRY(tw_vector_norm(&part, u, &norms[0]));
    part.local_size = space->local_size - frame->split;

    return tw_vector_norm(&part, u + frame->split, &norms[1]);
}

/* y = (factor omega R x, factor R v). */
static void to_pair(const tw_phi_pair *pair, double factor, const double *u, double *y)
{
    int64_t n = pair->n;
    for (int part = 0; part < 2; part++) {
        /* Only the x-part is scaled by omega. */
        double scale = part == 0 ? factor * pair->omega : factor;
        if (pair->root)
            tw_vector_multiply(n, pair->root, u + part * n, y + part * n);
        else
            tw_vector_copy(n, u + part * n, y + part * n);
        tw_vector_scale(n, scale, y + part * n);
    }
}

/* The inverse of to_pair, in place. */
static void from_pair(const tw_phi_pair *pair, double factor, double *y)
{
    int64_t n = pair->n;
    for (int part = 0; part < 2; part++) {
        double scale = part == 0 ? factor * pair->omega : factor;
        if (pair->root) tw_vector_divide(n, pair->root, y + part * n, y + part * n);
        tw_vector_scale(n, 1.0 / scale, y + part * n);
    }
}

/* A power of two that brings the largest vector to about 1, because squares of 1e150 must not
 * overflow. 0 if all vectors are zero. */
static tw_status common_factor(const tw_space *space, const tw_phi_request *request, double *factor)
{
    double largest = 0;
    for (int k = 0; k <= request->order; k++) {
        double length = 0;
        if (request->vectors[k]) TW_TRY(tw_vector_norm(space, request->vectors[k], &length));
        largest = fmax(largest, length);
    }
    *factor = largest > 0 && isfinite(largest) ? ldexp(1.0, -ilogb(largest)) : 0;

    return isfinite(largest) ? TW_OK : TW_NOT_FINITE;
}

/* ---- the frequency that scales x against v ---- */

/* Entries in [-1, 1) that differ from one index to the next: every mode has a share, the same on
 * every machine. */
static void rough_vector(int64_t n, double *x)
{
    for (int64_t i = 0; i < n; i++) {
        uint64_t z = (uint64_t)i * 0x9E3779B97F4A7C15u + 0xD1B54A32D192ED03u;
        z = (z ^ (z >> 32)) * 0xBF58476D1CE4E5B9u;
        x[i] = (double)(z >> 11) * 0x1p-52 - 1.0;
    }
}

/* 1 / longest time asked for: the frequency of an operator that has none. */
static double slowest_frequency(const tw_phi_request *request)
{
    double longest = 0;
    for (int i = 0; i < request->node_count; i++)
        longest = fmax(longest, fabs(request->nodes[i] * request->time));
    return longest > 0 && isfinite(1 / longest) ? 1 / longest : 1;
}

/* omega = sqrt(lambda_max) from the operator's bound, or from a few steps of the power method with
 * A = M^-1 K. */
static tw_status find_frequency(tw_phi_pair *pair, const tw_phi_request *request, double *omega)
{
    *omega = sqrt(fmax(pair->op->eigenvalue_max, 0));
    if (*omega > 0) return TW_OK;

    /* A rough estimate suffices: omega only makes both parts weigh alike. */
    const tw_operator *K = &pair->op->stiffness;
    tw_matrix_pencil pencil = {
        .stiffness = K->apply, .context = K->context, .mass = tw_mass_metric_of(pair->op)};
    tw_power_estimate estimate;
    rough_vector(pair->n, pair->scratch[0]);
    tw_status status =
        tw_power_method(&pencil, POWER_STEPS, pair->scratch[0], pair->scratch[1], &estimate);
    pair->products += estimate.products;
    if (status) return status;
    if (!isfinite(estimate.last)) return TW_NOT_FINITE;

    /* An operator that is zero has no frequency of its own. */
    *omega = estimate.largest > 0 ? sqrt(estimate.largest) : slowest_frequency(request);

    return TW_OK;
}

/* ---- evaluation ---- */

/* Calls the engine with what is left of the budget, and with the frame of the pair. */
static tw_status call_in_frame(tw_phi_workspace *workspace, const tw_phi_engine_table *engine,
                               tw_phi_pair *pair, const tw_phi_request *request,
                               tw_phi_statistics *statistics, tw_error *error)
{
    int64_t budget = workspace->options.max_products;
    if (budget <= pair->products)
        return tw_fail(error, TW_BUDGET_EXHAUSTED, "the budget allows no product");

    /* The frame tells the engine how to measure. It is set during the call only. */
    tw_operator J = tw_phi_pair_operator(pair);
    workspace->frame = &pair->frame;
    workspace->options.max_products = budget - pair->products;
    tw_status status = engine->first_order(workspace, &J, request, statistics, error);
    workspace->options.max_products = budget;
    workspace->frame = NULL;

    return status;
}

/* One evaluation in one inner product. The outputs are in (x, v) only on success. */
static tw_status evaluate_in(tw_phi_workspace *workspace, const tw_phi_engine_table *engine,
                             tw_phi_pair *pair, const tw_phi_request *request,
                             tw_phi_statistics *statistics, tw_error *error)
{
    /* Zero vectors have zero outputs. */
    const pair_memory *memory = workspace->pair_memory;
    tw_operator J = tw_phi_pair_operator(pair);
    double factor = 0;
    tw_status status = common_factor(&J.space, request, &factor);
    if (status) return tw_fail(error, status, "the vectors of the request overflow");
    if (factor == 0) {
        for (int i = 0; i < request->node_count; i++)
            tw_vector_fill(2 * pair->n, 0.0, request->outputs[i]);
        return TW_OK;
    }

    /* The vectors and references in the coordinates of the pair. */
    const double *vectors[MAX_VECTORS] = {NULL};
    for (int k = 0; k <= request->order; k++) {
        if (!request->vectors[k]) continue;
        double *copy = memory->vectors + 2 * pair->n * k;
        to_pair(pair, factor, request->vectors[k], copy);
        vectors[k] = copy;
    }
    tw_phi_request inner = *request;
    inner.vectors = vectors;
    inner.reference[0] *= factor * pair->omega;
    inner.reference[1] *= factor;

    /* Only a result is carried back. */
    status = call_in_frame(workspace, engine, pair, &inner, statistics, error);
    if (status == TW_OK || status == TW_ILL_CONDITIONED)
        for (int i = 0; i < request->node_count; i++) from_pair(pair, factor, request->outputs[i]);

    return status;
}

static bool orthogonalises_incompletely(tw_phi_engine engine)
{
    return engine == TW_PHI_KIOPS || engine == TW_PHI_PHIPM_IOM2 ||
           engine == TW_PHI_PHIPM_SIMUL_IOM2;
}

static bool orthogonalises(tw_phi_engine engine)
{
    return engine == TW_PHI_PHIPM || orthogonalises_incompletely(engine);
}

/* The inner product in which the engine works. Engines that do not orthogonalise have none: for
 * them only the scaling matters. A stiffness that is not symmetric has no energy. */
static tw_status choose_inner_product(const tw_phi_workspace *workspace, const tw_second_order *op,
                                      tw_phi_inner_product *inner, tw_phi_statistics *statistics,
                                      tw_error *error)
{
    *inner = TW_INNER_SCALED;
    if (orthogonalises(statistics->engine)) *inner = workspace->options.inner_product;

    /* Not every engine and operator allows what was asked for. */
    if (*inner == TW_INNER_EUCLIDEAN && orthogonalises_incompletely(statistics->engine))
        return tw_fail(error, TW_UNSUPPORTED,
                       "incomplete orthogonalisation of raw (x, v) is not safe");
    if (*inner == TW_INNER_ENERGY && op->stiffness.symmetry != TW_SYMMETRIC) {
        *inner = TW_INNER_SCALED;
        statistics->fell_back = true;
    }

    return TW_OK;
}

tw_status tw_phi_pair_evaluate(tw_phi_workspace *workspace, const tw_phi_engine_table *engine,
                               const tw_second_order *op, const tw_phi_request *request,
                               tw_phi_statistics *statistics, tw_error *error)
{
    const pair_memory *memory = workspace->pair_memory;
    if (!memory)
        return tw_fail(error, TW_UNSUPPORTED, "the workspace was made for first-order operators");
    tw_phi_inner_product inner;
    TW_TRY(choose_inner_product(workspace, op, &inner, statistics, error));

    /* Raw coordinates have omega = 1. */
    tw_phi_pair pair;
    tw_phi_pair_bind(&pair, op, inner, memory->root, memory->scratch);
    double omega = 1;
    tw_status status = TW_OK;
    if (inner != TW_INNER_EUCLIDEAN) status = find_frequency(&pair, request, &omega);
    if (status) return tw_fail(error, status, "the product with K failed");
    pair.omega = omega;
    pair.frame.exchange = FREQUENCY_MARGIN * omega;
    status = evaluate_in(workspace, engine, &pair, request, statistics, error);

    /* If the energy proves to be no inner product, then the scaled coordinates take its place. */
    if (status == TW_NOT_POSITIVE_DEFINITE && inner == TW_INNER_ENERGY) {
        int64_t products = pair.products;
        tw_phi_pair_bind(&pair, op, TW_INNER_SCALED, memory->root, memory->scratch);
        pair.omega = omega;
        pair.dissipates = false; /* K is not positive definite */
        pair.products = products;
        *statistics = (tw_phi_statistics){.engine = statistics->engine, .fell_back = true};
        status = evaluate_in(workspace, engine, &pair, request, statistics, error);
    }
    statistics->products = pair.products;

    return status;
}
