/* Memory through the allocator hook. Every array is cache-line aligned. */
#ifndef TW_BASE_ALLOCATE_H
#define TW_BASE_ALLOCATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <twang/memory.h>

/* `count * size` bytes, uninitialised, 64-byte aligned; NULL on overflow or when memory is out.
 * count == 0 gives one byte, so that NULL always means failure. */
void *tw_allocate(size_t count, size_t size);

/* The same, zeroed. */
void *tw_allocate_zeroed(size_t count, size_t size);

/* A copy of `count` items of `size` bytes, or NULL for none of them; *good becomes false when
 * memory is out, so that several copies are asked about once. */
void *tw_copy_array(const void *array, int64_t count, size_t size, bool *good);

/* Whether an array of `count` items can exist, so that a function may read what its caller promises.
 * 2^40 items are far more than any memory holds, and their sizes and sums fit into 64 bits. */
static inline bool tw_is_count(int64_t count)
{
    return count >= 0 && count <= INT64_C(1) << 40;
}

/* Accepts NULL. */
void tw_release(void *block);

#define TW_NEW(type)              ((type *)tw_allocate_zeroed(1, sizeof(type)))
#define TW_NEW_ARRAY(count, type) ((type *)tw_allocate((size_t)(count), sizeof(type)))

#endif
