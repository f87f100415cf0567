/* The engines that interpolate exp by a polynomial, without a basis: expmv (Taylor) and leja
 * (Newton at Leja points).
 *
 *   phi_expmv.c          the engine expmv: degree and length of a Taylor substep
 *   phi_leja.c           the engine leja: the ellipse around the spectrum, the length of a substep
 *   leja_points.c        Leja points, and the Newton coefficients of exp on them
 *   taylor_request.c     evaluates a request: memory, inputs, repetition until the errors are small
 *   trajectory_plan.c    cuts a request into trajectories
 *   taylor_trajectory.c  follows one trajectory through substeps
 *   trajectory_errors.c  how errors made on the way grow until the outputs
 *   newton_substep.c     one substep: a polynomial in Newton form applied to a vector
 *   newton_remainder.c   when its terms are small enough, and the rounding in them
 *   ritz_bounds.c        where the spectrum lies
 *
 * A request w_i = sum_k phi_k(c_i t A) v_k becomes trajectories of
 *     u' = t A u + sum_k theta^(k-1)/(k-1)! v_k,   u(0) = v_0,   0 <= theta <= 1:
 *   - by order: one trajectory per v_k and sign serves all nodes, w_i = sum_k u_k(f_i) / f_i^k;
 *   - by node: one trajectory per node serves all v_k, w_i = u(1).
 * The cut with the smaller total length is taken. With one node or one vector both are the same. A
 * substep is one step of length h along a trajectory.
 *
 * Part: the vectors of a second-order pair have an x-part and a v-part, which are measured apart
 * (tw_phi_frame). Arrays of two hold one number per part. Without a pair the second part is
 * empty. */
#ifndef TW_PHI_TAYLOR_H
#define TW_PHI_TAYLOR_H

#include "phi/phi_internal.h"

/* ---- ritz_bounds.c ---- */

enum { TW_RITZ_STEPS = 20 };

/* Where the spectrum of an operator lies, from a few Arnoldi steps with one pseudo-random start
 * vector.
 *
 * There is no product with the transpose, so the block 1-norm estimator of Higham & Tisseur cannot
 * be used. Instead, A V = V H + ..., and the small matrix H answers: its eigenvalues (Ritz values)
 * bound the spectrum from inside, and |(H - mu)^p|^(1/p) stands for the alpha_p of Al-Mohy &
 * Higham. All of these are estimates from below. Their user watches the terms of the series and
 * enlarges a bound that proves too small. */
typedef struct tw_ritz_bounds {
    tw_symmetry symmetry;
    int dimension;                           /* of H */
    double H[TW_RITZ_STEPS * TW_RITZ_STEPS]; /* column-major, leading dimension `dimension` */
    int ritz_count;
    double ritz_real[TW_RITZ_STEPS];
    double ritz_imaginary[TW_RITZ_STEPS];
    double margin;       /* by which the spectrum may reach beyond the Ritz values */
    double real_min;     /* of the Ritz values, widened by what is not yet resolved */
    double real_max;     /* likewise */
    double imag_max;     /* largest |imaginary part|, widened likewise */
    double norm;         /* largest |A v| / |v| seen: a lower bound of |A|_2 */
    double part_norm[2]; /* the same for the rows of each part (tw_phi_part_norms) */
    bool coarse;         /* stopped early: longest_time |A| is small, and any bound serves */
} tw_ritz_bounds;

/* `basis` has room for TW_RITZ_STEPS + 1 vectors. Stops early when longest_time |A| is small or the
 * Krylov space is exhausted. Products are taken from the budget. TW_NOT_FINITE if the operator
 * returned a NaN or infinity. */
tw_status tw_ritz_bounds_find(tw_phi_workspace *workspace, const tw_operator *op,
                              double longest_time, double *basis, tw_phi_statistics *statistics,
                              tw_ritz_bounds *bounds);

/* How fast powers of A - mu grow: about min over p of |(A - mu)^p|^(1/p) (Al-Mohy & Higham, eq.
 * 3.12). `with_zero` adds the eigenvalue 0 of the augmented matrix. */
double tw_ritz_bounds_radius(const tw_ritz_bounds *bounds, double mu, bool with_zero);

/* x becomes a pseudo-random vector of norm 1, the same on every machine. */
tw_status tw_phi_random_direction(const tw_space *space, double *x);

/* Takes products from the call's budget; TW_BUDGET_EXHAUSTED if it is used up. */
tw_status tw_phi_spend(const tw_phi_workspace *workspace, tw_phi_statistics *statistics, int count);

/* ---- trajectory_errors.c: what becomes of the errors made on the way ---- */

enum { TW_ERROR_CELLS = 256 };

/* An error made at theta reaches the output at f multiplied by exp((f - theta) t A). This
 * amplification is known for symmetric and skew operators. For others a pseudo-random probe travels
 * beside the solution, and its norm is noted: rounding errors have random directions, and a
 * solution in a harmless subspace shows nothing of how they grow. */
typedef struct tw_amplification {
    /* Logarithm of the probe's part norms over delta in [0, 1], in cells; NAN where nothing was
     * noted. The unit of delta is the longest time of one sign. */
    double logarithm[TW_ERROR_CELLS + 1][2];
    double rate; /* d log(norm) / d delta of late, for probe and solution; 0: not known */
} tw_amplification;

void tw_amplification_clear(tw_amplification *amplification);
void tw_amplification_note(tw_amplification *amplification, double delta,
                           const double logarithm[2]);
/* Sets exp(rate delta) everywhere. */
void tw_amplification_set_rate(tw_amplification *amplification, double rate);

typedef struct tw_local_error {
    double truncation; /* adds up */
    double drift;      /* rounding that adds up: a relative error of A */
    double noise;      /* rounding that adds like a random walk */
} tw_local_error;

/* Errors by the time at which they were made. */
typedef struct tw_error_ledger {
    tw_local_error cell[TW_ERROR_CELLS + 1];
} tw_error_ledger;

void tw_error_ledger_clear(tw_error_ledger *ledger);
void tw_error_ledger_add(tw_error_ledger *ledger, double theta, tw_local_error error);

/* All errors entered so far as they arrive at f, in part b. */
tw_local_error tw_error_ledger_at(const tw_error_ledger *ledger,
                                  const tw_amplification *amplification, double f, int b);

/* ---- newton_remainder.c ---- */

enum {
    TW_NEWTON_MAX_DEGREE = 512,
    TW_NEWTON_MAX_OUTPUTS = TW_PHI_MAX_NODES + 1,
    TW_NEWTON_HISTORY = 9 /* terms whose norms are kept; above every window */
};

/* A polynomial in Newton form for one substep of length h. With the augmented matrix X = h [t A, W;
 * 0, J] of Al-Mohy & Higham (2011, theorem 2.1) and y_0 = (u, z),
 *     y_{j+1} = ((X - center - shift_j) y_j + pair_j y_{j-1}) / divisor_j,
 *     u(theta + g_o h) ~ sum_j c_oj y_j,
 * with one set of coefficients per output o. Output 0 is the end of the substep (g_0 = 1); the
 * others are nodes inside it, which cost no further products.
 *   Taylor             shift = pair = 0, divisor_j = j + 1
 *   real points        shift_j = xi_j
 *   pairs +-i eta_l    shift = 0 and pair_{2l+1} = eta_l^2 / divisor, in real arithmetic */
typedef struct tw_newton {
    int degree;        /* highest, <= TW_NEWTON_MAX_DEGREE */
    double divergence; /* terms that grow by this factor show points in the wrong place; 0: never */
    int window;        /* terms over which the remainder is judged, < TW_NEWTON_HISTORY */
    int outputs;       /* number of polynomials */
    double fraction[TW_NEWTON_MAX_OUTPUTS]; /* g_o in (0, 1]; g_0 = 1 */
    double center;                          /* of the points, in units of X */
    double shift[TW_NEWTON_MAX_DEGREE + 1]; /* xi_j */
    double pair[TW_NEWTON_MAX_DEGREE + 1];  /* factor of y_{j-1} */
    double divisor[TW_NEWTON_MAX_DEGREE + 1];
    double growth[TW_NEWTON_MAX_DEGREE + 1]; /* expected upper bound of |y_{j+1}| / |y_j| */
    double coefficient[TW_NEWTON_MAX_OUTPUTS][TW_NEWTON_MAX_DEGREE + 1];
    /* Remainder after term j, per unit of |y_j|. */
    double tail[TW_NEWTON_MAX_OUTPUTS][TW_NEWTON_MAX_DEGREE + 1];
} tw_newton;

/* Fills `tail` from `coefficient` and `growth`: tail_j = growth_j (|c_{j+1}| + tail_{j+1}). */
void tw_newton_fill_tails(tw_newton *newton);

/* Rounding in the terms y_j and y_{j-1}, per part. */
typedef struct tw_term_noise {
    bool pair;          /* a second-order pair: the first part is the second one, scaled */
    double size[2][2];  /* |y_j| and |y_{j-1}| */
    double noise[2][2]; /* the rounding in them */
} tw_term_noise;

/* How much of y_{j+1} comes from where, per unit of size. */
typedef struct tw_term_weights {
    double applied[2]; /* from y_j by the operator, into each part */
    double kept;       /* from y_j by center and shift */
    double previous;   /* from y_{j-1} */
} tw_term_weights;

void tw_term_noise_start(tw_term_noise *noise, bool pair, const double size[2]);

/* From y_j to y_{j+1}, whose parts have norms `size`. */
void tw_term_noise_next(tw_term_noise *noise, tw_term_weights weights, const double size[2]);

/* ---- newton_substep.c ---- */

/* Vectors for substeps. Those with two columns hold the trajectory and the probe: a block of two is
 * applied at once. */
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
    double norm[TW_PHI_MAX_ORDER][2];        /* part norms of each column */
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
    double norm[2];                          /* of the rows of A in each part, for rounding */
    double target[TW_NEWTON_MAX_OUTPUTS][2]; /* truncation error allowed, per output and part */
    bool probe;                              /* whether the second column takes part */
    /* Results: */
    bool converged;
    bool diverged; /* terms overflowed, or grew beyond newton->divergence */
    int degree;    /* reached */
    double truncation[TW_NEWTON_MAX_OUTPUTS][2]; /* estimated */
    double hump[TW_NEWTON_MAX_OUTPUTS];          /* max_j |c_oj y_j| */
    double noise[TW_NEWTON_MAX_OUTPUTS][2];      /* rounding, estimated */
    bool moved[2];      /* whether a term beyond the first has entries in this part */
    double growth_rate; /* geometric mean of |y_{j+1}| / |y_j| after the first terms */
} tw_substep;

/* Evaluates one substep from vectors.state into vectors.sum and vectors.inside. state is kept: a
 * substep that did not converge may be repeated with another polynomial. TW_NOT_FINITE if the
 * operator returned NaN. */
tw_status tw_substep_run(tw_substep *substep, const tw_newton *newton);

/* The running state of the recurrence, shared by newton_substep.c and newton_remainder.c. */
typedef struct tw_recurrence {
    tw_substep *step;
    const tw_newton *newton;
    int64_t n;
    int j;            /* index of the newest term */
    double *previous; /* y_{j-1} */
    double *current;  /* y_j */
    double *next;     /* room for A y_j */
    double z[TW_PHI_MAX_ORDER + 1];
    double z_previous[TW_PHI_MAX_ORDER + 1];
    double norm[2];                       /* part norms of y_j with the share of its sources */
    double part[2];                       /* norms of the parts of y_j's vector alone */
    double history[TW_NEWTON_HISTORY][2]; /* `norm` of the last terms */
    bool probing;
    double probe_norm;
    tw_term_noise noise;
    double settled; /* largest |y_j| of the first terms */
} tw_recurrence;

/* Notes |c_oj y_j| and the remainders that the terms so far promise; true if all of them are below
 * their targets. */
bool tw_recurrence_judge(tw_recurrence *recurrence);

/* Whether nothing is left to add: the vector and all its sources have vanished, and the sum is
 * exact. */
bool tw_recurrence_vanished(tw_recurrence *recurrence);

/* Sets step->growth_rate and step->diverged from the newest term. */
void tw_recurrence_watch_growth(tw_recurrence *recurrence);

/* ---- leja_points.c ---- */

/* Fast Leja points on [-2, 2] (Baglama, Calvetti & Reichel 1998): 2, -2, 0, then always the
 * midpoint between two neighbours at which the product of distances to the earlier points is
 * largest. */
void tw_leja_points(int count, double *points);

/* The ellipse that holds the spectrum of X = h t A, by its focal segment. */
typedef struct tw_leja_segment {
    bool vertical; /* foci at center +- i half_length, else center +- half_length */
    double center; /* real */
    double half_length;
    bool precise;    /* every coefficient has a small relative error, not only the largest ones */
    double capacity; /* (sum of the semi-axes) / 2, >= half_length / 2 */
} tw_leja_segment;

/* Fills newton for exp on the segment's Leja points: everything but degree, window, outputs and
 * fraction, which are given. `scratch` has room for 3 (degree + 1) doubles. */
void tw_leja_build(const double *points, const tw_leja_segment *segment, tw_newton *newton,
                   double *scratch);

/* ---- taylor_request.c ---- */

/* Where the spectrum of t A lies, as a method wants to see it; all per unit of theta. */
typedef struct tw_taylor_fit {
    double center;     /* real */
    double radius;     /* expmv: growth of the powers of t A - center */
    double horizontal; /* leja: semi-axes of the ellipse */
    double vertical;
    double rightmost; /* leja: largest real part of the spectrum itself */
    bool precise;     /* leja: small coefficients matter, because terms grow */
    double longest;   /* no substep is longer than this */
} tw_taylor_fit;

typedef struct tw_taylor_trajectory {
    double time;     /* t of t A */
    double share;    /* |time| over the longest of this sign, in (0, 1] */
    int power;       /* outputs are divided by f^power */
    int input_count; /* consecutive inputs that enter, from first_input on */
    int first_input;
    int node_count;              /* outputs, ascending in f */
    int nodes[TW_PHI_MAX_NODES]; /* index of the output in the request */
    double f[TW_PHI_MAX_NODES];  /* in (0, 1] */
} tw_taylor_trajectory;

typedef struct tw_taylor_call tw_taylor_call;

/* In what expmv and leja differ. */
typedef struct tw_taylor_method {
    /* Sets call->fit from call->bounds for the trajectory about to start. */
    void (*begin)(tw_taylor_call *call);
    /* Length of the next substep, at most `remaining`, and the degree it is expected to take. */
    double (*length)(const tw_taylor_call *call, double remaining, int *degree);
    /* Fills call->newton (whose outputs and fractions are set) for that length. */
    void (*build)(tw_taylor_call *call, double length);
    /* Corrects call->fit after call->substep did not converge. */
    void (*reject)(tw_taylor_call *call, double length);
} tw_taylor_method;

/* Memory of the two engines, shared by those of one workspace. */
typedef struct tw_taylor_memory {
    double *vectors; /* one array, of which the next three are parts */
    double *inputs;  /* scaled copies of the v_k that are not zero */
    double *basis;   /* of tw_ritz_bounds_find; later it holds the outputs inside a substep */
    tw_substep_vectors substep;
    double *leja;    /* points, leja only */
    double *scratch; /* of tw_leja_build */
    tw_newton newton;
    tw_amplification amplification[2]; /* for positive and negative times */
    tw_error_ledger ledger;
} tw_taylor_memory;

/* One evaluation. */
struct tw_taylor_call {
    const tw_taylor_method *method;
    tw_phi_workspace *workspace;
    const tw_operator *op;
    const tw_phi_request *request;
    tw_phi_statistics *statistics;
    tw_taylor_memory *memory;
    tw_newton *newton;
    tw_ritz_bounds bounds;
    tw_taylor_fit fit;
    tw_substep substep;
    const tw_taylor_trajectory *trajectory;
    double tolerance;                      /* in use: smaller after errors were amplified */
    double caution;                        /* how much more rounding than expected was seen, >= 1 */
    double scale;                          /* inputs are divided by this power of two */
    int input_count;                       /* vectors that are not zero */
    int input_order[TW_PHI_MAX_ORDER + 1]; /* their k */
    double input_norm[TW_PHI_MAX_ORDER + 1][2];
    double size[2];        /* max(sum_k |v_k|/k!, reference) per part, scaled */
    double target_size[2]; /* the size to which truncation on the way relates */
    int sharing;           /* trajectories that contribute to one output, and share its tolerance */
    double hump;           /* largest |term| / |u| seen */
    double truncation[TW_PHI_MAX_NODES][2]; /* estimated, per output and part, scaled */
    double rounding[TW_PHI_MAX_NODES][2];
    double built_length; /* for which call->newton was built without nodes inside; 0: none */
    bool amplification_known[2]; /* for positive and negative times */
};

/* reserve and release of the two engines. */
tw_status tw_taylor_reserve(tw_phi_workspace *workspace, tw_phi_engine engine, tw_error *error);
void tw_taylor_release(tw_phi_workspace *workspace);

/* first_order of the two engines. */
tw_status tw_taylor_evaluate(const tw_taylor_method *method, tw_phi_workspace *workspace,
                             const tw_operator *op, const tw_phi_request *request,
                             tw_phi_statistics *statistics, tw_error *error);

/* ---- trajectory_plan.c ---- */

enum { TW_TAYLOR_MAX_TRAJECTORIES = 2 * (TW_PHI_MAX_ORDER + 1) };

/* Cuts the request into trajectories through all nodes with c_i t != 0; returns how many. */
int tw_taylor_trajectories(const tw_phi_request *request, int input_count, const int *input_order,
                           tw_taylor_trajectory *trajectories);

/* ---- taylor_trajectory.c ---- */

/* Follows call->trajectory from 0 to its last node and adds to the outputs and the error estimates.
 * If errors may be amplified and nothing is known about it yet, a probe travels along. */
tw_status tw_taylor_trajectory_run(tw_taylor_call *call);

#endif
