/* The worker of a page that replays a finished run: it reads frames from the disk at their times. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "view_geometry.h"
#include "view_rows.h"
#include "view_series.h"
#include "view_session.h"

typedef struct replay {
    view_session *session;
    tw_playback *playback;
    view_series series;
    double *rows;
    int64_t count; /* of frames */
    double fps;    /* of the run */
    double speed;
    bool paused;
    int64_t next;
    uint32_t epoch;
    double clock, clock_t; /* for the real-time factor */
    double actual;
} replay;

static void tell(replay *r)
{
    view_text text = {0};
    const tw_scene *scene = tw_playback_scene(r->playback);
    tw_integrator_options options = tw_scene_integrator_options(scene);
    view_text_add(&text, "{\"type\":\"state\",\"mode\":\"replay\",\"scene\":");
    view_text_string(&text, tw_scene_name(scene));
    view_text_add(&text, ",\"paused\":%s,\"speed\":%.9g,\"duration\":%.9g,\"stiffness\":1",
                  r->paused ? "true" : "false", r->speed, tw_scene_duration(scene));
    view_text_add(&text, ",\"damping\":-1,\"pulled\":-1,\"message\":\"\",\"integrators\":[]");
    view_text_add(&text, ",\"frames\":%lld", (long long)r->count);
    view_text_add(&text, ",\"lanes\":[{\"integrator\":\"%s\",\"step\":%.9g,\"tolerance\":%.9g,",
                  tw_scheme_name(options.scheme), options.step, options.relative_tolerance);
    view_text_add(&text, "\"failure\":null}]");
    view_state_lists(&text, r->session);
    view_text_add(&text, "}");
    atomic_store(&r->session->paused, r->paused);
    atomic_store(&r->session->rate, r->speed);
    view_session_publish_state(r->session, &text);
}

/* Puts frame `index` on the reel. */
static bool put(replay *r, int64_t index)
{
    view_reel *reel = r->session->reel;
    view_frame *frame = view_reel_slot(reel);
    double t = 0.0;
    if (!frame) return false;
    if (tw_playback_read(r->playback, index, &t, r->rows, NULL) != TW_OK) return false;

    int columns = tw_simulation_column_count(tw_playback_simulation(r->playback));
    view_rows_write(r->rows, columns, 0, &reel->shape, frame);
    const view_series_row *row = view_series_at(&r->series, t);
    memset(frame->telemetry, 0, sizeof frame->telemetry);
    if (row) memcpy(frame->telemetry[0], row->numbers, sizeof row->numbers);

    frame->t = t;
    frame->rate = r->actual;
    frame->history_from = 0.0;
    frame->history_to = (double)(r->count - 1) / r->fps;
    frame->epoch = r->epoch;
    frame->past = false;
    memset(frame->contacts, 0, sizeof frame->contacts); /* a run does not store them */
    view_reel_put(reel);
    return true;
}

/* Shows frame `index` at once, and goes on from there. */
static void jump(replay *r, int64_t index)
{
    if (index < 0) index = 0;
    if (index >= r->count) index = r->count - 1;
    r->epoch++;
    put(r, index);
    r->next = index + 1;
    r->clock = view_clock();
    r->clock_t = (double)index / r->fps;
}

static void obey(replay *r, const view_command *command)
{
    switch (command->kind) {
    case VIEW_DO_PAUSE:
        r->paused = command->on;
        break;
    case VIEW_DO_STEP:
        r->paused = true;
        jump(r, r->next < r->count ? r->next : 0);
        break;
    case VIEW_DO_RESET:
        jump(r, 0);
        break;
    case VIEW_DO_SPEED:
        r->speed = command->value;
        break;
    case VIEW_DO_SEEK:
        r->paused = true;
        jump(r, llround(command->value * r->fps));
        break;
    default:
        return; /* the rest is for live pages */
    }
    tell(r);
}

static void note_progress(replay *r)
{
    double now = view_clock();
    double t = (double)r->next / r->fps;
    if (now - r->clock < 0.5) return;
    r->actual = fmax(0.0, (t - r->clock_t) / (now - r->clock));
    r->clock = now;
    r->clock_t = t;
}

static void *run(void *context)
{
    replay *r = context;
    double wait = 0.0;
    while (!atomic_load(&r->session->quit)) {
        view_command command;
        if (view_session_receive(r->session, wait, &command)) {
            obey(r, &command);
            free(command.content);
            wait = 0.0;
            continue;
        }

        /* A few frames wait; then this thread sleeps until one is taken. */
        wait = INFINITY;
        if (r->paused || view_reel_waiting(r->session->reel) > 3) continue;

        /* At the end the run begins again. A frame that cannot be read is tried again later. */
        note_progress(r);
        bool is_put = true;
        if (r->next >= r->count)
            jump(r, 0);
        else if ((is_put = put(r, r->next)))
            r->next++;
        wait = is_put ? 0.0 : 0.25;
    }
    return NULL;
}

/* The thread has ended when this is called, or never began. */
static void close_replay(replay *r)
{
    view_series_free(&r->series);
    tw_playback_free(r->playback);
    free(r->rows);
    free(r);
}

static void *run_and_close(void *context)
{
    run(context);
    close_replay(context);
    return NULL;
}

/* Which particles are free, and with which energy the run began, is asked of a simulation of our own:
 * that of the run is constant. */
static tw_status publish_geometry(replay *r, const char *directory, tw_error *error)
{
    tw_simulation *simulation = NULL;
    tw_status status = tw_scene_build(tw_playback_scene(r->playback), &simulation, error);
    if (status != TW_OK) return status;

    view_text geometry = {0};
    int64_t *free_at = calloc((size_t)tw_simulation_row_count(simulation) + 1, sizeof *free_at);
    status = free_at ? view_rows_free(simulation, r->rows, free_at) : TW_OUT_OF_MEMORY;
    if (status == TW_OK) status = view_series_read(&r->series, directory, simulation, error);
    if (status == TW_OK &&
        !view_geometry_write(simulation, free_at, r->rows, &r->series, &geometry))
        status = TW_OUT_OF_MEMORY;
    if (status == TW_OK) view_session_publish_geometry(r->session, &geometry);
    free(free_at);
    tw_simulation_free(simulation);
    return status;
}

static tw_status prepare(replay *r, const char *directory, tw_error *error)
{
    const tw_simulation *simulation = tw_playback_simulation(r->playback);
    const char *names[VIEW_FIELDS];
    view_shape shape = {.lanes = 1,
                        .fields = view_rows_fields(simulation, names),
                        .particles = tw_simulation_row_count(simulation)};
    size_t entries = (size_t)(shape.particles * tw_simulation_column_count(simulation));
    r->rows = calloc(entries + 1, sizeof *r->rows);
    if (!r->rows || !view_session_reshape(r->session, &shape, names)) return TW_OUT_OF_MEMORY;

    r->count = tw_playback_frame_count(r->playback);
    r->fps = tw_scene_fps(tw_playback_scene(r->playback));
    return publish_geometry(r, directory, error);
}

tw_status view_replay_open(view_session *session, const char *directory, double speed, bool paused,
                           tw_error *error)
{
    replay *r = calloc(1, sizeof *r);
    if (!r) return TW_OUT_OF_MEMORY;
    r->session = session;
    r->speed = speed > 0.0 ? speed : 1.0;
    r->paused = paused;

    tw_status status = tw_playback_open(directory, &r->playback, error);
    if (status == TW_OK) status = prepare(r, directory, error);
    if (status == TW_OK) {
        tell(r);
        jump(r, 0);
        if (pthread_create(&session->thread, NULL, run_and_close, r) != 0)
            status = TW_OUT_OF_MEMORY;
    }
    if (status != TW_OK) close_replay(r);
    return status;
}
