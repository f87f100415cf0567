/* The pseudo-random start vector. */
#include "base/start_vector.h"

#include "base/parallel_for.h"

/* Entries per block: some ten microseconds of work. */
enum { FILL_BLOCK = 16384 };

static void fill_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    double *x = context;

    /* The upper 53 bits become a multiple of 2^-52 in [0, 2). */
    for (int64_t i = begin; i < end; i++)
        x[i] = (double)(tw_random_bits((uint64_t)i) >> 11) * 0x1p-52 - 1;
}

void tw_fill_start_vector(int64_t n, double *x)
{
    tw_parallel_for(n, FILL_BLOCK, fill_block, x);
}
