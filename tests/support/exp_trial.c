#include "support/exp_trial.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/random.h"

/* A reflection makes the matrix full: A <- H A H, H = 1 - 2 w w^T. */
static void reflect(test_matrix *matrix, test_random *random)
{
    int n = matrix->n;
    double *w = test_doubles(n), length = 0;
    for (int i = 0; i < n; i++) {
        w[i] = test_random_normal(random);
        length += w[i] * w[i];
    }
    for (int side = 0; side < 2; side++)
        for (int j = 0; j < n; j++) {
            double dot = 0;
            int column = side == 0 ? 1 : n, row = side == 0 ? n : 1;
            for (int i = 0; i < n; i++) dot += w[i] * matrix->A[i * column + j * row];
            for (int i = 0; i < n; i++) matrix->A[i * column + j * row] -= 2 / length * dot * w[i];
        }
    free(w);
}

static void fill(test_matrix *matrix, exp_trial_kind kind)
{
    int n = matrix->n;
    for (int i = 0; i < n; i++) {
        double *column = matrix->A + (size_t)i * (size_t)n;
        if (kind == EXP_TRIAL_SYMMETRIC) column[i] = n > 1 ? -2.0 * i / (n - 1) : -1;
        if (kind == EXP_TRIAL_SKEW && i % 2 == 0 && i + 1 < n) {
            column[i + 1] = (i + 2.0) / n;
            matrix->A[(size_t)(i + 1) * (size_t)n + (size_t)i] = -(i + 2.0) / n;
        }
        if (kind == EXP_TRIAL_GENERAL) {
            column[i] = -1;
            if (i + 1 < n) column[i + 1] = 0.8;
            if (i > 0) column[i - 1] = 0.1;
        }
    }
}

exp_trial exp_trial_new(tw_phi_engine engine, exp_trial_kind kind, int n, double time)
{
    static const tw_symmetry symmetries[] = {TW_SYMMETRIC, TW_SKEW, TW_GENERAL};
    exp_trial trial = {
        .A = test_matrix_new(n), .symmetry = symmetries[kind], .time = time, .node_count = 1};
    test_random random = {(uint64_t)kind + 7};
    fill(&trial.A, kind);
    reflect(&trial.A, &random);
    trial.nodes[0] = 1;
    for (int i = 0; i < EXP_TRIAL_NODES; i++) trial.outputs[i] = test_doubles(n);
    trial.options = tw_phi_options_default();
    trial.options.engine = engine;
    exp_trial_add_vector(&trial, 0);
    return trial;
}

void exp_trial_free(exp_trial *trial)
{
    for (int i = 0; i < EXP_TRIAL_NODES; i++) free(trial->outputs[i]);
    for (int k = 0; k < EXP_TRIAL_VECTORS; k++) free(trial->vectors[k]);
    test_matrix_free(&trial->A);
}

void exp_trial_add_vector(exp_trial *trial, int k)
{
    test_random random = {(uint64_t)k + 100};
    trial->vectors[k] = test_doubles(trial->A.n);
    for (int i = 0; i < trial->A.n; i++) trial->vectors[k][i] = test_random_normal(&random);
    if (k > trial->order) trial->order = k;
}

static tw_status run(exp_trial *trial, const tw_phi_options *options, double *const *outputs)
{
    tw_phi_limits limits = tw_phi_limits_default();
    limits.size = trial->A.n;
    limits.second_order = false;
    limits.options = *options;
    tw_phi_workspace *workspace = NULL;
    ck_assert_int_eq(tw_phi_workspace_create(&limits, &workspace, NULL), TW_OK);
    const double *vectors[EXP_TRIAL_VECTORS];
    for (int k = 0; k < EXP_TRIAL_VECTORS; k++) vectors[k] = trial->vectors[k];
    tw_phi_request request = {
        .time = trial->time, .node_count = trial->node_count, .nodes = trial->nodes};
    request.order = trial->order;
    request.vectors = vectors;
    request.outputs = outputs;
    tw_operator op = test_matrix_operator(&trial->A, trial->symmetry);
    tw_status status = tw_phi_evaluate(workspace, &op, &request, &trial->statistics, &trial->error);
    tw_phi_workspace_free(workspace);
    return status;
}

tw_status exp_trial_run(exp_trial *trial)
{
    return run(trial, &trial->options, trial->outputs);
}

static double norm(int n, const double *x)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum = hypot(sum, x[i]);
    return sum;
}

double exp_trial_error(exp_trial *trial)
{
    int n = trial->A.n;
    double *exact[EXP_TRIAL_NODES], size = 0, worst = 0, factorial = 1;
    for (int i = 0; i < EXP_TRIAL_NODES; i++) exact[i] = test_doubles(n);
    tw_phi_statistics kept = trial->statistics;
    tw_phi_options options = tw_phi_options_default();
    options.engine = TW_PHI_DENSE;
    options.tolerance = 1e-12;
    ck_assert_int_eq(run(trial, &options, exact), TW_OK);
    trial->statistics = kept;
    for (int k = 0; k <= trial->order; k++) {
        if (k > 1) factorial *= k;
        if (trial->vectors[k]) size += norm(n, trial->vectors[k]) / factorial;
    }
    for (int i = 0; i < trial->node_count; i++) {
        double whole = fmax(norm(n, exact[i]), size);
        for (int j = 0; j < n; j++) exact[i][j] -= trial->outputs[i][j];
        worst = fmax(worst, norm(n, exact[i]) / whole);
    }
    for (int i = 0; i < EXP_TRIAL_NODES; i++) free(exact[i]);
    return worst;
}
