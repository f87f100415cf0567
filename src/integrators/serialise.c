/* An integrator as bytes: everything that decides its future. */
#include <string.h>

#include "base/fail.h"
#include "integrators/integrator_internal.h"

static const uint64_t magic = 0x31544e4947415754u; /* "TWAGINT1" */

/* What is not an array. Same machine and build only, so the struct travels as it is. */
typedef struct snapshot {
    uint64_t magic, bytes;
    int64_t size, history;
    int32_t scheme, engine;
    double t, t_old, step_taken;
    double plan_start, plan_end;
    int64_t plan_count, plan_done;
    double h_next, error_old, h_old, cost_old;
    int32_t last_rejected, cost_direction;
    double energy_start, potential_start, sound_scale, violated_scale;
    double event_values[TW_MAX_EVENTS];
    tw_integrator_statistics counts;
} snapshot;

static size_t history_of(const tw_integrator *integrator, double **values)
{
    *values = NULL;
    /* history() only reports where the values are; it is not const because restore writes through the pointer. */
    return integrator->scheme->history
               ? integrator->scheme->history((tw_integrator *)integrator, values)
               : 0;
}

static snapshot take(const tw_integrator *i, size_t history)
{
    snapshot s;
    memset(&s, 0, sizeof s);
    s.magic = magic;
    s.size = i->system.size;
    s.history = (int64_t)history;
    s.bytes = sizeof s + ((uint64_t)i->system.size + history) * sizeof(double);
    s.scheme = (int32_t)i->options.scheme;
    s.t = i->t, s.t_old = i->t_old, s.step_taken = i->step_taken;
    s.plan_start = i->plan_start, s.plan_end = i->plan_end;
    s.plan_count = i->plan_count, s.plan_done = i->plan_done;
    s.h_next = i->h_next, s.error_old = i->error_old, s.h_old = i->h_old, s.cost_old = i->cost_old;
    s.last_rejected = i->last_rejected, s.cost_direction = i->cost_direction;
    s.energy_start = i->energy_start, s.potential_start = i->potential_start;
    s.sound_scale = i->sound_scale, s.violated_scale = i->violated_scale;
    memcpy(s.event_values, i->event_values, sizeof s.event_values);
    s.counts = i->counts;
    return s;
}

tw_status tw_integrator_serialise(const tw_integrator *integrator, void *buffer, size_t capacity,
                                  size_t *size)
{
    if (!integrator || !size || !integrator->started) return TW_INVALID_ARGUMENT;
    double *history = NULL;
    size_t history_count = history_of(integrator, &history);
    snapshot s = take(integrator, history_count);
    *size = (size_t)s.bytes;
    if (!buffer) return TW_OK;
    if (capacity < s.bytes) return TW_INVALID_ARGUMENT;
    char *cursor = buffer;
    memcpy(cursor, &s, sizeof s);
    memcpy(cursor + sizeof s, integrator->u, (size_t)s.size * sizeof(double));
    if (history_count)
        memcpy(cursor + sizeof s + (size_t)s.size * sizeof(double), history,
               history_count * sizeof(double));
    return TW_OK;
}

static void put_back(tw_integrator *i, const snapshot *s)
{
    i->t = s->t, i->t_old = s->t_old, i->step_taken = 0;
    i->plan_start = s->plan_start, i->plan_end = s->plan_end;
    i->plan_count = s->plan_count, i->plan_done = s->plan_done;
    i->h_next = s->h_next, i->error_old = s->error_old, i->h_old = s->h_old,
    i->cost_old = s->cost_old;
    i->last_rejected = s->last_rejected != 0, i->cost_direction = s->cost_direction;
    i->energy_start = s->energy_start, i->potential_start = s->potential_start;
    i->sound_scale = s->sound_scale, i->violated_scale = s->violated_scale;
    memcpy(i->event_values, s->event_values, sizeof s->event_values);
    i->counts = s->counts;
    i->F_known = i->F_old_known = i->retry = i->truncated = false;
    i->started = true;
}

tw_status tw_integrator_restore(tw_integrator *integrator, const void *buffer, size_t size,
                                tw_error *error)
{
    if (!integrator || !buffer) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    snapshot s;
    if (size < sizeof s)
        return tw_fail(error, TW_BAD_INPUT, "the bytes are too few for an integrator's state");
    memcpy(&s, buffer, sizeof s);
    double *history = NULL;
    size_t history_count = history_of(integrator, &history);
    if (s.magic != magic || s.bytes != size || s.size != integrator->system.size ||
        s.scheme != (int32_t)integrator->options.scheme || s.history != (int64_t)history_count)
        return tw_fail(error, TW_BAD_INPUT,
                       "the bytes belong to another problem, scheme or version");
    const char *cursor = (const char *)buffer + sizeof s;
    memcpy(integrator->u, cursor, (size_t)s.size * sizeof(double));
    if (integrator->scheme->reset) integrator->scheme->reset(integrator);
    if (history_count)
        memcpy(history, cursor + (size_t)s.size * sizeof(double), history_count * sizeof(double));
    put_back(integrator, &s);
    tw_status status = integrator->scheme->uses_rhs ? tw_integrator_need_rhs(integrator) : TW_OK;
    if (status == TW_OK && integrator->scheme->restored)
        status = integrator->scheme->restored(integrator);
    integrator->counts = s.counts; /* rebuilding is not counted */
    return status ? tw_fail(error, status, "restore: %s", tw_status_text(status)) : TW_OK;
}
