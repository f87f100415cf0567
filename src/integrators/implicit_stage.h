/* The nonlinear equation every implicit scheme solves, by Newton's method:
 *
 *     x = x_star + gamma a(t, x, v_star + sigma (x - x_star))      second order
 *     u = u_star + gamma F(t, u)                                   first order (x stands for u; sigma, v_star unused)
 *
 * First order: Newton's matrix I - gamma J by dense LU, up to TW_DENSE_NEWTON_MAX unknowns. Second order:
 * Newton's matrix is M + gamma K + gamma sigma D. With D = alpha M + beta K + R that is
 * (1 + gamma sigma alpha) (M + g (K + s R)), g = gamma (1 + sigma beta) / (1 + gamma sigma alpha), s = sigma / (1 +
 * sigma beta). R is in it if the stage asks for that and the problem has add_damping; else it is left to the iteration,
 * as is what the problem's symmetric stand-in (tw_symmetric_part) lacks. A matrix that is not positive definite gets
 * the diagonal raised until it is (Hessian correction). */
#ifndef TW_INTEGRATORS_IMPLICIT_STAGE_H
#define TW_INTEGRATORS_IMPLICIT_STAGE_H

#include "integrators/system.h"

enum { TW_DENSE_NEWTON_MAX = 2000 };

typedef struct tw_implicit tw_implicit;

typedef struct tw_stage {
    double t, gamma, sigma;
    const double *x_star, *v_star; /* N entries; v_star may be NULL where a does not depend on v */
    double *x;                     /* in: first guess; out: solution */
    const double *residual;        /* of the guess, where it is known; else NULL */
    double scale;     /* |displacement| in the mass norm that corrections are compared with */
    double tolerance; /* last correction <= tolerance * scale */
    int max_iterations;
    int max_factorisations; /* further iterations keep the factor while they contract by `slowest` */
    double good; /* > 0: not even so many while an old factor contracts better than this */
    double
        settled; /* ... and the new one is made when corrections are below settled * scale, near the solution */
    double slowest; /* a worse contraction renews the factor; default 0.3 where 0 */
    double
        reuse; /* > 0: start with the factor at hand if g is the same, renew if it contracts worse */
    double near;     /* > 0: the same, but renew if its first correction exceeds near * scale */
    double farthest; /* > 0: give up at a correction beyond farthest * scale */
    bool damping_in_matrix; /* R as above; then the matrix at hand is not K */
    bool
        line_search; /* shorten corrections that do not lower the incremental potential (or the residual) */
} tw_stage;

typedef struct tw_stage_result {
    int iterations, factorisations;
} tw_stage_result;

tw_status tw_implicit_create(tw_system *system, tw_linear_solver solver, tw_implicit **out,
                             tw_error *error);
void tw_implicit_free(tw_implicit *implicit);
/* Forgets the factor. */
void tw_implicit_reset(tw_implicit *implicit);

/* TW_NOT_CONVERGED if Newton's iteration does not arrive. The system is left linearised where the factor was made. */
tw_status tw_implicit_solve(tw_implicit *implicit, const tw_stage *stage, tw_stage_result *result);

/* x - x_star of the last solution, to the digits that the difference of the two loses where steps are small: gamma a to
 * rounding, though x be far from the origin. */
const double *tw_implicit_way(const tw_implicit *implicit);

/* x_star + gamma a(x) - x at any x, and its mass norm: to compare guesses. */
tw_status tw_implicit_residual(tw_implicit *implicit, const tw_stage *stage, const double *x,
                               double *residual, double *size);

/* Linearises and factorises anew at stage->x, the last solution: for those who need the tangent there itself. */
tw_status tw_implicit_renew(tw_implicit *implicit, const tw_stage *stage);

/* out = (M + g K)^-1 in at the present linearisation (assembled and factorised as needed). */
tw_status tw_implicit_linear_solve(tw_implicit *implicit, double g, const double *in, double *out);

/* Whether a Cholesky factor of M + g K, of an earlier linearisation maybe, is at hand as it is: not with a raised
 * diagonal. */
bool tw_implicit_at_hand(const tw_implicit *implicit, double g);

/* The point of the factor at hand (N entries of x, and v), for serialise; its g, or 0 if there is none. */
double tw_implicit_factor_shift(const tw_implicit *implicit);

#endif
