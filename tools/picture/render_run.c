/* Pictures of a run: a sheet of some of its frames, or a picture per frame.
 *
 * usage: render_run DIR -o FILE.png [options]           a sheet
 *        render_run DIR -o FOLDER --every K [options]   a picture of every K-th frame */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "png_file.h"
#include "shading.h"

typedef struct settings {
    const char *directory, *output;
    int width, height; /* of one picture */
    int columns, rows; /* of a sheet */
    int every;         /* 0: a sheet */
    int samples, colour;
    float azimuth, elevation, radius, until;
    float at; /* share of the run at which a single picture is taken */
    bool labels;
    const char *times; /* of the frames on a sheet, with commas; NULL: evenly spread */
    char field[64];    /* column that gives bodies their colours; empty: none */
    double field_max;
} settings;

static const char usage[] =
    "usage: render_run DIR -o FILE.png|FOLDER [options]\n"
    "  --sheet CxR       frames on a sheet, evenly spread over the run (3x2)\n"
    "  --every K         instead of a sheet a picture of every K-th frame, into FOLDER\n"
    "  --size WxH        of each picture in pixels (480x400)\n"
    "  --samples N       rays per pixel (48)\n"
    "  --view A,E        azimuth and elevation of the camera in degrees (40,18)\n"
    "  --at S            of --sheet 1x1: when, as a share of the run (1)\n"
    "  --times T,T,...   instead of --sheet: the frames next to these times, in a row\n"
    "  --field NAME,MAX  colours bodies by a column such as plastic_strain, red at MAX\n"
    "  --until T         frames up to that time only, in seconds\n"
    "  --radius R        of lines that are thinner, in metres\n"
    "  --colour N        of the first body\n"
    "  --no-labels       without the times\n";

/* One number, or two around a separator. */
static bool read_numbers(const char *text, char separator, double *first, double *second)
{
    char *end = NULL;
    *first = strtod(text, &end);
    if (end == text || !second) return end != text && *end == '\0';
    if (*end != separator) return false;
    const char *rest = end + 1;
    *second = strtod(rest, &end);
    return end != rest && *end == '\0';
}

static bool read_pair(const char *text, int *first, int *second)
{
    double a = 0.0;
    double b = 0.0;
    if (!read_numbers(text, 'x', &a, &b) || !(fabs(a) < 1e6) || !(fabs(b) < 1e6)) return false;
    *first = (int)a;
    *second = (int)b;
    return true;
}

/* Options of one number: where it goes. */
static bool set_number(settings *s, const char *name, double value)
{
    if (strcmp(name, "--every") == 0)
        s->every = (int)value;
    else if (strcmp(name, "--samples") == 0)
        s->samples = (int)value;
    else if (strcmp(name, "--until") == 0)
        s->until = (float)value;
    else if (strcmp(name, "--at") == 0)
        s->at = (float)value;
    else if (strcmp(name, "--radius") == 0)
        s->radius = (float)value;
    else if (strcmp(name, "--colour") == 0)
        s->colour = (int)value;
    else
        return false;

    return true;
}

/* A picture per time. */
static bool read_times(settings *s, const char *text)
{
    s->times = text;
    s->rows = 1;
    s->columns = 1;
    for (const char *c = text; *c; c++) s->columns += *c == ',';
    return *text != '\0';
}

static bool read_field(settings *s, const char *text)
{
    const char *comma = strchr(text, ',');
    size_t size = comma ? (size_t)(comma - text) : sizeof s->field;
    if (size >= sizeof s->field) return false;
    memcpy(s->field, text, size);
    return read_numbers(comma + 1, ',', &s->field_max, NULL) && s->field_max > 0.0;
}

static bool read_option(settings *s, const char *name, const char *value)
{
    if (strcmp(name, "-o") == 0) {
        s->output = value;
        return true;
    }

    if (strcmp(name, "--times") == 0) return read_times(s, value);
    if (strcmp(name, "--field") == 0) return read_field(s, value);
    if (strcmp(name, "--sheet") == 0) return read_pair(value, &s->columns, &s->rows);
    if (strcmp(name, "--size") == 0) return read_pair(value, &s->width, &s->height);

    /* The view has two numbers, all other options one. */
    double a = 0.0;
    double b = 0.0;
    bool is_view = strcmp(name, "--view") == 0;
    if (!read_numbers(value, ',', &a, is_view ? &b : NULL) || !(fabs(a) < 1e6) || !(fabs(b) < 1e6))
        return false;
    if (!is_view) return set_number(s, name, a);
    s->azimuth = (float)a;
    s->elevation = (float)b;
    return true;
}

/* Whether all settings are in their ranges. */
static bool is_sensible(const settings *s)
{
    bool picture = s->width > 0 && s->height > 0 && s->width <= 8192 && s->height <= 8192;
    bool sheet = s->columns > 0 && s->rows > 0 && s->columns <= 32 && s->rows <= 32;
    bool share = s->at >= 0.0F && s->at <= 1.0F;
    return picture && sheet && share && s->samples > 0 && s->every >= 0 && s->colour >= 0;
}

static bool read_settings(int count, char **words, settings *s)
{
    *s = (settings){.width = 480,
                    .height = 400,
                    .columns = 3,
                    .rows = 2,
                    .samples = 48,
                    .azimuth = 40.0F,
                    .elevation = 18.0F,
                    .until = INFINITY,
                    .at = 1.0F,
                    .labels = true};

    /* The run, and options, most of which have a value behind them. */
    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "--no-labels") == 0)
            s->labels = false;
        else if (words[i][0] != '-' && !s->directory)
            s->directory = words[i];
        else if (i + 1 >= count || !read_option(s, words[i], words[i + 1]))
            return false;
        else
            i++;
    }

    return s->directory && s->output && is_sensible(s);
}

static bool out_of_memory(void)
{
    fprintf(stderr, "out of memory\n");
    return false;
}

/* ---- frames ---- */

typedef struct show {
    settings set;
    tw_playback *playback;
    solids bodies;
    int stride;
    double *rows;
    int64_t frame_count; /* of those to be shown */
    camera camera;
    studio studio;
} show;

/* Reads a frame and moves the bodies there. */
static bool place(show *s, int64_t index, double *t)
{
    tw_error error = {0};
    if (tw_playback_read(s->playback, index, t, s->rows, &error) != TW_OK) {
        fprintf(stderr, "%s\n", error.text);
        return false;
    }

    solids_place(&s->bodies, s->rows, s->stride);
    return true;
}

/* The frame next to the k-th of the times. */
static int64_t time_frame(const show *s, int k)
{
    const char *text = s->set.times;
    for (int comma = 0; comma < k; comma++) text = strchr(text, ',') + 1;
    double fps = tw_scene_fps(tw_playback_scene(s->playback));
    int64_t frame = (int64_t)(strtod(text, NULL) * fps + 0.5);
    return frame < s->frame_count ? frame : s->frame_count - 1;
}

/* The k-th of the frames on a sheet. */
static int64_t sheet_frame(const show *s, int k)
{
    if (s->set.times) return time_frame(s, k);
    int count = s->set.columns * s->set.rows;
    if (count == 1) return (int64_t)((float)(s->frame_count - 1) * s->set.at + 0.5F);
    return (s->frame_count - 1) * k / (count - 1);
}

/* What the frames look like together. */
typedef struct overview {
    int64_t count;
    vector3 *points;   /* vertices of some frames, thinned */
    vector3 low, high; /* corners of the box around the motion */
} overview;

/* Adds the vertices of the bodies where they are now; `each` of them as points. */
static void include_frame(const show *s, int64_t each, overview *all)
{
    const solids *b = &s->bodies;
    for (int64_t v = 0; v < b->vertex_count; v++) {
        all->low = lower(all->low, b->vertices[v]);
        all->high = upper(all->high, b->vertices[v]);
    }

    for (int64_t i = 0; i < each; i++)
        all->points[all->count++] = b->vertices[b->vertex_count * i / each];
}

/* Places camera, sun and ground so that the camera sees all of the motion. */
static void set_studio(show *s, const overview *all)
{
    /* Lines without a radius get one that is visible. */
    float size = length(subtract(all->high, all->low));
    solids_thicken(&s->bodies, s->set.radius);
    solids_set_radius(&s->bodies, 0.006F * size);

    /* Some room around the points. */
    const float margin = 1.16F;
    float aspect = (float)s->set.width / (float)s->set.height;
    s->camera =
        camera_around(all->count, all->points, s->set.azimuth, s->set.elevation, aspect, margin);

    /* The sun is above, behind the camera, to the left. The ground is a little below everything. */
    vector3 back = scale(s->camera.forward, -1.0F);
    vector3 sun = add(add(scale(back, 0.45F), scale(s->camera.right, -0.55F)), vec(0, 0, 1.5F));
    s->studio = (studio){.ground = all->low.z - 0.012F * size,
                         .size = size,
                         .sun = normalised(sun),
                         .first_colour = s->set.colour};
}

static bool look_around(show *s)
{
    enum { FRAMES = 24, POINTS = 4000 };
    int64_t each = s->bodies.vertex_count < POINTS ? s->bodies.vertex_count : POINTS;
    overview all = {.points = calloc((size_t)(FRAMES * each), sizeof *all.points),
                    .low = vec(INFINITY, INFINITY, INFINITY),
                    .high = vec(-INFINITY, -INFINITY, -INFINITY)};
    bool good = all.points != NULL;

    /* Frames evenly spread over the run. */
    for (int f = 0; good && f < FRAMES; f++) {
        good = place(s, (s->frame_count - 1) * f / (FRAMES - 1), NULL);
        if (good) include_frame(s, each, &all);
    }

    good = good && all.count > 0;
    if (good) set_studio(s, &all);
    free(all.points);
    return good;
}

/* ---- pictures ---- */

/* Takes the picture of a frame. `pixels` is its upper left corner in a
 * picture of `row_bytes` per row. */
static bool take(show *s, int64_t index, unsigned char *pixels, int row_bytes, double *t)
{
    if (!place(s, index, t)) return false;
    ray_tree *tree = ray_tree_create(&s->bodies);
    if (!tree) return out_of_memory();

    s->studio.tree = tree;
    studio_take(&s->studio, &s->camera, s->set.width, s->set.height, s->set.samples, pixels,
                row_bytes);
    ray_tree_free(tree);

    return true;
}

static bool save(const char *path, int width, int height, const unsigned char *pixels)
{
    if (png_write(path, width, height, pixels)) return true;
    fprintf(stderr, "%s: cannot be written: %s\n", path, strerror(errno));
    return false;
}

/* Writes the time into the lower left corner of the picture at (x, y). */
static void label(const show *s, double t, unsigned char *pixels, int width, int height, int x,
                  int y)
{
    if (!s->set.labels) return;

    /* Larger pictures get larger letters. */
    int dot = 1;
    if (s->set.height >= 300) dot = 2;
    if (s->set.height >= 700) dot = 3;
    char text[48];
    snprintf(text, sizeof text, "t = %.3g s", t);
    draw_text(pixels, width, height, x + 6 * dot, y + s->set.height - 12 * dot, dot, text);
}

static bool make_sheet(show *s)
{
    enum { GAP = 4 }; /* white pixels between pictures */
    int width = s->set.columns * (s->set.width + GAP) - GAP;
    int height = s->set.rows * (s->set.height + GAP) - GAP;
    unsigned char *pixels = malloc(3 * (size_t)width * (size_t)height);
    if (!pixels) return out_of_memory();
    memset(pixels, 255, 3 * (size_t)width * (size_t)height);

    bool good = true;
    for (int k = 0; good && k < s->set.columns * s->set.rows; k++) {
        int x = k % s->set.columns * (s->set.width + GAP);
        int y = k / s->set.columns * (s->set.height + GAP);
        unsigned char *corner = pixels + 3 * ((size_t)y * (size_t)width + (size_t)x);
        double t = 0.0;
        good = take(s, sheet_frame(s, k), corner, 3 * width, &t);
        label(s, t, pixels, width, height, x, y);
    }

    good = good && save(s->set.output, width, height, pixels);
    free(pixels);
    return good;
}

static bool make_series(show *s)
{
    unsigned char *pixels = malloc(3 * (size_t)s->set.width * (size_t)s->set.height);
    if (!pixels) return out_of_memory();

    bool good = mkdir(s->set.output, 0777) == 0 || errno == EEXIST;
    if (!good) fprintf(stderr, "%s: cannot be made: %s\n", s->set.output, strerror(errno));

    /* Pictures are numbered without gaps. */
    for (int64_t i = 0; good && i < s->frame_count; i += s->set.every) {
        char path[4200];
        double t = 0.0;
        snprintf(path, sizeof path, "%s/picture_%06lld.png", s->set.output,
                 (long long)(i / s->set.every));
        good = take(s, i, pixels, 3 * s->set.width, &t);
        label(s, t, pixels, s->set.width, s->set.height, 0, 0);
        good = good && save(path, s->set.width, s->set.height, pixels);
    }

    free(pixels);
    return good;
}

/* ---- the run ---- */

/* The number of frames up to the time asked for; at least one. The factor covers rounding. */
static int64_t frames_until(const show *s)
{
    double fps = tw_scene_fps(tw_playback_scene(s->playback));
    int64_t count = tw_playback_frame_count(s->playback);
    while (count > 1 && (double)(count - 1) > s->set.until * fps * 1.000001) count--;
    return count;
}

static bool open_run(show *s)
{
    tw_error error = {0};
    if (tw_playback_open(s->set.directory, &s->playback, &error) != TW_OK) {
        fprintf(stderr, "%s\n", error.text);
        return false;
    }

    const tw_simulation *simulation = tw_playback_simulation(s->playback);
    if (tw_simulation_display_count(simulation) == 0) {
        fprintf(stderr, "%s: there is nothing to be seen, it has no bodies\n", s->set.directory);
        return false;
    }

    /* Memory for one frame, and the bodies. */
    s->frame_count = frames_until(s);
    s->stride = tw_simulation_column_count(simulation);
    s->rows = calloc((size_t)(tw_simulation_row_count(simulation) * s->stride), sizeof *s->rows);
    if (!s->rows || !solids_create(simulation, &s->bodies)) return out_of_memory();
    if (!s->set.field[0] || solids_show(&s->bodies, s->set.field, s->set.field_max)) return true;
    fprintf(stderr, "%s: its frames have no column '%s'\n", s->set.directory, s->set.field);
    return false;
}

int main(int count, char **words)
{
    show s = {0};
    if (!read_settings(count, words, &s.set)) {
        fputs(usage, stderr);
        return 2;
    }

    bool good = open_run(&s) && look_around(&s);
    if (good) good = s.set.every > 0 ? make_series(&s) : make_sheet(&s);
    solids_free(&s.bodies);
    tw_playback_free(s.playback);
    free(s.rows);
    return good ? 0 : 1;
}
