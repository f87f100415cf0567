#include "base/log_line.h"

#include <stdarg.h>
#include <stdio.h>

static tw_log_function *log_function;
static void *log_context;
static tw_log_level log_lowest = TW_LOG_WARNING;

void tw_log_set(tw_log_function *function, void *context, tw_log_level lowest)
{
    log_function = function;
    log_context = context;
    log_lowest = lowest;
}

void tw_log_line(tw_log_level level, const char *format, ...)
{
    if (!log_function || level < log_lowest) return;
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    log_function(log_context, level, line);
}
