/* The monotonic clock, and that of a thread. */
#define _POSIX_C_SOURCE 200809L
#include "base/timer.h"

#include <time.h>

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double tw_clock(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

double tw_thread_clock(void)
{
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}
