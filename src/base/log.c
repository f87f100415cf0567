#include "base/log_line.h"

#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/number.h"

enum { SILENT = INT_MAX };

/* Read without the lock, so that a line nobody wants costs a load and a comparison. */
static atomic_int lowest_wanted = SILENT;

/* Held while the hook runs: calls never overlap, and once tw_log_set returns the old hook is at rest. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tw_log_function *log_function;
static void *log_context;

void tw_log_set(tw_log_function *function, void *context, tw_log_level lowest)
{
    pthread_mutex_lock(&lock);
    log_function = function;
    log_context = context;
    atomic_store(&lowest_wanted, function ? (int)lowest : SILENT);
    pthread_mutex_unlock(&lock);
}

void tw_log_line(tw_log_level level, const char *format, ...)
{
    if ((int)level < atomic_load_explicit(&lowest_wanted, memory_order_relaxed)) return;
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    tw_format(line, sizeof line, format, arguments);
    va_end(arguments);

    pthread_mutex_lock(&lock);
    /* The hook may have changed since the first look. */
    if ((int)level >= atomic_load(&lowest_wanted)) log_function(log_context, level, line);
    pthread_mutex_unlock(&lock);
}
