#include "base/arena.h"

#include <assert.h>
#include <stdint.h>

#include "base/allocate.h"

/* Under AddressSanitizer scratch that was given back may not be touched: each take opens its bytes, each reset closes
 * them. */
#if defined(__SANITIZE_ADDRESS__)
#define TW_ARENA_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TW_ARENA_POISON 1
#endif
#endif
#ifdef TW_ARENA_POISON
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size)   ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

enum { ALIGNMENT = 64 };

tw_status tw_arena_create(tw_arena *arena, size_t capacity)
{
    *arena = (tw_arena){.memory = tw_allocate(capacity, 1), .capacity = capacity};
    if (!arena->memory) {
        arena->capacity = 0;
        return TW_OUT_OF_MEMORY;
    }
    ASAN_POISON_MEMORY_REGION(arena->memory, capacity);
    return TW_OK;
}

void tw_arena_free(tw_arena *arena)
{
    if (!arena) return;
    if (arena->memory) ASAN_UNPOISON_MEMORY_REGION(arena->memory, arena->capacity);
    tw_release(arena->memory);
    *arena = (tw_arena){0};
}

void *tw_arena_take(tw_arena *arena, size_t count, size_t size)
{
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - ALIGNMENT) return NULL;
    size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (rounded > arena->capacity - arena->used) return NULL;
    void *block = arena->memory + arena->used;
    arena->used += rounded;
    if (arena->used > arena->peak) arena->peak = arena->used;
    ASAN_UNPOISON_MEMORY_REGION(block, bytes);
    return block;
}

size_t tw_arena_mark(const tw_arena *arena)
{
    return arena->used;
}

void tw_arena_reset(tw_arena *arena, size_t mark)
{
    assert(mark <= arena->used);
    if (arena->memory) ASAN_POISON_MEMORY_REGION(arena->memory + mark, arena->used - mark);
    arena->used = mark;
}
