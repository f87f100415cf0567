/* An integrator as bytes: everything that decides its future. */
#include <string.h>

#include "base/fail.h"
#include "integrators/integrator_internal.h"

/* The first eight bytes, "TWAGINT2" as text: the format and its version. */
static const uint64_t magic = 0x32544e4947415754u;

/* What is not an array. The bytes are read by the same machine and build only, so the struct
 * travels as it is. */
typedef struct snapshot {
    uint64_t magic;
    uint64_t bytes;  /* of the whole: this struct, the state, the scheme's history */
    int64_t size;    /* doubles of the state */
    int64_t history; /* doubles of the scheme's history */
    int32_t scheme, engine;
    double t, t_old, step_taken;
    double plan_start, plan_end;
    int64_t plan_count, plan_done;
    double h_next, error_old, h_old, cost_old;
    int32_t last_rejected, cost_direction;
    tw_energy_watch watch;
    double event_values[TW_MAX_EVENTS];
    int32_t F_known;   /* whether the next step, or dense output, finds F(t, u) */
    int32_t truncated; /* an event cut the last step short: the history is not to be used */
    tw_linear_knowledge linear;
    tw_integrator_statistics counts;
} snapshot;

/* How many doubles the scheme carries along, and where they are. */
static size_t history_of(const tw_integrator *integrator, double **values)
{
    *values = NULL;
    if (!integrator->scheme->history) return 0;

    /* history() only reports where the values are; it is not const because restore writes through
     * the pointer. */
    return integrator->scheme->history((tw_integrator *)integrator, values);
}

static snapshot take(const tw_integrator *integrator, size_t history)
{
    /* Padding is zeroed too, so that equal integrators give equal bytes. */
    snapshot s;
    memset(&s, 0, sizeof s);

    s.magic = magic;
    s.size = integrator->system.size;
    s.history = (int64_t)history;
    s.bytes = sizeof s + ((uint64_t)integrator->system.size + history) * sizeof(double);
    s.scheme = (int32_t)integrator->options.scheme;

    /* Time and the plan of fixed steps. */
    s.t = integrator->t;
    s.t_old = integrator->t_old;
    s.step_taken = integrator->step_taken;
    s.plan_start = integrator->plan_start;
    s.plan_end = integrator->plan_end;
    s.plan_count = integrator->plan_count;
    s.plan_done = integrator->plan_done;

    /* The controller. */
    s.h_next = integrator->h_next;
    s.error_old = integrator->error_old;
    s.h_old = integrator->h_old;
    s.cost_old = integrator->cost_old;
    s.last_rejected = integrator->last_rejected;
    s.cost_direction = integrator->cost_direction;

    /* The energy guard, the events and the counts. */
    s.watch = integrator->watch;
    memcpy(s.event_values, integrator->event_values, sizeof s.event_values);
    s.F_known = integrator->F_known;
    s.truncated = integrator->truncated;
    s.linear = tw_system_knowledge(&integrator->system);
    s.counts = integrator->counts;
    return s;
}

tw_status tw_integrator_serialise(const tw_integrator *integrator, void *buffer, size_t capacity,
                                  size_t *size)
{
    if (!integrator || !size || !integrator->started) return TW_INVALID_ARGUMENT;

    /* The size is the answer if there is no buffer. */
    double *history = NULL;
    size_t history_count = history_of(integrator, &history);
    snapshot s = take(integrator, history_count);
    *size = (size_t)s.bytes;
    if (!buffer) return TW_OK;
    if (capacity < s.bytes) return TW_INVALID_ARGUMENT;

    /* The order of the bytes is: struct, state, history. */
    size_t state_bytes = (size_t)s.size * sizeof(double);
    char *cursor = buffer;
    memcpy(cursor, &s, sizeof s);
    memcpy(cursor + sizeof s, integrator->u, state_bytes);
    if (history_count)
        memcpy(cursor + sizeof s + state_bytes, history, history_count * sizeof(double));
    return TW_OK;
}

/* The inverse of take(). The last step is not restored: there is no dense output before the next
 * one. */
static void put_back(tw_integrator *integrator, const snapshot *s)
{
    integrator->t = s->t;
    integrator->t_old = s->t_old;
    integrator->step_taken = 0;
    integrator->stage_known = false;
    integrator->plan_start = s->plan_start;
    integrator->plan_end = s->plan_end;
    integrator->plan_count = s->plan_count;
    integrator->plan_done = s->plan_done;

    /* The controller. */
    integrator->h_next = s->h_next;
    integrator->error_old = s->error_old;
    integrator->h_old = s->h_old;
    integrator->cost_old = s->cost_old;
    integrator->last_rejected = s->last_rejected != 0;
    integrator->cost_direction = s->cost_direction;

    /* The energy guard, the events and the counts. */
    integrator->watch = s->watch;
    memcpy(integrator->event_values, s->event_values, sizeof s->event_values);
    integrator->counts = s->counts;

    /* What is computed anew. */
    integrator->F_known = false;
    integrator->F_old_known = false;
    integrator->retry = false;
    integrator->truncated = false;
    integrator->output_next = 0;
    integrator->stopped = false;
    integrator->started = true;
}

/* Computes again what the run knew: F, and what the scheme derives from its history. It was counted
 * when it was made. What the run did not know is left for the next step, which counts it. */
static tw_status rebuild(tw_integrator *integrator, const snapshot *s)
{
    if (s->F_known) TW_TRY(tw_integrator_need_rhs(integrator));

    /* A scheme that goes on with an earlier linearisation makes it anew. */
    int64_t linearisation = integrator->system.linearisation;
    if (integrator->scheme->restored) TW_TRY(integrator->scheme->restored(integrator));
    if (integrator->system.linearisation == linearisation) return TW_OK;
    return tw_system_learn(&integrator->system, &s->linear);
}

tw_status tw_integrator_restore(tw_integrator *integrator, const void *buffer, size_t size,
                                tw_error *error)
{
    if (!integrator || !buffer) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    snapshot s;
    if (size < sizeof s)
        return tw_fail(error, TW_BAD_INPUT, "the bytes are too few for an integrator's state");
    memcpy(&s, buffer, sizeof s);

    /* The bytes must come from an integrator of the same kind. */
    double *history = NULL;
    size_t history_count = history_of(integrator, &history);
    bool fits = s.magic == magic && s.bytes == size && s.size == integrator->system.size &&
                s.scheme == (int32_t)integrator->options.scheme &&
                s.history == (int64_t)history_count;
    if (!fits)
        return tw_fail(error, TW_BAD_INPUT,
                       "the bytes belong to another problem, scheme or version");

    /* State and history; the reset in between clears what the scheme knows from before. */
    const char *cursor = (const char *)buffer + sizeof s;
    size_t state_bytes = (size_t)s.size * sizeof(double);
    memcpy(integrator->u, cursor, state_bytes);
    if (integrator->scheme->reset) integrator->scheme->reset(integrator);
    if (history_count && !s.truncated)
        memcpy(history, cursor + state_bytes, history_count * sizeof(double));
    put_back(integrator, &s);

    tw_status status = rebuild(integrator, &s);
    integrator->counts = s.counts;
    if (status) return tw_fail(error, status, "restore: %s", tw_status_text(status));
    return TW_OK;
}
