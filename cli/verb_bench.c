/* Measures what a scene, or a suite of scenes, costs with each integrator at equal error. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum {
    USUAL_LIMIT = 60, /* seconds for one trial */
    QUICK_LIMIT = 4,
    QUICK_REFERENCE = 60, /* seconds for a reference; a row that needs longer is left out */
    FULL_LIMIT = 5,
    FULL_REFERENCE = 600,
    USUAL_REPEATS = 1,
    SUITE_REPEATS = 3
};

/* Tolerance of Newton's iteration over the error that is asked for. */
static const double NEWTON_SHARE = 0.1;

/* What the command line asks for. */
typedef struct request {
    bench_format format;
    double wanted;
    double limit;
    int repeats;
    tw_scheme rival;
    const char *svg;
    const char *schemes; /* NULL: the usual ones, or those of the suite */
    const char *row;     /* NULL, or how the labels of the rows begin */
    bool has_limit;      /* --limit is given, and holds for all rows */
    bool is_full;
} request;

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

/* One integrator by its name. */
static bool read_scheme(const char *where, const char *name, tw_scheme *scheme)
{
    *scheme = tw_scheme_from_name(name);
    if (*scheme != TW_SCHEME_COUNT) return true;
    unknown_scheme(where, name);
    return false;
}

/* "SCHEME" or "SCHEME:ENGINE". */
static bool read_contestant(char *name, contestant *who)
{
    who->engine = TW_PHI_ENGINE_COUNT;
    char *colon = strchr(name, ':');
    if (colon) {
        *colon = 0;
        who->engine = tw_phi_engine_from_name(colon + 1);
        if (who->engine == TW_PHI_ENGINE_COUNT) {
            wrong_use("--integrators: there is no phi engine '%s', twang list phi shows them",
                      printable(colon + 1));
            return false;
        }
    }
    return read_scheme("--integrators", name, &who->scheme);
}

/* The contestants of "--integrators a,b:engine". Those that this build lacks are refused, or left
 * out if `lenient`. */
static bool read_schemes(const char *list, bool lenient, contestant schemes[MOST_TRIALS],
                         int *count)
{
    *count = 0;
    while (*list) {
        /* The next name, up to a comma or the end. */
        char name[NAME_SIZE];
        size_t length = strcspn(list, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, list);
        list += length;
        if (*list == ',') list++;

        contestant who;
        if (!read_contestant(name, &who)) return false;
        bool is_there = tw_scheme_available(who.scheme);
        if (!is_there && !lenient) {
            wrong_use("--integrators: there is no integrator '%s' in this build", name);
            return false;
        }
        if (is_there && *count < MOST_TRIALS) schemes[(*count)++] = who;
    }

    if (*count == 0) wrong_use("--integrators names none");
    return *count > 0;
}

static bool read_request(const arguments *a, bool in_suite, request *r)
{
    long long repeats = in_suite ? SUITE_REPEATS : USUAL_REPEATS;
    long long threads = 0;
    r->is_full = is_given(a, "--full");
    double limit = USUAL_LIMIT;
    if (in_suite) limit = r->is_full ? FULL_LIMIT : QUICK_LIMIT;
    if (!read_positive(a, "--error", 0, &r->wanted)) return false;
    if (!read_positive(a, "--limit", limit, &r->limit)) return false;
    if (!read_count(a, "--repeats", 1, MOST_REPEATS, &repeats)) return false;
    if (!read_count(a, "--threads", 1, MAX_THREADS, &threads)) return false;
    r->repeats = (int)repeats;
    if (threads > 0) tw_set_threads((int)threads);

    r->rival = TW_SCHEME_COUNT;
    const char *rival = value_of(a, "--rival");
    if (rival && !read_scheme("--rival", rival, &r->rival)) return false;

    r->format = BENCH_TABLE;
    if (is_given(a, "--csv")) r->format = BENCH_CSV;
    if (is_given(a, "--json")) r->format = BENCH_JSON;
    r->svg = value_of(a, "--svg");
    r->schemes = value_of(a, "--integrators");
    r->row = value_of(a, "--row");
    r->has_limit = is_given(a, "--limit");
    return true;
}

/* Complains that the reference does not come, with the number that it came to. */
static int report_no_reference(const bench *b, const request *r, tw_status status)
{
    char why[WHY_SIZE];
    int length = snprintf(why, sizeof why, "%s", tw_status_text(status));
    if (isfinite(b->reference.error) && length < WHY_SIZE)
        snprintf(why + length, sizeof why - (size_t)length, "; its own error came to %.1e",
                 b->reference.error);
    fprintf(stderr, "twang: the reference could not be computed: %s\n", why);
    if (r->format == BENCH_CSV) bench_print_csv_failure(b, why);
    return EXIT_FAILED;
}

/* Finds the reference, makes the trials, and prints them; b->scene is set. */
static int measure(bench *b, const request *r, const contestant *schemes, int count)
{
    tw_error error = {0};
    tw_status status = bench_prepare(b, &error);
    if (status != TW_OK && r->format == BENCH_CSV) bench_print_csv_failure(b, error.text);
    if (status != TW_OK)
        return error.text[0] ? report_error(&error, r->format == BENCH_JSON) : EXIT_FAILED;

    if (!(b->limit > 0)) b->limit = r->limit;
    b->repeats = r->repeats;
    b->rival = r->rival;
    bench_tell(b, "the reference", 0, 0);
    status = bench_find_reference(b);
    if (status != TW_OK) return report_no_reference(b, r, status);

    /* No scheme solves its equations a thousand times better than what is asked for. */
    b->options.newton.tolerance = fmax(b->options.newton.tolerance, NEWTON_SHARE * b->wanted);

    for (int i = 0; i < count; i++) {
        char name[NAME_SIZE];
        bench_tell(b, bench_name(schemes[i], name), i + 1, count);
        bench_try_scheme(b, schemes[i]);
    }
    if (b->repeats > 1) bench_tell(b, "repeats", 0, 0);
    bench_repeat_trials(b);
    bench_print(b, r->format);
    if (r->svg && !bench_write_svg(b, r->svg)) return EXIT_FAILED;
    return EXIT_DONE;
}

static int bench_scene(const arguments *a, const request *r)
{
    static const char usual[] = "expmid2,exprb42,pexprb43,midpoint,newmark,bdf1,rk4,verlet";
    contestant schemes[MOST_TRIALS];
    int count = 0;
    if (!read_schemes(r->schemes ? r->schemes : usual, false, schemes, &count))
        return EXIT_WRONG_USE;

    bench b = {.suite = "", .label = "", .part = "", .wanted = r->wanted};
    b.judge.scheme = TW_SCHEME_COUNT;
    tw_error error = {0};
    tw_status status = load_scene(a, &b.scene, &error);
    if (status != TW_OK)
        return error.text[0] ? report_error(&error, r->format == BENCH_JSON) : EXIT_WRONG_USE;

    if (r->format == BENCH_CSV) bench_print_csv_header();
    int code = measure(&b, r, schemes, count);
    bench_release(&b);
    return code;
}

/* Whether the row belongs to the suite, and to its quick form if that is asked for. */
static bool is_measured(const suite_row *row, const char *suite, const request *r)
{
    if (strcmp(row->suite, suite) != 0) return false;
    if (r->row && strncmp(row->label, r->row, strlen(r->row)) != 0) return false;
    return (r->is_full ? row->full : row->quick) > 0;
}

/* One row of a suite, at its place among `places`. A scene that is not there, or lacks its mesh, is
 * named and left out. */
static int bench_row(const suite_row *row, const request *r, int place, int places)
{
    double duration = r->is_full ? row->full : row->quick;
    contestant schemes[MOST_TRIALS];
    int count = 0;
    if (!read_schemes(r->schemes ? r->schemes : row->schemes, !r->schemes, schemes, &count))
        return EXIT_WRONG_USE;

    bench b = {.suite = row->suite, .label = row->label, .place = place, .places = places};
    b.duration = duration;
    b.reference.error = INFINITY;
    b.wanted = r->wanted > 0 ? r->wanted : row->error;
    b.reference_limit = r->is_full ? FULL_REFERENCE : QUICK_REFERENCE;
    b.part = r->is_full && row->part ? row->part : "";
    if (r->is_full && !r->has_limit) b.limit = row->limit;

    /* Who computes the reference. */
    char judge[NAME_SIZE] = "";
    b.judge.scheme = TW_SCHEME_COUNT;
    if (row->judge) snprintf(judge, sizeof judge, "%s", row->judge);
    if (judge[0] && !read_contestant(judge, &b.judge)) return EXIT_WRONG_USE;

    tw_error error = {0};
    tw_status status = load_suite_row(row, duration, &b.scene, &error);
    if (status != TW_OK) {
        const char *why = error.text[0] ? printable(error.text) : "there is no such scene";
        fprintf(stderr, "twang: %s %s is left out: %s\n", row->suite, row->label, why);
        if (r->format == BENCH_CSV) bench_print_csv_failure(&b, why);
        return EXIT_DONE;
    }

    int code = measure(&b, r, schemes, count);
    fflush(stdout);
    bench_release(&b);
    return code;
}

static int bench_suite(const char *name, const request *r)
{
    if (r->format == BENCH_JSON)
        return wrong_use("a suite is printed as a table, or with --csv; --json is for one scene");
    if (r->format == BENCH_CSV) bench_print_csv_header();

    int places = 0;
    for (int i = 0; suite_row_at(i); i++) places += is_measured(suite_row_at(i), name, r);

    /* A row that fails does not keep the others from being measured. */
    int code = EXIT_DONE;
    int place = 0;
    for (int i = 0; suite_row_at(i); i++) {
        if (!is_measured(suite_row_at(i), name, r)) continue;
        int of_row = bench_row(suite_row_at(i), r, ++place, places);
        if (of_row == EXIT_WRONG_USE) return of_row;
        if (of_row != EXIT_DONE) code = of_row;
    }
    return code;
}

static int run_verb_bench(const arguments *a)
{
    await_signals();
    request r = {0};
    const char *name = a->positional[0];
    if (!read_request(a, is_suite(name), &r)) return EXIT_WRONG_USE;

    /* `fput` is a suite and a scene: the suite, unless --quick and --full are absent. */
    bool wants_suite = is_given(a, "--quick") || is_given(a, "--full");
    char buffer[1024];
    bool is_scene = find_scene(name, buffer, sizeof buffer) != NULL;
    if (is_suite(name) && wants_suite) return bench_suite(name, &r);
    if (is_suite(name) && !is_scene)
        return wrong_use("%s is a suite: give --quick (some minutes) or --full (up to an hour)",
                         name);
    if (wants_suite)
        return wrong_use("there is no suite '%s': table1, table2, fig3, fput, sweep, scaling",
                         name);
    return bench_scene(a, &r);
}

static const option options[] = {
    {"--integrators", NULL, "A,B:PHI,...", "those to compare; PHI: with this engine", NULL},
    {"--error", NULL, "E", "find each one's largest step whose error is below E", NULL},
    {"--rival", NULL, "NAME", "give ratios to this integrator, too", scheme_choice},
    {"--repeats", NULL, "N",
     "make every trial N times, in turns, and take the median (1; suites 3)", NULL},
    {"--limit", NULL, "S",
     "seconds one integration may take (60; suites 4, 5 or the row's); beyond it is extrapolated",
     NULL},
    {"--row", NULL, "TEXT", "only the rows of a suite whose labels begin with this", NULL},
    {"--quick", NULL, NULL, "a suite on short parts of its scenes: some minutes", NULL},
    {"--full", NULL, NULL, "a suite on the scenes as in the papers: up to an hour", NULL},
    {"--threads", NULL, "N", "use this many threads; with 1, seconds are of the processor", NULL},
    {"--csv", NULL, NULL, "print it as CSV", NULL},
    {"--svg", NULL, "FILE", "draw a bar for each integrator of one scene", NULL},
    SCENE_OPTIONS,
    {"--json", NULL, NULL, "print it as JSON", NULL},
    {0},
};

const verb verb_bench = {
    .name = "bench",
    .synopsis = "SCENE|SUITE [--integrators A,B,...] [--error E] [--quick|--full] [--csv|--json]",
    .line = "compare integrators on a scene or a suite of scenes: cost and error",
    .text =
        "Integrates SCENE with several integrators and compares its end with that of a fine "
        "reference: two steps,\n"
        "extrapolated, and halved until they agree to a hundredth of the asked error. References "
        "are kept in\n"
        "~/.cache/twang. What is being computed is said on stderr. SUITE with --quick or --full is "
        "one of table1, table2, fig3, fput, sweep, "
        "scaling.\n\n"
        "  twang bench rope\n"
        "  twang bench coil --duration 2 --integrators expmid2,verlet --error 1e-3\n"
        "  twang bench fput --quick --csv",
    .options = options,
    .positional = "SCENE",
    .positional_least = 1,
    .positional_most = 1,
    .run = run_verb_bench,
};
