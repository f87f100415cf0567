/** @file parents.h
 *  The directories above a file or a directory that is to be written: -o a/b/c makes a and a/b.
 */
#ifndef TWANG_PARENTS_H
#define TWANG_PARENTS_H

#include <twang/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TW_PARENTS_SIZE = 4096 /**< of a path, with its end */ };

/** Directories that were made. Zero-initialised there are none. */
typedef struct tw_parents {
    char path[TW_PARENTS_SIZE]; /**< what they are above */
    /** Not 0 at a slash of the path before which stands a directory that was made. */
    char is_made[TW_PARENTS_SIZE];
} tw_parents;

/** Makes the directories above `path` that are not there yet. TW_INPUT_OUTPUT with
 *  "DIR: cannot be made: REASON" if one cannot be made; then none is left. */
TW_API tw_status tw_parents_make(tw_parents *parents, const char *path, tw_error *error);

/** Removes those that were made again, as far as they are empty: for a failure after which nothing
 *  should be left. Accepts NULL. */
TW_API void tw_parents_remove(tw_parents *parents);

#ifdef __cplusplus
}
#endif
#endif
