/* How much memory a process can still get. */
#define _POSIX_C_SOURCE 200809L
#include "base/available_memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const double bytes_per_kilobyte = 1024.0;

/* What the system can give without swapping: the line MemAvailable of /proc/meminfo. */
static double free_on_machine(void)
{
    FILE *file = fopen("/proc/meminfo", "r");
    if (!file) return INFINITY;

    static const char key[] = "MemAvailable:";
    char line[128];
    double bytes = INFINITY;
    while (fgets(line, sizeof line, file))
        if (strncmp(line, key, sizeof key - 1) == 0)
            bytes = bytes_per_kilobyte * (double)strtoll(line + sizeof key - 1, NULL, 10);
    fclose(file);
    return bytes;
}

/* What is left of the address space: the limit less the size of the process, which is the first
 * number of /proc/self/statm [pages]. */
static double free_in_address_space(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return INFINITY;

    char line[128] = "0";
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && !fgets(line, sizeof line, file)) line[0] = '\0';
    if (file) fclose(file);

    double used = (double)strtoll(line, NULL, 10) * (double)sysconf(_SC_PAGESIZE);
    return fmax((double)limit.rlim_cur - used, 0.0);
}

double tw_available_memory(void)
{
    return fmin(free_on_machine(), free_in_address_space());
}
