/** @file memory.h
 *  Where Twang's memory comes from, and how much of it there is.
 */
#ifndef TWANG_MEMORY_H
#define TWANG_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <twang/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An allocator. Both functions are called from any thread. */
typedef struct tw_allocator {
    /** Returns `size` bytes (> 0) aligned to `alignment` (a power of two, at least 16), or NULL. */
    void *(*allocate)(void *context, size_t size, size_t alignment);
    /** Gives back what allocate returned; never called with NULL. */
    void (*release)(void *context, void *block);
    void *context; /**< handed to both; may be NULL */
} tw_allocator;

/** Counts since the process began; consistent only while no other thread allocates. */
typedef struct tw_memory_counts {
    int64_t allocations;   /**< successful calls of allocate */
    int64_t releases;      /**< calls of release */
    int64_t failures;      /**< calls of allocate that returned NULL */
    int64_t current_bytes; /**< requested and not yet released */
    int64_t peak_bytes;    /**< largest current_bytes seen */
} tw_memory_counts;

/** Replaces the process-wide allocator; NULL restores the default (aligned_alloc/free). The sparse
 *  solver underneath allocates through it too. Call it before any other function of Twang, or while
 *  no Twang object exists. */
TW_API tw_status tw_memory_set_allocator(const tw_allocator *allocator);

/** The counts so far; thread-safe. */
TW_API tw_memory_counts tw_memory_counts_now(void);

#ifdef __cplusplus
}
#endif
#endif
