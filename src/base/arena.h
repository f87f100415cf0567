/* Scratch by mark and release: stepping allocates nothing. */
#ifndef TW_BASE_ARENA_H
#define TW_BASE_ARENA_H

#include <stddef.h>
#include <twang/status.h>

typedef struct tw_arena {
    char *memory;
    size_t capacity;
    size_t used;
    size_t peak; /* largest `used` seen */
} tw_arena;

tw_status tw_arena_create(tw_arena *arena, size_t capacity);
void tw_arena_free(tw_arena *arena);

/* 64-byte aligned, uninitialised; NULL when the arena is full (a sizing mistake: callers report TW_INTERNAL). Each take
 * uses whole lines of 64 bytes of the capacity. */
void *tw_arena_take(tw_arena *arena, size_t count, size_t size);

size_t tw_arena_mark(const tw_arena *arena);
/* Gives back everything taken since the mark. */
void tw_arena_reset(tw_arena *arena, size_t mark);

#endif
