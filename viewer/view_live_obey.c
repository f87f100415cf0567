/* Does what a live page says. A wish that cannot be granted changes nothing, and the page is told
 * why. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view_live.h"

static void explain(view_live *live, const tw_error *error, tw_status status)
{
    snprintf(live->message, sizeof live->message, "%s",
             error->text[0] ? error->text : tw_status_text(status));
    view_live_shorten(live->folder, live->message);
}

/* The simulations made again with other constants; they go on from where they are. */
static void retune(view_live *live, double *slider, double value)
{
    tw_error error = {0};
    double before = *slider;
    *slider = value;
    tw_status status = view_live_rebuild(live, true, &error);
    if (status == TW_OK) return;

    /* The simulations are as they were, and so is the slider. */
    *slider = before;
    explain(live, &error, status);
}

static bool is_scheme(const char *name)
{
    tw_scheme scheme = tw_scheme_from_name(name);
    return scheme != TW_SCHEME_COUNT && tw_scheme_available(scheme);
}

/* Another integrator for a lane; the name "" ends the second lane. */
static void change_scheme(view_live *live, char place[VIEW_NAME_SIZE], const char *name)
{
    if (name[0] && !is_scheme(name)) {
        snprintf(live->message, sizeof live->message, "there is no integrator '%.40s'", name);
        return;
    }

    char before[VIEW_NAME_SIZE];
    memcpy(before, place, sizeof before);
    snprintf(place, VIEW_NAME_SIZE, "%s", name);
    tw_error error = {0};
    tw_status status = view_live_rebuild(live, true, &error);
    if (status == TW_OK) return;

    /* The lanes are as they were, and so is the name. */
    memcpy(place, before, sizeof before);
    explain(live, &error, status);
}

/* A comparison begins for both at the same time and state. */
static void compare(view_live *live, const char *name)
{
    change_scheme(live, live->compare, name);
}

static void reset(view_live *live)
{
    tw_error error = {0};
    tw_status status = view_live_rebuild(live, false, &error);
    if (status != TW_OK) explain(live, &error, status);
}

/* The state that is shown becomes the present one. */
static void start_here(view_live *live)
{
    double time = 0.0;
    if (!live->seeking) return;

    const double *states = view_history_at(&live->history, live->sought, &time);
    tw_error error = {0};
    tw_status status = states ? view_live_restart(live, states, &error) : TW_OK;
    if (status != TW_OK) {
        explain(live, &error, status);
        return;
    }

    /* What came after it did not happen. */
    view_history_cut(&live->history, time);
    live->seeking = false;
    view_live_show(live);
}

static void pull(view_live *live, int64_t particle, const double *target)
{
    for (int i = 0; i < live->lane_count; i++) view_lane_pull(&live->lanes[i], particle, target);
}

static void set_paused(view_live *live, bool paused)
{
    live->paused = paused;
    if (paused) {
        /* Steps are made ahead of what is shown. A pause shows where they are, and the next single step begins there. */
        if (!live->seeking) view_live_show(live);
        return;
    }

    /* Who goes on after looking at the past goes on from the present. */
    for (int i = 0; i < live->lane_count; i++) live->lanes[i].failed = false;
    if (live->seeking) view_live_show(live);
    view_live_restart_clock(live);
}

static void single_step(view_live *live)
{
    live->paused = true;
    bool good = true;
    for (int i = 0; i < live->lane_count && good; i++) good = view_live_step(live);
    if (good) view_live_show(live);
}

static void set_speed(view_live *live, double speed)
{
    live->speed = speed;
    live->rate = speed > 0.0 ? speed : fmax(live->capability, 1e-6);
    live->spacing = live->rate / 60.0;
    view_live_restart_clock(live);
    atomic_store(&live->session->rate, live->rate);
}

static void upload(view_live *live, const view_command *command)
{
    tw_error error = {0};
    tw_status status = view_live_upload(live, command, &error);
    if (status != TW_OK) explain(live, &error, status);
}

void view_live_obey(view_live *live, const view_command *command)
{
    live->message[0] = '\0';
    switch (command->kind) {
    case VIEW_DO_PAUSE:
        set_paused(live, command->on);
        break;
    case VIEW_DO_STEP:
        single_step(live);
        break;
    case VIEW_DO_RESET:
        reset(live);
        break;
    case VIEW_DO_SPEED:
        set_speed(live, command->value);
        break;
    case VIEW_DO_PULL:
        pull(live, command->whole, command->point);
        break;
    case VIEW_DO_RELEASE:
        pull(live, -1, NULL);
        break;
    case VIEW_DO_STIFFNESS:
        retune(live, &live->tuning.stiffness, command->value);
        break;
    case VIEW_DO_DAMPING:
        retune(live, &live->tuning.damping, command->value);
        break;
    case VIEW_DO_STEP_SIZE:
        retune(live, &live->tuning.step, command->value);
        break;
    case VIEW_DO_TOLERANCE:
        retune(live, &live->tuning.tolerance, command->value);
        break;
    case VIEW_DO_INTEGRATOR:
        change_scheme(live, command->whole == 0 ? live->scheme : live->compare, command->name);
        break;
    case VIEW_DO_COMPARE:
        compare(live, command->name);
        break;
    case VIEW_DO_SEEK:
        live->paused = true;
        view_live_seek(live, command->value);
        break;
    case VIEW_DO_START_HERE:
        start_here(live);
        break;
    case VIEW_DO_UPLOAD:
        upload(live, command);
        break;
    case VIEW_DO_FIELD:
        break; /* each client's own matter */
    }

    /* A pull comes sixty times a second and changes nothing that the page has to be told. */
    bool is_pull = command->kind == VIEW_DO_PULL;
    if (!is_pull) view_live_tell(live);
}
