/* Every phi-engine on generated pairs with strong damping (support/damped_cases.c).
 *
 * What an engine calls a success must be one, and what the dense engine solves with digits to spare
 * must not be refused. Truth is a computation with 31 digits for small cases and the dense engine
 * for the others, whose own estimate is allowed for. Environment: TWANG_DAMPED_CASES, how many
 * (default 250); TWANG_DAMPED_FIRST, the first; TWANG_DAMPED_SIZE, the most unknowns (default 40);
 * TWANG_DAMPED_ENGINE, only this engine; TWANG_DAMPED_LIST, a line for every failed promise. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "support/damped_cases.h"
#include "support/run_suite.h"

enum { CASES = 250, LARGEST = 40, MAX_PRODUCTS = 20000 };

typedef struct tally {
    int answered; /* TW_OK */
    int wrong;    /* of these with an error above 3 tol */
    int judged;   /* well-conditioned cases within the engine's means */
    int refused;  /* of these not TW_OK */
    int dear;     /* of the successes with more than 100 times the products of the best engine */
    double worst; /* error / tol */
} tally;

typedef struct trial {
    tw_status status;
    tw_phi_statistics statistics;
    double ratio; /* error / tol */
} trial;

typedef struct truth {
    double *outputs[PHI_CASE_NODES];
    double *trial[PHI_CASE_NODES];
    bool known;
    double uncertainty; /* of `outputs`, relative; 0 if exact */
    double condition;   /* the dense engine's estimate of what rounding does to this problem */
} truth;

static tw_status evaluate(phi_case *c, tw_phi_engine engine, double *const *outputs,
                          tw_phi_statistics *statistics)
{
    tw_phi_limits limits = tw_phi_limits_default();
    tw_phi_workspace *workspace = NULL;
    limits.size = c->n;
    limits.basis_bytes = 2e7;
    limits.options.engine = engine;
    limits.options.tolerance = c->tolerance;
    limits.options.inner_product = c->inner_product;
    limits.options.max_products = MAX_PRODUCTS;
    ck_assert_int_eq(tw_phi_workspace_create(&limits, &workspace, NULL), TW_OK);
    tw_phi_request request = c->request;
    request.outputs = outputs;
    tw_status status =
        tw_phi_evaluate_second_order(workspace, &c->second, &request, statistics, NULL);
    tw_phi_workspace_free(workspace);
    return status;
}

static void find_truth(phi_case *c, truth *t)
{
    tw_phi_statistics statistics = {0};
    tw_status status = evaluate(c, TW_PHI_DENSE, t->trial, &statistics);
    bool answered = status == TW_OK || status == TW_ILL_CONDITIONED;
    t->condition = answered ? statistics.estimated_error : INFINITY;
    bool exact = phi_case_exact(c, t->outputs);
    t->known = exact || answered;
    t->uncertainty = exact ? 0 : t->condition;
    for (int i = 0; i < c->request.node_count && !exact; i++)
        memcpy(t->outputs[i], t->trial[i], sizeof(double) * 2 * (size_t)c->n);
}

static void print_line(const phi_case *c, tw_phi_engine engine, const trial *r, const char *what)
{
    printf("  %-8s case %5d %-16s %-26s n %3d t %-8.2g reach %-8.2g p %d nodes %d tol %.1e: %s, "
           "error/tol %.2g, est/tol %.2g, %lld products, %lld solves\n",
           what, c->number, tw_phi_engine_name(engine), damped_case_name(c->number), c->n,
           c->request.time, c->reach, c->request.order, c->request.node_count, c->tolerance,
           tw_status_name(r->status), r->ratio, r->statistics.estimated_error / c->tolerance,
           (long long)r->statistics.products, (long long)r->statistics.solves);
}

static bool wanted(tw_phi_engine engine)
{
    const char *only = getenv("TWANG_DAMPED_ENGINE");
    return !only || strcmp(only, tw_phi_engine_name(engine)) == 0;
}

/* Whether the engine can be expected to solve the case: a polynomial pays products for reach. */
static bool affordable(const phi_case *c, tw_phi_engine engine)
{
    return engine == TW_PHI_DENSE || engine == TW_PHI_SHIFT_INVERT || c->reach <= 550;
}

static void judge(const phi_case *c, const truth *t, tw_phi_engine engine, const trial *r,
                  double fewest, tally *sum)
{
    bool list = getenv("TWANG_DAMPED_LIST") != NULL;
    if (!wanted(engine)) return;
    if (r->status == TW_UNSUPPORTED) return;
    bool judged = t->known && t->condition <= 0.1 * c->tolerance && affordable(c, engine);
    sum->judged += judged;
    if (r->status != TW_OK) {
        sum->refused += judged;
        if (judged && list) print_line(c, engine, r, "REFUSED");
        return;
    }
    sum->answered++;
    if (t->known) sum->worst = fmax(sum->worst, r->ratio);
    if (t->known && r->ratio > 3) {
        sum->wrong++;
        if (list) print_line(c, engine, r, "WRONG");
    }
    if ((double)r->statistics.products > 100 * fmax(fewest, 10)) {
        sum->dear++;
        if (list) print_line(c, engine, r, "DEAR");
    }
}

/* One engine on a case whose truth is known. */
static trial try_engine(phi_case *c, truth *t, tw_phi_engine engine)
{
    trial r = {.ratio = NAN};
    r.status = evaluate(c, engine, t->trial, &r.statistics);
    bool answered = r.status == TW_OK || r.status == TW_ILL_CONDITIONED;
    if (!answered || !t->known) return r;

    double error = phi_case_error(c, t->trial, t->outputs);
    r.ratio = fmax(0, error - t->uncertainty) / c->tolerance;
    return r;
}

static void try_case(int number, int largest, truth *t, tally *tallies)
{
    phi_case c;
    damped_case_make(number, largest, &c);
    find_truth(&c, t);
    trial trials[TW_PHI_ENGINE_COUNT] = {0};
    double fewest = INFINITY;
    for (int e = 0; e < TW_PHI_ENGINE_COUNT; e++) {
        trial *r = &trials[e];
        if (wanted((tw_phi_engine)e)) *r = try_engine(&c, t, (tw_phi_engine)e);
        double work = (double)(r->statistics.products + r->statistics.solves);
        if (r->status == TW_OK && work > 0) fewest = fmin(fewest, work);
    }
    for (int e = 0; e < TW_PHI_ENGINE_COUNT; e++)
        judge(&c, t, (tw_phi_engine)e, &trials[e], fewest, &tallies[e]);
    phi_case_free(&c);
}

static int from_environment(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text ? (int)strtol(text, NULL, 10) : otherwise;
}

static void truth_start(truth *t, int largest)
{
    *t = (truth){0};
    for (int i = 0; i < PHI_CASE_NODES; i++) {
        t->outputs[i] = test_doubles(2 * (int64_t)largest);
        t->trial[i] = test_doubles(2 * (int64_t)largest);
    }
}

static void truth_stop(truth *t)
{
    for (int i = 0; i < PHI_CASE_NODES; i++) {
        free(t->outputs[i]);
        free(t->trial[i]);
    }
}

/* The share of well-conditioned cases that an engine may refuse: tolerances down to 1e-12, and
 * backwards in time, where an estimate of rounding may be too careful. */
static const double MOST_REFUSED = 0.06;

START_TEST(generated_cases)
{
    int cases = from_environment("TWANG_DAMPED_CASES", CASES);
    int first = from_environment("TWANG_DAMPED_FIRST", 0);
    int largest = from_environment("TWANG_DAMPED_SIZE", LARGEST);
    tally tallies[TW_PHI_ENGINE_COUNT] = {0};
    truth t;
    truth_start(&t, largest);
    for (int number = first; number < first + cases; number++)
        try_case(number, largest, &t, tallies);
    truth_stop(&t);

    /* The table, and who does not keep the promise. */
    int bad = 0;
    printf("%-17s %8s %8s %8s %8s %8s %10s\n", "engine", "answered", "wrong", "judged", "refused",
           "dear", "worst");
    for (int e = 0; e < TW_PHI_ENGINE_COUNT; e++) {
        const tally *s = &tallies[e];
        bool krylov = e >= TW_PHI_PHIPM && e <= TW_PHI_KIOPS;
        bad += s->wrong > 0 || s->refused > MOST_REFUSED * s->judged || (krylov && s->dear > 0);
        printf("%-17s %8d %8d %8d %8d %8d %10.2g\n", tw_phi_engine_name((tw_phi_engine)e),
               s->answered, s->wrong, s->judged, s->refused, s->dear, s->worst);
    }
    fflush(stdout);
    ck_assert_msg(bad == 0, "%d engines do not keep their promise: see the table", bad);
}
END_TEST

/* What the search has found, and what it was. The products are those of a good basis, some spare. */
typedef struct finding {
    int number;
    tw_phi_engine engine;
    int most_products;
} finding;

static const finding findings[] = {
    {1176, TW_PHI_PHIPM, 60},             /* a basis of rounding errors: 19,426 products */
    {1483, TW_PHI_PHIPM, 60},             /* the same: 19,479 */
    {2023, TW_PHI_PHIPM, 60},             /* a dual far from its vector: 18,333 */
    {2022, TW_PHI_KIOPS, 60},             /* 128 vectors in a space of six: 15 tol, status OK */
    {355, TW_PHI_KIOPS, 60},              /* tails that were not orthogonal: 2,221 */
    {1922, TW_PHI_PHIPM_IOM2, 60},        /* 19,236 */
    {2041, TW_PHI_KIOPS, 400},            /* substeps that never grew again: 18,231 */
    {6985, TW_PHI_PHIPM_SIMUL_IOM2, 300}, /* 4 tol, status OK */
    {28632, TW_PHI_SHIFT_INVERT, 60},     /* an estimate from the start vectors alone: 15 tol */
    {7683, TW_PHI_CHEBYSHEV, 1000},       /* a series not resolved beside the output: 4e4 tol */
};
enum { FINDINGS = sizeof findings / sizeof findings[0] };

START_TEST(found_cases)
{
    const finding *f = &findings[_i];
    phi_case c;
    truth t;
    truth_start(&t, LARGEST);
    damped_case_make(f->number, LARGEST, &c);
    find_truth(&c, &t);
    trial r = try_engine(&c, &t, f->engine);
    print_line(&c, f->engine, &r, "found");
    fflush(stdout);

    /* An answer that keeps the tolerance, whether its estimate knows that or not. */
    ck_assert(r.status == TW_OK || r.status == TW_ILL_CONDITIONED);
    ck_assert_double_le(r.ratio, 1);
    ck_assert_int_le(r.statistics.products, f->most_products);
    phi_case_free(&c);
    truth_stop(&t);
}
END_TEST

/* Backwards in time a mode of less than a rounding of the start takes over: no polynomial of A knows
 * how much of it there was, and expmv answered with 25 tol. */
START_TEST(a_hidden_mode_is_refused)
{
    static const tw_phi_engine polynomials[] = {TW_PHI_EXPMV, TW_PHI_LEJA};
    phi_case c;
    truth t;
    truth_start(&t, LARGEST);
    damped_case_make(28232, LARGEST, &c);
    find_truth(&c, &t);
    trial r = try_engine(&c, &t, polynomials[_i]);
    ck_assert_int_eq(r.status, TW_ILL_CONDITIONED);
    ck_assert(r.statistics.estimated_error > c.tolerance);
    phi_case_free(&c);
    truth_stop(&t);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("damped search");
    TCase *cases = tcase_create("damped search");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, generated_cases);
    tcase_add_loop_test(cases, found_cases, 0, FINDINGS);
    tcase_add_loop_test(cases, a_hidden_mode_is_refused, 0, 2);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
