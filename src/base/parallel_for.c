/* The parallel loop: which thread calls which block. */
#include "base/parallel_for.h"

#include <assert.h>
#include <omp.h>
#include <stdatomic.h>

#include "base/worker_team.h"

static _Thread_local int chosen_threads; /* 0: not chosen */

void tw_set_threads(int threads)
{
    chosen_threads = threads > 0 ? threads : 0;
    if (chosen_threads > TW_MOST_MEMBERS) chosen_threads = TW_MOST_MEMBERS;
}

int tw_threads(void)
{
    if (chosen_threads > 0) return chosen_threads;
    int threads = omp_get_max_threads();
    if (threads > TW_MOST_MEMBERS) return TW_MOST_MEMBERS;
    return threads > 0 ? threads : 1;
}

/* The blocks of one member, in a cache line of its own: who calls one takes the next of them. */
typedef struct share {
    _Alignas(64) _Atomic int64_t next;
    int64_t end;
} share;

typedef struct loop {
    int64_t count;
    int64_t block;
    tw_parallel_block *function;
    void *context;
    int members;
    share shares[TW_MOST_MEMBERS];
} loop;

/* Calls the function with the range of one block; the last block may be shorter. */
static void call_block(const loop *p, int64_t index)
{
    int64_t begin = index * p->block;
    int64_t end = p->count - begin < p->block ? p->count : begin + p->block;
    p->function(p->context, begin, end, index);
}

/* A member calls its own blocks first: from loop to loop they are the same, and their data is in the
 * cache of its core. Then it takes what is left of the blocks of others, so that nobody waits for a
 * member that is late. */
static void run_member(void *context, int member)
{
    loop *p = context;
    for (int m = 0; m < p->members; m++) {
        share *s = &p->shares[(member + m) % p->members];

        /* A look before the attempt leaves a share that is used up in the caches of all. */
        while (atomic_load_explicit(&s->next, memory_order_relaxed) < s->end) {
            int64_t index = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed);
            if (index < s->end) call_block(p, index);
        }
    }
}

void tw_parallel_for(int64_t count, int64_t block, tw_parallel_block *function, void *context)
{
    assert(block > 0);
    int64_t blocks = tw_parallel_blocks(count, block);
    int64_t members = blocks > 1 ? tw_threads() : 1;
    if (members > blocks) members = blocks;

    /* The loop is too large to be set to zero each time. */
    loop p;
    p.count = count;
    p.block = block;
    p.function = function;
    p.context = context;
    if (members <= 1 || tw_team_is_inside()) {
        for (int64_t index = 0; index < blocks; index++) call_block(&p, index);
        return;
    }

    /* Member m gets the blocks from blocks m / members on, without overflow. */
    p.members = (int)members;
    for (int64_t m = 0; m < members; m++) {
        int64_t first = blocks / members * m + blocks % members * m / members;
        int64_t last = blocks / members * (m + 1) + blocks % members * (m + 1) / members;
        atomic_init(&p.shares[m].next, first);
        p.shares[m].end = last;
    }
    tw_team_run(p.members, run_member, &p);
}

int tw_parallel_slot(void)
{
    return tw_team_member();
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
