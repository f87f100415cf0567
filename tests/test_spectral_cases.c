/* Functions of the spectrum by every engine that has them, on generated second-order problems, against the dense
 * engine; and other functions of the same starts from the basis that was kept. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <twang/twang.h>

#include "phi/phi_internal.h"
#include "support/phi_cases.h"
#include "support/run_suite.h"

enum { CASES = 3000, STARTS = 2, OUTPUTS = 3, LISTED = 20 };

typedef struct time_scale {
    double t;
} time_scale;

/* c_1(t^2 lambda), c_2(t^2 lambda) and the filter exp(-(t^2 lambda/4)^4). */
static double first_stumpff(const void *context, double lambda)
{
    double c[3], t = ((const time_scale *)context)->t;
    tw_stumpff(t * t * lambda, 3, c);
    return c[1];
}

static double second_stumpff(const void *context, double lambda)
{
    double c[3], t = ((const time_scale *)context)->t;
    tw_stumpff(t * t * lambda, 3, c);
    return c[2];
}

static double filter(const void *context, double lambda)
{
    double t = ((const time_scale *)context)->t;
    return exp(-pow(t * t * lambda / 4, 4));
}

typedef struct tally {
    int cases, solved, refused, reused, kept_too_small, beyond, listed;
    double worst;
} tally;

/* A request of two starts and three outputs, one function being zero. */
typedef struct spectral_case {
    phi_case problem;
    const double *starts[STARTS];
    time_scale scale;
    tw_spectral_function functions[OUTPUTS * STARTS];
    double reference[OUTPUTS];
    double *outputs[OUTPUTS], *truth[OUTPUTS], *reuse_truth[OUTPUTS];
    double uncertainty[2]; /* of truth and reuse_truth */
} spectral_case;

/* False if case `number` has no two vectors to start from. */
static bool make(int number, spectral_case *s)
{
    *s = (spectral_case){.uncertainty = {0, 0}};
    phi_case *c = &s->problem;
    phi_case_make(number, c);
    int found = 0;
    for (int k = 0; k <= c->request.order && found < STARTS; k++) {
        if (!c->vectors[k]) continue;
        s->starts[found] = c->vectors[k] + (found == 1 ? c->n : 0); /* an x-part, then a v-part */
        found++;
    }
    if (found < STARTS || c->reach > 100) return false;
    s->scale.t = c->request.time;
    const tw_spectral_function f[3] = {
        {first_stumpff, &s->scale}, {second_stumpff, &s->scale}, {filter, &s->scale}};
    for (int i = 0; i < OUTPUTS * STARTS; i++) s->functions[i] = f[i % 3];
    s->functions[3].value = NULL;
    double size = phi_case_norm(c, s->starts[0]) + phi_case_norm(c, s->starts[1]);
    for (int i = 0; i < OUTPUTS; i++) {
        s->reference[i] = size;
        s->outputs[i] = test_doubles(c->n);
        s->truth[i] = test_doubles(c->n);
        s->reuse_truth[i] = test_doubles(c->n);
    }
    return size > 0;
}

static void drop(spectral_case *s)
{
    for (int i = 0; i < OUTPUTS; i++) {
        free(s->outputs[i]);
        free(s->truth[i]);
        free(s->reuse_truth[i]);
    }
    phi_case_free(&s->problem);
}

static tw_spectral_request request_of(spectral_case *s, double *const *outputs, double t)
{
    s->scale.t = t;
    return (tw_spectral_request){.start_count = STARTS,
                                 .starts = s->starts,
                                 .output_count = OUTPUTS,
                                 .outputs = outputs,
                                 .functions = s->functions,
                                 .reference = s->reference,
                                 .time = t};
}

static tw_phi_workspace *new_workspace(const phi_case *c, tw_phi_engine engine)
{
    tw_phi_limits limits = tw_phi_limits_default();
    limits.size = c->n;
    limits.basis_bytes = 2e7;
    limits.options.engine = engine;
    limits.options.tolerance = c->tolerance;
    limits.options.max_products = 4000;
    tw_phi_workspace *workspace = NULL;
    ck_assert_int_eq(tw_phi_workspace_create(&limits, &workspace, NULL), TW_OK);
    return workspace;
}

/* The largest error over outputs, in tolerances. */
static double error_of(const spectral_case *s, double *const *truth, double uncertainty)
{
    const phi_case *c = &s->problem;
    double worst = 0, *difference = test_doubles(c->n);
    for (int i = 0; i < OUTPUTS; i++) {
        for (int j = 0; j < c->n; j++) difference[j] = s->outputs[i][j] - truth[i][j];
        double error = phi_case_norm(c, difference),
               size = fmax(phi_case_norm(c, truth[i]), s->reference[i]);
        worst = fmax(worst, error / size);
    }
    free(difference);
    return fmax(0, worst - uncertainty) / c->tolerance;
}

/* Both truths; false if they are not sure enough to judge by. */
static bool find_truth(spectral_case *s)
{
    phi_case *c = &s->problem;
    tw_phi_workspace *workspace = new_workspace(c, TW_PHI_DENSE);
    tw_phi_statistics first, second;
    tw_spectral_request request = request_of(s, s->truth, c->request.time);
    tw_status status = tw_spectral_apply(workspace, &c->second, &request, &first, NULL);
    request = request_of(s, s->reuse_truth, 0.7 * c->request.time);
    if (status == TW_OK) status = tw_spectral_apply(workspace, &c->second, &request, &second, NULL);
    tw_phi_workspace_free(workspace);
    if (status != TW_OK) return false;
    s->uncertainty[0] = first.estimated_error;
    s->uncertainty[1] = second.estimated_error;
    return fmax(first.estimated_error, second.estimated_error) <= 0.1 * c->tolerance;
}

static void note(tally *t, const spectral_case *s, const char *what, double ratio)
{
    t->worst = fmax(t->worst, ratio);
    if (ratio <= 10) return;
    t->beyond++;
    if (t->listed++ < LISTED)
        printf("  case %d, %s, %s: error %.2g tol, tol %.1e, reach %.2g\n", s->problem.number, what,
               phi_case_kind_name(s->problem.kind), ratio, s->problem.tolerance, s->problem.reach);
}

static void try_engine(spectral_case *s, tw_phi_engine engine, tally *t)
{
    phi_case *c = &s->problem;
    const char *name = tw_phi_engine_name(engine);
    tw_phi_workspace *workspace = new_workspace(c, engine);
    tw_spectral_request request = request_of(s, s->outputs, c->request.time);
    tw_phi_statistics statistics;
    c->A.applied = 0;
    tw_status status = tw_spectral_apply(workspace, &c->second, &request, &statistics, NULL);
    t->cases++;
    t->refused += status == TW_UNSUPPORTED;
    ck_assert_msg(statistics.products == c->A.applied, "%s says %lld products, did %lld", name,
                  (long long)statistics.products, (long long)c->A.applied);
    if (status == TW_OK) {
        t->solved++;
        note(t, s, name, error_of(s, s->truth, s->uncertainty[0]));
        request = request_of(s, s->outputs, 0.7 * c->request.time);
        status = tw_spectral_reuse(workspace, &request, &statistics, NULL);
        ck_assert_int_eq(statistics.products, 0);
        ck_assert_int_eq(statistics.solves, 0);
        t->reused += status == TW_OK;
        t->kept_too_small += status == TW_NOT_CONVERGED;
        if (status == TW_OK) note(t, s, name, error_of(s, s->reuse_truth, s->uncertainty[1]));
    }
    tw_phi_workspace_free(workspace);
}

static bool has_spectral(tw_phi_engine engine)
{
    return tw_phi_engine_table_of(engine)->spectral != NULL;
}

START_TEST(generated_cases)
{
    const char *text = getenv("TWANG_PHI_CASES");
    int cases = text ? (int)strtol(text, NULL, 10) : CASES;
    tally tallies[TW_PHI_ENGINE_COUNT] = {{0}};
    for (int number = 0; number < cases; number++) {
        int kind = number % PHI_CASE_KINDS;
        if (kind < PHI_CASE_PAIR_POSITIVE || kind > PHI_CASE_PAIR_SINGULAR) continue;
        spectral_case s;
        if (make(number, &s) && find_truth(&s))
            for (int e = 0; e < TW_PHI_ENGINE_COUNT; e++)
                if (has_spectral((tw_phi_engine)e)) try_engine(&s, (tw_phi_engine)e, &tallies[e]);
        drop(&s);
    }
    printf("%-14s %6s %7s %8s %7s %10s %9s\n", "engine", "cases", "success", "refused", "reused",
           "too small", "worst");
    for (int e = 0; e < TW_PHI_ENGINE_COUNT; e++) {
        const tally *t = &tallies[e];
        if (!has_spectral((tw_phi_engine)e)) continue;
        printf("%-14s %6d %7d %8d %7d %10d %9.2g\n", tw_phi_engine_name((tw_phi_engine)e), t->cases,
               t->solved, t->refused, t->reused, t->kept_too_small, t->worst);
        fflush(stdout);
        ck_assert_int_eq(t->refused, 0);
        ck_assert_double_ge(t->solved, 0.9 * t->cases);
        ck_assert_double_le(t->beyond, 0.005 * (t->solved + t->reused));
        ck_assert_double_le(t->worst, 1000);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("spectral cases");
    TCase *cases = tcase_create("spectral cases");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, generated_cases);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
