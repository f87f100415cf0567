/* The one parallel primitive.
 *
 * Contract: [0, count) is cut into blocks of `block` items (the last may be shorter); body is called once per block
 * with its half-open range and its index. The cut depends on count and block alone, never on the number of threads, so
 * a body that writes only its own range or its own partial result gives bitwise the same answer for any number of
 * threads. Bodies must not call tw_parallel_for, must not fail, and run in any order. The call returns when all bodies
 * have; what they wrote is then visible to the caller. block > 0; count <= 0 calls nothing.
 *
 * Small work stays on the calling thread: a count of at most one block starts nobody, so choose blocks worth a few
 * microseconds; and so does any work for a while where threads were seen to gain nothing. How idle threads wait is said
 * when the process starts (see tw_set_threads). */
#ifndef TW_BASE_PARALLEL_FOR_H
#define TW_BASE_PARALLEL_FOR_H

#include <stdint.h>
#include <twang/parallel.h>

typedef void tw_parallel_body(void *context, int64_t begin, int64_t end, int64_t block_index);

void tw_parallel_for(int64_t count, int64_t block, tw_parallel_body *body, void *context);

/* Number of blocks tw_parallel_for cuts `count` into. */
static inline int64_t tw_parallel_blocks(int64_t count, int64_t block)
{
    return count > 0 ? (count - 1) / block + 1 : 0;
}

/* Between hold and resume, OpenMP loops inside the libraries we call (CHOLMOD has some, of four threads each and worth
 * less than their wake-up) run on the calling thread alone. Other threads are not affected. */
int tw_parallel_hold(void);
void tw_parallel_resume(int held);

#endif
