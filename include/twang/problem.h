/** @file problem.h
 *  What an integrator sees of the world: tables of functions over plain arrays.
 *
 *  Every callback gets the table's `context` and returns a status. TW_OK is success; TW_RECOVERABLE means "not at this
 *  point: try a smaller step" (an inverted element, a negative density); anything else ends the run with that status.
 *  Callbacks of one table are never called from two threads at once. Arrays handed in never overlap.
 */
#ifndef TWANG_PROBLEM_H
#define TWANG_PROBLEM_H

#include <stdbool.h>
#include <twang/operator.h>
#include <twang/sparse.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A symmetric stand-in for a tangent that is not: S for K, alpha M + beta S for D. Newton's method iterates by it, and
 *  schemes that need functions of a symmetric operator (expmid2) linearise by it; the acceleration stays what it is. */
typedef struct tw_symmetric_part {
    tw_apply_function *
        apply; /**< out = S in at the last linearisation; S is also what stiffness_matrix holds. NULL:
                                    no stand-in is offered */
    double rayleigh_mass;      /**< alpha [1/s] */
    double rayleigh_stiffness; /**< beta [s] */
} tw_symmetric_part;

/** `x'' = a(t, x, v)`, that is `M x'' = f(t, x, v)` with `a = M^-1 f`. Start from tw_second_order_problem_default(). */
typedef struct tw_second_order_problem {
    tw_space space; /**< local_size is N, the number of unknowns in x */
    void *context;  /**< handed to every callback; may be NULL */

    /** a = a(t, x, v). Required. */
    tw_status (*acceleration)(void *context, double t, const double *x, const double *v, double *a);

    /** Fixes the tangent K = -df/dx (and D = -df/dv) at this point for the calls that follow. NULL where the tangent is
     *  constant, or where it is made by finite differences. */
    tw_status (*linearise)(void *context, double t, const double *x, const double *v);

    /** out = K in, for `count` columns, at the last linearisation. NULL: the assembled matrix is used, or else finite
     *  differences of the acceleration (said in the log, counted in the statistics). */
    tw_apply_function *apply_stiffness;
    bool
        stiffness_is_general; /**< K is not symmetric (follower forces): Arnoldi engines only. Default false */

    /** Writes the values of K at the last linearisation into `matrix` (= stiffness_matrix). Enables shift-invert and
     * the implicit methods. NULL with a stiffness_matrix given: its values are made by coloured finite differences. */
    tw_status (*assemble)(void *context, tw_sparse *matrix);
    tw_sparse *
        stiffness_matrix; /**< pattern of K, its values ours to overwrite; NULL if there is none. Not owned */

    const double *lumped_mass; /**< N positive values; NULL for unit mass. Not owned */
    const tw_mass_operator
        *mass; /**< consistent mass; excludes lumped_mass; NULL if none. Not owned */
    const tw_sparse *
        mass_matrix; /**< the assembled consistent mass (needed to factorise M + gamma K); NULL if none */

    bool velocity_dependent; /**< a depends on v. Default false; needed for any damping */
    double rayleigh_mass;    /**< alpha [1/s]: the v-dependence of f is -(alpha M + beta K) v ... */
    double rayleigh_stiffness; /**< beta [s]: ... with K the tangent itself */
    tw_apply_function *
        apply_damping; /**< any other D = -df/dv at the last linearisation, added to Rayleigh's; NULL */
    /** matrix += factor * that D, or its symmetric part: for Newton's matrix. NULL: it is left to the iteration. */
    tw_status (*add_damping)(void *context, double factor, tw_sparse *matrix);
    tw_symmetric_part
        symmetric_part; /**< used where stiffness_is_general or apply_damping is in the way */

    bool time_dependent; /**< a depends on t. Default false */
    /** out = da/dt at fixed x, v, at this point. NULL with time_dependent: finite differences. */
    tw_status (*time_derivative)(void *context, double t, const double *x, const double *v,
                                 double *out);

    /** Kinetic and potential energy [J]; NULL where there is none. Used for telemetry and the energy guard. */
    tw_status (*energy)(void *context, double t, const double *x, const double *v, double *kinetic,
                        double *potential);

    /** Splitting `f = -K0 x + g` for etdrk4, gautschi and v-imex: out = K0 in, K0 symmetric and constant. NULL: K0 is
     * the tangent at the start, held fixed. */
    tw_apply_function *apply_linear_part;

    double
        eigenvalue_max; /**< upper bound of M^-1 K's largest eigenvalue at any state met; 0 if unknown */
} tw_second_order_problem;
TW_API tw_second_order_problem tw_second_order_problem_default(void);

/** `u' = F(t, u)`. Start from tw_first_order_problem_default(). */
typedef struct tw_first_order_problem {
    tw_space space; /**< local_size is the length of u */
    void *context;

    /** F = F(t, u). Required. */
    tw_status (*rhs)(void *context, double t, const double *u, double *F);
    /** Fixes J = dF/du at this point. NULL where it is constant or made by finite differences. */
    tw_status (*linearise)(void *context, double t, const double *u);
    /** out = J in. NULL: the assembled matrix, or else finite differences. */
    tw_apply_function *jacobian_product;
    tw_symmetry symmetry; /**< of J. Default TW_GENERAL */

    /** Writes J's values into `matrix`; NULL with a matrix given: coloured finite differences. */
    tw_status (*assemble)(void *context, tw_sparse *matrix);
    tw_sparse
        *jacobian_matrix; /**< pattern of J (full storage); NULL if there is none. Not owned */

    bool time_dependent;
    /** out = dF/dt at fixed u. NULL with time_dependent: finite differences. */
    tw_status (*time_derivative)(void *context, double t, const double *u, double *out);
    /** Some conserved or watched quantity; NULL if none. */
    tw_status (*energy)(void *context, double t, const double *u, double *energy);
    bool
        energy_never_grows; /**< no solution raises it: a step that does is untrusted (energy guard). Default false */
} tw_first_order_problem;
TW_API tw_first_order_problem tw_first_order_problem_default(void);

#ifdef __cplusplus
}
#endif
#endif
