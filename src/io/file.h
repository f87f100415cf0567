/* Writing files so that neither a kill nor a full disk leaves half a file where a whole one was.
 * Errors are TW_INPUT_OUTPUT with "PATH: cannot be written: REASON". */
#ifndef TW_IO_FILE_H
#define TW_IO_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <twang/status.h>

enum { TW_FILE_PATH_SIZE = 4096 };

/* Makes directory/name; TW_INPUT_OUTPUT if that is too long. */
tw_status tw_file_path(char path[TW_FILE_PATH_SIZE], const char *directory, const char *name,
                       tw_error *error);

/* Replaces the file as a whole: writes a temporary file beside it, flushes that to
 * the disk, and renames it. */
tw_status tw_file_replace(const char *path, const void *bytes, size_t size, tw_error *error);

/* For a full disk: writes over a file that is there, if the bytes fit into the blocks that
 * it has. A kill in between may leave half of them. */
tw_status tw_file_overwrite(const char *path, const void *bytes, size_t size, tw_error *error);

/* Whether there is a file, a directory or a link of this name. */
bool tw_file_exists(const char *path);
/* Whether what has this name is neither a file nor a link, but a directory or a pipe, say. */
bool tw_file_is_special(const char *path);
/* TW_BAD_INPUT if there is something of this name that is not a directory, nor a link to one. */
tw_status tw_file_expect_directory(const char *path, tw_error *error);
/* TW_BAD_INPUT if it is a link: what is inside a run's directory is ours, and leads nowhere else. */
tw_status tw_file_refuse_link(const char *path, tw_error *error);
/* The same, and TW_BAD_INPUT for what is no file, a pipe, say. What is missing is no error. */
tw_status tw_file_expect_regular(const char *path, tw_error *error);
/* Removes the file. A file that is missing is no error. */
tw_status tw_file_remove(const char *path, tw_error *error);
/* Flushes a file that was closed before. TW_INPUT_OUTPUT if it was removed. */
tw_status tw_file_flush(const char *path, tw_error *error);

/* A file that only grows. */
typedef struct tw_appender {
    int descriptor; /* -1: not open */
    int64_t size;   /* bytes so far, those in the buffer included */
    size_t used;    /* bytes in the buffer */
    char *buffer;
    char path[TW_FILE_PATH_SIZE];
} tw_appender;

/* Opens (creates) the file and cuts it to `keep` bytes; TW_BAD_INPUT if it has fewer. */
tw_status tw_appender_open(tw_appender *file, const char *path, int64_t keep, tw_error *error);
tw_status tw_appender_write(tw_appender *file, const char *bytes, size_t size, tw_error *error);
/* Brings everything written so far to the disk. TW_INPUT_OUTPUT if the file was removed or replaced
 * by somebody else. */
tw_status tw_appender_flush(tw_appender *file, tw_error *error);
/* Closes the file and drops what is still in the buffer. Accepts a file that is not open. */
void tw_appender_close(tw_appender *file);

#endif
