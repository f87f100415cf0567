/* The phi-engines side by side: counts first, then errors and time.
 *
 *   bench_phi [--case NAME] [--function exp|phi1|step] [--engine NAME] [--tol T] [--error E] [--max-products N]
 *             [--positions] [--quick] [--json] [--export FOLDER] [--list]
 *
 * Functions: exp(tJ) F and t phi_1(tJ) F with F = (v, a) (first order: the initial value), and one exprb42 step (second
 * order only), whose counts are those of its phi calls together. The error is that of phi.h, relative and worst over
 * both parts, against a reference made with a tolerance of 1e-12 or the best that rounding allows; `error x` is that of
 * the positions alone. With --error the loosest of the tolerances 1e-1, 1e-2, ... is taken that reaches E, in the
 * positions alone if --positions is said. Operators come with a bound of their spectrum, as an integrator gives it.
 * Cost: bytes moved, by the model of docs/phi.md. --export writes operators and references for the peers (peer_slepc,
 * peer_scipy.py). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "base/timer.h"
#include "phi_bench_case.h"
#include "problems/exprb42_step.h"

typedef enum function { FUNCTION_EXP, FUNCTION_PHI1, FUNCTION_STEP, FUNCTIONS } function;
static const char *const function_names[FUNCTIONS] = {"exp", "phi1", "step"};

enum { SMALL = 400 /* largest order the dense engine is asked for */ };

typedef struct settings {
    const char *only_case, *only_function, *only_engine, *export_folder;
    double tolerance, error; /* error 0: take the tolerance */
    int64_t max_products;
    bool quick, json, positions;
} settings;

/* What one run of an engine gave. */
typedef struct result {
    tw_status status;
    tw_phi_statistics statistics;
    double error, error_x, seconds, tolerance;
} result;

static tw_status make_workspace(const phi_bench_case *c, tw_phi_engine engine, double tolerance,
                                int64_t max_products, tw_phi_workspace **workspace, tw_error *error)
{
    tw_phi_limits limits = tw_phi_limits_default();
    limits.size = c->size;
    limits.second_order = c->second_order;
    limits.options.engine = engine;
    limits.options.tolerance = tolerance;
    limits.options.max_products = max_products;
    return tw_phi_workspace_create(&limits, workspace, error);
}

static tw_status evaluate(phi_bench_case *c, tw_phi_workspace *workspace, function f,
                          double *output, tw_phi_statistics *statistics, tw_error *error)
{
    double node = 1, *scaled = malloc((size_t)c->length * sizeof *scaled);
    if (!scaled) return TW_OUT_OF_MEMORY;
    for (int64_t i = 0; i < c->length; i++) scaled[i] = c->time * c->vector[i];
    const double *vectors[2] = {f == FUNCTION_EXP ? c->vector : NULL,
                                f == FUNCTION_EXP ? NULL : scaled};
    tw_phi_request request = {
        .time = c->time, .node_count = 1, .nodes = &node, .order = f == FUNCTION_EXP ? 0 : 1};
    request.vectors = vectors;
    request.outputs = &output;
    tw_status status =
        c->second_order
            ? tw_phi_evaluate_second_order(workspace, &c->second, &request, statistics, error)
            : tw_phi_evaluate(workspace, &c->first, &request, statistics, error);
    free(scaled);
    return status;
}

/* The increment of one exprb42 step. */
static tw_status step(phi_bench_case *c, tw_phi_workspace *workspace, double *output,
                      tw_phi_statistics *statistics, tw_error *error)
{
    exprb42 stepper;
    tw_status status = exprb42_create(&c->problem, workspace, &stepper);
    if (status) return status;
    size_t bytes = (size_t)c->size * sizeof(double);
    memcpy(output, c->x, bytes);
    memcpy(output + c->size, c->v, bytes);
    status =
        exprb42_step(&stepper, &c->second, c->time, output, output + c->size, statistics, error);
    for (int64_t i = 0; i < c->size; i++) {
        output[i] -= c->x[i];
        output[c->size + i] -= c->v[i];
    }
    exprb42_free(&stepper);
    return status;
}

static tw_status run_function(phi_bench_case *c, tw_phi_workspace *workspace, function f,
                              double *output, tw_phi_statistics *statistics, tw_error *error)
{
    return f == FUNCTION_STEP ? step(c, workspace, output, statistics, error)
                              : evaluate(c, workspace, f, output, statistics, error);
}

/* The best that some engine can do, tried from the most to the least precise. */
static bool find_reference(phi_bench_case *c, function f, double *reference)
{
    static const tw_phi_engine engines[] = {TW_PHI_DENSE, TW_PHI_CHEBYSHEV, TW_PHI_LANCZOS,
                                            TW_PHI_LEJA};
    for (double tolerance = 1e-12; tolerance < 1e-6; tolerance *= 10)
        for (int e = 0; e < 4; e++) {
            if (engines[e] == TW_PHI_DENSE && c->length > SMALL) continue;
            tw_phi_workspace *workspace = NULL;
            tw_phi_statistics statistics;
            if (make_workspace(c, engines[e], tolerance, 200000, &workspace, NULL)) continue;
            tw_status status = run_function(c, workspace, f, reference, &statistics, NULL);
            tw_phi_workspace_free(workspace);
            if (status == TW_OK) return true;
        }
    return false;
}

/* |w - exact| / max(|exact|, |what went in|) of one part. */
static double part_error(const phi_bench_case *c, function f, int part, const double *output,
                         const double *exact)
{
    double *difference = malloc((size_t)c->length * sizeof *difference);
    if (!difference) return NAN;
    for (int64_t i = 0; i < c->length; i++) difference[i] = output[i] - exact[i];
    double size = phi_bench_norm(c, part, exact), given = phi_bench_norm(c, part, c->vector);
    if (f != FUNCTION_EXP) given *= c->time;
    double error = phi_bench_norm(c, part, difference) / fmax(size, given);
    free(difference);
    return error;
}

static void run_engine(phi_bench_case *c, tw_phi_engine engine, function f, double tolerance,
                       const settings *s, const double *reference, double *output, result *r)
{
    *r = (result){.tolerance = tolerance, .error = NAN, .error_x = NAN};
    tw_phi_workspace *workspace = NULL;
    r->status = make_workspace(c, engine, tolerance, s->max_products, &workspace, NULL);
    if (r->status) return;
    double start = tw_clock();
    r->status = run_function(c, workspace, f, output, &r->statistics, NULL);
    r->seconds = tw_clock() - start;
    tw_phi_workspace_free(workspace);
    if (r->status != TW_OK && r->status != TW_ILL_CONDITIONED) return;
    r->error_x = part_error(c, f, 0, output, reference);
    r->error =
        c->second_order ? fmax(r->error_x, part_error(c, f, 1, output, reference)) : r->error_x;
}

static void print_header(void)
{
    printf("%-12s %-5s %-17s %7s %-20s %8s %7s %7s %8s %9s %9s %9s %9s %9s\n", "case", "what",
           "engine", "tol", "status", "products", "solves", "factors", "substeps", "dimension",
           "error", "error x", "time [s]", "cost");
}

static void print_result(const phi_bench_case *c, function f, const char *engine, const result *r,
                         bool json)
{
    const tw_phi_statistics *n = &r->statistics;
    if (json)
        printf("{\"case\": \"%s\", \"what\": \"%s\", \"engine\": \"%s\", \"tolerance\": %g, "
               "\"status\": \"%s\", "
               "\"products\": %lld, \"solves\": %lld, \"factorizations\": %lld, \"substeps\": "
               "%lld, \"dimension\": %d, "
               "\"error\": %.3g, \"error_x\": %.3g, \"seconds\": %.4g, \"cost\": %.4g}\n",
               c->name, function_names[f], engine, r->tolerance, tw_status_name(r->status),
               (long long)n->products, (long long)n->solves, (long long)n->factorisations,
               (long long)n->substeps, n->dimension, isnan(r->error) ? -1 : r->error,
               isnan(r->error_x) ? -1 : r->error_x, r->seconds, n->cost);
    else
        printf("%-12s %-5s %-17s %7.0e %-20s %8lld %7lld %7lld %8lld %9d %9.1e %9.1e %9.4f %9.2e\n",
               c->name, function_names[f], engine, r->tolerance, tw_status_name(r->status) + 3,
               (long long)n->products, (long long)n->solves, (long long)n->factorisations,
               (long long)n->substeps, n->dimension, r->error, r->error_x, r->seconds, n->cost);
    fflush(stdout);
}

/* One engine on one function: at the tolerance, or at the loosest one that reaches the error asked for. */
static void bench_engine(phi_bench_case *c, tw_phi_engine engine, function f, const settings *s,
                         const double *reference, double *output)
{
    result r;
    double tolerance = s->error > 0 ? 1e-1 : s->tolerance;
    do {
        run_engine(c, engine, f, tolerance, s, reference, output, &r);
        tolerance /= 10;
    } while (s->error > 0 && r.status == TW_OK &&
             !((s->positions ? r.error_x : r.error) <= s->error) && tolerance > 1e-15);
    if (r.status == TW_UNSUPPORTED || r.status == TW_INVALID_ARGUMENT) return;
    print_result(c, f, tw_phi_engine_name(engine), &r, s->json);
}

static bool wanted(const char *only, const char *name)
{
    return !only || strcmp(only, name) == 0;
}

static bool bench_function(phi_bench_case *c, function f, const settings *s, double *reference)
{
    double *output = malloc((size_t)c->length * sizeof *output);
    bool good = output && find_reference(c, f, reference);
    if (!good) fprintf(stderr, "bench_phi: no reference for %s %s\n", c->name, function_names[f]);
    for (int e = 0; e < TW_PHI_ENGINE_COUNT && good; e++) {
        if (!wanted(s->only_engine, tw_phi_engine_name((tw_phi_engine)e))) continue;
        if (e == TW_PHI_DENSE && c->length > SMALL) continue;
        bench_engine(c, (tw_phi_engine)e, f, s, reference, output);
    }
    free(output);
    return good;
}

static bool bench_case(const char *name, const settings *s)
{
    phi_bench_case c;
    tw_error error = {0};
    if (phi_bench_case_create(name, s->quick, &c, &error)) {
        fprintf(stderr, "bench_phi: %s\n", error.text);
        return false;
    }
    double *references[FUNCTIONS] = {NULL};
    bool good = true;
    for (int f = 0; f < FUNCTIONS && good; f++) {
        if (!wanted(s->only_function, function_names[f]) || (f == FUNCTION_STEP && !c.second_order))
            continue;
        references[f] = malloc((size_t)c.length * sizeof(double));
        good = references[f] && bench_function(&c, (function)f, s, references[f]);
    }
    if (good && s->export_folder && references[0] && references[1] &&
        phi_bench_export(&c, s->export_folder, 2, function_names, (double[]){1, 1 / c.time},
                         references, &error)) {
        fprintf(stderr, "bench_phi: %s\n", error.text);
        good = false;
    }
    for (int f = 0; f < FUNCTIONS; f++) free(references[f]);
    phi_bench_case_free(&c);
    return good;
}

static int wrong_use(const char *what)
{
    fprintf(stderr, "bench_phi: %s; see the top of bench/bench_phi.c\n", what);
    return 2;
}

/* 0, or the exit status of wrong use. */
static int read_arguments(int count, char **arguments, settings *s)
{
    for (int i = 1; i < count; i++) {
        const char *name = arguments[i], *value = i + 1 < count ? arguments[i + 1] : NULL;
        if (strcmp(name, "--quick") == 0) {
            s->quick = true;
            continue;
        }
        if (strcmp(name, "--json") == 0) {
            s->json = true;
            continue;
        }
        if (strcmp(name, "--positions") == 0) {
            s->positions = true;
            continue;
        }
        if (!value) return wrong_use("an argument is unknown or lacks its value");
        i++;
        if (strcmp(name, "--case") == 0)
            s->only_case = value;
        else if (strcmp(name, "--function") == 0)
            s->only_function = value;
        else if (strcmp(name, "--engine") == 0)
            s->only_engine = value;
        else if (strcmp(name, "--export") == 0)
            s->export_folder = value;
        else if (strcmp(name, "--tol") == 0)
            s->tolerance = strtod(value, NULL);
        else if (strcmp(name, "--error") == 0)
            s->error = strtod(value, NULL);
        else if (strcmp(name, "--max-products") == 0)
            s->max_products = strtoll(value, NULL, 10);
        else
            return wrong_use("an argument is unknown");
    }
    bool sound = s->tolerance >= 1e-15 && s->tolerance < 1 && s->error >= 0 && s->max_products >= 1;
    return sound ? 0 : wrong_use("a value is out of range");
}

int main(int count, char **arguments)
{
    static const char *const names[] = {
#define NAME(name, text) name,
        PHI_BENCH_CASES(NAME)
#undef NAME
    };
    settings s = {.tolerance = 1e-6, .max_products = 40000};
    if (count == 2 && strcmp(arguments[1], "--list") == 0) {
#define LINE(name, text) printf("%-12s %s\n", name, text);
        PHI_BENCH_CASES(LINE)
#undef LINE
        return 0;
    }
    int wrong = read_arguments(count, arguments, &s);
    if (wrong) return wrong;
    if (s.only_engine && tw_phi_engine_from_name(s.only_engine) == TW_PHI_ENGINE_COUNT)
        return wrong_use("no engine has that name");
    if (!s.json) print_header();
    bool good = true, any = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!wanted(s.only_case, names[i])) continue;
        any = true;
        good = bench_case(names[i], &s) && good;
    }
    if (!any) return wrong_use("no case has that name");
    return good ? 0 : 1;
}
