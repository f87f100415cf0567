/* What must be settled before the shared libraries of the command start.
 *
 * OpenBLAS reads how many threads it starts when the program is loaded. Each of them takes 128 MiB of
 * address space, and we use one. So the command sets the number in its environment and starts itself
 * again.
 *
 * It happens in .preinit_array, which the loader calls before the first constructor of a library:
 * under a limit of the address space (ulimit -v) the constructor of OpenBLAS cannot start its threads
 * and ends the program with lines of its own. The C library is not ready there either, so that only
 * system calls are used, and the environment is the one that the loader hands over. */
#define _POSIX_C_SOURCE 200809L
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* An environment with more variables is left as it is. */
enum { MOST_VARIABLES = 4096, ADDED_VARIABLES = 1 };

static bool is_variable(const char *entry, const char *name)
{
    size_t length = strlen(name);
    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

static void prepare_threads(int count, char **words, char **environment)
{
    (void)count;
    static char one_thread[] = "OPENBLAS_NUM_THREADS=1";
    static char *changed[MOST_VARIABLES + ADDED_VARIABLES + 1];

    /* Everything but the number of OpenBLAS's threads stays. */
    bool has_one_thread = false;
    size_t used = 0;
    for (char **at = environment; *at; at++) {
        if (strcmp(*at, one_thread) == 0) has_one_thread = true;
        if (is_variable(*at, "OPENBLAS_NUM_THREADS")) continue;
        if (used == MOST_VARIABLES) return;
        changed[used++] = *at;
    }
    if (has_one_thread) return;

    changed[used++] = one_thread;
    changed[used] = NULL;

    /* Where this is not possible, the command goes on as it is. */
    execve("/proc/self/exe", words, changed);
}

/* A sanitizer is not ready there either, so that its builds wait for their constructors. */
#ifdef TWANG_SANITIZED
__attribute__((constructor)) static void at_load(int count, char **words, char **environment)
{
    prepare_threads(count, words, environment);
}
#else
__attribute__((section(".preinit_array"),
               used)) static void (*const at_load)(int, char **, char **) = prepare_threads;
#endif
