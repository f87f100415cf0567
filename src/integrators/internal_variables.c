/* Internal variables of a problem: what changes between steps only, such as the rest lengths of
 * springs that flow. The integrator keeps those of its state. The problem works on a copy, which it
 * gets before every attempt, so that a rejected attempt leaves no trace.
 *
 * Most of them stay as they are for many steps. The problem marks the blocks in which it writes, and
 * only these are copied and compared (tw_internal_variables.changed). */
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/parallel_for.h"
#include "integrators/integrator_internal.h"
#include "linalg/vector.h"

/* Blocks per call in a parallel loop. */
enum { BLOCKS_PER_JOB = 32 };

static int64_t block_count(const tw_integrator *integrator)
{
    return tw_parallel_blocks(tw_internal_count(integrator), TW_INTERNAL_BLOCK);
}

/* The bytes of block b; the last one may be shorter. */
static size_t block_bytes(const tw_integrator *integrator, int64_t b)
{
    int64_t rest = tw_internal_count(integrator) - b * TW_INTERNAL_BLOCK;
    return (size_t)(rest < TW_INTERNAL_BLOCK ? rest : TW_INTERNAL_BLOCK) * sizeof(double);
}

static bool is_marked(const tw_integrator *integrator, int64_t b)
{
    const unsigned char *changed = integrator->system.second.internal.changed;
    return !changed || changed[b];
}

/* ---- copies ---- */

typedef struct copy_job {
    const tw_integrator *integrator;
    const double *from;
    double *to;
    const unsigned char *also; /* blocks that are copied besides the marked ones; NULL: none */
} copy_job;

static void copy_blocks(void *context, int64_t begin, int64_t end, int64_t job_index)
{
    (void)job_index;
    const copy_job *job = context;
    for (int64_t b = begin; b < end; b++) {
        if (!is_marked(job->integrator, b) && !(job->also && job->also[b])) continue;
        int64_t first = b * TW_INTERNAL_BLOCK;
        memcpy(job->to + first, job->from + first, block_bytes(job->integrator, b));
    }
}

static void copy_marked(const tw_integrator *integrator, const double *from, double *to,
                        const unsigned char *also)
{
    copy_job job = {integrator, from, to, also};
    tw_parallel_for(block_count(integrator), BLOCKS_PER_JOB, copy_blocks, &job);
}

void tw_internal_mark_all(tw_integrator *integrator)
{
    size_t blocks = (size_t)block_count(integrator);
    if (blocks == 0) return;
    unsigned char *changed = integrator->system.second.internal.changed;
    if (changed) memset(changed, 1, blocks);
    memset(integrator->internal_fresh, 1, blocks);
}

/* ---- making ---- */

tw_status tw_internal_reserve(tw_integrator *integrator, tw_error *error)
{
    int64_t count = tw_internal_count(integrator);
    if (count == 0) return TW_OK;

    const tw_second_order_problem *problem = &integrator->system.second;
    bool is_whole = problem->internal.values && problem->internal.start && problem->begin_step &&
                    problem->finish_step;
    if (problem->internal.changed && !problem->internal.holder) is_whole = false;
    if (!is_whole || !tw_is_count(count))
        return tw_fail(
            error, TW_INVALID_ARGUMENT,
            "internal variables need values, start, begin_step and finish_step, and a holder "
            "where there are marks");

    if (!tw_vector_is_finite(count, problem->internal.start))
        return tw_fail(error, TW_NOT_FINITE, "an internal variable is not finite at the start");

    integrator->internal = TW_NEW_ARRAY(count, double);
    integrator->internal_old = TW_NEW_ARRAY(count, double);
    integrator->internal_fresh = TW_NEW_ARRAY(block_count(integrator), unsigned char);
    if (!integrator->internal || !integrator->internal_old || !integrator->internal_fresh)
        return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    tw_internal_start(integrator);
    return TW_OK;
}

void tw_internal_free(tw_integrator *integrator)
{
    tw_release(integrator->internal);
    tw_release(integrator->internal_old);
    tw_release(integrator->internal_fresh);
}

void tw_internal_start(tw_integrator *integrator)
{
    int64_t count = tw_internal_count(integrator);
    if (count == 0) return;
    tw_vector_copy(count, integrator->system.second.internal.start, integrator->internal);
    tw_vector_copy(count, integrator->internal, integrator->internal_old);
    tw_vector_copy(count, integrator->internal, integrator->system.second.internal.values);
    tw_internal_mark_all(integrator);
    integrator->laws_changed = false;
}

/* ---- steps ---- */

void tw_internal_hand_over(tw_integrator *integrator)
{
    if (tw_internal_count(integrator) == 0) return;

    /* Marked blocks may have been changed by an attempt that was rejected; all, by another integrator. */
    const tw_internal_variables *problem = &integrator->system.second.internal;
    bool is_foreign = problem->changed && *problem->holder != integrator;
    if (is_foreign) tw_internal_mark_all(integrator);
    if (is_foreign) *problem->holder = integrator;
    copy_marked(integrator, integrator->internal, problem->values, NULL);

    /* F and bases were made with the laws of another step. */
    integrator->F_known = false;
    integrator->retry = false;
}

bool tw_internal_differ(const tw_integrator *integrator, const double *before)
{
    const double *values = integrator->system.second.internal.values;
    for (int64_t b = 0; b < block_count(integrator); b++) {
        int64_t first = b * TW_INTERNAL_BLOCK;
        if (!is_marked(integrator, b)) continue;
        if (memcmp(values + first, before + first, block_bytes(integrator, b)) != 0) return true;
    }
    return false;
}

void tw_internal_accept(tw_integrator *integrator)
{
    if (tw_internal_count(integrator) == 0) return;
    const tw_internal_variables *problem = &integrator->system.second.internal;
    integrator->laws_changed = tw_internal_differ(integrator, integrator->internal);

    /* The array of the step before last lacks what the last step changed, and what this one did. */
    double *before = integrator->internal_old;
    integrator->internal_old = integrator->internal;
    integrator->internal = before;
    copy_marked(integrator, problem->values, integrator->internal, integrator->internal_fresh);
    if (problem->changed)
        memcpy(integrator->internal_fresh, problem->changed, (size_t)block_count(integrator));
}

void tw_internal_go_back(tw_integrator *integrator)
{
    tw_vector_copy(tw_internal_count(integrator), integrator->internal_old, integrator->internal);
    tw_internal_mark_all(integrator);
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
