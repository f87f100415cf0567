/* One substep of u' = t A u + sum_k theta^(k-1)/(k-1)! v_k by a polynomial in Newton form: what expmv and leja share.
 *
 * With X = h [t A, W; 0, J], the augmented matrix of Al-Mohy & Higham (2011, theorem 2.1), and y_0 = (u, z),
 *     y_{j+1} = ((X - center - shift_j) y_j + pair_j y_{j-1}) / divisor_j,    u(theta + g_o h) ~ sum_j c_oj y_j,
 * one set of coefficients per output o: output 0 is the end of the substep (g_0 = 1), the others are nodes inside it,
 * which cost no further products. Taylor: shift = pair = 0, divisor = j + 1. Real points: shift_j = xi_j. Conjugate
 * pairs +-i eta_l in real arithmetic: shift = 0 and pair_{2l+1} = eta_l^2 / divisor. */
#ifndef TW_PHI_NEWTON_SUBSTEP_H
#define TW_PHI_NEWTON_SUBSTEP_H

#include "phi/phi_internal.h"

enum { TW_NEWTON_MAX_DEGREE = 512, TW_NEWTON_MAX_OUTPUTS = TW_PHI_MAX_NODES + 1 };

typedef struct tw_newton {
    int degree; /* highest, <= TW_NEWTON_MAX_DEGREE */
    double
        divergence; /* |y_j| this much larger than at the start means points in the wrong place; 0: never */
    int window;                             /* terms over which the remainder is judged, <= 8 */
    int outputs;                            /* how many polynomials */
    double fraction[TW_NEWTON_MAX_OUTPUTS]; /* g_o in (0, 1]; g_0 = 1 */
    double center;                          /* of the points, in units of X */
    double shift[TW_NEWTON_MAX_DEGREE + 1]; /* xi_j */
    double pair[TW_NEWTON_MAX_DEGREE + 1];  /* factor of y_{j-1} */
    double divisor[TW_NEWTON_MAX_DEGREE + 1];
    double growth[TW_NEWTON_MAX_DEGREE + 1]; /* what |y_{j+1}| / |y_j| is expected to stay below */
    double coefficient[TW_NEWTON_MAX_OUTPUTS][TW_NEWTON_MAX_DEGREE + 1];
    double tail[TW_NEWTON_MAX_OUTPUTS]
               [TW_NEWTON_MAX_DEGREE + 1]; /* remainder after j, per unit of |y_j| */
} tw_newton;

/* Fills `tail` from `coefficient` and `growth`: tail_j = growth_j (|c_{j+1}| + tail_{j+1}). */
void tw_newton_fill_tails(tw_newton *newton);

/* Vectors of one size for substeps. Two columns where a block of two is applied: the trajectory and the probe. */
typedef struct tw_substep_vectors {
    double *state;   /* 2 columns: u, and the probe */
    double *sum;     /* 2 columns: their values at the end of the substep */
    double *term[3]; /* 2 columns each: y_{j-1}, y_j and A y_j in rotation */
    double *inside;  /* one column per output beyond the first */
} tw_substep_vectors;

/* The sources v_k of a trajectory and their polynomials z_k = theta^(k-1)/(k-1)!. */
typedef struct tw_substep_sources {
    int count;                               /* vectors */
    const double *vectors;                   /* contiguous columns */
    int order[TW_PHI_MAX_ORDER];             /* k >= 1 of each column */
    double norm[TW_PHI_MAX_ORDER][2];        /* block norms of each column */
    int top;                                 /* largest k */
    double polynomial[TW_PHI_MAX_ORDER + 1]; /* z_1..z_top at the start of the substep */
} tw_substep_sources;

typedef struct tw_substep {
    tw_phi_workspace *workspace;
    const tw_operator *op;
    tw_phi_statistics *statistics;
    tw_substep_vectors vectors;
    tw_substep_sources sources;
    double time;                             /* t of t A */
    double length;                           /* h */
    double norm[2];                          /* of the rows of A in each block, for rounding */
    double target[TW_NEWTON_MAX_OUTPUTS][2]; /* truncation error allowed, per output and block */
    bool probe;                              /* whether the second column takes part */
    /* Results: */
    bool converged;
    bool diverged; /* terms overflowed, or grew beyond newton->divergence */
    int degree;    /* reached */
    double truncation[TW_NEWTON_MAX_OUTPUTS][2]; /* estimated */
    double hump[TW_NEWTON_MAX_OUTPUTS];          /* max_j |c_oj y_j| */
    double noise[TW_NEWTON_MAX_OUTPUTS][2];      /* rounding, estimated */
    bool moved[2];      /* whether any term beyond the first has entries in this block */
    double growth_rate; /* geometric mean of |y_{j+1}| / |y_j| after the first terms */
} tw_substep;

/* Spends products from the call's budget; TW_BUDGET_EXHAUSTED if it is used up. */
tw_status tw_phi_spend(const tw_phi_workspace *workspace, tw_phi_statistics *statistics, int count);

/* Evaluates one substep from vectors.state into vectors.sum and vectors.inside. state is kept: a substep that did not
 * converge may be repeated with another polynomial. TW_NOT_FINITE if the operator returned NaN. */
tw_status tw_substep_run(tw_substep *substep, const tw_newton *newton);

#endif
