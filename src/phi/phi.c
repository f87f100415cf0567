/* The dispatcher: checks what comes in, hands it to the engine, checks what goes out. */
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/vector.h"
#include "phi/cost_model.h"
#include "phi/phi_internal.h"
#include "phi/scalar_functions.h"

static const tw_phi_engine_table *const engines[TW_PHI_ENGINE_COUNT] = {
    [TW_PHI_AUTO] = &tw_phi_auto,
    [TW_PHI_DENSE] = &tw_phi_dense,
    [TW_PHI_PHIPM] = &tw_phi_krylov,
    [TW_PHI_PHIPM_IOM2] = &tw_phi_krylov,
    [TW_PHI_PHIPM_SIMUL_IOM2] = &tw_phi_krylov,
    [TW_PHI_KIOPS] = &tw_phi_krylov,
    [TW_PHI_EXPMV] = &tw_phi_expmv,
    [TW_PHI_LEJA] = &tw_phi_leja,
    [TW_PHI_LANCZOS] = &tw_phi_lanczos,
    [TW_PHI_CHEBYSHEV] = &tw_phi_chebyshev,
    [TW_PHI_SHIFT_INVERT] = &tw_phi_shift_invert,
};

const tw_phi_engine_table *tw_phi_engine_table_of(tw_phi_engine engine)
{
    return engines[engine];
}

const char *tw_phi_engine_name(tw_phi_engine engine)
{
#define NAME_CASE(name, text)                                                                      \
    case name:                                                                                     \
        return text;
    switch (engine) {
        TW_PHI_ENGINE_LIST(NAME_CASE)
    case TW_PHI_ENGINE_COUNT:
        break;
    }
#undef NAME_CASE
    return "?";
}

tw_phi_engine tw_phi_engine_from_name(const char *name)
{
    for (int i = 0; name && i < TW_PHI_ENGINE_COUNT; i++)
        if (strcmp(name, tw_phi_engine_name((tw_phi_engine)i)) == 0) return (tw_phi_engine)i;
    return TW_PHI_ENGINE_COUNT;
}

tw_phi_options tw_phi_options_default(void)
{
    return (tw_phi_options){.engine = TW_PHI_AUTO, .tolerance = 1e-8, .max_products = 1000000};
}

tw_phi_limits tw_phi_limits_default(void)
{
    return (tw_phi_limits){
        .second_order = true, .slots = 1, .basis_bytes = 2e9, .options = tw_phi_options_default()};
}

static tw_status check_options(const tw_phi_options *options, tw_error *error)
{
    if ((int)options->engine < 0 || options->engine >= TW_PHI_ENGINE_COUNT)
        return tw_fail(error, TW_INVALID_ARGUMENT, "phi engine %d does not exist",
                       (int)options->engine);
    if (!(options->tolerance >= 1e-15 && options->tolerance < 1))
        return tw_fail(error, TW_INVALID_ARGUMENT, "phi tolerance %g is not in [1e-15, 1)",
                       options->tolerance);
    if (options->max_dimension < 0 || options->max_products < 1 || !(options->pole >= 0) ||
        isinf(options->pole))
        return tw_fail(error, TW_INVALID_ARGUMENT, "a phi option is out of range");
    return TW_OK;
}

static bool reserves(const tw_phi_limits *limits, tw_phi_engine engine)
{
    return limits->options.engine == TW_PHI_AUTO || limits->options.engine == engine;
}

/* So that sizes of a few hundred vectors fit into 64 bits. */
static const int64_t largest_size = INT64_C(1) << 48;

tw_status tw_phi_workspace_create(const tw_phi_limits *limits, tw_phi_workspace **out,
                                  tw_error *error)
{
    if (!limits || !out)
        return tw_fail(error, TW_INVALID_ARGUMENT, "limits and out must not be NULL");
    *out = NULL;
    tw_status status = check_options(&limits->options, error);
    if (status) return status;
    if (limits->size < 1 || limits->size > largest_size || limits->slots < 1 ||
        limits->slots > TW_PHI_MAX_SLOTS || limits->max_dimension < 0 ||
        !(limits->basis_bytes >= 0))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "size %lld, slots %d, max_dimension %d or basis_bytes is out of range",
                       (long long)limits->size, limits->slots, limits->max_dimension);
    tw_phi_workspace *workspace = TW_NEW(tw_phi_workspace);
    if (!workspace) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    workspace->limits = *limits;
    workspace->options = limits->options;
    workspace->vector_size = limits->second_order ? 2 * limits->size : limits->size;
    for (int i = 0; i < TW_PHI_MAX_SLOTS; i++) workspace->slot_engine[i] = TW_PHI_ENGINE_COUNT;
    for (int i = 0; i < TW_PHI_ENGINE_COUNT && status == TW_OK; i++)
        if (engines[i]->reserve && reserves(limits, (tw_phi_engine)i))
            status = engines[i]->reserve(workspace, error);
    if (status) {
        tw_phi_workspace_free(workspace);
        return status;
    }
    *out = workspace;
    return TW_OK;
}

void tw_phi_workspace_free(tw_phi_workspace *workspace)
{
    if (!workspace) return;
    for (int i = 0; i < TW_PHI_ENGINE_COUNT; i++)
        if (engines[i]->release) engines[i]->release(workspace);
    tw_release(workspace);
}

tw_status tw_phi_workspace_set_options(tw_phi_workspace *workspace, const tw_phi_options *options)
{
    if (!workspace || !options) return TW_INVALID_ARGUMENT;
    tw_status status = check_options(options, NULL);
    if (status) return status;
    if (engines[options->engine]->reserve && !reserves(&workspace->limits, options->engine))
        return TW_UNSUPPORTED;
    if (options->engine == TW_PHI_DENSE && !workspace->memory[TW_PHI_DENSE])
        return TW_UNSUPPORTED; /* too large */
    workspace->options = *options;
    return TW_OK;
}

/* ---- what comes in ---- */

static tw_status check_mass(const tw_second_order *op, tw_error *error)
{
    if (op->mass && (op->lumped_mass || !op->mass->apply || !op->mass->solve))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "a mass operator needs apply and solve, and excludes lumped masses");
    for (int64_t i = 0; op->lumped_mass && i < op->stiffness.space.local_size; i++)
        if (!(op->lumped_mass[i] > 0) || isinf(op->lumped_mass[i]))
            return tw_fail(error,
                           isfinite(op->lumped_mass[i]) ? TW_NOT_POSITIVE_DEFINITE : TW_NOT_FINITE,
                           "mass %lld is %g", (long long)i, op->lumped_mass[i]);
    return TW_OK;
}

static tw_status check_second_order(const tw_phi_workspace *workspace, const tw_second_order *op,
                                    tw_error *error)
{
    int64_t size = op->stiffness.space.local_size;
    if (!workspace->limits.second_order || size != workspace->limits.size)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "a second-order operator of %lld unknowns, a workspace for %lld%s",
                       (long long)size, (long long)workspace->limits.size,
                       workspace->limits.second_order ? "" : " of first order");
    if (op->damping && (!op->damping->apply || op->damping->space.local_size != size))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "the damping operator has no apply, or another size");
    if (!isfinite(op->rayleigh_mass) || !isfinite(op->rayleigh_stiffness))
        return tw_fail(error, TW_NOT_FINITE, "a Rayleigh coefficient is not finite");
    return check_mass(op, error);
}

static tw_status check_first_order(const tw_phi_workspace *workspace, const tw_operator *op,
                                   tw_error *error)
{
    int64_t size = op->space.local_size;
    if (workspace->limits.second_order || size != workspace->limits.size)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "a first-order operator of %lld entries, a workspace for %lld%s",
                       (long long)size, (long long)workspace->limits.size,
                       workspace->limits.second_order ? " unknowns of second order" : "");
    return TW_OK;
}

static bool bad_reference(double reference)
{
    return !(reference >= 0) || isinf(reference);
}

static tw_status check_request(int64_t size, const tw_phi_request *request, tw_error *error)
{
    if (request->node_count < 1 || request->node_count > TW_PHI_MAX_NODES || request->order < 0 ||
        request->order > TW_PHI_MAX_ORDER || !request->nodes || !request->vectors ||
        !request->outputs)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "node_count %d or order %d is out of range, or a pointer is NULL",
                       request->node_count, request->order);
    for (int i = 0; i < request->node_count; i++)
        if (!request->outputs[i])
            return tw_fail(error, TW_INVALID_ARGUMENT, "output %d is NULL", i);
    if (bad_reference(request->reference[0]) || bad_reference(request->reference[1]))
        return tw_fail(error, TW_NOT_FINITE, "a reference is negative, NaN or infinite");
    for (int i = 0; i < request->node_count; i++)
        if (!isfinite(request->nodes[i] * request->time))
            return tw_fail(error, TW_NOT_FINITE, "node %d times time is NaN or infinite", i);
    for (int k = 0; k <= request->order; k++)
        if (request->vectors[k] && !tw_vector_is_finite(size, request->vectors[k]))
            return tw_fail(error, TW_NOT_FINITE, "vector %d has a value that is NaN or infinite",
                           k);
    return TW_OK;
}

/* ---- what goes out ---- */

static void zero_outputs(int count, double *const *outputs, int64_t size)
{
    for (int i = 0; i < count; i++) tw_vector_fill(size, 0.0, outputs[i]);
}

/* Nothing but finite values leaves: anything else becomes zeros and a status. */
static tw_status check_outputs(tw_status status, int count, double *const *outputs, int64_t size,
                               tw_error *error)
{
    for (int i = 0; (status == TW_OK || status == TW_ILL_CONDITIONED) && i < count; i++)
        if (!tw_vector_is_finite(size, outputs[i]))
            status = tw_fail(error, TW_NOT_FINITE, "output %d overflowed", i);
    if (status != TW_OK && status != TW_ILL_CONDITIONED) zero_outputs(count, outputs, size);
    return status;
}

/* The status an engine returned, with a text that names the engine. */
static tw_status name_engine(tw_status status, tw_phi_engine engine, tw_error *error)
{
    if (!error || status == TW_OK) return status;
    const char *name = tw_phi_engine_name(engine);
    char text[TW_ERROR_TEXT_SIZE];
    bool told = error->status == status && error->text[0];
    if (told && strstr(error->text, name)) return status;
    memcpy(text, error->text, sizeof text);
    text[sizeof text - 1] = 0;
    return tw_fail(error, status, "phi engine %s: %.400s", name,
                   told ? text : tw_status_text(status));
}

static tw_status unsupported(const char *what, tw_error *error)
{
    return tw_fail(error, TW_UNSUPPORTED, "does not apply to %s", what);
}

/* The cost of what was done, in the units of the model, the same for every engine. */
static void find_cost(tw_phi_statistics *statistics, const tw_operator *first,
                      const tw_second_order *second, int starts, int outputs)
{
    tw_phi_setting setting =
        first ? tw_phi_setting_first(first, outputs)
              : tw_phi_setting_second(second, statistics->engine, starts, outputs);
    statistics->cost = tw_phi_cost(statistics, &setting);
}

/* ---- phi ---- */

/* A request without its trivial parts: nodes that are not zero, vectors that are not zero. */
typedef struct reduced_request {
    tw_phi_request request;
    double nodes[TW_PHI_MAX_NODES];
    double *outputs[TW_PHI_MAX_NODES];
    const double *vectors[TW_PHI_MAX_ORDER + 1];
    bool zero; /* all vectors are */
} reduced_request;

static bool is_zero(int64_t size, const double *x)
{
    for (int64_t i = 0; x && i < size; i++)
        if (x[i] != 0) return false;
    return true;
}

/* w = sum_k v_k / k!, what phi gives at t = 0. */
static void evaluate_at_zero(const reduced_request *reduced, int64_t size, double *w)
{
    tw_vector_fill(size, 0.0, w);
    for (int k = reduced->request.order; k >= 0; k--)
        if (reduced->vectors[k])
            tw_vector_axpy(size, tw_inverse_factorial[k], reduced->vectors[k], w);
}

/* Keeps what an engine must work on, and settles the rest. */
static void reduce_request(const tw_phi_request *request, int64_t size, reduced_request *reduced)
{
    reduced->request = *request;
    reduced->request.nodes = reduced->nodes;
    reduced->request.outputs = reduced->outputs;
    reduced->request.vectors = reduced->vectors;
    reduced->zero = true;
    for (int k = 0; k <= request->order; k++) {
        reduced->vectors[k] = is_zero(size, request->vectors[k]) ? NULL : request->vectors[k];
        if (reduced->vectors[k]) reduced->zero = false;
    }
    while (reduced->request.order > 0 && !reduced->vectors[reduced->request.order])
        reduced->request.order--;
    int kept = 0;
    for (int i = 0; i < request->node_count; i++) {
        if (reduced->zero || request->nodes[i] * request->time == 0) {
            evaluate_at_zero(reduced, size, request->outputs[i]);
        } else {
            reduced->nodes[kept] = request->nodes[i];
            reduced->outputs[kept++] = request->outputs[i];
        }
    }
    reduced->request.node_count = kept;
}

/* Exactly one of the two operators. */
typedef struct phi_call {
    tw_phi_workspace *workspace;
    const tw_operator *first;
    const tw_second_order *second;
    const tw_phi_request *request;
} phi_call;

static tw_status run_engine(const phi_call *call, const tw_phi_request *request,
                            tw_phi_statistics *statistics, tw_error *error)
{
    const tw_phi_engine_table *engine = engines[statistics->engine];
    if (call->first)
        return engine->first_order
                   ? engine->first_order(call->workspace, call->first, request, statistics, error)
                   : unsupported("first-order operators", error);
    return engine->second_order
               ? engine->second_order(call->workspace, call->second, request, statistics, error)
               : unsupported("second-order operators", error);
}

static tw_status evaluate(const phi_call *call, tw_phi_statistics *statistics, tw_error *error)
{
    tw_phi_workspace *workspace = call->workspace;
    int64_t size = workspace->vector_size;
    tw_status status = call->first ? check_first_order(workspace, call->first, error)
                                   : check_second_order(workspace, call->second, error);
    if (status == TW_OK) status = check_request(size, call->request, error);
    if (status) { /* a request that is whole but for its values gets its zeros */
        if (status != TW_INVALID_ARGUMENT &&
            check_request(0, call->request, NULL) != TW_INVALID_ARGUMENT)
            zero_outputs(call->request->node_count, call->request->outputs, size);
        return status;
    }
    reduced_request reduced;
    reduce_request(call->request, size, &reduced);
    if (reduced.request.node_count ==
        0) { /* nothing is left to do; by the smallest engine, if nobody was chosen */
        if (statistics->engine == TW_PHI_AUTO) statistics->engine = TW_PHI_DENSE;
        return check_outputs(TW_OK, call->request->node_count, call->request->outputs, size, error);
    }
    status = run_engine(call, &reduced.request, statistics, error);
    int given = 0;
    for (int k = 0; k <= reduced.request.order; k++) given += reduced.request.vectors[k] != NULL;
    find_cost(statistics, call->first, call->second, 2 * given,
              (call->second ? 2 : 1) * reduced.request.node_count);
    status = check_outputs(status, call->request->node_count, call->request->outputs, size, error);
    return name_engine(status, statistics->engine, error);
}

static tw_status evaluate_and_report(const phi_call *call, tw_phi_statistics *statistics,
                                     tw_error *error)
{
    tw_phi_statistics local = {.engine = call->workspace->options.engine};
    tw_error text = {0};
    tw_status status = evaluate(call, &local, &text);
    if (statistics) *statistics = local;
    if (status && error) *error = text;
    return status;
}

tw_status tw_phi_evaluate(tw_phi_workspace *workspace, const tw_operator *op,
                          const tw_phi_request *request, tw_phi_statistics *statistics,
                          tw_error *error)
{
    if (!workspace || !op || !op->apply || !request)
        return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    phi_call call = {.workspace = workspace, .first = op, .request = request};
    return evaluate_and_report(&call, statistics, error);
}

tw_status tw_phi_evaluate_second_order(tw_phi_workspace *workspace, const tw_second_order *op,
                                       const tw_phi_request *request, tw_phi_statistics *statistics,
                                       tw_error *error)
{
    if (!workspace || !op || !op->stiffness.apply || !request)
        return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    phi_call call = {.workspace = workspace, .second = op, .request = request};
    return evaluate_and_report(&call, statistics, error);
}

/* ---- functions of the spectrum ---- */

static tw_status check_spectral(const tw_phi_workspace *workspace,
                                const tw_spectral_request *request, tw_error *error)
{
    if (!workspace->limits.second_order)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "the workspace was made for first-order operators");
    if (request->start_count < 1 || request->start_count > TW_MAX_BLOCK ||
        request->output_count < 1 || request->output_count > 2 * TW_PHI_MAX_NODES ||
        !request->outputs || !request->functions)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "start_count %d or output_count %d is out of range", request->start_count,
                       request->output_count);
    for (int i = 0; i < request->output_count; i++)
        if (!request->outputs[i])
            return tw_fail(error, TW_INVALID_ARGUMENT, "output %d is NULL", i);
    if (request->slot < 0 || request->slot >= workspace->limits.slots)
        return tw_fail(error, TW_INVALID_ARGUMENT, "slot %d is not among the workspace's %d",
                       request->slot, workspace->limits.slots);
    if (!isfinite(request->time)) return tw_fail(error, TW_NOT_FINITE, "time is not finite");
    for (int i = 0; request->reference && i < request->output_count; i++)
        if (bad_reference(request->reference[i]))
            return tw_fail(error, TW_NOT_FINITE, "reference %d is negative, NaN or infinite", i);
    return TW_OK;
}

static tw_status check_starts(const tw_spectral_request *request, int64_t size, tw_error *error)
{
    for (int j = 0; j < request->start_count; j++)
        if (request->starts[j] && !tw_vector_is_finite(size, request->starts[j]))
            return tw_fail(error, TW_NOT_FINITE,
                           "start vector %d has a value that is NaN or infinite", j);
    return TW_OK;
}

/* The rest of both calls: outputs, texts and statistics. */
static tw_status finish_spectral(tw_phi_workspace *workspace, const tw_spectral_request *request,
                                 tw_status status, const tw_phi_statistics *local,
                                 tw_phi_statistics *statistics, tw_error *text, tw_error *error)
{
    if (statistics) *statistics = *local;
    status = check_outputs(status, request->output_count, request->outputs, workspace->limits.size,
                           text);
    status = name_engine(status, local->engine, text);
    if (status && error) *error = *text;
    return status;
}

tw_status tw_spectral_apply(tw_phi_workspace *workspace, const tw_second_order *op,
                            const tw_spectral_request *request, tw_phi_statistics *statistics,
                            tw_error *error)
{
    if (!workspace || !op || !op->stiffness.apply || !request || !request->starts)
        return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    tw_status status = check_spectral(workspace, request, error);
    if (status == TW_INVALID_ARGUMENT) return status;
    tw_phi_statistics local = {.engine = workspace->options.engine};
    tw_error text = {0};
    if (status == TW_OK) status = check_second_order(workspace, op, &text);
    if (status == TW_INVALID_ARGUMENT) {
        if (error) *error = text;
        return status;
    }
    if (status == TW_OK) status = check_starts(request, workspace->limits.size, &text);
    const tw_phi_engine_table *engine = engines[local.engine];
    workspace->slot_engine[request->slot] =
        TW_PHI_ENGINE_COUNT; /* until the engine keeps a basis there */
    if (status == TW_OK) {
        status = engine->spectral ? engine->spectral(workspace, op, request, &local, &text)
                                  : unsupported("functions of a symmetric operator", &text);
        find_cost(&local, NULL, op, request->start_count, request->output_count);
    }
    return finish_spectral(workspace, request, status, &local, statistics, &text, error);
}

tw_status tw_spectral_reuse(tw_phi_workspace *workspace, const tw_spectral_request *request,
                            tw_phi_statistics *statistics, tw_error *error)
{
    if (!workspace || !request) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    tw_status status = check_spectral(workspace, request, error);
    if (status) return status;
    tw_phi_statistics local = {.engine = workspace->slot_engine[request->slot]};
    tw_error text = {0};
    if (local.engine == TW_PHI_ENGINE_COUNT || !engines[local.engine]->reuse) {
        local.engine = workspace->options.engine;
        status = tw_fail(&text, TW_UNSUPPORTED, "slot %d keeps no basis", request->slot);
    } else {
        status = engines[local.engine]->reuse(workspace, request, &local, &text);
    }
    return finish_spectral(workspace, request, status, &local, statistics, &text, error);
}
