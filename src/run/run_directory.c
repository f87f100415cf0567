/* Where a run goes: a name that is free, a directory that is whole from the moment it exists, and a lock on it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "io/checkpoint.h"
#include "run/run_internal.h"

static tw_status cannot_make(const char *path, tw_error *error)
{
    return tw_fail(error, TW_INPUT_OUTPUT, "%s: cannot be made: %s", path, strerror(errno));
}

/* The directory that was asked for. */
static tw_status take_given(tw_run *run, tw_error *error)
{
    const char *given = run->options->directory;
    size_t length = strlen(given);
    if (length == 0 || length > TW_RUN_DIRECTORY_SIZE - 256)
        return tw_fail(error, TW_BAD_INPUT,
                       "the name of the output directory is %s, give another one",
                       length ? "too long" : "empty");
    while (length > 1 && given[length - 1] == '/') length--;
    snprintf(run->directory, sizeof run->directory, "%.*s", (int)length, given);
    if (run->options->force || !tw_file_exists(run->directory)) return TW_OK;
    return tw_fail(error, TW_BAD_INPUT,
                   "%s: exists already, name another directory or give --force", run->directory);
}

/* runs/NAME-N with the first N from `*n` on that is free. */
static tw_status take_numbered(tw_run *run, int *n, tw_error *error)
{
    if (mkdir("runs", 0777) != 0 && errno != EEXIST) return cannot_make("runs", error);
    for (; *n < 1000000; ++*n) {
        snprintf(run->directory, sizeof run->directory, "runs/%s-%d", tw_scene_name(run->scene),
                 *n);
        if (!tw_file_exists(run->directory)) return TW_OK;
    }
    return tw_fail(error, TW_BAD_INPUT, "runs: holds too many runs of %s, name a directory",
                   tw_scene_name(run->scene));
}

/* Removes what an earlier run left, the checkpoint first, and nothing else. */
static tw_status clear_directory(tw_run *run, tw_error *error)
{
    static const char *const files[] = {
        "checkpoint.bin",     "checkpoint.bin.part", "run.json",       "run.json.part",
        "telemetry.csv",      "final.csv",           "final.csv.part", "last_good.csv",
        "last_good.csv.part", "scene.yaml.part",     "frames.pvd",     "frames.pvd.part"};
    tw_status status = TW_OK;
    for (size_t i = 0; i < sizeof files / sizeof *files && status == TW_OK; i++) {
        char path[TW_FILE_PATH_SIZE];
        status = tw_file_path(path, run->directory, files[i], error);
        if (status == TW_OK) status = tw_file_remove(path, error);
    }
    char folder[TW_FILE_PATH_SIZE];
    if (status == TW_OK) status = tw_file_path(folder, run->directory, TW_RUN_FRAME_FOLDER, error);
    if (status == TW_OK) status = tw_frames_cut(folder, TW_FRAMES_ALL, 0, error);
    if (status == TW_OK) rmdir(folder); /* if nothing else is in it */
    return status;
}

static tw_status write_scene(tw_run *run, const char *directory, tw_error *error)
{
    char *text = NULL;
    size_t size = 0;
    char path[TW_FILE_PATH_SIZE];
    tw_status status = tw_file_path(path, directory, "scene.yaml", error);
    if (status == TW_OK) status = tw_scene_write(run->scene, &text, &size, error);
    if (status != TW_OK) return status;
    run->memory.scene_hash = tw_hash(text, size);
    status = tw_file_replace(path, text, size, error);
    tw_scene_free_text(text);
    return status;
}

/* Made under another name and renamed with the scene inside: a directory of a run can always be resumed. `*taken` if
 * somebody else was faster. */
static tw_status make_new(tw_run *run, bool *taken, tw_error *error)
{
    char temporary[TW_RUN_DIRECTORY_SIZE + 32];
    snprintf(temporary, sizeof temporary, "%s.part-%ld", run->directory, (long)getpid());
    if (mkdir(temporary, 0777) != 0) return cannot_make(run->directory, error);
    tw_status status = write_scene(run, temporary, error);
    if (status == TW_OK && rename(temporary, run->directory) != 0) {
        *taken = errno == EEXIST || errno == ENOTEMPTY;
        status = cannot_make(run->directory, error);
    }
    if (status != TW_OK) {
        char scene[TW_FILE_PATH_SIZE];
        if (tw_file_path(scene, temporary, "scene.yaml", NULL) == TW_OK) unlink(scene);
        rmdir(temporary);
    }
    return status;
}

/* An existing directory, which --force allows: what is ours in it goes, the rest stays. */
static tw_status make_anew(tw_run *run, tw_error *error)
{
    tw_status status = tw_run_lock_directory(run, error);
    if (status == TW_OK) status = clear_directory(run, error);
    return status == TW_OK ? write_scene(run, run->directory, error) : status;
}

tw_status tw_run_make_directory(tw_run *run, tw_error *error)
{
    bool taken = false;
    int n = 1;
    tw_status status = TW_OK;
    do {
        taken = false;
        status = run->options->directory ? take_given(run, error) : take_numbered(run, &n, error);
        if (status != TW_OK) return status;
        if (tw_file_exists(run->directory)) return make_anew(run, error);
        status = make_new(run, &taken, error);
    } while (taken && !run->options->directory);
    return status == TW_OK ? tw_run_lock_directory(run, error) : status;
}

tw_status tw_run_set_directory(tw_run *run, const char *directory, tw_error *error)
{
    int length = snprintf(run->directory, sizeof run->directory, "%s", directory);
    if (length > 0 && length < TW_RUN_DIRECTORY_SIZE - 256) return TW_OK;
    return tw_fail(error, TW_BAD_INPUT, "the name of the directory is %s",
                   length > 0 ? "too long" : "empty");
}

tw_status tw_run_lock(const char *directory, int *lock, tw_error *error)
{
    *lock = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*lock < 0)
        return tw_fail(error, TW_BAD_INPUT, "%s: cannot be opened: %s", directory, strerror(errno));
    if (flock(*lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return TW_OK;
    return tw_fail(error, TW_BAD_INPUT,
                   "%s: another twang is writing there, wait for it or name another directory",
                   directory);
}

tw_status tw_run_lock_directory(tw_run *run, tw_error *error)
{
    return tw_run_lock(run->directory, &run->lock, error);
}

void tw_run_unlock_directory(tw_run *run)
{
    if (run->lock >= 0) close(run->lock);
    run->lock = -1;
}
