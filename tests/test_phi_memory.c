/* Memory of the phi-engines: a workspace takes all of it, calls take none, and every refusal is survived. */
#include <math.h>
#include <stdlib.h>
#include <twang/twang.h>

#include "phi/phi_internal.h"
#include "support/failing_allocator.h"
#include "support/phi_cases.h"
#include "support/run_suite.h"

/* An engine on one generated case. */
typedef struct attempt {
    phi_case *problem;
    tw_phi_engine engine;
    double *outputs[PHI_CASE_NODES];
    int64_t allocated_by_calls;
    tw_status answer; /* of the evaluation itself */
} attempt;

static double decay(const void *context, double lambda)
{
    return exp(-*(const double *)context * fabs(lambda));
}

/* Two functions of the spectrum, and two more from the kept basis. */
static void spectral_calls(attempt *a, tw_phi_workspace *workspace)
{
    phi_case *c = a->problem;
    double scales[2] = {0.5 / (c->size * c->size), 0.25 / (c->size * c->size)};
    tw_spectral_function functions[2] = {{decay, &scales[0]}, {decay, &scales[1]}};
    const double *starts[2] = {c->vectors[1], NULL};
    tw_spectral_request request = {
        .start_count = 2, .starts = starts, .output_count = 1, .outputs = a->outputs};
    request.functions = functions;
    request.time = 1 / c->size;
    tw_status status = tw_spectral_apply(workspace, &c->second, &request, NULL, NULL);
    ck_assert_msg(status != TW_OUT_OF_MEMORY && status != TW_INTERNAL, "%s: %s",
                  tw_phi_engine_name(a->engine), tw_status_name(status));
    functions[0].context = &scales[1];
    tw_spectral_reuse(workspace, &request, NULL, NULL);
}

static tw_status run(void *context)
{
    attempt *a = context;
    phi_case *c = a->problem;
    tw_phi_limits limits = tw_phi_limits_default();
    limits.size = c->n;
    limits.second_order = c->second_order;
    limits.basis_bytes = 1e7;
    limits.options.engine = a->engine;
    limits.options.tolerance = 1e-6;
    limits.options.max_products = 5000;
    tw_phi_workspace *workspace = NULL;
    tw_status status = tw_phi_workspace_create(&limits, &workspace, NULL);
    if (status) {
        ck_assert_ptr_null(workspace);
        return status;
    }
    tw_phi_request request = c->request;
    request.outputs = a->outputs;
    int64_t before = tw_memory_counts_now().allocations;
    a->answer = c->second_order
                    ? tw_phi_evaluate_second_order(workspace, &c->second, &request, NULL, NULL)
                    : tw_phi_evaluate(workspace, &c->first, &request, NULL, NULL);
    if (c->second_order) spectral_calls(a, workspace);
    a->allocated_by_calls = tw_memory_counts_now().allocations - before;
    tw_phi_workspace_free(workspace);
    return TW_OK;
}

/* A case of this kind that asks for work: several vectors, a moderate reach. */
static void find_case(phi_case_kind kind, phi_case *c)
{
    for (int number = (int)kind;; number += PHI_CASE_KINDS) {
        phi_case_make(number, c);
        if (c->request.order >= 2 && c->vectors[1] && c->reach > 0.5 && c->reach < 50 && c->n > 4 &&
            c->n < 20)
            return;
        phi_case_free(c);
    }
}

static void each_engine(void (*body)(attempt *))
{
    static const phi_case_kind kinds[] = {PHI_CASE_NEGATIVE, PHI_CASE_SKEW, PHI_CASE_PAIR_POSITIVE,
                                          PHI_CASE_PAIR_RAYLEIGH, PHI_CASE_PAIR_DAMPED};
    for (int k = 0; k < (int)(sizeof kinds / sizeof kinds[0]); k++) {
        phi_case c;
        find_case(kinds[k], &c);
        attempt a = {.problem = &c};
        for (int i = 0; i < PHI_CASE_NODES; i++) a.outputs[i] = test_doubles(phi_case_length(&c));
        for (int e = 0; e < TW_PHI_ENGINE_COUNT; e++) {
            a.engine = (tw_phi_engine)e;
            body(&a);
        }
        for (int i = 0; i < PHI_CASE_NODES; i++) free(a.outputs[i]);
        phi_case_free(&c);
    }
}

static void check_calls_take_nothing(attempt *a)
{
    int64_t bytes = tw_memory_counts_now().current_bytes;
    ck_assert_int_eq(run(a), TW_OK);
    ck_assert_msg(a->allocated_by_calls == 0, "%s allocated %lld times",
                  tw_phi_engine_name(a->engine), (long long)a->allocated_by_calls);
    ck_assert_msg(a->answer == TW_OK || a->answer == TW_UNSUPPORTED, "%s on %s: %s",
                  tw_phi_engine_name(a->engine), phi_case_kind_name(a->problem->kind),
                  tw_status_name(a->answer));
    ck_assert_int_eq(tw_memory_counts_now().current_bytes, bytes);
}

START_TEST(no_call_allocates)
{
    each_engine(check_calls_take_nothing);
}
END_TEST

static void check_refusals(attempt *a)
{
    int refused = test_fail_each_allocation(run, a);
    ck_assert_msg(refused >= 1, "%s: %d refusals", tw_phi_engine_name(a->engine), refused);
}

START_TEST(every_refused_allocation_is_survived)
{
    each_engine(check_refusals);
}
END_TEST

/* A workspace for `auto` of a large problem does not take a dense matrix. */
START_TEST(large_workspaces_hold_no_dense_matrix)
{
    tw_phi_limits limits = tw_phi_limits_default();
    limits.size = 20000;
    limits.max_dimension = 10;
    limits.basis_bytes = 1e6;
    tw_phi_workspace *workspace = NULL;
    int64_t before = tw_memory_counts_now().current_bytes;
    ck_assert_int_eq(tw_phi_workspace_create(&limits, &workspace, NULL), TW_OK);
    ck_assert_int_le(tw_memory_counts_now().current_bytes - before,
                     8 * limits.size * limits.size / 4);
    tw_phi_options options = tw_phi_options_default();
    options.engine = TW_PHI_DENSE;
    ck_assert_int_eq(tw_phi_workspace_set_options(workspace, &options), TW_UNSUPPORTED);
    tw_phi_workspace_free(workspace);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("phi memory");
    TCase *cases = tcase_create("phi memory");
    tcase_add_test(cases, no_call_allocates);
    tcase_add_test(cases, every_refused_allocation_is_survived);
    tcase_add_test(cases, large_workspaces_hold_no_dense_matrix);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
