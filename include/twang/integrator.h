/** @file integrator.h
 *  Time integration: one interface over every scheme, with fixed or adaptive steps, dense output,
 *  events and checkpoints.
 *
 *      tw_integrator_options o = tw_integrator_options_default();
 *      o.scheme = TW_SCHEME_EXPMID2;
 *      o.relative_tolerance = 1e-5;
 *      tw_integrator *integrator;
 *      tw_integrator_create_second_order(&problem, &o, &integrator, &error);
 *      tw_integrator_start(integrator, 0.0, u0, &error);            // u0 = (x0, v0)
 *      tw_integrator_advance(integrator, 10.0, &error);
 *      tw_integrator_state(integrator, &t, u);
 *
 *  The state of a second-order problem is one array u = (x, v) of 2N entries.
 */
#ifndef TWANG_INTEGRATOR_H
#define TWANG_INTEGRATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <twang/phi.h>
#include <twang/problem.h>
#include <twang/tableau.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The schemes: enumerator, name, order, one line for `twang list integrators`. */
#define TW_SCHEME_LIST(X)                                                                          \
    X(TW_SCHEME_EXPRB2, "exprb2", 2, "exponential Rosenbrock-Euler")                               \
    X(TW_SCHEME_EXPRB32, "exprb32", 3, "exponential Rosenbrock, embedded order 2")                 \
    X(TW_SCHEME_EXPRB42, "exprb42", 4, "exponential Rosenbrock, two stages, superconvergent")      \
    X(TW_SCHEME_PEXPRB43, "pexprb43", 4, "parallel exponential Rosenbrock, nodes selectable")      \
    X(TW_SCHEME_EXPRB53, "exprb53", 5, "exponential Rosenbrock, three stages")                     \
    X(TW_SCHEME_EPIRK4S3, "epirk4s3", 4, "exponential propagation iterative Runge-Kutta")          \
    X(TW_SCHEME_EXPMID2, "expmid2", 2,                                                             \
      "exponential midpoint: exact where resolved, time-symmetric where not")                      \
    X(TW_SCHEME_EXPMID4, "expmid4", 4, "exponential, linearised at the midpoint")                  \
    X(TW_SCHEME_ETDRK4, "etdrk4", 4, "exponential Runge-Kutta with a fixed linear part")           \
    X(TW_SCHEME_GAUTSCHI, "gautschi", 2, "Gautschi-type trigonometric integrator")                 \
    X(TW_SCHEME_RK4, "rk4", 4, "classical Runge-Kutta")                                            \
    X(TW_SCHEME_EULER, "euler", 1, "explicit Euler")                                               \
    X(TW_SCHEME_MIDPOINT_EXPLICIT, "midpoint-explicit", 2, "explicit midpoint")                    \
    X(TW_SCHEME_VERLET, "verlet", 2, "velocity Verlet (kick-drift-kick), symplectic")              \
    X(TW_SCHEME_BDF1, "bdf1", 1, "implicit Euler")                                                 \
    X(TW_SCHEME_BDF2, "bdf2", 2, "backward differentiation, two steps")                            \
    X(TW_SCHEME_SEMI_IMPLICIT, "semi-implicit", 1, "linearised implicit Euler (Baraff)")           \
    X(TW_SCHEME_MIDPOINT, "midpoint", 2, "implicit midpoint, symplectic")                          \
    X(TW_SCHEME_NEWMARK, "newmark", 2, "Newmark, average acceleration")                            \
    X(TW_SCHEME_GENERALIZED_ALPHA, "generalized-alpha", 2,                                         \
      "generalized-alpha with numerical damping")                                                  \
    X(TW_SCHEME_V_IMEX, "v-imex", 2, "variational implicit-explicit (Stern and Grinspun)")         \
    X(TW_SCHEME_CVODE, "cvode", 5, "SUNDIALS CVODE, where it was built in")

#define TW_SCHEME_ENUMERATOR(name, text, order, line) name,
typedef enum tw_scheme { TW_SCHEME_LIST(TW_SCHEME_ENUMERATOR) TW_SCHEME_COUNT } tw_scheme;
#undef TW_SCHEME_ENUMERATOR

TW_API const char *tw_scheme_name(tw_scheme scheme);
TW_API tw_scheme tw_scheme_from_name(const char *name); /**< TW_SCHEME_COUNT if there is none */
TW_API int tw_scheme_order(tw_scheme scheme);
TW_API const char *tw_scheme_line(tw_scheme scheme); /**< one line of description */
TW_API bool tw_scheme_available(tw_scheme scheme); /**< false for cvode where SUNDIALS was absent */

/** How adaptive steps are chosen. */
typedef enum tw_controller {
    TW_CONTROLLER_PI,  /**< proportional-integral, from the local error alone */
    TW_CONTROLLER_COST /**< PI, bounded by the step of least cost per unit of time; cost is counted
                            in operations, not in seconds */
} tw_controller;

/** How the linear systems of Newton's method are solved. */
typedef enum tw_linear_solver {
    TW_LINEAR_CHOLESKY, /**< sparse direct */
    TW_LINEAR_PCG,      /**< conjugate gradients, block-Jacobi: for large solids; needs no factor */
    TW_LINEAR_AUTO      /**< conjugate gradients (and lanczos, if the phi engine is auto, too) for
                             expmid2 at fixed steps where they cost less, else sparse direct */
} tw_linear_solver;

/** The filter functions of `gautschi`, with y = h omega. */
typedef enum tw_filter {
    TW_FILTER_GAUTSCHI,        /**< psi = sinc^2(y/2), phi = 1 */
    TW_FILTER_HOCHBRUCK_LUBICH /**< the same psi, phi(y) = sinc y (1 + sin^2(y/2)/3) */
} tw_filter;

/** Newton's method inside the implicit schemes and `expmid2`. */
typedef struct tw_newton_options {
    /** Relative size of the last correction, in (0, 1). Default 1e-10. */
    double tolerance;
    /** Most corrections per stage, >= 1. Default 25. */
    int max_iterations;
    /** The last factor is kept while the relative change of the tangent stays below this, >= 0.
     *  Default 0: a new factor in every step. */
    double reuse_factor;
    /** Default TW_LINEAR_AUTO. */
    tw_linear_solver linear_solver;
} tw_newton_options;

/** Settings of `expmid2`. */
typedef struct tw_expmid2_options {
    /** beta of the filter, > 0: modes with h omega well below it are integrated exactly, modes
     *  above it count as unresolved. Default 2.2. */
    double filter_cutoff;
    /** mu, the share of unresolved vibrations that settles in a step, 0..1. Default 0: linear
     *  problems stay reversible, and with corrections > 0 long runs need none. It is for fixed steps:
     *  adaptive ones let unresolved vibrations go within two steps. */
    double dissipation;
    /** How often the stage is put on the half step of the step's own flow, 0..10. 0 saves time and
     *  loses rotation and energy in long runs; see docs/schemes.md. Default 1. */
    int corrections;
} tw_expmid2_options;

/** Settings of `expmid4`. */
typedef struct tw_expmid4_options {
    /** Evaluations of the remainder at the step's end, 1 to 10: 1 gives order 3, 2 or more give
     *  order 4. Default 2. */
    int passes;
} tw_expmid4_options;

/** Settings of `pexprb43`. */
typedef struct tw_pexprb43_options {
    /** (c2, c3), different and not zero. Default (1/3, 3/4). */
    double nodes[2];
} tw_pexprb43_options;

/** Settings of `gautschi`. */
typedef struct tw_gautschi_options {
    /** Default TW_FILTER_GAUTSCHI. */
    tw_filter filter;
} tw_gautschi_options;

/** Settings of `generalized-alpha`. */
typedef struct tw_generalized_alpha_options {
    /** rho_infinity, the factor by which a step damps infinitely fast modes, 0..1. Default 0.8. */
    double spectral_radius;
} tw_generalized_alpha_options;

/** Settings of `v-imex`. */
typedef struct tw_v_imex_options {
    /** True: K_fast is the tangent at the start of each step. Default false: the constant part. */
    bool renew_tangent;
} tw_v_imex_options;

/** Settings of an integrator. Start from tw_integrator_options_default(). Settings of one scheme,
 *  or of Newton's method, are in the member of that name; other schemes do not read them. */
typedef struct tw_integrator_options {
    /** Default TW_SCHEME_EXPRB42. */
    tw_scheme scheme;
    /** A method of your own, used in place of the tableau of `scheme`. `scheme` must then be an
     *  exponential Rosenbrock scheme. Checked and copied at creation. Default NULL. */
    const tw_tableau *tableau;

    /** Size of the fixed steps, or of the first adaptive step [s]. 0 lets the controller choose the
     *  first adaptive step. */
    double step;
    /** Tolerance of the local error estimate, in (0, 1). Default 0: fixed steps. */
    double relative_tolerance;
    /** Added to the relative tolerance, in units of the state. Default 1e-12. */
    double absolute_tolerance;
    /** One absolute tolerance per entry of the state (2N or n values >= 0, copied at creation) in
     *  place of absolute_tolerance, for states whose entries have different magnitudes or units.
     *  The error is then measured entry by entry: the root mean square of
     *  e_i / (max |u_i| + tolerance_i / relative_tolerance) over each block, with `reference` in
     *  place of |u_i| where it is given. Not for cvode. Default NULL. */
    const double *absolute_tolerances;
    /** Magnitudes to which the relative tolerance refers, for x and for v (first order: [0] for u).
     *  Default 0: the root mean square of the block itself. */
    double reference[2];
    /** An adaptive run that needs a smaller step, after a rejected or an accepted one, ends with
     *  TW_STEP_TOO_SMALL [s]. The last step before a limit may be smaller. Default 0: 16 rounding
     *  errors of t (3.6e-15 |t|), or 1e-30 of the span to the limit if that is larger. */
    double smallest_step;
    /** Adaptive steps are never larger [s]. Default 0: no bound. */
    double largest_step;
    /** Most steps of one advance, rejected ones included; then TW_BUDGET_EXHAUSTED. Default 1e9. */
    int64_t max_steps;
    /** Default TW_CONTROLLER_PI. */
    tw_controller controller;
    /** The energy guard. It watches problems that have an energy and either cannot gain any (they
     *  depend neither on time nor, but for Rayleigh damping, on the velocity) or say how much comes
     *  from outside (outside_power). A step is rejected when the energy less the work from outside
     *  rose by more than this share of the energy turned over (kinetic + |change of the potential|
     *  + |work|), or of the largest so far. The share tends to 1 in an exploding run, and to the
     *  energy error in a sound one. In the first ten steps after a start from rest, and with
     *  outside_power, the energy turned over must grow to the fourfold as well. With contact
     *  (finish_step) the gain itself is not counted as turned over. Explicit schemes, and problems with
     *  outside_power, are looked at only when the mean velocity of a step exceeds all before by
     *  half. Default 0.5; 0 switches the guard off. */
    double energy_gain_bound;

    tw_phi_options phi; /**< how phi-functions are evaluated */
    tw_newton_options newton;
    tw_expmid2_options expmid2;
    tw_expmid4_options expmid4;
    tw_pexprb43_options pexprb43;
    tw_gautschi_options gautschi;
    tw_generalized_alpha_options generalized_alpha;
    tw_v_imex_options v_imex;
} tw_integrator_options;
TW_API tw_integrator_options tw_integrator_options_default(void);

/** Counts since the start; they continue through serialise and restore. */
typedef struct tw_integrator_statistics {
    int64_t steps;          /**< accepted */
    int64_t rejected_steps; /**< all; by reason: */
    int64_t rejected_estimate;
    int64_t rejected_not_finite;
    int64_t rejected_phi;
    int64_t rejected_newton;
    int64_t rejected_energy;
    int64_t rejected_callback;
    int64_t force_evaluations;      /**< calls of acceleration or rhs by the scheme */
    int64_t difference_evaluations; /**< further calls, for finite differences */
    int64_t stiffness_products;     /**< with K or J, per vector */
    int64_t linearisations;
    int64_t factorisations;
    int64_t solves;
    int64_t newton_iterations;
    /** Stages of expmid2 at which Newton's iteration did not arrive, and that were taken because its
     *  last correction was below 2 % of the displacement of the step: their digits are few. */
    int64_t stalled_stages;
    /** Stages of expmid2 that ended with a last correction of up to 0.3 % of the displacement of the
     *  step, because a sheet buckles there and has many stages next to each other (docs/schemes.md). */
    int64_t buckled_stages;
    int krylov_dimension;  /**< largest in the last step */
    double last_step;      /**< [s] */
    double next_step;      /**< [s] */
    double error_estimate; /**< of the last step, in units of the tolerance; 0 if there is none */
    double phi_error_estimate; /**< relative, of the last step */
    double pole;               /**< gamma of the last shift-invert, else 0 */
    /** Of schemes whose energies are those of a stage inside the step (expmid2, midpoint, newmark,
     *  generalized-alpha): what the first stage does not show of the energy at the start [J], and the
     *  largest kinetic energy that stages have shown [J]. The first vibrates in modes that the step
     *  does not resolve, or damping took it. What it does to the slow motion is lost: where it
     *  exceeds the second, do not trust the motion before smaller steps have confirmed it. 0 where
     *  the energy guard is off. */
    double unresolved_energy, resolved_kinetic;
    /** expmid2: relative distance between the stage of the last step and that of its reversal. */
    double asymmetry;
    tw_phi_engine engine; /**< of the last phi evaluation; TW_PHI_ENGINE_COUNT if none */
    double work; /**< of forces and phi-functions, in units of the cost model (bytes moved) */
    double solver_work; /**< of factors and solves of implicit stages, in the same units */
} tw_integrator_statistics;

/** An integration in progress. One thread at a time; different integrators never meet. */
typedef struct tw_integrator tw_integrator;

/** Creates an integrator for x'' = a(t, x, v). The problem table is copied; what it points to must
 *  outlive the integrator. TW_UNSUPPORTED where scheme and problem do not fit (the text says why),
 *  TW_INVALID_ARGUMENT for options out of range. A tw_simulation has a shorter way:
 *  tw_simulation_integrator() in scene.h. */
TW_API tw_status tw_integrator_create_second_order(const tw_second_order_problem *problem,
                                                   const tw_integrator_options *options,
                                                   tw_integrator **out, tw_error *error);
/** Creates an integrator for u' = F(t, u); likewise. */
TW_API tw_status tw_integrator_create_first_order(const tw_first_order_problem *problem,
                                                  const tw_integrator_options *options,
                                                  tw_integrator **out, tw_error *error);
/** Frees; accepts NULL. */
TW_API void tw_integrator_free(tw_integrator *integrator);

/** Sets time and state (2N or n entries, copied) and clears history and counts. TW_NOT_FINITE if
 *  an entry of u is not finite. Where a second-order problem does not say that it is
 *  velocity_dependent, two evaluations of the acceleration (not counted) at different velocities
 *  check that: TW_INVALID_ARGUMENT if they differ. Whether a problem is time_dependent without
 *  saying so is checked by the steps (tw_integrator_step), which know how far the run goes. */
TW_API tw_status tw_integrator_start(tw_integrator *integrator, double t, const double *u,
                                     tw_error *error);

/** Says that the forces of the problem have changed since the last step: what was kept of them is
 *  forgotten, and the energy guard begins anew. Time, state and counts stay. Schemes that build on
 *  earlier steps begin with a first step again. */
TW_API tw_status tw_integrator_refresh(tw_integrator *integrator, tw_error *error);

/** Makes one accepted step, which ends at `t_limit` (> t) at the latest. Fixed steps have the size
 *  `options.step`; the last one is shortened. After a failure the state is the last trusted one.
 *
 *  Where a problem does not say that it is time_dependent, the first call after a start evaluates
 *  the force at the present state (not counted) at the time of the start and at eight times from t
 *  to t_limit, and so does every call that reaches twice as far: TW_INVALID_ARGUMENT if they
 *  differ. Times at which the callback
 *  fails are passed over. The probe does not see a force that acts between those times only, one
 *  that changes where the state is another one (a moving wall that nothing touches yet), and
 *  changes of less than 1e-12 of the force. */
TW_API tw_status tw_integrator_step(tw_integrator *integrator, double t_limit, tw_error *error);

/** Steps until t_end exactly. Fixed steps have the size T/ceil(T/step). Ends early with
 *  TW_EVENT_STOP at an event that stops, or with TW_INTERRUPTED if a callback says so. */
TW_API tw_status tw_integrator_advance(tw_integrator *integrator, double t_end, tw_error *error);

/** Current time and state; `t` and `u` may be NULL. */
TW_API void tw_integrator_state(const tw_integrator *integrator, double *t, double *u);
/** Time before the last accepted step. */
TW_API double tw_integrator_previous_time(const tw_integrator *integrator);
/** The state, read-only and without a copy; valid until the next call. */
TW_API const double *tw_integrator_state_view(const tw_integrator *integrator);

/** The state at any t inside the last accepted step. Schemes with a phi basis evaluate it there.
 *  The explicit ones use Hermite's polynomial through the states and forces at both ends, the
 *  implicit ones the cubic through positions and velocities (first order: a line or a parabola),
 *  which keeps stiff bodies whole (docs/schemes.md). The error has the order of the step's own. */
TW_API tw_status tw_integrator_interpolate(tw_integrator *integrator, double t, double *u,
                                           tw_error *error);

/** Announces where tw_integrator_interpolate() will be called: at t0 + k * interval (k = 0, 1,
 *  ...), nowhere (interval INFINITY), or anywhere (interval 0, the default). Exponential Rosenbrock
 *  schemes then compute these points together with the step, from the same products; with fixed
 *  steps and no events the phi engine `auto` may then choose an engine that keeps no basis. Points
 *  that were not announced can still be asked for, and cost more. tw_integrator_serialise() does
 *  not write this. */
TW_API tw_status tw_integrator_expect_output(tw_integrator *integrator, double t0, double interval);

/** Called after each accepted step. A status other than TW_OK ends advance, which returns it;
 *  TW_INTERRUPTED is the one for a stop that is no error. */
typedef tw_status tw_step_function(void *context, tw_integrator *integrator);
TW_API void tw_integrator_on_step(tw_integrator *integrator, tw_step_function *function,
                                  void *context);

/** Asked before every evaluation of the problem and every product with its tangent, on the thread
 *  that steps: true ends the step with TW_INTERRUPTED. The integrator is then what it
 *  was before the step, as after tw_integrator_restore(): the run can go on, or be serialised, as
 *  if nothing had been. Events, outputs, and the short steps of explicit schemes and cvode are not
 *  interrupted. NULL: never. */
typedef bool tw_interrupt_function(void *context);
TW_API void tw_integrator_on_interrupt(tw_integrator *integrator, tw_interrupt_function *function,
                                       void *context);

/** Called at each time t0 + k * interval that a step passed, with the dense-output state. Implies
 *  tw_integrator_expect_output(). */
typedef tw_status tw_output_function(void *context, double t, const double *u);
TW_API tw_status tw_integrator_on_output(tw_integrator *integrator, double t0, double interval,
                                         tw_output_function *function, void *context);

/** The same at each of these times: `count` >= 1 finite values in ascending order, copied. Times up
 * to the start are skipped. It replaces the times of tw_integrator_on_output(), and that one these;
 * `function` NULL ends the outputs. TW_INVALID_ARGUMENT if the times are not as said. Neither the
 * function nor the times are part of what tw_integrator_serialise() writes: after a restore the
 * outputs go on behind the restored time. */
TW_API tw_status tw_integrator_on_output_at(tw_integrator *integrator, const double *times,
                                            int64_t count, tw_output_function *function,
                                            void *context, tw_error *error);

/** An event: a zero of `value` along the dense output.
 *
 *  Each step is looked through as finely as the values need: it is divided until a cubic through
 *  the values and slopes at two points predicts those between them to 2 %. An event that comes and
 *  goes within 1/500 of a step can be missed; options.largest_step is the remedy. Events are
 *  reported in the order of time, each once. A value that is 0 at the start does not count. */
typedef struct tw_event {
    tw_status (*value)(void *context, double t, const double *u, double *g);
    void *context;
    int direction; /**< +1: only rising, -1: only falling, 0: both */
    /** The run ends there with TW_EVENT_STOP: the state becomes the event's. Nothing behind it is
     *  reported, and the run can go on from there. tw_integrator_stopped_at() says which event. */
    bool stop;
    double tolerance; /**< in time; 0: 1e-12 max(|t|, step) */
    /** Called when the event is located; may be NULL. */
    void (*located)(void *context, double t, const double *u);
} tw_event;
/** Adds an event (copied); at most 16. */
TW_API tw_status tw_integrator_add_event(tw_integrator *integrator, const tw_event *event,
                                         tw_error *error);

/** Whether an event ended the last step; then *event is its number in the order of
 *  tw_integrator_add_event(), from 0, and *t its time. Both may be NULL. */
TW_API bool tw_integrator_stopped_at(const tw_integrator *integrator, int *event, double *t);

TW_API tw_integrator_statistics tw_integrator_statistics_now(const tw_integrator *integrator);
TW_API tw_scheme tw_integrator_scheme(const tw_integrator *integrator);

/** The state by which to judge energy and momenta, and its time *t. For most schemes it is the
 *  current state. Schemes of midpoint type (expmid2, midpoint, newmark, generalized-alpha) leave
 *  strain without meaning in unresolved modes at the end of a step, and stiff elements make much
 *  energy of it: theirs is the stage inside the last step, where these modes are in balance. Before
 *  the first step, after tw_integrator_restore and after an event that ended a step it is the
 *  current state. Owned by the integrator and valid until its next call. */
TW_API const double *tw_integrator_energy_state(tw_integrator *integrator, double *t);
/** Power from outside that the state which tw_integrator_energy_state() gave last does not show [W]:
 *  add it to the power found there. In expmid2 the tensions of stiff elements at the stage are not
 *  those that act during the step, so that the work on moved particles would be wrong. It is 0 for
 *  other schemes. */
TW_API double tw_integrator_hidden_power(const tw_integrator *integrator);
/** Whether the scheme's energy is that of a stage. */
TW_API bool tw_integrator_energy_at_stage(const tw_integrator *integrator);

/** Kinetic and potential energy at tw_integrator_energy_state(). TW_UNSUPPORTED without an energy
 *  callback. */
TW_API tw_status tw_integrator_energy(tw_integrator *integrator, double *kinetic,
                                      double *potential);

/** Writes everything that is needed to continue bitwise (but for cvode, which starts anew and logs a
 *  warning). Call it with buffer NULL for the size,
 *  then for the bytes. They are valid for the same machine and build only. */
TW_API tw_status tw_integrator_serialise(const tw_integrator *integrator, void *buffer,
                                         size_t capacity, size_t *size);
/** Reads these bytes into an integrator created with the same problem and options. TW_BAD_INPUT if
 *  they do not fit or hold impossible values; the integrator may then have to be started anew. */
TW_API tw_status tw_integrator_restore(tw_integrator *integrator, const void *buffer, size_t size,
                                       tw_error *error);

#ifdef __cplusplus
}
#endif
#endif
