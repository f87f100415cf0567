/* auto: calls the engine whose predicted cost (cost_model.c) is least, and the next one if
 * that fails. */
#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/start_vector.h"
#include "linalg/largest_eigenvalue.h"
#include "linalg/vector.h"
#include "phi/spectral/spectral.h"

enum {
    CANDIDATES = TW_PHI_ENGINE_COUNT,
    BOUND_STEPS = 6, /* products with K that look for the largest eigenvalue */
    TINY_ORDER = 12, /* order up to which K is decomposed sooner than its spectrum is estimated */
    MAX_STARTS = 2 * (TW_PHI_MAX_ORDER + 1)
};

/* Engines in ascending order of their predicted cost. */
typedef struct choice {
    tw_phi_engine engine;
    double cost;
} choice;

typedef struct choices {
    int count;
    choice list[CANDIDATES];
} choices;

/* Inserts the engine where its cost belongs. */
static void consider(choices *c, tw_phi_engine engine, const tw_phi_setting *setting,
                     double tolerance)
{
    tw_phi_statistics expected;
    tw_phi_predict(engine, setting, tolerance, &expected);
    double cost = tw_phi_cost(&expected, setting);

    /* Dearer engines move up by one. */
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

/* About |M^-1 K| by a few steps of the power method. */
static tw_status power_norm(tw_phi_workspace *workspace, const tw_second_order *pair, double *norm,
                            int64_t *products)
{
    const tw_operator *op = &pair->stiffness;
    tw_matrix_pencil pencil = {
        .stiffness = op->apply, .context = op->context, .mass = tw_mass_metric_of(pair)};

    /* The start alternates and varies, so that it has a share in every mode. */
    int64_t n = op->space.local_size;
    double *x = workspace->memory[TW_PHI_AUTO];
    for (int64_t i = 0; i < n; i++) x[i] = (i % 2 == 0 ? 1 : -1) * (1.0 + 1e-3 * (double)(i % 97));

    /* The power method approaches the norm from below, which is good enough for a ranking. */
    tw_power_estimate estimate;
    tw_status status = tw_power_method(&pencil, BOUND_STEPS, x, x + n, &estimate);
    *products += estimate.products;
    *norm = estimate.largest;

    return status == TW_OK && !isfinite(*norm) ? TW_NOT_FINITE : status;
}

/* Where the spectrum of a first-order operator lies, from A x and A^2 x with a random x:
 *     |A^2 x| / |A x|        is somewhat below |A|,
 *     x^T A^2 x / |A x|^2    is 1 if A is symmetric and -1 if it is skew.
 * A vector of the power method would not do, because it has lost all but the stiffest modes. Sets
 * the reach, and what it consists of if that matters. */
static tw_status find_spectrum(tw_phi_workspace *workspace, const tw_operator *op, double span,
                               tw_phi_setting *setting, int64_t *products)
{
    const double margin = 1.5;    /* of the norm: |A| = 8, ratio 5.3 for the five-point stencil */
    const double worthwhile = 20; /* reach below which all engines need about the same */
    setting->reach = span * op->norm;
    if (op->norm > 0 && setting->reach < worthwhile) return TW_OK;

    /* Two vectors suffice, because the start vector can be made again: x and A x, then A^2 x. */
    int64_t n = op->space.local_size;
    double *image = workspace->memory[TW_PHI_AUTO];
    double *x = image + n;
    double first = 0;
    double second = 0;
    double product = 0;
    tw_fill_start_vector(n, x);
    TW_TRY(op->apply(op->context, 1, x, image));
    TW_TRY(tw_vector_dot(&op->space, image, image, &first));
    TW_TRY(op->apply(op->context, 1, image, x));
    TW_TRY(tw_vector_dot(&op->space, x, x, &second));
    tw_fill_start_vector(n, image);
    TW_TRY(tw_vector_dot(&op->space, image, x, &product));
    *products += 2;
    if (!isfinite(second)) return TW_NOT_FINITE;
    if (!(first > 0)) return TW_OK;

    /* The caller's norm counts if there is one. */
    if (!(op->norm > 0)) setting->reach = span * margin * sqrt(second / first);
    if (setting->reach < worthwhile) return TW_OK;

    double share = fmax(-1, fmin(1, product / first));
    setting->decay = setting->reach * sqrt((1 + share) / 2);
    setting->rotation = setting->reach * sqrt((1 - share) / 2);

    return TW_OK;
}

/* Whether the engines for functions of A apply. */
static bool is_spectral(const tw_second_order *op)
{
    return op->stiffness.symmetry == TW_SYMMETRIC && !op->damping;
}

/* Fills op->eigenvalue_max if it is not known. Chebyshev then need not look for it again. */
static tw_status find_bound(tw_phi_workspace *workspace, tw_second_order *op, int64_t *products)
{
    if (op->eigenvalue_max > 0) return TW_OK;
    if (!is_spectral(op)) return power_norm(workspace, op, &op->eigenvalue_max, products);

    /* The larger of the two ends counts. */
    tw_spectral_interval interval = {0, 0};
    tw_status status = tw_spectral_find_interval(tw_spectral_memory_of(workspace), op, BOUND_STEPS,
                                                 NULL, &interval, products);
    op->eigenvalue_max = fmax(interval.high, -interval.low);

    return status;
}

/* The largest sqrt(b^T K b / b^T M b) over the start vectors tells which frequencies they hold. It
 * costs a product each. */
static tw_status find_roughness(tw_phi_workspace *workspace, const tw_second_order *op, int count,
                                const double *const *starts, double *omega, int64_t *products)
{
    const tw_mass_metric metric = tw_mass_metric_of(op);
    int64_t n = metric.space.local_size;
    double *image = workspace->memory[TW_PHI_AUTO];
    double *unit = image + n;
    *omega = 0;
    for (int j = 0; j < count; j++) {
        /* unit = b/|b|_M */
        double norm = 0;
        TW_TRY(tw_mass_norm(&metric, starts[j], image, &norm));
        if (!(norm > 0)) continue;
        tw_normalised_copy(n, norm, starts[j], unit);

        /* omega^2 = unit^T K unit */
        double square = 0;
        TW_TRY(op->stiffness.apply(op->stiffness.context, 1, unit, image));
        TW_TRY(tw_vector_dot(&metric.space, unit, image, &square));
        ++*products;
        *omega = fmax(*omega, sqrt(fmax(square, 0)));
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
        /* The dense engine has no memory for a large problem. */
        if (engines[i] == TW_PHI_DENSE && !workspace->memory[TW_PHI_DENSE]) continue;
        consider(&found, engines[i], setting, workspace->options.tolerance);
    }

    return found;
}

/* What is asked of a pair. */
typedef struct pair_question {
    tw_second_order op; /* with a bound of its spectrum */
    double time;
    int starts;
    int outputs;
    const double *vectors[MAX_STARTS]; /* the start vectors */
    bool keeps;                        /* the basis is to serve again: chebyshev has none */
} pair_question;

/* Whether the engine can answer the question at all. */
static bool is_candidate(const tw_phi_workspace *workspace, const pair_question *q,
                         tw_phi_engine engine)
{
    switch (engine) {
    case TW_PHI_DENSE:
        return workspace->memory[TW_PHI_DENSE] != NULL;
    case TW_PHI_SHIFT_INVERT:
        return q->op.shifted != NULL;
    case TW_PHI_CHEBYSHEV:
        return !q->keeps;
    default:
        return true;
    }
}

/* The candidates for a pair whose roughest start vector has this frequency. */
static choices rank_with(const tw_phi_workspace *workspace, const pair_question *q,
                         double roughness)
{
    static const tw_phi_engine general[] = {TW_PHI_DENSE, TW_PHI_KIOPS, TW_PHI_PHIPM_SIMUL_IOM2,
                                            TW_PHI_PHIPM, TW_PHI_LEJA};
    static const tw_phi_engine symmetric[] = {TW_PHI_DENSE, TW_PHI_LANCZOS, TW_PHI_SHIFT_INVERT,
                                              TW_PHI_CHEBYSHEV};
    const tw_phi_engine *engines = general;
    size_t count = sizeof general / sizeof general[0];
    if (is_spectral(&q->op)) {
        engines = symmetric;
        count = sizeof symmetric / sizeof symmetric[0];
    }

    choices found = {0};
    for (size_t i = 0; i < count; i++) {
        if (!is_candidate(workspace, q, engines[i])) continue;
        tw_phi_setting setting = tw_phi_setting_second(&q->op, engines[i], q->starts, q->outputs);
        setting.reach = q->time * sqrt(q->op.eigenvalue_max);
        setting.roughness = q->time * roughness;
        consider(&found, engines[i], &setting, workspace->options.tolerance);
    }

    return found;
}

/* The engines for a pair, cheapest first. The cost of shift-invert depends on the roughness of the
 * start vectors. If it is cheapest for smooth ones, then the roughness is measured. */
static tw_status rank_pair(tw_phi_workspace *workspace, const pair_question *q, choices *found,
                           int64_t *products)
{
    *found = rank_with(workspace, q, 0);
    if (found->list[0].engine != TW_PHI_SHIFT_INVERT) return TW_OK;

    /* Rank again with the roughness that the start vectors have. */
    double roughness = 0;
    TW_TRY(find_roughness(workspace, &q->op, q->starts, q->vectors, &roughness, products));
    *found = rank_with(workspace, q, roughness);

    return TW_OK;
}

/* ---- trying ---- */

/* One call, whichever of the three it is: first and phi, pair and phi, or pair and spectral. */
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
    if (call->first) {
        if (!engine->first_order) return TW_UNSUPPORTED;
        return engine->first_order(workspace, call->first, call->phi, statistics, error);
    }
    if (call->phi) {
        if (!engine->second_order) return TW_UNSUPPORTED;
        return engine->second_order(workspace, call->pair, call->phi, statistics, error);
    }
    if (!engine->spectral) return TW_UNSUPPORTED;

    return engine->spectral(workspace, call->pair, call->spectral, statistics, error);
}

/* Whether another engine may succeed where one returned this status. */
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

/* The best of the answers that rounding alone limited. */
typedef struct rounded_answer {
    int place;        /* of its engine in the ranking; -1: there is none */
    double error;     /* as the engine estimated it */
    int64_t products; /* that it took */
} rounded_answer;

/* The products that the next engine may take. If there is an answer that rounding limits, then
 * enough is kept back to repeat it, and a better one may cost a few times as much. */
static int64_t allowance(const tw_phi_workspace *workspace, const tw_phi_statistics *total,
                         const rounded_answer *best)
{
    const int64_t times = 10; /* as much as the answer at hand took; rarely does it pay at all */
    const int64_t least = 100;
    int64_t left = workspace->options.max_products - total->products;
    if (best->place < 0) return left;

    int64_t worth = times * best->products + least;
    left -= best->products;

    return left < worth ? left : worth;
}

/* Calls one engine with that many products, and adds its work to *total. */
static tw_status try_one(tw_phi_workspace *workspace, tw_phi_engine engine, const auto_call *call,
                         int64_t allowed, tw_phi_statistics *total, tw_phi_statistics *statistics,
                         tw_error *error)
{
    /* At least one product is allowed, so that the engine itself reports an exhausted budget. */
    int64_t budget = workspace->options.max_products;
    *statistics = (tw_phi_statistics){.engine = engine};
    workspace->options.max_products = allowed > 1 ? allowed : 1;
    tw_status status =
        call_engine(workspace, call, tw_phi_engine_table_of(engine), statistics, error);
    workspace->options.max_products = budget;

    total->products += statistics->products;
    total->solves += statistics->solves;
    total->factorisations += statistics->factorisations;

    return status;
}

/* Calls one engine after the other. The statistics count what the ranking and the failed engines
 * did too. If none succeeds, then the best of the answers that rounding alone limited is computed
 * again. */
static tw_status try_in_order(tw_phi_workspace *workspace, const choices *found,
                              const auto_call *call, int64_t products,
                              tw_phi_statistics *statistics, tw_error *error)
{
    tw_phi_statistics total = {.products = products};
    rounded_answer best = {.place = -1};
    tw_status status = TW_UNSUPPORTED;
    int last = -1;
    while (last + 1 < found->count && may_go_on(status)) {
        /* An answer that could not be computed again is given at once. */
        int64_t allowed = allowance(workspace, &total, &best);
        if (best.place >= 0 && allowed < 1) break;
        last++;
        status =
            try_one(workspace, found->list[last].engine, call, allowed, &total, statistics, error);

        /* It is the best so far if no other one is better. */
        if (status != TW_ILL_CONDITIONED) continue;
        if (best.place >= 0 && best.error <= statistics->estimated_error) continue;
        best = (rounded_answer){last, statistics->estimated_error, statistics->products};
    }

    /* No engine succeeded, but one came as near as rounding allows. */
    if (may_go_on(status) && best.place >= 0 && best.place != last) {
        int64_t left = workspace->options.max_products - total.products;
        status = try_one(workspace, found->list[best.place].engine, call, left, &total, statistics,
                         error);
    }

    statistics->products = total.products;
    statistics->solves = total.solves;
    statistics->factorisations = total.factorisations;

    return status;
}

/* ---- the three calls ---- */

static tw_status auto_first_order(tw_phi_workspace *workspace, const tw_operator *op,
                                  const tw_phi_request *request, tw_phi_statistics *statistics,
                                  tw_error *error)
{
    /* Rank by |t| |A|, and by what it consists of. */
    int64_t products = 0;
    tw_phi_setting setting = tw_phi_setting_first(op, request->node_count);
    tw_status status = find_spectrum(workspace, op, span_of(request), &setting, &products);
    if (status) return tw_fail_plain(error, status);

    choices found = rank_first(workspace, &setting);
    auto_call call = {.first = op, .phi = request};

    return try_in_order(workspace, &found, &call, products, statistics, error);
}

/* Whether dense is the engine without a question. */
static bool is_tiny(const tw_phi_workspace *workspace, const tw_second_order *op)
{
    return workspace->memory[TW_PHI_DENSE] && is_spectral(op) &&
           op->stiffness.space.local_size <= TINY_ORDER;
}

/* Moves the dense engine before all others. */
static void put_dense_first(choices *c)
{
    int at = 0;
    while (at < c->count && c->list[at].engine != TW_PHI_DENSE) at++;
    if (at == c->count) return;

    choice dense = c->list[at];
    for (; at > 0; at--) c->list[at] = c->list[at - 1];
    c->list[0] = dense;
}

/* Finds the bound of the spectrum, ranks the engines and calls them. */
static tw_status answer_pair(tw_phi_workspace *workspace, pair_question *q, auto_call *call,
                             tw_phi_statistics *statistics, tw_error *error)
{
    int64_t products = 0;
    choices found;
    tw_status status = TW_OK;
    if (is_tiny(workspace, &q->op)) {
        found = rank_with(workspace, q, 0);
        put_dense_first(&found);
    } else {
        status = find_bound(workspace, &q->op, &products);
        if (status == TW_OK) status = rank_pair(workspace, q, &found, &products);
    }
    if (status) return tw_fail_plain(error, status);

    call->pair = &q->op;

    return try_in_order(workspace, &found, call, products, statistics, error);
}

static tw_status auto_second_order(tw_phi_workspace *workspace, const tw_second_order *op,
                                   const tw_phi_request *request, tw_phi_statistics *statistics,
                                   tw_error *error)
{
    int64_t n = op->stiffness.space.local_size;
    pair_question q = {.op = *op, .time = span_of(request), .outputs = 2 * request->node_count};

    /* The x- and v-parts are start vectors. */
    for (int k = 0; k <= request->order; k++) {
        if (!request->vectors[k]) continue;
        q.vectors[q.starts++] = request->vectors[k];
        q.vectors[q.starts++] = request->vectors[k] + n;
    }
    auto_call call = {.phi = request};

    return answer_pair(workspace, &q, &call, statistics, error);
}

static tw_status auto_spectral(tw_phi_workspace *workspace, const tw_second_order *op,
                               const tw_spectral_request *request, tw_phi_statistics *statistics,
                               tw_error *error)
{
    pair_question q = {.op = *op,
                       .time = fabs(request->time),
                       .outputs = request->output_count,
                       .keeps = !request->single_use};
    for (int j = 0; j < request->start_count; j++)
        if (request->starts[j]) q.vectors[q.starts++] = request->starts[j];
    auto_call call = {.spectral = request};

    return answer_pair(workspace, &q, &call, statistics, error);
}

/* ---- memory ---- */

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
