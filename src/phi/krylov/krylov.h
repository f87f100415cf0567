/* The adaptive Krylov engines phipm, phipm-iom2, phipm-simul-iom2 and kiops: one mechanism, a table
 * of variants.
 *
 *   krylov_engines.c     the table of variants, the memory, and the entry of the four engines
 *   phi_krylov.c         cuts a request into trajectories and judges the outputs
 *   krylov_trajectory.c  follows one trajectory through substeps
 *   krylov_estimate.c    what one substep leaves in the solution: truncation and rounding
 *   krylov_control.c     chooses the length tau and the dimension m of the next substep
 *   arnoldi.c            the Krylov basis
 *   projection.c         phi-functions of the small matrix H_m
 *   error_accounts.c     how errors of substeps grow until the outputs are reached
 *
 * A trajectory is the solution u of
 *     u' = s A u + sum_{k>=1} theta^{k-1}/(k-1)! b_k,   u(0) = b_0,   0 <= theta <= 1,
 * that is u(theta) = sum_k theta^k phi_k(theta s A) b_k. A substep is one step of length tau along
 * it.
 *
 * Part: the vectors of a second-order pair have an x-part and a v-part, which are measured apart
 * (tw_phi_frame). Arrays of two hold one number per part. Without a pair the second part is
 * empty. */
#ifndef TW_PHI_KRYLOV_H
#define TW_PHI_KRYLOV_H

#include <stdbool.h>
#include <stddef.h>

#include "phi/phi_internal.h"

/* ---- krylov_engines.c ---- */

/* In what the four engines differ. */
typedef struct tw_krylov_variant {
    bool augmented;       /* KIOPS: exp of the augmented operator; else phipm: w_j and one phi_p */
    bool simultaneous;    /* all nodes on one trajectory; else a trajectory per node */
    bool skips_zero;      /* no product with a zero vector in the recurrence of the w_j */
    bool dimension_first; /* KIOPS: grow m to its limit, then shrink tau; else the cheaper one */
    int window; /* vectors to orthogonalise against; 0: all (2 if A is symmetric or skew) */
    int min_dimension;
    int start_dimension;
    int max_dimension;
    double aim;          /* gamma: the error aimed at, in units of the tolerance */
    double aim_at_limit; /* gamma at the largest dimension */
    double accept;       /* delta: the error accepted, in the same units */
    double most_growth;  /* of tau from one substep to the next */
} tw_krylov_variant;

/* ---- arnoldi.c ---- */

/* A Krylov basis, orthogonalised against all or only the last few of its vectors (incomplete
 * orthogonalisation, IOM), in the Euclidean or another inner product. For every window there holds
 * exactly
 *     L V_m = V_m H_m + h_{m+1,m} v_{m+1} e_m^T,
 * where L is `scale * A` or, with a tail of p entries, the augmented operator of KIOPS
 *     L (u; a) = (scale A u + sum_k a_k columns[k]; a_2, ..., a_p, 0). */
typedef struct tw_arnoldi {
    const tw_operator *op;       /* A */
    const tw_phi_metric *metric; /* NULL: Euclidean */
    double scale;
    int window;                                   /* vectors to orthogonalise against; 0: all */
    int tail;                                     /* p, 0..TW_PHI_MAX_ORDER */
    const double *columns[TW_PHI_MAX_ORDER];      /* NULL means zero */
    const double *column_duals[TW_PHI_MAX_ORDER]; /* G columns[k], only with a metric */
    double column_factor;                         /* multiplies every column */

    int capacity;            /* largest m */
    double *basis;           /* capacity + 1 vectors of op->space.local_size */
    double *duals;           /* G times the basis, only with a metric */
    double *tails;           /* (capacity + 1) TW_PHI_MAX_ORDER */
    double *H;               /* (capacity + 1)^2, column-major */
    double *window_products; /* capacity + 1, scratch */

    int dimension;        /* m: columns of H that are there */
    double steepest;      /* largest |scale A v|_2 / |v|_2 in this basis; 0 without a tail */
    double rounding;      /* of H, beside |H|: eps, or with a metric the largest drift so far */
    double drift;         /* |dual - G v| / |v| of the last vector, about; only with a metric */
    bool exhausted;       /* the space is invariant up to rounding: it cannot and need not grow */
    int64_t products;     /* done so far, over all bases */
    int64_t max_products; /* beyond it the calls return TW_BUDGET_EXHAUSTED */
} tw_arnoldi;

/* Begins a basis with (u; tail). *length is the norm of that vector; 0 means that no basis
 * exists. */
tw_status tw_arnoldi_start(tw_arnoldi *arnoldi, const double *u, const double *tail,
                           double *length);

/* Grows the basis to `dimension`, or until it is exhausted. */
tw_status tw_arnoldi_extend(tw_arnoldi *arnoldi, int dimension);

/* dual = G u, counted as a product; only with a metric. */
tw_status tw_arnoldi_dual(tw_arnoldi *arnoldi, const double *u, double *dual);

/* out = scale * A u, counted as a product. */
tw_status tw_arnoldi_apply(tw_arnoldi *arnoldi, const double *u, double *out);

/* ---- projection.c ---- */

enum {
    TW_PROJECTION_SAMPLES = 16, /* pieces into which a substep is cut */
    TW_PROJECTION_REACH = 128   /* pieces over which the growth of a disturbance is computed */
};

/* phi-functions of H_m applied to e_1, and the error that they leave.
 *
 * y(s) = s^k phi_k(s H) e_1 gives the approximation beta V_m y(tau). Its residual at s is
 *     beta h_{m+1,m} (e_m^T y(s)) v_{m+1},
 * and the integral of e_m^T y from 0 to s is e_m^T s^{k+1} phi_{k+1}(s H) e_1, the `correction` of
 * Niesen and Wright. The modulus of the correction at tau is the usual error estimate. It can
 * vanish by cancellation although the residual is large, and it does not know how the residual
 * grows until tau. Therefore [0, tau] is cut into SAMPLES pieces, and
 *     variation = sum over the pieces of |change of the integral| * max(1, |exp((tau - s) H) e_m|)
 * is the estimate. It equals |correction| once the method converges and the problem does not
 * grow. */
typedef struct tw_projection {
    int capacity;        /* largest m + k + 1 */
    double *matrix;      /* capacity^2 */
    double *exponential; /* capacity^2 */
    double *scratch;     /* of tw_expm */
    double *vectors;     /* 8 capacity */
    double *disturbed;   /* y of tw_projection_disturb */

    double *y;         /* y(tau), m entries; points into vectors */
    double *spare;     /* the part of vectors that is free */
    double correction; /* e_m^T tau^{k+1} phi_{k+1}(tau H) e_1 */
    double variation;  /* the error estimate above */
    double growth;     /* largest |y(s)|_2 over the samples */
    /* How far a disturbance d on the way, |d| = 1, grows: largest |exp((tau - s) H) d| |y(s)|, in
     * units of |tau H| roundings. */
    double perturbation;
    double norm;                             /* |tau H|_1 */
    double step;                             /* tau / SAMPLES */
    double forward[TW_PROJECTION_REACH + 1]; /* [i] = max(1, |exp(s H) e_m|_2 over s <= i step) */
    int foreseen;                            /* index of the last entry of forward that is set */
    int m;                                   /* of the last evaluation */
    int order;                               /* m + k + 1 of the last evaluation */
} tw_projection;

/* Allocates for m + k + 1 <= capacity. free accepts what a failed create left. */
tw_status tw_projection_create(tw_projection *projection, int capacity);
void tw_projection_free(tw_projection *projection);

/* y of an H that is off by `rounding` |H|, into `disturbed`: its distance from y shows what the basis
 * cannot know. To be followed by tw_projection_evaluate. */
tw_status tw_projection_disturb(tw_projection *projection, int m, const double *H, int stride,
                                int k, double tau, double rounding);

/* H is m x m with leading dimension `stride`; k >= 0. TW_NOT_FINITE if the exponential
 * overflows. */
tw_status tw_projection_evaluate(tw_projection *projection, int m, const double *H, int stride,
                                 int k, double tau);

/* The factor by which H lets a disturbance at the end of the substep grow within a further time s
 * >= 0. It is computed over some substeps and extrapolated beyond them as a power of s. */
double tw_projection_amplification(tw_projection *projection, double s);

/* ---- krylov_control.c ---- */

/* Chooses tau and m. The first fields are set by the caller before tw_krylov_control_begin. */
typedef struct tw_krylov_control {
    const tw_krylov_variant *variant;
    int min_dimension;
    int max_dimension;
    double vector_size; /* n, for the cost model */
    double entries;     /* flops of a product / 2, for the cost model */
    int columns;        /* the basis serves phi_0 .. phi_{columns-1} */

    double tau;     /* length of the next trial */
    int m;          /* dimension of the next trial */
    int rejections; /* since the last accepted substep */

    double order;          /* the error behaves like tau^order */
    double rate;           /* and like rate^-m */
    bool order_is_default; /* nothing was measured yet */
    bool rate_is_default;
    double old_tau; /* of the trial before */
    double old_omega;
    int old_m;
    int stretches;  /* of this substep */
    double certain; /* a tau known to be acceptable; 0 if there is none */
} tw_krylov_control;

/* What a trial of (tau, m) showed. */
typedef struct tw_krylov_trial {
    double omega;     /* error in units of the tolerance of this substep */
    double norm;      /* |tau H| */
    double remaining; /* time to the end before this substep */
    int dimension;    /* reached: m, or less when the space is exhausted */
    bool exhausted;
} tw_krylov_trial;

void tw_krylov_control_begin(tw_krylov_control *control, double tau);

/* Whether the trial is accepted; sets tau and m of the next trial in both cases. A basis of the
 * largest dimension is dear and a trial of tau is cheap: a substep that was shrunk too far is
 * stretched again, which counts as a rejection. / */
bool tw_krylov_control_judge(tw_krylov_control *control, const tw_krylov_trial *trial);

/* Rejects without an estimate: tau *= factor. */
void tw_krylov_control_shrink(tw_krylov_control *control, double factor);

/* ---- error_accounts.c ---- */

/* Errors per part, by truncation and by rounding. */
typedef struct tw_part_errors {
    double truncation[2];
    double rounding[2];
} tw_part_errors;

/* Substeps that are remembered one by one. Beyond that, two neighbours share a record. */
enum { TW_ACCOUNT_RECORDS = 256 };

/* How errors of substeps grow until the outputs are reached. An error made at time t is multiplied
 * by exp((theta - t) s A), which is not known. Three estimates of its growth are kept:
 *   step by step  Every substep multiplies the earlier errors by the largest factor that its small
 *                 matrix allows. This is safe, but a product of many norms is far above the norm of
 *                 the product.
 *   foreseen      The small matrix of the substep itself is followed to every node. A projected
 *                 matrix may be less stable than the operator.
 *   history       An error grows as the solution has grown since, and as the solution grew in the
 *                 same time from the start. This sees directions that the small matrices have lost
 *                 (Jordan blocks).
 *   dissipated    In a damped second-order pair the energy of an error decays (tw_phi_frame). This is
 *                 an upper bound as long as the products agree with K and D being semidefinite.
 * The first two err upwards and the third downwards, so the result is max(third, min(first,
 * second)). */
typedef struct tw_error_accounts {
    double initial_size; /* |u(0)|, or the size that the b_k alone give u, if that is larger */
    tw_part_errors step_by_step;
    tw_part_errors foreseen[TW_PHI_MAX_NODES];
    tw_part_errors dissipated[TW_PHI_MAX_NODES];
    const bool *dissipates; /* of tw_phi_frame; NULL: not known */
    double exchange;        /* of tw_phi_frame, per unit of theta */
    int count;              /* of records */
    struct {
        double time; /* end of a substep */
        double size; /* largest |u| until then */
        tw_part_errors errors;
    } records[TW_ACCOUNT_RECORDS];
} tw_error_accounts;

void tw_accounts_begin(tw_error_accounts *accounts, double initial_size, const tw_phi_frame *frame,
                       double scale);

/* A substep as it is entered. */
typedef struct tw_account_entry {
    double time; /* its end */
    double size; /* |u| there */
    tw_part_errors errors;
    double growth;           /* by which it multiplies earlier errors at most */
    const double *amplified; /* [i]: by which its own errors are multiplied until node i */
    const double *nodes;     /* [i]: time of node i */
} tw_account_entry;

/* Enters a substep; nodes first <= i < end are still to come. */
void tw_accounts_add(tw_error_accounts *accounts, const tw_account_entry *entry, int first,
                     int end);

/* The errors at node i, reached at `time` with |u| = size. `last` are the errors of a final substep
 * that was not entered (NULL: none), and `growth` is its factor on earlier errors. */
tw_part_errors tw_accounts_settle(const tw_error_accounts *accounts, int i, double time,
                                  double size, const tw_part_errors *last, double growth);

/* ---- krylov_trajectory.c ---- */

/* Memory shared by the four engines of a workspace. */
typedef struct tw_krylov_memory {
    tw_arnoldi arnoldi;
    tw_projection projection;
    double *recurrence; /* TW_PHI_MAX_ORDER + 1 vectors: w_j of phipm, or duals of KIOPS' columns */
    double *vectors[3]; /* u, the next u, and one more */
} tw_krylov_memory;

/* One trajectory: what is asked of it, and then what came of it. */
typedef struct tw_krylov_trajectory {
    double scale;                                /* s, not zero */
    int order;                                   /* highest k with a b_k */
    const double *vectors[TW_PHI_MAX_ORDER + 1]; /* b_k / factor; NULL means zero */
    double factor;                               /* a power of two */
    double sizes[TW_PHI_MAX_ORDER + 1][2];       /* norms of b_k */
    double tolerance;                            /* relative, for the whole trajectory */
    int node_count;
    double nodes[TW_PHI_MAX_NODES];    /* ascending, in (0, 1]; the last is 1 */
    double *outputs[TW_PHI_MAX_NODES]; /* += weight * u(node) */
    double weights[TW_PHI_MAX_NODES];
    double scales[TW_PHI_MAX_NODES][2]; /* the tolerance relates at least to this size */

    double errors[TW_PHI_MAX_NODES][2];   /* result: estimated truncation error of u(node) */
    double rounding[TW_PHI_MAX_NODES][2]; /* result: estimated rounding error of u(node) */
} tw_krylov_trajectory;

/* Follows the trajectory; adds to substeps, rejected and dimension of *statistics. memory->arnoldi
 * counts products. */
tw_status tw_krylov_trajectory_run(const tw_phi_workspace *workspace,
                                   const tw_krylov_variant *variant, tw_krylov_memory *memory,
                                   tw_krylov_trajectory *trajectory, tw_phi_statistics *statistics);

/* The state of a trajectory on its way, shared by krylov_trajectory.c and krylov_estimate.c. */
typedef struct tw_krylov_stepper {
    const tw_phi_workspace *workspace;
    const tw_krylov_variant *variant;
    tw_krylov_trajectory *trajectory;
    tw_krylov_memory *memory;
    tw_krylov_control control;
    int64_t n;
    int order; /* p; at least 1 for the recurrence of phipm */
    int index; /* k of the projected phi-function: p for phipm, 0 for the augmented form */

    double *u;
    double *candidate; /* u(time + tau) */
    double *spare;
    double time;
    int next;                              /* first node not yet reached */
    double beta;                           /* norm of the start vector of the basis */
    double column_sizes[2];                /* of the augmented columns, times their factor */
    double terms[TW_PHI_MAX_ORDER + 1][2]; /* norms of w_j */
    double amplified[TW_PHI_MAX_NODES];    /* growth of the error of this substep until node i */
    bool candidate_is_ready;
    int rounding_rejections;

    double size[2];  /* largest |u| so far */
    double scale[2]; /* to which the tolerance related at the last substep */
    double growth;   /* most growth of an earlier error during this substep */
    tw_error_accounts accounts;
} tw_krylov_stepper;

/* ---- krylov_estimate.c ---- */

/* What a substep is expected to leave in u, per part. */
typedef struct tw_krylov_estimate {
    double truncation[2];
    double floor[2];     /* rounding of products and sums, which no choice of tau avoids */
    double excess[2];    /* rounding by cancellation, which a shorter substep reduces */
    double remainder[2]; /* residual of an exhausted basis: it is rounding, and part of excess */
    double unknown[2];   /* what the rounding of an exhausted basis makes uncertain */
    double scale[2];     /* the size of u(time + tau) to which the tolerance relates */
    double omega;        /* largest truncation error in units of what the substep may add */
} tw_krylov_estimate;

/* The vector w_j of the recurrence, or the dual of column j of the augmented operator. */
double *tw_krylov_term(const tw_krylov_stepper *stepper, int j);

/* The norms of the parts of u. */
tw_status tw_krylov_norms(const tw_krylov_stepper *stepper, const double *u, double norms[2]);

/* The least size of u(time + tau) to which the tolerance relates. */
void tw_krylov_scale_at(const tw_krylov_stepper *stepper, double tau, double scale[2]);

/* Projects the substep tau: fills memory->projection. */
tw_status tw_krylov_project(const tw_krylov_stepper *stepper, double tau);

/* Estimates the projected substep tau. Where the solution may have grown, it is formed in `out` and
 * measured, and stepper->candidate_is_ready is set. */
tw_status tw_krylov_estimate_substep(tw_krylov_stepper *stepper, double tau, double *out,
                                     tw_krylov_estimate *estimate);

/* Whether cancellation spoils the substep more than the tolerance allows. */
bool tw_krylov_cancels(const tw_krylov_stepper *stepper, const tw_krylov_estimate *estimate,
                       double tau, const double scale[2]);

/* out += sum_{j<p} tau^j/j! w_j, the polynomial part of u(time + tau); nothing for the augmented
 * form. */
void tw_krylov_add_polynomial(const tw_krylov_stepper *stepper, double tau, double *out);

/* out = u(time + tau) of the projected substep. */
void tw_krylov_form_solution(const tw_krylov_stepper *stepper, double tau, double *out);

/* ---- phi_krylov.c ---- */

/* first_order of the four engines. */
tw_status tw_krylov_evaluate(tw_phi_workspace *workspace, const tw_krylov_variant *variant,
                             const tw_operator *op, const tw_phi_request *request,
                             tw_phi_statistics *statistics, tw_error *error);

#endif
