/* Every phi-engine on generated problems (support/phi_cases.c): what it calls a success must be one.
 *
 * Truth is an own computation with 31 digits for small cases and the dense engine for the others, whose own error
 * estimate is then allowed for. Environment: TWANG_PHI_CASES, how many cases (default 2,400; fewer under sanitizers);
 * TWANG_PHI_FIRST, the first one; TWANG_PHI_CASE, only this one, with a line per engine; TWANG_PHI_ENGINE, only this engine; TWANG_PHI_LIST, a line
 * also for every well-conditioned case an engine did not solve. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <twang/twang.h>

#include "phi/phi_internal.h"
#include "support/phi_cases.h"
#include "support/run_suite.h"

enum { CASES = 2400, MAX_PRODUCTS = 4000, LISTED = 40 };

/* No success may have an error above this, in units of the tolerance: an estimate is not exact. */
static const double LARGEST_RATIO = 5;

/* Which problems an engine must not call unsupported. */
typedef enum scope { EVERYTHING, SYMMETRIC_PAIRS } scope;

/* What is asked of each engine: its scope, and the share it must solve of the well-conditioned cases whose reach it
 * can afford (a polynomial engine pays products for reach). */
typedef struct demand {
    tw_phi_engine engine;
    scope scope;
    double reach, share;
} demand;
static const demand demands[] = {
    {TW_PHI_DENSE, EVERYTHING, INFINITY, 0.998},
    {TW_PHI_AUTO, EVERYTHING, 550, 0.95},
    {TW_PHI_PHIPM, EVERYTHING, 550, 0.98},
    {TW_PHI_PHIPM_IOM2, EVERYTHING, 550, 0.98},
    {TW_PHI_PHIPM_SIMUL_IOM2, EVERYTHING, 550, 0.98},
    {TW_PHI_KIOPS, EVERYTHING, 550, 0.97},
    {TW_PHI_EXPMV, EVERYTHING, 550, 0.96},
    {TW_PHI_LEJA, EVERYTHING, 550, 0.96},
    {TW_PHI_LANCZOS, SYMMETRIC_PAIRS, 550, 0.99},
    {TW_PHI_CHEBYSHEV, SYMMETRIC_PAIRS, 550, 0.9},
    {TW_PHI_SHIFT_INVERT, SYMMETRIC_PAIRS, INFINITY, 0.97},
};
enum { ENGINES = sizeof demands / sizeof demands[0] };

/* What became of an engine's cases. */
typedef struct engine_tally {
    int cases, statuses[TW_STATUS_COUNT], judged, solved, refused, listed;
    double *ratios; /* true error / tolerance of every success */
    int successes;
    double seconds; /* of processor time; printed, never judged */
} engine_tally;

/* The truth about a case, and how sure it is. */
typedef struct truth {
    double *outputs[PHI_CASE_NODES], *dense[PHI_CASE_NODES], *trial[PHI_CASE_NODES];
    bool known, exact;
    double uncertainty; /* of `outputs`, relative; 0 if exact */
    double condition;   /* the dense engine's estimate of what rounding does to this problem */
} truth;

/* Whether the library has this engine. */
static bool exists(tw_phi_engine engine)
{
    const tw_phi_engine_table *table = tw_phi_engine_table_of(engine);
    return table->first_order || table->second_order;
}

static bool in_scope(scope s, const phi_case *c)
{
    return s == EVERYTHING || (c->second_order && c->kind != PHI_CASE_PAIR_DAMPED &&
                               c->kind != PHI_CASE_PAIR_NONSYMMETRIC);
}

static tw_status evaluate(phi_case *c, tw_phi_engine engine, double *const *outputs,
                          tw_phi_statistics *statistics, tw_error *error)
{
    tw_phi_limits limits = tw_phi_limits_default();
    limits.size = c->n;
    limits.second_order = c->second_order;
    limits.basis_bytes = 2e7;
    limits.options.engine = engine;
    limits.options.tolerance = c->tolerance;
    limits.options.inner_product = c->inner_product;
    limits.options.max_products = MAX_PRODUCTS;
    tw_phi_workspace *workspace = NULL;
    ck_assert_int_eq(tw_phi_workspace_create(&limits, &workspace, error), TW_OK);
    tw_phi_request request = c->request;
    request.outputs = outputs;
    for (int i = 0; i < request.node_count; i++)
        for (int j = 0; j < phi_case_length(c); j++) outputs[i][j] = 1e77;
    c->A.applied = 0;
    tw_status status =
        c->second_order
            ? tw_phi_evaluate_second_order(workspace, &c->second, &request, statistics, error)
            : tw_phi_evaluate(workspace, &c->first, &request, statistics, error);
    tw_phi_workspace_free(workspace);
    return status;
}

static void find_truth(phi_case *c, truth *t)
{
    tw_phi_statistics statistics;
    tw_error error = {0};
    tw_status status = evaluate(c, TW_PHI_DENSE, t->dense, &statistics, &error);
    bool answered = status == TW_OK || status == TW_ILL_CONDITIONED;
    t->condition = answered ? statistics.estimated_error : INFINITY;
    t->exact = phi_case_exact(c, t->outputs);
    t->known = t->exact || answered;
    t->uncertainty = t->exact ? 0 : t->condition;
    if (t->exact || !answered) return;
    for (int i = 0; i < c->request.node_count; i++)
        memcpy(t->outputs[i], t->dense[i], (size_t)phi_case_length(c) * sizeof(double));
}

/* What must hold whatever the engine says: finite outputs, zeros on failure, honest counts. */
static void check_manners(const phi_case *c, tw_phi_engine engine, tw_status status,
                          double *const *outputs, const tw_phi_statistics *statistics)
{
    const char *name = tw_phi_engine_name(engine);
    bool answered = status == TW_OK || status == TW_ILL_CONDITIONED;
    for (int i = 0; i < c->request.node_count; i++)
        for (int j = 0; j < phi_case_length(c); j++)
            ck_assert_msg(answered ? isfinite(outputs[i][j]) : outputs[i][j] == 0,
                          "case %d, %s: output %g with %s", c->number, name, outputs[i][j],
                          tw_status_name(status));
    ck_assert_msg(statistics->products == c->A.applied, "case %d, %s: says %lld products, did %lld",
                  c->number, name, (long long)statistics->products, (long long)c->A.applied);
    ck_assert_msg(statistics->products <= MAX_PRODUCTS, "case %d, %s: %lld products", c->number,
                  name, (long long)statistics->products);
    ck_assert_msg(statistics->engine != TW_PHI_AUTO &&
                      (engine == TW_PHI_AUTO || statistics->engine == engine),
                  "case %d, %s: statistics name engine %s", c->number, name,
                  tw_phi_engine_name(statistics->engine));
    ck_assert_msg(!answered || statistics->estimated_error >= 0, "case %d, %s: estimate %g",
                  c->number, name, statistics->estimated_error);
}

static bool is_verbose(void)
{
    return getenv("TWANG_PHI_CASE") != NULL;
}

static void describe(const phi_case *c, const char *engine, tw_status status, double ratio,
                     const tw_phi_statistics *statistics)
{
    printf("  case %4d %-16s %-24s n %3d t %-8.2g reach %-8.2g p %d nodes %d tol %.1e: %s, "
           "error/tol %.2g, est/tol %.2g, "
           "%lld products, %lld solves\n",
           c->number, engine, phi_case_kind_name(c->kind), c->n, c->request.time, c->reach,
           c->request.order, c->request.node_count, c->tolerance, tw_status_name(status), ratio,
           statistics->estimated_error / c->tolerance, (long long)statistics->products,
           (long long)statistics->solves);
}

static void try_engine(phi_case *c, const demand *d, truth *t, engine_tally *tally)
{
    tw_phi_statistics statistics = {0};
    tw_error error = {0};
    const char *name = tw_phi_engine_name(d->engine);
    clock_t start = clock();
    tw_status status = evaluate(c, d->engine, t->trial, &statistics, &error);
    tally->seconds += (double)(clock() - start) / CLOCKS_PER_SEC;
    tally->statuses[status]++;
    if (status == TW_UNSUPPORTED) {
        if (in_scope(d->scope, c) && tally->refused++ < LISTED)
            printf("  case %4d %s: %s\n", c->number, phi_case_kind_name(c->kind), error.text);
        return;
    }
    tally->cases++;
    check_manners(c, d->engine, status, t->trial, &statistics);
    bool judged = t->known && t->condition <= 0.1 * c->tolerance && c->reach <= d->reach;
    double ratio = NAN;
    if (status == TW_OK && t->known) {
        ratio = fmax(0, phi_case_error(c, t->trial, t->outputs) - t->uncertainty) / c->tolerance;
        tally->ratios[tally->successes++] = ratio;
    }
    tally->judged += judged;
    tally->solved += judged && status == TW_OK;
    bool odd = (status == TW_OK && t->known && !(ratio <= LARGEST_RATIO)) ||
               (judged && status != TW_OK && getenv("TWANG_PHI_LIST"));
    if (is_verbose() || (odd && tally->listed++ < LISTED))
        describe(c, name, status, ratio, &statistics);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_header(int cases)
{
    printf("%d generated cases; error/tol over successes, share over well-conditioned cases\n",
           cases);
    printf("%-17s %5s %7s %6s %6s %6s %6s %6s %6s | %9s %9s | %6s %6s\n", "engine", "cases",
           "success", "unsup", "ill", "notcnv", "budget", "notfin", "other", "99.5 %", "worst",
           "share", "time");
}

/* Prints the engine's line and says whether it keeps what is promised. */
static bool settle(const demand *d, engine_tally *tally)
{
    int *s = tally->statuses, n = tally->successes;
    qsort(tally->ratios, (size_t)n, sizeof(double), compare_doubles);
    int beyond = 0;
    for (int i = 0; i < n; i++) beyond += !(tally->ratios[i] <= LARGEST_RATIO);
    double worst = n ? tally->ratios[n - 1] : 0,
           quantile = n ? tally->ratios[(int)(0.995 * (n - 1))] : 0;
    double share = tally->judged ? (double)tally->solved / tally->judged : 0;
    int known = s[TW_OK] + s[TW_ILL_CONDITIONED] + s[TW_NOT_CONVERGED] + s[TW_BUDGET_EXHAUSTED] +
                s[TW_NOT_FINITE];
    printf("%-17s %5d %7d %6d %6d %6d %6d %6d %6d | %9.2g %9.2g | %6.3f %5.1fs\n",
           tw_phi_engine_name(d->engine), tally->cases, s[TW_OK], s[TW_UNSUPPORTED],
           s[TW_ILL_CONDITIONED], s[TW_NOT_CONVERGED], s[TW_BUDGET_EXHAUSTED], s[TW_NOT_FINITE],
           tally->cases - known, quantile, worst, share, tally->seconds);
    bool kept = beyond == 0 && share >= d->share && tally->refused == 0;
    if (!kept)
        printf("%-17s ^ does not keep its promise: %d of %d beyond %g tol, share of at least %.3f, "
               "%d refused\n",
               "", beyond, n, LARGEST_RATIO, d->share, tally->refused);
    return kept;
}

static int from_environment(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text ? (int)strtol(text, NULL, 10) : otherwise;
}

static bool wanted(tw_phi_engine engine)
{
    const char *chosen = getenv("TWANG_PHI_ENGINE");
    return exists(engine) && (!chosen || strcmp(chosen, tw_phi_engine_name(engine)) == 0);
}

static void truth_start(truth *t)
{
    *t = (truth){0};
    for (int i = 0; i < PHI_CASE_NODES; i++) {
        t->outputs[i] = test_doubles(800);
        t->dense[i] = test_doubles(800);
        t->trial[i] = test_doubles(800);
    }
}

static void truth_stop(truth *t)
{
    for (int i = 0; i < PHI_CASE_NODES; i++) {
        free(t->outputs[i]);
        free(t->dense[i]);
        free(t->trial[i]);
    }
}

START_TEST(generated_cases)
{
    int only = from_environment("TWANG_PHI_CASE", -1);
    int first = only >= 0 ? only : from_environment("TWANG_PHI_FIRST", 0);
    int cases = only >= 0 ? 1 : from_environment("TWANG_PHI_CASES", CASES);
    engine_tally tallies[ENGINES] = {0};
    for (int e = 0; e < ENGINES; e++) tallies[e].ratios = test_doubles(cases);
    truth t;
    truth_start(&t);
    for (int number = first; number < first + cases; number++) {
        phi_case c;
        phi_case_make(number, &c);
        find_truth(&c, &t);
        if (is_verbose())
            printf("condition %.1e, truth %s\n", t.condition, t.exact ? "exact" : "dense");
        for (int e = 0; e < ENGINES; e++)
            if (wanted(demands[e].engine)) try_engine(&c, &demands[e], &t, &tallies[e]);
        phi_case_free(&c);
    }
    print_header(cases);
    bool kept = true;
    for (int e = 0; e < ENGINES; e++)
        if (wanted(demands[e].engine)) kept = settle(&demands[e], &tallies[e]) && kept;
    fflush(stdout);
    for (int e = 0; e < ENGINES; e++) free(tallies[e].ratios);
    truth_stop(&t);
    ck_assert_msg(kept || only >= 0, "an engine does not keep its promise: see the table");
}
END_TEST

/* What longer searches have found, and what it was. */
static const int findings[] = {
    2869,  /* phipm: 23 tol, an exhausted basis of a non-normal matrix, rounding not seen */
    2922,  /* kiops: 230 tol, duals of the energy product that had drifted away */
    3050,  /* dense: 700 tol, exp(0) rounded before 25 squarings */
    11975, /* dense: 3,400 tol, the same */
    13715, /* phipm: 1e14 tol, a basis too small for its angle judged by its own size */
    18860, /* phipm: 87 tol, the same */
};
enum { FINDINGS = sizeof findings / sizeof findings[0] };

START_TEST(found_cases)
{
    phi_case c;
    truth t;
    truth_start(&t);
    phi_case_make(findings[_i], &c);
    find_truth(&c, &t);
    ck_assert(t.known);
    for (int e = 0; e < ENGINES; e++) {
        tw_phi_statistics statistics = {0};
        tw_error error = {0};
        tw_phi_engine engine = demands[e].engine;
        tw_status status = evaluate(&c, engine, t.trial, &statistics, &error);
        if (status != TW_OK) continue;
        double ratio = phi_case_error(&c, t.trial, t.outputs) / c.tolerance;
        ck_assert_msg(ratio <= LARGEST_RATIO, "case %d, %s: %g tol", c.number,
                      tw_phi_engine_name(engine), ratio);
    }
    phi_case_free(&c);
    truth_stop(&t);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("phi engines");
    TCase *cases = tcase_create("phi engines");
    tcase_set_timeout(cases, 120);
    tcase_add_test(cases, generated_cases);
    tcase_add_loop_test(cases, found_cases, 0, FINDINGS);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
