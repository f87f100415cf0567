/* labels: threads */
/* Two phi workspaces, each with its matrix and its factor, used from two threads at once do not meet. */
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <twang/twang.h>

#include "support/run_suite.h"

enum { MAX_N = 120, NODES = 2, ORDER = 2, CALLS = 4 };

/* One thread's work: phi-actions for a chain of n masses between walls, springs of stiffness k. */
typedef struct work {
    tw_phi_engine engine;
    int n, threads;
    double k, time;
    tw_status status;
    double outputs[CALLS][NODES][2 * MAX_N];
} work;

static tw_status create_chain(const work *w, tw_sparse **matrix)
{
    int64_t row_start[MAX_N + 1] = {0}, column[3 * MAX_N];
    int64_t stored = 0;
    for (int i = 0; i < w->n; i++) {
        for (int j = i > 0 ? i - 1 : 0; j <= i + 1 && j < w->n; j++) column[stored++] = j;
        row_start[i + 1] = stored;
    }
    tw_status status = tw_sparse_create(1, w->n, row_start, column, TW_STORE_FULL, matrix, NULL);
    if (status != TW_OK) return status;
    for (int i = 0; i < w->n; i++)
        for (int64_t q = row_start[i]; q < row_start[i + 1]; q++)
            tw_sparse_values(*matrix)[q] = column[q] == i ? 2 * w->k : -w->k;
    return TW_OK;
}

static tw_status evaluate(work *w, tw_phi_workspace *workspace, const tw_second_order *op)
{
    static const double nodes[NODES] = {0.5, 1};
    double vectors[ORDER + 1][2 * MAX_N];
    for (int call = 0; call < CALLS; call++) {
        for (int k = 0; k <= ORDER; k++)
            for (int i = 0; i < 2 * w->n; i++) vectors[k][i] = sin(1.0 + i * (k + 2) + call);
        tw_phi_request request = {
            .time = w->time,
            .node_count = NODES,
            .nodes = nodes,
            .order = ORDER,
            .vectors = (const double *const[]){vectors[0], vectors[1], vectors[2]},
            .outputs = (double *const[]){w->outputs[call][0], w->outputs[call][1]}};
        tw_status status = tw_phi_evaluate_second_order(workspace, op, &request, NULL, NULL);
        if (status != TW_OK) return status;
    }
    return TW_OK;
}

static void *do_work(void *context)
{
    work *w = context;
    tw_set_threads(w->threads);
    tw_sparse *matrix = NULL;
    tw_shifted_cholesky *shifted = NULL;
    tw_phi_workspace *workspace = NULL;
    tw_phi_limits limits = tw_phi_limits_default();
    limits.size = w->n;
    limits.basis_bytes = 1e7;
    limits.options.engine = w->engine;
    limits.options.tolerance = 1e-9;
    w->status = create_chain(w, &matrix);
    if (w->status == TW_OK)
        w->status = tw_shifted_cholesky_create(matrix, NULL, NULL, &shifted, NULL);
    if (w->status == TW_OK) w->status = tw_phi_workspace_create(&limits, &workspace, NULL);
    if (w->status == TW_OK) {
        tw_second_order op = {.stiffness = tw_sparse_operator(matrix),
                              .shifted = tw_shifted_cholesky_view(shifted)};
        op.stiffness.symmetry = TW_SYMMETRIC;
        w->status = evaluate(w, workspace, &op);
    }
    tw_phi_workspace_free(workspace);
    tw_shifted_cholesky_free(shifted);
    tw_sparse_free(matrix);
    return NULL;
}

static const work tasks[2] = {{.n = 90, .threads = 2, .k = 10, .time = 1},
                              {.n = MAX_N, .threads = 3, .k = 4, .time = 2}};

START_TEST(two_workspaces_do_not_meet)
{
    static work alone[2], together[2];
    int64_t bytes = tw_memory_counts_now().current_bytes;
    for (int i = 0; i < 2; i++) {
        alone[i] = together[i] = tasks[i];
        alone[i].engine = together[i].engine = (tw_phi_engine)_i;
        alone[i].threads = 1;
        do_work(&alone[i]);
    }
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, do_work, &together[i]), 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) {
        ck_assert_msg(alone[i].status == TW_OK, "%s: %s", tw_phi_engine_name((tw_phi_engine)_i),
                      tw_status_text(alone[i].status));
        ck_assert_int_eq(together[i].status, TW_OK);
        ck_assert_msg(memcmp(alone[i].outputs, together[i].outputs, sizeof alone[i].outputs) == 0,
                      "%s: not the same beside another workspace",
                      tw_phi_engine_name((tw_phi_engine)_i));
    }
    ck_assert_int_eq(tw_memory_counts_now().current_bytes, bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("two_workspaces");
    TCase *cases = tcase_create("two_workspaces");
    tcase_add_loop_test(cases, two_workspaces_do_not_meet, TW_PHI_AUTO, TW_PHI_ENGINE_COUNT);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
