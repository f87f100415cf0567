/* The integrator and the table every scheme fills. */
#ifndef TW_INTEGRATOR_INTERNAL_H
#define TW_INTEGRATOR_INTERNAL_H

#include <float.h>
#include <math.h>
#include <twang/integrator.h>

#include "integrators/system.h"

/* One scheme. attempt() is a pure trial: it reads integrator->{t, u, F} and writes
 * integrator->u_new (and error_vector). Then the driver accepts (it calls accepted(), and u_new
 * becomes u) or rejects (it calls attempt() again with a smaller h and integrator->retry set: t and
 * u are the same, so linearisation and bases remain valid). */
typedef struct tw_scheme_table {
    /* Allocates integrator->memory; refuses problems that the scheme does not fit (TW_UNSUPPORTED
     * with a text). */
    tw_status (*reserve)(tw_integrator *integrator, tw_error *error);
    void (*release)(tw_integrator *integrator);

    /* A new start: forgets the past. NULL if there is nothing to forget. */
    void (*reset)(tw_integrator *integrator);

    tw_status (*attempt)(tw_integrator *integrator, double h, tw_error *error);

    /* Called before u_new replaces u. NULL if there is nothing to do. */
    void (*accepted)(tw_integrator *integrator, double h);

    /* Points inside the step will be asked for at multiples of `interval` (INFINITY: never; 0:
     * unknown). Allocates what the scheme needs to make them along with the step. NULL if it needs
     * nothing. */
    tw_status (*expect)(tw_integrator *integrator, double interval);

    /* The state at t_old + theta h, 0 < theta < 1, in the last accepted step (u_old, u,
     * step_taken). NULL: Hermite interpolation. */
    tw_status (*interpolate)(tw_integrator *integrator, double theta, double *u);

    /* The doubles that must travel through serialise besides t, u and the controller: their number,
     * and where they are. NULL if there are none. */
    size_t (*history)(tw_integrator *integrator, double **values);

    /* Called after the history was written back, to rebuild what follows from it (a factor, a
     * cached force). NULL if nothing does. */
    tw_status (*restored)(tw_integrator *integrator);

    /* The state whose energy tells whether the step is sound, and its time, where that is not
     * u_new: unresolved stiff modes leave a spurious energy at step ends. Valid after a successful
     * attempt. NULL: u_new. */
    const double *(*energy_state)(tw_integrator *integrator, double *t);

    /* What the power from outside at the state that energy_state gave last lacks: the forces there
     * may not be those that act during the step. NULL: nothing. */
    double (*hidden_power)(const tw_integrator *integrator);

    /* Forgets the matrix at hand, because the laws of the forces have changed (internal variables),
     * and keeps what else it remembers. NULL: it is reset then. */
    void (*forget_tangent)(tw_integrator *integrator);

    bool equal_steps; /* small changes of the step do harm: the controller does not make them */
    int error_order;  /* r of the embedded estimate (error ~ h^(r+1)); 0: step doubling */
    bool fixed_only;  /* multistep with constant coefficients: no adaptive steps */
    bool own_steps;   /* attempt(h) takes a step of at most h and puts its length into own_step */
    /* What it remembers does not depend on the state at the end of the last step, so that a problem
     * may change that state (finish_step). Otherwise it is reset then. */
    bool allows_impulses;
    /* `interpolate` does not look at the end of the step: impulses at the end (finish_step) leave
     * what is before them as it is. */
    bool interpolates_from_start;
    bool uses_rhs;    /* attempt() reads integrator->F = F(t, u): the driver keeps it up to date */
    bool is_explicit; /* a step costs a few forces: an energy would be a large part of it */
    bool checks_result; /* attempt() returns TW_NOT_FINITE itself if u_new is not finite */
    double stability;   /* h omega up to which oscillations without damping stay bounded; 0: none */
} tw_scheme_table;

enum {
    TW_MAX_EVENTS = 16,
    TW_LARGEST_DIVISION = 12 /* a fixed step over contacts is halved at most so many times */
};

/* Memory of step doubling, in one piece: system.size entries each, then the scheme's history. */
typedef struct tw_step_doubling {
    double *u_whole;   /* the result of one step of h */
    double *u_middle;  /* the end of the first half */
    double *past;      /* the scheme's history at the start of the step */
    double *internal;  /* internal variables at the end of the first half */
    bool laws_changed; /* whether they are not those of the start */
} tw_step_doubling;

/* What is known of a state when the energy guard looks at it. */
typedef struct tw_energy_look {
    double t;                  /* [s] */
    double kinetic, potential; /* [J] */
    double power;              /* from outside [W] */
} tw_energy_look;

/* What the energy guard remembers of the run (energy_guard.c). */
typedef struct tw_energy_watch {
    double energy, potential; /* at the reference [J] */
    double kinetic;           /* the same */
    double start_energy;      /* at the start of the run [J] */
    double gain;              /* E - energy - work at the last judged step [J] */
    double sound_scale;       /* largest energy turned over while the gain was within its bound */
    double violated_scale;    /* the same when the gain first exceeded it; 0 while it does not */
    double first_scale;       /* the same at the first look since the reference; 0: none yet */
    double t, power;          /* time of the last look [s], power from outside then [W] */
    double work, work_size;   /* integrals of the power and of its size since the reference [J] */
    tw_energy_look last;      /* the last look; at a stage it is the reference of the next alarm */
    double velocity;          /* largest mean velocity of a step under alarm */
    int64_t quiet_steps;      /* steps since the mean velocity last exceeded that */
    int64_t alarmed;          /* whether the guard looks at every step */
} tw_energy_watch;

struct tw_integrator {
    tw_integrator_options options;
    const tw_scheme_table *scheme;
    int order;       /* of the scheme, or of the user's tableau */
    int error_order; /* of the estimate in use: scheme's, tableau's, or step doubling's */
    tw_system system;
    tw_integrator_statistics counts;
    void *memory; /* the scheme's own */

    /* The state. */
    double t, t_old;           /* now, and before the last accepted step */
    double t_start;            /* of tw_integrator_start */
    double probed_end;         /* limits up to this one need no tw_check_time_dependence */
    double step_taken;         /* the last accepted step */
    double *u, *u_old, *u_new; /* system.size entries each */
    double *F, *F_old;         /* F(t, u) if F_known; F(t_old, u_old) if F_old_known */
    bool F_known, F_old_known;
    double F_tally[3];             /* the rates of the tally where F is known */
    double *internal;              /* internal variables of (t, u); NULL: the problem has none */
    double *internal_old;          /* those of (t_old, u_old) */
    unsigned char *internal_fresh; /* of each block: whether these two may differ there */
    bool laws_changed; /* they have changed in the last step, and the scheme does not know yet */
    bool started;
    bool stage_known; /* the last attempt was accepted: energy_state is of the last step */
    bool truncated;   /* an event cut the last step short: the state at its full end is in u_new */

    /* The attempt. */
    bool retry;           /* it repeats a rejected one */
    double *error_vector; /* local error estimate, system.size entries, if has_error */
    bool has_error;
    double lost_share;  /* a further error, in units of the tolerance; 0: none */
    double least_speed; /* errors of v count beside it at least; 0: beside |v| alone */
    double *tolerances; /* absolute ones, system.size entries; NULL: options.absolute_tolerance */
    bool doubles;       /* adaptive without an embedded estimate: one step against two halves */
    tw_step_doubling doubling; /* allocated if `doubles` */
    double own_step;           /* length of the step that a scheme with own_steps took */
    bool newton_failed;   /* set by an implicit scheme whose attempt failed in Newton's iteration */
    bool energy_rejected; /* the energy guard rejected the last attempt */
    bool impulses;        /* finish_step changed the state at the end of the last attempt */
    double impulse_work;  /* kinetic energy that it gave then; negative: took [J] */
    double tally[3];      /* what the sums of the problem gain in the attempt: see tally.c */
    bool tally_known;     /* the scheme has integrated them */
    double *scratch;      /* 4 system.size entries for driver and output; schemes have their own */

    /* Fixed steps: span/ceil(span/step) each; their ends are computed from plan_start, so rounding
     * does not accumulate. */
    double plan_start, plan_end;
    int64_t plan_count, plan_done;
    int64_t plan_division; /* the step at hand is made in 2^division parts ... */
    int64_t plan_part;     /* ... of which so many are done ... */
    int64_t plan_calm;     /* ... and so many were accepted since the last rejection */

    /* The controller. */
    double h_next;      /* the step it proposes [s]; 0 before the first one */
    double h_old;       /* the accepted step before [s] */
    double error_old;   /* its error in units of the tolerance */
    double cost_old;    /* its cost per unit time */
    int cost_direction; /* +1: the cost-aware controller tries longer steps, -1: shorter ones */
    bool last_rejected;

    /* The energy guard. */
    bool energy_guarded;
    bool energy_alarms; /* it looks at the energy while it is alarmed only */
    tw_energy_watch watch;

    /* The integrator before the step that is being attempted, for tw_integrator_on_interrupt. */
    void *snapshot; /* NULL: none was needed yet */
    size_t snapshot_size;

    /* What tw_integrator_expect_output said; interval 0 if it was not called. */
    double expected_start, expected_interval;

    /* The user's functions. */
    tw_step_function *on_step;
    void *on_step_context;
    tw_output_function *on_output;
    void *on_output_context;
    double output_start, output_interval; /* output k is at output_start + k output_interval ... */
    double *output_times;                 /* ... or at output_times[k], if it is not NULL */
    int64_t output_count;                 /* of output_times */
    int64_t output_next;                  /* number k of the next output */
    tw_event events[TW_MAX_EVENTS];
    double event_values[TW_MAX_EVENTS]; /* at the last step's end */
    int event_count;
    bool stopped;     /* an event ended the last step: */
    int stop_event;   /* its number, in the order in which events were added */
    double stop_time; /* [s] */
};

/* The table of each scheme; integrator.c lists them. */
extern const tw_scheme_table tw_scheme_explicit_euler, tw_scheme_explicit_midpoint, tw_scheme_rk4,
    tw_scheme_verlet, tw_scheme_rosenbrock, tw_scheme_expmid2, tw_scheme_expmid4,
    tw_scheme_gautschi, tw_scheme_bdf1, tw_scheme_bdf2, tw_scheme_semi_implicit,
    tw_scheme_implicit_midpoint, tw_scheme_newmark, tw_scheme_generalized_alpha, tw_scheme_v_imex,
    tw_scheme_cvode;

/* TW_INVALID_ARGUMENT where an option is out of range, TW_UNSUPPORTED where the scheme cannot do what
 * is asked. (integrator_options.c) */
tw_status tw_integrator_check_options(const tw_integrator_options *options,
                                      const tw_scheme_table *scheme, tw_error *error);

/* The size of an error vector in units of the tolerance; it is within the tolerance if <= 1. Each
 * block is taken relative to (reference or rms of u) + atol/rtol, the larger of the two blocks
 * counts, and a power is taken so that the size scales like h^order. (controller.c) */
tw_status tw_error_norm(const tw_integrator *integrator, const double *e, double *norm);

/* The relative error of a block at which tw_error_norm gives 1. */
double tw_error_rejected(const tw_integrator *integrator);

/* Whether a failed attempt may be retried with a smaller step. */
bool tw_status_is_rejection(tw_status status);

/* The step sizes that the controller proposes after an accepted step of h with this error (in units
 * of the tolerance) and work, after a rejected one, and at the start. (controller.c) */
double tw_controller_after_accept(tw_integrator *integrator, double h, double error, double work);
double tw_controller_after_reject(tw_integrator *integrator, double h, double error);
tw_status tw_controller_first_step(tw_integrator *integrator, double t_limit, double *h);
/* The time in which a body at rest under the acceleration a (N entries) moves by a hundredth of its
 * size, and the speed that it then has (rms); 0 where a is 0. */
tw_status tw_controller_time_from_rest(const tw_integrator *integrator, const double *a,
                                       double *time, double *speed);

/* What the problem does not own up to (dependence_probe.c): whether the acceleration changes with v at
 * (t, u) though velocity_dependent is false; whether its tangent there is not symmetric though
 * stiffness_is_general is false and the scheme relies on it; TW_INVALID_ARGUMENT if the force changes
 * with time before t_limit though time_dependent is false. */
tw_status tw_probe_velocity(tw_integrator *integrator, double t, const double *u, bool *depends);
tw_status tw_probe_symmetry(tw_integrator *integrator, double t, const double *u, bool *is_general);
tw_status tw_check_time_dependence(tw_integrator *integrator, double t_limit, tw_error *error);

/* Lets the problem prepare a step of h from (t, u), and takes the matrix that it hands over.
 * (driver.c) */
tw_status tw_integrator_begin_step(tw_integrator *integrator, double h, tw_error *error);
/* One attempt of the scheme from (t, u) to u_new, checked to be finite. (driver.c) */
tw_status tw_integrator_attempt(tw_integrator *integrator, double h, tw_error *error);
/* ---- tally.c ---- */

/* Whether the problem has sums that are integrated beside its state. */
bool tw_tally_is_wanted(const tw_integrator *integrator);
/* Nothing is known of this attempt. */
void tw_tally_begin(tw_integrator *integrator);
/* Notes the rates at (t, u), right after F was evaluated there. */
tw_status tw_tally_note_F(tw_integrator *integrator);
/* rates = w at (t, x); x NULL: where the acceleration was evaluated last. Zero without a tally. */
tw_status tw_tally_rates(tw_integrator *integrator, double t, const double *x, double rates[3]);
/* tally += weight * rates. */
void tw_tally_add(tw_integrator *integrator, double weight, const double rates[3]);
/* tally += weight * w where the acceleration was evaluated last. */
tw_status tw_tally_add_last(tw_integrator *integrator, double weight);
/* tally += (dw/dx) d. */
void tw_tally_add_tangent(tw_integrator *integrator, const double *d);
/* Gives the sums of the attempt to the problem. */
void tw_tally_hand_over(tw_integrator *integrator);

/* Resets the scheme if impulses changed a state that it remembers. (driver.c) */
void tw_integrator_forget_end(tw_integrator *integrator);

/* Step doubling (step_doubling.c): decides at creation whether it is needed and allocates; makes an
 * attempt with an error estimate; gives the state at t_old + theta h in such a step for schemes
 * that interpolate by themselves. */
tw_status tw_doubling_reserve(tw_integrator *integrator);
void tw_doubling_release(tw_integrator *integrator);
tw_status tw_doubling_attempt(tw_integrator *integrator, double h, tw_error *error);
/* After a rejected attempt: the scheme's past is that of the step's start again. */
void tw_doubling_undo(tw_integrator *integrator);
tw_status tw_doubling_interpolate(tw_integrator *integrator, double theta, double *u);

/* Internal variables of the problem (internal_variables.c). */
static inline int64_t tw_internal_count(const tw_integrator *integrator)
{
    return integrator->system.second_order ? integrator->system.second.internal.count : 0;
}
tw_status tw_internal_reserve(tw_integrator *integrator, tw_error *error);
void tw_internal_free(tw_integrator *integrator);
/* Gives them their values at the start. */
void tw_internal_start(tw_integrator *integrator);
/* Those of (t, u) are others than those that were accepted last. */
void tw_internal_mark_all(tw_integrator *integrator);
/* Hands those of (t, u) to the problem: what was evaluated with others is void. */
void tw_internal_hand_over(tw_integrator *integrator);
/* Takes those of the end of the accepted step from the problem. */
void tw_internal_accept(tw_integrator *integrator);
/* Whether the problem's present ones differ from these. */
bool tw_internal_differ(const tw_integrator *integrator, const double *before);
/* Goes back to those before the last step. */
void tw_internal_go_back(tw_integrator *integrator);
/* Tells the scheme, once, that the laws of the forces have changed. */
void tw_internal_tell_scheme(tw_integrator *integrator);

/* The energy guard: decides at creation whether the problem is guarded, notes the energy at the
 * start, and judges u_new at t_new: TW_NOT_CONVERGED if the energy explodes. (energy_guard.c) */
void tw_energy_guard_prepare(tw_integrator *integrator);
tw_status tw_energy_guard_start(tw_integrator *integrator);
tw_status tw_energy_guard_check(tw_integrator *integrator, double t_new);

/* Reports the events and the outputs that the last accepted step passed. An event may end the step
 * earlier: then *stopped is true. (step_output.c) */
tw_status tw_integrator_report_step(tw_integrator *integrator, bool *stopped, tw_error *error);

/* The events alone. (events.c) */
tw_status tw_integrator_report_events(tw_integrator *integrator, bool *stopped, tw_error *error);

/* Evaluates the events at the present state. */
tw_status tw_integrator_reset_events(tw_integrator *integrator);

/* Times closer than this are the same time, in a step of h around t: k/fps and the sum of k steps
 * differ by rounding. */
static inline double tw_time_slack(double t, double h)
{
    return 1e-12 * h + 8 * DBL_EPSILON * fabs(t);
}

/* Makes integrator->F = F(t, u) if it is not known yet. */
tw_status tw_integrator_need_rhs(tw_integrator *integrator);

#endif
