/** @file integrator.h
 *  Time integration: one interface over every scheme, fixed or adaptive steps, dense output, events, checkpoints.
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

typedef enum tw_controller {
    TW_CONTROLLER_PI, /**< proportional-integral */
    TW_CONTROLLER_COST /**< PI bounded by the step of least measured cost per unit time (counts, not seconds) */
} tw_controller;

typedef enum tw_linear_solver {
    TW_LINEAR_CHOLESKY, /**< sparse direct */
    TW_LINEAR_PCG       /**< conjugate gradients, block-Jacobi: for large solids; needs no factor */
} tw_linear_solver;

typedef enum tw_filter {
    TW_FILTER_GAUTSCHI,        /**< psi = sinc^2(y/2), phi = 1 */
    TW_FILTER_HOCHBRUCK_LUBICH /**< the same psi, phi(y) = sinc y (1 + sin^2(y/2)/3) */
} tw_filter;

/** Settings of an integrator. Start from tw_integrator_options_default(). */
typedef struct tw_integrator_options {
    tw_scheme scheme; /**< default TW_SCHEME_EXPRB42 */
    double
        step; /**< fixed step, or the first one if adaptive [s]; 0 lets the controller choose (adaptive) */
    double
        relative_tolerance; /**< of the local error estimate, in (0, 1); 0 (default) means fixed steps */
    double absolute_tolerance; /**< added to it, in units of the state; default 1e-12 */
    /** Magnitudes the relative tolerance refers to, for x and v (u alone: [0]); 0 (default): the block's own rms. */
    double reference[2];
    double
        smallest_step; /**< default 1e-14 * max(1, |t|): below it the run ends with TW_STEP_TOO_SMALL */
    double largest_step; /**< 0 (default): none */
    int64_t
        max_steps; /**< accepted and rejected in one advance; default 1e9; then TW_BUDGET_EXHAUSTED */
    tw_controller controller; /**< default TW_CONTROLLER_PI */
    /** The energy guard, for problems with an energy that cannot legitimately grow (no time dependence, no velocity
     *  dependence but Rayleigh's): a step is rejected as untrusted when total energy exceeds its start value by more
     * than this share of the energy turned over (kinetic + |potential change|) and that is growing. In an exploding run
     * the share tends to 1, in a sound one to the energy error. Default 0.5; 0 switches it off and saves one energy
     *  evaluation per step. */
    double energy_gain_bound;
    tw_phi_options phi; /**< how phi-actions are evaluated */
    double nodes[2];    /**< (c2, c3) of pexprb43; default (1/3, 3/4) */
    const tw_tableau *
        tableau; /**< the user's own, replacing the scheme's; checked at creation; NULL (default) */
    int passes;  /**< of expmid4; default 2 */
    double filter_cutoff; /**< beta of expmid2's filter; default 2 */
    double
        dissipation; /**< mu of expmid2, share of the unresolved strain that a step lets go, 0..1; 0.1 for long
                                  runs of bodies that rotate; default 0: linear problems are reversible */
    double
        reuse_factor; /**< expmid2, implicit: keep the last factorisation while the tangent's relative change
                                  stays below this; 0 (default): refactor each step */
    double
        newton_tolerance; /**< implicit schemes: relative size of the last Newton correction; default 1e-10 */
    int newton_iterations;          /**< most Newton steps; default 25 */
    tw_linear_solver linear_solver; /**< default TW_LINEAR_CHOLESKY */
    double spectral_radius;         /**< rho_infinity of generalized-alpha; default 0.8 */
    tw_filter filter;               /**< of gautschi; default TW_FILTER_GAUTSCHI */
    bool
        imex_tangent; /**< v-imex: K_fast is the tangent at each step's start instead of the constant part */
} tw_integrator_options;
TW_API tw_integrator_options tw_integrator_options_default(void);

/** Counts since the start (continued through serialise and restore). */
typedef struct tw_integrator_statistics {
    int64_t steps, rejected_steps;
    int64_t rejected_estimate, rejected_not_finite, rejected_phi, rejected_newton, rejected_energy,
        rejected_callback;
    int64_t force_evaluations;      /**< calls of acceleration or rhs by the scheme */
    int64_t difference_evaluations; /**< further ones, for finite-difference tangents */
    int64_t stiffness_products;     /**< with K or J, per vector */
    int64_t linearisations, factorisations, solves, newton_iterations;
    int krylov_dimension;        /**< largest in the last step */
    double last_step, next_step; /**< [s] */
    double
        error_estimate; /**< of the last step, in units of the tolerance (accepted: <= 1); 0 if none */
    double phi_error_estimate; /**< relative, of the last step */
    double pole;               /**< gamma of the last shift-invert, else 0 */
    double
        asymmetry; /**< expmid2: distance of the reversed step's stage from the last step's, relative to it */
    tw_phi_engine engine; /**< of the last phi evaluation; TW_PHI_ENGINE_COUNT if there was none */
    double work;          /**< cost-model units spent (bytes moved) */
} tw_integrator_statistics;

/** An integration in progress. One thread at a time; different integrators never meet. */
typedef struct tw_integrator tw_integrator;

/** The problem table is copied; what it points to must outlive the integrator. TW_UNSUPPORTED where scheme and problem
 *  do not fit (the text says why); TW_INVALID_ARGUMENT for options out of range. */
TW_API tw_status tw_integrator_create_second_order(const tw_second_order_problem *problem,
                                                   const tw_integrator_options *options,
                                                   tw_integrator **out, tw_error *error);
TW_API tw_status tw_integrator_create_first_order(const tw_first_order_problem *problem,
                                                  const tw_integrator_options *options,
                                                  tw_integrator **out, tw_error *error);
/** Frees; accepts NULL. */
TW_API void tw_integrator_free(tw_integrator *integrator);

/** Sets time and state (2N or n entries, copied), clears history and counts. TW_NOT_FINITE if u is not. */
TW_API tw_status tw_integrator_start(tw_integrator *integrator, double t, const double *u,
                                     tw_error *error);

/** One accepted step of at most until `t_limit` (> t): fixed steps of `options.step`, the last one shortened. After any
 *  failure the state is the last trusted one. */
TW_API tw_status tw_integrator_step(tw_integrator *integrator, double t_limit, tw_error *error);

/** Steps until t_end exactly. Fixed steps: T/ceil(T/step) each. Stops early with TW_INTERRUPTED if a callback says so.
 */
TW_API tw_status tw_integrator_advance(tw_integrator *integrator, double t_end, tw_error *error);

/** Current time and state; `u` may be NULL. */
TW_API void tw_integrator_state(const tw_integrator *integrator, double *t, double *u);
/** Time before the last accepted step. */
TW_API double tw_integrator_previous_time(const tw_integrator *integrator);
/** The state, read-only and without a copy; valid until the next call. */
TW_API const double *tw_integrator_state_view(const tw_integrator *integrator);

/** The state at any t inside the last accepted step, from the step's own phi basis where the scheme has one (not a
 *  Hermite guess): error of the order of the step's own. */
TW_API tw_status tw_integrator_interpolate(tw_integrator *integrator, double t, double *u,
                                           tw_error *error);

/** Says where tw_integrator_interpolate() will be asked: at t0 + k * interval (k = 0, 1, ...), nowhere (INFINITY), or
 * takes it back (0, the default). Exponential Rosenbrock schemes make such points together with the step, from the same
 *  products; with fixed steps and no events the phi engine `auto` is then free to choose one that keeps no basis. Other
 *  points can still be asked for, and cost more. Not part of what tw_integrator_serialise() writes. */
TW_API tw_status tw_integrator_expect_output(tw_integrator *integrator, double t0, double interval);

/** Called after each accepted step; a status other than TW_OK ends advance with it (TW_INTERRUPTED to stop politely).
 */
typedef tw_status tw_step_function(void *context, tw_integrator *integrator);
TW_API void tw_integrator_on_step(tw_integrator *integrator, tw_step_function *function,
                                  void *context);

/** Called at each of the times t0 + k * interval that a step passed, with the dense-output state. Implies
 *  tw_integrator_expect_output(). */
typedef tw_status tw_output_function(void *context, double t, const double *u);
TW_API tw_status tw_integrator_on_output(tw_integrator *integrator, double t0, double interval,
                                         tw_output_function *function, void *context);

/** An event: a zero of `value`. */
typedef struct tw_event {
    tw_status (*value)(void *context, double t, const double *u, double *g);
    void *context;
    int direction;    /**< +1: only rising, -1: only falling, 0: both */
    bool stop;        /**< end advance there: the state becomes the event's */
    double tolerance; /**< in time; 0: 1e-12 relative */
    /** Called when located; may be NULL. */
    void (*located)(void *context, double t, const double *u);
} tw_event;
/** Adds an event (copied); at most 16. */
TW_API tw_status tw_integrator_add_event(tw_integrator *integrator, const tw_event *event,
                                         tw_error *error);

TW_API tw_integrator_statistics tw_integrator_statistics_now(const tw_integrator *integrator);
TW_API tw_scheme tw_integrator_scheme(const tw_integrator *integrator);

/** Kinetic and potential energy at the current state. TW_UNSUPPORTED without an energy callback. */
TW_API tw_status tw_integrator_energy(tw_integrator *integrator, double *kinetic,
                                      double *potential);

/** Everything needed to continue bitwise: size first (buffer NULL), then the bytes. Same machine and build only. */
TW_API tw_status tw_integrator_serialise(const tw_integrator *integrator, void *buffer,
                                         size_t capacity, size_t *size);
/** Into an integrator created with the same problem and options. TW_BAD_INPUT if the bytes do not fit. */
TW_API tw_status tw_integrator_restore(tw_integrator *integrator, const void *buffer, size_t size,
                                       tw_error *error);

#ifdef __cplusplus
}
#endif
#endif
