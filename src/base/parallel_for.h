/* The one parallel primitive.
 *
 * Contract: [0, count) is cut into blocks of `block` items (the last may be shorter); the function
 * is called once per block with its half-open range and its index. The cut depends on count and
 * block alone, never on the number of threads. A function that writes only its own range or its
 * own partial result therefore gives bitwise the same answer for any number of threads. Such
 * functions must not call tw_parallel_for, must not fail, and run in any order. The call returns
 * when all calls have returned; what they wrote is then visible to the caller. block > 0; count <=
 * 0 calls nothing.
 *
 * Small work stays on the calling thread: a count of at most one block starts no other thread. Every
 * thread has its own share of the blocks, the same from loop to loop, and takes blocks of others when
 * it is done. To start a loop on several threads takes about half a microsecond, so choose blocks worth
 * one to five microseconds, and several for each thread. */
#ifndef TW_BASE_PARALLEL_FOR_H
#define TW_BASE_PARALLEL_FOR_H

#include <stdint.h>
#include <twang/parallel.h>

typedef void tw_parallel_block(void *context, int64_t begin, int64_t end, int64_t block_index);

void tw_parallel_for(int64_t count, int64_t block, tw_parallel_block *function, void *context);

/* Number of blocks tw_parallel_for cuts `count` into. */
static inline int64_t tw_parallel_blocks(int64_t count, int64_t block)
{
    return count > 0 ? (count - 1) / block + 1 : 0;
}

/* Number of the calling thread inside a block, for scratch memory: different for threads that run at
 * the same time, and below TW_PARALLEL_SLOTS, the number of blocks and the number of threads. */
enum { TW_PARALLEL_SLOTS = 64 };
int tw_parallel_slot(void);

/* Between hold and resume, OpenMP loops inside the libraries that we call run on the calling thread
 * alone. CHOLMOD has some of four threads each, whose start costs more than they gain. Other
 * threads are not affected. resume takes what hold returned. */
int tw_parallel_hold(void);
void tw_parallel_resume(int held);

#endif
