/* The dispatcher: it checks what comes in, hands it to the engine, and checks what goes out. */
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/blas_session.h"
#include "linalg/vector.h"
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

/* ---- the workspace ---- */

/* A workspace reserves memory for one engine, or for all if it is to choose. */
static bool reserves(const tw_phi_limits *limits, tw_phi_engine engine)
{
    return limits->options.engine == TW_PHI_AUTO || limits->options.engine == engine;
}

/* Lets every engine that may be called reserve its memory. */
static tw_status reserve_engines(tw_phi_workspace *workspace, tw_error *error)
{
    for (int i = 0; i < TW_PHI_ENGINE_COUNT; i++)
        if (engines[i]->reserve && reserves(&workspace->limits, (tw_phi_engine)i))
            TW_TRY(engines[i]->reserve(workspace, error));
    return TW_OK;
}

tw_status tw_phi_workspace_create(const tw_phi_limits *limits, tw_phi_workspace **out,
                                  tw_error *error)
{
    if (!limits || !out)
        return tw_fail(error, TW_INVALID_ARGUMENT, "limits and out must not be NULL");
    *out = NULL;
    TW_TRY(tw_phi_check_options(&limits->options, error));
    TW_TRY(tw_phi_check_limits(limits, error));
    TW_TRY(tw_blas_reserve(error));

    tw_phi_workspace *workspace = TW_NEW(tw_phi_workspace);
    if (!workspace) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    workspace->limits = *limits;
    workspace->options = limits->options;
    workspace->vector_size = limits->second_order ? 2 * limits->size : limits->size;
    for (int i = 0; i < TW_PHI_MAX_SLOTS; i++) workspace->slot_engine[i] = TW_PHI_ENGINE_COUNT;

    /* Everything is allocated now; evaluations allocate nothing. */
    tw_status status = reserve_engines(workspace, error);
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
    TW_TRY(tw_phi_check_options(options, NULL));
    if (engines[options->engine]->reserve && !reserves(&workspace->limits, options->engine))
        return TW_UNSUPPORTED;

    /* The dense engine reserves nothing for a large problem. */
    if (options->engine == TW_PHI_DENSE && !workspace->memory[TW_PHI_DENSE]) return TW_UNSUPPORTED;
    workspace->options = *options;

    return TW_OK;
}

/* ---- what every call reports ---- */

/* The status that an engine returned, with a text that names the engine. */
static tw_status name_engine(tw_status status, tw_phi_engine engine, tw_error *error)
{
    if (status == TW_OK) return status;
    const char *name = tw_phi_engine_name(engine);
    bool told = error->status == status && error->text[0];
    if (told && strstr(error->text, name)) return status;

    /* The engine's own text follows its name. */
    char text[TW_ERROR_TEXT_SIZE];
    memcpy(text, error->text, sizeof text);
    text[sizeof text - 1] = 0;

    return tw_fail(error, status, "phi engine %s: %.400s", name,
                   told ? text : tw_status_text(status));
}

static tw_status unsupported(const char *what, tw_error *error)
{
    return tw_fail(error, TW_UNSUPPORTED, "does not apply to %s", what);
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

/* w = sum_k v_k / k!, the value of phi at t = 0. */
static void evaluate_at_zero(const reduced_request *reduced, int64_t size, double *w)
{
    tw_vector_fill(size, 0.0, w);
    for (int k = reduced->request.order; k >= 0; k--)
        if (reduced->vectors[k])
            tw_vector_axpy(size, tw_inverse_factorial[k], reduced->vectors[k], w);
}

/* Keeps what an engine must work on, and computes the outputs that need no engine. */
static void reduce_request(const tw_phi_request *request, int64_t size, reduced_request *reduced)
{
    reduced->request = *request;
    reduced->request.nodes = reduced->nodes;
    reduced->request.outputs = reduced->outputs;
    reduced->request.vectors = reduced->vectors;

    /* Zero vectors become NULL, and the order falls to the last that is not. */
    reduced->zero = true;
    for (int k = 0; k <= request->order; k++) {
        reduced->vectors[k] = is_zero(size, request->vectors[k]) ? NULL : request->vectors[k];
        if (reduced->vectors[k]) reduced->zero = false;
    }
    while (reduced->request.order > 0 && !reduced->vectors[reduced->request.order])
        reduced->request.order--;

    /* Nodes at t = 0 are done at once. */
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

/* A call with exactly one of the two operators. */
typedef struct phi_call {
    tw_phi_workspace *workspace;
    const tw_operator *first;
    const tw_second_order *second;
    const tw_phi_request *request;
} phi_call;

static tw_status check_call(const phi_call *call, tw_error *error)
{
    if (call->first)
        TW_TRY(tw_phi_check_first_order(call->workspace, call->first, error));
    else
        TW_TRY(tw_phi_check_second_order(call->workspace, call->second, error));
    return tw_phi_check_request(call->workspace->vector_size, call->request, error);
}

static tw_status run_engine(const phi_call *call, const tw_phi_request *request,
                            tw_phi_statistics *statistics, tw_error *error)
{
    const tw_phi_engine_table *engine = engines[statistics->engine];
    if (call->first) {
        if (!engine->first_order) return unsupported("first-order operators", error);
        return engine->first_order(call->workspace, call->first, request, statistics, error);
    }
    if (!engine->second_order) return unsupported("second-order operators", error);

    return engine->second_order(call->workspace, call->second, request, statistics, error);
}

/* The cost of what was done, in the units of the model, the same for every engine. */
static double cost_of(const phi_call *call, const tw_phi_request *request,
                      const tw_phi_statistics *statistics)
{
    /* The start vectors are the x- and v-parts. */
    int starts = 0;
    for (int k = 0; k <= request->order; k++)
        if (request->vectors[k]) starts += 2;

    tw_phi_setting setting;
    if (call->first)
        setting = tw_phi_setting_first(call->first, request->node_count);
    else
        setting = tw_phi_setting_second(call->second, statistics->engine, starts,
                                        2 * request->node_count);

    return tw_phi_cost(statistics, &setting);
}

static tw_status evaluate(const phi_call *call, tw_phi_statistics *statistics, tw_error *error)
{
    int64_t size = call->workspace->vector_size;
    int count = call->request->node_count;
    double *const *outputs = call->request->outputs;

    /* If only values are wrong, then the outputs can be set to zero. */
    tw_status status = check_call(call, error);
    if (status) {
        if (status != TW_INVALID_ARGUMENT &&
            tw_phi_check_request(0, call->request, NULL) != TW_INVALID_ARGUMENT)
            tw_phi_check_outputs(status, count, outputs, size, NULL);
        return status;
    }

    /* If nothing is left to do, then auto reports the smallest engine. */
    reduced_request reduced;
    reduce_request(call->request, size, &reduced);
    if (reduced.request.node_count == 0) {
        if (statistics->engine == TW_PHI_AUTO) statistics->engine = TW_PHI_DENSE;
        return tw_phi_check_outputs(TW_OK, count, outputs, size, error);
    }

    /* The engine works; its outputs are checked and its work is counted. */
    status = run_engine(call, &reduced.request, statistics, error);
    statistics->cost = cost_of(call, &reduced.request, statistics);
    status = tw_phi_check_outputs(status, count, outputs, size, error);

    return name_engine(status, statistics->engine, error);
}

static tw_status evaluate_and_report(const phi_call *call, tw_phi_statistics *statistics,
                                     tw_error *error)
{
    /* The caller may want neither statistics nor a text. */
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

/* What an engine answered. */
typedef struct engine_answer {
    tw_status status;
    tw_phi_statistics statistics;
    tw_error error;
} engine_answer;

/* The end of both calls: outputs, texts and statistics. */
static tw_status deliver(const tw_phi_workspace *workspace, const tw_spectral_request *request,
                         engine_answer *answer, tw_phi_statistics *statistics, tw_error *error)
{
    if (statistics) *statistics = answer->statistics;
    tw_status status = tw_phi_check_outputs(answer->status, request->output_count, request->outputs,
                                            workspace->limits.size, &answer->error);
    status = name_engine(status, answer->statistics.engine, &answer->error);

    /* The caller may want no text. */
    if (status && error) *error = answer->error;

    return status;
}

/* Calls the engine's `spectral`, with the cost of what was done. */
static tw_status run_spectral(tw_phi_workspace *workspace, const tw_second_order *op,
                              const tw_spectral_request *request, engine_answer *answer)
{
    tw_phi_statistics *statistics = &answer->statistics;
    const tw_phi_engine_table *engine = engines[statistics->engine];
    tw_status status;
    if (engine->spectral)
        status = engine->spectral(workspace, op, request, statistics, &answer->error);
    else
        status = unsupported("functions of a symmetric operator", &answer->error);

    /* The cost of what was done, in the units of the model. */
    tw_phi_setting setting =
        tw_phi_setting_second(op, statistics->engine, request->start_count, request->output_count);
    statistics->cost = tw_phi_cost(statistics, &setting);

    return status;
}

tw_status tw_spectral_apply(tw_phi_workspace *workspace, const tw_second_order *op,
                            const tw_spectral_request *request, tw_phi_statistics *statistics,
                            tw_error *error)
{
    if (!workspace || !op || !op->stiffness.apply || !request || !request->starts)
        return tw_fail_plain(error, TW_INVALID_ARGUMENT);

    /* Wrong arguments leave everything as it is; wrong values give zero outputs. */
    engine_answer answer = {.statistics = {.engine = workspace->options.engine}};
    answer.status = tw_phi_check_spectral(workspace, request, &answer.error);
    if (answer.status == TW_OK)
        answer.status = tw_phi_check_second_order(workspace, op, &answer.error);
    if (answer.status == TW_INVALID_ARGUMENT) {
        if (error) *error = answer.error;
        return answer.status;
    }
    if (answer.status == TW_OK)
        answer.status = tw_phi_check_starts(workspace->limits.size, request, &answer.error);

    /* The slot is empty until the engine keeps a basis there. */
    workspace->slot_engine[request->slot] = TW_PHI_ENGINE_COUNT;
    if (answer.status == TW_OK) answer.status = run_spectral(workspace, op, request, &answer);

    return deliver(workspace, request, &answer, statistics, error);
}

tw_status tw_spectral_reuse(tw_phi_workspace *workspace, const tw_spectral_request *request,
                            tw_phi_statistics *statistics, tw_error *error)
{
    if (!workspace || !request) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    TW_TRY(tw_phi_check_spectral(workspace, request, error));

    /* The engine that built the slot's basis answers. */
    tw_phi_engine engine = workspace->slot_engine[request->slot];
    engine_answer answer = {.statistics = {.engine = engine}};
    if (engine == TW_PHI_ENGINE_COUNT || !engines[engine]->reuse) {
        answer.statistics.engine = workspace->options.engine;
        answer.status =
            tw_fail(&answer.error, TW_UNSUPPORTED, "slot %d keeps no basis", request->slot);
    } else {
        answer.status =
            engines[engine]->reuse(workspace, request, &answer.statistics, &answer.error);
    }

    return deliver(workspace, request, &answer, statistics, error);
}
