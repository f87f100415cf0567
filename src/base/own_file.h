/* Opening a file in the directory of a run. What is in there is ours and leads nowhere else: links are not followed,
 * and what is no file (a pipe, a device) is not waited for. */
#ifndef TW_BASE_OWN_FILE_H
#define TW_BASE_OWN_FILE_H

#include <twang/status.h>

/* Opens `path` with the flags of open(); a new file gets the mode 0666 before the umask. `what` completes "cannot be
 * ...". On failure *descriptor is -1 and the error is TW_BAD_INPUT for a link or for what is no file, otherwise
 * TW_INPUT_OUTPUT with "PATH: cannot be WHAT: REASON". */
tw_status tw_own_file_open(const char *path, int flags, const char *what, int *descriptor,
                           tw_error *error);

#endif
