/* Point caches (PC2) for Blender and others: per body one file that grows. A header of 32 bytes (magic, version,
 * points, first frame, frames per sample, samples), then x, y, z of every point of every sample as floats.
 *
 * The number of samples in the header follows at every flush, after the samples themselves are on the disk: whenever
 * the program is killed, the file holds at least what its header says. */
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

static tw_status open_cache(tw_frames *frames, int shape, int64_t keep, tw_error *error)
{
    char path[TW_FILE_PATH_SIZE];
    const tw_shape *s = &frames->shapes.list[shape];
    int64_t bytes = keep > 0 ? (int64_t)sizeof(header) + keep * 12 * s->vertex_count : 0;
    tw_status status = cache_path(frames, shape, "pc2", path, error);
    if (status == TW_OK) status = tw_appender_open(&frames->caches[shape], path, bytes, error);
    if (status != TW_OK || keep > 0) return status;
    header head = header_of(s, 0);
    return tw_appender_write(&frames->caches[shape], (const char *)&head, sizeof head, error);
}

tw_status tw_pc2_begin(tw_frames *frames, int64_t keep, tw_error *error)
{
    int count = frames->shapes.count;
    tw_pc2_close(frames);
    frames->caches = TW_NEW_ARRAY(count, tw_appender);
    if (!frames->caches) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    for (int i = 0; i < count; i++) frames->caches[i] = (tw_appender){.descriptor = -1};
    tw_status status = TW_OK;
    for (int i = 0; i < count && status == TW_OK; i++) status = open_cache(frames, i, keep, error);
    return status;
}

void tw_pc2_close(tw_frames *frames)
{
    for (int i = 0; frames->caches && i < frames->shapes.count; i++)
        tw_appender_close(&frames->caches[i]);
    tw_release(frames->caches);
    frames->caches = NULL;
}

/* NAME.obj: the vertices and faces that the cache moves; a reader must keep all of the vertices, in one object. */
static tw_status write_rest_shape(tw_frames *frames, int shape, tw_error *error)
{
    char path[TW_FILE_PATH_SIZE];
    const tw_shape *s = &frames->shapes.list[shape];
    tw_text_clear(&frames->scratch);
    tw_text_add(&frames->scratch, "# twang, frame 0; %s.pc2 moves it\n", s->name);
    tw_shape_to_obj(s, frames->positions + 3 * s->first_vertex,
                    &(tw_obj_before){.one_object = true}, &frames->scratch);
    tw_shape_unused_to_obj(s, &frames->scratch);
    if (frames->scratch.failed) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    tw_status status = cache_path(frames, shape, "obj", path, error);
    return status == TW_OK
               ? tw_file_replace(path, frames->scratch.bytes, frames->scratch.size, error)
               : status;
}

static tw_status write_sample(tw_frames *frames, int shape, tw_error *error)
{
    float part[3 * 1024];
    const tw_shape *s = &frames->shapes.list[shape];
    const double *x = frames->positions + 3 * s->first_vertex;
    tw_status status = TW_OK;
    for (int64_t begin = 0; begin < 3 * s->vertex_count && status == TW_OK; begin += 3 * 1024) {
        int64_t rest = 3 * s->vertex_count - begin, count = rest < 3 * 1024 ? rest : 3 * 1024;
        for (int64_t i = 0; i < count; i++) part[i] = (float)x[begin + i];
        status = tw_appender_write(&frames->caches[shape], (const char *)part,
                                   (size_t)count * sizeof *part, error);
    }
    return status;
}

tw_status tw_pc2_write(tw_frames *frames, const tw_frame *frame, tw_error *error)
{
    tw_status status = TW_OK;
    for (int i = 0; i < frames->shapes.count && status == TW_OK; i++) {
        if (frame->index == 0) status = write_rest_shape(frames, i, error);
        if (status == TW_OK) status = write_sample(frames, i, error);
    }
    return status;
}

tw_status tw_pc2_flush(tw_frames *frames, int64_t count, tw_error *error)
{
    for (int i = 0; i < frames->shapes.count; i++) {
        tw_appender *file = &frames->caches[i];
        header head = header_of(&frames->shapes.list[i], count);
        tw_status status = tw_appender_flush(file, error);
        if (status != TW_OK) return status;
        if (pwrite(file->descriptor, &head, sizeof head, 0) != (ssize_t)sizeof head ||
            fsync(file->descriptor) != 0)
            return tw_fail(error, TW_INPUT_OUTPUT, "%s: cannot be written: %s", file->path,
                           strerror(errno));
    }
    return TW_OK;
}
