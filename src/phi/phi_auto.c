/* auto: the engine whose predicted cost (cost_model.h) is least; the next one where that fails. */
#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/vector.h"
#include "phi/cost_model.h"
#include "phi/phi_internal.h"

enum { CANDIDATES = TW_PHI_ENGINE_COUNT, POWER_STEPS = 6 };

typedef struct choice {
    tw_phi_engine engine;
    double cost;
} choice;

typedef struct choices {
    int count;
    choice list[CANDIDATES];
} choices;

/* Inserts in ascending order of cost. */
static void consider(choices *c, tw_phi_engine engine, const tw_phi_setting *setting, double reach, double tolerance)
{
    tw_phi_statistics expected;
    tw_phi_predict(engine, setting, reach, tolerance, &expected);
    double cost = tw_phi_cost(&expected, setting);
    int at = c->count++;
    for (; at > 0 && c->list[at - 1].cost > cost; at--) c->list[at] = c->list[at - 1];
    c->list[at] = (choice){engine, cost};
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

/* |t| times the largest node. */
static double span_of(const tw_phi_request *request)
{
    double largest = 0;
    for (int i = 0; i < request->node_count; i++) largest = fmax(largest, fabs(request->nodes[i]));
    return fabs(request->time) * largest;
}

/* About |A|, A = Op or M^-1 Op, by a few steps of the power method from a vector that has a share of every mode. */
static tw_status power_norm(tw_phi_workspace *workspace, const tw_operator *op, const tw_second_order *pair,
                            double *norm, int64_t *products)
{
    int64_t n = op->space.local_size;
    double *x = workspace->memory[TW_PHI_AUTO], *y = x + n, length = 0;
    for (int64_t i = 0; i < n; i++) x[i] = (i % 2 == 0 ? 1 : -1) * (1.0 + 1e-3 * (double)(i % 97));
    tw_status status = tw_vector_norm(&op->space, x, &length);
    *norm = 0;
    for (int step = 0; step < POWER_STEPS && status == TW_OK && length > 0 && isfinite(length); step++) {
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

/* omega_max: the bound given, or an estimate whose products are counted. */
static tw_status frequency_of(tw_phi_workspace *workspace, const tw_second_order *op, double *omega, int64_t *products)
{
    double largest = op->eigenvalue_max;
    tw_status status = largest > 0 ? TW_OK : power_norm(workspace, &op->stiffness, op, &largest, products);
    *omega = sqrt(largest);
    return status;
}

static int vectors_given(const tw_phi_request *request)
{
    int count = 0;
    for (int k = 0; k <= request->order; k++) count += request->vectors[k] != NULL;
    return count;
}

static tw_status auto_first_order(tw_phi_workspace *workspace, const tw_operator *op, const tw_phi_request *request,
                                  tw_phi_statistics *statistics, tw_error *error)
{
    static const tw_phi_engine engines[] = {TW_PHI_KIOPS, TW_PHI_PHIPM_SIMUL_IOM2, TW_PHI_LEJA, TW_PHI_PHIPM,
                                            TW_PHI_EXPMV};
    choices found = {0};
    double norm = 0;
    int64_t products = 0, budget = workspace->options.max_products;
    tw_status status = op->norm > 0 ? TW_OK : power_norm(workspace, op, NULL, &norm, &products);
    if (op->norm > 0) norm = op->norm;
    if (status) return tw_fail_plain(error, status);
    tw_phi_setting setting = tw_phi_setting_first(op, request->node_count);
    double reach = span_of(request) * norm;
    if (workspace->memory[TW_PHI_DENSE]) consider(&found, TW_PHI_DENSE, &setting, reach, workspace->options.tolerance);
    for (size_t i = 0; i < sizeof engines / sizeof engines[0]; i++)
        consider(&found, engines[i], &setting, reach, workspace->options.tolerance);
    status = TW_UNSUPPORTED;
    for (int i = 0; i < found.count && may_go_on(status); i++) {
        const tw_phi_engine_table *engine = tw_phi_engine_table_of(found.list[i].engine);
        if (!engine->first_order) continue;
        *statistics = (tw_phi_statistics){.engine = found.list[i].engine};
        workspace->options.max_products = budget - products > 1 ? budget - products : 1;
        status = engine->first_order(workspace, op, request, statistics, error);
        products += statistics->products;
    }
    workspace->options.max_products = budget;
    statistics->products = products;
    return status;
}

/* The engines for a pair, cheapest first. */
static choices rank_pair(const tw_phi_workspace *workspace, const tw_second_order *op, double reach, int starts,
                         int outputs, bool keeps)
{
    choices found = {0};
    double tolerance = workspace->options.tolerance;
    bool spectral = op->stiffness.symmetry == TW_SYMMETRIC && !op->damping;
    static const tw_phi_engine general[] = {TW_PHI_KIOPS, TW_PHI_PHIPM_SIMUL_IOM2, TW_PHI_PHIPM, TW_PHI_LEJA};
    static const tw_phi_engine symmetric[] = {TW_PHI_LANCZOS, TW_PHI_SHIFT_INVERT, TW_PHI_CHEBYSHEV};
    if (workspace->memory[TW_PHI_DENSE]) {
        tw_phi_setting setting = tw_phi_setting_second(op, TW_PHI_DENSE, starts, outputs);
        consider(&found, TW_PHI_DENSE, &setting, reach, tolerance);
    }
    for (int i = 0; i < (spectral ? 3 : 4); i++) {
        tw_phi_engine engine = spectral ? symmetric[i] : general[i];
        if (engine == TW_PHI_SHIFT_INVERT && !op->shifted) continue;
        if (engine == TW_PHI_CHEBYSHEV && keeps) continue; /* its basis could not serve again */
        tw_phi_setting setting = tw_phi_setting_second(op, engine, starts, outputs);
        consider(&found, engine, &setting, reach, tolerance);
    }
    return found;
}

static tw_status auto_second_order(tw_phi_workspace *workspace, const tw_second_order *op,
                                   const tw_phi_request *request, tw_phi_statistics *statistics, tw_error *error)
{
    double omega = 0;
    int64_t products = 0, budget = workspace->options.max_products;
    tw_status status = frequency_of(workspace, op, &omega, &products);
    if (status) return tw_fail_plain(error, status);
    choices found =
        rank_pair(workspace, op, span_of(request) * omega, 2 * vectors_given(request), 2 * request->node_count, false);
    status = TW_UNSUPPORTED;
    for (int i = 0; i < found.count && may_go_on(status); i++) {
        const tw_phi_engine_table *engine = tw_phi_engine_table_of(found.list[i].engine);
        if (!engine->second_order) continue;
        *statistics = (tw_phi_statistics){.engine = found.list[i].engine};
        workspace->options.max_products = budget - products > 1 ? budget - products : 1;
        status = engine->second_order(workspace, op, request, statistics, error);
        products += statistics->products;
    }
    workspace->options.max_products = budget;
    statistics->products = products;
    return status;
}

static tw_status auto_spectral(tw_phi_workspace *workspace, const tw_second_order *op,
                               const tw_spectral_request *request, tw_phi_statistics *statistics, tw_error *error)
{
    double omega = 0;
    int64_t products = 0, budget = workspace->options.max_products;
    tw_status status = frequency_of(workspace, op, &omega, &products);
    if (status) return tw_fail_plain(error, status);
    choices found =
        rank_pair(workspace, op, fabs(request->time) * omega, request->start_count, request->output_count, true);
    status = TW_UNSUPPORTED;
    for (int i = 0; i < found.count && may_go_on(status); i++) {
        const tw_phi_engine_table *engine = tw_phi_engine_table_of(found.list[i].engine);
        if (!engine->spectral) continue;
        *statistics = (tw_phi_statistics){.engine = found.list[i].engine};
        workspace->options.max_products = budget - products > 1 ? budget - products : 1;
        status = engine->spectral(workspace, op, request, statistics, error);
        products += statistics->products;
    }
    workspace->options.max_products = budget;
    statistics->products = products;
    return status;
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
