/* The log hook of the process. */
#include "base/log_line.h"

#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/number.h"

/* A level above all levels: no line is wanted. */
enum { SILENT = INT_MAX };

enum { LINE_SIZE = 512 };

/* tw_log_line reads this without the lock, so that an unwanted line costs a load and
 * a comparison. */
static atomic_int lowest_wanted = SILENT;

/* The lock is held while the hook runs. Calls of the hook therefore never overlap, and once
 * tw_log_set has returned, the old hook is not running any more. */
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

    /* Longer lines are cut. Names and texts of the input may hold anything. */
    char text[LINE_SIZE];
    char line[LINE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    tw_format(text, sizeof text, format, arguments);
    va_end(arguments);
    tw_printable(line, sizeof line, text);

    /* The hook may have changed since the level was read, so the level is compared again. */
    pthread_mutex_lock(&lock);
    if ((int)level >= atomic_load(&lowest_wanted)) log_function(log_context, level, line);
    pthread_mutex_unlock(&lock);
}
