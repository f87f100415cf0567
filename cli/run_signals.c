/* Ctrl-C and SIGTERM while a run is under way. The first signal ends it with a checkpoint, and a
 * second one ends the program as usual.
 *
 * A sparse factorisation cannot be interrupted, and may take minutes. A second thread therefore waits
 * for the first signal. If the run has not heard of it a second later, the thread ends the program
 * without a new checkpoint: the last one is whole, as after any kill, and run.json says
 * "interrupted". */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command.h"

enum {
    LONGEST_DEAFNESS = 1,   /* s, from the signal to the end of a run that does not hear it */
    SIGNAL_EXIT = 128,      /* added to the number of the signal, as shells do */
    WATCHER_STACK = 1 << 17 /* bytes; it reads and writes one small file */
};

static atomic_int signal_number; /* 0: none so far */
static atomic_bool signal_heard; /* the run was told to stop */
static bool has_terminal;        /* that the user reads */
static char run_directory[TW_RUN_DIRECTORY_SIZE];
static sem_t signal_arrived;

/* A program that stops us may signal the process and its group: that counts as one signal. */
static const double one_signal_seconds = 0.5;
static struct timespec first_signal;

static double seconds_since_first_signal(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return difftime(now.tv_sec, first_signal.tv_sec) +
           1e-9 * (double)(now.tv_nsec - first_signal.tv_nsec);
}

static void remember_signal(int number)
{
    static const char line[] = "\r\033[Kthe run ends with a checkpoint; a second signal ends it at "
                               "once\n";

    /* The handler may not change errno. */
    int before = errno;

    /* A second signal does what it does to every program. */
    if (atomic_load(&signal_number)) {
        if (seconds_since_first_signal() > one_signal_seconds) {
            signal(number, SIG_DFL);
            raise(number);
        }
        errno = before;
        return;
    }

    clock_gettime(CLOCK_MONOTONIC, &first_signal);
    atomic_store(&signal_number, number);
    sem_post(&signal_arrived);

    /* A terminal that is gone does not matter. */
    if (has_terminal && write(STDERR_FILENO, line, sizeof line - 1) < 0) errno = before;
    errno = before;
}

/* Waits for the first signal, gives the run its time to hear of it, and ends the program if it has
 * not. */
static void *watch(void *unused)
{
    while (sem_wait(&signal_arrived) != 0 && errno == EINTR) {}

    struct timespec rest = {.tv_sec = LONGEST_DEAFNESS};
    while (nanosleep(&rest, &rest) != 0 && errno == EINTR) {}
    if (atomic_load(&signal_heard)) return unused;

    tw_run_abandon(run_directory, NULL);
    fprintf(stderr,
            "the step cannot be interrupted: the run ends with the checkpoint before it; go on "
            "with: twang resume %s\n",
            run_directory);
    _exit(SIGNAL_EXIT + atomic_load(&signal_number));
}

/* Without memory for the thread a long factorisation delays the first signal, and the second one
 * still ends the program. */
static void start_watcher(void)
{
    pthread_attr_t how;
    pthread_t watcher;
    if (sem_init(&signal_arrived, 0, 0) != 0 || pthread_attr_init(&how) != 0) return;
    pthread_attr_setstacksize(&how, WATCHER_STACK);
    pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
    (void)pthread_create(&watcher, &how, watch, NULL);
    pthread_attr_destroy(&how);
}

void catch_run_signals(const char *directory, bool on_terminal)
{
    snprintf(run_directory, sizeof run_directory, "%s", directory);
    has_terminal = on_terminal;
    start_watcher();

    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = remember_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool is_run_signalled(void)
{
    if (atomic_load(&signal_number) == 0) return false;
    atomic_store(&signal_heard, true);
    return true;
}

int run_signal_exit(void)
{
    return SIGNAL_EXIT + atomic_load(&signal_number);
}
