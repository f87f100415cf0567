/* Random second-order phi-evaluations compared with the exact result in modal coordinates. */
#ifndef TESTS_SPECTRAL_TRIALS_H
#define TESTS_SPECTRAL_TRIALS_H

#include "support/spectral_operator.h"

/* What is drawn for one trial; printed when a trial fails. */
typedef struct test_trial {
    int64_t n;
    test_spectrum spectrum;
    test_mass mass;
    double tau; /* |time| * sqrt(largest |lambda|) */
    double tolerance;
    int order, node_count;
    double magnitude;   /* of the vectors */
    double alpha, beta; /* Rayleigh damping */
    bool bound_known;   /* op.eigenvalue_max is given */
} test_trial;

typedef struct test_outcome {
    tw_status status;
    double excess;    /* true error / promised error: the largest over outputs and their parts */
    double estimated; /* statistics.estimated_error / tolerance */
    bool finite;      /* every output entry is */
    tw_phi_statistics statistics;
} test_outcome;

test_trial test_trial_draw(test_random *random, int64_t largest_n, double tau_low, double tau_high);

/* One call of tw_phi_evaluate_second_order with that engine. */
test_outcome test_trial_run(tw_phi_engine engine, const test_trial *trial, test_random *random);

#endif
