/* The allocator hook, and what it counts. */
#define _GNU_SOURCE /* madvise */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/allocate.h"

enum {
    ALIGNMENT = 64,      /* bytes: a cache line */
    HUGE_PAGE = 1 << 21, /* bytes: 2 MB on x86-64 */
    HUGE_FROM = 1 << 23  /* bytes: blocks of at least four huge pages ask for them */
};

/* A header before each block remembers its size, so that bytes can be counted for any allocator. */
typedef struct block_header {
    size_t size;
    char padding[ALIGNMENT - sizeof(size_t)];
} block_header;

static void *default_allocate(void *context, size_t size, size_t alignment)
{
    (void)context;
    if (size >= HUGE_FROM) alignment = HUGE_PAGE;

    /* aligned_alloc wants a size that is a multiple of the alignment. */
    size_t rounded = (size + alignment - 1) / alignment * alignment;
    void *block = aligned_alloc(alignment, rounded);

#ifdef MADV_HUGEPAGE
    /* Products read whole matrices and bases from memory. With pages of 4 KB a tenth of that time
     * goes to finding pages. A kernel that has no huge page ignores the request. */
    if (block && size >= HUGE_FROM) (void)madvise(block, rounded, MADV_HUGEPAGE);
#endif
    return block;
}

static void default_release(void *context, void *block)
{
    (void)context;
    free(block);
}

static const tw_allocator default_allocator = {default_allocate, default_release, NULL};
static tw_allocator current_allocator = {default_allocate, default_release, NULL};
static atomic_llong allocations, releases, failures, current_bytes, peak_bytes;

tw_status tw_memory_set_allocator(const tw_allocator *allocator)
{
    if (allocator && (!allocator->allocate || !allocator->release)) return TW_INVALID_ARGUMENT;
    current_allocator = allocator ? *allocator : default_allocator;
    return TW_OK;
}

tw_memory_counts tw_memory_counts_now(void)
{
    return (tw_memory_counts){.allocations = atomic_load(&allocations),
                              .releases = atomic_load(&releases),
                              .failures = atomic_load(&failures),
                              .current_bytes = atomic_load(&current_bytes),
                              .peak_bytes = atomic_load(&peak_bytes)};
}

/* Adds to current_bytes and raises peak_bytes if it is passed. */
static void count_bytes(size_t size)
{
    long long now = atomic_fetch_add(&current_bytes, (long long)size) + (long long)size;

    /* Another thread may change the peak at the same time; a failed exchange reads it again. */
    long long peak = atomic_load(&peak_bytes);
    while (now > peak && !atomic_compare_exchange_weak(&peak_bytes, &peak, now)) {}
}

void *tw_allocate(size_t count, size_t size)
{
    /* count * size, refused if it does not fit or leaves no room for the header. */
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2) {
        atomic_fetch_add(&failures, 1);
        return NULL;
    }
    if (bytes == 0) bytes = 1;

    block_header *header =
        current_allocator.allocate(current_allocator.context, bytes + sizeof *header, ALIGNMENT);
    if (!header) {
        atomic_fetch_add(&failures, 1);
        return NULL;
    }

    /* The caller gets what lies behind the header. */
    header->size = bytes;
    atomic_fetch_add(&allocations, 1);
    count_bytes(bytes);
    return header + 1;
}

void *tw_allocate_zeroed(size_t count, size_t size)
{
    void *block = tw_allocate(count, size);
    if (block) memset(block, 0, count * size);
    return block;
}

void *tw_copy_array(const void *array, int64_t count, size_t size, bool *good)
{
    if (!array || count == 0) return NULL;

    void *copy = tw_allocate((size_t)count, size);
    if (copy)
        memcpy(copy, array, (size_t)count * size);
    else
        *good = false;
    return copy;
}

void tw_release(void *block)
{
    if (!block) return;

    block_header *header = (block_header *)block - 1;
    atomic_fetch_add(&releases, 1);
    atomic_fetch_sub(&current_bytes, (long long)header->size);
    current_allocator.release(current_allocator.context, header);
}
