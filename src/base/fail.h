/* Failing: filling a tw_error in one line, and passing a status on. */
#ifndef TW_BASE_FAIL_H
#define TW_BASE_FAIL_H

#include <twang/status.h>

/* Writes status and formatted text into error (if not NULL) and returns the status. */
tw_status tw_fail(tw_error *error, tw_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As tw_fail with the status's own text; for errors that need no more words. */
tw_status tw_fail_plain(tw_error *error, tw_status status);

/* Returns from the calling function with the status of `call` unless it is TW_OK. Only for
 * functions that have nothing to release on the way out. */
#define TW_TRY(call)                                                                               \
    do {                                                                                           \
        tw_status tw_try_ = (call);                                                                \
        if (tw_try_ != TW_OK) return tw_try_;                                                      \
    } while (0)

#endif
