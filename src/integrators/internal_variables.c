/* Internal variables of a problem: what changes between steps only, such as the rest lengths of
 * springs that flow. The integrator keeps those of its state. The problem works on a copy, which it
 * gets before every attempt, so that a rejected attempt leaves no trace. */
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "integrators/integrator_internal.h"
#include "linalg/vector.h"

tw_status tw_internal_reserve(tw_integrator *integrator, tw_error *error)
{
    int64_t count = tw_internal_count(integrator);
    if (count == 0) return TW_OK;

    const tw_second_order_problem *problem = &integrator->system.second;
    bool is_whole = problem->internal.values && problem->internal.start && problem->begin_step &&
                    problem->finish_step;
    if (!is_whole || !tw_is_count(count))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "internal variables need values, start, begin_step and finish_step");

    if (!tw_vector_is_finite(count, problem->internal.start))
        return tw_fail(error, TW_NOT_FINITE, "an internal variable is not finite at the start");

    integrator->internal = TW_NEW_ARRAY(count, double);
    integrator->internal_old = TW_NEW_ARRAY(count, double);
    if (!integrator->internal || !integrator->internal_old)
        return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    tw_internal_start(integrator);
    return TW_OK;
}

void tw_internal_free(tw_integrator *integrator)
{
    tw_release(integrator->internal);
    tw_release(integrator->internal_old);
}

void tw_internal_start(tw_integrator *integrator)
{
    int64_t count = tw_internal_count(integrator);
    if (count == 0) return;
    tw_vector_copy(count, integrator->system.second.internal.start, integrator->internal);
    tw_vector_copy(count, integrator->internal, integrator->internal_old);
    tw_vector_copy(count, integrator->internal, integrator->system.second.internal.values);
    integrator->laws_changed = false;
}

void tw_internal_hand_over(tw_integrator *integrator)
{
    int64_t count = tw_internal_count(integrator);
    if (count == 0) return;
    tw_vector_copy(count, integrator->internal, integrator->system.second.internal.values);

    /* F and bases were made with the laws of another step. */
    integrator->F_known = false;
    integrator->retry = false;
}

bool tw_internal_differ(const tw_integrator *integrator, const double *before)
{
    size_t bytes = (size_t)tw_internal_count(integrator) * sizeof(double);
    return memcmp(integrator->system.second.internal.values, before, bytes) != 0;
}

void tw_internal_accept(tw_integrator *integrator)
{
    int64_t count = tw_internal_count(integrator);
    if (count == 0) return;

    double *before = integrator->internal_old;
    integrator->internal_old = integrator->internal;
    integrator->internal = before;
    tw_vector_copy(count, integrator->system.second.internal.values, integrator->internal);
    integrator->laws_changed = tw_internal_differ(integrator, integrator->internal_old);
}

void tw_internal_go_back(tw_integrator *integrator)
{
    tw_vector_copy(tw_internal_count(integrator), integrator->internal_old, integrator->internal);
}

void tw_internal_tell_scheme(tw_integrator *integrator)
{
    if (!integrator->laws_changed) return;
    integrator->laws_changed = false;
    const tw_scheme_table *scheme = integrator->scheme;
    if (scheme->forget_tangent)
        scheme->forget_tangent(integrator);
    else if (scheme->reset)
        scheme->reset(integrator);
}
