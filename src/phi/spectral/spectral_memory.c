/* The memory of the spectral engines: one per workspace, shared by the three of them. */
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/dense.h"
#include "phi/spectral/spectral.h"

enum {
    DEFAULT_CAPACITY = 1024, /* largest dimension of a chain where the caller sets no limit */
    ROLLING = 3,             /* vectors of a three-term recurrence */
    RITZ_DOUBLES = sizeof(tw_ritz) / sizeof(double)
};

static int capacity_of(const tw_phi_limits *limits)
{
    return limits->max_dimension > 0 ? limits->max_dimension : DEFAULT_CAPACITY;
}

/* As many vectors as basis_bytes allows, but no more than all slots could use and no fewer than one
 * step needs. */
static int64_t pool_vectors_of(const tw_phi_limits *limits)
{
    double most = (limits->slots + 1.0) * TW_MAX_BLOCK * (capacity_of(limits) + 1.0);

    /* One step needs the current and the next vector of every chain. */
    double allowed = limits->basis_bytes / (8.0 * (double)limits->size);
    if (!(allowed > 2 * TW_MAX_BLOCK)) allowed = 2 * TW_MAX_BLOCK;
    return (int64_t)(allowed < most ? allowed : most);
}

/* ---- allocation ---- */

static double *take(double **next, size_t count)
{
    double *array = *next;
    *next += count;
    return array;
}

/* Cuts `numbers` and `pointers` into the arrays of the chains and the scratch. */
static void share_out(tw_spectral_memory *memory, int slots)
{
    size_t capacity = (size_t)memory->capacity;
    size_t padded = capacity + TW_CHAIN_PAD;
    double *next = memory->numbers;

    /* The chains of the caller's slots come first, those of the own slot last. */
    for (int s = 0; s <= slots; s++)
        for (int j = 0; j < TW_MAX_BLOCK; j++) {
            tw_chain *chain = &memory->slot[s < slots ? s : TW_SPECTRAL_OWN_SLOT].chain[j];
            chain->alpha = take(&next, capacity);
            chain->beta = take(&next, capacity);
            chain->scale = take(&next, capacity + 1);
            chain->vector =
                memory->pointers + ((size_t)s * TW_MAX_BLOCK + (size_t)j) * (capacity + 1);
        }

    /* The scratch is shared by all chains. */
    memory->scratch =
        (tw_chain_scratch){.capacity = memory->capacity,
                           .d = take(&next, padded),
                           .e = take(&next, padded),
                           .rows = take(&next, (1 + TW_CHAIN_PAD) * padded),
                           .ritz = (tw_ritz *)(void *)take(&next, RITZ_DOUBLES * capacity),
                           .Q = take(&next, capacity * capacity),
                           .eigen = take(&next, tw_dense_eigen_scratch(memory->capacity))};
}

/* The doubles that share_out hands out. */
static size_t numbers_needed(int capacity, int slots)
{
    size_t m = (size_t)capacity;
    size_t padded = m + TW_CHAIN_PAD;
    size_t chains = (size_t)(slots + 1) * TW_MAX_BLOCK * (3 * m + 1);
    size_t scratch =
        (3 + TW_CHAIN_PAD) * padded + RITZ_DOUBLES * m + m * m + tw_dense_eigen_scratch(capacity);

    return chains + scratch;
}

/* Allocates every array; false if memory ran out. */
static bool allocate(tw_spectral_memory *memory, const tw_phi_limits *limits)
{
    size_t n = (size_t)limits->size;
    size_t slots = (size_t)limits->slots;
    size_t capacity = (size_t)memory->capacity;

    /* Vectors. */
    memory->pool = tw_allocate((size_t)memory->pool_vectors, n * sizeof(double));
    memory->owner = TW_NEW_ARRAY(memory->pool_vectors, signed char);
    memory->product = tw_allocate(TW_MAX_BLOCK, n * sizeof(double));
    memory->momentum = tw_allocate(ROLLING * TW_MAX_BLOCK, n * sizeof(double));
    memory->rolling = tw_allocate(ROLLING * TW_MAX_BLOCK, n * sizeof(double));
    memory->parts = tw_allocate(TW_SPECTRAL_MAX_OUTPUTS + 1, n * sizeof(double));
    if (memory->parts) memory->bound_start = memory->parts + TW_SPECTRAL_MAX_OUTPUTS * n;

    /* Small arrays. */
    memory->numbers = TW_NEW_ARRAY(numbers_needed(memory->capacity, limits->slots), double);
    memory->pointers = TW_NEW_ARRAY((slots + 1) * TW_MAX_BLOCK * (capacity + 1), double *);
    memory->coefficients = TW_NEW_ARRAY(TW_SPECTRAL_MAX_OUTPUTS * TW_MAX_BLOCK * capacity, double);

    return memory->pool && memory->owner && memory->product && memory->momentum &&
           memory->rolling && memory->parts && memory->numbers && memory->pointers &&
           memory->coefficients;
}

tw_status tw_spectral_reserve(tw_phi_workspace *workspace, tw_error *error)
{
    const tw_phi_limits *limits = &workspace->limits;
    if (workspace->spectral_memory || !limits->second_order) return TW_OK;

    tw_spectral_memory *memory = TW_NEW(tw_spectral_memory);
    if (!memory) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    workspace->spectral_memory = memory;
    memory->size = limits->size;
    memory->capacity = capacity_of(limits);
    memory->pool_vectors = pool_vectors_of(limits);
    if (!allocate(memory, limits))
        return tw_fail(error, TW_OUT_OF_MEMORY, "no memory for %lld basis vectors",
                       (long long)memory->pool_vectors);

    /* No vector of the pool has an owner yet. */
    memset(memory->owner, -1, (size_t)memory->pool_vectors);
    share_out(memory, limits->slots);

    return TW_OK;
}

void tw_spectral_release(tw_phi_workspace *workspace)
{
    tw_spectral_memory *memory = workspace->spectral_memory;
    if (!memory) return;

    tw_release(memory->pool);
    tw_release(memory->owner);
    tw_release(memory->product);
    tw_release(memory->momentum);
    tw_release(memory->rolling);
    tw_release(memory->parts);
    tw_release(memory->numbers);
    tw_release(memory->pointers);
    tw_release(memory->coefficients);
    tw_release(memory);
    workspace->spectral_memory = NULL;
}

/* ---- slots ---- */

void tw_spectral_open_slot(tw_spectral_memory *memory, int slot)
{
    tw_spectral_slot *own = &memory->slot[slot];

    /* The vectors go back to the pool. All of them lie before the place of the next search. */
    for (int64_t v = 0; v < own->searched; v++)
        if (memory->owner[v] == slot) memory->owner[v] = -1;
    own->searched = 0;
    own->single = NULL;

    /* The chains become empty. */
    for (int j = 0; j < TW_MAX_BLOCK; j++) {
        tw_chain *chain = &own->chain[j];
        chain->norm = 0;
        chain->rough = 0;
        chain->dimension = 0;
        chain->stored = 0;
        chain->exhausted = false;
    }
}

double *tw_spectral_extend_slot(tw_spectral_memory *memory, int slot, int count)
{
    tw_spectral_slot *own = &memory->slot[slot];

    /* The first `count` free vectors in a row are the slot's. */
    int64_t free_in_a_row = 0;
    for (int64_t v = own->searched; v < memory->pool_vectors; v++) {
        free_in_a_row = memory->owner[v] < 0 ? free_in_a_row + 1 : 0;
        if (free_in_a_row < count) continue;

        /* The next search starts after them. */
        int64_t first = v + 1 - count;
        memset(memory->owner + first, slot, (size_t)count);
        own->searched = v + 1;
        return memory->pool + first * memory->size;
    }

    return NULL;
}
