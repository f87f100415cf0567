/* A run from its first step to its last words. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

static volatile sig_atomic_t signal_caught;

static volatile sig_atomic_t tells_of_signal; /* a terminal is there to be told */

static void remember_signal(int number)
{
    static const char line[] =
        "\r\033[Kends after this step, with a checkpoint; once more ends at once\n";
    signal_caught = number;
    int before = errno;
    if (tells_of_signal && write(STDERR_FILENO, line, sizeof line - 1) < 0) signal_caught = number;
    errno = before;
}

/* The first signal ends the run after its step; a second one ends the program as usual. */
static void catch_signals(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = remember_signal;
    action.sa_flags = (int)SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    catch_file_limit();
}

typedef struct session {
    bool quiet, json, on_terminal;
    const char *name;
} session;

static bool should_stop(void *context)
{
    (void)context;
    return signal_caught != 0;
}

static void show_progress(void *context, const tw_run_progress *progress)
{
    const session *s = context;
    if (s->on_terminal) progress_show(s->name, progress);
}

/* What the library finds worth saying; called from any thread. */
static void print_warning(void *context, tw_log_level level, const char *line)
{
    (void)context;
    (void)level;
    progress_clear();
    fprintf(stderr, "twang: %s\n", line);
}

static bool read_threads(const arguments *a, int *threads)
{
    const char *text = value_of(a, "--threads");
    *threads = 0;
    if (!text) return true;
    char *end = NULL;
    long value = strtol(text, &end, 10);
    if (end == text || *end || value < 1 || value > 1024) {
        wrong_use("--threads %s is not a number from 1 to 1024", text);
        return false;
    }
    *threads = (int)value;
    return true;
}

static void print_record(const char *directory)
{
    char path[TW_RUN_DIRECTORY_SIZE + 16], part[4096];
    snprintf(path, sizeof path, "%s/run.json", directory);
    FILE *file = fopen(path, "r");
    if (!file) return;
    for (size_t got; (got = fread(part, 1, sizeof part, file)) > 0;) fwrite(part, 1, got, stdout);
    fclose(file);
}

static void print_summary(const session *s, const tw_run_report *r)
{
    style look = style_for_stdout();
    if (r->was_finished) {
        printf("%s was finished already: %s\n", s->name, r->directory);
        return;
    }
    printf("%s%s%s%s: %.6g s simulated in %.3g s (%.3g x real time), %lld steps", look.bold,
           look.good, s->name, look.plain, r->t, r->wall_seconds,
           r->wall_seconds > 0 ? r->t / r->wall_seconds : 0.0, (long long)r->steps);
    if (r->step > 0) printf(" of %.6g s", r->step);
    if (r->rejected_steps) printf(", %lld rejected", (long long)r->rejected_steps);
    printf("\n");
    if (r->resumed_at >= 0) printf("resumed at t = %.6g s\n", r->resumed_at);
    if (r->has_energy)
        printf("energy error at most %.2g of the largest kinetic energy\n", r->energy_drift_max);
    if (r->tests)
        printf("%s%d of the %d values that the scene expects %s reproduced%s\n",
               r->tests_failed ? look.bad : "", r->tests_failed ? r->tests_failed : r->tests,
               r->tests, r->tests_failed ? "were not" : "were", look.plain);
    printf("%s/ holds final.csv, telemetry.csv, run.json", r->directory);
    if (r->frames) printf(", %lld frames", (long long)r->frames);
    printf("\n");
}

/* A run that did not come to its end but to a directory. */
static int report_stopped(const session *s, tw_status status, const tw_run_report *r,
                          const tw_error *error)
{
    if (s->json) print_record(r->directory);
    if (status == TW_INTERRUPTED) {
        fprintf(stderr, "interrupted at t = %.6g s; go on with: twang resume %s\n", r->t,
                r->directory);
        return signal_caught == SIGTERM ? EXIT_TERMINATED : EXIT_INTERRUPTED;
    }
    if (status == TW_INPUT_OUTPUT)
        fprintf(stderr,
                "%s; nothing up to the last checkpoint is lost, go on with: twang resume %s\n",
                error->text, r->directory);
    else
        fprintf(stderr, "%s\nthe last good state, t = %.6g s, is in %s/last_good.csv\n",
                error->text, r->t, r->directory);
    return EXIT_FAILED;
}

int run_session(const arguments *a, const tw_scene *scene, const char *directory)
{
    session s = {.quiet = is_given(a, "--quiet"), .json = is_given(a, "--json")};
    s.on_terminal = !s.quiet && !s.json && terminal_width(STDERR_FILENO) > 0;
    s.name = scene ? tw_scene_name(scene) : directory;
    tw_run_options options = tw_run_options_default();
    options.directory = scene ? value_of(a, "--output") : NULL;
    options.force = is_given(a, "--force");
    options.progress = show_progress;
    options.stop = should_stop;
    options.context = &s;
    if (!read_threads(a, &options.threads)) return EXIT_WRONG_USE;
    tells_of_signal = s.on_terminal;
    catch_signals();
    if (!s.quiet) tw_log_set(print_warning, NULL, TW_LOG_WARNING);
    tw_run_report report;
    tw_error error = {0};
    tw_status status = scene ? tw_run_scene(scene, &options, &report, &error)
                             : tw_run_resume(directory, &options, &report, &error);
    progress_clear();
    if (status != TW_OK)
        return report.directory[0] ? report_stopped(&s, status, &report, &error)
                                   : report_error(&error, s.json);
    if (s.json)
        print_record(report.directory);
    else if (!s.quiet)
        print_summary(&s, &report);
    return EXIT_DONE;
}
