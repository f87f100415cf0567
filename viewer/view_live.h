/* The state of a live page's worker. view_live.c keeps time; view_live_open.c makes and changes the
 * simulations; view_live_obey.c does what the page says. */
#ifndef VIEWER_VIEW_LIVE_H
#define VIEWER_VIEW_LIVE_H

#include "view_history.h"
#include "view_lane.h"
#include "view_session.h"

typedef struct view_live {
    view_session *session;
    view_source source;
    view_tuning tuning;
    char scheme[VIEW_NAME_SIZE];  /* of the first lane; "": as in the scene */
    char compare[VIEW_NAME_SIZE]; /* of the second lane; "": there is none */
    view_lane lanes[VIEW_LANES];
    int lane_count;
    view_history history;
    char message[TW_ERROR_TEXT_SIZE]; /* why the last wish was not granted */
    char folder[64];                  /* of the mesh that is shown; "": it was not uploaded */

    int threads;  /* of the loops inside a step */
    double speed; /* simulated seconds per second that are wanted; 0: as fast as it can */
    bool paused;
    bool seeking;  /* the past is shown ... */
    double sought; /* ... at this time [s] */
    uint32_t epoch;

    double rate;          /* at which frames are shown */
    double spacing;       /* simulated time between frames [s] */
    double next_frame;    /* simulated time of the next one [s] */
    double frame_seconds; /* of computing per frame, smoothed */
    double work_simulated, work_seconds;
    double capability; /* simulated seconds per second of computing */
    double actual;     /* real-time factor reached */
    double progress_clock, progress_t;
} view_live;

/* ---- view_live.c ---- */

void view_live_tell(view_live *live);           /* publishes the state */
void view_live_show(view_live *live);           /* the present state, at once */
void view_live_seek(view_live *live, double t); /* a past state */
double view_live_time(const view_live *live);   /* the earliest of the lanes [s] */
/* Entries of a lane in the past: a state and its time. */
int64_t view_live_past_size(const view_live *live);
void view_live_restart_clock(view_live *live);
bool view_live_step(view_live *live);

/* ---- view_live_open.c ---- */

/* Takes the scene and begins with it; on failure the scene is freed, and everything stays as it was. */
tw_status view_live_load(view_live *live, tw_scene *scene, tw_error *error);
/* Makes all simulations again; `keep`: they go on from the present state. */
tw_status view_live_rebuild(view_live *live, bool keep, tw_error *error);
/* New integrators for the same simulations, from states of the past. */
tw_status view_live_restart(view_live *live, const double *states, tw_error *error);
/* Writes a scene for the mesh in this file. */
void view_mesh_scene_write(const char *path, view_text *text);
/* Opens an uploaded scene or mesh. */
tw_status view_live_upload(view_live *live, const view_command *command, tw_error *error);
/* Takes the folder of an upload out of a message: users know the file by its name only. */
void view_live_shorten(const char *folder, char *text);
void view_live_close(view_live *live);

/* ---- view_live_obey.c ---- */

void view_live_obey(view_live *live, const view_command *command);

#endif
