/* The report: one HTML file with the page, frames, charts and the record of a run inside.
 *
 * Frames are decimated. Positions are 16-bit shares of the box that holds the whole run, fields
 * shares of their range; each frame is stored as its difference to the one before, and all of it is
 * deflated. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "view.h"
#include "view_geometry.h"
#include "view_json.h"
#include "view_page.h"
#include "view_rows.h"
#include "view_series.h"

enum {
    MOST_FRAMES = 240,
    MOST_BYTES = 24 << 20 /* of all frames before they are deflated */
};

/* Every report has it near its begin. */
static const char title[] = "<title>Twang report</title>";

typedef struct report {
    const char *directory;
    tw_playback *playback;
    tw_simulation *simulation; /* a second one, of our own */
    view_series series;
    char *record; /* run.json; NULL: there is none */
    view_shape shape;
    const char *fields[VIEW_FIELDS];
    int64_t frames;  /* in the report */
    double *times;   /* of the frames */
    float *values;   /* positions and fields, frame after frame */
    double lower[3]; /* of the box that holds the run */
    double upper[3];
    double field_lower[VIEW_FIELDS];
    double field_upper[VIEW_FIELDS];
    view_text packed; /* deflated frames */
} report;

static size_t values_per_frame(const report *r)
{
    return (size_t)r->shape.particles * (3 + (size_t)r->shape.fields);
}

/* ---- reading ---- */

/* Reads run.json. The page cannot be made of a damaged one. */
static tw_status read_record(report *r, tw_error *error)
{
    r->record = view_read_file(r->directory, "run.json");
    int line = 0;
    if (!r->record || view_json_is_object(r->record, &line)) return TW_OK;

    snprintf(error->text, sizeof error->text,
             "%s/run.json: is damaged, line %d is no JSON; resume the run, which writes it again",
             r->directory, line);
    return TW_BAD_INPUT;
}

static tw_status open_run(report *r, tw_error *error)
{
    tw_status status = tw_playback_open(r->directory, &r->playback, error);
    if (status != TW_OK) return status;
    status = tw_scene_build(tw_playback_scene(r->playback), &r->simulation, error);
    if (status != TW_OK) return status;
    status = read_record(r, error);
    if (status != TW_OK) return status;
    status = view_series_read(&r->series, r->directory, r->simulation, error);
    if (status != TW_OK) return status;

    r->shape = (view_shape){.lanes = 1,
                            .fields = view_rows_fields(r->simulation, r->fields),
                            .particles = tw_simulation_row_count(r->simulation)};
    int64_t fitting = MOST_BYTES / (int64_t)(2 * values_per_frame(r) + 1);
    int64_t all = tw_playback_frame_count(r->playback);
    r->frames = all < MOST_FRAMES ? all : MOST_FRAMES;
    if (r->frames > fitting) r->frames = fitting < 2 ? (all < 2 ? all : 2) : fitting;

    r->times = calloc((size_t)r->frames, sizeof *r->times);
    r->values = calloc((size_t)r->frames * values_per_frame(r), sizeof *r->values);
    return r->times && r->values ? TW_OK : TW_OUT_OF_MEMORY;
}

/* Reads the frames that are kept: evenly spaced, with the first and the last. */
static tw_status read_frames(report *r, tw_error *error)
{
    int columns = tw_simulation_column_count(r->simulation);
    int64_t all = tw_playback_frame_count(r->playback);
    double *rows = calloc((size_t)(r->shape.particles * columns) + 1, sizeof *rows);
    if (!rows) return TW_OUT_OF_MEMORY;

    tw_status status = TW_OK;
    for (int64_t i = 0; i < r->frames && status == TW_OK; i++) {
        int64_t index = r->frames > 1 ? i * (all - 1) / (r->frames - 1) : 0;
        status = tw_playback_read(r->playback, index, &r->times[i], rows, error);
        float *values = r->values + (size_t)i * values_per_frame(r);
        view_frame frame = {.positions = values, .fields = values + 3 * r->shape.particles};
        if (status == TW_OK) view_rows_write(rows, columns, 0, &r->shape, &frame);
    }
    free(rows);
    return status;
}

static void include(double value, double *lower, double *upper)
{
    if (!isfinite(value)) return;
    *lower = fmin(*lower, value);
    *upper = fmax(*upper, value);
}

static void find_ranges(report *r)
{
    int64_t n = r->shape.particles;
    for (int k = 0; k < 3; k++) r->lower[k] = INFINITY;
    for (int k = 0; k < 3; k++) r->upper[k] = -INFINITY;
    for (int f = 0; f < r->shape.fields; f++) r->field_lower[f] = INFINITY;
    for (int f = 0; f < r->shape.fields; f++) r->field_upper[f] = -INFINITY;

    for (int64_t i = 0; i < r->frames; i++) {
        const float *x = r->values + (size_t)i * values_per_frame(r);
        for (int64_t j = 0; j < 3 * n; j++) include(x[j], &r->lower[j % 3], &r->upper[j % 3]);
        for (int f = 0; f < r->shape.fields; f++)
            for (int64_t j = 0; j < n; j++)
                include(x[(3 + f) * n + j], &r->field_lower[f], &r->field_upper[f]);
    }
}

/* ---- packing ---- */

static uint16_t share(double value, double lower, double upper)
{
    if (!(upper > lower)) return 0;
    return (uint16_t)lround(65535.0 * fmin(1.0, fmax(0.0, (value - lower) / (upper - lower))));
}

/* One frame as shares. */
static void quantise(const report *r, int64_t index, uint16_t *out)
{
    int64_t n = r->shape.particles;
    const float *x = r->values + (size_t)index * values_per_frame(r);
    for (int64_t j = 0; j < 3 * n; j++) out[j] = share(x[j], r->lower[j % 3], r->upper[j % 3]);
    for (int f = 0; f < r->shape.fields; f++)
        for (int64_t j = 0; j < n; j++)
            out[(3 + f) * n + j] = share(x[(3 + f) * n + j], r->field_lower[f], r->field_upper[f]);
}

static tw_status deflate_all(report *r, const uint16_t *shares, size_t count)
{
    uLongf size = compressBound((uLong)(count * sizeof *shares));
    unsigned char *bytes = malloc(size);
    if (!bytes) return TW_OUT_OF_MEMORY;
    int result = compress2(bytes, &size, (const Bytef *)shares, (uLong)(count * sizeof *shares), 6);
    if (result == Z_OK) view_text_bytes(&r->packed, bytes, size);
    free(bytes);
    return result == Z_OK && !r->packed.failed ? TW_OK : TW_OUT_OF_MEMORY;
}

static tw_status pack(report *r)
{
    size_t size = values_per_frame(r);
    size_t count = (size_t)r->frames * size;
    uint16_t *shares = calloc(count + 1, sizeof *shares);
    if (!shares) return TW_OUT_OF_MEMORY;
    for (int64_t i = 0; i < r->frames; i++) quantise(r, i, shares + (size_t)i * size);

    /* Differences, from the end on; they wrap around. */
    for (size_t i = count; i-- > size;) shares[i] = (uint16_t)(shares[i] - shares[i - size]);
    tw_status status = deflate_all(r, shares, count);
    free(shares);
    return status;
}

/* ---- writing ---- */

static void add_list(view_text *text, const char *name, int64_t count, const double *values)
{
    view_text_add(text, ",\"%s\":[", name);
    for (int64_t i = 0; i < count; i++) {
        if (i > 0) view_text_add(text, ",");
        view_text_number(text, values[i]);
    }
    view_text_add(text, "]");
}

static void add_state(const report *r, view_text *text)
{
    const tw_scene *scene = tw_playback_scene(r->playback);
    tw_integrator_options options = tw_scene_integrator_options(scene);
    view_text_add(text, "\"state\":{\"mode\":\"report\",\"scene\":");
    view_text_string(text, tw_scene_name(scene));
    view_text_add(text, ",\"paused\":false,\"speed\":1,\"duration\":");
    view_text_number(text, tw_scene_duration(scene));
    view_text_add(text, ",\"stiffness\":1,\"damping\":-1,\"pulled\":-1,\"message\":\"\"");
    view_text_add(text, ",\"integrators\":[],\"lanes\":[{\"integrator\":\"%s\",\"step\":%.9g,",
                  tw_scheme_name(options.scheme), options.step);
    view_text_add(text, "\"tolerance\":%.9g,\"failure\":null}],\"telemetry\":[",
                  options.relative_tolerance);
    for (int i = 0; i < VIEW_TELEMETRY_COUNT; i++)
        view_text_add(text, "%s\"%s\"", i ? "," : "", view_telemetry_names[i]);
    view_text_add(text, "],\"version\":\"%s\",\"fields\":[", TW_VERSION);
    for (int f = 0; f < r->shape.fields; f++) {
        if (f > 0) view_text_add(text, ",");
        view_text_string(text, r->fields[f]);
    }
    view_text_add(text, "]}");
}

/* run.json as it is, but for what could end the script element. */
static void add_record(const report *r, view_text *text)
{
    view_text_add(text, ",\"run\":");
    for (const char *c = r->record ? r->record : "{}"; *c; c++) {
        if (*c == '<')
            view_text_add(text, "\\u003c");
        else
            view_text_bytes(text, c, 1);
    }
}

static tw_status add_geometry(report *r, view_text *text)
{
    int columns = tw_simulation_column_count(r->simulation);
    int64_t *free_at = calloc((size_t)r->shape.particles + 1, sizeof *free_at);
    double *rest = calloc((size_t)(r->shape.particles * columns) + 1, sizeof *rest);
    view_text geometry = {0};
    tw_status status = free_at && rest ? TW_OK : TW_OUT_OF_MEMORY;
    if (status == TW_OK) status = view_rows_free(r->simulation, rest, free_at);
    if (status == TW_OK &&
        !view_geometry_write(r->simulation, free_at, rest, &r->series, &geometry))
        status = TW_OUT_OF_MEMORY;

    view_text_add(text, ",\"geometry\":\"");
    if (status == TW_OK) view_text_base64(text, geometry.bytes, geometry.size);
    view_text_add(text, "\"");
    view_text_free(&geometry);
    free(free_at);
    free(rest);
    return status;
}

static tw_status add_data(report *r, view_text *text)
{
    view_text_add(text, "{");
    add_state(r, text);
    tw_status status = add_geometry(r, text);
    view_text_add(text, ",\"particles\":%lld", (long long)r->shape.particles);
    add_list(text, "times", r->frames, r->times);
    add_list(text, "lower", 3, r->lower);
    add_list(text, "upper", 3, r->upper);
    add_list(text, "field_lower", r->shape.fields, r->field_lower);
    add_list(text, "field_upper", r->shape.fields, r->field_upper);
    add_record(r, text);
    view_text_add(text, ",\"frames\":\"");
    view_text_base64(text, r->packed.bytes, r->packed.size);
    view_text_add(text, "\"}");
    return status;
}

/* A file of the page, inflated. */
static tw_status add_page_file(view_text *text, const char *path)
{
    const view_page_file *file = view_page_find(path);
    if (!file) return TW_INTERNAL;
    unsigned char *plain = malloc(file->inflated + 1);
    if (!plain) return TW_OUT_OF_MEMORY;

    const int gzip = 15 + 16; /* the largest window, in the format of gzip */
    z_stream stream = {.next_in = (Bytef *)file->bytes, .avail_in = (uInt)file->size};
    stream.next_out = plain;
    stream.avail_out = (uInt)file->inflated;
    bool good = inflateInit2(&stream, gzip) == Z_OK && inflate(&stream, Z_FINISH) == Z_STREAM_END;
    inflateEnd(&stream);
    if (good) view_text_bytes(text, plain, file->inflated);
    free(plain);
    return good ? TW_OK : TW_INTERNAL;
}

static tw_status compose(report *r, view_text *text)
{
    static const char head[] =
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:\">\n";
    view_text_add(text, "%s%s\n<style>", head, title);
    tw_status status = add_page_file(text, "/page.css");
    view_text_add(text, "</style>\n</head>\n<body>\n<div id=\"page\"></div>\n"
                        "<script type=\"application/json\" id=\"twang-report\">");
    if (status == TW_OK) status = add_data(r, text);
    view_text_add(text, "</script>\n<script>");
    if (status == TW_OK) status = add_page_file(text, "/page.js");
    view_text_add(text, "</script>\n</body>\n</html>\n");
    return status == TW_OK && text->failed ? TW_OUT_OF_MEMORY : status;
}

/* Whether the file at `path` is a report, or empty, or not there: others are not replaced. */
static bool may_replace(const char *path)
{
    char begin[1024] = "";
    struct stat about;
    if (lstat(path, &about) != 0) return true;
    FILE *file = view_open_file(path);
    if (!file) return false;
    size_t size = fread(begin, 1, sizeof begin - 1, file);
    fclose(file);
    return size == 0 || strstr(begin, title) != NULL;
}

/* The file is whole, or it is not there. */
static tw_status save(const view_text *text, const char *path, tw_error *error)
{
    if (!may_replace(path)) {
        snprintf(error->text, sizeof error->text,
                 "%s: is there already and is no report, name another file by -o", path);
        return TW_BAD_INPUT;
    }

    /* A link that somebody put in place of the half file is not written through. */
    char part[4096];
    int length = snprintf(part, sizeof part, "%s.part", path);
    bool fits = length > 0 && (size_t)length < sizeof part;
    if (fits) remove(part);
    FILE *file = fits ? fopen(part, "wbx") : NULL;
    bool good = file && fwrite(text->bytes, 1, text->size, file) == text->size;
    if (file) good = fclose(file) == 0 && good;
    if (good) good = rename(part, path) == 0;
    if (good) return TW_OK;
    if (file) remove(part);
    snprintf(error->text, sizeof error->text, "%s: cannot be written", path);
    return TW_INPUT_OUTPUT;
}

tw_status view_report(const char *directory, const char *path, view_report_summary *summary,
                      tw_error *error)
{
    report r = {.directory = directory};
    view_text text = {0};
    tw_status status = open_run(&r, error);
    if (status == TW_OK) status = read_frames(&r, error);
    if (status == TW_OK) {
        find_ranges(&r);
        status = pack(&r);
    }
    if (status == TW_OK) status = compose(&r, &text);
    if (status == TW_OK) status = save(&text, path, error);
    if (status == TW_OK) {
        summary->frames = r.frames;
        summary->of = tw_playback_frame_count(r.playback);
        summary->bytes = (long long)text.size;
    }
    if (status != TW_OK) {
        error->status = status;
        if (!error->text[0])
            snprintf(error->text, sizeof error->text, "%s: %s", directory, tw_status_text(status));
    }

    view_text_free(&text);
    view_text_free(&r.packed);
    view_series_free(&r.series);
    tw_simulation_free(r.simulation);
    tw_playback_free(r.playback);
    free(r.record);
    free(r.times);
    free(r.values);
    return status;
}
