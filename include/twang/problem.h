/** @file problem.h
 *  What an integrator sees of the world: tables of functions over plain arrays.
 *
 *  Every callback gets the table's `context` and returns a status. TW_OK is success.
 *  TW_RECOVERABLE means "not at this point, try a smaller step" (an inverted element, a negative
 *  density). Anything else ends the run with that status. Callbacks of one table are never called
 *  from two threads at once. Arrays handed in never overlap.
 */
#ifndef TWANG_PROBLEM_H
#define TWANG_PROBLEM_H

#include <stdbool.h>
#include <twang/operator.h>
#include <twang/sparse.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A symmetric stand-in for a tangent that is not symmetric: S for K, alpha M + beta S for D.
 *  Newton's method iterates with it, and schemes that need functions of a symmetric operator
 *  (expmid2) linearise with it. The acceleration stays what it is. */
typedef struct tw_symmetric_part {
    /** out = S in at the last linearisation; stiffness_matrix holds S as well. NULL: there is no
     *  stand-in. */
    tw_apply_function *apply;
    double rayleigh_mass;      /**< alpha [1/s] */
    double rayleigh_stiffness; /**< beta [s] */
    /** About the fastest rate [1/s] at which damping beyond alpha M + beta S ends a motion, such as
     *  c/m of dashpots on some springs only, >= 0. Where a step is longer, Newton's matrix of expmid2
     *  has add_damping. Default 0: such damping is slow. */
    double rest_rate;
} tw_symmetric_part;

/** Elements that pull with a scalar tension along a line: springs, fibres, contacts. Newton's
 * method in positions alone fails where such elements are stiff and turn: at an iterate that is off
 * by an angle their tension is nonsense, and so is the geometric stiffness made of it. A problem
 * that fills this table lets the tension be an unknown of its own. With l the length of an element, n
 * its direction, T(l) + c l' its law, damping included, and tension[e] the unknown:
 *      K of `linearise`:  T' n n^T + (tension / l) (I - n n^T) per element, and all other K;
 *      `predict`:         the law, linearised, where the element's vector has changed by what dx
 *                         makes of it, and the rate of this vector by what dv makes of it.
 * The acceleration stays a(t, x, v): at the solution both tensions are the same. */
typedef struct tw_tension_elements {
    int64_t count; /**< number of elements; 0: there are none, and the functions are not called */
    /** As tw_second_order_problem.linearise, with these tensions in the geometric stiffness.
     * `definite`: negative ones count as 0 there, so that K is positive semidefinite. Required
     * where count > 0. */
    tw_status (*linearise)(void *context, double t, const double *x, const double *v,
                           const double *tension, bool definite);
    /** Tensions that the laws, linearised at (t, x, v), predict for x + dx and v + rate * dx, and the
     * angle [rad] by which dx turns each element: |d| / L, d the change of its vector and L its
     * length at rest, 0 without one. Both have `count` entries. Required where count > 0. */
    tw_status (*predict)(void *context, double t, const double *x, const double *v,
                         const double *dx, double rate, double *tension, double *turn);
    /** Of each element, a block row of stiffness_matrix on which it acts; -1: it acts on no unknown.
     *  Needed with `focus`. NULL: not known. Not owned. */
    const int32_t *row;
} tw_tension_elements;

/** Entries of internal variables that share a mark. */
enum { TW_INTERNAL_BLOCK = 1024 };

/** Variables of a problem that change between steps only, such as the rest lengths of springs that
 *  flow. They belong to the state beside u: an integrator that starts gives them their values at the
 *  start, a rejected attempt leaves no trace in them, and tw_integrator_serialise writes them. */
typedef struct tw_internal_variables {
    int64_t count; /**< 0: there are none */
    /** Where the problem keeps them, `count` entries. The integrator writes those of the state
     *  (t, u) here before every call of begin_step; begin_step and finish_step may change them.
     *  They must be finite. Not owned. */
    double *values;
    const double *start; /**< at the start, `count` entries. Not owned */
    /** A mark for each TW_INTERNAL_BLOCK entries of `values`, so that the integrator copies only blocks that
     *  have changed: 1 where the integrator, begin_step or finish_step may have written since begin_step
     *  last cleared the mark. Nobody else clears marks. NULL: every block counts as marked. Not owned. */
    unsigned char *changed;
    /** Which integrator wrote there last: several may take turns with one problem. Required with `changed`.
     *  Not owned. */
    const void **holder;
} tw_internal_variables;

/** What the problem goes on with from step to step and what is no part of the state, such as a list
 *  of surfaces that may touch, and the pattern of its matrix. No law depends on it, but the order of
 *  sums does, and so their last digits. With it a restored run gives the same bytes as
 *  one that was not interrupted. */
typedef struct tw_problem_lists {
    int64_t count; /**< of numbers from which all can be made again; 0: there are none */
    /** Writes these numbers for tw_integrator_serialise. Required where count > 0. */
    void (*save)(void *context, double *values);
    /** Makes all again, for tw_integrator_restore; any other status than TW_OK refuses the numbers.
     *  Required where count > 0. */
    tw_status (*load)(void *context, const double *values);
} tw_problem_lists;

/** Three sums p that the scheme integrates beside x and v with its own weights, p' = w(t, x). A model
 *  counts the impulse on its obstacles so: with the momentum of the bodies it adds up to rounding. */
typedef struct tw_tally {
    /** out = w at time t and the positions x; x NULL: where the acceleration was evaluated last. NULL:
     *  there are no such sums. */
    tw_status (*rate)(void *context, double t, const double *x, double out[3]);
    /** out = (dw/dx) d at the last linearisation, N entries d. False: dw/dx = 0; out is not written.
     *  With d NULL it says that alone. Required with rate. */
    bool (*tangent)(void *context, const double *d, double out[3]);
    /** Called before finish_step with what p gains in this attempt; NULL: this scheme does not
     *  integrate it. Required with rate. */
    void (*take)(void *context, const double *gain);
} tw_tally;

/** `x'' = a(t, x, v)`, that is `M x'' = f(t, x, v)` with `a = M^-1 f`. Start from
 *  tw_second_order_problem_default(). */
typedef struct tw_second_order_problem {
    tw_space space; /**< local_size is N, the number of unknowns in x */
    void *context;  /**< handed to every callback; may be NULL */

    /** a = a(t, x, v). Required. */
    tw_status (*acceleration)(void *context, double t, const double *x, const double *v, double *a);

    /** Fixes the tangent K = -df/dx (and D = -df/dv) at this point for the calls that follow. NULL
     *  if the tangent is constant or made by finite differences. */
    tw_status (*linearise)(void *context, double t, const double *x, const double *v);

    tw_tension_elements tension; /**< elements with a scalar tension; default: none */

    /** out = K in, for `count` columns, at the last linearisation. NULL: the assembled matrix is
     *  used, or else finite differences of the acceleration (the log says so, the statistics count
     *  them). */
    tw_apply_function *apply_stiffness;
    /** K is not symmetric (follower forces): Arnoldi engines only. Default false. An integrator that
     *  relies on a symmetric K looks for it at its start, by eight evaluations of the acceleration. */
    bool stiffness_is_general;

    /** Writes the values of K at the last linearisation into `matrix` (= stiffness_matrix). It
     *  enables shift-invert and the implicit methods. NULL with a stiffness_matrix: the values
     *  come from coloured finite differences. */
    tw_status (*assemble)(void *context, tw_sparse *matrix);
    /** The pattern of K; the library overwrites its values. Not owned. NULL: schemes that factorise
     *  make a full symmetric matrix of their own for up to 2,000 unknowns, from N products or
     *  differences, and are TW_UNSUPPORTED above that. */
    tw_sparse *stiffness_matrix;

    /** N positive values; NULL for unit mass. Not owned. */
    const double *lumped_mass;
    /** Consistent mass; excludes lumped_mass. NULL if there is none. Not owned. */
    const tw_mass_operator *mass;
    /** The assembled consistent mass, needed to factorise M + gamma K. NULL if there is none. */
    const tw_sparse *mass_matrix;

    /** a depends on v. Default false; needed for any damping. Checked by tw_integrator_start(). */
    bool velocity_dependent;
    /** alpha [1/s] of Rayleigh damping: f contains -(alpha M + beta K) v, K the tangent. */
    double rayleigh_mass;
    double rayleigh_stiffness; /**< beta [s] */
    /** out = D in for any other D = -df/dv at the last linearisation, added to Rayleigh's. NULL if
     *  there is none. */
    tw_apply_function *apply_damping;
    /** matrix += factor * that D, or its symmetric part, for Newton's matrix. NULL: Newton's
     *  iteration does without. */
    tw_status (*add_damping)(void *context, double factor, tw_sparse *matrix);
    /** Used if stiffness_is_general or apply_damping is in the way of a scheme. */
    tw_symmetric_part symmetric_part;

    /** a depends on t. Default false; forgotten, it costs accuracy. Checked at some times by
     *  tw_integrator_step(). */
    bool time_dependent;
    /** out = da/dt at fixed x, v, at this point. NULL with time_dependent: finite differences. */
    tw_status (*time_derivative)(void *context, double t, const double *x, const double *v,
                                 double *out);

    /** Promises that unknowns which the pattern of stiffness_matrix does not join, directly or
     *  through others, do not act on each other, such as hairs that do not touch. Newton's iteration
     *  then ends for each such part by itself, and says here which are left: active[r] != 0 of each
     *  block row r of stiffness_matrix; NULL: all. Until the next call `acceleration`, the tangent
     *  and `assemble` are wanted for active rows only. Entries of others may have any finite value in
     *  an acceleration, and keep their older values in the matrix. NULL: no promise. */
    void (*focus)(void *context, const unsigned char *active);

    /** Called before every attempt of a step of length h from (t, u), u = (x, v). It may look for
     *  what the step will need, such as pairs of surfaces that may touch, and hand over a
     *  stiffness_matrix of another pattern in *matrix. The matrix before must live until the next
     *  call. With this function, fixed steps that are rejected are divided; see `touched`. NULL:
     *  nothing to do. */
    tw_status (*begin_step)(void *context, double t, double h, const double *u, tw_sparse **matrix);
    /** Called after every attempt of a step of length h from (t, u) to u_new, u = (x, v). It may
     *  change u_new and the internal variables, and sets *changed if it changes u_new or the forces
     *  there: impacts and friction, which act within a moment, are impulses between steps, and a
     *  spring breaks between steps. (Plastic flow changes the laws of the next step, and not the
     *  forces at u_new.) TW_RECOVERABLE rejects the step. NULL:
     *  nothing to do. Adaptive steps are TW_UNSUPPORTED with it and without begin_step: their
     *  estimate does not see what begins and ends within a step. */
    tw_status (*finish_step)(void *context, double t, double h, const double *u, double *u_new,
                             bool *changed);

    /** Whether something touched in the last attempt, after finish_step. A fixed step that the energy
     *  guard rejected is divided only then: the energy of anything else that explodes is the fault of
     *  the whole step, and parts of it would hide that. NULL: always divided, if begin_step is there. */
    bool (*touched)(void *context);

    tw_problem_lists lists; /**< what begin_step made and goes on with. Default: none */

    /** What changes between steps only. Needs begin_step and finish_step. Default: none. */
    tw_internal_variables internal;

    tw_tally tally; /**< sums beside the state. Default: none */

    /** Says why the last attempt was TW_RECOVERABLE, for the text of an error: a sentence, or NULL.
     *  NULL: nothing to say. */
    const char *(*explain)(void *context);

    /** Kinetic and potential energy [J], what internal variables have taken included; NULL if there
     *  is none. Used by the energy guard. */
    tw_status (*energy)(void *context, double t, const double *x, const double *v, double *kinetic,
                        double *potential);

    /** Nothing comes from outside: no solution raises kinetic + potential, whatever the velocity
     *  does, and impulses (finish_step) only take energy. The energy guard then watches every step,
     *  as it does without a promise where the problem depends neither on time nor on the velocity.
     *  Default false. */
    bool energy_never_grows;
    /** The power [W] that comes from outside at this state, beyond what damping takes: on exact
     *  solutions d(kinetic + potential)/dt <= *power. With it the energy guard watches problems
     *  that depend on time, or on the velocity other than by Rayleigh damping. NULL: not known,
     *  and such problems are watched for infinite values only. Default NULL. */
    tw_status (*outside_power)(void *context, double t, const double *x, const double *v,
                               double *power);

    /** The splitting `f = -K0 x + g` for etdrk4, gautschi and v-imex: out = K0 in, K0 symmetric and
     *  constant. NULL: K0 is the tangent at the start. */
    tw_apply_function *apply_linear_part;

    /** Upper bound of the largest eigenvalue of M^-1 K in any state [1/s^2]; 0 if unknown. */
    double eigenvalue_max;
    /** The same near the start, as an estimate: solvers are chosen by it. 0 if unknown. */
    double eigenvalue_estimate;
} tw_second_order_problem;
TW_API tw_second_order_problem tw_second_order_problem_default(void);

/** `u' = F(t, u)`. Start from tw_first_order_problem_default(). */
typedef struct tw_first_order_problem {
    tw_space space; /**< local_size is the length of u */
    void *context;  /**< handed to every callback; may be NULL */

    /** F = F(t, u). Required. */
    tw_status (*rhs)(void *context, double t, const double *u, double *F);
    /** Fixes J = dF/du at this point. NULL if it is constant or made by finite differences. */
    tw_status (*linearise)(void *context, double t, const double *u);
    /** out = J in. NULL: the assembled matrix, or else finite differences. */
    tw_apply_function *jacobian_product;
    tw_symmetry symmetry; /**< of J. Default TW_GENERAL */

    /** Writes the values of J into `matrix`. NULL with a matrix given: coloured finite
     *  differences. */
    tw_status (*assemble)(void *context, tw_sparse *matrix);
    /** The pattern of J (full storage); NULL if there is none. Not owned. */
    tw_sparse *jacobian_matrix;

    /** F depends on t. Default false; forgotten, it costs accuracy. Checked at some times by
     *  tw_integrator_step(). */
    bool time_dependent;
    /** out = dF/dt at fixed u. NULL with time_dependent: finite differences. */
    tw_status (*time_derivative)(void *context, double t, const double *u, double *out);
    /** A conserved or watched quantity; NULL if there is none. */
    tw_status (*energy)(void *context, double t, const double *u, double *energy);
    /** No solution raises the energy: the energy guard rejects a step that does. Default false. */
    bool energy_never_grows;
    /** The power [W] that comes from outside at this state, such as that of a motor: on exact
     *  solutions d(energy)/dt <= *power. With it the energy guard watches problems whose energy may
     *  grow. NULL: not known. Default NULL. */
    tw_status (*outside_power)(void *context, double t, const double *u, double *power);
} tw_first_order_problem;
TW_API tw_first_order_problem tw_first_order_problem_default(void);

#ifdef __cplusplus
}
#endif
#endif
