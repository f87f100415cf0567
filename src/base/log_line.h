#ifndef TW_BASE_LOG_LINE_H
#define TW_BASE_LOG_LINE_H

#include <twang/log.h>

/* Tells the log hook, if there is one that wants this level. */
void tw_log_line(tw_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
