/* What a benchmark prints: a table, rows of CSV, JSON; and a picture of bars. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"

static bool meets_error(const bench *b, const trial *t)
{
    return t->status == TW_OK && (b->wanted == 0 || t->error <= b->wanted);
}

double bench_best_seconds(const bench *b)
{
    double best = INFINITY;

    for (int i = 0; i < b->trial_count; i++)
        if (meets_error(b, &b->trials[i])) best = fmin(best, b->trials[i].seconds);
    return best;
}

const char *bench_name(contestant who, char name[NAME_SIZE])
{
    const char *engine = "";
    if (who.engine != TW_PHI_ENGINE_COUNT) engine = tw_phi_engine_name(who.engine);
    snprintf(name, NAME_SIZE, "%s%s%s", tw_scheme_name(who.scheme), *engine ? ":" : "", engine);
    return name;
}

/* The seconds of the rival to which ratios are given; NAN if there is none. */
static double rival_seconds(const bench *b)
{
    for (int i = 0; i < b->trial_count; i++)
        if (b->trials[i].who.scheme == b->rival) return b->trials[i].seconds;
    return NAN;
}

/* Whether a trial has seconds that say something. */
static bool has_seconds(const trial *t)
{
    return t->status == TW_OK || t->is_extrapolated;
}

static const char *word_for(const bench *b, const trial *t)
{
    if (t->is_extrapolated) return "extrapolated";
    if (t->status == TW_BUDGET_EXHAUSTED) return "took too long";
    if (t->status != TW_OK) return tw_status_text(t->status);
    return meets_error(b, t) ? "ok" : "not reached";
}

void bench_tell(const bench *b, const char *what, int index, int count)
{
    if (b->places > 0)
        fprintf(stderr, "%s %s (%d of %d): ", b->suite, b->label, b->place, b->places);
    else
        fprintf(stderr, "%s: ", tw_scene_name(b->scene));
    if (count > 0)
        fprintf(stderr, "%s, %d of %d\n", what, index, count);
    else
        fprintf(stderr, "%s\n", what);
}

/* ---- table ---- */

static void print_trial(const bench *b, const trial *t, const style *look)
{
    const char *word = word_for(b, t);

    char name[NAME_SIZE];
    bench_name(t->who, name);
    if (has_own_steps(t->who.scheme))
        printf("%-17s rtol %.0e ", name, t->step);
    else
        printf("%-18s %9.3g ", name, t->step);
    if (!has_seconds(t)) {
        const char *separator = t->why[0] ? ": " : "";
        printf("%s%s%s%s%s\n", look->bad, word, separator, t->why, look->plain);
        return;
    }

    /* A trial that the limit stopped has no error. */
    char error[16] = "-";
    if (isfinite(t->error)) snprintf(error, sizeof error, "%.2e", t->error);

    /* Costs; those of a trial that the limit stopped are of its part. */
    const tw_integrator_statistics *c = &t->counts;
    printf("%8lld %9s %9.2e %9lld %9lld %8lld %8lld %7.1f %9.3g %8.3g %7.2f", (long long)c->steps,
           error, t->energy_drift, (long long)c->force_evaluations,
           (long long)c->stiffness_products, (long long)c->solves, (long long)c->factorisations,
           1e-6 * (double)t->memory, t->seconds, b->duration / t->seconds,
           t->seconds / bench_best_seconds(b));
    if (b->rival != TW_SCHEME_COUNT) printf(" %7.2f", t->seconds / rival_seconds(b));
    if (t->is_extrapolated)
        printf("  %s: %s", word, t->why);
    else if (strcmp(word, "ok") != 0)
        printf("  %s", word);
    printf("\n");
}

static void print_table(const bench *b)
{
    style look = style_for_stdout();
    const reference *r = &b->reference;
    if (b->label[0]) printf("\n%s %s: ", b->suite, b->label);
    printf("%s%s%s, %.6g s; error against %s, extrapolated from %.3g and %.3g s (itself %.1e%s)\n",
           look.bold, tw_scene_name(b->scene), look.plain, b->duration, tw_scheme_name(r->scheme),
           2 * r->step, r->step, r->error, r->was_cached ? ", kept" : "");

    printf("%s%-18s %9s %8s %9s %9s %9s %9s %8s %8s %7s %9s %8s %7s", look.dim, "integrator",
           "step [s]", "steps", "error", "energy", "forces", "products", "solves", "factors", "MB",
           tw_threads() == 1 ? "proc. s" : "seconds", "realtime", "x best");
    if (b->rival != TW_SCHEME_COUNT) printf(" x %s", tw_scheme_name(b->rival));
    printf("%s\n", look.plain);
    for (int i = 0; i < b->trial_count; i++) print_trial(b, &b->trials[i], &look);
}

/* ---- CSV ---- */

void bench_print_csv_header(void)
{
    printf(
        "suite,label,scene,duration,unknowns,wanted,integrator,step,status,error,reference_error,"
        "energy_drift,seconds,real_time_factor,ratio_to_best,ratio_to_rival,steps,"
        "force_evaluations,stiffness_products,solves,factorizations,memory_bytes,repeats,"
        "threads,version,seconds_of,omega_max,part,why\n");
}

/* An empty field for what is not known. */
static void print_value(double value)
{
    printf(isfinite(value) ? ",%.6g" : ",", value);
}

/* A text without commas, quotes and ends of lines, as the last field of a row. */
static void print_text(const char *text)
{
    printf(",");
    for (; *text; text++) putchar(strchr(",\"\n\r", *text) ? ';' : *text);
}

void bench_print_csv_failure(const bench *b, const char *why)
{
    double unknowns = b->simulation ? (double)tw_simulation_state_size(b->simulation) / 2 : 0;
    printf("%s,%s,%s,%.9g,%.0f,%.6g,reference,,failed,", b->suite, b->label,
           b->scene ? tw_scene_name(b->scene) : "", b->duration, unknowns, b->wanted);
    print_value(b->reference.error);
    printf(",,,,,,,,,,,,,%d,%s,%s", tw_threads(), tw_version(), bench_clock_name());
    print_value(b->omega > 0 ? b->omega : NAN);
    print_text(b->part);
    print_text(why);
    printf("\n");
}

static void print_csv(const bench *b)
{
    for (int i = 0; i < b->trial_count; i++) {
        const trial *t = &b->trials[i];
        bool has = has_seconds(t);
        char name[NAME_SIZE];

        /* What was asked for. */
        printf("%s,%s,%s,%.9g,%lld,%.6g,%s,%.9g,%s", b->suite, b->label, tw_scene_name(b->scene),
               b->duration, (long long)tw_simulation_state_size(b->simulation) / 2, b->wanted,
               bench_name(t->who, name), t->step, word_for(b, t));

        /* What came out; and its costs. */
        print_value(t->error);
        print_value(b->reference.error);
        print_value(has ? t->energy_drift : NAN);
        print_value(has ? t->seconds : NAN);
        print_value(has ? b->duration / t->seconds : NAN);
        print_value(has ? t->seconds / bench_best_seconds(b) : NAN);
        print_value(has ? t->seconds / rival_seconds(b) : NAN);
        printf(",%lld,%lld,%lld,%lld,%lld,%lld,%d,%d,%s,%s", (long long)t->counts.steps,
               (long long)t->counts.force_evaluations, (long long)t->counts.stiffness_products,
               (long long)t->counts.solves, (long long)t->counts.factorisations,
               (long long)t->memory, t->repeat_count, tw_threads(), tw_version(),
               bench_clock_name());
        print_value(b->omega > 0 ? b->omega : NAN);
        print_text(b->part);
        print_text(t->why);
        printf("\n");
    }
}

/* ---- JSON ---- */

static void print_json_trial(const bench *b, const trial *t)
{
    char name[NAME_SIZE];
    printf("\n    {\"integrator\": \"%s\", \"status\": \"%s\", \"%s\": %.17g",
           bench_name(t->who, name), tw_status_name(t->status),
           has_own_steps(t->who.scheme) ? "rtol" : "step", t->step);
    if (t->why[0]) {
        printf(", \"why\": ");
        print_json_string(t->why);
    }

    /* Only a trial that came to the end has an error. */
    if (t->status == TW_OK)
        printf(", \"error\": %.6g, \"energy_drift\": %.6g", t->error, t->energy_drift);
    if (has_seconds(t) && isfinite(bench_best_seconds(b)))
        printf(", \"ratio_to_best\": %.6g", t->seconds / bench_best_seconds(b));
    printf(", \"steps\": %lld, \"force_evaluations\": %lld, \"stiffness_products\": %lld, "
           "\"solves\": %lld, \"factorizations\": %lld, \"memory_bytes\": %lld, "
           "\"extrapolated\": %s, \"seconds\": %.6g, \"seconds_of\": \"%s\"}",
           (long long)t->counts.steps, (long long)t->counts.force_evaluations,
           (long long)t->counts.stiffness_products, (long long)t->counts.solves,
           (long long)t->counts.factorisations, (long long)t->memory,
           t->is_extrapolated ? "true" : "false", t->seconds, bench_clock_name());
}

static void print_json(const bench *b)
{
    printf("{\n  \"scene\": ");
    print_json_string(tw_scene_name(b->scene));
    printf(",\n  \"duration\": %.17g,\n  \"omega_max\": %.17g,\n  \"reference\": {\"integrator\": "
           "\"%s\", \"step\": %.17g, \"error\": %.6g},\n  \"trials\": [",
           b->duration, b->omega, tw_scheme_name(b->reference.scheme), b->reference.step,
           b->reference.error);

    for (int i = 0; i < b->trial_count; i++) {
        if (i) printf(",");
        print_json_trial(b, &b->trials[i]);
    }
    printf("\n  ]\n}\n");
}

void bench_print(const bench *b, bench_format format)
{
    if (format == BENCH_CSV) print_csv(b);
    if (format == BENCH_JSON) print_json(b);
    if (format == BENCH_TABLE) print_table(b);
}

/* ---- picture ---- */

enum { BAR_LEFT = 150, BAR_WIDTH = 400, BAR_HEIGHT = 22, PICTURE_WIDTH = 660, TITLE_HEIGHT = 40 };

/* One bar per trial, with its name and its seconds. */
static void write_bars(const bench *b, FILE *file)
{
    /* Bars are as long as the logarithm of the seconds, from the best on: a decade is a third. */
    double best = bench_best_seconds(b);
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "font-family=\"sans-serif\" font-size=\"13\">\n"
            "<text x=\"10\" y=\"22\">%s, %g s, error %g: seconds (logarithmic)</text>\n",
            PICTURE_WIDTH, TITLE_HEIGHT + BAR_HEIGHT * b->trial_count + 10, tw_scene_name(b->scene),
            b->duration, b->wanted);
    for (int i = 0; i < b->trial_count; i++) {
        const trial *t = &b->trials[i];
        int y = TITLE_HEIGHT + BAR_HEIGHT * i;
        double decades = has_seconds(t) ? log10(t->seconds / best) : 0;
        double width = 20 + BAR_WIDTH / 3.0 * fmin(fmax(isfinite(decades) ? decades : 0, 0), 2.8);

        const char *colour = meets_error(b, t) ? "#3b7ea1" : "#b9b9b9";
        char name[NAME_SIZE];
        fprintf(file, "<text x=\"10\" y=\"%d\">%s</text>\n", y + 15, bench_name(t->who, name));
        if (has_seconds(t))
            fprintf(file,
                    "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n"
                    "<text x=\"%.1f\" y=\"%d\">%.3g s%s</text>\n",
                    BAR_LEFT, y + 2, width, BAR_HEIGHT - 4, colour, BAR_LEFT + width + 6, y + 15,
                    t->seconds, strcmp(word_for(b, t), "ok") == 0 ? "" : ", not reached");
        else
            fprintf(file, "<text x=\"%d\" y=\"%d\">%s</text>\n", BAR_LEFT, y + 15, word_for(b, t));
    }
    fprintf(file, "</svg>\n");
}

bool bench_write_svg(const bench *b, const char *path)
{
    tw_parents parents;
    tw_error error = {0};
    if (tw_parents_make(&parents, path, &error) != TW_OK) {
        report_error(&error, false);
        return false;
    }

    /* A picture that was there is replaced as a whole. */
    char part[4096 + 8];
    snprintf(part, sizeof part, "%s.part", path);
    FILE *file = fopen(part, "w");
    if (file) write_bars(b, file);
    bool good = file && !ferror(file);
    if (file && fclose(file) != 0) good = false;
    if (good && rename(part, path) == 0) return true;

    fprintf(stderr, "%s: cannot be written: %s\n", printable(path), strerror(errno));
    if (file) remove(part);
    tw_parents_remove(&parents);
    return false;
}
