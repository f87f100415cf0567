/* Workers: how they start, wait, come, go and end. */
#define _GNU_SOURCE /* pthread_getcpuclockid */
#include "base/worker_team.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "base/timer.h"

/* Seconds for which a worker spins before it sleeps. The gap between two loops is mostly shorter, and
 * to wake a thread takes half as long. */
static const double SPIN_SECONDS = 1e-4;

/* After a worker was waited for that had no processor, the caller works alone for this many times as
 * long. So a machine that runs other programs as well costs a fifth of the time at most. */
static const double REST_FACTOR = 4.0;

/* Bytes: no function of a loop takes a tenth of it. */
enum { STACK_BYTES = 2 << 20 };

typedef struct team team;

/* A worker, and where it belongs. */
typedef struct worker {
    team *team;
    int member;
    pthread_t thread;
} worker;

/* What the caller and its workers share. `presence` is OPEN while there is work, plus PRESENT for each
 * worker that is in. Who comes adds PRESENT first and looks for OPEN then. The caller takes OPEN away
 * first and then waits for 0. So nobody is in while the work changes. */
enum { OPEN = 1, PRESENT = 2 };

struct team {
    /* The work, which changes while nobody is in. */
    tw_team_work *work;
    void *context;
    int members;

    /* Numbers that threads watch stand in a cache line of their own. */
    _Alignas(64)
        atomic_uint posted; /* how often work was offered; a change wakes those that spin */
    _Alignas(64) atomic_uint presence;
    _Alignas(64) atomic_int sleepers; /* workers that sleep */
    atomic_bool caller_sleeps;
    atomic_bool ends;

    pthread_mutex_t lock;
    pthread_cond_t comes; /* work for workers that sleep */
    pthread_cond_t empty; /* presence is 0, for a caller that sleeps */
    bool is_made;
    bool is_narrow; /* a thread could not be started: no further attempt */
    int workers;
    worker worker[TW_MOST_MEMBERS]; /* entry 0 is not used */
    double rest_until;              /* tw_clock until which the caller works alone */
};

static _Thread_local team own;
static _Thread_local int own_member;
static _Thread_local bool is_inside;

/* ---- waiting ---- */

/* Tells the processor that this thread spins. */
static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

typedef bool team_condition(team *t, unsigned value);

static bool is_posted(team *t, unsigned seen)
{
    return atomic_load(&t->posted) != seen || atomic_load(&t->ends);
}

static bool is_empty(team *t, unsigned value)
{
    return atomic_load(&t->presence) == value;
}

/* Spins until the condition holds, or for SPIN_SECONDS. Returns whether it holds. After some turns it
 * offers the processor to others, because the thread that is waited for may be one of them. */
static bool spin(team *t, team_condition *condition, unsigned value)
{
    enum { TURNS = 100 /* some microseconds */ };
    for (int turn = 0; turn < TURNS; turn++) {
        if (condition(t, value)) return true;
        pause_briefly();
    }

    double end = tw_clock() + SPIN_SECONDS;
    while (tw_clock() < end) {
        if (condition(t, value)) return true;
        sched_yield();
    }
    return false;
}

/* ---- workers ---- */

/* Leaves, and wakes the caller if it sleeps until the last has left. */
static void leave(team *t)
{
    unsigned left = atomic_fetch_sub(&t->presence, PRESENT) - PRESENT;
    if (left != 0 || !atomic_load(&t->caller_sleeps)) return;

    pthread_mutex_lock(&t->lock);
    pthread_cond_signal(&t->empty);
    pthread_mutex_unlock(&t->lock);
}

/* Sleeps until work other than `seen` is offered. */
static void sleep_until_posted(team *t, unsigned seen)
{
    pthread_mutex_lock(&t->lock);
    atomic_fetch_add(&t->sleepers, 1);
    while (!is_posted(t, seen)) pthread_cond_wait(&t->comes, &t->lock);
    atomic_fetch_sub(&t->sleepers, 1);
    pthread_mutex_unlock(&t->lock);
}

static void *worker_life(void *context)
{
    worker *self = context;
    team *t = self->team;
    is_inside = true;
    own_member = self->member;

    unsigned seen = 0;
    while (!atomic_load(&t->ends)) {
        if (!spin(t, is_posted, seen)) sleep_until_posted(t, seen);
        seen = atomic_load(&t->posted);

        /* The work may be done already, and another may have been offered: any open one will do. */
        bool is_open = atomic_fetch_add(&t->presence, PRESENT) & OPEN;
        if (is_open && self->member < t->members) t->work(t->context, self->member);
        leave(t);
    }
    return NULL;
}

/* ---- the team of a thread ---- */

static pthread_key_t owner_key;
static bool has_owner_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Ends the workers of a thread that ends. */
static void end_team(void *context)
{
    team *t = context;
    atomic_store(&t->ends, true);
    pthread_mutex_lock(&t->lock);
    pthread_cond_broadcast(&t->comes);
    pthread_mutex_unlock(&t->lock);
    for (int m = 1; m <= t->workers; m++) pthread_join(t->worker[m].thread, NULL);
    t->workers = 0;
    t->is_narrow = true;
}

/* In the child of a fork there is one thread, and no worker. */
static void forget_team(void)
{
    own = (team){0};
    is_inside = false;
    own_member = 0;
}

static void prepare_once(void)
{
    has_owner_key = pthread_key_create(&owner_key, end_team) == 0;
    pthread_atfork(NULL, NULL, forget_team);
}

static bool make_team(team *t)
{
    if (t->is_made) return true;

    /* The key ends the workers when the calling thread ends. */
    pthread_once(&once, prepare_once);
    if (!has_owner_key || pthread_setspecific(owner_key, t) != 0) return false;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->comes, NULL);
    pthread_cond_init(&t->empty, NULL);
    t->is_made = true;
    return true;
}

/* Starts workers until there are members - 1, or until the system refuses one. */
static void start_workers(team *t, int members)
{
    if (t->is_narrow || t->workers >= members - 1) return;
    if (!make_team(t)) {
        t->is_narrow = true;
        return;
    }

    /* Stacks are address space, which may be limited (ulimit -v). */
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) {
        t->is_narrow = true;
        return;
    }
    pthread_attr_setstacksize(&attributes, STACK_BYTES);

    /* Signals are for the threads of the program. */
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (t->workers < members - 1 && !t->is_narrow) {
        worker *next = &t->worker[t->workers + 1];
        *next = (worker){.team = t, .member = t->workers + 1};
        if (pthread_create(&next->thread, &attributes, worker_life, next) == 0)
            t->workers++;
        else
            t->is_narrow = true;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

/* ---- the caller ---- */

/* Seconds for which the workers have had a processor, added up. */
static double worked(const team *t)
{
    double sum = 0.0;
    for (int m = 1; m <= t->workers; m++) {
        clockid_t clock;
        struct timespec time = {0};
        if (pthread_getcpuclockid(t->worker[m].thread, &clock) == 0) clock_gettime(clock, &time);
        sum += (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
    }
    return sum;
}

/* Waits until all workers have left. If they had no processor meanwhile, the caller rests from them. */
static void wait_until_empty(team *t)
{
    if (spin(t, is_empty, 0)) return;

    /* It takes long: the caller sleeps. */
    double begin = tw_clock();
    double before = worked(t);

    pthread_mutex_lock(&t->lock);
    atomic_store(&t->caller_sleeps, true);
    while (!is_empty(t, 0)) pthread_cond_wait(&t->empty, &t->lock);
    atomic_store(&t->caller_sleeps, false);
    pthread_mutex_unlock(&t->lock);

    /* How much of this time did the workers have a processor? */
    double end = tw_clock();
    double waited = end - begin;
    if (worked(t) - before < 0.5 * waited) t->rest_until = end + REST_FACTOR * waited;
}

/* Offers the work to all workers, and wakes those that sleep. */
static void post(team *t, int members, tw_team_work *work, void *context)
{
    t->members = members;
    t->work = work;
    t->context = context;
    atomic_fetch_or(&t->presence, OPEN);
    atomic_fetch_add(&t->posted, 1);

    if (atomic_load(&t->sleepers) == 0) return;
    pthread_mutex_lock(&t->lock);
    pthread_cond_broadcast(&t->comes);
    pthread_mutex_unlock(&t->lock);
}

/* Whether the caller works alone for a while. */
static bool rests(team *t)
{
    if (t->rest_until == 0.0) return false;
    if (tw_clock() < t->rest_until) return true;
    t->rest_until = 0.0;
    return false;
}

void tw_team_run(int members, tw_team_work *work, void *context)
{
    assert(members <= TW_MOST_MEMBERS && !is_inside);
    team *t = &own;
    is_inside = true;
    bool is_alone = rests(t);
    if (!is_alone) start_workers(t, members);

    if (is_alone || t->workers == 0) {
        work(context, 0);
    } else {
        post(t, members, work, context);
        work(context, 0);
        atomic_fetch_and(&t->presence, ~(unsigned)OPEN);
        wait_until_empty(t);
    }
    is_inside = false;
}

bool tw_team_is_inside(void)
{
    return is_inside;
}

int tw_team_member(void)
{
    return own_member;
}
