#include "support/failing_allocator.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct countdown {
    atomic_int left; /* frames are written by a thread of their own */
} countdown;

static void *allocate(void *context, size_t size, size_t alignment)
{
    countdown *count = context;
    if (atomic_fetch_sub(&count->left, 1) == 1) return NULL;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void release(void *context, void *block)
{
    (void)context;
    free(block);
}

int test_fail_each_allocation(test_attempt *attempt, void *context)
{
    for (int nth = 1;; nth++) {
        countdown count = {nth};
        int64_t bytes_before = tw_memory_counts_now().current_bytes;
        tw_memory_set_allocator(&(tw_allocator){allocate, release, &count});
        tw_status status = attempt(context);
        tw_memory_set_allocator(NULL);
        int64_t leaked = tw_memory_counts_now().current_bytes - bytes_before;
        bool reached = count.left <= 0;
        if (leaked == 0 && status == TW_OK && !reached) return nth - 1;
        if (leaked != 0 || status != TW_OUT_OF_MEMORY || !reached) {
            fprintf(stderr, "allocation %d refused: %s, %lld bytes leaked\n", nth,
                    tw_status_name(status), (long long)leaked);
            return -1;
        }
    }
}
