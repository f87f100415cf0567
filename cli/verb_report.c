/* Writes a run as one HTML file. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../viewer/view.h"
#include "command.h"

/* DIR/report.html, or what -o says. */
static bool choose_path(const arguments *a, char path[4096])
{
    const char *given = value_of(a, "--output");
    int length = given ? snprintf(path, 4096, "%s", given)
                       : snprintf(path, 4096, "%s/report.html", a->positional[0]);
    if (length > 0 && length < 4096) return true;
    wrong_use("the name of the report is too long");
    return false;
}

static void print_summary(const arguments *a, const char *path, const view_report_summary *summary)
{
    if (is_given(a, "--json")) {
        printf("{\"report\": ");
        print_json_string(path);
        printf(", \"frames\": %lld, \"of\": %lld, \"bytes\": %lld}\n", summary->frames, summary->of,
               summary->bytes);
    } else if (!is_given(a, "--quiet")) {
        printf("%s: %lld of %lld frames, %.1f MB\n", printable(path), summary->frames, summary->of,
               (double)summary->bytes / 1e6);
    }
}

static int report(const arguments *a)
{
    char path[4096];
    if (!choose_path(a, path)) return EXIT_WRONG_USE;

    tw_error error = {0};
    view_report_summary summary = {0};
    bool json = is_given(a, "--json");
    hold_signals(true);
    tw_status status = view_report(a->positional[0], path, &summary, &error);
    hold_signals(false);
    if (status != TW_OK) return report_error(&error, json);
    print_summary(a, path, &summary);

    /* A browser that dies must not end us. */
    const char *video = value_of(a, "--video");
    const char *poster = value_of(a, "--poster");
    if (!video && !poster) return EXIT_DONE;
    signal(SIGPIPE, SIG_IGN);
    status = view_film(path, video, poster, &error);
    return status == TW_OK ? EXIT_DONE : report_error(&error, json);
}

static const option options[] = {
    {"--output", "-o", "FILE", "the file; without it DIR/report.html", NULL},
    {"--video", NULL, "FILE", "a video of the frames, by a headless browser and ffmpeg", NULL},
    {"--poster", NULL, "FILE", "a picture (PNG), by a headless browser", NULL},
    {"--quiet", "-q", NULL, "say nothing but what is wrong", NULL},
    {"--json", NULL, NULL, "print what was written as JSON", NULL},
    {0}};

const verb verb_report = {
    .name = "report",
    .synopsis = "DIR [-o FILE.html] [--video FILE.mp4] [--poster FILE.png] [--quiet] [--json]",
    .line = "write a run as one HTML file: replay, charts, tables",
    .text = "Writes one HTML file that needs no network and no other file: a replay with decimated "
            "frames, charts,\n"
            "the record of the run and its energy balance. It opens from the disk in any browser.",
    .options = options,
    .positional = "DIR",
    .positional_least = 1,
    .positional_most = 1,
    .run = report,
};
