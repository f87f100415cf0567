/* Converts the frames of a run to another format. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <twang/nearest_name.h>
#include <unistd.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "io/manifest.h"
#include "run/run_internal.h"

tw_export_options tw_export_options_default(void)
{
    return (tw_export_options){.format = "vtu"};
}

typedef struct conversion {
    const char *directory; /* of the run */
    const tw_export_options *options;
    unsigned format; /* to convert to */
    tw_playback *playback;
    tw_frames *frames;
    double *rows;       /* of one frame */
    int lock;           /* descriptor of the locked directory; -1 if not locked */
    tw_parents parents; /* those above the directory to write to that were not there */
    bool made_target;   /* that directory was not there, either */
} conversion;

static tw_status read_format(const tw_export_options *options, unsigned *format, tw_error *error)
{
    static const char *const names[] = {"vtu", "ply", "obj", "pc2", "csv"};
    enum { NAME_COUNT = sizeof names / sizeof *names };
    const char *given = options->format ? options->format : "";
    *format = tw_frame_format_of(given);
    if (*format) return TW_OK;

    const char *nearest = tw_nearest_name(given, names, NAME_COUNT);
    if (nearest)
        return tw_fail(error, TW_BAD_INPUT, "there is no format '%s', did you mean %s?", given,
                       nearest);
    return tw_fail(error, TW_BAD_INPUT,
                   "there is no format '%s', it must be one of vtu, ply, obj, pc2, csv", given);
}

/* The place to write to: the directory that is asked for, or else that of the run, which
 * is locked. */
static tw_status open_target(conversion *c, tw_error *error)
{
    const char *to = c->options->directory;
    if (to) {
        TW_TRY(tw_file_expect_directory(to, error));
        TW_TRY(tw_parents_make(&c->parents, to, error));
        c->made_target = mkdir(to, 0777) == 0;
        if (c->made_target || errno == EEXIST) return TW_OK;
        return tw_fail(error, TW_INPUT_OUTPUT, "%s: cannot be made: %s", to, strerror(errno));
    }

    if (c->format == c->playback->format)
        return tw_fail(error, TW_BAD_INPUT, "%s: its frames are %s already", c->directory,
                       c->options->format);
    return tw_run_lock(c->directory, &c->lock, error);
}

/* Enters what will be written in the manifest of the directory, after a look whether a file of that
 * name is somebody else's. */
static tw_status claim_files(const conversion *c, const char *directory, const char *folder,
                             tw_error *error)
{
    tw_manifest manifest;
    tw_text names = {0};
    TW_TRY(tw_manifest_read(directory, &manifest, error));
    tw_frames_list(c->frames, folder, &names);
    tw_status status = names.failed ? tw_fail_plain(error, TW_OUT_OF_MEMORY) : TW_OK;
    if (status == TW_OK) status = tw_manifest_claim(directory, &manifest, &names, error);
    tw_text_free(&names);
    tw_manifest_free(&manifest);
    return status;
}

static tw_status begin(conversion *c, tw_error *error)
{
    TW_TRY(open_target(c, error));

    tw_playback *p = c->playback;
    tw_status status =
        tw_frames_create(c->format, p->simulation, p->fps, p->frame_count, &c->frames, error);

    /* The user asked for a format that cannot show the simulation. */
    if (status == TW_UNSUPPORTED) {
        status = TW_BAD_INPUT;
        if (error) error->status = status;
    }
    if (status != TW_OK) return status;
    tw_frames_set_y_up(c->frames, tw_run_y_is_up(p->scene));

    const char *directory = c->options->directory ? c->options->directory : c->directory;
    const char *folder = c->options->directory ? NULL : TW_RUN_FRAME_FOLDER;
    TW_TRY(claim_files(c, directory, folder, error));
    return tw_frames_begin(c->frames, directory, folder, 0, error);
}

static tw_status convert(conversion *c, tw_error *error)
{
    tw_playback *p = c->playback;
    tw_table table = p->table;
    c->rows = TW_NEW_ARRAY(table.row_count * table.column_count, double);
    if (!c->rows) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    table.values = c->rows;

    /* One frame after the other: read, write, tell. */
    for (int64_t i = 0; i < p->frame_count; i++) {
        tw_frame frame = {.index = i, .table = &table};
        TW_TRY(tw_playback_read(p, i, &frame.t, c->rows, error));
        TW_TRY(tw_frames_write(c->frames, &frame, error));
        if (c->options->progress) c->options->progress(c->options->context, i + 1, p->frame_count);
    }
    return tw_frames_flush(c->frames, p->frame_count, error);
}

static void fill_report(const conversion *c, tw_export_report *report)
{
    /* ParaView opens the index of a series, other programs the files in the folder. */
    const char *to = c->options->directory;
    report->frames = c->playback->frame_count;
    if (c->format == TW_FRAMES_VTU)
        snprintf(report->path, sizeof report->path, "%s/frames.pvd", to ? to : c->directory);
    else if (to)
        snprintf(report->path, sizeof report->path, "%s", to);
    else
        snprintf(report->path, sizeof report->path, "%s/" TW_RUN_FRAME_FOLDER, c->directory);
}

tw_status tw_run_export(const char *directory, const tw_export_options *options,
                        tw_export_report *report, tw_error *error)
{
    if (!directory) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    if (report) *report = (tw_export_report){0};
    tw_export_options defaults = tw_export_options_default();
    if (!options) options = &defaults;

    conversion c = {.directory = directory, .options = options, .lock = -1};
    TW_TRY(read_format(options, &c.format, error));
    tw_status status = tw_playback_open(directory, &c.playback, error);
    if (status == TW_OK) status = begin(&c, error);
    if (status == TW_OK) status = convert(&c, error);
    if (status == TW_OK && report) fill_report(&c, report);

    /* A failure leaves no empty directories. */
    if (status != TW_OK) {
        if (c.made_target) rmdir(options->directory);
        tw_parents_remove(&c.parents);
    }
    tw_frames_free(c.frames);
    tw_playback_free(c.playback);
    tw_release(c.rows);
    if (c.lock >= 0) close(c.lock);
    return status;
}
