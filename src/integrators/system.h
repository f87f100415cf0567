/* A problem as the schemes see it: one interface for first- and second-order problems. Evaluations
 * are counted and checked for finite values; tangents are given by the problem, assembled, or made
 * by finite differences. u = (x, v) for second-order problems.
 *
 *   system.c             create, evaluate: F, M, energy
 *   linearisation.c      J, K and D at a point, and the matrix that is factorised
 *   single_products.c    products in single precision
 *   finite_differences.c what the problem does not give
 *   own_matrix.c         the matrix of a small problem that gives none */
#ifndef TW_INTEGRATORS_SYSTEM_H
#define TW_INTEGRATORS_SYSTEM_H

#include <twang/cholesky.h>
#include <twang/integrator.h>

#include "linalg/colouring.h"
#include "linalg/mass.h"
#include "linalg/single.h"

/* Up to so many unknowns a matrix that the problem does not give is stored and factorised with all
 * its entries: 32 MB, or 16 MB of a symmetric one. */
enum { TW_LARGEST_OWN_MATRIX = 2000 };

typedef struct tw_system {
    bool second_order;
    int64_t n;    /* unknowns: N, or the length of u */
    int64_t size; /* entries of u: 2N, or n */
    tw_second_order_problem second;
    tw_first_order_problem first;
    tw_mass_metric mass;              /* second order only */
    tw_integrator_statistics *counts; /* of the integrator */

    tw_operator jacobian;         /* J on u at the last linearisation, for both kinds of problem */
    tw_second_order pair;         /* second order only: M, K, D at the last linearisation */
    tw_operator damping;          /* pair.damping points here if the problem has apply_damping */
    tw_shifted_cholesky *shifted; /* M + gamma K over stiffness_matrix; NULL if there is none */

    int64_t pattern; /* number of times that the matrix was replaced by one of another pattern */
    bool symmetric;  /* K and D are the problem's symmetric stand-in */
    bool assumes_symmetry; /* the scheme goes wrong if K is not symmetric */
    double matrix_damping; /* the matrix is assembled as K + matrix_damping D, D of add_damping */
    bool linear_part;      /* K is the problem's constant linear part, not its tangent */

    int64_t linearisation; /* number of the last one, since creation */
    double linear_t;       /* point of the last linearisation: what finite differences refer to */
    double *linear_u;      /* size entries */
    double *linear_f;      /* F there, valid if linear_f_known */
    bool linear_f_known;
    bool matrix_filled; /* the assembled matrix belongs to the last linearisation */
    double *scratch;    /* 4 size entries, for finite differences and products with J */

    /* Whether the user wants the step to end (tw_integrator_on_interrupt). */
    tw_interrupt_function *interrupt; /* NULL: never */
    void *interrupt_context;
    bool is_interruptible; /* a step is being attempted */
    bool was_interrupted;  /* the user said so in this step */

    struct tw_single_product single; /* pair.stiffness.single points here if that was asked for */
    bool single_filled;              /* it holds what the matrix holds */
    bool wants_single;               /* it was asked for, and is made anew for another pattern */

    tw_sparse *own_matrix;    /* stiffness_matrix points here if the problem gives none */
    bool fill_by_differences; /* the matrix has a pattern and no assemble function */
    tw_colouring colouring;   /* of that pattern; the next three have n entries each */
    double *moved;
    double *difference;
    double *difference_step;
} tw_system;

/* Exactly one of second, first is given. Checks the table and allocates; nothing is evaluated yet.
 * The system must not move in memory afterwards. */
tw_status tw_system_create(tw_system *system, const tw_second_order_problem *second,
                           const tw_first_order_problem *first, tw_integrator_statistics *counts,
                           tw_error *error);
void tw_system_free(tw_system *system);

/* TW_INTERRUPTED if a step is being attempted and the user wants it to end. */
tw_status tw_system_ask_to_go_on(tw_system *system);

/* F = F(t, u); F = (v, a) for second order. TW_NOT_FINITE if the result is not finite. */
tw_status tw_system_rhs(tw_system *system, double t, const double *u, double *F);
/* a = a(t, x, v), second order only. */
tw_status tw_system_acceleration(tw_system *system, double t, const double *x, const double *v,
                                 double *a);

/* out = M in, out = M^-1 in, one vector of N entries; in and out do not overlap. */
tw_status tw_system_mass(const tw_system *system, const double *in, double *out);
tw_status tw_system_mass_solve(const tw_system *system, const double *in, double *out);

/* F_t at (t, u), `size` entries ((0, a_t) for second order); zero for an autonomous problem. */
tw_status tw_system_time_derivative(tw_system *system, double t, const double *u, double *F_t);
bool tw_system_is_autonomous(const tw_system *system);

/* TW_UNSUPPORTED without an energy callback. First order: all of it counts as potential. */
tw_status tw_system_energy(tw_system *system, double t, const double *u, double *kinetic,
                           double *potential);
bool tw_system_has_energy(const tw_system *system);

/* ---- linearisation.c ---- */

/* Fills `jacobian`, and `pair` and `damping` of a second-order problem: who computes J, K and D. */
void tw_system_describe_operators(tw_system *system);

/* Fixes J (K and D) at (t, u). F at that point may be given (NULL if unknown); it saves finite
 * differences one evaluation. The assembled matrix is not filled until tw_system_assemble. */
tw_status tw_system_linearise(tw_system *system, double t, const double *u, const double *F);
/* The same for a second-order problem whose elements have these tensions (tw_tension_elements). */
tw_status tw_system_linearise_tension(tw_system *system, double t, const double *u,
                                      const double *tension, bool definite);
/* The same, and fills the matrix if there is a shifted solver, since an engine may factorise it. */
tw_status tw_system_linearise_for_phi(tw_system *system, double t, const double *u,
                                      const double *F);
/* Fills stiffness_matrix (jacobian_matrix) at the last linearisation and tells the shifted solver;
 * does nothing if that is done already. TW_UNSUPPORTED if there is no matrix. */
tw_status tw_system_assemble(tw_system *system);
/* Creates the shifted solver over the assembled matrix if there is none yet. It allocates: call it
 * from reserve. */
tw_status tw_system_need_shifted(tw_system *system, tw_error *error);
/* Frees the shifted solver. */
void tw_system_drop_shifted(tw_system *system);
/* The same for schemes with phi-functions, if the engine can use a factor. */
tw_status tw_system_need_shifted_for_phi(tw_system *system, tw_phi_engine engine, tw_error *error);

/* Gives K products in single precision (tw_operator.single), where the matrix suits that. The scheme must
 * not assemble a matrix with damping in it. It allocates: call it when the scheme is created. */
tw_status tw_system_offer_single_products(tw_system *system);
/* Goes on with a stiffness_matrix of another pattern: what was factorised is lost. Does nothing if
 * it is the present one. */
tw_status tw_system_take_matrix(tw_system *system, tw_sparse *matrix, tw_error *error);

/* What was computed at the last linearisation and serves later steps. */
typedef struct tw_linear_knowledge {
    double gamma;          /* of the factor M + gamma K; 0: there is none */
    int32_t f_known;       /* F there, for finite differences */
    int32_t matrix_filled; /* the assembled matrix */
} tw_linear_knowledge;

tw_linear_knowledge tw_system_knowledge(const tw_system *system);
/* Computes what is known there and is not known here, after a restored run has linearised anew. */
tw_status tw_system_learn(tw_system *system, const tw_linear_knowledge *known);

/* From now on K is the constant linear part if the problem gives one (etdrk4, gautschi); else K
 * stays the tangent, and the scheme linearises once. */
void tw_system_use_linear_part(tw_system *system);
/* From now on K and D are the problem's symmetric stand-in, if it offers one. */
void tw_system_use_symmetric_part(tw_system *system);

/* out = J in for one vector of `size` entries. */
tw_status tw_system_jacobian(tw_system *system, const double *in, double *out);
/* out = K in for `count` vectors of N entries. */
tw_status tw_system_stiffness(tw_system *system, int count, const double *in, double *out);

/* A state and its slope F. */
typedef struct tw_sloped_state {
    const double *u;
    const double *F;
} tw_sloped_state;

/* The linear model F_0 + J (u - u_0) + (t - t_0) F_t at the last linearisation. */
typedef struct tw_linear_model {
    const double *u;
    const double *F;
    const double *F_t; /* NULL: zero */
} tw_linear_model;

/* remainder = F - F_0 - J (u - u_0) - dt F_t for a state at dt after that of the model. Second
 * order: only the lower half (n entries), since the upper half is zero. `scratch`: two vectors of
 * `size` entries. */
tw_status tw_system_remainder(tw_system *system, const tw_linear_model *model, double dt,
                              const tw_sloped_state *state, double *const scratch[2],
                              double *remainder);

/* ---- finite_differences.c ---- */

/* Evaluates F at the point of linearisation, unless it is known. */
tw_status tw_system_need_linear_f(tw_system *system);

/* Allocates for tw_system_fill_by_differences, and colours the pattern unless it is NULL. */
tw_status tw_system_prepare_differences(tw_system *system, const tw_sparse *pattern);
void tw_system_release_differences(tw_system *system);
/* The values of the matrix at the last linearisation. */
tw_status tw_system_fill_by_differences(tw_system *system);
/* Column j of K = -df/dx at the last linearisation, n entries, as a step in x_j alone gives it. */
tw_status tw_system_stiffness_column(tw_system *system, int64_t j, double *column);

/* out = J in = (F(u + s in) - F(u)) / s, first order. */
tw_status tw_system_jacobian_by_differences(tw_system *system, const double *in, double *out);
/* out = K in = -M da/dx in. */
tw_status tw_system_stiffness_by_differences(tw_system *system, int count, const double *in,
                                             double *out);
/* out = D in = -M da/dv in. */
tw_status tw_system_damping_by_differences(tw_system *system, int count, const double *in,
                                           double *out);
/* F_t by central differences in t alone. */
tw_status tw_system_time_difference(tw_system *system, double t, const double *u, double *F_t);

/* ---- own_matrix.c ---- */

/* Gives a second-order problem without a stiffness_matrix one that stores every entry of the upper
 * triangle. TW_UNSUPPORTED above TW_LARGEST_OWN_MATRIX unknowns. */
tw_status tw_system_make_matrix(tw_system *system, tw_error *error);
/* Its values at the last linearisation: n products if the problem gives them, or n differences. */
tw_status tw_system_fill_own_matrix(tw_system *system);

#endif
