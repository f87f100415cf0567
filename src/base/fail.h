/* Filling a tw_error in one line. */
#ifndef TW_BASE_FAIL_H
#define TW_BASE_FAIL_H

#include <twang/status.h>

/* Writes status and formatted text into error (if not NULL) and returns the status. */
tw_status tw_fail(tw_error *error, tw_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As tw_fail with the status's own text; for errors that need no more words. */
tw_status tw_fail_plain(tw_error *error, tw_status status);

#endif
