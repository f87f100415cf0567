#include "support/exp_engine_checks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "support/exp_trial.h"

static tw_phi_engine engine; /* of this program's suite */

/* A node inside a substep costs additions, no products. */
START_TEST(nodes_on_the_way_are_free)
{
    for (int kind = 0; kind < 3; kind++) {
        exp_trial t = exp_trial_new(engine, (exp_trial_kind)kind, 30, 40);
        ck_assert_int_eq(exp_trial_run(&t), TW_OK);
        int64_t alone = t.statistics.products;
        t.node_count = 4;
        memcpy(t.nodes, (double[]){0.7, 1, 0.01, 0.2}, sizeof t.nodes);
        ck_assert_int_eq(exp_trial_run(&t), TW_OK);
        ck_assert_double_le(exp_trial_error(&t), 1e-8);
        ck_assert_int_le(t.statistics.products, alone + alone / 10);
        exp_trial_free(&t);
    }
}
END_TEST

/* Several vectors at one node travel together. */
START_TEST(vectors_travel_together)
{
    for (int kind = 0; kind < 3; kind++) {
        exp_trial t = exp_trial_new(engine, (exp_trial_kind)kind, 30, 40);
        ck_assert_int_eq(exp_trial_run(&t), TW_OK);
        int64_t alone = t.statistics.products;
        for (int k = 1; k < EXP_TRIAL_VECTORS; k++) exp_trial_add_vector(&t, k);
        ck_assert_int_eq(exp_trial_run(&t), TW_OK);
        ck_assert_double_le(exp_trial_error(&t), 1e-8);
        ck_assert_int_le(t.statistics.products, alone + alone / 2);
        exp_trial_free(&t);
    }
}
END_TEST

/* Forwards and backwards in any order, zero and repeated nodes included. */
START_TEST(nodes_of_any_sign_and_order)
{
    for (int kind = 0; kind < 3; kind++) {
        exp_trial t = exp_trial_new(engine, (exp_trial_kind)kind, 20, 5);
        exp_trial_add_vector(&t, 2);
        t.node_count = 4;
        memcpy(t.nodes, (double[]){-0.5, 1, 0, -0.5}, sizeof t.nodes);
        ck_assert_int_eq(exp_trial_run(&t), TW_OK);
        ck_assert_double_le(exp_trial_error(&t), 1e-8);
        ck_assert_int_eq(memcmp(t.outputs[0], t.outputs[3], 20 * sizeof(double)), 0);
        exp_trial_free(&t);
    }
}
END_TEST

/* The answer to 2^k v is 2^k times the answer to v, to the last bit. */
START_TEST(powers_of_two_scale_bitwise)
{
    exp_trial t = exp_trial_new(engine, EXP_TRIAL_GENERAL, 20, 8);
    exp_trial_add_vector(&t, 1);
    double before[20];
    ck_assert_int_eq(exp_trial_run(&t), TW_OK);
    memcpy(before, t.outputs[0], sizeof before);
    static const int powers[] = {500, -1000};
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 20; i++) {
            t.vectors[0][i] = ldexp(t.vectors[0][i], powers[k]);
            t.vectors[1][i] = ldexp(t.vectors[1][i], powers[k]);
        }
        ck_assert_int_eq(exp_trial_run(&t), TW_OK);
        for (int i = 0; i < 20; i++)
            ck_assert_double_eq(ldexp(before[i], k == 0 ? 500 : -500), t.outputs[0][i]);
    }
    exp_trial_free(&t);
}
END_TEST

/* v lies in a stable subspace, but rounding does not: exp(60) lifts it above everything. */
START_TEST(hidden_growth_is_no_success)
{
    for (int general = 0; general < 2; general++) {
        exp_trial t = exp_trial_new(engine, EXP_TRIAL_SYMMETRIC, 20, 30);
        if (general) t.symmetry = TW_GENERAL;
        for (int i = 0; i < 20; i++) t.A.A[i * 20 + i] += 2; /* eigenvalues 2 ... 0 */
        /* v = A^-40 v / |...|: the eigenvector of 0, up to rounding: v <- v - (A/2) v kills the others slowly. */
        double w[20];
        for (int step = 0; step < 2000; step++) {
            test_matrix_apply(&t.A, 1, t.vectors[0], w);
            for (int i = 0; i < 20; i++) t.vectors[0][i] -= 0.5 * w[i];
        }
        tw_status status = exp_trial_run(&t);
        ck_assert_msg(status == TW_ILL_CONDITIONED, "%s", tw_status_name(status));
        exp_trial_free(&t);
    }
}
END_TEST

/* A bound on products is kept, and hopeless cases are given up early. */
START_TEST(budgets_are_kept)
{
    exp_trial t = exp_trial_new(engine, EXP_TRIAL_SKEW, 30, 1e7);
    ck_assert_int_eq(exp_trial_run(&t), TW_BUDGET_EXHAUSTED);
    ck_assert_int_le(t.statistics.products, 100);
    for (int i = 0; i < 30; i++) ck_assert_double_eq(t.outputs[0][i], 0);
    t.time = 1000;
    for (int64_t budget = 1; budget < 2000; budget = 3 * budget + 1) {
        t.options.max_products = budget;
        t.A.applied = 0;
        tw_status status = exp_trial_run(&t);
        ck_assert(status == TW_BUDGET_EXHAUSTED || status == TW_OK);
        ck_assert_int_le(t.A.applied, budget);
        ck_assert_int_eq(t.A.applied, t.statistics.products);
    }
    exp_trial_free(&t);
}
END_TEST

START_TEST(degree_stays_within_its_limit)
{
    for (int kind = 0; kind < 3; kind++)
        for (int limit = 24; limit < 200; limit *= 2) {
            exp_trial t = exp_trial_new(engine, (exp_trial_kind)kind, 30, 60);
            exp_trial_add_vector(&t, 1);
            t.options.max_dimension = limit;
            ck_assert_int_eq(exp_trial_run(&t), TW_OK);
            ck_assert_int_le(t.statistics.dimension, limit);
            ck_assert_double_le(exp_trial_error(&t), 1e-8);
            exp_trial_free(&t);
        }
}
END_TEST

/* An operator that is not what it seems. */
typedef struct deceiver {
    test_matrix *matrix;
    int shown; /* products so far, or still to come before it shows itself */
} deceiver;

/* Shows a tenth of itself to whoever estimates its norm. */
static tw_status deceive(void *context, int count, const double *in, double *out)
{
    deceiver *d = context;
    tw_status status = test_matrix_apply(d->matrix, count, in, out);
    if (d->shown++ < 20)
        for (int i = 0; i < count * d->matrix->n; i++) out[i] *= 0.1;
    return status;
}

START_TEST(a_wrong_estimate_is_noticed)
{
    for (int kind = 0; kind < 3; kind++) {
        exp_trial t = exp_trial_new(engine, (exp_trial_kind)kind, 30, 50);
        tw_phi_limits limits = tw_phi_limits_default();
        limits.size = 30;
        limits.second_order = false;
        limits.options = t.options;
        tw_phi_workspace *workspace = NULL;
        ck_assert_int_eq(tw_phi_workspace_create(&limits, &workspace, NULL), TW_OK);
        deceiver d = {&t.A, 0};
        tw_operator op = test_matrix_operator(&t.A, t.symmetry);
        op.apply = deceive;
        op.context = &d;
        const double *vectors[1] = {t.vectors[0]};
        tw_phi_request request = {.time = t.time, .node_count = 1, .nodes = t.nodes};
        request.vectors = vectors;
        request.outputs = t.outputs;
        ck_assert_int_eq(tw_phi_evaluate(workspace, &op, &request, &t.statistics, NULL), TW_OK);
        ck_assert_int_gt(t.statistics.rejected, 0);
        ck_assert_double_le(exp_trial_error(&t), 1e-7);
        tw_phi_workspace_free(workspace);
        exp_trial_free(&t);
    }
}
END_TEST

/* Sound until it has been asked often enough. */
static tw_status give_nan(void *context, int count, const double *in, double *out)
{
    deceiver *d = context;
    tw_status status = test_matrix_apply(d->matrix, count, in, out);
    if (d->shown-- <= 0) out[3] = NAN;
    return status;
}

static tw_status refuse(void *context, int count, const double *in, double *out)
{
    (void)context, (void)count, (void)in, (void)out;
    return TW_RECOVERABLE;
}

START_TEST(bad_operators_give_a_status)
{
    exp_trial t = exp_trial_new(engine, EXP_TRIAL_GENERAL, 10, 5);
    tw_phi_limits limits = tw_phi_limits_default();
    limits.size = 10;
    limits.second_order = false;
    limits.options = t.options;
    tw_phi_workspace *workspace = NULL;
    ck_assert_int_eq(tw_phi_workspace_create(&limits, &workspace, NULL), TW_OK);
    tw_operator op = test_matrix_operator(&t.A, TW_GENERAL);
    const double *vectors[1] = {t.vectors[0]};
    tw_phi_request request = {.time = 200, .node_count = 1, .nodes = t.nodes};
    request.vectors = vectors;
    request.outputs = t.outputs;
    op.apply = refuse;
    ck_assert_int_eq(tw_phi_evaluate(workspace, &op, &request, NULL, NULL), TW_CALLBACK_FAILED);
    for (int sound = 0; sound < 13; sound += 6) {
        deceiver d = {&t.A, sound};
        op.apply = give_nan;
        op.context = &d;
        ck_assert_int_eq(tw_phi_evaluate(workspace, &op, &request, NULL, NULL), TW_NOT_FINITE);
        for (int i = 0; i < 10; i++) ck_assert_double_eq(t.outputs[0][i], 0);
    }
    tw_phi_workspace_free(workspace);
    exp_trial_free(&t);
}
END_TEST

START_TEST(threads_change_no_bit)
{
    exp_trial t = exp_trial_new(engine, EXP_TRIAL_GENERAL, 40, 30);
    exp_trial_add_vector(&t, 1);
    double one[40];
    for (int threads = 1; threads <= 3; threads++) {
        tw_set_threads(threads);
        ck_assert_int_eq(exp_trial_run(&t), TW_OK);
        if (threads == 1) memcpy(one, t.outputs[0], sizeof one);
        ck_assert_int_eq(memcmp(one, t.outputs[0], sizeof one), 0);
    }
    tw_set_threads(0);
    exp_trial_free(&t);
}
END_TEST

TCase *exp_engine_checks(tw_phi_engine which)
{
    engine = which;
    TCase *cases = tcase_create("shared");
    tcase_add_test(cases, nodes_on_the_way_are_free);
    tcase_add_test(cases, vectors_travel_together);
    tcase_add_test(cases, nodes_of_any_sign_and_order);
    tcase_add_test(cases, powers_of_two_scale_bitwise);
    tcase_add_test(cases, hidden_growth_is_no_success);
    tcase_add_test(cases, budgets_are_kept);
    tcase_add_test(cases, degree_stays_within_its_limit);
    tcase_add_test(cases, a_wrong_estimate_is_noticed);
    tcase_add_test(cases, bad_operators_give_a_status);
    tcase_add_test(cases, threads_change_no_bit);
    return cases;
}
