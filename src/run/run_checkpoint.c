/* Checkpoints. Telemetry and frames reach the disk before the checkpoint that counts them. */
#include <math.h>
#include <stdio.h>
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

/* Without scene.yaml no checkpoint can be resumed. */
static tw_status check_scene_is_there(const tw_run *run, tw_error *error)
{
    char path[TW_FILE_PATH_SIZE];
    TW_TRY(tw_file_path(path, run->directory, "scene.yaml", error));
    if (tw_file_exists(path)) return TW_OK;
    return tw_fail(error, TW_INPUT_OUTPUT, "%s: has been removed, the run cannot be resumed", path);
}

tw_status tw_run_write_checkpoint(tw_run *run, tw_error *error)
{
    char path[TW_FILE_PATH_SIZE];
    double begin = tw_clock();
    TW_TRY(check_scene_is_there(run, error));
    TW_TRY(tw_file_path(path, run->directory, "checkpoint.bin", error));

    /* First the outputs that the checkpoint counts. */
    TW_TRY(tw_appender_flush(&run->telemetry, error));
    TW_TRY(tw_run_flush_frames(run, error));

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
    run->checkpoint_seconds = run->last_checkpoint - begin;
    return status;
}

tw_status tw_run_hash_scene(const tw_run *run, uint64_t *hash, tw_error *error)
{
    char path[TW_FILE_PATH_SIZE];
    TW_TRY(tw_file_path(path, run->directory, "scene.yaml", error));

    char *text = NULL;
    size_t size = 0;
    TW_TRY(tw_read_own_file(path, TW_READ_ALL, &text, &size, error));
    *hash = tw_hash(text, size);
    tw_release(text);
    return TW_OK;
}

/* The hash of a file enters *hash, so that the order counts. */
static tw_status add_file(const char *path, uint64_t *hash, tw_error *error)
{
    char *bytes = NULL;
    size_t size = 0;
    TW_TRY(tw_read_file(path, TW_READ_ALL, &bytes, &size, error));
    const uint64_t both[2] = {*hash, tw_hash(bytes, size)};
    *hash = tw_hash(both, sizeof both);
    tw_release(bytes);
    return TW_OK;
}

/* TetGen's meshes are two files, NAME.node and NAME.ele; the other one is added too. */
static tw_status add_companion(const char *path, uint64_t *hash, tw_error *error)
{
    const char *dot = strrchr(path, '.');
    bool is_nodes = dot && strcmp(dot, ".node") == 0;
    bool is_elements = dot && strcmp(dot, ".ele") == 0;
    if (!is_nodes && !is_elements) return TW_OK;

    char other[TW_FILE_PATH_SIZE];
    snprintf(other, sizeof other, "%.*s%s", (int)(dot - path), path, is_nodes ? ".ele" : ".node");
    return add_file(other, hash, error);
}

tw_status tw_run_hash_files(const tw_run *run, uint64_t *hash, tw_error *error)
{
    *hash = 0;
    const char *path = NULL;
    for (int i = 0; (path = tw_scene_file(run->scene, i)); i++) {
        TW_TRY(add_file(path, hash, error));
        TW_TRY(add_companion(path, hash, error));
    }
    return TW_OK;
}

/* Refuses to go on with another scene than the run began with. */
static tw_status check_scene_unchanged(const tw_run *run, tw_error *error)
{
    uint64_t hash = 0;
    TW_TRY(tw_run_hash_scene(run, &hash, error));
    bool is_known = hash == run->memory.scene_hash || hash == run->memory.former_hash;
    if (!is_known)
        return tw_fail(error, TW_BAD_INPUT,
                       "%s/scene.yaml: was changed since the run began, put it back or start a "
                       "new run with it",
                       run->directory);

    TW_TRY(tw_run_hash_files(run, &hash, error));
    if (hash == run->memory.files_hash) return TW_OK;
    return tw_fail(error, TW_BAD_INPUT,
                   "%s: a file that the scene reads was changed since the run began, the first is "
                   "%s; put it back or start a new run",
                   run->directory, tw_scene_file(run->scene, 0));
}

/* Counts have room to grow: nobody counts up to 2^53. */
static bool is_count(int64_t count)
{
    return count >= 0 && count < (int64_t)1 << 53;
}

/* Whether the run can go on with this memory: its values are finite, and it has written the frames
 * up to the present time t and no others. */
static bool makes_sense(const tw_run *run, double t)
{
    const tw_run_memory *m = &run->memory;
    const tw_energy_balance *b = &m->balance;
    const double values[] = {
        m->wall_seconds,    b->energy_start,       b->potential_start,    b->energy_end,
        b->energy_error,    b->energy_error_max,   b->unresolved,         b->converted_max,
        b->energy_size_max, b->measured_t,         b->measured_step,      b->damping.sum,
        b->damping.now,     b->damping.before,     b->outside.sum,        b->outside.now,
        b->outside.before,  b->contact.sum,        b->contact.next,       b->friction.sum,
        b->friction.next,   b->sliding_work,       b->plastic_work,       b->driven.sum,
        b->driven.next,     b->contact_impulse[0], b->contact_impulse[1], b->contact_impulse[2]};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (!isfinite(values[i])) return false;
    if (!is_count(m->telemetry_bytes) || !is_count(m->products_told) || !is_count(m->solves_told))
        return false;
    if (!(t >= 0.0 && t <= run->duration) || !is_count(m->frame_count)) return false;

    /* The last frame is at t or before, the next one is behind it. The last frame of a run that is
     * extended now was at its end, which rounding may have put before index / fps. */
    const double rounding = 1e-12;
    if (tw_run_frame_formats(run->scene) == 0) return m->frame_count == 0;
    if (m->frame_count == 0) return false;
    double last = tw_run_frame_time(m->frame_count - 1, run->fps, run->duration);
    return last <= t * (1.0 + rounding) &&
           tw_run_frame_time(m->frame_count, run->fps, run->duration) > t;
}

static tw_status restore(tw_run *run, const char *path, const tw_checkpoint *checkpoint,
                         tw_error *error)
{
    if (checkpoint->progress_size != sizeof run->memory)
        return tw_fail(error, TW_BAD_INPUT, "%s: was written by another build of twang", path);
    memcpy(&run->memory, checkpoint->progress, sizeof run->memory);
    TW_TRY(check_scene_unchanged(run, error));

    /* An error of the integrator names the file. */
    tw_error inner = {0};
    tw_status status = tw_integrator_restore(run->integrator, checkpoint->integrator,
                                             checkpoint->integrator_size, &inner);
    if (status != TW_OK) return tw_fail(error, status, "%s: %s", path, inner.text);

    double t = 0.0;
    tw_integrator_state(run->integrator, &t, NULL);
    if (run->options->duration > 0.0 && t >= run->duration)
        return tw_fail(error, TW_BAD_INPUT,
                       "%s: is at t = %g s already, --duration must be later than that",
                       run->directory, t);
    if (makes_sense(run, t)) return TW_OK;
    return tw_fail(error, TW_BAD_INPUT, "%s: is damaged: it holds impossible values", path);
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
