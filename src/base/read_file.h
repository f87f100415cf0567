/* Reading a whole file into memory. */
#ifndef TW_BASE_READ_FILE_H
#define TW_BASE_READ_FILE_H

#include <stddef.h>
#include <twang/status.h>

/* The value of `most` that sets no limit. */
#define TW_READ_ALL ((size_t)-1)

/* Reads the file or pipe at `path` to its end, but stops once more than `most` bytes have come; the
 * caller sees *size > most and refuses the file. *bytes has a terminator at bytes[*size] and is
 * freed by tw_release.
 *
 * On failure *bytes is NULL and the error is TW_INPUT_OUTPUT with "PATH: cannot be opened: REASON"
 * or "PATH: cannot be read: REASON", or TW_OUT_OF_MEMORY. */
tw_status tw_read_file(const char *path, size_t most, char **bytes, size_t *size, tw_error *error);

/* The same for a file in the directory of a run, which is opened by tw_own_file_open(). */
tw_status tw_read_own_file(const char *path, size_t most, char **bytes, size_t *size,
                           tw_error *error);

#endif
