/* The directory of a run: a name that is free, a directory that holds the scene from the moment it
 * exists, and a lock on it. */
#define _GNU_SOURCE
#include <dirent.h>
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
#include "io/manifest.h"
#include "run/run_internal.h"

enum {
    LONGEST_FILE_NAME = 256, /* room for the names of files in the directory */
    MAX_NUMBERED_RUNS = 1000000,
    ALL_MAY_USE = 0777 /* mode of new directories, before the umask */
};

static tw_status cannot_make(const char *path, tw_error *error)
{
    return tw_fail(error, TW_INPUT_OUTPUT, "%s: cannot be made: %s", path, strerror(errno));
}

static bool is_empty(const char *path)
{
    DIR *directory = opendir(path);
    int count = 0;
    while (directory && readdir(directory)) count++;
    if (directory) closedir(directory);
    return count == 2; /* itself and the one above */
}

/* The directory that was asked for. One that is there must be empty, unless --force is given. */
static tw_status take_given(tw_run *run, tw_error *error)
{
    const char *given = run->options->directory;
    size_t length = strlen(given);
    if (length == 0 || length > TW_RUN_DIRECTORY_SIZE - LONGEST_FILE_NAME)
        return tw_fail(error, TW_BAD_INPUT,
                       "the name of the output directory is %s, give another one",
                       length ? "too long" : "empty");

    /* Without slashes at the end. */
    while (length > 1 && given[length - 1] == '/') length--;
    snprintf(run->directory, sizeof run->directory, "%.*s", (int)length, given);

    TW_TRY(tw_file_expect_directory(run->directory, error));
    if (run->options->force || !tw_file_exists(run->directory) || is_empty(run->directory))
        return TW_OK;
    return tw_fail(error, TW_BAD_INPUT,
                   "%s: exists already, name another directory or give --force", run->directory);
}

/* runs/NAME-N with the first N from `*n` on that is free. */
static tw_status take_numbered(tw_run *run, int *n, tw_error *error)
{
    const char *name = tw_scene_name(run->scene);
    for (; *n < MAX_NUMBERED_RUNS; ++*n) {
        snprintf(run->directory, sizeof run->directory, "runs/%s-%d", name, *n);
        if (!tw_file_exists(run->directory)) return TW_OK;
    }
    return tw_fail(error, TW_BAD_INPUT, "runs: holds too many runs of %s, name a directory", name);
}

/* ---- what a run wrote ---- */

/* What every run writes besides its frames. The checkpoint is the first: it is removed first, and
 * after a kill in between the directory looks like a run that has not begun. The last one is
 * written after a failure alone, and is in the manifest from then on. */
static const char *const file_names[] = {"checkpoint.bin", "run.json",   "telemetry.csv",
                                         "final.csv",      "scene.yaml", TW_RUN_LAST_GOOD};
enum { FILE_NAMES = sizeof file_names / sizeof *file_names };

tw_status tw_run_check_files(const tw_run *run, tw_error *error)
{
    for (int i = 0; i < FILE_NAMES; i++) {
        char path[TW_FILE_PATH_SIZE];
        TW_TRY(tw_file_path(path, run->directory, file_names[i], error));
        TW_TRY(tw_file_expect_regular(path, error));

        /* The half file beside it. */
        char half[LONGEST_FILE_NAME];
        snprintf(half, sizeof half, "%s.part", file_names[i]);
        TW_TRY(tw_file_path(path, run->directory, half, error));
        TW_TRY(tw_file_expect_regular(path, error));
    }
    return TW_OK;
}

/* All files that this run writes if it does not fail. */
static tw_status list_files(const tw_run *run, tw_manifest *manifest, tw_error *error)
{
    *manifest = (tw_manifest){.scene_hash = run->memory.scene_hash};
    for (int i = 0; i < FILE_NAMES - 1; i++) tw_text_add(&manifest->lines, "%s\n", file_names[i]);
    tw_frames_list(run->frames, TW_RUN_FRAME_FOLDER, &manifest->lines);
    return manifest->lines.failed ? tw_fail_plain(error, TW_OUT_OF_MEMORY) : TW_OK;
}

/* Files that an earlier session or an export wrote, and that are there still, stay in the manifest. */
static tw_status write_manifest(const tw_run *run, const char *directory, tw_error *error)
{
    tw_manifest before;
    tw_manifest manifest = {0};
    TW_TRY(tw_manifest_read(directory, &before, error));
    tw_status status = list_files(run, &manifest, error);
    if (status == TW_OK) tw_manifest_keep(directory, &manifest, &before);
    if (status == TW_OK) status = tw_manifest_write(directory, &manifest, error);
    tw_manifest_free(&before);
    tw_manifest_free(&manifest);
    return status;
}

/* TW_INPUT_OUTPUT if somebody removed the manifest while the run went on. */
static tw_status check_manifest(const tw_run *run, tw_error *error)
{
    char path[TW_FILE_PATH_SIZE];
    TW_TRY(tw_file_path(path, run->directory, TW_MANIFEST_NAME, error));
    if (tw_file_exists(path)) return TW_OK;
    return tw_fail(error, TW_INPUT_OUTPUT, "%s: has been removed while the run went on", path);
}

tw_status tw_run_restore_manifest(const tw_run *run, tw_error *error)
{
    if (check_manifest(run, NULL) == TW_OK) return TW_OK;
    return write_manifest(run, run->directory, error);
}

tw_status tw_run_check_frames(const tw_run *run, tw_status status, tw_error *error)
{
    char path[TW_FILE_PATH_SIZE];
    if (!tw_frames_find_missing(run->frames, path)) return TW_OK;
    return tw_fail(error, status, "%s: has been removed, the run cannot be resumed", path);
}

tw_status tw_run_check_outputs(const tw_run *run, tw_error *error)
{
    TW_TRY(check_manifest(run, error));
    return tw_run_check_frames(run, TW_INPUT_OUTPUT, error);
}

bool tw_run_can_be_resumed(const tw_run *run)
{
    char path[TW_FILE_PATH_SIZE];
    if (tw_file_path(path, run->directory, "scene.yaml", NULL) != TW_OK) return false;
    if (!tw_file_exists(path)) return false;

    /* Without a checkpoint it begins again. */
    return tw_run_check_frames(run, TW_INPUT_OUTPUT, NULL) == TW_OK;
}

tw_status tw_run_claim_last_good(const tw_run *run, tw_error *error)
{
    tw_manifest manifest;
    tw_text name = {0};
    TW_TRY(check_manifest(run, error));
    TW_TRY(tw_manifest_read(run->directory, &manifest, error));

    tw_text_add(&name, "%s\n", TW_RUN_LAST_GOOD);
    tw_status status = name.failed ? tw_fail_plain(error, TW_OUT_OF_MEMORY)
                                   : tw_manifest_claim(run->directory, &manifest, &name, error);
    tw_text_free(&name);
    tw_manifest_free(&manifest);
    return status;
}

/* Removes the file before its name, so that after a kill in between it is still ours. */
tw_status tw_run_drop_last_good(const tw_run *run, tw_error *error)
{
    tw_manifest manifest;
    char path[TW_FILE_PATH_SIZE];
    TW_TRY(tw_file_path(path, run->directory, TW_RUN_LAST_GOOD, error));
    TW_TRY(tw_manifest_read(run->directory, &manifest, error));

    /* That of somebody else stays. */
    bool is_ours = tw_manifest_has(&manifest, TW_RUN_LAST_GOOD);
    tw_manifest_free(&manifest);
    if (!is_ours) return TW_OK;
    TW_TRY(tw_file_remove(path, error));
    return write_manifest(run, run->directory, error);
}

/* Refuses a directory whose files belong to somebody else: it has no manifest of a run, or its
 * scene was written by hand. */
static tw_status check_is_run(tw_run *run, const tw_manifest *manifest, tw_error *error)
{
    if (is_empty(run->directory)) return TW_OK;
    if (!tw_manifest_has(manifest, "scene.yaml"))
        return tw_fail(error, TW_BAD_INPUT,
                       "%s: is not the directory of a run (it has no " TW_MANIFEST_NAME
                       " of one), name another one",
                       run->directory);

    char path[TW_FILE_PATH_SIZE];
    TW_TRY(tw_file_path(path, run->directory, "scene.yaml", error));
    uint64_t hash = 0;
    if (!tw_file_exists(path)) return TW_OK;
    TW_TRY(tw_run_hash_scene(run, &hash, error));
    if (hash == manifest->scene_hash) return TW_OK;
    return tw_fail(error, TW_BAD_INPUT,
                   "%s: was changed by hand, move it away or name another directory", path);
}

/* Removes the files of an earlier run and nothing else. */
static tw_status clear_directory(tw_run *run, tw_error *error)
{
    /* What the new run writes must not be somebody else's, either. */
    tw_manifest before;
    tw_manifest after = {0};
    TW_TRY(tw_manifest_read(run->directory, &before, error));
    tw_status status = check_is_run(run, &before, error);
    if (status == TW_OK) status = list_files(run, &after, error);
    if (status == TW_OK)
        status = tw_manifest_check_free(run->directory, &before, &after.lines, error);

    /* Everything is refused before the first file goes. */
    if (status == TW_OK) status = tw_manifest_check_regular(run->directory, &after.lines, error);
    if (status == TW_OK) status = tw_manifest_remove_files(run->directory, &before, error);
    tw_manifest_free(&before);
    tw_manifest_free(&after);
    if (status != TW_OK) return status;

    /* This fails, and may fail, where the folder holds files of the user. */
    char folder[TW_FILE_PATH_SIZE];
    TW_TRY(tw_file_path(folder, run->directory, TW_RUN_FRAME_FOLDER, error));
    rmdir(folder);
    return TW_OK;
}

void tw_run_remove_directory(tw_run *run)
{
    tw_manifest manifest;
    if (tw_manifest_read(run->directory, &manifest, NULL) != TW_OK) return;
    tw_status status = tw_manifest_remove_files(run->directory, &manifest, NULL);
    tw_manifest_free(&manifest);
    if (status != TW_OK) return;

    /* The list goes when the files in it are gone. Folders with files of the user stay. */
    char path[TW_FILE_PATH_SIZE];
    if (tw_file_path(path, run->directory, TW_RUN_FRAME_FOLDER, NULL) == TW_OK) rmdir(path);
    if (tw_file_path(path, run->directory, TW_MANIFEST_NAME, NULL) == TW_OK) unlink(path);
    if (run->made_directory) rmdir(run->directory);
    tw_parents_remove(&run->parents);
}

static tw_status write_scene(tw_run *run, const char *directory, tw_error *error)
{
    char path[TW_FILE_PATH_SIZE];
    TW_TRY(tw_file_path(path, directory, "scene.yaml", error));

    char *text = NULL;
    size_t size = 0;
    TW_TRY(tw_scene_write(run->scene, &text, &size, error));
    run->memory.scene_hash = tw_hash(text, size);
    tw_status status = tw_run_hash_files(run, &run->memory.files_hash, error);
    if (status == TW_OK) status = write_manifest(run, directory, error);
    if (status == TW_OK) status = tw_file_replace(path, text, size, error);
    tw_scene_free_text(text);
    return status;
}

tw_status tw_run_check_room(tw_run *run, tw_error *error)
{
    tw_manifest before;
    tw_manifest after = {0};
    TW_TRY(tw_manifest_read(run->directory, &before, error));
    tw_status status = list_files(run, &after, error);
    if (status == TW_OK)
        status = tw_manifest_check_free(run->directory, &before, &after.lines, error);
    tw_manifest_free(&before);
    tw_manifest_free(&after);
    return status;
}

tw_status tw_run_extend_directory(tw_run *run, tw_error *error)
{
    /* The checkpoint knows both scenes before the new one is there. */
    char *text = NULL;
    size_t size = 0;
    TW_TRY(tw_scene_write(run->scene, &text, &size, error));
    uint64_t hash = tw_hash(text, size);
    tw_scene_free_text(text);
    if (hash != run->memory.scene_hash) run->memory.former_hash = run->memory.scene_hash;
    run->memory.scene_hash = hash;
    TW_TRY(tw_run_write_checkpoint(run, error));
    return write_scene(run, run->directory, error);
}

/* Makes the directory under another name, writes the scene into it, and renames it: so
 * every directory of a run can be resumed. `*taken` becomes true if another process made it
 * in the meantime. */
static tw_status make_new(tw_run *run, bool *taken, tw_error *error)
{
    char temporary[TW_RUN_DIRECTORY_SIZE + 32];
    snprintf(temporary, sizeof temporary, "%s.part-%ld", run->directory, (long)getpid());
    TW_TRY(tw_parents_make(&run->parents, run->directory, error));
    tw_status status = TW_OK;
    if (mkdir(temporary, ALL_MAY_USE) != 0) status = cannot_make(run->directory, error);
    if (status == TW_OK) status = write_scene(run, temporary, error);
    if (status == TW_OK && rename(temporary, run->directory) != 0) {
        *taken = errno == EEXIST || errno == ENOTEMPTY;
        status = cannot_make(run->directory, error);
    }

    /* A failure leaves nothing behind. */
    if (status != TW_OK) {
        static const char *const names[] = {"scene.yaml", TW_MANIFEST_NAME};
        char path[TW_FILE_PATH_SIZE];
        for (int i = 0; i < 2; i++)
            if (tw_file_path(path, temporary, names[i], NULL) == TW_OK) unlink(path);
        rmdir(temporary);
        tw_parents_remove(&run->parents);
    }
    return status;
}

/* Uses an existing directory, which is empty or --force allows: files of an earlier run go, others stay. */
static tw_status reuse_directory(tw_run *run, tw_error *error)
{
    TW_TRY(tw_run_lock_directory(run, error));
    TW_TRY(clear_directory(run, error));
    return write_scene(run, run->directory, error);
}

tw_status tw_run_make_directory(tw_run *run, tw_error *error)
{
    bool is_given = run->options->directory != NULL;
    int n = 1;
    for (;;) {
        if (is_given)
            TW_TRY(take_given(run, error));
        else
            TW_TRY(take_numbered(run, &n, error));
        if (tw_file_exists(run->directory)) return reuse_directory(run, error);

        /* A number that another process has taken is tried no more. */
        bool taken = false;
        tw_status status = make_new(run, &taken, error);
        run->made_directory = status == TW_OK;
        if (status == TW_OK) return tw_run_lock_directory(run, error);
        if (!taken || is_given) return status;
    }
}

tw_status tw_run_set_directory(tw_run *run, const char *directory, tw_error *error)
{
    int length = snprintf(run->directory, sizeof run->directory, "%s", directory);
    if (length > 0 && length < TW_RUN_DIRECTORY_SIZE - LONGEST_FILE_NAME) return TW_OK;

    return tw_fail(error, TW_BAD_INPUT, "the name of the directory is %s",
                   length > 0 ? "too long" : "empty");
}

tw_status tw_run_lock(const char *directory, int *lock, tw_error *error)
{
    *lock = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*lock < 0)
        return tw_fail(error, TW_BAD_INPUT, "%s: cannot be opened: %s", directory, strerror(errno));

    /* Other errors than a lock of another process come from file systems without locks. */
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
