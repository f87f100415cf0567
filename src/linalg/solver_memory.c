/* The memory that SuiteSparse uses while it works for us. */
#include <SuiteSparse_config.h>
#include <pthread.h>
#include <string.h>

#include "base/allocate.h"
#include "linalg/cholesky_internal.h"

/* Bytes before each block: one cache line, so that blocks keep the alignment of tw_allocate. */
enum { HEADER = 64 };

typedef struct tw_solver_block {
    size_t size;
    struct tw_solver_block *next; /* while kept */
} tw_solver_block;
_Static_assert(sizeof(tw_solver_block) <= HEADER, "the header of a block must fit before it");

static _Thread_local tw_solver_memory *current;
static struct SuiteSparse_config_struct previous_config;
static pthread_once_t routed = PTHREAD_ONCE_INIT;

static tw_solver_block *header_of(void *pointer)
{
    return (tw_solver_block *)(void *)((char *)pointer - HEADER);
}

/* A kept block of exactly this size, or NULL. Every factorisation asks for the same sizes, so that
 * all but the first find every block they need. */
static tw_solver_block *take_kept(tw_solver_memory *memory, size_t size)
{
    for (tw_solver_block **link = &memory->kept; *link; link = &(*link)->next)
        if ((*link)->size == size) {
            tw_solver_block *block = *link;
            *link = block->next;
            return block;
        }
    return NULL;
}

/* A block of `size` bytes: one that was kept, or a new one. */
static void *take(tw_solver_memory *memory, size_t size)
{
    tw_solver_block *block = take_kept(memory, size);
    /* The header lies in front of the block. */
    if (!block && size <= SIZE_MAX - HEADER) block = tw_allocate(size + HEADER, 1);
    if (!block) {
        memory->failed = true;
        return NULL;
    }

    block->size = size;
    return (char *)block + HEADER;
}

/* Keeps a block for later, or releases it. */
static void give_back(tw_solver_memory *memory, void *pointer)
{
    tw_solver_block *block = header_of(pointer);
    if (!memory->keep) {
        tw_release(block);
        return;
    }

    block->next = memory->kept;
    memory->kept = block;
}

/* The four functions that SuiteSparse calls. Without a current memory they pass the request on. */
static void *routed_malloc(size_t size)
{
    return current ? take(current, size) : previous_config.malloc_func(size);
}

static void *routed_calloc(size_t count, size_t size)
{
    if (!current) return previous_config.calloc_func(count, size);

    size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        current->failed = true;
        return NULL;
    }

    void *pointer = take(current, bytes);
    if (pointer) memset(pointer, 0, bytes);
    return pointer;
}

static void *routed_realloc(void *pointer, size_t size)
{
    if (!current) return previous_config.realloc_func(pointer, size);

    void *moved = take(current, size);
    if (!moved || !pointer) return moved;

    /* A new block, because the size is part of what take_kept looks for. */
    size_t old = header_of(pointer)->size;
    memcpy(moved, pointer, old < size ? old : size);
    give_back(current, pointer);
    return moved;
}

static void routed_free(void *pointer)
{
    if (!current)
        previous_config.free_func(pointer);
    else if (pointer)
        give_back(current, pointer);
}

/* Puts our functions in the place of SuiteSparse's. */
static void route(void)
{
    previous_config = SuiteSparse_config;
    SuiteSparse_config.malloc_func = routed_malloc;
    SuiteSparse_config.calloc_func = routed_calloc;
    SuiteSparse_config.realloc_func = routed_realloc;
    SuiteSparse_config.free_func = routed_free;
}

tw_solver_memory *tw_solver_memory_enter(tw_solver_memory *memory)
{
    pthread_once(&routed, route);
    tw_solver_memory *previous = current;
    current = memory;
    return previous;
}

void tw_solver_memory_leave(tw_solver_memory *previous)
{
    current = previous;
}

void tw_solver_memory_drain(tw_solver_memory *memory)
{
    memory->keep = false;
    while (memory->kept) {
        tw_solver_block *block = memory->kept;
        memory->kept = block->next;
        tw_release(block);
    }
}
