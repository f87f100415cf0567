/* Frames of all formats: their life, writing them, flushing them, removing them. */
#define _GNU_SOURCE /* sync_file_range */
#include "io/frames.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/own_file.h"
#include "io/frames_internal.h"

tw_table tw_table_of(const tw_simulation *simulation, const double *values)
{
    tw_table table = {.row_count = tw_simulation_row_count(simulation),
                      .column_count = tw_simulation_column_count(simulation),
                      .values = values};
    for (int c = 0; c < table.column_count; c++)
        table.columns[c] = tw_simulation_column(simulation, c);
    return table;
}

/* ---- the formats ---- */

static void frame_to_csv(tw_frames *frames, const tw_frame *frame, tw_text *out)
{
    (void)frames;
    tw_table_to_csv(frame->table, out);
}

static const struct {
    unsigned format;
    const char *name; /* in the scene file; the suffix of its files too */
    /* NULL for a format that does not have a file per frame */
    void (*write)(tw_frames *frames, const tw_frame *frame, tw_text *out);
} formats[] = {{TW_FRAMES_CSV, "csv", frame_to_csv},
               {TW_FRAMES_VTU, "vtu", tw_frame_to_vtu},
               {TW_FRAMES_PLY, "ply", tw_frame_to_ply},
               {TW_FRAMES_OBJ, "obj", tw_frame_to_obj},
               {TW_FRAMES_PC2, "pc2", NULL}};
enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

/* Whether frames of format number i are written to a file each. */
static bool has_file_per_frame(const tw_frames *frames, int i)
{
    return (frames->formats & formats[i].format) && formats[i].write;
}

unsigned tw_frame_format_of(const char *name)
{
    for (int i = 0; i < FORMAT_COUNT; i++)
        if (name && strcmp(formats[i].name, name) == 0) return formats[i].format;
    return 0;
}

static const char *suffix_of(unsigned format)
{
    for (int i = 0; i < FORMAT_COUNT; i++)
        if (formats[i].format == format) return formats[i].name;
    return "";
}

void tw_frame_name(char name[64], unsigned format, int64_t index)
{
    snprintf(name, 64, "frame_%06lld.%s", (long long)index, suffix_of(format));
}

/* ---- life ---- */

/* Prepares what stays the same in all frames. */
static tw_status prepare(tw_frames *frames)
{
    /* The formats that show shapes. */
    if (frames->formats & (TW_FRAMES_PLY | TW_FRAMES_OBJ | TW_FRAMES_PC2)) {
        TW_TRY(tw_shapes_create(frames->simulation, &frames->shapes));
        frames->positions = TW_NEW_ARRAY(3 * frames->shapes.vertex_count, double);
        if (!frames->positions) return TW_OUT_OF_MEMORY;
    }

    if (frames->formats & TW_FRAMES_VTU) return tw_vtu_prepare(frames);
    return TW_OK;
}

/* Only csv can hold a state that has no bodies. */
static tw_status check_formats(unsigned set, const tw_simulation *simulation, tw_error *error)
{
    bool has_bodies = tw_simulation_column_count(simulation) >= 6;
    for (int i = 0; i < FORMAT_COUNT; i++)
        if (!has_bodies && (set & formats[i].format) && formats[i].format != TW_FRAMES_CSV)
            return tw_fail(error, TW_UNSUPPORTED,
                           "%s shows bodies, and a system of equations has none: use csv",
                           formats[i].name);
    return TW_OK;
}

tw_status tw_frames_create(unsigned set, const tw_simulation *simulation, double fps, int64_t count,
                           tw_frames **out, tw_error *error)
{
    *out = NULL;
    TW_TRY(check_formats(set, simulation, error));
    tw_frames *frames = TW_NEW(tw_frames);
    if (!frames) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* What was prepared is released if something fails. */
    frames->formats = set;
    frames->simulation = simulation;
    frames->fps = fps;
    frames->count = count;
    tw_status status = prepare(frames);
    if (status != TW_OK) {
        tw_frames_free(frames);
        return tw_fail_plain(error, status);
    }

    *out = frames;
    return TW_OK;
}

void tw_frames_free(tw_frames *frames)
{
    if (!frames) return;
    tw_pc2_close(frames);
    tw_shapes_free(&frames->shapes);
    tw_vtu_release(frames);
    tw_text_free(&frames->scratch);
    tw_text_free(&frames->payload);
    tw_release(frames->positions);
    tw_release(frames);
}

/* Sets directory, folder and prefix. Without a folder all files go into the directory itself. */
static tw_status set_places(tw_frames *frames, const char *directory, const char *folder,
                            tw_error *error)
{
    const char *inside = folder ? folder : ".";
    TW_TRY(tw_file_path(frames->folder, directory, inside, error));
    snprintf(frames->directory, sizeof frames->directory, "%s", directory);

    /* The index refers to the frames by the prefix and their names. */
    frames->prefix[0] = '\0';
    if (folder)
        snprintf(frames->prefix, sizeof frames->prefix, "%s/", folder);
    else
        snprintf(frames->folder, sizeof frames->folder, "%s", directory);

    return TW_OK;
}

tw_status tw_frames_begin(tw_frames *frames, const char *directory, const char *folder,
                          int64_t keep, tw_error *error)
{
    TW_TRY(set_places(frames, directory, folder, error));
    frames->flushed = keep;
    if (!frames->formats) return TW_OK;
    if (mkdir(frames->folder, 0777) != 0 && errno != EEXIST)
        return tw_fail(error, TW_INPUT_OUTPUT, "%s: cannot be made: %s", frames->folder,
                       strerror(errno));

    if (folder) TW_TRY(tw_file_refuse_link(frames->folder, error));

    /* Remove the frames from `keep` on. The growing files are cut when they are opened. */
    tw_frame_range later = {frames->formats & ~(unsigned)TW_FRAMES_PC2, keep, frames->count};
    TW_TRY(tw_frames_cut(frames->folder, later, error));
    if (frames->formats & TW_FRAMES_PC2) return tw_pc2_begin(frames, keep, error);
    return TW_OK;
}

/* ---- writing ---- */

/* Asks the system to begin to bring a file to the disk, without waiting for it. Then the next
 * checkpoint, which flushes all frames, has little left to wait for. */
static void begin_flush(FILE *file)
{
#ifdef SYNC_FILE_RANGE_WRITE
    if (fflush(file) == 0) (void)sync_file_range(fileno(file), 0, 0, SYNC_FILE_RANGE_WRITE);
#else
    (void)file;
#endif
}

/* Writes a file without flushing it. A checkpoint flushes; frames after the last checkpoint are
 * written again by a resumed run. */
static tw_status write_file(const char *path, const tw_text *text, tw_error *error)
{
    int descriptor = -1;
    TW_TRY(tw_own_file_open(path, O_WRONLY | O_CREAT | O_TRUNC, "written", &descriptor, error));
    FILE *file = fdopen(descriptor, "wb");
    if (!file) {
        int reason = errno;
        close(descriptor);
        return tw_fail(error, TW_INPUT_OUTPUT, "%s: cannot be written: %s", path, strerror(reason));
    }

    /* Closing may fail too, and may overwrite the reason of an earlier failure. */
    bool good = fwrite(text->bytes, 1, text->size, file) == text->size;
    int reason = errno;
    begin_flush(file);
    if (fclose(file) != 0 && good) {
        good = false;
        reason = errno;
    }

    if (good) return TW_OK;
    return tw_fail(error, TW_INPUT_OUTPUT, "%s: cannot be written: %s", path, strerror(reason));
}

static tw_status frame_path(const tw_frames *frames, unsigned format, int64_t index,
                            char path[TW_FILE_PATH_SIZE], tw_error *error)
{
    char name[64];
    tw_frame_name(name, format, index);
    return tw_file_path(path, frames->folder, name, error);
}

void tw_frames_set_y_up(tw_frames *frames, bool y_is_up)
{
    frames->y_is_up = y_is_up;
}

/* (x, y, z) becomes (x, z, -y): what was z points along y. */
static void lower_z(int64_t count, double *positions)
{
    for (int64_t i = 0; i < count; i++) {
        double *x = positions + 3 * i;
        double y = x[1];
        x[1] = x[2];
        x[2] = -y;
    }
}

tw_status tw_frames_write(tw_frames *frames, const tw_frame *frame, tw_error *error)
{
    /* The formats that show shapes share the positions of their vertices. */
    if (frames->positions)
        tw_shapes_place(&frames->shapes, frame->table->values, frame->table->column_count,
                        frames->positions);
    if (frames->positions && frames->y_is_up)
        lower_z(frames->shapes.vertex_count, frames->positions);

    for (int i = 0; i < FORMAT_COUNT; i++) {
        if (!has_file_per_frame(frames, i)) continue;
        char path[TW_FILE_PATH_SIZE];
        TW_TRY(frame_path(frames, formats[i].format, frame->index, path, error));
        tw_text_clear(&frames->scratch);
        formats[i].write(frames, frame, &frames->scratch);
        if (frames->scratch.failed) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
        TW_TRY(write_file(path, &frames->scratch, error));
    }

    if (frames->formats & TW_FRAMES_PC2) return tw_pc2_write(frames, frame, error);
    return TW_OK;
}

/* ---- flushing ---- */

/* Flushes the files of one format that are not on the disk yet. */
static tw_status flush_files(tw_frames *frames, unsigned format, int64_t count, tw_error *error)
{
    for (int64_t i = frames->flushed; i < count; i++) {
        char path[TW_FILE_PATH_SIZE];
        TW_TRY(frame_path(frames, format, i, path, error));
        TW_TRY(tw_file_flush(path, error));
    }
    return TW_OK;
}

tw_status tw_frames_flush(tw_frames *frames, int64_t count, tw_error *error)
{
    if (!frames->formats) return TW_OK;

    /* First the frames and their folder, then what refers to them. */
    for (int i = 0; i < FORMAT_COUNT; i++)
        if (has_file_per_frame(frames, i))
            TW_TRY(flush_files(frames, formats[i].format, count, error));
    TW_TRY(tw_file_flush(frames->folder, error));

    if (frames->formats & TW_FRAMES_PC2) TW_TRY(tw_pc2_flush(frames, count, error));
    if (frames->formats & TW_FRAMES_VTU) TW_TRY(tw_vtu_write_index(frames, count, error));
    frames->flushed = count;
    return TW_OK;
}

bool tw_frames_find_missing(const tw_frames *frames, char path[TW_FILE_PATH_SIZE])
{
    for (int i = 0; i < FORMAT_COUNT; i++) {
        if (!has_file_per_frame(frames, i)) continue;
        for (int64_t index = 0; index < frames->flushed; index++) {
            bool has_path = frame_path(frames, formats[i].format, index, path, NULL) == TW_OK;
            if (has_path && !tw_file_exists(path)) return true;
        }
    }

    bool has_caches = (frames->formats & TW_FRAMES_PC2) && frames->flushed > 0;
    return has_caches && tw_pc2_find_missing(frames, path);
}

/* ---- removing ---- */

/* Whether a name such as "frame_000012.csv" belongs to the range. Names that a writer would spell
 * in another way ("frame_12.csv") do not. */
static bool is_in_range(const char *name, tw_frame_range range)
{
    if (strncmp(name, "frame_", 6) != 0 || name[6] < '0' || name[6] > '9') return false;
    char *end = NULL;
    long long index = strtoll(name + 6, &end, 10);
    if (*end != '.' || index < range.first || index >= range.end) return false;

    char ours[64];
    unsigned format = tw_frame_format_of(end + 1);
    tw_frame_name(ours, format, index);
    return (range.formats & format) && strcmp(name, ours) == 0;
}

static tw_status remove_in(const char *folder, const char *name, tw_error *error)
{
    char path[TW_FILE_PATH_SIZE];
    TW_TRY(tw_file_path(path, folder, name, error));
    return tw_file_is_special(path) ? TW_OK : tw_file_remove(path, error);
}

static tw_status expect_regular_in(const char *folder, const char *name, tw_error *error)
{
    char path[TW_FILE_PATH_SIZE];
    TW_TRY(tw_file_path(path, folder, name, error));
    return tw_file_expect_regular(path, error);
}

void tw_frames_list(const tw_frames *frames, const char *folder, tw_text *lines)
{
    const char *inside = folder ? folder : "";
    const char *slash = folder ? "/" : "";
    for (int i = 0; i < FORMAT_COUNT; i++)
        if (has_file_per_frame(frames, i))
            tw_text_add(lines, "%s%sframe_*.%s %lld\n", inside, slash, formats[i].name,
                        (long long)frames->count);
    if (frames->formats & TW_FRAMES_VTU) tw_text_add(lines, "frames.pvd\n");
    if (!(frames->formats & TW_FRAMES_PC2)) return;

    for (int i = 0; i < frames->shapes.count; i++) {
        const char *name = frames->shapes.list[i].name;
        tw_text_add(lines, "%s%s%s.pc2\n%s%s%s.obj\n", inside, slash, name, inside, slash, name);
    }
}

bool tw_frames_exist(const char *folder, tw_frame_range range)
{
    DIR *directory = opendir(folder);
    if (!directory) return false;
    bool found = false;
    for (struct dirent *entry; !found && (entry = readdir(directory));)
        found = is_in_range(entry->d_name, range);
    closedir(directory);
    return found;
}

/* Does something to every frame of the range that is in the folder. */
static tw_status for_each_in(const char *folder, tw_frame_range range,
                             tw_status (*act)(const char *folder, const char *name,
                                              tw_error *error),
                             tw_error *error)
{
    /* A folder that is missing holds nothing. */
    DIR *directory = opendir(folder);
    if (!directory && errno == ENOENT) return TW_OK;
    if (!directory) return tw_fail(error, TW_INPUT_OUTPUT, "%s: %s", folder, strerror(errno));

    tw_status status = TW_OK;
    for (struct dirent *entry; status == TW_OK && (entry = readdir(directory));) {
        if (is_in_range(entry->d_name, range)) status = act(folder, entry->d_name, error);
    }

    closedir(directory);
    return status;
}

tw_status tw_frames_cut(const char *folder, tw_frame_range range, tw_error *error)
{
    return for_each_in(folder, range, remove_in, error);
}

tw_status tw_frames_expect_regular(const char *folder, tw_frame_range range, tw_error *error)
{
    return for_each_in(folder, range, expect_regular_in, error);
}
