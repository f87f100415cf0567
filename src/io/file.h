/* Files written so that a kill or a full disk never leaves half of one where a whole one was. Errors are
 * TW_INPUT_OUTPUT with "PATH: cannot be written: reason". */
#ifndef TW_IO_FILE_H
#define TW_IO_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <twang/status.h>

enum { TW_FILE_PATH_SIZE = 4096 };

/* directory/name; TW_INPUT_OUTPUT if that is too long. */
tw_status tw_file_path(char path[TW_FILE_PATH_SIZE], const char *directory, const char *name,
                       tw_error *error);

/* Replaces the file as a whole: a temporary one beside it, flushed to the disk, renamed over it. */
tw_status tw_file_replace(const char *path, const void *bytes, size_t size, tw_error *error);

/* All of a file; `*bytes` gets a terminator beyond `*size` and is freed by tw_release. */
tw_status tw_file_read(const char *path, char **bytes, size_t *size, tw_error *error);

bool tw_file_exists(const char *path);
/* Missing is no error. */
tw_status tw_file_remove(const char *path, tw_error *error);
/* Flushes a file that was closed before; missing is no error. */
tw_status tw_file_flush(const char *path, tw_error *error);

/* A file that only grows. */
typedef struct tw_appender {
    int descriptor; /* -1: not open */
    int64_t size;   /* bytes so far, those in the buffer included */
    size_t used;
    char *buffer;
    char path[TW_FILE_PATH_SIZE];
} tw_appender;

/* Opens (creates) the file and cuts it to `keep` bytes; TW_BAD_INPUT if it has fewer. */
tw_status tw_appender_open(tw_appender *file, const char *path, int64_t keep, tw_error *error);
tw_status tw_appender_write(tw_appender *file, const char *bytes, size_t size, tw_error *error);
/* Everything written so far is on the disk afterwards. */
tw_status tw_appender_flush(tw_appender *file, tw_error *error);
/* Closes without flushing what is buffered; accepts one that is not open. */
void tw_appender_close(tw_appender *file);

#endif
