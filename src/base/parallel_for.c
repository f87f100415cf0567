#include "base/parallel_for.h"

#include <assert.h>
#include <omp.h>

static _Thread_local int chosen_threads; /* 0: not chosen */

void tw_set_threads(int threads)
{
    chosen_threads = threads > 0 ? threads : 0;
}

int tw_threads(void)
{
    if (chosen_threads > 0) return chosen_threads;
    int threads = omp_get_max_threads();
    return threads > 0 ? threads : 1;
}

static void call_body(int64_t count, int64_t block, int64_t index, tw_parallel_body *body, void *context)
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
    if (threads <= 1) {
        for (int64_t b = 0; b < blocks; b++) call_body(count, block, b, body, context);
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t b = 0; b < blocks; b++) call_body(count, block, b, body, context);
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
