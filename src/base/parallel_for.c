#include "base/parallel_for.h"

#include <assert.h>
#include <omp.h>
#include <stdbool.h>

#include "base/timer.h"

/* Whether a team pays. On a machine that others use as well, a thread that has to wait for its processor holds up all:
 * two threads were seen to take five times as long as one. So the time that threads worked is compared with the time
 * that passed, over some loops; where there is little gain, the next loops run on the calling thread, and the team is
 * tried again later. Results do not depend on it. */
typedef struct team_record {
    int loops;             /* in this trial */
    double worked, lasted; /* seconds: of all threads together, and by the clock */
    int alone,
        penalty; /* loops still to run on the calling thread; how many it will be the next time */
} team_record;

enum { TRIAL_LOOPS = 256, FEW_LOOPS = 4, LEAST_PENALTY = 256, LARGEST_PENALTY = 4096 };
static const double trial_seconds = 5e-2, worthwhile_gain = 1.15;
static const double short_loop =
    2e-5; /* s: too little to say anything about longer ones, unless it takes long */

static _Thread_local int chosen_threads; /* 0: not chosen */
static _Thread_local team_record team;

/* A race detector wants to see threads. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TEAM_ALWAYS true
#endif
#endif
#ifndef TEAM_ALWAYS
#define TEAM_ALWAYS false
#endif

static void note_loop(double worked, double lasted)
{
    if (lasted < short_loop) return;
    team.loops++;
    team.worked += worked;
    team.lasted += lasted;
    if (team.loops < FEW_LOOPS || (team.loops < TRIAL_LOOPS && team.lasted < trial_seconds)) return;
    bool pays = TEAM_ALWAYS || team.worked >= worthwhile_gain * team.lasted;
    int last = team.penalty > 0 ? team.penalty : LEAST_PENALTY / 2;
    team = (team_record){.penalty = pays ? 0 : last < LARGEST_PENALTY ? 2 * last : last};
    team.alone = team.penalty;
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

static void call_body(int64_t count, int64_t block, int64_t index, tw_parallel_body *body,
                      void *context)
{
    int64_t begin = index * block;
    body(context, begin, count - begin < block ? count : begin + block, index);
}

void tw_parallel_for(int64_t count, int64_t block, tw_parallel_body *body, void *context)
{
    assert(block > 0);
    int64_t blocks = tw_parallel_blocks(count, block);
    int64_t wanted = tw_threads();
    int threads = (int)(wanted < blocks ? wanted : blocks);
    if (threads <= 1 || team.alone > 0) {
        if (threads > 1) team.alone--;
        for (int64_t b = 0; b < blocks; b++) call_body(count, block, b, body, context);
        return;
    }
    double begin = tw_clock(), worked = 0;
#pragma omp parallel num_threads(threads) reduction(+ : worked)
    {
        double start = tw_clock();
#pragma omp for schedule(static) nowait
        for (int64_t b = 0; b < blocks; b++) call_body(count, block, b, body, context);
        worked += tw_clock() - start;
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
