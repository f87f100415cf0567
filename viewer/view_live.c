/* The worker of a live page: it steps one or two simulations, makes frames of them at regular
 * simulated times, and does what the page asks for.
 *
 * Frames are spaced so that about sixty pass in a second. A step is made as soon as the frames that
 * wait would run out before it is done: a slow simulation is always at work, and a fast one stays
 * close to what is shown, so that a pull is felt at once. */
#include "view_live.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Frames per second that a fast simulation shows. */
static const double FRAME_RATE = 60.0;
/* Frames that always wait, as a time [s]. */
static const double LEAD_SECONDS = 0.035;
/* Share of the time that making frames may take ... */
static const double FRAME_SHARE = 0.4;
/* ... but so many frames a second are made at least, as long as some time is left for steps. */
static const double LEAST_FRAME_RATE = 30.0;
static const double LARGEST_FRAME_SHARE = 0.75;

/* ---- what the page is told ---- */

static void add_lane_state(view_text *text, const view_lane *lane)
{
    view_text_add(text, "{\"integrator\":\"%s\",\"step\":", tw_scheme_name(lane->options.scheme));
    view_text_number(text, lane->options.step);
    view_text_add(text, ",\"tolerance\":");
    view_text_number(text, lane->options.relative_tolerance);
    view_text_add(text, ",\"failure\":");
    if (lane->failed) {
        view_text_add(text, "{\"particle\":%lld,\"text\":", (long long)lane->failed_particle);
        view_text_string(text, lane->failure);
        view_text_add(text, "}");
    } else {
        view_text_add(text, "null");
    }
    view_text_add(text, "}");
}

static void add_integrators(view_text *text)
{
    view_text_add(text, ",\"integrators\":[");
    bool first = true;
    for (int i = 0; i < TW_SCHEME_COUNT; i++) {
        if (!tw_scheme_available((tw_scheme)i)) continue;
        view_text_add(text, "%s{\"name\":\"%s\",\"text\":", first ? "" : ",",
                      tw_scheme_name((tw_scheme)i));
        view_text_string(text, tw_scheme_line((tw_scheme)i));
        view_text_add(text, "}");
        first = false;
    }
    view_text_add(text, "]");
}

void view_live_tell(view_live *live)
{
    view_text text = {0};
    const view_tuning *tuning = &live->tuning;
    view_text_add(&text, "{\"type\":\"state\",\"mode\":\"live\",\"scene\":");
    view_text_string(&text, tw_scene_name(live->source.scene));
    view_text_add(&text, ",\"paused\":%s,\"speed\":%.9g,\"duration\":%.9g",
                  live->paused ? "true" : "false", live->speed,
                  tw_scene_duration(live->source.scene));
    view_text_add(&text, ",\"stiffness\":%.9g,\"damping\":%.9g,\"pulled\":%lld", tuning->stiffness,
                  tuning->damping, (long long)live->lanes[0].pulled);
    view_text_add(&text, ",\"lanes\":[");
    for (int i = 0; i < live->lane_count; i++) {
        if (i > 0) view_text_add(&text, ",");
        add_lane_state(&text, &live->lanes[i]);
    }
    view_text_add(&text, "],\"message\":");
    view_text_string(&text, live->message);
    add_integrators(&text);
    view_state_lists(&text, live->session);
    view_text_add(&text, "}");

    atomic_store(&live->session->paused, live->paused);
    atomic_store(&live->session->unbounded, !(live->speed > 0.0));
    view_session_publish_state(live->session, &text);
}

/* ---- frames ---- */

static void stamp(view_live *live, double t, bool past, view_frame *frame)
{
    const view_history *history = &live->history;
    frame->t = t;
    frame->rate = live->actual;
    frame->epoch = live->epoch;
    frame->past = past;
    if (past) memset(frame->contacts, 0, sizeof frame->contacts); /* their pairs are not kept */
    frame->history_from = history->count > 0 ? history->times[0] : t;
    frame->history_to = history->count > 0 ? history->times[history->count - 1] : t;
}

int64_t view_live_past_size(const view_live *live)
{
    return tw_simulation_state_size(live->lanes[0].simulation) + 1;
}

/* Keeps the states from which the lanes can start again, each with its time at its end. */
static void keep_past(view_live *live)
{
    double t = live->lanes[0].settled_t;
    for (int i = 1; i < live->lane_count; i++) t = fmin(t, live->lanes[i].settled_t);
    double *kept = view_history_add(&live->history, t);
    if (!kept) return;

    int64_t size = view_live_past_size(live);
    for (int i = 0; i < live->lane_count; i++, kept += size) {
        memcpy(kept, live->lanes[i].settled, (size_t)(size - 1) * sizeof *kept);
        kept[size - 1] = live->lanes[i].settled_t;
    }
}

/* Puts past states on the reel as a frame. */
static bool put_past(view_live *live, double t, const double *states)
{
    view_reel *reel = live->session->reel;
    view_frame *frame = view_reel_slot(reel);
    if (!frame) return false;

    int64_t size = view_live_past_size(live);
    for (int i = 0; i < live->lane_count; i++, states += size)
        if (view_lane_write(&live->lanes[i], states[size - 1], states, i, &reel->shape, frame) !=
            TW_OK)
            return false;
    stamp(live, t, true, frame);
    view_reel_put(reel);
    return true;
}

/* Makes the frame at t, which lies inside the last step of every lane. */
static bool make_frame(view_live *live, double t)
{
    view_reel *reel = live->session->reel;
    view_frame *frame = view_reel_slot(reel);
    if (!frame) return false;

    keep_past(live);
    for (int i = 0; i < live->lane_count; i++) {
        view_lane *lane = &live->lanes[i];
        if (view_lane_at(lane, t) != TW_OK)
            tw_integrator_state(lane->integrator, NULL, lane->state);
        view_lane_write(lane, t, lane->state, i, &reel->shape, frame);
        view_lane_write_contacts(lane, t, lane->state, i, frame);
    }
    stamp(live, t, false, frame);
    view_reel_put(reel);
    return true;
}

void view_live_show(view_live *live)
{
    /* The states are where the steps ended; the frame is shown at once. */
    live->epoch++;
    double t = view_live_time(live);
    make_frame(live, t);
    live->next_frame = t + live->spacing;
    live->seeking = false;
}

void view_live_seek(view_live *live, double t)
{
    double time = 0.0;
    const double *states = view_history_at(&live->history, t, &time);
    if (!states) return;
    live->epoch++;
    live->seeking = put_past(live, time, states);
    live->sought = time;
}

/* ---- time ---- */

double view_live_time(const view_live *live)
{
    double t = view_lane_time(&live->lanes[0]);
    for (int i = 1; i < live->lane_count; i++) t = fmin(t, view_lane_time(&live->lanes[i]));
    return t;
}

/* Chooses the spacing of frames and the rate at which they are shown. */
static void set_pace(view_live *live)
{
    /* Frames that are dear to make are made less often. */
    double cost = live->frame_seconds;
    double frames = FRAME_RATE;
    if (cost > 0.0) frames = fmin(frames, fmax(FRAME_SHARE / cost, LEAST_FRAME_RATE));
    if (cost > 0.0) frames = fmin(frames, LARGEST_FRAME_SHARE / cost);

    /* Steps have the time that frames leave. Frames are spaced for the rate that steps reach in it, so that
     * as many are shown in a second however slow the simulation is. */
    bool is_bounded = live->speed > 0.0;
    double reachable = live->capability > 0.0 ? live->capability * (1.0 - frames * cost) : 1.0;
    double rate = is_bounded ? fmin(live->speed, reachable) : reachable;
    live->spacing = rate / frames;
    live->rate = rate;
    atomic_store(&live->session->rate, rate);
}

/* Notes that so many simulated seconds took so many seconds of computing. What was noted before counts
 * less with every step; a new integrator begins anew. */
static void note_speed(view_live *live, bool is_new, double simulated, double seconds)
{
    if (!(seconds > 0.0)) return;
    double kept = is_new ? 0.0 : 0.9;
    live->work_simulated = kept * live->work_simulated + simulated;
    live->work_seconds = kept * live->work_seconds + seconds;
    live->capability = live->work_simulated / live->work_seconds;
    set_pace(live);
}

/* The real-time factor of the last half second. */
static void note_progress(view_live *live)
{
    double now = view_clock();
    if (now - live->progress_clock < 0.5) return;
    double t = view_live_time(live);
    live->actual = fmax(0.0, (t - live->progress_t) / (now - live->progress_clock));
    live->progress_clock = now;
    live->progress_t = t;
}

void view_live_restart_clock(view_live *live)
{
    live->progress_clock = view_clock();
    live->progress_t = view_live_time(live);
    live->next_frame = live->progress_t + live->spacing;
}

/* Whether the frames that wait last longer than the next step takes. */
static bool is_ahead(const view_live *live)
{
    if (!(live->speed > 0.0)) return false;
    double waiting = (double)view_reel_waiting(live->session->reel) * live->spacing / live->rate;
    double needed = LEAD_SECONDS;
    for (int i = 0; i < live->lane_count; i++) needed += 1.3 * live->lanes[i].step_seconds;
    return waiting > needed;
}

/* Makes one step of the simulation that is behind. False if nothing more can be done. */
bool view_live_step(view_live *live)
{
    int behind = 0;
    for (int i = 1; i < live->lane_count; i++)
        if (view_lane_time(&live->lanes[i]) < view_lane_time(&live->lanes[behind])) behind = i;

    double before = view_live_time(live);
    double begin = view_clock();
    if (!view_lane_step(&live->lanes[behind])) {
        if (!live->lanes[behind].failed) return false;
        live->paused = true;
        view_live_show(live);
        view_live_tell(live);
        return false;
    }
    bool is_new = view_lane_is_new(&live->lanes[behind]);
    note_speed(live, is_new, view_live_time(live) - before, view_clock() - begin);
    return true;
}

static void make_due_frame(view_live *live)
{
    double begin = view_clock();
    if (!make_frame(live, live->next_frame)) return;
    double seconds = view_clock() - begin;
    double share = live->frame_seconds > 0.0 ? 0.1 : 1.0;
    live->frame_seconds += share * (seconds - live->frame_seconds);
    live->next_frame += live->spacing;
}

/* One turn; returns how long to wait before the next [s]. Who has nothing to do sleeps until a command
 * comes, or until the network has taken a frame. */
static double turn(view_live *live)
{
    const double idle = INFINITY;
    if (live->paused) return idle;
    note_progress(live);

    bool is_due = live->next_frame <= view_live_time(live);
    if (is_due && view_reel_slot(live->session->reel)) {
        make_due_frame(live);
        return 0.0;
    }

    /* As fast as it can: what nobody has taken yet is skipped. */
    bool is_bounded = live->speed > 0.0;
    if (is_due && !is_bounded) live->next_frame = view_live_time(live) + live->spacing;
    if (is_due && is_bounded) return idle;
    if (is_ahead(live)) return idle;
    view_live_step(live);
    return 0.0;
}

static void *run(void *context)
{
    view_live *live = context;
    tw_set_threads(live->threads); /* the number belongs to the thread that steps */
    double wait = 0.0;
    while (!atomic_load(&live->session->quit)) {
        view_command command;
        if (view_session_receive(live->session, wait, &command)) {
            view_live_obey(live, &command);
            free(command.content);
            wait = 0.0;
            continue;
        }
        wait = turn(live);
    }
    view_live_close(live);
    return NULL;
}

tw_status view_live_open(view_session *session, tw_scene *scene, double speed, const char *compare,
                         bool paused, tw_error *error)
{
    view_live *live = calloc(1, sizeof *live);
    if (!live) {
        tw_scene_free(scene);
        return TW_OUT_OF_MEMORY;
    }
    live->session = session;
    live->threads = tw_threads();
    live->speed = speed;
    live->paused = paused;
    live->tuning = view_tuning_default();
    if (compare) strncpy(live->compare, compare, sizeof live->compare - 1);

    tw_status status = view_live_load(live, scene, error);
    if (status == TW_OK && pthread_create(&session->thread, NULL, run, live) != 0)
        status = TW_OUT_OF_MEMORY;
    if (status != TW_OK) view_live_close(live);
    return status;
}
