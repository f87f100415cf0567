/* Point caches (PC2) for Blender and others: one file per body that grows. A file has a header of
 * 32 bytes (magic, version, points, first frame, frames per sample, samples), then x, y, z of every
 * point of every sample as floats.
 *
 * The number of samples in the header is written at every flush, after the samples themselves
 * are on the disk. Whenever the program is killed, the file holds at least what its header says. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "io/frames_internal.h"

typedef struct header {
    char magic[12];
    int32_t version, points;
    float first_frame, frames_per_sample;
    int32_t samples;
} header;
_Static_assert(sizeof(header) == 32, "the header of a point cache has 32 bytes");

enum {
    POINT_BYTES = 12,       /* three floats */
    PART_NUMBERS = 3 * 1024 /* floats that are converted at a time */
};

static header header_of(const tw_shape *shape, int64_t samples)
{
    return (header){.magic = "POINTCACHE2",
                    .version = 1,
                    .points = (int32_t)shape->vertex_count,
                    .first_frame = 0.0F,
                    .frames_per_sample = 1.0F,
                    .samples = (int32_t)samples};
}

static tw_status cache_path(const tw_frames *frames, int shape, const char *suffix,
                            char path[TW_FILE_PATH_SIZE], tw_error *error)
{
    char name[TW_SHAPE_NAME_SIZE + 8];
    snprintf(name, sizeof name, "%s.%s", frames->shapes.list[shape].name, suffix);
    return tw_file_path(path, frames->folder, name, error);
}

/* ---- life ---- */

/* Opens the cache of a shape and keeps its first `keep` samples. */
static tw_status open_cache(tw_frames *frames, int shape, int64_t keep, tw_error *error)
{
    char path[TW_FILE_PATH_SIZE];
    const tw_shape *s = &frames->shapes.list[shape];
    tw_appender *cache = &frames->caches[shape];
    TW_TRY(cache_path(frames, shape, "pc2", path, error));

    if (keep > 0) {
        int64_t bytes = (int64_t)sizeof(header) + keep * POINT_BYTES * s->vertex_count;
        return tw_appender_open(cache, path, bytes, error);
    }

    /* A new file begins with the header of an empty cache. */
    header head = header_of(s, 0);
    TW_TRY(tw_appender_open(cache, path, 0, error));

    return tw_appender_write(cache, (const char *)&head, sizeof head, error);
}

tw_status tw_pc2_begin(tw_frames *frames, int64_t keep, tw_error *error)
{
    int count = frames->shapes.count;
    tw_pc2_close(frames);
    frames->caches = TW_NEW_ARRAY(count, tw_appender);
    if (!frames->caches) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    for (int i = 0; i < count; i++) frames->caches[i] = (tw_appender){.descriptor = -1};
    for (int i = 0; i < count; i++) TW_TRY(open_cache(frames, i, keep, error));
    return TW_OK;
}

void tw_pc2_close(tw_frames *frames)
{
    for (int i = 0; frames->caches && i < frames->shapes.count; i++)
        tw_appender_close(&frames->caches[i]);
    tw_release(frames->caches);
    frames->caches = NULL;
}

/* ---- writing ---- */

/* Writes NAME.obj: the vertices and faces that the cache moves. A reader must keep all
 * vertices, in one object. */
static tw_status write_rest_shape(tw_frames *frames, int shape, tw_error *error)
{
    const tw_shape *s = &frames->shapes.list[shape];
    const double *positions = frames->positions + 3 * s->first_vertex;
    tw_obj_before before = {.one_object = true};
    tw_text *text = &frames->scratch;

    /* The text of the file. */
    tw_text_clear(text);
    tw_text_add(text, "# twang, frame 0; %s.pc2 moves it\n", s->name);
    tw_shape_to_obj(s, positions, &before, text);
    tw_shape_unused_to_obj(s, text);
    if (text->failed) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    char path[TW_FILE_PATH_SIZE];
    TW_TRY(cache_path(frames, shape, "obj", path, error));
    return tw_file_replace(path, text->bytes, text->size, error);
}

/* Appends the positions of a shape as floats. */
static tw_status write_sample(tw_frames *frames, int shape, tw_error *error)
{
    float part[PART_NUMBERS];
    const tw_shape *s = &frames->shapes.list[shape];
    const double *x = frames->positions + 3 * s->first_vertex;
    int64_t all = 3 * s->vertex_count;

    /* Part by part, so that a small buffer is enough. */
    for (int64_t begin = 0; begin < all; begin += PART_NUMBERS) {
        int64_t rest = all - begin;
        int64_t count = rest < PART_NUMBERS ? rest : PART_NUMBERS;
        for (int64_t i = 0; i < count; i++) part[i] = (float)x[begin + i];
        TW_TRY(tw_appender_write(&frames->caches[shape], (const char *)part,
                                 (size_t)count * sizeof *part, error));
    }

    return TW_OK;
}

tw_status tw_pc2_write(tw_frames *frames, const tw_frame *frame, tw_error *error)
{
    for (int i = 0; i < frames->shapes.count; i++) {
        if (frame->index == 0) TW_TRY(write_rest_shape(frames, i, error));
        TW_TRY(write_sample(frames, i, error));
    }
    return TW_OK;
}

bool tw_pc2_find_missing(const tw_frames *frames, char path[TW_FILE_PATH_SIZE])
{
    for (int i = 0; i < frames->shapes.count; i++)
        if (cache_path(frames, i, "obj", path, NULL) == TW_OK && !tw_file_exists(path)) return true;
    return false;
}

tw_status tw_pc2_flush(tw_frames *frames, int64_t count, tw_error *error)
{
    for (int i = 0; i < frames->shapes.count; i++) {
        tw_appender *file = &frames->caches[i];
        TW_TRY(tw_appender_flush(file, error));

        /* The samples are on the disk: the header may count them. */
        header head = header_of(&frames->shapes.list[i], count);
        if (pwrite(file->descriptor, &head, sizeof head, 0) != (ssize_t)sizeof head ||
            fsync(file->descriptor) != 0)
            return tw_fail(error, TW_INPUT_OUTPUT, "%s: cannot be written: %s", file->path,
                           strerror(errno));
    }

    return TW_OK;
}
