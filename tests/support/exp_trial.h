/* One call of a phi-engine on a dense test matrix, and the dense engine's answer to it. */
#ifndef TESTS_EXP_TRIAL_H
#define TESTS_EXP_TRIAL_H

#include <twang/phi.h>

#include "support/test_matrix.h"

enum { EXP_TRIAL_NODES = 4, EXP_TRIAL_VECTORS = 4 };

typedef struct exp_trial {
    test_matrix A;
    tw_symmetry symmetry;
    double time;
    int node_count, order;
    double nodes[EXP_TRIAL_NODES];
    double *vectors[EXP_TRIAL_VECTORS]; /* NULL means zero */
    double *outputs[EXP_TRIAL_NODES];
    tw_phi_options options;
    tw_phi_statistics statistics;
    tw_error error;
} exp_trial;

/* What its operator is. */
typedef enum exp_trial_kind {
    EXP_TRIAL_SYMMETRIC, /* eigenvalues evenly from -2 to 0 */
    EXP_TRIAL_SKEW,      /* eigenvalues evenly from -i to i */
    EXP_TRIAL_GENERAL    /* upwind advection with diffusion: nonnormal, in the left half plane */
} exp_trial_kind;

/* n x n, one node at 1, one random vector v_0; |A| is 1 or 2. The tolerance is 1e-8. */
exp_trial exp_trial_new(tw_phi_engine engine, exp_trial_kind kind, int n, double time);
void exp_trial_free(exp_trial *trial);

/* Adds a random v_k. */
void exp_trial_add_vector(exp_trial *trial, int k);

/* Evaluates with options.engine in a workspace of its own. */
tw_status exp_trial_run(exp_trial *trial);

/* The largest relative error of the outputs in the sense of phi.h, by the dense engine. */
double exp_trial_error(exp_trial *trial);

#endif
