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

/* Makes one directory, unless it is there. */
static tw_status make_one(const char *path, bool *is_made, tw_error *error)
{
    *is_made = mkdir(path, ALL_MAY_USE) == 0;
    if (*is_made) return TW_OK;
    if (errno != EEXIST)
        return tw_fail(error, TW_INPUT_OUTPUT, "%s: cannot be made: %s", path, strerror(errno));

    struct stat found;
    if (stat(path, &found) == 0 && !S_ISDIR(found.st_mode))
        return tw_fail(error, TW_BAD_INPUT, "%s is a file, and not a folder", path);
    return TW_OK;
}

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
        bool is_made = false;
        tw_status status = make_one(parents->path, &is_made, error);
        parents->path[i] = '/';
        parents->is_made[i] = is_made;
        if (status != TW_OK) {
            tw_parents_remove(parents);
            return status;
        }
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
