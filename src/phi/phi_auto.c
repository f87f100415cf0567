/* auto: the engine whose predicted cost (cost_model.h) is least; the next one where that fails. */
#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/vector.h"
#include "phi/cost_model.h"
#include "phi/spectral/spectral.h"

enum { CANDIDATES = TW_PHI_ENGINE_COUNT, BOUND_STEPS = 6, MAX_STARTS = 2 * (TW_PHI_MAX_ORDER + 1) };

typedef struct choice {
    tw_phi_engine engine;
    double cost;
} choice;

typedef struct choices {
    int count;
    choice list[CANDIDATES];
} choices;

/* Inserts in ascending order of cost. */
static void consider(choices *c, tw_phi_engine engine, const tw_phi_setting *setting,
                     double tolerance)
{
    tw_phi_statistics expected;
    tw_phi_predict(engine, setting, tolerance, &expected);
    double cost = tw_phi_cost(&expected, setting);
    int at = c->count++;
    for (; at > 0 && c->list[at - 1].cost > cost; at--) c->list[at] = c->list[at - 1];
    c->list[at] = (choice){engine, cost};
}

/* ---- what the operator is like ---- */

/* |t| times the largest node. */
static double span_of(const tw_phi_request *request)
{
    double largest = 0;
    for (int i = 0; i < request->node_count; i++) largest = fmax(largest, fabs(request->nodes[i]));
    return fabs(request->time) * largest;
}

/* About |A|, A = Op or M^-1 Op, by a few steps of the power method from a vector that has a share of every mode. */
static tw_status power_norm(tw_phi_workspace *workspace, const tw_operator *op,
                            const tw_second_order *pair, double *norm, int64_t *products)
{
    int64_t n = op->space.local_size;
    double *x = workspace->memory[TW_PHI_AUTO], *y = x + n, length = 0;
    for (int64_t i = 0; i < n; i++) x[i] = (i % 2 == 0 ? 1 : -1) * (1.0 + 1e-3 * (double)(i % 97));
    tw_status status = tw_vector_norm(&op->space, x, &length);
    *norm = 0;
    for (int step = 0; step < BOUND_STEPS && status == TW_OK && length > 0 && isfinite(length);
         step++) {
        tw_vector_scale(n, 1 / length, x);
        status = op->apply(op->context, 1, x, y);
        ++*products;
        if (status == TW_OK && pair && pair->mass)
            status = pair->mass->solve(pair->mass->context, 1, y, x);
        else if (pair && pair->lumped_mass)
            tw_vector_divide(n, pair->lumped_mass, y, x);
        else
            tw_vector_copy(n, y, x);
        if (status == TW_OK) status = tw_vector_norm(&op->space, x, &length);
        *norm = fmax(*norm, length);
    }
    return status == TW_OK && !isfinite(*norm) ? TW_NOT_FINITE : status;
}

/* Whether the engines for functions of A apply. */
static bool is_spectral(const tw_second_order *op)
{
    return op->stiffness.symmetry == TW_SYMMETRIC && !op->damping;
}

/* Fills op->eigenvalue_max if it is not known: chebyshev then need not look for it again. */
static tw_status find_bound(tw_phi_workspace *workspace, tw_second_order *op, int64_t *products)
{
    if (op->eigenvalue_max > 0) return TW_OK;
    if (!is_spectral(op))
        return power_norm(workspace, &op->stiffness, op, &op->eigenvalue_max, products);
    tw_spectral_interval interval = {0, 0};
    tw_status status = tw_spectral_find_interval(tw_spectral_memory_of(workspace), op, BOUND_STEPS,
                                                 NULL, &interval, products);
    op->eigenvalue_max = fmax(interval.high, -interval.low);
    return status;
}

/* Largest sqrt(b^T K b / b^T M b) over the start vectors: which frequencies they hold. A product each. */
static tw_status find_roughness(tw_phi_workspace *workspace, const tw_second_order *op, int count,
                                const double *const *starts, double *omega, int64_t *products)
{
    const tw_mass_metric metric = tw_mass_metric_of(op);
    int64_t n = metric.space.local_size;
    double *image = workspace->memory[TW_PHI_AUTO], *unit = image + n;
    *omega = 0;
    for (int j = 0; j < count; j++) {
        double norm = 0, energy = 0;
        tw_status status = tw_mass_norm(&metric, starts[j], image, &norm);
        if (status) return status;
        if (!(norm > 0)) continue;
        double half = 1 / sqrt(norm);
        tw_vector_copy(n, starts[j], unit);
        tw_vector_scale(n, half, unit);
        tw_vector_scale(n, half, unit);
        status = op->stiffness.apply(op->stiffness.context, 1, unit, image);
        if (status == TW_OK) status = tw_vector_dot(&metric.space, unit, image, &energy);
        if (status) return status;
        ++*products;
        *omega = fmax(*omega, sqrt(fmax(energy, 0)));
    }
    return isfinite(*omega) ? TW_OK : TW_NOT_FINITE;
}

/* ---- ranking ---- */

static choices rank_first(const tw_phi_workspace *workspace, const tw_phi_setting *setting)
{
    static const tw_phi_engine engines[] = {TW_PHI_DENSE, TW_PHI_KIOPS, TW_PHI_PHIPM_SIMUL_IOM2,
                                            TW_PHI_LEJA,  TW_PHI_PHIPM, TW_PHI_EXPMV};
    choices found = {0};
    for (size_t i = 0; i < sizeof engines / sizeof engines[0]; i++) {
        if (engines[i] == TW_PHI_DENSE && !workspace->memory[TW_PHI_DENSE]) continue;
        consider(&found, engines[i], setting, workspace->options.tolerance);
    }
    return found;
}

/* What is asked of a pair. */
typedef struct pair_question {
    const tw_second_order *op;
    double time;
    int starts, outputs;
    const double *vectors[MAX_STARTS]; /* the start vectors */
    bool keeps;                        /* the basis is to serve again: chebyshev has none */
} pair_question;

static choices rank_with(const tw_phi_workspace *workspace, const pair_question *q,
                         double roughness)
{
    static const tw_phi_engine general[] = {TW_PHI_DENSE, TW_PHI_KIOPS, TW_PHI_PHIPM_SIMUL_IOM2,
                                            TW_PHI_PHIPM, TW_PHI_LEJA};
    static const tw_phi_engine symmetric[] = {TW_PHI_DENSE, TW_PHI_LANCZOS, TW_PHI_SHIFT_INVERT,
                                              TW_PHI_CHEBYSHEV};
    choices found = {0};
    bool spectral = is_spectral(q->op);
    int count = (int)(spectral ? sizeof symmetric / sizeof symmetric[0]
                               : sizeof general / sizeof general[0]);
    for (int i = 0; i < count; i++) {
        tw_phi_engine engine = spectral ? symmetric[i] : general[i];
        if (engine == TW_PHI_DENSE && !workspace->memory[TW_PHI_DENSE]) continue;
        if (engine == TW_PHI_SHIFT_INVERT && !q->op->shifted) continue;
        if (engine == TW_PHI_CHEBYSHEV && q->keeps) continue;
        tw_phi_setting setting = tw_phi_setting_second(q->op, engine, q->starts, q->outputs);
        setting.reach = q->time * sqrt(q->op->eigenvalue_max);
        setting.roughness = q->time * roughness;
        consider(&found, engine, &setting, workspace->options.tolerance);
    }
    return found;
}

/* The engines for a pair, cheapest first. Shift-invert depends on how rough the start vectors are; if it would win with
 * smooth ones, that is found out. */
static tw_status rank_pair(tw_phi_workspace *workspace, const pair_question *q, choices *found,
                           int64_t *products)
{
    *found = rank_with(workspace, q, 0);
    if (found->list[0].engine != TW_PHI_SHIFT_INVERT) return TW_OK;
    double roughness = 0;
    tw_status status =
        find_roughness(workspace, q->op, q->starts, q->vectors, &roughness, products);
    if (status == TW_OK) *found = rank_with(workspace, q, roughness);
    return status;
}

/* ---- trying ---- */

/* One call, whichever of the three it is: the other two are NULL. */
typedef struct auto_call {
    const tw_operator *first;
    const tw_second_order *pair;
    const tw_phi_request *phi;
    const tw_spectral_request *spectral;
} auto_call;

static tw_status call_engine(tw_phi_workspace *workspace, const auto_call *call,
                             const tw_phi_engine_table *engine, tw_phi_statistics *statistics,
                             tw_error *error)
{
    if (call->first)
        return engine->first_order
                   ? engine->first_order(workspace, call->first, call->phi, statistics, error)
                   : TW_UNSUPPORTED;
    if (call->phi)
        return engine->second_order
                   ? engine->second_order(workspace, call->pair, call->phi, statistics, error)
                   : TW_UNSUPPORTED;
    return engine->spectral
               ? engine->spectral(workspace, call->pair, call->spectral, statistics, error)
               : TW_UNSUPPORTED;
}

/* Whether another engine may do better than one that answered so. */
static bool may_go_on(tw_status status)
{
    switch (status) {
    case TW_UNSUPPORTED:
    case TW_NOT_CONVERGED:
    case TW_NOT_POSITIVE_DEFINITE:
    case TW_ILL_CONDITIONED:
    case TW_NOT_FINITE:
    case TW_BUDGET_EXHAUSTED:
        return true;
    default:
        return false;
    }
}

/* One engine after the other; what the failed ones and the ranking did is counted too. If none succeeds, the answer of
 * the first that was limited by rounding alone is the best there is, and is made again. */
static tw_status try_in_order(tw_phi_workspace *workspace, const choices *found,
                              const auto_call *call, int64_t products,
                              tw_phi_statistics *statistics, tw_error *error)
{
    int64_t budget = workspace->options.max_products, solves = 0, factorisations = 0;
    int rounded = -1;
    tw_status status = TW_UNSUPPORTED;
    for (int i = 0; i <= found->count && may_go_on(status); i++) {
        if (i == found->count && (rounded < 0 || status == TW_ILL_CONDITIONED)) break;
        tw_phi_engine name = found->list[i < found->count ? i : rounded].engine;
        const tw_phi_engine_table *engine = tw_phi_engine_table_of(name);
        *statistics = (tw_phi_statistics){.engine = name};
        workspace->options.max_products = budget - products > 1 ? budget - products : 1;
        status = call_engine(workspace, call, engine, statistics, error);
        if (status == TW_ILL_CONDITIONED && rounded < 0) rounded = i;
        products += statistics->products;
        solves += statistics->solves;
        factorisations += statistics->factorisations;
    }
    workspace->options.max_products = budget;
    statistics->products = products;
    statistics->solves = solves;
    statistics->factorisations = factorisations;
    return status;
}

static tw_status auto_first_order(tw_phi_workspace *workspace, const tw_operator *op,
                                  const tw_phi_request *request, tw_phi_statistics *statistics,
                                  tw_error *error)
{
    double norm = op->norm;
    int64_t products = 0;
    tw_status status = norm > 0 ? TW_OK : power_norm(workspace, op, NULL, &norm, &products);
    if (status) return tw_fail_plain(error, status);
    tw_phi_setting setting = tw_phi_setting_first(op, request->node_count);
    setting.reach = span_of(request) * norm;
    choices found = rank_first(workspace, &setting);
    auto_call call = {.first = op, .phi = request};
    return try_in_order(workspace, &found, &call, products, statistics, error);
}

static tw_status auto_second_order(tw_phi_workspace *workspace, const tw_second_order *op,
                                   const tw_phi_request *request, tw_phi_statistics *statistics,
                                   tw_error *error)
{
    tw_second_order bounded = *op;
    int64_t products = 0, n = op->stiffness.space.local_size;
    choices found;
    pair_question q = {
        .op = &bounded, .time = span_of(request), .outputs = 2 * request->node_count};
    for (int k = 0; k <= request->order; k++) {
        if (!request->vectors[k]) continue;
        q.vectors[q.starts++] = request->vectors[k];
        q.vectors[q.starts++] = request->vectors[k] + n;
    }
    tw_status status = find_bound(workspace, &bounded, &products);
    if (status == TW_OK) status = rank_pair(workspace, &q, &found, &products);
    if (status) return tw_fail_plain(error, status);
    auto_call call = {.pair = &bounded, .phi = request};
    return try_in_order(workspace, &found, &call, products, statistics, error);
}

static tw_status auto_spectral(tw_phi_workspace *workspace, const tw_second_order *op,
                               const tw_spectral_request *request, tw_phi_statistics *statistics,
                               tw_error *error)
{
    tw_second_order bounded = *op;
    int64_t products = 0;
    choices found;
    pair_question q = {.op = &bounded,
                       .time = fabs(request->time),
                       .outputs = request->output_count,
                       .keeps = !request->single_use};
    for (int j = 0; j < request->start_count; j++)
        if (request->starts[j]) q.vectors[q.starts++] = request->starts[j];
    tw_status status = find_bound(workspace, &bounded, &products);
    if (status == TW_OK) status = rank_pair(workspace, &q, &found, &products);
    if (status) return tw_fail_plain(error, status);
    auto_call call = {.pair = &bounded, .spectral = request};
    return try_in_order(workspace, &found, &call, products, statistics, error);
}

static tw_status auto_reserve(tw_phi_workspace *workspace, tw_error *error)
{
    workspace->memory[TW_PHI_AUTO] = TW_NEW_ARRAY(2 * workspace->vector_size, double);
    return workspace->memory[TW_PHI_AUTO] ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);
}

static void auto_release(tw_phi_workspace *workspace)
{
    tw_release(workspace->memory[TW_PHI_AUTO]);
    workspace->memory[TW_PHI_AUTO] = NULL;
}

const tw_phi_engine_table tw_phi_auto = {.reserve = auto_reserve,
                                         .release = auto_release,
                                         .first_order = auto_first_order,
                                         .second_order = auto_second_order,
                                         .spectral = auto_spectral};
