#include "base/arena.h"

#include <stdint.h>

#include "base/allocate.h"

enum { ALIGNMENT = 64 };

tw_status tw_arena_create(tw_arena *arena, size_t capacity)
{
    *arena = (tw_arena){.memory = tw_allocate(capacity, 1), .capacity = capacity};
    return arena->memory ? TW_OK : TW_OUT_OF_MEMORY;
}

void tw_arena_free(tw_arena *arena)
{
    if (!arena) return;
    tw_release(arena->memory);
    *arena = (tw_arena){0};
}

void *tw_arena_take(tw_arena *arena, size_t count, size_t size)
{
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - ALIGNMENT) return NULL;
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (bytes > arena->capacity - arena->used) return NULL;
    void *block = arena->memory + arena->used;
    arena->used += bytes;
    if (arena->used > arena->peak) arena->peak = arena->used;
    return block;
}

size_t tw_arena_mark(const tw_arena *arena)
{
    return arena->used;
}

void tw_arena_reset(tw_arena *arena, size_t mark)
{
    arena->used = mark;
}
