/* A run of the command: signals, progress, and the summary at the end. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "command.h"

typedef struct session {
    bool quiet;
    bool json;
    bool on_terminal; /* stderr is one, and shows the progress */
    const char *name; /* of the scene or the directory */
} session;

/* Before, while the scene is built, a signal ends the program at once. */
static void catch_signals(void *context, const char *directory)
{
    const session *s = context;
    catch_run_signals(directory, s->on_terminal);
}

static bool should_stop(void *context)
{
    (void)context;
    return is_run_signalled();
}

static void show_progress(void *context, const tw_run_progress *progress)
{
    const session *s = context;
    if (s->on_terminal) progress_show(s->name, progress);
}

static void print_record(const char *directory)
{
    char path[TW_RUN_DIRECTORY_SIZE + 16];
    snprintf(path, sizeof path, "%s/run.json", directory);
    FILE *file = fopen(path, "r");
    if (!file) return;

    char part[4096];
    size_t got = 0;
    while ((got = fread(part, 1, sizeof part, file)) > 0) fwrite(part, 1, got, stdout);
    fclose(file);
}

/* How many of the values that the scene expects were reproduced, or were not. */
static void print_tests(const tw_run_report *r, const style *look)
{
    if (r->tests == 0) return;
    if (r->tests_failed > 0)
        printf("%s%d of the %d values that the scene expects were not reproduced%s\n", look->bad,
               r->tests_failed, r->tests, look->plain);
    else
        printf("%d of the %d values that the scene expects were reproduced%s\n", r->tests, r->tests,
               look->plain);
}

/* What of the error is there since the first stage is no error of later steps, and says so where it
 * is a tenth of the whole or more. */
static void print_energy_error(const tw_run_report *r)
{
    printf("energy error at most %.2g J, %.2g of the energy converted\n", r->energy_error_max,
           r->energy_drift_max);
    if (r->energy_unresolved > 0.1 * r->energy_error_max) {
        printf("%.2g J of it vibrate since the start in modes that the step does not resolve\n",
               r->energy_unresolved);
        if (r->energy_unresolved > r->kinetic_resolved)
            printf(
                "warning: that is more than the kinetic energy of all other motion, %.2g J, and "
                "what it "
                "does to that motion is lost: see whether a smaller %s changes the result, start "
                "in balance, or add damping\n",
                r->kinetic_resolved, r->step > 0 ? "--dt" : "--rtol");
    } else if (r->energy_verdict == TW_ENERGY_LOST)
        printf("that is much: a smaller %s helps%s\n", r->step > 0 ? "--dt" : "--rtol",
               r->scheme == TW_SCHEME_EXPMID2 ? "" : ", or expmid2 where stiff parts turn");
}

/* "160 steps of 0.005 s", or of steps that were divided over contacts "160 steps of 0.005 s, divided
 * into 888". */
static void print_steps(const tw_run_report *r)
{
    long long steps = (long long)r->steps;
    long long whole = r->step > 0 ? llround(r->t / r->step) : steps;
    if (whole < 1 || whole > steps) whole = steps;
    printf(", %lld steps", whole);
    if (r->step > 0) printf(" of %.6g s", r->step);
    if (whole < steps) printf(", divided into %lld", steps);
    if (r->rejected_steps) printf(", %lld rejected", (long long)r->rejected_steps);
    printf("\n");
}

static void print_summary(const tw_run_report *r)
{
    style look = style_for_stdout();
    if (r->was_finished) {
        printf("%s: was finished already, and nothing is left to do\n", printable(r->directory));
        return;
    }

    /* What it cost. */
    double speed = r->wall_seconds > 0 ? r->t / r->wall_seconds : 0.0;
    printf("%s%s%s%s: %.6g s simulated in %.3g s (%.3g x real time)", look.bold, look.good,
           r->scene, look.plain, r->t, r->wall_seconds, speed);
    print_steps(r);

    /* How good it is. */
    if (r->stalled_stages)
        printf(
            "Newton's iteration stalled in %lld stage%s within 2 %% of a step: a smaller --dt, or "
            "integrator.dissipation, helps\n",
            (long long)r->stalled_stages, r->stalled_stages == 1 ? "" : "s");
    if (r->resumed_at >= 0) printf("resumed at t = %.6g s\n", r->resumed_at);
    if (r->has_energy) print_energy_error(r);
    print_tests(r, &look);

    /* Where it is. */
    printf("%s/ holds final.csv, telemetry.csv, run.json", printable(r->directory));
    if (r->frames) printf(", %lld frames", (long long)r->frames);
    printf("\n");
}

/* Reports a run that has a directory but did not come to its end. Returns the exit code. */
static int report_stopped(const session *s, tw_status status, const tw_run_report *r,
                          const tw_error *error)
{
    if (s->json) print_record(r->directory);
    if (status == TW_INTERRUPTED) {
        fprintf(stderr, "interrupted at t = %.6g s; go on with: twang resume %s\n", r->t,
                shell_word(r->directory));
        return run_signal_exit();
    }

    if (status == TW_INPUT_OUTPUT && !r->can_be_resumed)
        fprintf(stderr, "%s\n", printable(error->text));
    else if (status == TW_INPUT_OUTPUT)
        fprintf(stderr, "%s; nothing%s is lost, go on with: twang resume %s\n",
                printable(error->text), r->steps > 0 ? " up to the last checkpoint" : "",
                shell_word(r->directory));
    else {
        fprintf(stderr, "%s\n", printable(error->text));
        if (r->has_last_good)
            fprintf(stderr, "the last good state, t = %.6g s, is in %s/last_good.csv\n", r->t,
                    printable(r->directory));
        failed_run failed = {status, r->step, r->stable_step, r->steps, r->directory};
        say_what_to_try(&failed);
    }
    return EXIT_FAILED;
}

static void report_done(const session *s, const tw_run_report *report)
{
    if (s->json)
        print_record(report->directory);
    else if (!s->quiet)
        print_summary(report);
}

/* A number above 0; *value is left as it is if the option is not given. False after it has
 * complained: "--duration x is not a number of seconds above 0". */
static bool read_above_zero(const arguments *a, const char *name, const char *what, double *value)
{
    const char *text = value_of(a, name);
    if (!text) return true;

    char *end = NULL;
    *value = strtod(text, &end);
    if (end != text && *end == '\0' && *value > 0 && isfinite(*value)) return true;
    wrong_use("%s %s is not a %s above 0", name, text, what);
    return false;
}

/* The exit code of a run that came to its end: its energy error may be beyond --energy-limit. */
static int judge_energy(const tw_run_report *r, double limit)
{
    if (r->was_finished || !r->has_energy || !(r->energy_drift_max > limit)) return EXIT_DONE;
    fprintf(stderr, "the energy error, %.2g of the energy converted, exceeds --energy-limit %g\n",
            r->energy_drift_max, limit);
    return EXIT_FAILED;
}

int run_session(const arguments *a, const tw_scene *scene, const char *directory)
{
    session s = {.quiet = is_given(a, "--quiet"), .json = is_given(a, "--json")};
    s.on_terminal = !s.quiet && !s.json && terminal_width(STDERR_FILENO) > 0;
    s.name = scene ? tw_scene_name(scene) : directory;

    /* What the command line says about the run. */
    long long threads = 0;
    if (!read_count(a, "--threads", 1, MAX_THREADS, &threads)) return EXIT_WRONG_USE;
    tw_run_options options = tw_run_options_default();
    options.directory = scene ? value_of(a, "--output") : NULL;
    options.force = is_given(a, "--force");
    double energy_limit = INFINITY;
    if (!read_above_zero(a, "--energy-limit", "share", &energy_limit)) return EXIT_WRONG_USE;
    if (!scene && !read_above_zero(a, "--duration", "number of seconds", &options.duration))
        return EXIT_WRONG_USE;
    options.threads = (int)threads;
    options.progress = show_progress;
    options.stop = should_stop;
    options.stop_now = should_stop;
    options.started = catch_signals;
    options.context = &s;

    if (!s.quiet) show_warnings();

    tw_run_report report;
    tw_error error = {0};
    tw_status status = TW_OK;
    if (scene)
        status = tw_run_scene(scene, &options, &report, &error);
    else
        status = tw_run_resume(directory, &options, &report, &error);
    progress_clear();

    if (status == TW_OK) {
        report_done(&s, &report);
        return judge_energy(&report, energy_limit);
    }
    if (report.directory[0]) return report_stopped(&s, status, &report, &error);
    return report_error(&error, s.json);
}
