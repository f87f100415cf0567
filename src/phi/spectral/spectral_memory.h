/* Memory of the spectral engines (lanczos, chebyshev, shift-invert) of one workspace, shared between them. */
#ifndef TW_PHI_SPECTRAL_MEMORY_H
#define TW_PHI_SPECTRAL_MEMORY_H

#include "linalg/mass.h"
#include "phi/phi_internal.h"
#include "phi/spectral/spectral_tridiagonal.h"

enum {
    TW_SPECTRAL_MAX_OUTPUTS = 2 * TW_PHI_MAX_NODES,
    TW_SPECTRAL_OWN_SLOT =
        TW_PHI_MAX_SLOTS, /* of phi_from_spectral.c: the caller's slots stay as they are */
    TW_SPECTRAL_SLOTS
};

/* A kept basis. */
typedef struct tw_spectral_slot {
    tw_mass_metric metric; /* of the operator the basis belongs to */
    int start_count;
    tw_chain_range range;
    int64_t searched; /* pool vectors before this one are taken */
    tw_chain chain[TW_MAX_BLOCK];
} tw_spectral_slot;

typedef struct tw_spectral_memory {
    int64_t size;         /* N, local */
    int capacity;         /* largest dimension of a chain */
    double *pool;         /* basis vectors of all slots; pages are touched only as used */
    int64_t pool_vectors; /* how many */
    signed char *owner;   /* slot that holds a pool vector, or -1 */
    double *product;      /* TW_MAX_BLOCK vectors: K q */
    double
        *momentum;   /* 3 TW_MAX_BLOCK vectors: M q of the last three steps, consistent mass only */
    double *rolling; /* 3 TW_MAX_BLOCK vectors: the recurrence once the pool is full */
    double *bound_start;  /* 1 vector: start of tw_spectral_find_interval */
    double *parts;        /* TW_SPECTRAL_MAX_OUTPUTS vectors: sums over blocks of start vectors */
    double *numbers;      /* all small arrays */
    double **pointers;    /* chain vectors */
    double *coefficients; /* TW_SPECTRAL_MAX_OUTPUTS rows of TW_MAX_BLOCK * capacity */
    tw_chain_scratch scratch;
    tw_spectral_slot slot[TW_SPECTRAL_SLOTS];
} tw_spectral_memory;

/* Allocates workspace->spectral_memory unless it is there already. */
tw_status tw_spectral_reserve(tw_phi_workspace *workspace, tw_error *error);
/* Frees it; safe to call again. */
void tw_spectral_release(tw_phi_workspace *workspace);

static inline tw_spectral_memory *tw_spectral_memory_of(const tw_phi_workspace *workspace)
{
    return workspace->spectral_memory;
}

/* Says whose basis the slot holds (TW_PHI_ENGINE_COUNT: none). */
static inline void tw_spectral_set_engine(tw_phi_workspace *workspace, int slot,
                                          tw_phi_engine engine)
{
    if (slot < TW_PHI_MAX_SLOTS) workspace->slot_engine[slot] = engine;
}

/* Empties the slot: its vectors go back to the pool. */
void tw_spectral_open_slot(tw_spectral_memory *memory, int slot);

/* `count` contiguous vectors for the slot, the lowest free ones, so that few pages are ever touched; NULL when there
 * are none. */
double *tw_spectral_extend_slot(tw_spectral_memory *memory, int slot, int count);

#endif
