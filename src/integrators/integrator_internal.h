/* The integrator and the table every scheme fills. */
#ifndef TW_INTEGRATOR_INTERNAL_H
#define TW_INTEGRATOR_INTERNAL_H

#include <float.h>
#include <math.h>
#include <twang/integrator.h>

#include "integrators/system.h"

/* One scheme. attempt() is a pure trial: it reads integrator->{t, u, F} and writes integrator->u_new (and
 * error_vector); the driver then accepts (accepted() is called, then u_new becomes u) or rejects (attempt() is called
 * again with a smaller h and integrator->retry set: t and u are the same, so linearisation and bases still hold). */
typedef struct tw_scheme_table {
    /* Allocates integrator->memory; refuses problems the scheme does not fit (TW_UNSUPPORTED with a text). */
    tw_status (*reserve)(tw_integrator *integrator, tw_error *error);
    void (*release)(tw_integrator *integrator);
    /* A new start: forget the past. NULL if there is nothing to forget. */
    void (*reset)(tw_integrator *integrator);
    tw_status (*attempt)(tw_integrator *integrator, double h, tw_error *error);
    /* NULL if there is nothing to do. Called before u_new replaces u. */
    void (*accepted)(tw_integrator *integrator, double h);
    /* Points inside the step will be asked for at multiples of `interval` (INFINITY: never; 0: unknown): allocates what
     * making them along with the step takes. NULL: nothing. */
    tw_status (*expect)(tw_integrator *integrator, double interval);
    /* State at t_old + theta h, 0 < theta < 1, in the last accepted step (u_old, u, step_taken). NULL: cubic Hermite.
     */
    tw_status (*interpolate)(tw_integrator *integrator, double theta, double *u);
    /* The doubles that must travel through serialise beyond (t, u, controller): count, and where they are. NULL: none.
     */
    size_t (*history)(tw_integrator *integrator, double **values);
    /* Called after history was written back, to rebuild what it implies (a factor, a cached force). NULL: nothing. */
    tw_status (*restored)(tw_integrator *integrator);
    /* The state whose energy tells whether the step is sound, where that is not u_new: unresolved stiff modes leave a
     * spurious energy at step ends that means nothing. NULL: u_new. Valid after a successful attempt. */
    const double *(*energy_state)(tw_integrator *integrator);
    /* Reverses what it does not resolve: unequal steps leave some of it behind, so small changes are not made. */
    bool equal_steps;
    int error_order; /* order q of the embedded estimate (error ~ h^(q+1)); 0: none, step doubling is used */
    bool fixed_only; /* multistep with constant coefficients: no adaptive steps */
    bool
        own_steps; /* attempt(h) takes a step of its own choice, at most h, and says how long in own_step */
    bool uses_rhs; /* attempt() reads integrator->F = F(t, u): the driver keeps it up to date */
} tw_scheme_table;

enum { TW_MAX_EVENTS = 16 };

struct tw_integrator {
    tw_integrator_options options;
    const tw_scheme_table *scheme;
    int order; /* of the scheme, or of the user's tableau */
    int error_order; /* of the estimate in use: the scheme's, the tableau's (set in reserve), or that of step doubling
                      */
    tw_system system;
    tw_integrator_statistics counts;
    void *memory; /* the scheme's own */

    double t, t_old;           /* now, and before the last accepted step */
    double step_taken;         /* last accepted */
    double *u, *u_old, *u_new; /* system.size entries each */
    double *F, *F_old;         /* F(t, u) if F_known; F(t_old, u_old) if F_old_known */
    bool F_known, F_old_known, started;
    bool truncated;       /* an event cut the last step short: its full end is in u_new */
    bool retry;           /* the attempt repeats a rejected one */
    double *error_vector; /* local error estimate, size entries, if has_error */
    bool has_error;
    bool doubles;       /* adaptive without an embedded estimate: one step against two halves */
    double own_step;    /* length of the step an own_steps scheme took */
    bool newton_failed; /* set by an implicit scheme whose attempt failed in Newton's iteration */
    double *scratch;    /* 4 size entries for the driver and output; schemes have their own */

    /* fixed steps: T/ceil(T/step) each, times computed from plan_start, so that no drift accumulates */
    double plan_start, plan_end;
    int64_t plan_count, plan_done;

    /* controller */
    double h_next, error_old, h_old;
    bool last_rejected;
    double cost_old; /* cost per unit time of the step before */
    int cost_direction;

    /* energy guard */
    bool energy_guarded;
    double energy_start, potential_start;
    double sound_scale; /* largest energy turned over while the gain was within its bound */
    double
        violated_scale; /* energy turned over when the gain first exceeded it; 0 while it does not */

    double expected_start,
        expected_interval; /* of tw_integrator_expect_output; interval 0: nothing was said */

    tw_step_function *on_step;
    void *on_step_context;
    tw_output_function *on_output;
    void *on_output_context;
    double output_start, output_interval;
    int64_t output_next;
    tw_event events[TW_MAX_EVENTS];
    double event_values[TW_MAX_EVENTS];
    int event_count;
};

/* The table of each scheme; integrator.c lists them. */
extern const tw_scheme_table tw_scheme_explicit_euler, tw_scheme_explicit_midpoint, tw_scheme_rk4,
    tw_scheme_verlet, tw_scheme_rosenbrock, tw_scheme_expmid2, tw_scheme_expmid4,
    tw_scheme_gautschi, tw_scheme_bdf1, tw_scheme_bdf2, tw_scheme_semi_implicit,
    tw_scheme_implicit_midpoint, tw_scheme_newmark, tw_scheme_generalized_alpha, tw_scheme_v_imex,
    tw_scheme_cvode;

/* Size of an error vector in units of the tolerance; <= 1 is within it. Relative to (reference or rms of u) + atol/rtol
 * in each block, the larger of the two blocks, raised so that it scales like h^order. (controller.c) */
tw_status tw_error_norm(const tw_integrator *integrator, const double *e, double *norm);
/* The relative error at which that is 1. */
double tw_error_rejected(const tw_integrator *integrator);

/* Whether a failed attempt may be retried with a smaller step. */
bool tw_status_is_rejection(tw_status status);

/* Step-size control. (controller.c) */
double tw_controller_after_accept(tw_integrator *integrator, double h, double error, double work);
double tw_controller_after_reject(tw_integrator *integrator, double h, double error);
tw_status tw_controller_first_step(tw_integrator *integrator, double t_limit, double *h);

/* Events and outputs passed by the last accepted step; may end the step at an event. (step_output.c) */
tw_status tw_integrator_report_step(tw_integrator *integrator, bool *stopped, tw_error *error);
tw_status tw_integrator_reset_events(tw_integrator *integrator);

/* Times closer than this are the same, in a step of h around t: k/fps and the sum of k steps differ by their rounding.
 */
static inline double tw_time_slack(double t, double h)
{
    return 1e-12 * h + 8 * DBL_EPSILON * fabs(t);
}

/* Keeps integrator->F = F(t, u). */
tw_status tw_integrator_need_rhs(tw_integrator *integrator);

#endif
