/* What a scene costs with each integrator, and how far its end is from that of a fine reference. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command.h"

enum { MOST_TRIALS = TW_SCHEME_COUNT, MOST_TRIES = 14 };

typedef struct trial {
    tw_scheme scheme;
    tw_status status;
    double step, error, energy_drift, seconds;
    tw_integrator_statistics counts;
} trial;

typedef struct bench {
    tw_scene *scene;
    tw_simulation *simulation;
    tw_integrator_options options; /* the scene's */
    double duration, omega;
    double wanted;            /* error that is asked for; 0: the scene's step is taken as it is */
    double limit;             /* seconds for one trial */
    int64_t rows;             /* of the tables below */
    int columns, coordinates; /* of them; how many of those are a position */
    double *start, *end, *reference;
    tw_scheme reference_scheme;
    double reference_step;
    trial trials[MOST_TRIALS];
    int trial_count;
} bench;

static double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- one integration ---- */

typedef struct watch {
    double begin, limit;
    double energy_start, energy_error, kinetic_max;
} watch;

static tw_status watch_step(void *context, tw_integrator *integrator)
{
    watch *w = context;
    double kinetic = 0, potential = 0;
    if (tw_integrator_energy(integrator, &kinetic, &potential) == TW_OK) {
        w->energy_error = fmax(w->energy_error, fabs(kinetic + potential - w->energy_start));
        w->kinetic_max = fmax(w->kinetic_max, kinetic);
    }
    return clock_seconds() - w->begin > w->limit ? TW_BUDGET_EXHAUSTED : TW_OK;
}

/* Distances to the reference over distances from the start, both summed over all rows. */
static double position_error(const bench *b)
{
    double off = 0, moved = 0;
    for (int64_t i = 0; i < b->rows; i++) {
        double a = 0, m = 0;
        for (int k = 0; k < b->coordinates; k++) {
            double x = b->end[b->columns * i + k], r = b->reference[b->columns * i + k];
            double s = b->start[b->columns * i + k];
            a += (x - r) * (x - r);
            m += (r - s) * (r - s);
        }
        off += sqrt(a);
        moved += sqrt(m);
    }
    return moved > 0 ? off / moved : off;
}

/* From the start to the end into `rows`. */
static void integrate(bench *b, trial *t, double *rows)
{
    tw_error error = {0};
    tw_integrator *integrator = NULL;
    tw_integrator_options options = b->options;
    options.scheme = t->scheme;
    options.step = t->step;
    options.relative_tolerance = 0;
    t->status = tw_simulation_integrator(b->simulation, &options, &integrator, &error);
    watch w = {.limit = b->limit};
    double kinetic = 0, potential = 0;
    if (t->status == TW_OK && tw_integrator_energy(integrator, &kinetic, &potential) == TW_OK)
        w.energy_start = kinetic + potential;
    w.kinetic_max = kinetic;
    w.begin = clock_seconds();
    if (t->status == TW_OK) {
        tw_integrator_on_step(integrator, watch_step, &w);
        t->status = tw_integrator_advance(integrator, b->duration, &error);
    }
    t->seconds = clock_seconds() - w.begin;
    t->energy_drift = w.kinetic_max > 0 ? w.energy_error / w.kinetic_max : 0;
    if (integrator) t->counts = tw_integrator_statistics_now(integrator);
    if (t->status == TW_OK)
        t->status = tw_simulation_rows(b->simulation, b->duration,
                                       tw_integrator_state_view(integrator), rows);
    tw_integrator_free(integrator);
}

/* ---- steps ---- */

static double stability_limit(const bench *b, tw_scheme scheme)
{
    double reach = scheme == TW_SCHEME_VERLET              ? 2
                   : scheme == TW_SCHEME_RK4               ? 2.8284271247
                   : scheme == TW_SCHEME_EULER             ? 0.01
                   : scheme == TW_SCHEME_MIDPOINT_EXPLICIT ? 0.1
                                                           : 0;
    return reach > 0 && b->omega > 0 ? reach / b->omega : INFINITY;
}

static double first_step(const bench *b, tw_scheme scheme)
{
    double scene = b->options.step > 0 ? b->options.step : b->duration / 100;
    return fmin(scene, 0.9 * stability_limit(b, scheme));
}

static trial try_step(bench *b, tw_scheme scheme, double step)
{
    trial t = {.scheme = scheme, .step = b->duration / ceil(b->duration / step * (1 - 1e-15))};
    integrate(b, &t, b->end);
    t.error = t.status == TW_OK ? position_error(b) : INFINITY;
    return t;
}

/* With an error asked for, the step is doubled while it is met, or else halved until it is met or the time is over. */
static void try_scheme(bench *b, tw_scheme scheme)
{
    double step = first_step(b, scheme);
    trial best = try_step(b, scheme, step);
    for (int i = 0; i < MOST_TRIES && b->wanted > 0; i++) {
        bool met = best.error <= b->wanted;
        bool over = best.status == TW_UNSUPPORTED || best.status == TW_INVALID_ARGUMENT ||
                    best.status == TW_BUDGET_EXHAUSTED || (met && 2 * step > b->duration);
        if (over) break;
        trial next = try_step(b, scheme, met ? 2 * step : step / 2);
        if (met && !(next.error <= b->wanted)) break;
        step = met ? 2 * step : step / 2;
        bool found = !met && next.error <= b->wanted;
        best = next;
        if (found) break;
    }
    b->trials[b->trial_count++] = best;
}

/* Verlet at a twentieth of its limit where that can be afforded, else the scene's scheme at a 32nd of its step. */
static tw_status find_reference(bench *b)
{
    double fine = stability_limit(b, TW_SCHEME_VERLET) / 20;
    bool symplectic = isfinite(fine) &&
                      b->duration / fine * (double)tw_simulation_state_size(b->simulation) < 1e11;
    trial t = {.scheme = symplectic ? TW_SCHEME_VERLET : b->options.scheme,
               .step = symplectic ? fine : first_step(b, b->options.scheme) / 32};
    double limit = b->limit;
    b->limit = INFINITY;
    integrate(b, &t, b->reference);
    b->limit = limit;
    b->reference_scheme = t.scheme;
    b->reference_step = t.step;
    return t.status;
}

/* ---- output ---- */

static void print_table(const bench *b)
{
    style look = style_for_stdout();
    printf("%s%s%s, %.6g s; error against %s at %.3g s: distances at the end over displacements\n",
           look.bold, tw_scene_name(b->scene), look.plain, b->duration,
           tw_scheme_name(b->reference_scheme), b->reference_step);
    printf("%s%-18s %9s %8s %9s %9s %9s %9s %8s %8s %9s%s\n", look.dim, "integrator", "step [s]",
           "steps", "error", "energy", "forces", "products", "solves", "factors", "seconds",
           look.plain);
    for (int i = 0; i < b->trial_count; i++) {
        const trial *t = &b->trials[i];
        printf("%-18s %9.3g ", tw_scheme_name(t->scheme), t->step);
        if (t->status != TW_OK)
            printf("%s%s%s\n", look.bad,
                   t->status == TW_BUDGET_EXHAUSTED ? "took too long" : tw_status_text(t->status),
                   look.plain);
        else
            printf("%8lld %9.2e %9.2e %9lld %9lld %8lld %8lld %9.3g%s\n",
                   (long long)t->counts.steps, t->error, t->energy_drift,
                   (long long)t->counts.force_evaluations, (long long)t->counts.stiffness_products,
                   (long long)t->counts.solves, (long long)t->counts.factorisations, t->seconds,
                   b->wanted > 0 && !(t->error <= b->wanted) ? "  not reached" : "");
    }
}

static void print_json(const bench *b)
{
    printf("{\n  \"scene\": ");
    print_json_string(tw_scene_name(b->scene));
    printf(",\n  \"duration\": %.17g,\n  \"omega_max\": %.17g,\n  \"reference\": {\"integrator\": "
           "\"%s\", \"step\": "
           "%.17g},\n  \"trials\": [",
           b->duration, b->omega, tw_scheme_name(b->reference_scheme), b->reference_step);
    for (int i = 0; i < b->trial_count; i++) {
        const trial *t = &b->trials[i];
        printf("%s\n    {\"integrator\": \"%s\", \"status\": \"%s\", \"step\": %.17g", i ? "," : "",
               tw_scheme_name(t->scheme), tw_status_name(t->status), t->step);
        if (t->status == TW_OK)
            printf(", \"error\": %.6g, \"energy_drift\": %.6g", t->error, t->energy_drift);
        printf(", \"steps\": %lld, \"force_evaluations\": %lld, \"stiffness_products\": %lld, "
               "\"solves\": %lld, "
               "\"factorizations\": %lld, \"seconds\": %.6g}",
               (long long)t->counts.steps, (long long)t->counts.force_evaluations,
               (long long)t->counts.stiffness_products, (long long)t->counts.solves,
               (long long)t->counts.factorisations, t->seconds);
    }
    printf("\n  ]\n}\n");
}

/* ---- the verb ---- */

static bool read_positive(const arguments *a, const char *name, double otherwise, double *value)
{
    const char *text = value_of(a, name);
    char *end = NULL;
    *value = text ? strtod(text, &end) : otherwise;
    if (!text || (end != text && !*end && *value > 0 && isfinite(*value))) return true;
    wrong_use("%s %s is not a number above 0", name, text);
    return false;
}

/* The schemes of "--integrators a,b". */
static bool read_schemes(const char *list, tw_scheme schemes[MOST_TRIALS], int *count)
{
    *count = 0;
    while (*list) {
        char name[40];
        size_t length = strcspn(list, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, list);
        tw_scheme scheme = tw_scheme_from_name(name);
        if (scheme == TW_SCHEME_COUNT || !tw_scheme_available(scheme)) {
            wrong_use(
                "--integrators: there is no integrator '%s', twang list integrators shows them",
                name);
            return false;
        }
        if (*count < MOST_TRIALS) schemes[(*count)++] = scheme;
        list += length + (list[length] == ',');
    }
    if (*count == 0) wrong_use("--integrators names none");
    return *count > 0;
}

static tw_status prepare(bench *b, tw_error *error)
{
    tw_status status = tw_scene_build(b->scene, &b->simulation, error);
    if (status != TW_OK) return status;
    b->options = tw_scene_integrator_options(b->scene);
    b->duration = tw_scene_duration(b->scene);
    if (tw_simulation_frequency(b->simulation, 60, &b->omega, NULL) != TW_OK) b->omega = 0;
    b->rows = tw_simulation_row_count(b->simulation);
    b->columns = tw_simulation_column_count(b->simulation);
    b->coordinates = b->columns == 6 ? 3 : 1;
    size_t size = (size_t)b->rows * (size_t)b->columns;
    b->start = malloc(3 * size * sizeof *b->start);
    if (!b->start) return TW_OUT_OF_MEMORY;
    b->end = b->start + size;
    b->reference = b->end + size;
    return tw_simulation_rows(b->simulation, 0, tw_simulation_start(b->simulation), b->start);
}

static int run_bench(const arguments *a, bench *b)
{
    static const char usual[] = "expmid2,exprb42,pexprb43,midpoint,newmark,bdf1,rk4,verlet";
    tw_scheme schemes[MOST_TRIALS];
    int count = 0;
    tw_error error = {0};
    const char *list = value_of(a, "--integrators");
    if (!read_schemes(list ? list : usual, schemes, &count)) return EXIT_WRONG_USE;
    if (!read_positive(a, "--error", 0, &b->wanted) || !read_positive(a, "--limit", 60, &b->limit))
        return EXIT_WRONG_USE;
    bool json = is_given(a, "--json");
    tw_status status = load_scene(a, &b->scene, &error);
    if (status == TW_OK) status = prepare(b, &error);
    if (status != TW_OK) return error.text[0] ? report_error(&error, json) : EXIT_WRONG_USE;
    status = find_reference(b);
    if (status != TW_OK) {
        fprintf(stderr, "twang: the reference could not be computed: %s\n", tw_status_text(status));
        return EXIT_FAILED;
    }
    for (int i = 0; i < count; i++) try_scheme(b, schemes[i]);
    if (json)
        print_json(b);
    else
        print_table(b);
    return EXIT_DONE;
}

static int run_verb_bench(const arguments *a)
{
    bench b = {0};
    int code = run_bench(a, &b);
    free(b.start);
    tw_simulation_free(b.simulation);
    tw_scene_free(b.scene);
    return code;
}

static const option options[] = {
    {"--integrators", NULL, "A,B,...", "those to compare", NULL},
    {"--error", NULL, "E",
     "find each one's largest step (by doubling or halving) whose error is below E", NULL},
    {"--limit", NULL, "S", "seconds one integration may take (60)", NULL},
    SCENE_OPTIONS,
    {"--json", NULL, NULL, "print it as JSON", NULL},
    {0},
};

const verb verb_bench = {
    .name = "bench",
    .synopsis = "SCENE [--integrators A,B,...] [--error E] [--json]",
    .line = "compare integrators on a scene: cost and error",
    .text =
        "Integrates SCENE with several integrators and compares its end with that of a fine "
        "reference (verlet at\n"
        "a twentieth of its stability limit, or the scene's own scheme at a 32nd of its step).\n\n"
        "  twang bench rope\n"
        "  twang bench coil --duration 2 --integrators expmid2,verlet --error 1e-3",
    .options = options,
    .positional = "SCENE",
    .positional_least = 1,
    .positional_most = 1,
    .run = run_verb_bench,
};
