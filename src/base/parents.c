/* Making the directories above a path, and removing them again after a failure. */
#define _POSIX_C_SOURCE 200809L
#include <twang/parents.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"

/* The mode of new directories, before the umask. */
enum { ALL_MAY_USE = 0777 };

tw_status tw_parents_make(tw_parents *parents, const char *path, tw_error *error)
{
    if (!parents || !path) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    *parents = (tw_parents){0};
    size_t length = strlen(path);
    if (length >= TW_PARENTS_SIZE)
        return tw_fail(error, TW_INPUT_OUTPUT, "%.200s...: the path is too long", path);
    memcpy(parents->path, path, length + 1);

    /* The path is cut off at each slash for a moment. A slash at its begin is the root. */
    for (size_t i = 1; i < length; i++) {
        if (path[i] != '/') continue;
        parents->path[i] = '\0';
        bool is_made = mkdir(parents->path, ALL_MAY_USE) == 0;
        int reason = errno;
        if (!is_made && reason != EEXIST) {
            tw_fail(error, TW_INPUT_OUTPUT, "%s: cannot be made: %s", parents->path,
                    strerror(reason));
            parents->path[i] = '/';
            tw_parents_remove(parents);
            return TW_INPUT_OUTPUT;
        }
        parents->path[i] = '/';
        parents->is_made[i] = is_made;
    }
    return TW_OK;
}

void tw_parents_remove(tw_parents *parents)
{
    /* The deepest first. One that holds something stays. */
    if (!parents) return;
    for (int i = TW_PARENTS_SIZE - 1; i > 0; i--) {
        if (!parents->is_made[i]) continue;
        parents->path[i] = '\0';
        rmdir(parents->path);
        parents->path[i] = '/';
    }
    *parents = (tw_parents){0};
}
