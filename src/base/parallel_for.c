/* The parallel loop over OpenMP, and the decision whether several threads pay. */
#define _DEFAULT_SOURCE
#include "base/parallel_for.h"

#include <assert.h>
#include <omp.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "base/timer.h"

/* Whether several threads are faster than one. On a machine that runs other programs as well, all
 * threads wait for the one that has no processor: two threads were seen to take five times as long
 * as one. Therefore a trial of some loops compares the seconds for which the threads had a processor
 * with the seconds that passed. If the gain is small, the next loops run on the calling thread alone,
 * and after these there is another trial. If it is large, the next loops are not measured, because
 * asking for the time of a thread is a call of the system. Results do not depend on it. */
typedef struct team_record {
    int loops;     /* loops in this trial */
    double worked; /* seconds for which the threads had a processor, added up */
    double lasted; /* seconds that passed */
    int alone;     /* loops that still run on the calling thread alone */
    int trusted;   /* loops that still run on all threads without being measured */
    int penalty;   /* loops that ran alone after the last trial; 0 if the threads were faster */
} team_record;

/* A trial ends after TRIAL_LOOPS loops, or after FEW_LOOPS that took TRIAL_SECONDS: long enough for
 * a mean, short enough to lose little. */
enum { TRIAL_LOOPS = 256, FEW_LOOPS = 4 };
static const double TRIAL_SECONDS = 5e-2;

/* Loops to run on all threads after a trial with gain. */
enum { TRUSTED_LOOPS = 256 };

/* Loops to run alone after a trial without gain: doubled from trial to trial, because the reason
 * mostly lasts. */
enum { LEAST_PENALTY = 256, LARGEST_PENALTY = 4096 };

/* Seconds worked per second that passed: below this the threads are not worth their energy. */
static const double WORTHWHILE_GAIN = 1.15;

/* Seconds: a shorter loop is mostly the start of the threads and tells nothing about
 * longer loops. */
static const double SHORT_LOOP = 2e-5;

static _Thread_local int chosen_threads; /* 0: not chosen */
static _Thread_local team_record team;

/* Under ThreadSanitizer, which looks for races, all threads always run. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TEAM_ALWAYS true
#endif
#endif
#ifndef TEAM_ALWAYS
#define TEAM_ALWAYS false
#endif

/* Adds a loop to the trial, and ends the trial when it has seen enough. */
static void note_loop(double worked, double lasted)
{
    if (lasted < SHORT_LOOP) return;
    team.loops++;
    team.worked += worked;
    team.lasted += lasted;
    if (team.loops < FEW_LOOPS) return;
    if (team.loops < TRIAL_LOOPS && team.lasted < TRIAL_SECONDS) return;

    /* A trial with gain clears the penalty, a trial without gain doubles it. */
    int penalty = 0;
    bool gains = TEAM_ALWAYS || team.worked >= WORTHWHILE_GAIN * team.lasted;
    if (!gains) {
        penalty = team.penalty > 0 ? 2 * team.penalty : LEAST_PENALTY;
        if (penalty > LARGEST_PENALTY) penalty = LARGEST_PENALTY;
    }
    team =
        (team_record){.penalty = penalty, .alone = penalty, .trusted = gains ? TRUSTED_LOOPS : 0};
}

void tw_set_threads(int threads)
{
    chosen_threads = threads > 0 ? threads : 0;
    team = (team_record){0}; /* a new team, a new trial */
}

int tw_threads(void)
{
    if (chosen_threads > 0) return chosen_threads;
    int threads = omp_get_max_threads();
    return threads > 0 ? threads : 1;
}

/* ---- room for threads ---- */

/* The stacks of other threads may take at most this share of the address space that is left. */
static const size_t STACK_SHARE = 2; /* a half */

static _Thread_local int largest_team = 1; /* that there was room for */
static _Thread_local bool is_narrow;       /* a larger one had no room */

/* Whether the stacks of a team fit into the address space, with room left for other things. OpenMP ends
 * the program where it cannot start a thread, as under a limit of the address space (ulimit -v). */
static bool has_room(int threads)
{
    pthread_attr_t usual;
    size_t stack = 0;

    /* The usual size of a stack, as OpenMP takes it. */
    if (pthread_attr_init(&usual) != 0) return false;
    pthread_attr_getstacksize(&usual, &stack);
    pthread_attr_destroy(&usual);

    /* Anonymous memory has the descriptor -1. */
    size_t bytes = STACK_SHARE * stack * (size_t)(threads - 1);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    /* cppcheck-suppress invalidFunctionArg */
    void *probe = mmap(NULL, bytes, PROT_NONE, flags, -1, 0);
    if (probe == MAP_FAILED) return false;
    munmap(probe, bytes);
    return true;
}

/* The size of the team for `wanted` threads: as wanted, or else as before. A thread that calls has a
 * team of its own, which stays. */
static int team_size(int wanted)
{
    if (wanted <= largest_team) return wanted;
    if (is_narrow || !has_room(wanted)) {
        is_narrow = true;
        return largest_team;
    }

    largest_team = wanted;
    return wanted;
}

/* ---- the loop ---- */

/* Calls the function with the range of one block; the last block may be shorter. */
static void call_block(int64_t count, int64_t block, int64_t index, tw_parallel_block *function,
                       void *context)
{
    int64_t begin = index * block;
    int64_t end = count - begin < block ? count : begin + block;
    function(context, begin, end, index);
}

void tw_parallel_for(int64_t count, int64_t block, tw_parallel_block *function, void *context)
{
    assert(block > 0);
    int64_t blocks = tw_parallel_blocks(count, block);
    int64_t wanted = tw_threads();
    int threads = (int)(wanted < blocks ? wanted : blocks);

    /* One thread suffices, or several were slower in the last trial, or there cannot be more. */
    bool rests = team.alone > 0;
    if (threads > 1 && rests) team.alone--;
    if (!rests) threads = team_size(threads);
    if (rests || threads <= 1) {
        for (int64_t b = 0; b < blocks; b++) call_block(count, block, b, function, context);
        return;
    }

    if (team.trusted > 0) {
        team.trusted--;
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t b = 0; b < blocks; b++) call_block(count, block, b, function, context);
        return;
    }

    /* Threads share the blocks; their seconds of work are added up. */
    double begin = tw_clock();
    double worked = 0;
#pragma omp parallel num_threads(threads) reduction(+ : worked)
    {
        double start = tw_thread_clock();
#pragma omp for schedule(static) nowait
        for (int64_t b = 0; b < blocks; b++) call_block(count, block, b, function, context);
        worked += tw_thread_clock() - start;
    }
    note_loop(worked, tw_clock() - begin);
}

int tw_parallel_hold(void)
{
    int levels = omp_get_max_active_levels();
    omp_set_max_active_levels(0);
    return levels;
}

void tw_parallel_resume(int held)
{
    omp_set_max_active_levels(held);
}
