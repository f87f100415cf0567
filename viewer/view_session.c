/* What the worker and the network share. */
#define _POSIX_C_SOURCE 200809L
#include "view_session.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* A worker that has nothing to do looks again after this time at the latest [s]. */
static const double LONGEST_WAIT = 3600.0;

double view_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool view_session_open(view_session *session)
{
    *session = (view_session){0};
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    bool good = pthread_mutex_init(&session->lock, NULL) == 0 &&
                pthread_cond_init(&session->wake, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    return good;
}

void view_session_close(view_session *session)
{
    view_command command;
    while (view_session_receive(session, 0.0, &command)) free(command.content);
    view_reel_free(session->reel);
    view_text_free(&session->state);
    view_text_free(&session->geometry);
    pthread_cond_destroy(&session->wake);
    pthread_mutex_destroy(&session->lock);
}

/* ---- commands ---- */

/* A pull replaces the one that waits: only the last place of the hand counts. */
static view_command *place_for(view_session *session, const view_command *command)
{
    if (command->kind == VIEW_DO_PULL && session->command_count > 0) {
        int last = (session->command_first + session->command_count - 1) % VIEW_COMMANDS;
        if (session->commands[last].kind == VIEW_DO_PULL) return &session->commands[last];
    }
    if (session->command_count == VIEW_COMMANDS) return NULL;
    int next = (session->command_first + session->command_count++) % VIEW_COMMANDS;
    return &session->commands[next];
}

void view_session_send(view_session *session, view_command *command)
{
    pthread_mutex_lock(&session->lock);
    view_command *place = place_for(session, command);
    if (place)
        *place = *command;
    else
        free(command->content);
    command->content = NULL;
    pthread_cond_signal(&session->wake);
    pthread_mutex_unlock(&session->lock);
}

void view_session_nudge(view_session *session)
{
    pthread_mutex_lock(&session->lock);
    session->nudged = true;
    pthread_cond_signal(&session->wake);
    pthread_mutex_unlock(&session->lock);
}

bool view_session_receive(view_session *session, double seconds, view_command *out)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    double bounded = fmin(seconds, LONGEST_WAIT);
    long long nanoseconds = until.tv_nsec + (long long)(bounded * 1e9);
    until.tv_sec += nanoseconds / 1000000000;
    until.tv_nsec = nanoseconds % 1000000000;

    pthread_mutex_lock(&session->lock);
    int result = 0;
    while (seconds > 0.0 && session->command_count == 0 && !session->nudged && result != ETIMEDOUT)
        result = pthread_cond_timedwait(&session->wake, &session->lock, &until);
    session->nudged = false;

    bool has_one = session->command_count > 0;
    if (has_one) {
        *out = session->commands[session->command_first];
        session->command_first = (session->command_first + 1) % VIEW_COMMANDS;
        session->command_count--;
    }
    pthread_mutex_unlock(&session->lock);
    return has_one;
}

/* ---- publishing ---- */

static void publish(view_session *session, view_text *place, view_text *text,
                    unsigned long long *version)
{
    /* Without memory the page keeps what it has. */
    if (text->failed) {
        view_text_free(text);
        return;
    }
    pthread_mutex_lock(&session->lock);
    view_text_free(place);
    *place = *text;
    (*version)++;
    if (session->notify) session->notify(session->notify_context);
    pthread_mutex_unlock(&session->lock);
    *text = (view_text){0};
}

void view_session_listen(view_session *session, void (*notify)(void *), void *context)
{
    pthread_mutex_lock(&session->lock);
    session->notify = notify;
    session->notify_context = context;
    pthread_mutex_unlock(&session->lock);
}

void view_session_publish_state(view_session *session, view_text *state)
{
    publish(session, &session->state, state, &session->state_version);
}

void view_session_publish_geometry(view_session *session, view_text *geometry)
{
    publish(session, &session->geometry, geometry, &session->geometry_version);
}

bool view_session_reshape(view_session *session, const view_shape *shape,
                          const char *const *field_names)
{
    view_reel *reel = view_reel_create(shape);
    if (!reel) return false;

    pthread_mutex_lock(&session->lock);
    view_reel *old = session->reel;
    session->reel = reel;
    session->reel_version++;
    session->field_count = shape->fields;
    for (int i = 0; i < shape->fields; i++)
        snprintf(session->field_names[i], sizeof session->field_names[i], "%s", field_names[i]);
    pthread_mutex_unlock(&session->lock);
    view_reel_free(old);
    return true;
}

/* ---- state ---- */

void view_state_lists(view_text *text, const view_session *session)
{
    view_text_add(text, ",\"telemetry\":[");
    for (int i = 0; i < VIEW_TELEMETRY_COUNT; i++)
        view_text_add(text, "%s\"%s\"", i ? "," : "", view_telemetry_names[i]);
    view_text_add(text, "],\"fields\":[");
    for (int i = 0; i < session->field_count; i++) {
        if (i > 0) view_text_add(text, ",");
        view_text_string(text, session->field_names[i]);
    }
    view_text_add(text, "],\"version\":");
    view_text_string(text, TW_VERSION);
}
