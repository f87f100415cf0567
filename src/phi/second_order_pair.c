/* A second-order request carried into the coordinates of second_order_pair.h, evaluated there, and carried back. */
#include "phi/second_order_pair.h"

#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/vector.h"

enum { MAX_VECTORS = TW_PHI_MAX_ORDER + 1 };

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

tw_status tw_phi_block_norms(const tw_phi_workspace *workspace, const tw_space *space,
                             const double *u, double norms[2])
{
    const tw_phi_frame *frame = workspace->frame;
    norms[1] = 0;
    if (!frame) return tw_vector_norm(space, u, &norms[0]);
    if (frame->norms) return frame->norms(frame->context, u, norms);
    tw_space block = *space;
    block.local_size = frame->split;
    tw_status status = tw_vector_norm(&block, u, &norms[0]);
    if (status) return status;
    block.local_size = space->local_size - frame->split;
    return tw_vector_norm(&block, u + frame->split, &norms[1]);
}

/* y = (factor omega R x, factor R v). */
static void to_pair(const tw_phi_pair *pair, double factor, const double *u, double *y)
{
    int64_t n = pair->n;
    for (int part = 0; part < 2; part++) {
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

/* A power of two that brings the largest vector to about 1: squares of 1e150 must not overflow. 0 if all are zero. */
static tw_status common_factor(const tw_space *space, const tw_phi_request *request, double *factor)
{
    double largest = 0;
    for (int k = 0; k <= request->order; k++) {
        double length = 0;
        if (request->vectors[k]) {
            tw_status status = tw_vector_norm(space, request->vectors[k], &length);
            if (status) return status;
        }
        largest = fmax(largest, length);
    }
    *factor = largest > 0 && isfinite(largest) ? ldexp(1.0, -ilogb(largest)) : 0;
    return isfinite(largest) ? TW_OK : TW_NOT_FINITE;
}

/* 1 / longest time asked for: the frequency of an operator that has none. */
static double slowest_frequency(const tw_phi_request *request)
{
    double longest = 0;
    for (int i = 0; i < request->node_count; i++)
        longest = fmax(longest, fabs(request->nodes[i] * request->time));
    return longest > 0 && isfinite(1 / longest) ? 1 / longest : 1;
}

/* One evaluation in one inner product; outputs are the caller's, in (x, v), only on success. */
static tw_status evaluate_in(tw_phi_workspace *workspace, const tw_phi_engine_table *engine,
                             tw_phi_pair *pair, const tw_phi_request *request,
                             tw_phi_statistics *statistics, tw_error *error)
{
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
    int64_t budget = workspace->options.max_products;
    if (budget <= pair->products)
        return tw_fail(error, TW_BUDGET_EXHAUSTED, "the budget allows no product");
    workspace->frame = &pair->frame;
    workspace->options.max_products = budget - pair->products;
    status = engine->first_order(workspace, &J, &inner, statistics, error);
    workspace->options.max_products = budget;
    workspace->frame = NULL;
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

tw_status tw_phi_pair_evaluate(tw_phi_workspace *workspace, const tw_phi_engine_table *engine,
                               const tw_second_order *op, const tw_phi_request *request,
                               tw_phi_statistics *statistics, tw_error *error)
{
    const pair_memory *memory = workspace->pair_memory;
    if (!memory)
        return tw_fail(error, TW_UNSUPPORTED, "the workspace was made for first-order operators");
    /* The other engines have no inner product: for them only the scaling matters. */
    tw_phi_inner_product inner =
        orthogonalises(statistics->engine) ? workspace->options.inner_product : TW_INNER_SCALED;
    if (inner == TW_INNER_EUCLIDEAN && orthogonalises_incompletely(statistics->engine))
        return tw_fail(error, TW_UNSUPPORTED,
                       "incomplete orthogonalisation of raw (x, v) is not safe");
    if (inner == TW_INNER_ENERGY && op->stiffness.symmetry != TW_SYMMETRIC) {
        inner = TW_INNER_SCALED;
        statistics->fell_back = true;
    }
    tw_phi_pair pair;
    tw_phi_pair_bind(&pair, op, inner, memory->root, memory->scratch);
    double omega = 1;
    tw_status status = TW_OK;
    if (inner != TW_INNER_EUCLIDEAN)
        status = tw_phi_pair_frequency(&pair, slowest_frequency(request), &omega);
    if (status) return tw_fail(error, status, "the product with K failed");
    pair.omega = omega;
    status = evaluate_in(workspace, engine, &pair, request, statistics, error);
    if (status == TW_NOT_POSITIVE_DEFINITE && inner == TW_INNER_ENERGY) {
        int64_t products = pair.products;
        tw_phi_pair_bind(&pair, op, TW_INNER_SCALED, memory->root, memory->scratch);
        pair.omega = omega;
        pair.products = products;
        *statistics = (tw_phi_statistics){.engine = statistics->engine, .fell_back = true};
        status = evaluate_in(workspace, engine, &pair, request, statistics, error);
    }
    statistics->products = pair.products;
    return status;
}
