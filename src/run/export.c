/* The frames of a run, converted afterwards. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/nearest_name.h"
#include "run/playback_internal.h"
#include "run/run_internal.h"

tw_export_options tw_export_options_default(void)
{
    return (tw_export_options){.format = "vtu"};
}

typedef struct conversion {
    const tw_export_options *options;
    tw_playback *playback;
    tw_frames *frames;
    double *rows;
    int lock;
} conversion;

static tw_status read_format(const tw_export_options *options, unsigned *format, tw_error *error)
{
    static const char *const names[] = {"vtu", "ply", "obj", "pc2", "csv"};
    const char *given = options->format ? options->format : "";
    *format = tw_frame_format_of(given);
    if (*format) return TW_OK;
    const char *nearest = tw_nearest_name(given, names, 5);
    if (nearest)
        return tw_fail(error, TW_BAD_INPUT, "there is no format '%s', did you mean %s?", given,
                       nearest);
    return tw_fail(error, TW_BAD_INPUT,
                   "there is no format '%s', it must be one of vtu, ply, obj, pc2, csv", given);
}

static tw_status begin(conversion *c, const char *directory, unsigned format, tw_error *error)
{
    tw_playback *p = c->playback;
    const char *to = c->options->directory;
    if (!to && format == p->format)
        return tw_fail(error, TW_BAD_INPUT, "%s: its frames are %s already", directory,
                       c->options->format);
    if (!to) {
        tw_status status = tw_run_lock(directory, &c->lock, error);
        if (status != TW_OK) return status;
    } else if (mkdir(to, 0777) != 0 && errno != EEXIST) {
        return tw_fail(error, TW_INPUT_OUTPUT, "%s: cannot be made: %s", to, strerror(errno));
    }
    tw_status status = tw_frames_create(format, p->simulation, p->fps, &c->frames, error);
    if (status == TW_UNSUPPORTED) {
        status = TW_BAD_INPUT;
        if (error) error->status = status;
    }
    if (status != TW_OK) return status;
    return tw_frames_begin(c->frames, to ? to : directory, to ? NULL : TW_RUN_FRAME_FOLDER, 0,
                           error);
}

static tw_status convert(conversion *c, tw_error *error)
{
    tw_playback *p = c->playback;
    tw_table table = p->table;
    c->rows = TW_NEW_ARRAY(table.row_count * table.column_count, double);
    if (!c->rows) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    table.values = c->rows;
    tw_status status = TW_OK;
    for (int64_t i = 0; i < p->frame_count && status == TW_OK; i++) {
        tw_frame frame = {.index = i, .table = &table};
        status = tw_playback_read(p, i, &frame.t, c->rows, error);
        if (status == TW_OK) status = tw_frames_write(c->frames, &frame, error);
        if (status == TW_OK && c->options->progress)
            c->options->progress(c->options->context, i + 1, p->frame_count);
    }
    return status == TW_OK ? tw_frames_flush(c->frames, p->frame_count, error) : status;
}

static void fill_report(const conversion *c, const char *directory, unsigned format,
                        tw_export_report *report)
{
    const char *to = c->options->directory;
    report->frames = c->playback->frame_count;
    if (format == TW_FRAMES_VTU)
        snprintf(report->path, sizeof report->path, "%s/frames.pvd", to ? to : directory);
    else if (to)
        snprintf(report->path, sizeof report->path, "%s", to);
    else
        snprintf(report->path, sizeof report->path, "%s/" TW_RUN_FRAME_FOLDER, directory);
}

tw_status tw_run_export(const char *directory, const tw_export_options *options,
                        tw_export_report *report, tw_error *error)
{
    if (!directory) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    tw_export_options defaults = tw_export_options_default();
    conversion c = {.options = options ? options : &defaults, .lock = -1};
    if (report) *report = (tw_export_report){0};
    unsigned format = 0;
    tw_status status = read_format(c.options, &format, error);
    if (status == TW_OK) status = tw_playback_open(directory, &c.playback, error);
    if (status == TW_OK) status = begin(&c, directory, format, error);
    if (status == TW_OK) status = convert(&c, error);
    if (status == TW_OK && report) fill_report(&c, directory, format, report);
    tw_frames_free(c.frames);
    tw_playback_free(c.playback);
    tw_release(c.rows);
    if (c.lock >= 0) close(c.lock);
    return status;
}
