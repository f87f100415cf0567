/* What the parts of expmid2 share: its memory, its history, and what each part offers the others.
 *     expmid2.c            creation, the symmetric stage, the step
 *     expmid2_stage.c      one solution of the stage: x_m, a_m, v_m, the tangent and the rate there
 *     expmid2_functions.c  functions of the tangent applied to the start vectors
 *     expmid2_estimate.c   the error estimate
 *     expmid2_vibration.c  what the step loses of unresolved vibrations
 *     expmid2_energy.c     the state by which energy is judged
 *     expmid2_tally.c      sums beside the state
 *     expmid2_modes.h      what one mode does */
#ifndef TW_INTEGRATORS_EXPMID2_H
#define TW_INTEGRATORS_EXPMID2_H

#include "integrators/expmid2_modes.h"
#include "integrators/implicit_stage.h"
#include "integrators/integrator_internal.h"

typedef struct tw_expmid2_memory {
    tw_implicit *implicit;
    tw_phi_workspace *workspace;
    tw_phi_options phi;
    double stage_tolerance; /* of Newton's iteration */

    double *x_star, *x_m, *a_m, *v_m; /* of this step's stage */
    double *shift;                    /* c: x_star = x_n + t v_n + c */
    double *bend;                     /* a_p: acceleration of the parabola x_n, v_n, x_m */
    double *v_star;                   /* v_n + (2/t) c: v_m = v_star + (2/t) (x_m - x_star) */
    double *rate;                     /* a_t */
    double *rest;                     /* r */
    double *start_v;                  /* v_n of the step that the basis belongs to */
    double *end_v;                    /* v_(n+1), before impulses change it */
    double *half, *target;            /* q and (I + t^2 A) q */
    double *change;                   /* outputs of step 3: x, then v (2 N) */
    double *part;                     /* what a second basis adds to outputs (2 N) */
    double *tally_way;                /* what w' is applied to: expmid2_tally.c */
    double *remainder;
    double *averaged; /* the filtered remainder over h^2, averaged in time */
    double *work;     /* 2 N */
    double *judged;   /* the state whose energy is judged (2 N) */
    double *storage;

    int dimensions
        [TW_MAX_BLOCK]; /* that the functions of this step take; before: are expected to */

    double h;            /* of this step */
    double kappa;        /* of its stage: tw_expmid2_kappa */
    double t_m;          /* time of its middle */
    double start_speed;  /* |v_n| in the mass norm */
    double speed;        /* |v_n| + t |a_m| in the mass norm: of a start from rest, too */
    double acceleration; /* |a_m| in the mass norm */
    double hidden_power; /* at the state that is judged [W]; see expmid2_energy.c */
    double least_speed;  /* speed after tw_controller_time_from_rest, in the mass norm */
    double rest_time;    /* of the slow motion at the start [s]; see expmid2_vibration.c */
    bool has_rate;       /* forces depend on time */
    bool has_rest;       /* the symmetric stand-in lacks something */
    bool has_shift;      /* c is not zero */

    /* Travels through serialise: the history, then x_m, a_m, v_m of the last step, the a_m of the
     * step before it, the averaged remainder and the mean velocity (N each), then the past of the stage solver. */
    double *past;
} tw_expmid2_memory;

/* What the next step wants to know of the last accepted one. Doubles alone, because it is a part
 * of `past`. */
typedef struct tw_expmid2_history {
    double h;                        /* 0: there is no last step */
    double h_before;                 /* of the step before it; 0: there is none */
    double t_m;                      /* time of its midpoint */
    double acceleration;             /* largest |a_m| of late */
    double slow_energy;              /* largest kinetic energy of the slow motion so far [J] */
    double slow_time;                /* over which its mean velocity is taken [s] */
    double dimensions[TW_MAX_BLOCK]; /* that its functions took, per start vector; 0: unknown */
} tw_expmid2_history;

enum { TW_EXPMID2_HISTORY_SIZE = sizeof(tw_expmid2_history) / sizeof(double) };

static inline tw_expmid2_history *tw_expmid2_history_of(const tw_expmid2_memory *memory)
{
    return (tw_expmid2_history *)memory->past;
}

enum { TW_EXPMID2_PAST_VECTORS = 6 };

/* The last step's x_m, a_m, v_m, the a_m of the step before it, the averaged remainder, and the mean
 * velocity: which = 0 ... 5. */
static inline double *tw_expmid2_last(const tw_integrator *integrator, int which)
{
    const tw_expmid2_memory *memory = integrator->memory;
    return memory->past + TW_EXPMID2_HISTORY_SIZE + which * integrator->system.n;
}

/* ---- expmid2_stage.c ---- */

/* a_p = bend (kappa a_m + c / t^2), the acceleration at the stage that gives its velocity: 2, the
 * parabola's, where the symmetric stage puts resolved modes on it. Without, a_m itself is right for
 * them. */
static inline double tw_expmid2_bend(const tw_integrator *integrator)
{
    return integrator->options.expmid2.corrections > 0 ? 2 : 1;
}

/* kappa of the stage x_m = x_star + kappa t^2 a(x_m). With 1/2 the stage lies on the parabola of a
 * slow motion with its own acceleration, a_p = a_m, whatever turns or creeps there. But a vibration
 * (e, nu) that no step resolves is a false acceleration -(e + t nu) / (kappa t^2) of the stage, and
 * 1 makes half of it. So kappa is 1/2 where damping ends vibrations, and 1 where nothing does.
 * Measured: a hair without damping at h = 25 ms has five times the error with 1/2, and a free box
 * with beta = h changes its angular momentum by ten times as much with 1. */
double tw_expmid2_kappa(const tw_integrator *integrator, double h);
/* |x| in the mass norm. */
tw_status tw_expmid2_norm(tw_integrator *integrator, const double *x, double *norm);
/* x_star = x_n + t v_n + c, and v_star = v_n + (2/t) c. */
void tw_expmid2_set_target(const tw_integrator *integrator, tw_expmid2_memory *memory);
/* The first guess of x_m. */
tw_status tw_expmid2_guess_stage(tw_integrator *integrator, tw_expmid2_memory *memory);
/* Solves the stage from the guess in x_m; then a_m, v_m, the speeds and the rate. `final`: the
 * tangent is that of the step, so it must be near x_m. */
tw_status tw_expmid2_solve_stage(tw_integrator *integrator, tw_expmid2_memory *memory, bool final);

/* ---- expmid2_functions.c ---- */

/* The bases that an engine keeps. */
enum {
    TW_EXPMID2_SLOT_STEP,     /* of the step, for points inside it */
    TW_EXPMID2_SLOT_ESTIMATE, /* of the error estimate */
    TW_EXPMID2_SLOT_REST,     /* of the fifth start vector */
    TW_EXPMID2_SLOTS
};

enum { TW_EXPMID2_MAX_OUTPUTS = 3 };

/* The outputs that a request wants, and where they go. */
typedef struct tw_expmid2_outputs {
    int count;
    tw_mode_output kind[TW_EXPMID2_MAX_OUTPUTS];
    double *vector[TW_EXPMID2_MAX_OUTPUTS];
    /* Errors count beside this: where nothing is resolved, the outputs themselves are nothing. */
    double reference[TW_EXPMID2_MAX_OUTPUTS];
    int *dimensions; /* of tw_spectral_request; NULL: nothing is expected */
} tw_expmid2_outputs;

/* outputs = functions of A of the start vectors. `reuse`: the basis of the last call serves. */
tw_status tw_expmid2_apply_modes(tw_integrator *integrator, tw_expmid2_memory *memory, double theta,
                                 const tw_expmid2_outputs *outputs, bool reuse, tw_error *error);
/* Evaluates a request, with Newton's own matrix as the pole of shift-invert. */
tw_status tw_expmid2_evaluate(tw_integrator *integrator, tw_expmid2_memory *memory,
                              const tw_spectral_request *request, bool reuse, tw_error *error);
/* memory->change = the parts of x and v at the end of the step that need functions of A. */
tw_status tw_expmid2_find_change(tw_integrator *integrator, tw_expmid2_memory *memory,
                                 tw_error *error);
/* The same at theta, inside the last step, with fewer digits if need be. */
tw_status tw_expmid2_find_inside(tw_integrator *integrator, tw_expmid2_memory *memory,
                                 double theta);
/* memory->change = the carried velocity, and v in the middle of the step, as far as they need
 * functions of A; with fewer digits if need be. */
tw_status tw_expmid2_find_middle(tw_integrator *integrator, tw_expmid2_memory *memory);
/* vector += what modes of infinite lambda add to the output. */
void tw_expmid2_add_by_hand(const tw_integrator *integrator, const tw_expmid2_memory *memory,
                            double theta, tw_mode_output output, double *vector);
/* u = u_start + the change + what modes of infinite lambda do. */
void tw_expmid2_compose(const tw_integrator *integrator, const tw_expmid2_memory *memory,
                        double theta, const double *u_start, double *u);
/* The largest |a| of late, and the time |v|/|a| in which the motion changes. */
double tw_expmid2_recent_acceleration(const tw_expmid2_memory *memory);
double tw_expmid2_slow_time(const tw_expmid2_memory *memory);

/* ---- expmid2_estimate.c ---- */

/* integrator->error_vector = the local error of the step in u_new. */
tw_status tw_expmid2_estimate(tw_integrator *integrator, tw_expmid2_memory *memory,
                              tw_error *error);
/* statistics.asymmetry = how far the stage is from that of the reversed step. */
tw_status tw_expmid2_measure_asymmetry(tw_integrator *integrator, tw_expmid2_memory *memory);

/* ---- expmid2_vibration.c ---- */

/* integrator->lost_share = what the step loses of vibrations, in units of the tolerance. */
tw_status tw_expmid2_judge_vibration(tw_integrator *integrator, tw_expmid2_memory *memory,
                                     bool is_first, tw_error *error);
/* Takes an accepted adaptive step into the mean velocity and the energy of the slow motion. */
tw_status tw_expmid2_follow_slow_motion(tw_integrator *integrator, tw_expmid2_memory *memory);

/* ---- expmid2_tally.c ---- */

/* Adds the output that the sums beside the state need, where they need one, to those of the step. */
void tw_expmid2_add_tally_output(const tw_integrator *integrator, const tw_expmid2_memory *memory,
                                 tw_expmid2_outputs *outputs);
/* Hands the gain of the sums in this step to the integrator. */
tw_status tw_expmid2_add_tally(tw_integrator *integrator, const tw_expmid2_memory *memory);

/* ---- expmid2_energy.c ---- */

/* The midpoint of the last attempt and its time: energy_state of the scheme. */
const double *tw_expmid2_energy_state(tw_integrator *integrator, double *t);
/* What the power from outside at that state lacks: hidden_power of the scheme. */
double tw_expmid2_hidden_power(const tw_integrator *integrator);

#endif
