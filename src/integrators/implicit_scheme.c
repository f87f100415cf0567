#include "integrators/implicit_scheme.h"

#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/vector.h"

tw_status tw_implicit_memory_reserve(tw_integrator *integrator, size_t history_count,
                                     tw_error *error)
{
    tw_implicit_memory *memory = integrator->memory = TW_NEW(tw_implicit_memory);
    if (!memory) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* Four vectors, then what travels through serialise: the scheme's history and the stage
     * solver's past. */
    size_t size = (size_t)integrator->system.size;
    size_t past_count = tw_implicit_past_size(&integrator->system);
    memory->history_count = history_count + past_count;
    memory->storage = tw_allocate_zeroed(4 * size + memory->history_count, sizeof(double));
    if (!memory->storage) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    memory->x_star = memory->storage;
    memory->v_star = memory->storage + size;
    memory->x = memory->storage + 2 * size;
    memory->work = memory->storage + 3 * size;
    memory->history = memory->storage + 4 * size;

    return tw_implicit_create(&integrator->system, integrator->options.newton.linear_solver,
                              memory->history + history_count, &memory->implicit, error);
}

void tw_implicit_memory_release(tw_integrator *integrator)
{
    tw_implicit_memory *memory = integrator->memory;
    if (!memory) return;
    tw_implicit_free(memory->implicit);
    tw_release(memory->storage);
    tw_release(memory);
    integrator->memory = NULL;
}

size_t tw_implicit_memory_history(tw_integrator *integrator, double **values)
{
    tw_implicit_memory *memory = integrator->memory;
    *values = memory->history;
    return memory->history_count;
}

tw_status tw_implicit_memory_restored(tw_integrator *integrator)
{
    const tw_implicit_memory *memory = integrator->memory;
    if (integrator->options.newton.reuse_factor == 0) return TW_OK;
    return tw_implicit_restore(memory->implicit);
}

const double *tw_implicit_memory_energy_state(tw_integrator *integrator, double *t)
{
    const tw_implicit_memory *memory = integrator->memory;
    *t = memory->stage_t;
    return memory->x;
}

void tw_implicit_memory_forget(tw_integrator *integrator)
{
    const tw_implicit_memory *memory = integrator->memory;
    tw_implicit_forget_matrix(memory->implicit);
}

void tw_implicit_memory_reset(tw_integrator *integrator)
{
    tw_implicit_memory *memory = integrator->memory;
    tw_implicit_reset(memory->implicit);
    for (size_t i = 0; i < memory->history_count; i++) memory->history[i] = 0;
}

/* Newton's corrections are measured by the way from u_n to x_star, and by 1e-6 of the state where
 * there is none, as in the midpoint rule for first-order problems. Times the tolerance that may be
 * below the rounding of the state, which tw_implicit_solve regards as enough in any case. */
static tw_status stage_scale(tw_integrator *integrator, const tw_implicit_memory *memory,
                             double *scale)
{
    int64_t n = integrator->system.n;

    /* The way from u_n to x_star. */
    double way = 0;
    tw_vector_copy(n, memory->x_star, memory->work);
    tw_vector_axpy(n, -1.0, integrator->u, memory->work);
    TW_TRY(tw_implicit_norm(memory->implicit, memory->work, &way));

    /* The smallest number keeps the scale of a state of zeros positive. */
    double size = 0;
    TW_TRY(tw_implicit_norm(memory->implicit, integrator->u, &size));
    *scale = way + 1e-6 * size + 1e-300;
    return TW_OK;
}

tw_status tw_implicit_memory_solve(tw_integrator *integrator, double t, double gamma, double sigma,
                                   tw_error *error)
{
    tw_implicit_memory *memory = integrator->memory;
    const tw_system *system = &integrator->system;
    double scale = 0;
    TW_TRY(stage_scale(integrator, memory, &scale));

    memory->stage_t = t;
    tw_stage stage = {
        .t = t,
        .gamma = gamma,
        .sigma = sigma,
        .x_star = memory->x_star,
        .v_star = system->second_order && system->second.velocity_dependent ? memory->v_star : NULL,
        .x = memory->x,
        .scale = scale,
        .tolerance = integrator->options.newton.tolerance,
        .max_iterations = integrator->options.newton.max_iterations,
        .reuse = integrator->options.newton.reuse_factor,
        .damping_in_matrix = true};

    tw_stage_result result;
    tw_status status = tw_implicit_solve(memory->implicit, &stage, &result);
    integrator->newton_failed = status != TW_OK;
    if (status == TW_OK) return TW_OK;
    return tw_fail(error, status, "Newton's method: %s", tw_status_text(status));
}
