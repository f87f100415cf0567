/* Ctrl-C and SIGTERM. While a run is under way, the first signal ends it with a checkpoint, and a
 * second one ends the program as usual.
 *
 * No thread is interrupted by them: all threads block them, and one waits for them. METIS, which orders
 * sparse matrices, catches SIGTERM while it works, and its handler jumps to a place that only METIS's own
 * thread knows. In any other thread that handler would crash the program.
 *
 * A sparse factorisation cannot be interrupted, and may take minutes. If the run has not heard of the
 * signal a second later, the waiting thread ends the program without a new checkpoint: the last one is
 * whole, as after any kill, and run.json says "interrupted". */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "command.h"

enum {
    SIGNAL_EXIT = 128,      /* added to the number of the signal, as shells do */
    WATCHER_STACK = 1 << 17 /* bytes; it reads and writes one small file */
};

static atomic_bool is_caught;                     /* someone asks is_run_signalled */
static atomic_int signal_number;                  /* 0: none so far */
static atomic_bool signal_heard;                  /* the run was told to stop */
static bool has_terminal;                         /* that the user reads */
static char run_directory[TW_RUN_DIRECTORY_SIZE]; /* "": there is none to give up */

/* A program that stops us may signal the process and its group: that counts as one signal. */
static const double one_signal_seconds = 0.5;
/* From the signal to the end of a run that does not hear it. */
static const double longest_deafness = 1.0;

static sigset_t ending_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

/* The signal does what it does to every program. */
static void end_by(int number)
{
    signal(number, SIG_DFL);
    release_signals();
    raise(number);
}

/* A second signal until `end` ends the program, unless it belongs to the first one. */
static void wait_for_second(double begin, double end)
{
    sigset_t set = ending_signals();
    double rest = 0.0;
    while ((rest = end - clock_seconds()) > 0.0) {
        struct timespec time = {.tv_sec = (time_t)rest};
        time.tv_nsec = (long)(1e9 * (rest - (double)time.tv_sec));
        int number = sigtimedwait(&set, NULL, &time);
        if (number > 0 && clock_seconds() - begin > one_signal_seconds) end_by(number);
    }
}

/* Ends the program although the run has not stopped. */
static void give_up(void)
{
    tw_run_abandon(run_directory, NULL);
    fprintf(stderr,
            "the step cannot be interrupted: the run ends with the checkpoint before it; go on "
            "with: twang resume %s\n",
            shell_word(run_directory));
    _exit(SIGNAL_EXIT + atomic_load(&signal_number));
}

/* The first signal: tells the run, and gives it its time to hear of it. */
static void tell_run(int number)
{
    static const char line[] = "\r\033[Kthe run ends with a checkpoint; a second signal ends it at "
                               "once\n";
    double begin = clock_seconds();
    atomic_store(&signal_number, number);

    /* A terminal that is gone does not matter. */
    if (has_terminal && write(STDERR_FILENO, line, sizeof line - 1) < 0) errno = 0;

    wait_for_second(begin, begin + longest_deafness);
    if (run_directory[0] && !atomic_load(&signal_heard)) give_up();
}

static void *watch(void *unused)
{
    sigset_t set = ending_signals();
    for (;;) {
        int number = 0;
        if (sigwait(&set, &number) != 0) continue;

        /* Nobody stops for it, or somebody was told already. */
        if (!atomic_load(&is_caught) || atomic_load(&signal_number)) end_by(number);
        tell_run(number);
    }
    return unused;
}

void release_signals(void)
{
    sigset_t set = ending_signals();
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void await_signals(void)
{
    sigset_t set = ending_signals();
    pthread_attr_t how;
    pthread_t watcher;
    pthread_sigmask(SIG_BLOCK, &set, NULL);

    /* The thread needs little memory, and nobody waits for its end. */
    bool works = pthread_attr_init(&how) == 0;
    if (works) {
        pthread_attr_setstacksize(&how, WATCHER_STACK);
        pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
        works = pthread_create(&watcher, &how, watch, NULL) == 0;
        pthread_attr_destroy(&how);
    }

    /* Without memory for the thread a signal ends the program as usual, without a checkpoint. */
    if (!works) release_signals();
}

void catch_run_signals(const char *directory, bool on_terminal)
{
    if (directory) snprintf(run_directory, sizeof run_directory, "%s", directory);
    has_terminal = on_terminal;
    atomic_store(&is_caught, true);
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
