/* Measures what a scene costs with each integrator, and how far its end is from that of a
 * fine reference. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

enum {
    MOST_TRIALS = TW_SCHEME_COUNT,
    MOST_TRIES = 14,   /* of steps with one scheme, each half or twice the one before */
    USUAL_STEPS = 100, /* where the scene is adaptive and gives no step */
    BODY_COLUMNS = 6,  /* of a row of bodies: position and velocity */
    USUAL_LIMIT = 60   /* seconds for one trial */
};

/* Explicit schemes that are unstable on oscillations at any step: with h omega at most this, they
 * grow slowly. */
static const double EULER_REACH = 0.01;
static const double MIDPOINT_EXPLICIT_REACH = 0.1;
/* Steps of explicit schemes keep away from the limit of stability by this factor. */
static const double SHARE_OF_STABLE_STEP = 0.9;

/* The reference: verlet at a 20th of its limit of stability, if it needs fewer updates of a number
 * than this (some minutes); else the scheme of the scene at a 32nd of its step. */
static const double REFERENCE_STABLE_PARTS = 20;
static const double REFERENCE_STEP_PARTS = 32;
static const double MOST_REFERENCE_UPDATES = 1e11;

typedef struct trial {
    tw_scheme scheme;
    tw_status status;
    double step;         /* [s] */
    double error;        /* against the reference; INFINITY if it failed */
    double energy_drift; /* largest change of the energy over the energy converted */
    double seconds;      /* of computing */
    tw_integrator_statistics counts;
} trial;

typedef struct bench {
    tw_scene *scene;
    tw_simulation *simulation;
    tw_integrator_options options; /* the scene's */
    double duration;               /* [s] */
    double omega;                  /* highest frequency at t = 0 [1/s]; 0 if unknown */
    double wanted;     /* error that is asked for; 0: the scene's step is taken as it is */
    double limit;      /* seconds for one trial */
    int64_t rows;      /* of the tables below */
    int columns;       /* of the tables below */
    int coordinates;   /* columns that are a position */
    double *start;     /* table of the state at t = 0; owns all three */
    double *end;       /* table of a trial */
    double *reference; /* table of the reference */
    tw_scheme reference_scheme;
    double reference_step;
    trial trials[MOST_TRIALS];
    int trial_count;
} bench;

/* ---- one integration ---- */

/* What is observed while it goes on. */
typedef struct watch {
    double begin; /* of the clock [s] */
    double limit; /* [s] */
    double energy_start;
    double potential_start;
    double energy_error; /* largest so far */
    double converted;    /* largest of kinetic and |change of potential| so far */
} watch;

static tw_status watch_step(void *context, tw_integrator *integrator)
{
    watch *w = context;
    double kinetic = 0;
    double potential = 0;
    if (tw_integrator_energy(integrator, &kinetic, &potential) == TW_OK) {
        if (!isfinite(kinetic + potential)) return TW_NOT_FINITE;
        w->energy_error = fmax(w->energy_error, fabs(kinetic + potential - w->energy_start));
        w->converted = fmax(w->converted, fmax(kinetic, fabs(potential - w->potential_start)));
    }
    bool is_over = clock_seconds() - w->begin > w->limit;
    return is_over ? TW_BUDGET_EXHAUSTED : TW_OK;
}

/* Sum over all rows of the distance between their positions. */
static double distance(const bench *b, const double *table, const double *other)
{
    double sum = 0;
    for (int64_t i = 0; i < b->rows; i++) {
        double square = 0;
        for (int k = 0; k < b->coordinates; k++) {
            double d = table[b->columns * i + k] - other[b->columns * i + k];
            square += d * d;
        }
        sum += sqrt(square);
    }
    return sum;
}

/* The distance to the reference, relative to the distance that the reference has moved. */
static double position_error(const bench *b)
{
    double off = distance(b, b->end, b->reference);
    double moved = distance(b, b->reference, b->start);
    return moved > 0 ? off / moved : off;
}

/* Advances to the end, and notes costs and energies. */
static tw_status advance(const bench *b, trial *t, tw_integrator *integrator)
{
    /* The energy at the start, if there is one. */
    watch w = {.limit = b->limit};
    double kinetic = 0;
    double potential = 0;
    if (tw_integrator_energy(integrator, &kinetic, &potential) == TW_OK)
        w.energy_start = kinetic + potential;
    w.potential_start = potential;
    w.converted = kinetic;

    /* The clock runs from the first step to the last. */
    w.begin = clock_seconds();
    tw_integrator_on_step(integrator, watch_step, &w);
    tw_status status = tw_integrator_advance(integrator, b->duration, NULL);
    t->seconds = clock_seconds() - w.begin;

    if (w.converted > 0) t->energy_drift = w.energy_error / w.converted;
    t->counts = tw_integrator_statistics_now(integrator);
    return status;
}

/* Integrates from the start to the end, and writes the table of the end into `rows`. */
static void integrate(bench *b, trial *t, double *rows)
{
    /* The options of the scene, but with this scheme and fixed steps. */
    tw_integrator_options options = b->options;
    options.scheme = t->scheme;
    options.step = t->step;
    options.relative_tolerance = 0;

    /* A scheme that cannot integrate the scene is reported like one that fails. */
    tw_integrator *integrator = NULL;
    t->status = tw_simulation_integrator(b->simulation, &options, &integrator, NULL);
    if (t->status == TW_OK) t->status = advance(b, t, integrator);
    if (t->status == TW_OK)
        t->status = tw_simulation_rows(b->simulation, b->duration,
                                       tw_integrator_state_view(integrator), rows);
    tw_integrator_free(integrator);
}

/* ---- steps ---- */

/* The largest h omega of a scheme; INFINITY for implicit and exponential ones. */
static double stability_of(tw_scheme scheme)
{
    switch (scheme) {
    case TW_SCHEME_VERLET:
        return VERLET_STABILITY;
    case TW_SCHEME_RK4:
        return RK4_STABILITY;
    case TW_SCHEME_EULER:
        return EULER_REACH;
    case TW_SCHEME_MIDPOINT_EXPLICIT:
        return MIDPOINT_EXPLICIT_REACH;
    default:
        return INFINITY;
    }
}

/* The largest step of a scheme; INFINITY if there is no limit, or the frequency is not known. */
static double stability_limit(const bench *b, tw_scheme scheme)
{
    if (!(b->omega > 0)) return INFINITY;
    return stability_of(scheme) / b->omega;
}

static double first_step(const bench *b, tw_scheme scheme)
{
    double of_scene = b->options.step > 0 ? b->options.step : b->duration / USUAL_STEPS;
    return fmin(of_scene, SHARE_OF_STABLE_STEP * stability_limit(b, scheme));
}

static trial try_step(bench *b, tw_scheme scheme, double step)
{
    /* A whole number of steps, to which rounding does not add one. */
    double steps = ceil(b->duration / step * (1 - 1e-15));
    trial t = {.scheme = scheme, .step = b->duration / steps};
    integrate(b, &t, b->end);
    t.error = t.status == TW_OK ? position_error(b) : INFINITY;
    return t;
}

/* Another step would not help: the scheme does not apply, or takes too long. */
static bool is_hopeless(const trial *t)
{
    return t->status == TW_UNSUPPORTED || t->status == TW_INVALID_ARGUMENT ||
           t->status == TW_BUDGET_EXHAUSTED;
}

/* The first step meets the error: doubles it while it still does. */
static trial lengthen_step(bench *b, trial best, double step)
{
    for (int i = 0; i < MOST_TRIES && 2 * step <= b->duration; i++) {
        step *= 2;
        trial next = try_step(b, best.scheme, step);
        if (!(next.error <= b->wanted)) break;
        best = next;
    }
    return best;
}

/* The first step does not meet the error: halves it until it does. */
static trial shorten_step(bench *b, trial best, double step)
{
    for (int i = 0; i < MOST_TRIES && !is_hopeless(&best); i++) {
        step /= 2;
        best = try_step(b, best.scheme, step);
        if (best.error <= b->wanted) break;
    }
    return best;
}

static void try_scheme(bench *b, tw_scheme scheme)
{
    double step = first_step(b, scheme);
    trial best = try_step(b, scheme, step);
    if (b->wanted > 0 && best.error <= b->wanted)
        best = lengthen_step(b, best, step);
    else if (b->wanted > 0)
        best = shorten_step(b, best, step);

    b->trials[b->trial_count++] = best;
}

static tw_status find_reference(bench *b)
{
    /* The scheme of the scene, or verlet where that is affordable. */
    trial t = {.scheme = b->options.scheme,
               .step = first_step(b, b->options.scheme) / REFERENCE_STEP_PARTS};
    double fine = stability_limit(b, TW_SCHEME_VERLET) / REFERENCE_STABLE_PARTS;
    double updates = b->duration / fine * (double)tw_simulation_state_size(b->simulation);
    if (isfinite(fine) && updates < MOST_REFERENCE_UPDATES) {
        t.scheme = TW_SCHEME_VERLET;
        t.step = fine;
    }

    /* The reference may take as long as it needs. */
    double limit = b->limit;
    b->limit = INFINITY;
    integrate(b, &t, b->reference);
    b->limit = limit;

    b->reference_scheme = t.scheme;
    b->reference_step = t.step;
    return t.status;
}

/* ---- output ---- */

static void print_trial(const bench *b, const trial *t, const style *look)
{
    printf("%-18s %9.3g ", tw_scheme_name(t->scheme), t->step);
    if (t->status != TW_OK) {
        const char *why = tw_status_text(t->status);
        if (t->status == TW_BUDGET_EXHAUSTED) why = "took too long";
        printf("%s%s%s\n", look->bad, why, look->plain);
        return;
    }

    /* Costs of a trial that came to the end. */
    const tw_integrator_statistics *c = &t->counts;
    bool is_missed = b->wanted > 0 && !(t->error <= b->wanted);
    printf("%8lld %9.2e %9.2e %9lld %9lld %8lld %8lld %9.3g%s\n", (long long)c->steps, t->error,
           t->energy_drift, (long long)c->force_evaluations, (long long)c->stiffness_products,
           (long long)c->solves, (long long)c->factorisations, t->seconds,
           is_missed ? "  not reached" : "");
}

static void print_table(const bench *b)
{
    style look = style_for_stdout();
    printf("%s%s%s, %.6g s; error against %s at %.3g s: distances at the end over displacements\n",
           look.bold, tw_scene_name(b->scene), look.plain, b->duration,
           tw_scheme_name(b->reference_scheme), b->reference_step);

    printf("%s%-18s %9s %8s %9s %9s %9s %9s %8s %8s %9s%s\n", look.dim, "integrator", "step [s]",
           "steps", "error", "energy", "forces", "products", "solves", "factors", "seconds",
           look.plain);
    for (int i = 0; i < b->trial_count; i++) print_trial(b, &b->trials[i], &look);
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

        /* Only a trial that came to the end has an error. */
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
    *value = otherwise;
    const char *text = value_of(a, name);
    if (!text) return true;

    char *end = NULL;
    *value = strtod(text, &end);
    if (end != text && !*end && *value > 0 && isfinite(*value)) return true;
    wrong_use("%s %s is not a number above 0", name, text);
    return false;
}

/* The schemes of "--integrators a,b". */
static bool read_schemes(const char *list, tw_scheme schemes[MOST_TRIALS], int *count)
{
    *count = 0;
    while (*list) {
        /* The next name, up to a comma or the end. */
        char name[40];
        size_t length = strcspn(list, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, list);
        list += length;
        if (*list == ',') list++;

        tw_scheme scheme = tw_scheme_from_name(name);
        if (scheme == TW_SCHEME_COUNT || !tw_scheme_available(scheme)) {
            wrong_use(
                "--integrators: there is no integrator '%s', twang list integrators shows them",
                name);
            return false;
        }
        if (*count < MOST_TRIALS) schemes[(*count)++] = scheme;
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
    status = tw_simulation_frequency(b->simulation, FREQUENCY_ITERATIONS, &b->omega, NULL);
    if (status != TW_OK) b->omega = 0;

    /* Three tables: the start, the end of a trial, the end of the reference. */
    b->rows = tw_simulation_row_count(b->simulation);
    b->columns = tw_simulation_column_count(b->simulation);
    b->coordinates = b->columns == BODY_COLUMNS ? 3 : 1;
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
    const char *list = value_of(a, "--integrators");
    if (!read_schemes(list ? list : usual, schemes, &count)) return EXIT_WRONG_USE;
    if (!read_positive(a, "--error", 0, &b->wanted) ||
        !read_positive(a, "--limit", USUAL_LIMIT, &b->limit))
        return EXIT_WRONG_USE;

    bool json = is_given(a, "--json");
    tw_error error = {0};
    tw_status status = load_scene(a, &b->scene, &error);
    if (status == TW_OK) status = prepare(b, &error);
    if (status != TW_OK) return error.text[0] ? report_error(&error, json) : EXIT_WRONG_USE;

    /* First the reference, then each scheme against it. */
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
