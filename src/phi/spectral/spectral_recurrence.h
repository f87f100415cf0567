/* The Lanczos recurrence in the mass inner product, for up to TW_MAX_BLOCK start vectors in one sweep over K. */
#ifndef TW_PHI_SPECTRAL_RECURRENCE_H
#define TW_PHI_SPECTRAL_RECURRENCE_H

#include "phi/spectral/spectral_memory.h"

/* A sweep under way. The active chains all have the same dimension. */
typedef struct tw_sweep {
    const tw_second_order *op;
    tw_spectral_memory *memory;
    int slot;
    int active; /* chains still growing */
    int chain[TW_MAX_BLOCK];
    int dimension;
    double *current;                /* vector number `dimension` of the active chains, contiguous */
    double *previous[TW_MAX_BLOCK]; /* the one before, per active chain */
    double *momentum, *momentum_before; /* M times those, consistent mass only */
    double total_size;                  /* N over all ranks */
    bool reorthogonalise; /* against all earlier vectors: small N, where the space is used up */
    bool storing;         /* the pool still has room */
    int64_t products;
} tw_sweep;

/* Empties the slot and starts a chain per nonzero start. */
tw_status tw_sweep_begin(tw_sweep *sweep, const tw_second_order *op, tw_spectral_memory *memory,
                         int slot, int start_count, const double *const *starts);

/* One product for every active chain. */
tw_status tw_sweep_step(tw_sweep *sweep);

/* Goes on with those active chains for which keep[chain] is true. */
void tw_sweep_retire(tw_sweep *sweep, const bool *keep);

/* The second pass for vectors the pool had no room for: outputs[i] += sum over chains j and k >= stored_j of
 * coefficients[i * row + offset_j + k] vector_k. Repeats the recurrence bit for bit from the known alpha, beta.
 * Nothing to do, and no product, when all vectors were kept. */
tw_status tw_sweep_repeat(tw_sweep *sweep, int output_count, double *const *outputs, int64_t row,
                          const int64_t *offset, const double *coefficients);

#endif
