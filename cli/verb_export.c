/* Converts the frames of a run. */
#include <stdio.h>
#include <unistd.h>

#include "command.h"

static const char *format_choice(int index)
{
    static const char *const words[] = {"vtu", "ply", "obj", "pc2", "csv"};
    enum { WORD_COUNT = sizeof words / sizeof *words };
    return index >= 0 && index < WORD_COUNT ? words[index] : NULL;
}

/* Called between frames: there a signal may end the command, and all files are whole. */
static void between_frames(void *context, int64_t done, int64_t frames)
{
    hold_signals(false);
    hold_signals(true);

    const arguments *a = context;
    bool is_silent = is_given(a, "--json") || is_given(a, "--quiet");
    if (!is_silent && terminal_width(STDERR_FILENO) > 0)
        progress_count(a->positional[0], done, frames);
}

static int export(const arguments *a)
{
    bool json = is_given(a, "--json");
    bool quiet = is_given(a, "--quiet");
    tw_export_options options = tw_export_options_default();
    options.format = value_of(a, "--format");
    options.directory = value_of(a, "--output");
    if (!options.format) return wrong_use("export needs --format: one of vtu, ply, obj, pc2, csv");
    if (refuse_run(a->positional[0])) return EXIT_WRONG_USE;
    options.progress = between_frames;
    options.context = (void *)a;

    tw_export_report report;
    tw_error error = {0};
    hold_signals(true);
    tw_status status = tw_run_export(a->positional[0], &options, &report, &error);
    hold_signals(false);
    progress_clear();
    if (status != TW_OK) return report_error(&error, json);

    if (json) {
        printf("{\"frames\": %lld, \"format\": \"%s\", \"path\": ", (long long)report.frames,
               options.format);
        print_json_string(report.path);
        printf("}\n");
    } else if (!quiet) {
        printf("%lld frames as %s: %s\n", (long long)report.frames, options.format,
               printable(report.path));
    }
    return EXIT_DONE;
}

static const option options[] = {
    {"--format", "-f", "NAME", "vtu, ply, obj, pc2 or csv", format_choice},
    {"--output", "-o", "DIR", "write there instead of beside the frames of the run", NULL},
    {"--quiet", "-q", NULL, "say nothing but what is wrong", NULL},
    {"--json", NULL, NULL, "print what was written as JSON", NULL},
    {0},
};

const verb verb_export = {
    .name = "export",
    .synopsis = "DIR --format vtu|ply|obj|pc2|csv [-o DIR]",
    .line = "convert the frames of a run for other programs",
    .text =
        "Converts the stored frames (csv or vtu) of the run in DIR:\n\n"
        "  vtu   a series for ParaView: open frames.pvd\n"
        "  pc2   a point cache for Blender: import NAME.obj, add a Mesh Cache modifier with "
        "NAME.pc2\n"
        "  ply, obj   a surface per frame;   csv   a table per frame\n\n"
        "A scene can write them while it runs: output: {frames: [vtu, pc2]}, see docs/output.md.",
    .options = options,
    .positional = "DIR",
    .positional_least = 1,
    .positional_most = 1,
    .run = export,
};
