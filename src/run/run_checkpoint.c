/* Checkpoints. Telemetry and frames reach the disk before the checkpoint that counts them. */
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/read_file.h"
#include "base/timer.h"
#include "io/checkpoint.h"
#include "run/run_internal.h"

/* Makes room for `size` bytes of the integrator's state. */
static tw_status reserve_snapshot(tw_run *run, size_t size)
{
    if (size <= run->snapshot_capacity) return TW_OK;

    tw_release(run->snapshot);
    run->snapshot_capacity = 0;
    run->snapshot = tw_allocate(size, 1);
    if (!run->snapshot) return TW_OUT_OF_MEMORY;
    run->snapshot_capacity = size;
    return TW_OK;
}

static tw_status take_snapshot(tw_run *run, size_t *size, tw_error *error)
{
    /* The first call asks for the size alone. */
    tw_status status = tw_integrator_serialise(run->integrator, NULL, 0, size);
    if (status == TW_OK) status = reserve_snapshot(run, *size);
    if (status == TW_OK)
        status = tw_integrator_serialise(run->integrator, run->snapshot, *size, size);
    return status == TW_OK ? TW_OK : tw_fail_plain(error, status);
}

tw_status tw_run_write_checkpoint(tw_run *run, tw_error *error)
{
    char path[TW_FILE_PATH_SIZE];
    TW_TRY(tw_file_path(path, run->directory, "checkpoint.bin", error));

    /* First the outputs that the checkpoint counts. */
    TW_TRY(tw_appender_flush(&run->telemetry, error));
    TW_TRY(tw_frames_flush(run->frames, run->memory.frame_count, error));

    size_t size = 0;
    TW_TRY(take_snapshot(run, &size, error));
    run->memory.telemetry_bytes = run->telemetry.size;
    run->memory.wall_seconds = tw_run_wall_seconds(run);
    tw_checkpoint checkpoint = {.progress = &run->memory,
                                .progress_size = sizeof run->memory,
                                .integrator = run->snapshot,
                                .integrator_size = size};
    tw_status status = tw_checkpoint_write(path, &checkpoint, error);
    run->last_checkpoint = tw_clock();
    return status;
}

tw_status tw_run_hash_scene(const tw_run *run, uint64_t *hash, tw_error *error)
{
    char path[TW_FILE_PATH_SIZE];
    TW_TRY(tw_file_path(path, run->directory, "scene.yaml", error));

    char *text = NULL;
    size_t size = 0;
    TW_TRY(tw_read_file(path, TW_READ_ALL, &text, &size, error));
    *hash = tw_hash(text, size);
    tw_release(text);
    return TW_OK;
}

static tw_status check_scene_unchanged(tw_run *run, uint64_t expected, tw_error *error)
{
    uint64_t hash = 0;
    TW_TRY(tw_run_hash_scene(run, &hash, error));
    if (hash == expected) return TW_OK;

    return tw_fail(
        error, TW_BAD_INPUT,
        "%s/scene.yaml: was changed since the run began, put it back or start a new run with it",
        run->directory);
}

static tw_status restore(tw_run *run, const char *path, const tw_checkpoint *checkpoint,
                         tw_error *error)
{
    if (checkpoint->progress_size != sizeof run->memory)
        return tw_fail(error, TW_BAD_INPUT, "%s: was written by another build of twang", path);
    memcpy(&run->memory, checkpoint->progress, sizeof run->memory);
    TW_TRY(check_scene_unchanged(run, run->memory.scene_hash, error));

    /* An error of the integrator names the file. */
    tw_error inner = {0};
    tw_status status = tw_integrator_restore(run->integrator, checkpoint->integrator,
                                             checkpoint->integrator_size, &inner);
    if (status != TW_OK) return tw_fail(error, status, "%s: %s", path, inner.text);
    return TW_OK;
}

tw_status tw_run_read_checkpoint(tw_run *run, tw_error *error)
{
    char path[TW_FILE_PATH_SIZE];
    TW_TRY(tw_file_path(path, run->directory, "checkpoint.bin", error));

    tw_checkpoint checkpoint = {0};
    tw_status status = tw_checkpoint_read(path, &checkpoint, error);
    if (status == TW_OK) status = restore(run, path, &checkpoint, error);
    tw_checkpoint_free(&checkpoint);
    return status;
}
