#define _POSIX_C_SOURCE 200809L
#include "base/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"

tw_status tw_own_file_open(const char *path, int flags, const char *what, int *descriptor,
                           tw_error *error)
{
    /* Without O_NONBLOCK a pipe would be waited for until somebody opens its other end. It means nothing to files. */
    *descriptor = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    int reason = *descriptor < 0 ? errno : 0;
    if (reason == ELOOP)
        return tw_fail(error, TW_BAD_INPUT, "%s: is a link, which twang does not follow here",
                       path);

    /* ENXIO is what a pipe that nobody reads, or a socket, answers. */
    struct stat about = {0};
    bool is_file = *descriptor >= 0 && fstat(*descriptor, &about) == 0 && S_ISREG(about.st_mode);
    if (is_file) return TW_OK;

    if (*descriptor >= 0) close(*descriptor);
    bool is_open = *descriptor >= 0;
    *descriptor = -1;
    if (is_open || reason == ENXIO)
        return tw_fail(error, TW_BAD_INPUT, "%s: is not a regular file, which twang expects here",
                       path);
    return tw_fail(error, TW_INPUT_OUTPUT, "%s: cannot be %s: %s", path, what, strerror(reason));
}
