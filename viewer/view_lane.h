/* One simulation of a live page, with its integrator. */
#ifndef VIEWER_VIEW_LANE_H
#define VIEWER_VIEW_LANE_H

#include <twang/twang.h>

#include "view_rows.h"

/* What the sliders of the page say. */
typedef struct view_tuning {
    double stiffness; /* factor of every elastic constant of the bodies */
    double damping;   /* alpha of Rayleigh's damping [1/s]; negative: as in the scene */
    double step;      /* [s]; 0: as in the scene */
    double tolerance; /* of adaptive steps; 0: fixed steps; negative: as in the scene */
} view_tuning;
view_tuning view_tuning_default(void);

/* A scene as text, from which simulations are made again and again. */
typedef struct view_source {
    tw_scene *scene;
    char *text;
    size_t size;
} view_source;
tw_status view_source_take(view_source *source, tw_scene *scene, tw_error *error);
void view_source_free(view_source *source);

/* The hand that pulls, at the last measurement: what it does is work from outside. */
typedef struct view_hand {
    int64_t particle;   /* -1: it does nothing */
    double position[3]; /* of the particle [m] */
    double force[3];    /* [N] */
} view_hand;

/* The energy balance since the last start. */
typedef struct view_account {
    tw_energy_balance balance; /* with the spring of the hand as a part of the body */
    double energy_start;       /* accounted energy of the body where the balance begins [J] */
    double sliding_start;      /* work of sliding before the start [J] */
    double plastic_start;      /* plastic work before the start [J] */
    double hand_work;          /* of the hand at the body [J] */
    view_hand hand;
} view_account;

typedef struct view_lane {
    tw_simulation *simulation;
    tw_integrator *integrator;
    tw_integrator_options options;
    int64_t particles;
    int columns;
    double *rows;     /* the table of a state */
    double *state;    /* room for one */
    double *settled;  /* by which energy was judged last: others start from it */
    double settled_t; /* its time [s] */
    int64_t *free_at; /* index of each particle among the free ones; -1: pinned */
    double pull_stiffness;
    int64_t pulled; /* particle; -1: none */
    double target[3];
    view_account account;
    tw_integrator_statistics before; /* at the last measurement */
    double numbers[VIEW_TELEMETRY_COUNT];
    double step_seconds; /* of computing per step, smoothed */
    bool failed;
    int64_t failed_particle; /* -1: not known */
    char failure[TW_ERROR_TEXT_SIZE];
} view_lane;

/* Makes simulation and integrator, and starts at t with the state u (NULL: the scene's own). */
tw_status view_lane_open(view_lane *lane, const view_source *source, const view_tuning *tuning,
                         const char *scheme, tw_error *error);
tw_status view_lane_start(view_lane *lane, double t, const double *u, tw_error *error);
void view_lane_close(view_lane *lane);

/* One step. On failure lane->failed, and why. */
bool view_lane_step(view_lane *lane);
/* Whether its integrator has made two steps at most: the first one makes patterns and matrices, so that
 * its time says nothing about the next ones. */
bool view_lane_is_new(const view_lane *lane);
double view_lane_time(const view_lane *lane);
/* The state at t, inside the last step, into lane->state. */
tw_status view_lane_at(view_lane *lane, double t);
/* Pulls a particle to a point; particle -1 lets go. */
void view_lane_pull(view_lane *lane, int64_t particle, const double target[3]);

/* ---- view_account.c ---- */

/* Begins the balance where the integrator stands, and writes its numbers. */
tw_status view_account_begin(view_lane *lane, tw_error *error);
/* Adds the last step to the balance, and writes its numbers. */
tw_status view_account_add(view_lane *lane, tw_error *error);
/* The hand has moved, has taken a particle or has let go (-1), between two steps. */
void view_account_hand_moved(view_lane *lane, int64_t particle);
double view_length(const double v[3]);

/* ---- frames ---- */

/* Writes where surfaces touch in the state u at t into a frame. */
void view_lane_write_contacts(view_lane *lane, double t, const double *u, int index,
                              view_frame *frame);

/* How frames of it look. */
int view_lane_fields(const view_lane *lane, const char *names[VIEW_FIELDS]);
/* Writes the state u into a frame as its lane number `index`. */
tw_status view_lane_write(view_lane *lane, double t, const double *u, int index,
                          const view_shape *shape, view_frame *frame);

#endif
