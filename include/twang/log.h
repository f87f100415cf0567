/** @file log.h
 *  The library never prints. It tells a hook, if there is one.
 */
#ifndef TWANG_LOG_H
#define TWANG_LOG_H

#include <twang/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tw_log_level { TW_LOG_DEBUG, TW_LOG_INFO, TW_LOG_WARNING } tw_log_level;

/** Receives one line without a newline, at most 511 characters. Called from any thread, never from
 *  two at once; must not call back into Twang. */
typedef void tw_log_function(void *context, tw_log_level level, const char *line);

/** Sets the process-wide hook and the lowest level it wants; NULL (the default) silences.
 *  Thread-safe: once it has returned, the hook before is no longer running and will not be called
 *  again. */
TW_API void tw_log_set(tw_log_function *function, void *context, tw_log_level lowest);

#ifdef __cplusplus
}
#endif
#endif
