/* Writing files: whole, or growing. */
#define _POSIX_C_SOURCE 200809L
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/own_file.h"

enum { BUFFER_BYTES = 65536 }; /* of a file that grows */

/* Fails with the reason in errno. `what` completes "cannot be ...". */
static tw_status cannot(tw_error *error, const char *path, const char *what)
{
    return tw_fail(error, TW_INPUT_OUTPUT, "%s: cannot be %s: %s", path, what, strerror(errno));
}

tw_status tw_file_path(char path[TW_FILE_PATH_SIZE], const char *directory, const char *name,
                       tw_error *error)
{
    int length = snprintf(path, TW_FILE_PATH_SIZE, "%s/%s", directory, name);
    if (length > 0 && length < TW_FILE_PATH_SIZE) return TW_OK;
    return tw_fail(error, TW_INPUT_OUTPUT, "%.200s...: the path is too long", directory);
}

/* ---- whole files ---- */

/* Writes all bytes, also if the system takes them in parts. */
static bool write_all(int descriptor, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(descriptor, bytes, size);

        /* A signal may interrupt the call before anything is written. */
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        bytes += written;
        size -= (size_t)written;
    }

    return true;
}

/* A rename reaches the disk with its directory. This is best effort: some file systems
 * refuse to flush a directory. */
static void flush_directory_of(const char *path)
{
    /* The part before the last slash; the root keeps its slash. */
    char directory[TW_FILE_PATH_SIZE] = ".";
    const char *slash = strrchr(path, '/');

    if (slash) {
        int length = slash == path ? 1 : (int)(slash - path);
        snprintf(directory, sizeof directory, "%.*s", length, path);
    }

    int descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    fsync(descriptor);
    close(descriptor);
}

tw_status tw_file_replace(const char *path, const void *bytes, size_t size, tw_error *error)
{
    char temporary[TW_FILE_PATH_SIZE + 8];
    snprintf(temporary, sizeof temporary, "%s.part", path);
    int descriptor = -1;
    tw_status opened =
        tw_own_file_open(temporary, O_WRONLY | O_CREAT | O_TRUNC, "written", &descriptor, error);
    if (opened == TW_INPUT_OUTPUT) return cannot(error, path, "written");
    if (opened != TW_OK) return opened;

    /* Closing may fail too, and may overwrite the reason of an earlier failure. */
    bool good = write_all(descriptor, bytes, size) && fsync(descriptor) == 0;
    int reason = errno;
    if (close(descriptor) != 0 && good) {
        good = false;
        reason = errno;
    }

    if (good && rename(temporary, path) == 0) {
        flush_directory_of(path);
        return TW_OK;
    }

    if (!good) errno = reason;
    tw_status status = cannot(error, path, "written");
    unlink(temporary);

    return status;
}

tw_status tw_file_overwrite(const char *path, const void *bytes, size_t size, tw_error *error)
{
    int descriptor = -1;
    TW_TRY(tw_own_file_open(path, O_WRONLY, "written", &descriptor, error));

    /* The unit of st_blocks is 512 bytes, whatever the file system has. */
    enum { BLOCK_UNIT = 512 };
    struct stat about;
    bool fits = fstat(descriptor, &about) == 0 && (int64_t)size <= about.st_blocks * BLOCK_UNIT;
    if (!fits) errno = ENOSPC;
    bool good = fits && write_all(descriptor, bytes, size) &&
                ftruncate(descriptor, (off_t)size) == 0 && fsync(descriptor) == 0;

    tw_status status = good ? TW_OK : cannot(error, path, "written");
    close(descriptor);
    return status;
}

bool tw_file_exists(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0;
}

bool tw_file_is_special(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISLNK(about.st_mode);
}

tw_status tw_file_expect_directory(const char *path, tw_error *error)
{
    struct stat about;
    if (!tw_file_exists(path) || (stat(path, &about) == 0 && S_ISDIR(about.st_mode))) return TW_OK;
    return tw_fail(error, TW_BAD_INPUT, "%s: is not a directory, name one to write to", path);
}

tw_status tw_file_refuse_link(const char *path, tw_error *error)
{
    struct stat about;
    if (lstat(path, &about) != 0 || !S_ISLNK(about.st_mode)) return TW_OK;
    return tw_fail(error, TW_BAD_INPUT, "%s: is a link, which twang does not follow here", path);
}

tw_status tw_file_expect_regular(const char *path, tw_error *error)
{
    TW_TRY(tw_file_refuse_link(path, error));
    if (!tw_file_is_special(path)) return TW_OK;
    return tw_fail(error, TW_BAD_INPUT, "%s: is not a regular file, which twang expects here",
                   path);
}

tw_status tw_file_remove(const char *path, tw_error *error)
{
    if (unlink(path) == 0 || errno == ENOENT) return TW_OK;
    return cannot(error, path, "removed");
}

tw_status tw_file_flush(const char *path, tw_error *error)
{
    int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0) return cannot(error, path, "written");
    tw_status status = fsync(descriptor) == 0 ? TW_OK : cannot(error, path, "written");
    close(descriptor);
    return status;
}

/* ---- files that grow ---- */

static tw_status open_and_cut(tw_appender *file, int64_t keep, tw_error *error)
{
    TW_TRY(tw_own_file_open(file->path, O_WRONLY | O_CREAT, "opened", &file->descriptor, error));
    struct stat about;
    if (fstat(file->descriptor, &about) != 0) return cannot(error, file->path, "read");
    file->size = keep;
    if (about.st_size < keep)
        return tw_fail(error, TW_BAD_INPUT,
                       "%s: has %lld bytes, the checkpoint says it had %lld: it was changed",
                       file->path, (long long)about.st_size, (long long)keep);
    if (ftruncate(file->descriptor, keep) != 0 || lseek(file->descriptor, 0, SEEK_END) < 0)
        return cannot(error, file->path, "written");

    return TW_OK;
}

tw_status tw_appender_open(tw_appender *file, const char *path, int64_t keep, tw_error *error)
{
    *file = (tw_appender){.descriptor = -1};
    snprintf(file->path, sizeof file->path, "%s", path);
    file->buffer = tw_allocate(BUFFER_BYTES, 1);
    if (!file->buffer) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    tw_status status = open_and_cut(file, keep, error);
    if (status != TW_OK) tw_appender_close(file);
    return status;
}

/* Gives what is in the buffer to the system. */
static tw_status empty_buffer(tw_appender *file, tw_error *error)
{
    if (!write_all(file->descriptor, file->buffer, file->used))
        return cannot(error, file->path, "written");
    file->used = 0;
    return TW_OK;
}

tw_status tw_appender_write(tw_appender *file, const char *bytes, size_t size, tw_error *error)
{
    while (size > 0) {
        /* Take as much as the buffer has room for. */
        size_t room = BUFFER_BYTES - file->used;
        size_t part = size < room ? size : room;
        memcpy(file->buffer + file->used, bytes, part);
        file->used += part;
        file->size += (int64_t)part;
        bytes += part;
        size -= part;

        if (file->used == BUFFER_BYTES) TW_TRY(empty_buffer(file, error));
    }
    return TW_OK;
}

/* Whether the path still leads to the open file. */
static bool is_still_there(const tw_appender *file)
{
    struct stat ours;
    struct stat there;
    return fstat(file->descriptor, &ours) == 0 && lstat(file->path, &there) == 0 &&
           ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

tw_status tw_appender_flush(tw_appender *file, tw_error *error)
{
    TW_TRY(empty_buffer(file, error));
    if (!is_still_there(file))
        return tw_fail(error, TW_INPUT_OUTPUT, "%s: was removed or replaced while it was written",
                       file->path);

    if (fsync(file->descriptor) == 0) return TW_OK;
    return cannot(error, file->path, "written");
}

void tw_appender_close(tw_appender *file)
{
    if (file->descriptor >= 0) close(file->descriptor);
    tw_release(file->buffer);
    file->buffer = NULL;
    file->descriptor = -1;
}
