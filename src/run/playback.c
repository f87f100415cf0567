/* A run read back from its directory. */
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/read_file.h"
#include "run/run_internal.h"

static tw_status frame_path(const tw_playback *p, unsigned format, int64_t index,
                            char path[TW_FILE_PATH_SIZE], tw_error *error)
{
    char name[64];
    tw_frame_name(name, format, index);
    return tw_file_path(path, p->folder, name, error);
}

static bool is_there(const tw_playback *p, unsigned format, int64_t index)
{
    char path[TW_FILE_PATH_SIZE];
    return frame_path(p, format, index, path, NULL) == TW_OK && tw_file_exists(path);
}

static tw_status load_scene(tw_playback *p, const char *directory, tw_error *error)
{
    TW_TRY(tw_run_load_scene(directory, 0, NULL, &p->scene, error));
    TW_TRY(tw_scene_build(p->scene, &p->simulation, error));

    p->fps = tw_scene_fps(p->scene);
    p->duration = tw_scene_duration(p->scene);
    p->table = tw_table_of(p->simulation, NULL);
    return tw_file_path(p->folder, directory, TW_RUN_FRAME_FOLDER, error);
}

/* How many frames run.json says there are; 0 where it is missing. */
static int64_t recorded_frames(const char *directory)
{
    static const char key[] = "\n  \"frames\": ";
    char path[TW_FILE_PATH_SIZE];
    char *record = NULL;
    size_t size = 0;
    if (tw_file_path(path, directory, "run.json", NULL) != TW_OK) return 0;
    if (tw_read_own_file(path, TW_READ_ALL, &record, &size, NULL) != TW_OK) return 0;

    const char *at = strstr(record, key);
    int64_t count = at ? strtoll(at + sizeof key - 1, NULL, 10) : 0;
    tw_release(record);
    return count;
}

/* Does not count the last frame if it cannot be read: a kill may have left it half written. */
static tw_status drop_half_frame(tw_playback *p, tw_error *error)
{
    double *rows = TW_NEW_ARRAY(p->table.row_count * p->table.column_count, double);
    if (!rows) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    if (tw_playback_read(p, p->frame_count - 1, NULL, rows, NULL) != TW_OK) p->frame_count--;
    tw_release(rows);
    return TW_OK;
}

static tw_status count_frames(tw_playback *p, const char *directory, tw_error *error)
{
    unsigned formats = tw_run_frame_formats(p->scene) & (TW_FRAMES_CSV | TW_FRAMES_VTU);
    if (!formats)
        return tw_fail(error, TW_BAD_INPUT,
                       "%s: has no frames in csv or vtu, which hold all of a state; run it with "
                       "fps > 0 and one of these",
                       directory);

    /* Frames are numbered from 0 without gaps. Files behind the last one are somebody else's. */
    int64_t total = tw_run_frame_total(p->fps, p->duration);
    p->format = formats & TW_FRAMES_CSV ? TW_FRAMES_CSV : TW_FRAMES_VTU;
    bool has_both = formats == (TW_FRAMES_CSV | TW_FRAMES_VTU);
    if (has_both && !is_there(p, TW_FRAMES_CSV, 0)) p->format = TW_FRAMES_VTU;
    while (p->frame_count < total && is_there(p, p->format, p->frame_count)) p->frame_count++;

    /* A gap, or an end before the recorded one, is a frame that somebody removed. */
    int64_t recorded = recorded_frames(directory);
    tw_frame_range later = {p->format, p->frame_count, total};
    bool is_missing = p->frame_count < total && p->frame_count < recorded;
    if (is_missing || tw_frames_exist(p->folder, later)) {
        char path[TW_FILE_PATH_SIZE];
        TW_TRY(frame_path(p, p->format, p->frame_count, path, error));
        return tw_fail(error, TW_BAD_INPUT, "%s: is missing", path);
    }

    /* A run that was killed before its first frame was whole has none. */
    if (p->frame_count > recorded) TW_TRY(drop_half_frame(p, error));
    if (p->frame_count > 0) return TW_OK;
    return tw_fail(error, TW_BAD_INPUT, "%s: has no frames yet, resume the run", directory);
}

tw_status tw_playback_open(const char *directory, tw_playback **out, tw_error *error)
{
    if (!directory || !out) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    *out = NULL;
    tw_playback *p = TW_NEW(tw_playback);
    if (!p) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    tw_status status = load_scene(p, directory, error);
    if (status == TW_OK) status = count_frames(p, directory, error);

    if (status == TW_OK)
        *out = p;
    else
        tw_playback_free(p);
    return status;
}

void tw_playback_free(tw_playback *playback)
{
    if (!playback) return;
    tw_simulation_free(playback->simulation);
    tw_scene_free(playback->scene);
    tw_release(playback);
}

const tw_scene *tw_playback_scene(const tw_playback *playback)
{
    if (!playback) return NULL;
    return playback->scene;
}

const tw_simulation *tw_playback_simulation(const tw_playback *playback)
{
    if (!playback) return NULL;
    return playback->simulation;
}

int64_t tw_playback_frame_count(const tw_playback *playback)
{
    if (!playback) return 0;
    return playback->frame_count;
}

tw_status tw_playback_read(tw_playback *playback, int64_t index, double *t, double *rows,
                           tw_error *error)
{
    if (!playback || !rows || index < 0 || index >= playback->frame_count)
        return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    if (t) *t = tw_run_frame_time(index, playback->fps, playback->duration);

    char path[TW_FILE_PATH_SIZE];
    TW_TRY(frame_path(playback, playback->format, index, path, error));
    return tw_frame_read(path, playback->format, &playback->table, rows, error);
}
