/* Sweeps of substeps with a polynomial of exp: the frame in which expmv and leja work.
 *
 * A request `w_i = sum_k phi_k(c_i t A) v_k` becomes trajectories of u' = t A u + sum_k theta^(k-1)/(k-1)! v_k,
 * u(0) = v_0, theta in [0, 1]:
 *   - by order: one trajectory per v_k and sign serves all nodes, w_i = sum_k u_k(f_i) / f_i^k;
 *   - by node: one trajectory per node serves all v_k, w_i = u(1).
 * Whichever is shorter in total is taken; with one node or one vector they are the same thing. */
#ifndef TW_PHI_EXP_SWEEP_H
#define TW_PHI_EXP_SWEEP_H

#include "phi/taylor/error_ledger.h"
#include "phi/taylor/leja_points.h"
#include "phi/taylor/newton_substep.h"
#include "phi/taylor/spectrum_bounds.h"

/* Where the spectrum of t A lies, as a method wants to see it; all per unit of theta. */
typedef struct tw_exp_fit {
    double center;     /* real */
    double radius;     /* expmv: growth of the powers of t A - center */
    double horizontal; /* leja: semi-axes of the ellipse */
    double vertical;
    double rightmost; /* leja: largest real part of the spectrum itself */
    bool precise;     /* leja: small coefficients matter, because terms grow */
    double longest;   /* no substep longer than this */
} tw_exp_fit;

typedef struct tw_exp_trajectory {
    double time;     /* t of t A */
    double share;    /* |time| over the longest of this sign, in (0, 1] */
    int power;       /* outputs are divided by f^power */
    int input_count; /* consecutive inputs that enter, from first_input on */
    int first_input;
    int node_count;              /* outputs, ascending in f */
    int nodes[TW_PHI_MAX_NODES]; /* index of the output in the request */
    double f[TW_PHI_MAX_NODES];  /* in (0, 1] */
} tw_exp_trajectory;

typedef struct tw_exp_call tw_exp_call;

/* What makes an engine of the frame. */
typedef struct tw_exp_method {
    /* Sets call->fit from call->bounds for the trajectory about to start. */
    void (*begin)(tw_exp_call *call);
    /* Length of the next substep, at most `remaining`, and the degree it is expected to take. */
    double (*length)(const tw_exp_call *call, double remaining, int *degree);
    /* Fills call->newton (whose outputs and fractions are set) for that length. */
    void (*build)(tw_exp_call *call, double length);
    /* Corrects call->fit after call->substep did not converge. */
    void (*reject)(tw_exp_call *call, double length);
} tw_exp_method;

/* Memory of these engines: everything is reserved here. */
typedef struct tw_exp_memory {
    double *vectors; /* one block, cut up below */
    double *inputs;  /* scaled copies of the v_k that are not zero */
    double *basis; /* of tw_spectrum_bounds_find; its room serves outputs inside a substep later */
    tw_substep_vectors substep;
    double *leja;    /* points, leja only */
    double *scratch; /* of tw_leja_build */
    tw_newton newton;
    tw_amplification amplification[2]; /* for positive and negative times */
    tw_error_ledger ledger;
} tw_exp_memory;

struct tw_exp_call {
    const tw_exp_method *method;
    tw_phi_workspace *workspace;
    const tw_operator *op;
    const tw_phi_request *request;
    tw_phi_statistics *statistics;
    tw_exp_memory *memory;
    tw_newton *newton;
    tw_spectrum_bounds bounds;
    tw_exp_fit fit;
    tw_substep substep;
    const tw_exp_trajectory *trajectory;
    double tolerance;                      /* worked with: tightened when errors were amplified */
    double caution;                        /* how much more rounding than expected was seen, >= 1 */
    double scale;                          /* inputs are divided by this power of two */
    int input_count;                       /* vectors that are not zero */
    int input_order[TW_PHI_MAX_ORDER + 1]; /* their k */
    double input_norm[TW_PHI_MAX_ORDER + 1][2];
    double size[2];        /* max(sum_k |v_k|/k!, reference) per block, scaled */
    double target_size[2]; /* the same as far as truncation on the way is concerned */
    int sharing;           /* trajectories that contribute to one output, and share its tolerance */
    double hump;           /* largest |term| / |u| seen */
    double truncation[TW_PHI_MAX_NODES][2]; /* estimated, per output and block, scaled */
    double rounding[TW_PHI_MAX_NODES][2];
    double built_length; /* what call->newton was built for without nodes inside; 0: nothing */
    bool amplification_known[2]; /* for positive and negative times */
};

/* reserve and release of an engine of this frame. expmv and leja share their memory: one call at a time. */
tw_status tw_exp_reserve(tw_phi_workspace *workspace, tw_phi_engine engine, tw_error *error);
void tw_exp_release(tw_phi_workspace *workspace);

/* first_order of an engine of this frame. */
tw_status tw_exp_sweep_evaluate(const tw_exp_method *method, tw_exp_memory *memory,
                                tw_phi_workspace *workspace, const tw_operator *op,
                                const tw_phi_request *request, tw_phi_statistics *statistics,
                                tw_error *error);

/* Cuts the request into trajectories through all nodes with c_i t != 0; returns how many. */
int tw_exp_trajectories(const tw_phi_request *request, int input_count, const int *input_order,
                        tw_exp_trajectory *trajectories);
enum { TW_EXP_MAX_TRAJECTORIES = 2 * (TW_PHI_MAX_ORDER + 1) };

/* Runs call->trajectory from 0 to its last node and adds to the outputs and the error estimates. Where errors may be
 * amplified and nothing is known about it yet, a probe travels along. */
tw_status tw_exp_trajectory_run(tw_exp_call *call);

#endif
