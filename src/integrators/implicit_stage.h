/* The nonlinear equation that every implicit scheme solves, by Newton's method:
 *
 *     x = x_star + gamma a(t, x, v_star + sigma (x - x_star))   second order
 *     u = u_star + gamma F(t, u)   first order (x stands for u; sigma and v_star are not used)
 *
 * The matrix of a second-order problem is M + gamma K + gamma sigma D. With D = alpha M + beta K +
 * R it is
 *     (1 + gamma sigma alpha) (M + g (K + s R)),
 *     g = gamma (1 + sigma beta) / (1 + gamma sigma alpha),   s = sigma / (1 + sigma beta).
 * R is in the matrix if the stage asks for it and the problem has add_damping. Otherwise the
 * iteration does without R, and without what the problem's symmetric stand-in
 * (tw_symmetric_part) lacks.
 *
 * Elements with a scalar tension (tw_tension_elements) take it as an unknown of its own: the matrix
 * has the geometric stiffness of the converging tension. Eliminating the tensions leaves the
 * residual of plain Newton, so the method is
 *     dx   = (M + g K(x, tension))^-1 M (gamma a(x) - (x - x_star)),
 *     tension <- tension + share (predicted(x, dx) - tension),   x <- x + share dx,
 * with share = min(1, 1 rad / largest angle by which dx turns an element). */
#ifndef TW_INTEGRATORS_IMPLICIT_STAGE_H
#define TW_INTEGRATORS_IMPLICIT_STAGE_H

#include "integrators/system.h"

typedef struct tw_implicit tw_implicit;

typedef struct tw_stage {
    double t, gamma, sigma;
    const double *x_star; /* N entries */
    const double *v_star; /* N entries; NULL where a does not depend on v */
    double *x;            /* in: first guess; out: solution */
    double scale;         /* a displacement in the mass norm */
    double tolerance;     /* the iteration ends when |dx| <= tolerance * (scale + |x - x_star|) */
    int max_iterations;
    /* Where the iteration does not arrive, a last correction of this share of (scale + |x - x_star|)
     * will do. A sheet in folds has many solutions close to each other, and the iteration goes from
     * one to the next. 0: it must arrive. */
    double stalled_tolerance;
    /* Where the stage buckles, this takes the place of `tolerance`, if it is larger: close to the
     * solution Newton's exact matrix is not definite, or nearly singular. The sheet has many solutions
     * next to each other there, and more digits do not tell which is the right one. */
    double buckled_tolerance;
    /* > 0: the iteration starts with the factor of the last solution, if g is the same, and
     * keeps it while it contracts better than this. */
    double reuse;
    bool keeps_dear_factor; /* the same by itself, where a factorisation is dear */
    bool damping_in_matrix; /* R as above; then the matrix at hand is not M + g K */
} tw_stage;

typedef struct tw_stage_result {
    int iterations;
} tw_stage_result;

/* `past` is room for tw_implicit_past_size doubles: what the next solution inherits from the
 * last one, its tensions and where its factor was made. The scheme owns it, because it travels
 * through serialise. */
tw_status tw_implicit_create(tw_system *system, tw_linear_solver solver, double *past,
                             tw_implicit **out, tw_error *error);
size_t tw_implicit_past_size(const tw_system *system);
void tw_implicit_free(tw_implicit *implicit);
/* Forgets factor and tensions. */
void tw_implicit_reset(tw_implicit *implicit);
/* Forgets the factor and keeps the tensions. */
void tw_implicit_forget_matrix(tw_implicit *implicit);
/* Makes the factor that `past` describes, after it was written back. */
tw_status tw_implicit_restore(tw_implicit *implicit);

/* TW_NOT_CONVERGED if Newton's iteration does not arrive. The system is left linearised where the
 * factor was made. */
tw_status tw_implicit_solve(tw_implicit *implicit, const tw_stage *stage, tw_stage_result *result);

/* |x|_M, the norm of corrections and of `scale`; the plain one where there is no mass. */
tw_status tw_implicit_norm(tw_implicit *implicit, const double *x, double *norm);

/* x - x_star of the last solution. It keeps the digits that the difference of the two loses where
 * steps are small: it is gamma a to rounding, however far x is from the origin. */
const double *tw_implicit_way(const tw_implicit *implicit);

/* Linearises at the last solution, with its tensions, and factorises M + g K there. Where that is
 * not positive definite, compressed elements count as slack in K, and where that is not enough, g
 * is smaller than the stage's own. */
tw_status tw_implicit_renew(tw_implicit *implicit, const tw_stage *stage);
/* Whether `change`, from x, leaves the tangent as it is: it turns no element with a tension by a noticeable angle. False
 * where there are no such elements. */
tw_status tw_implicit_keeps_tangent(tw_implicit *implicit, const double *x, const double *change,
                                    bool *keeps);
/* Where the factor at hand was made, N entries. */
const double *tw_implicit_linear_point(const tw_implicit *implicit);

/* out = (M + g K)^-1 in, or (I - g J)^-1 in, at the present linearisation (factorised
 * as needed). */
tw_status tw_implicit_linear_solve(tw_implicit *implicit, double g, const double *in, double *out);

/* Whether the factor at hand is M + g K of the present linearisation, not one with a raised
 * diagonal. */
bool tw_implicit_is_exact(const tw_implicit *implicit);
/* g of the factor at hand, or 0 if there is none. */
double tw_implicit_factor_shift(const tw_implicit *implicit);

#endif
