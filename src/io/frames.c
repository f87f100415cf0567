#define _POSIX_C_SOURCE 200809L
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

static void frame_to_csv(tw_frames *frames, const tw_frame *frame, tw_text *out)
{
    (void)frames;
    tw_table_to_csv(frame->table, out);
}

/* `write` is NULL for a format that does not have a file per frame. */
static const struct {
    unsigned format;
    const char *name; /* in the scene file, and the suffix of its files */
    void (*write)(tw_frames *frames, const tw_frame *frame, tw_text *out);
} formats[] = {{TW_FRAMES_CSV, "csv", frame_to_csv},
               {TW_FRAMES_VTU, "vtu", tw_frame_to_vtu},
               {TW_FRAMES_PLY, "ply", tw_frame_to_ply},
               {TW_FRAMES_OBJ, "obj", tw_frame_to_obj},
               {TW_FRAMES_PC2, "pc2", NULL}};
enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

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

static tw_status prepare(tw_frames *frames)
{
    if (frames->formats & (TW_FRAMES_PLY | TW_FRAMES_OBJ | TW_FRAMES_PC2)) {
        tw_status status = tw_shapes_create(frames->simulation, &frames->shapes);
        if (status != TW_OK) return status;
        frames->positions = TW_NEW_ARRAY(3 * frames->shapes.vertex_count, double);
        if (!frames->positions) return TW_OUT_OF_MEMORY;
    }
    return frames->formats & TW_FRAMES_VTU ? tw_vtu_prepare(frames) : TW_OK;
}

tw_status tw_frames_create(unsigned set, const tw_simulation *simulation, double fps,
                           tw_frames **out, tw_error *error)
{
    *out = NULL;
    bool has_bodies = tw_simulation_column_count(simulation) >= 6;
    for (int i = 0; i < FORMAT_COUNT; i++)
        if (!has_bodies && (set & formats[i].format) && formats[i].format != TW_FRAMES_CSV)
            return tw_fail(error, TW_UNSUPPORTED,
                           "%s shows bodies, and a system of equations has none: use csv",
                           formats[i].name);
    tw_frames *frames = TW_NEW(tw_frames);
    if (!frames) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    frames->formats = set;
    frames->simulation = simulation;
    frames->fps = fps;
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

tw_status tw_frames_begin(tw_frames *frames, const char *directory, const char *folder,
                          int64_t keep, tw_error *error)
{
    tw_status status = tw_file_path(frames->folder, directory, folder ? folder : ".", error);
    if (status != TW_OK) return status;
    snprintf(frames->directory, sizeof frames->directory, "%s", directory);
    if (!folder) snprintf(frames->folder, sizeof frames->folder, "%s", directory);
    snprintf(frames->prefix, sizeof frames->prefix, "%s%s", folder ? folder : "",
             folder ? "/" : "");
    frames->flushed = keep;
    if (!frames->formats) return TW_OK;
    if (mkdir(frames->folder, 0777) != 0 && errno != EEXIST)
        return tw_fail(error, TW_INPUT_OUTPUT, "%s: cannot be made: %s", frames->folder,
                       strerror(errno));
    /* the growing files are cut as they are opened */
    status = tw_frames_cut(frames->folder, frames->formats & ~(unsigned)TW_FRAMES_PC2, keep, error);
    if (status == TW_OK && (frames->formats & TW_FRAMES_PC2))
        status = tw_pc2_begin(frames, keep, error);
    return status;
}

/* ---- writing ---- */

/* Not flushed here: frames after the last checkpoint are written again by a resumed run, and the checkpoint flushes. */
static tw_status write_file(const char *path, const tw_text *text, tw_error *error)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return tw_fail(error, TW_INPUT_OUTPUT, "%s: cannot be written: %s", path, strerror(errno));
    bool good = fwrite(text->bytes, 1, text->size, file) == text->size;
    int reason = errno;
    if (fclose(file) != 0 && good) {
        good = false;
        reason = errno;
    }
    return good ? TW_OK
                : tw_fail(error, TW_INPUT_OUTPUT, "%s: cannot be written: %s", path,
                          strerror(reason));
}

static tw_status frame_path(const tw_frames *frames, unsigned format, int64_t index,
                            char path[TW_FILE_PATH_SIZE], tw_error *error)
{
    char name[64];
    tw_frame_name(name, format, index);
    return tw_file_path(path, frames->folder, name, error);
}

tw_status tw_frames_write(tw_frames *frames, const tw_frame *frame, tw_error *error)
{
    if (frames->positions)
        tw_shapes_place(&frames->shapes, frame->table->values, frame->table->column_count,
                        frames->positions);
    for (int i = 0; i < FORMAT_COUNT; i++) {
        if (!(frames->formats & formats[i].format) || !formats[i].write) continue;
        char path[TW_FILE_PATH_SIZE];
        tw_status status = frame_path(frames, formats[i].format, frame->index, path, error);
        if (status != TW_OK) return status;
        tw_text_clear(&frames->scratch);
        formats[i].write(frames, frame, &frames->scratch);
        if (frames->scratch.failed) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
        status = write_file(path, &frames->scratch, error);
        if (status != TW_OK) return status;
    }
    return frames->formats & TW_FRAMES_PC2 ? tw_pc2_write(frames, frame, error) : TW_OK;
}

static tw_status flush_files(tw_frames *frames, unsigned format, int64_t count, tw_error *error)
{
    tw_status status = TW_OK;
    for (int64_t i = frames->flushed; i < count && status == TW_OK; i++) {
        char path[TW_FILE_PATH_SIZE];
        status = frame_path(frames, format, i, path, error);
        if (status == TW_OK) status = tw_file_flush(path, error);
    }
    return status;
}

tw_status tw_frames_flush(tw_frames *frames, int64_t count, tw_error *error)
{
    tw_status status = TW_OK;
    if (!frames->formats) return TW_OK;
    for (int i = 0; i < FORMAT_COUNT && status == TW_OK; i++)
        if ((frames->formats & formats[i].format) && formats[i].write)
            status = flush_files(frames, formats[i].format, count, error);
    if (status == TW_OK) status = tw_file_flush(frames->folder, error);
    if (status == TW_OK && (frames->formats & TW_FRAMES_PC2))
        status = tw_pc2_flush(frames, count, error);
    if (status == TW_OK && (frames->formats & TW_FRAMES_VTU))
        status = tw_vtu_write_index(frames, count, error);
    if (status == TW_OK) frames->flushed = count;
    return status;
}

/* ---- removing ---- */

/* The index in "frame_000012.csv" if that is one of the formats, or -1 for another file. */
static long long index_in(const char *name, unsigned set)
{
    if (strncmp(name, "frame_", 6) != 0 || name[6] < '0' || name[6] > '9') return -1;
    char *end = NULL;
    long long index = strtoll(name + 6, &end, 10);
    if (*end != '.') return -1;
    return set & tw_frame_format_of(end + 1) ? index : -1;
}

/* NAME.pc2 and the NAME.obj that belongs to it. */
static tw_status remove_cache(const char *folder, const char *name, tw_error *error)
{
    char other[TW_FILE_PATH_SIZE], path[TW_FILE_PATH_SIZE];
    size_t length = strlen(name);
    if (length < 5 || strcmp(name + length - 4, ".pc2") != 0) return TW_OK;
    tw_status status = tw_file_path(path, folder, name, error);
    if (status == TW_OK) status = tw_file_remove(path, error);
    snprintf(other, sizeof other, "%.*s.obj", (int)(length - 4), name);
    if (status == TW_OK) status = tw_file_path(path, folder, other, error);
    return status == TW_OK ? tw_file_remove(path, error) : status;
}

tw_status tw_frames_cut(const char *folder, unsigned set, int64_t keep, tw_error *error)
{
    DIR *directory = opendir(folder);
    if (!directory)
        return errno == ENOENT ? TW_OK
                               : tw_fail(error, TW_INPUT_OUTPUT, "%s: %s", folder, strerror(errno));
    tw_status status = TW_OK;
    for (struct dirent *entry; status == TW_OK && (entry = readdir(directory));) {
        char path[TW_FILE_PATH_SIZE];
        if (keep == 0 && (set & TW_FRAMES_PC2)) status = remove_cache(folder, entry->d_name, error);
        if (status != TW_OK || index_in(entry->d_name, set) < keep) continue;
        status = tw_file_path(path, folder, entry->d_name, error);
        if (status == TW_OK) status = tw_file_remove(path, error);
    }
    closedir(directory);
    return status;
}
