/* An integrator as bytes: everything that decides its future. */
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/log_line.h"
#include "integrators/integrator_internal.h"
#include "linalg/vector.h"

/* The first eight bytes, "TWAGINT6" as text: the format and its version. */
static const uint64_t magic = 0x36544e4947415754u;

/* What is not an array. The bytes are read by the same machine and build only, so the struct
 * travels as it is. */
typedef struct snapshot {
    uint64_t magic;
    uint64_t bytes;   /* of the whole: this struct and all the numbers below */
    int64_t size;     /* doubles of the state */
    int64_t history;  /* doubles of the scheme's history */
    int64_t lists;    /* doubles of the problem's lists */
    int64_t internal; /* internal variables of the problem */
    int32_t scheme, engine;
    double t, t_old, step_taken;
    double plan_start, plan_end;
    int64_t plan_count, plan_done, plan_division, plan_part, plan_calm;
    double h_next, error_old, h_old, cost_old;
    int32_t last_rejected, cost_direction;
    tw_energy_watch watch;
    double event_values[TW_MAX_EVENTS];
    int32_t F_known;      /* whether the next step, or dense output, finds F(t, u) */
    int32_t truncated;    /* an event cut the last step short: the history is not to be used */
    int32_t laws_changed; /* internal variables changed, and the scheme does not know yet */
    int32_t unused;
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

/* How many doubles the problem's lists take. */
static int64_t lists_of(const tw_integrator *integrator)
{
    const tw_system *system = &integrator->system;
    return system->second_order ? system->second.lists.count : 0;
}

/* The size of the whole. */
static uint64_t bytes_of(const tw_integrator *integrator, size_t history)
{
    uint64_t count = (uint64_t)(integrator->system.size + lists_of(integrator)) + history;
    return sizeof(snapshot) + (count + (uint64_t)tw_internal_count(integrator)) * sizeof(double);
}

static snapshot take(const tw_integrator *integrator, size_t history)
{
    /* Padding is zeroed too, so that equal integrators give equal bytes. */
    snapshot s;
    memset(&s, 0, sizeof s);

    s.magic = magic;
    s.size = integrator->system.size;
    s.history = (int64_t)history;
    s.lists = lists_of(integrator);
    s.internal = tw_internal_count(integrator);
    s.bytes = bytes_of(integrator, history);
    s.scheme = (int32_t)integrator->options.scheme;

    /* Time and the plan of fixed steps. */
    s.t = integrator->t;
    s.t_old = integrator->t_old;
    s.step_taken = integrator->step_taken;
    s.plan_start = integrator->plan_start;
    s.plan_end = integrator->plan_end;
    s.plan_count = integrator->plan_count;
    s.plan_done = integrator->plan_done;
    s.plan_division = integrator->plan_division;
    s.plan_part = integrator->plan_part;
    s.plan_calm = integrator->plan_calm;

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
    s.laws_changed = integrator->laws_changed;
    s.linear = tw_system_knowledge(&integrator->system);
    s.counts = integrator->counts;
    return s;
}

/* Writes the problem's lists to bytes that need not be aligned. */
static tw_status save_lists(const tw_integrator *integrator, int64_t count, char *bytes)
{
    if (count == 0) return TW_OK;
    double *values = TW_NEW_ARRAY(count, double);
    if (!values) return TW_OUT_OF_MEMORY;

    const tw_second_order_problem *problem = &integrator->system.second;
    problem->lists.save(problem->context, values);
    memcpy(bytes, values, (size_t)count * sizeof(double));
    tw_release(values);
    return TW_OK;
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

    /* The order of the bytes is: struct, state, history, lists, internal variables. */
    size_t state_bytes = (size_t)s.size * sizeof(double);
    size_t history_bytes = history_count * sizeof(double);
    char *cursor = buffer;
    memcpy(cursor, &s, sizeof s);
    memcpy(cursor + sizeof s, integrator->u, state_bytes);
    cursor += sizeof s + state_bytes;
    if (history_count) memcpy(cursor, history, history_bytes);

    TW_TRY(save_lists(integrator, s.lists, cursor + history_bytes));
    cursor += history_bytes + (size_t)s.lists * sizeof(double);
    if (s.internal) memcpy(cursor, integrator->internal, (size_t)s.internal * sizeof(double));
    return TW_OK;
}

/* The inverse of take(). The last step is not restored: there is no dense output before the next
 * one. */
static void put_back(tw_integrator *integrator, const snapshot *s)
{
    integrator->t = s->t;
    integrator->t_old = s->t_old;
    if (!integrator->started) integrator->t_start = s->t;
    integrator->step_taken = 0;
    integrator->stage_known = false;
    integrator->plan_start = s->plan_start;
    integrator->plan_end = s->plan_end;
    integrator->plan_count = s->plan_count;
    integrator->plan_done = s->plan_done;
    integrator->plan_division = s->plan_division;
    integrator->plan_part = s->plan_part;
    integrator->plan_calm = s->plan_calm;

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
    integrator->laws_changed = s->laws_changed != 0;
    integrator->output_next = 0;
    integrator->stopped = false;
    integrator->started = true;
}

/* Computes again what the run knew: F, and what the scheme derives from its history. It was counted
 * when it was made. What the run did not know is left for the next step, which counts it. */
static tw_status rebuild(tw_integrator *integrator, const snapshot *s)
{
    if (s->F_known) TW_TRY(tw_integrator_need_rhs(integrator));

    /* A scheme that goes on with an earlier linearisation makes it anew. Where the laws have changed
     * since, it forgets that linearisation in the next step. */
    if (s->laws_changed) return TW_OK;
    int64_t linearisation = integrator->system.linearisation;
    if (integrator->scheme->restored) TW_TRY(integrator->scheme->restored(integrator));
    if (integrator->system.linearisation == linearisation) return TW_OK;
    return tw_system_learn(&integrator->system, &s->linear);
}

/* ---- what bytes may say: they may come from anywhere ---- */

static bool all_finite(size_t count, const double *values)
{
    return tw_vector_is_finite((int64_t)count, values);
}

/* Counts have room to grow: nobody counts up to 2^53. */
static bool is_count(int64_t count)
{
    return count >= 0 && count < (int64_t)1 << 53;
}

static bool counts_make_sense(const tw_integrator_statistics *c)
{
    const int64_t counts[] = {c->steps,
                              c->rejected_steps,
                              c->rejected_estimate,
                              c->rejected_not_finite,
                              c->rejected_phi,
                              c->rejected_newton,
                              c->rejected_energy,
                              c->rejected_callback,
                              c->force_evaluations,
                              c->difference_evaluations,
                              c->stiffness_products,
                              c->linearisations,
                              c->factorisations,
                              c->solves,
                              c->newton_iterations,
                              c->stalled_stages,
                              c->buckled_stages,
                              c->krylov_dimension};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (!is_count(counts[i])) return false;

    const double values[] = {
        c->last_step, c->next_step, c->error_estimate, c->phi_error_estimate, c->pole,
        c->asymmetry, c->work,      c->solver_work,    c->unresolved_energy,  c->resolved_kinetic};
    return all_finite(sizeof values / sizeof *values, values) && (int)c->engine >= 0 &&
           c->engine <= TW_PHI_ENGINE_COUNT;
}

/* The plan of fixed steps has led to the present time. Its times are sums, which compilers round
 * differently. */
static bool plan_makes_sense(const snapshot *s)
{
    /* Without a plan, as after a stop at an event, nobody looks at the steps done. */
    if (s->plan_count == 0) return is_count(s->plan_done);
    if (!is_count(s->plan_count) || s->plan_done < 0 || s->plan_done > s->plan_count) return false;
    if (!(s->plan_start < s->plan_end)) return false;
    if (s->plan_division < 0 || s->plan_division > TW_LARGEST_DIVISION) return false;
    int64_t parts = (int64_t)1 << s->plan_division;
    if (s->plan_part < 0 || s->plan_part >= parts || !is_count(s->plan_calm)) return false;

    double h = (s->plan_end - s->plan_start) / (double)s->plan_count;
    double done = (double)s->plan_done + (double)s->plan_part / (double)parts;
    double reached = s->plan_start + done * h;
    return fabs(reached - s->t) <= 1e-3 * h + 1e-12 * fabs(s->t);
}

static bool watch_makes_sense(const tw_energy_watch *w)
{
    const double values[] = {w->energy,    w->kinetic,     w->start_energy,   w->gain,
                             w->potential, w->sound_scale, w->violated_scale, w->first_scale,
                             w->t,         w->power,       w->work,           w->work_size,
                             w->velocity,  w->last.t,      w->last.kinetic,   w->last.potential,
                             w->last.power};
    return all_finite(sizeof values / sizeof *values, values) && is_count(w->quiet_steps) &&
           is_count(w->alarmed);
}

/* Whether an integrator can go on with these values without surprise: all are finite, times and
 * counts are in order. */
static bool makes_sense(const snapshot *s)
{
    const double values[] = {s->t,        s->t_old,       s->step_taken, s->plan_start,
                             s->plan_end, s->h_next,      s->error_old,  s->h_old,
                             s->cost_old, s->linear.gamma};
    if (!all_finite(sizeof values / sizeof *values, values)) return false;
    if (!all_finite(TW_MAX_EVENTS, s->event_values)) return false;

    bool in_order = s->t_old <= s->t && s->step_taken >= 0 && s->h_next >= 0 && s->h_old >= 0 &&
                    s->error_old >= 0 && s->cost_old >= 0 && s->linear.gamma >= 0;
    bool has_direction = s->cost_direction == 1 || s->cost_direction == -1;
    return in_order && has_direction && plan_makes_sense(s) && watch_makes_sense(&s->watch) &&
           counts_make_sense(&s->counts);
}

/* Lets the problem make its lists again. The bytes need not be aligned, the numbers are. */
static tw_status load_lists(tw_integrator *integrator, int64_t count, const char *bytes,
                            tw_error *error)
{
    if (count == 0) return TW_OK;
    double *values = TW_NEW_ARRAY(count, double);
    if (!values) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    memcpy(values, bytes, (size_t)count * sizeof(double));
    const tw_second_order_problem *problem = &integrator->system.second;
    tw_status status = problem->lists.load(problem->context, values);
    tw_release(values);
    if (status == TW_OK) return TW_OK;
    return tw_fail(error, TW_BAD_INPUT,
                   "the bytes are damaged: the problem cannot make its lists of them");
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
    size_t expected = (size_t)bytes_of(integrator, history_count);
    size_t internal_count = (size_t)tw_internal_count(integrator);
    bool fits = s.magic == magic && s.bytes == size && size == expected &&
                s.internal == (int64_t)internal_count && s.size == integrator->system.size &&
                s.scheme == (int32_t)integrator->options.scheme &&
                s.history == (int64_t)history_count && s.lists == lists_of(integrator);
    if (!fits)
        return tw_fail(error, TW_BAD_INPUT,
                       "the bytes belong to another problem, scheme or version");

    /* From here on the integrator cannot go on from where it was. */
    integrator->started = false;

    /* State and history; the reset in between clears what the scheme knows from before. */
    const char *cursor = (const char *)buffer + sizeof s;
    size_t state_bytes = (size_t)s.size * sizeof(double);
    memcpy(integrator->u, cursor, state_bytes);
    if (integrator->scheme->reset) integrator->scheme->reset(integrator);
    if (history_count && !s.truncated)
        memcpy(history, cursor + state_bytes, history_count * sizeof(double));
    if (internal_count)
        memcpy(integrator->internal,
               cursor + state_bytes + (history_count + (size_t)s.lists) * sizeof(double),
               internal_count * sizeof(double));
    tw_internal_mark_all(integrator);
    if (!makes_sense(&s) || !all_finite((size_t)s.size, integrator->u) ||
        !all_finite(history_count, history) || !all_finite(internal_count, integrator->internal))
        return tw_fail(error, TW_BAD_INPUT, "the bytes are damaged: they hold impossible values");
    const char *lists = cursor + state_bytes + history_count * sizeof(double);
    TW_TRY(load_lists(integrator, s.lists, lists, error));
    put_back(integrator, &s);

    if (integrator->scheme->own_steps)
        tw_log_line(TW_LOG_WARNING,
                    "%s starts anew from the restored state: its steps are not bitwise those of a "
                    "run that was not interrupted",
                    tw_scheme_name(integrator->options.scheme));
    tw_status status = tw_integrator_begin_step(integrator, 0.0, error);
    if (status == TW_OK) status = rebuild(integrator, &s);
    integrator->counts = s.counts;
    integrator->started = status == TW_OK;
    if (status) return tw_fail(error, status, "restore: %s", tw_status_text(status));
    return TW_OK;
}
