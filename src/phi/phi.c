/* The dispatcher: checks what comes in, hands it to the engine, checks what goes out. */
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/vector.h"
#include "phi/phi_internal.h"

static const tw_phi_engine_table *const engines[TW_PHI_ENGINE_COUNT] = {
    [TW_PHI_AUTO] = &tw_phi_auto,
    [TW_PHI_DENSE] = &tw_phi_dense,
    [TW_PHI_PHIPM] = &tw_phi_phipm,
    [TW_PHI_PHIPM_IOM2] = &tw_phi_phipm_iom2,
    [TW_PHI_PHIPM_SIMUL_IOM2] = &tw_phi_phipm_simul_iom2,
    [TW_PHI_KIOPS] = &tw_phi_kiops,
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
#define NAME_CASE(name, text)                                                                                          \
    case name:                                                                                                         \
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
    return (tw_phi_limits){.second_order = true, .slots = 1, .basis_bytes = 2e9, .options = tw_phi_options_default()};
}

static tw_status check_options(const tw_phi_options *options, tw_error *error)
{
    if ((int)options->engine < 0 || options->engine >= TW_PHI_ENGINE_COUNT)
        return tw_fail(error, TW_INVALID_ARGUMENT, "phi engine %d does not exist", (int)options->engine);
    if (!(options->tolerance >= 1e-15 && options->tolerance < 1))
        return tw_fail(error, TW_INVALID_ARGUMENT, "phi tolerance %g is not in [1e-15, 1)", options->tolerance);
    if (options->max_dimension < 0 || options->max_products < 1 || !(options->pole >= 0) || isinf(options->pole))
        return tw_fail(error, TW_INVALID_ARGUMENT, "a phi option is out of range");
    return TW_OK;
}

static bool reserves(const tw_phi_limits *limits, tw_phi_engine engine)
{
    return limits->options.engine == TW_PHI_AUTO || limits->options.engine == engine;
}

tw_status tw_phi_workspace_create(const tw_phi_limits *limits, tw_phi_workspace **out, tw_error *error)
{
    if (!limits || !out) return tw_fail(error, TW_INVALID_ARGUMENT, "limits and out must not be NULL");
    *out = NULL;
    tw_status status = check_options(&limits->options, error);
    if (status) return status;
    if (limits->size < 1 || limits->slots < 1 || limits->slots > TW_PHI_MAX_SLOTS || limits->max_dimension < 0)
        return tw_fail(error, TW_INVALID_ARGUMENT, "size %lld, slots %d or max_dimension %d is out of range",
                       (long long)limits->size, limits->slots, limits->max_dimension);
    tw_phi_workspace *workspace = TW_NEW(tw_phi_workspace);
    if (!workspace) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    workspace->limits = *limits;
    workspace->options = limits->options;
    workspace->vector_size = limits->second_order ? 2 * limits->size : limits->size;
    for (int i = 0; i < TW_PHI_MAX_SLOTS; i++) workspace->slot_engine[i] = TW_PHI_ENGINE_COUNT;
    for (int i = 0; i < TW_PHI_ENGINE_COUNT && status == TW_OK; i++)
        if (engines[i]->reserve && reserves(limits, (tw_phi_engine)i)) status = engines[i]->reserve(workspace, error);
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
    if (engines[options->engine]->reserve && !reserves(&workspace->limits, options->engine)) return TW_UNSUPPORTED;
    workspace->options = *options;
    return TW_OK;
}

/* Arguments of either evaluate call. */
static tw_status check_request(const tw_phi_workspace *workspace, int64_t size, const tw_phi_request *request,
                               tw_error *error)
{
    if (size != workspace->vector_size)
        return tw_fail(error, TW_INVALID_ARGUMENT, "operator has %lld entries, the workspace was made for %lld",
                       (long long)size, (long long)workspace->vector_size);
    if (request->node_count < 1 || request->node_count > TW_PHI_MAX_NODES || request->order < 0 ||
        request->order > TW_PHI_MAX_ORDER || !request->nodes || !request->vectors || !request->outputs)
        return tw_fail(error, TW_INVALID_ARGUMENT, "node_count %d or order %d is out of range, or a pointer is NULL",
                       request->node_count, request->order);
    if (!isfinite(request->time) || !(request->reference[0] >= 0) || !(request->reference[1] >= 0))
        return tw_fail(error, TW_NOT_FINITE, "time or reference is not finite");
    for (int i = 0; i < request->node_count; i++) {
        if (!request->outputs[i]) return tw_fail(error, TW_INVALID_ARGUMENT, "output %d is NULL", i);
        if (!isfinite(request->nodes[i])) return tw_fail(error, TW_NOT_FINITE, "node %d is not finite", i);
    }
    for (int k = 0; k <= request->order; k++)
        if (request->vectors[k] && !tw_vector_is_finite(size, request->vectors[k]))
            return tw_fail(error, TW_NOT_FINITE, "vector %d has a value that is NaN or infinite", k);
    return TW_OK;
}

static void zero_outputs(int count, double *const *outputs, int64_t size)
{
    for (int i = 0; i < count; i++) tw_vector_fill(size, 0.0, outputs[i]);
}

/* Nothing but finite values leaves: anything else becomes zeros and a status. */
static tw_status check_outputs(tw_status status, int count, double *const *outputs, int64_t size, tw_error *error)
{
    if (status == TW_OK || status == TW_ILL_CONDITIONED) {
        for (int i = 0; i < count; i++)
            if (!tw_vector_is_finite(size, outputs[i])) {
                status = tw_fail(error, TW_NOT_FINITE, "output %d overflowed", i);
                break;
            }
    }
    if (status != TW_OK && status != TW_ILL_CONDITIONED) zero_outputs(count, outputs, size);
    return status;
}

static tw_status unsupported(tw_phi_engine engine, const char *what, tw_error *error)
{
    return tw_fail(error, TW_UNSUPPORTED, "phi engine %s does not apply to %s", tw_phi_engine_name(engine), what);
}

tw_status tw_phi_evaluate(tw_phi_workspace *workspace, const tw_operator *op, const tw_phi_request *request,
                          tw_phi_statistics *statistics, tw_error *error)
{
    if (!workspace || !op || !op->apply || !request) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    tw_status status = check_request(workspace, op->space.local_size, request, error);
    if (status) {
        if (request->outputs && status == TW_NOT_FINITE)
            zero_outputs(request->node_count, request->outputs, workspace->vector_size);
        return status;
    }
    tw_phi_statistics local = {.engine = workspace->options.engine};
    const tw_phi_engine_table *engine = engines[local.engine];
    status = engine->first_order ? engine->first_order(workspace, op, request, &local, error)
                                 : unsupported(local.engine, "first-order operators", error);
    if (statistics) *statistics = local;
    return check_outputs(status, request->node_count, request->outputs, workspace->vector_size, error);
}

tw_status tw_phi_evaluate_second_order(tw_phi_workspace *workspace, const tw_second_order *op,
                                       const tw_phi_request *request, tw_phi_statistics *statistics, tw_error *error)
{
    if (!workspace || !op || !op->stiffness.apply || !request) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    tw_status status = check_request(workspace, 2 * op->stiffness.space.local_size, request, error);
    if (status) {
        if (request->outputs && status == TW_NOT_FINITE)
            zero_outputs(request->node_count, request->outputs, workspace->vector_size);
        return status;
    }
    tw_phi_statistics local = {.engine = workspace->options.engine};
    const tw_phi_engine_table *engine = engines[local.engine];
    status = engine->second_order ? engine->second_order(workspace, op, request, &local, error)
                                  : unsupported(local.engine, "second-order operators", error);
    if (statistics) *statistics = local;
    return check_outputs(status, request->node_count, request->outputs, workspace->vector_size, error);
}

static tw_status check_spectral(const tw_phi_workspace *workspace, const tw_spectral_request *request, tw_error *error)
{
    if (request->start_count < 1 || request->start_count > TW_MAX_BLOCK || request->output_count < 1 ||
        request->output_count > 2 * TW_PHI_MAX_NODES || !request->outputs || !request->functions)
        return tw_fail(error, TW_INVALID_ARGUMENT, "start_count %d or output_count %d is out of range",
                       request->start_count, request->output_count);
    if (request->slot < 0 || request->slot >= workspace->limits.slots)
        return tw_fail(error, TW_INVALID_ARGUMENT, "slot %d is not among the workspace's %d", request->slot,
                       workspace->limits.slots);
    if (!isfinite(request->time)) return tw_fail(error, TW_NOT_FINITE, "time is not finite");
    return TW_OK;
}

tw_status tw_spectral_apply(tw_phi_workspace *workspace, const tw_second_order *op, const tw_spectral_request *request,
                            tw_phi_statistics *statistics, tw_error *error)
{
    if (!workspace || !op || !op->stiffness.apply || !request || !request->starts)
        return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    int64_t size = op->stiffness.space.local_size;
    if (size != workspace->limits.size) return tw_fail(error, TW_INVALID_ARGUMENT, "sizes differ");
    tw_status status = check_spectral(workspace, request, error);
    if (status) return status;
    tw_phi_statistics local = {.engine = workspace->options.engine};
    const tw_phi_engine_table *engine = engines[local.engine];
    for (int j = 0; j < request->start_count && status == TW_OK; j++)
        if (request->starts[j] && !tw_vector_is_finite(size, request->starts[j]))
            status = tw_fail(error, TW_NOT_FINITE, "start vector %d has a value that is NaN or infinite", j);
    if (status == TW_OK)
        status = engine->spectral ? engine->spectral(workspace, op, request, &local, error)
                                  : unsupported(local.engine, "functions of a symmetric operator", error);
    if (statistics) *statistics = local;
    return check_outputs(status, request->output_count, request->outputs, size, error);
}

tw_status tw_spectral_reuse(tw_phi_workspace *workspace, const tw_spectral_request *request,
                            tw_phi_statistics *statistics, tw_error *error)
{
    if (!workspace || !request) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    tw_status status = check_spectral(workspace, request, error);
    if (status) return status;
    tw_phi_statistics local = {.engine = workspace->slot_engine[request->slot]};
    if (local.engine == TW_PHI_ENGINE_COUNT || !engines[local.engine]->reuse)
        status = tw_fail(error, TW_UNSUPPORTED, "slot %d keeps no basis", request->slot);
    else
        status = engines[local.engine]->reuse(workspace, request, &local, error);
    if (statistics) *statistics = local;
    return check_outputs(status, request->output_count, request->outputs, workspace->limits.size, error);
}
