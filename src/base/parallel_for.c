#include "base/parallel_for.h"

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

void tw_parallel_for(int64_t count, int64_t block, tw_parallel_body *body, void *context)
{
    int64_t blocks = tw_parallel_blocks(count, block);
    int64_t wanted = tw_threads();
    int threads = (int)(wanted < blocks ? wanted : blocks);
    if (threads <= 1) {
        for (int64_t b = 0; b < blocks; b++) {
            int64_t begin = b * block;
            body(context, begin, begin + block < count ? begin + block : count, b);
        }
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
        int64_t begin = b * block;
        body(context, begin, begin + block < count ? begin + block : count, b);
    }
}
