/* The dispatcher: what it refuses, what it settles itself, and what it makes of an engine's answer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "support/run_suite.h"
#include "support/test_matrix.h"

enum { N = 6, VECTORS = 3, NODES = 3 };

/* A chain of N springs, and a request for it. */
typedef struct setup {
    test_matrix K;
    tw_operator first;
    tw_second_order second;
    double vectors[VECTORS][2 * N], outputs[NODES][2 * N], nodes[NODES];
    const double *in[VECTORS];
    double *out[NODES];
    tw_phi_request request;
    tw_phi_workspace *workspace;
} setup;

static void start(setup *s, tw_phi_engine engine, bool second_order)
{
    *s = (setup){.K = test_matrix_new(N), .nodes = {0.5, 1, 0.25}};
    for (int i = 0; i < N; i++) {
        s->K.A[i * N + i] = second_order ? 2 : -2;
        if (i > 0) s->K.A[i * N + i - 1] = s->K.A[(i - 1) * N + i] = second_order ? -1 : 1;
    }
    s->first = test_matrix_operator(&s->K, TW_SYMMETRIC);
    s->second = (tw_second_order){.stiffness = s->first};
    for (int k = 0; k < VECTORS; k++) {
        s->in[k] = s->vectors[k];
        for (int i = 0; i < 2 * N; i++) s->vectors[k][i] = 1 + i + 10 * k;
    }
    for (int i = 0; i < NODES; i++) s->out[i] = s->outputs[i];
    s->request =
        (tw_phi_request){.time = 1, .node_count = NODES, .nodes = s->nodes, .order = VECTORS - 1};
    s->request.vectors = s->in;
    s->request.outputs = s->out;
    tw_phi_limits limits = tw_phi_limits_default();
    limits.size = N;
    limits.second_order = second_order;
    limits.options.engine = engine;
    ck_assert_int_eq(tw_phi_workspace_create(&limits, &s->workspace, NULL), TW_OK);
}

static void stop(setup *s)
{
    test_matrix_free(&s->K);
    tw_phi_workspace_free(s->workspace);
}

static tw_status run(setup *s, bool second_order, tw_phi_statistics *statistics, tw_error *error)
{
    for (int i = 0; i < NODES; i++)
        for (int j = 0; j < 2 * N; j++) s->outputs[i][j] = 777;
    return second_order ? tw_phi_evaluate_second_order(s->workspace, &s->second, &s->request,
                                                       statistics, error)
                        : tw_phi_evaluate(s->workspace, &s->first, &s->request, statistics, error);
}

static void check_zero_outputs(const setup *s, bool second_order)
{
    for (int i = 0; i < NODES; i++)
        for (int j = 0; j < (second_order ? 2 * N : N); j++)
            ck_assert_double_eq(s->outputs[i][j], 0);
}

START_TEST(every_engine_has_a_name)
{
    for (int i = 0; i < TW_PHI_ENGINE_COUNT; i++)
        ck_assert_int_eq(tw_phi_engine_from_name(tw_phi_engine_name((tw_phi_engine)i)), i);
    ck_assert_str_eq(tw_phi_engine_name(TW_PHI_ENGINE_COUNT), "?");
    ck_assert_int_eq(tw_phi_engine_from_name("nobody"), TW_PHI_ENGINE_COUNT);
    ck_assert_int_eq(tw_phi_engine_from_name(NULL), TW_PHI_ENGINE_COUNT);
}
END_TEST

START_TEST(wrong_arguments_are_refused)
{
    setup s;
    start(&s, TW_PHI_DENSE, true);
    tw_error error = {0};
    ck_assert_int_eq(tw_phi_evaluate(s.workspace, &s.first, &s.request, NULL, &error),
                     TW_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.text, "second order"));
    ck_assert_int_eq(tw_phi_evaluate_second_order(s.workspace, NULL, &s.request, NULL, NULL),
                     TW_INVALID_ARGUMENT);
    s.request.node_count = TW_PHI_MAX_NODES + 1;
    ck_assert_int_eq(run(&s, true, NULL, NULL), TW_INVALID_ARGUMENT);
    s.request.node_count = NODES;
    s.request.order = TW_PHI_MAX_ORDER + 1;
    ck_assert_int_eq(run(&s, true, NULL, NULL), TW_INVALID_ARGUMENT);
    s.request.order = 1;
    s.out[1] = NULL;
    ck_assert_int_eq(run(&s, true, NULL, NULL), TW_INVALID_ARGUMENT);
    s.out[1] = s.outputs[1];
    s.second.damping = &(tw_operator){.space = {.local_size = N + 1}, .apply = test_matrix_apply};
    ck_assert_int_eq(run(&s, true, NULL, NULL), TW_INVALID_ARGUMENT);
    s.second.damping = NULL;
    double mass[N] = {1, 1, 1, 1, 1, 1};
    s.second.lumped_mass = mass;
    s.second.mass = &(tw_mass_operator){test_matrix_apply, test_matrix_solve, NULL};
    ck_assert_int_eq(run(&s, true, NULL, NULL), TW_INVALID_ARGUMENT);
    s.second.mass = NULL;
    mass[3] = -1;
    ck_assert_int_eq(run(&s, true, NULL, NULL), TW_NOT_POSITIVE_DEFINITE);
    stop(&s);
    tw_phi_limits limits = tw_phi_limits_default();
    ck_assert_int_eq(tw_phi_workspace_create(&limits, &s.workspace, NULL), TW_INVALID_ARGUMENT);
    ck_assert_ptr_null(s.workspace);
    limits.size = INT64_MAX;
    ck_assert_int_eq(tw_phi_workspace_create(&limits, &s.workspace, NULL), TW_INVALID_ARGUMENT);
    limits.size = 4;
    limits.options.tolerance = NAN;
    ck_assert_int_eq(tw_phi_workspace_create(&limits, &s.workspace, NULL), TW_INVALID_ARGUMENT);
    tw_phi_workspace_free(NULL);
}
END_TEST

/* NaN or infinity in any place of the request: a status, and zeros. */
START_TEST(values_that_are_not_finite)
{
    static const double bad[2] = {NAN, INFINITY};
    for (int i = 0; i < 2; i++)
        for (int place = 0; place < 6; place++) {
            setup s;
            start(&s, TW_PHI_DENSE, true);
            double mass[N] = {1, 1, 1, 1, 1, 1};
            s.second.lumped_mass = mass;
            double *places[6] = {&s.vectors[1][7],        &s.nodes[2],
                                 &s.request.time,         &mass[3],
                                 &s.request.reference[1], &s.second.rayleigh_mass};
            *places[place] = bad[i];
            tw_error error = {0};
            ck_assert_int_eq(run(&s, true, NULL, &error), TW_NOT_FINITE);
            ck_assert_int_eq(error.status, TW_NOT_FINITE);
            ck_assert_int_gt((int)strlen(error.text), 10);
            check_zero_outputs(&s, true);
            stop(&s);
        }
}
END_TEST

/* t = 0, zero nodes and zero vectors cost nothing, whatever the engine. */
START_TEST(trivial_requests_cost_nothing)
{
    for (int order = 1; order <= 2; order++)
        for (int e = 0; e < TW_PHI_ENGINE_COUNT; e++) {
            setup s;
            start(&s, (tw_phi_engine)e, order == 2);
            tw_phi_statistics statistics;
            s.request.time = 0;
            ck_assert_int_eq(run(&s, order == 2, &statistics, NULL), TW_OK);
            ck_assert_int_eq(statistics.products, 0);
            ck_assert_int_ne(statistics.engine, TW_PHI_AUTO);
            for (int i = 0; i < NODES; i++)
                for (int j = 0; j < order * N; j++)
                    ck_assert_double_le(fabs(s.outputs[i][j] - (1 + j) - (11 + j) - 0.5 * (21 + j)),
                                        1e-13);
            s.request.time = 1;
            memset(s.vectors, 0, sizeof s.vectors);
            s.in[1] = NULL;
            ck_assert_int_eq(run(&s, order == 2, &statistics, NULL), TW_OK);
            check_zero_outputs(&s, order == 2);
            ck_assert_int_eq(statistics.products, 0);
            ck_assert_int_eq(s.K.applied, 0);
            stop(&s);
        }
}
END_TEST

/* A zero node among others is settled; the others are the engine's, in their own order. */
START_TEST(zero_nodes_among_others)
{
    setup s;
    double all[NODES][2 * N];
    start(&s, TW_PHI_DENSE, true);
    ck_assert_int_eq(run(&s, true, NULL, NULL), TW_OK);
    memcpy(all, s.outputs, sizeof all);
    s.nodes[1] = 0;
    ck_assert_int_eq(run(&s, true, NULL, NULL), TW_OK);
    ck_assert_int_eq(memcmp(all[0], s.outputs[0], sizeof all[0]), 0);
    ck_assert_int_eq(memcmp(all[2], s.outputs[2], sizeof all[0]), 0);
    ck_assert_double_le(fabs(s.outputs[1][0] - 1 - 11 - 10.5), 1e-13);
    stop(&s);
}
END_TEST

static tw_status failing_apply(void *context, int count, const double *in, double *out)
{
    (void)context, (void)count, (void)in, (void)out;
    return TW_CALLBACK_FAILED;
}

static tw_status nan_apply(void *context, int count, const double *in, double *out)
{
    (void)in;
    const test_matrix *matrix = context;
    for (int i = 0; i < count * matrix->n; i++) out[i] = NAN;
    return TW_OK;
}

/* What an operator does wrong comes back as a status with the engine's name; no NaN and no stale output. */
START_TEST(bad_operators_under_every_engine)
{
    for (int order = 1; order <= 2; order++)
        for (int e = 0; e < TW_PHI_ENGINE_COUNT; e++)
            for (int kind = 0; kind < 2; kind++) {
                setup s;
                start(&s, (tw_phi_engine)e, order == 2);
                s.first.apply = s.second.stiffness.apply = kind ? nan_apply : failing_apply;
                tw_error error = {0};
                tw_phi_statistics statistics;
                tw_status status = run(&s, order == 2, &statistics, &error);
                const char *name = tw_phi_engine_name(statistics.engine);
                if (status != TW_UNSUPPORTED)
                    ck_assert_msg(status == (kind ? TW_NOT_FINITE : TW_CALLBACK_FAILED),
                                  "%s, order %d: %s (%s)", name, order, tw_status_name(status),
                                  error.text);
                ck_assert_msg(strstr(error.text, name) != NULL, "'%s' does not name %s", error.text,
                              name);
                check_zero_outputs(&s, order == 2);
                stop(&s);
            }
}
END_TEST

START_TEST(functions_of_the_spectrum_are_checked)
{
    setup s;
    start(&s, TW_PHI_KIOPS, true);
    tw_spectral_function function = {NULL, NULL};
    tw_spectral_request request = {
        .start_count = 1, .starts = s.in, .output_count = 1, .outputs = s.out};
    request.functions = &function;
    tw_error error = {0};
    ck_assert_int_eq(tw_spectral_apply(s.workspace, &s.second, &request, NULL, &error),
                     TW_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(error.text, "kiops"));
    ck_assert_int_eq(tw_spectral_reuse(s.workspace, &request, NULL, &error), TW_UNSUPPORTED);
    request.slot = 1;
    ck_assert_int_eq(tw_spectral_apply(s.workspace, &s.second, &request, NULL, NULL),
                     TW_INVALID_ARGUMENT);
    request.slot = 0;
    s.vectors[0][2] = NAN;
    ck_assert_int_eq(tw_spectral_apply(s.workspace, &s.second, &request, NULL, NULL),
                     TW_NOT_FINITE);
    for (int i = 0; i < N; i++) ck_assert_double_eq(s.outputs[0][i], 0);
    stop(&s);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("phi dispatch");
    TCase *cases = tcase_create("phi dispatch");
    tcase_add_test(cases, every_engine_has_a_name);
    tcase_add_test(cases, wrong_arguments_are_refused);
    tcase_add_test(cases, values_that_are_not_finite);
    tcase_add_test(cases, trivial_requests_cost_nothing);
    tcase_add_test(cases, zero_nodes_among_others);
    tcase_add_test(cases, bad_operators_under_every_engine);
    tcase_add_test(cases, functions_of_the_spectrum_are_checked);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
