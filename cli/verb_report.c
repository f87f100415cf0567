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

/* Writes the report, and the directories above it. A failure leaves none of them. */
static tw_status write_report(const arguments *a, const char *path, view_report_summary *summary,
                              tw_error *error)
{
    tw_parents parents;
    hold_signals(true);

    tw_status status = tw_parents_make(&parents, path, error);
    if (status == TW_OK) status = view_report(a->positional[0], path, summary, error);
    if (status != TW_OK) tw_parents_remove(&parents);
    hold_signals(false);
    return status;
}

/* The same for the video and the poster, of which one may be NULL. */
static tw_status write_film(const char *path, const char *video, const char *poster,
                            tw_error *error)
{
    tw_parents of_video = {0};
    tw_parents of_poster = {0};
    tw_status status = TW_OK;

    if (video) status = tw_parents_make(&of_video, video, error);
    if (poster && status == TW_OK) status = tw_parents_make(&of_poster, poster, error);
    if (status == TW_OK) status = view_film(path, video, poster, error);

    if (status != TW_OK) {
        tw_parents_remove(&of_poster);
        tw_parents_remove(&of_video);
    }
    return status;
}

static int report(const arguments *a)
{
    char path[4096];
    const char *video = value_of(a, "--video");
    const char *poster = value_of(a, "--poster");

    /* What is read and what is written have the right names. */
    if (refuse_run(a->positional[0]) || !choose_path(a, path)) return EXIT_WRONG_USE;
    if (refuse_folder(path) || refuse_folder(video) || refuse_folder(poster)) return EXIT_WRONG_USE;
    if (poster && !ends_in(poster, ".png"))
        return wrong_use("--poster %s is a PNG picture, name it FILE.png", poster);

    /* The page. */
    tw_error error = {0};
    view_report_summary summary = {0};
    bool json = is_given(a, "--json");
    tw_status status = write_report(a, path, &summary, &error);
    if (status != TW_OK) return report_error(&error, json);
    print_summary(a, path, &summary);

    /* The film, by a browser: one that dies must not end us. */
    if (!video && !poster) return EXIT_DONE;
    signal(SIGPIPE, SIG_IGN);
    status = write_film(path, video, poster, &error);
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
