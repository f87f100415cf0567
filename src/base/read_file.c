/* Reading a whole file or pipe. */
#define _POSIX_C_SOURCE 200809L
#include "base/read_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/own_file.h"

/* Bytes of the first buffer where the size of the file is not known before (a pipe). */
enum { FIRST_BYTES = 65536 };

/* Bytes read so far; there is always room for the terminator behind them. */
typedef struct buffer {
    char *bytes;
    size_t size;
    size_t capacity;
} buffer;

/* Makes room for `capacity` bytes and keeps what is there. */
static tw_status enlarge(buffer *b, size_t capacity)
{
    char *larger = tw_allocate(capacity, 1);
    if (!larger) return TW_OUT_OF_MEMORY;

    if (b->size > 0) memcpy(larger, b->bytes, b->size);
    tw_release(b->bytes);
    b->bytes = larger;
    b->capacity = capacity;
    return TW_OK;
}

/* The size that the file system tells, or 0 where it knows none. */
static size_t size_of(int descriptor)
{
    struct stat about = {0};
    bool known = fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
    return known ? (size_t)about.st_size : 0;
}

/* Reads to the end, or until there are more than `most` bytes. errno tells the reason
 * for TW_INPUT_OUTPUT. */
static tw_status fill(int descriptor, size_t most, buffer *b)
{
    /* One byte more than the size of the file holds the terminator; a second one lets the last read
     * see the end without enlarging the buffer. */
    size_t expected = size_of(descriptor);
    TW_TRY(enlarge(b, expected > 0 ? expected + 2 : FIRST_BYTES));

    while (b->size <= most) {
        ssize_t got = read(descriptor, b->bytes + b->size, b->capacity - b->size - 1);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return TW_INPUT_OUTPUT;
        if (got == 0) break;

        b->size += (size_t)got;
        if (b->size + 1 == b->capacity) TW_TRY(enlarge(b, 2 * b->capacity));
    }
    b->bytes[b->size] = '\0';
    return TW_OK;
}

/* Reads what an open file holds, and closes it. */
static tw_status read_and_close(const char *path, int descriptor, size_t most, char **bytes,
                                size_t *size, tw_error *error)
{
    buffer b = {0};
    tw_status status = fill(descriptor, most, &b);
    int reason = errno;
    close(descriptor);

    if (status == TW_OK) {
        *bytes = b.bytes;
        *size = b.size;
        return TW_OK;
    }
    tw_release(b.bytes);
    if (status == TW_OUT_OF_MEMORY) return tw_fail_plain(error, status);
    return tw_fail(error, status, "%s: cannot be read: %s", path, strerror(reason));
}

tw_status tw_read_file(const char *path, size_t most, char **bytes, size_t *size, tw_error *error)
{
    *bytes = NULL;
    *size = 0;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return tw_fail(error, TW_INPUT_OUTPUT, "%s: cannot be opened: %s", path, strerror(errno));
    return read_and_close(path, descriptor, most, bytes, size, error);
}

tw_status tw_read_own_file(const char *path, size_t most, char **bytes, size_t *size,
                           tw_error *error)
{
    *bytes = NULL;
    *size = 0;
    int descriptor = -1;
    TW_TRY(tw_own_file_open(path, O_RDONLY, "opened", &descriptor, error));
    return read_and_close(path, descriptor, most, bytes, size, error);
}
