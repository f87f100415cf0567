/** @file status.h
 *  What every fallible function of Twang returns, and the optional text that says more.
 */
#ifndef TWANG_STATUS_H
#define TWANG_STATUS_H

#include <stddef.h>
#include <twang/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The one list of statuses: enumerator and plain text. */
#define TW_STATUS_LIST(X)                                                                          \
    X(TW_OK, "success")                                                                            \
    X(TW_INVALID_ARGUMENT, "invalid argument")                                                     \
    X(TW_OUT_OF_MEMORY, "out of memory")                                                           \
    X(TW_UNSUPPORTED, "unsupported: this method does not apply to this problem")                   \
    X(TW_NOT_FINITE, "a value is NaN or infinite")                                                 \
    X(TW_NOT_CONVERGED, "the requested accuracy was not reached")                                  \
    X(TW_ILL_CONDITIONED, "the condition of the problem exceeds what double precision allows")     \
    X(TW_NOT_POSITIVE_DEFINITE, "the matrix is not positive definite")                             \
    X(TW_SINGULAR, "the matrix is singular")                                                       \
    X(TW_RECOVERABLE, "recoverable: try a smaller step")                                           \
    X(TW_STEP_TOO_SMALL, "the step size fell below its smallest value")                            \
    X(TW_BUDGET_EXHAUSTED, "the budget of steps or products is exhausted")                         \
    X(TW_CALLBACK_FAILED, "a user callback reported failure")                                      \
    X(TW_INTERRUPTED, "interrupted")                                                               \
    X(TW_EVENT_STOP, "an event stopped the run")                                                   \
    X(TW_BAD_INPUT, "bad input")                                                                   \
    X(TW_INPUT_OUTPUT, "input or output failed")                                                   \
    X(TW_INTERNAL, "internal error")

#define TW_STATUS_ENUMERATOR(name, text) name,
/** Result of an operation; TW_OK is zero. */
typedef enum tw_status { TW_STATUS_LIST(TW_STATUS_ENUMERATOR) TW_STATUS_COUNT } tw_status;
#undef TW_STATUS_ENUMERATOR

enum { TW_ERROR_TEXT_SIZE = 512 };

/** More about a failure than its status. Every function that takes one accepts NULL. */
typedef struct tw_error {
    /** The status that the function returned. */
    tw_status status;
    /** One line, terminated; for files "file:line:column: what is wrong, what would be right". Names and texts
     *  of the input stand in it as tw_printable writes them. */
    char text[TW_ERROR_TEXT_SIZE];
} tw_error;

/** Plain English for a status; never NULL, static storage. */
TW_API const char *tw_status_text(tw_status status);

/** The enumerator's own name ("TW_OUT_OF_MEMORY"); never NULL, static storage. */
TW_API const char *tw_status_name(tw_status status);

/** Copies a text from anywhere such that it is one line and moves no terminal: control characters and
 *  bytes that are no UTF-8 become "\x1b", in hexadecimal digits; all else stays. What does not fit into
 *  `size` bytes is left out, and no character is cut. Returns `buffer`, or "" if an argument is NULL or
 *  the size is 0. */
TW_API const char *tw_printable(char *buffer, size_t size, const char *text);

#ifdef __cplusplus
}
#endif
#endif
