#include "phi/spectral/spectral_bounds.h"

#include <math.h>
#include <stddef.h>

#include "base/parallel_for.h"
#include "phi/spectral/spectral_recurrence.h"

enum { FILL_BLOCK = 16384, SHARPEN_STEPS = 10 };

/* Entry i depends on i alone (SplitMix64), so that neither threads nor machines matter. Ranks start alike, which is as
 * good as any other start. */
static void random_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    double *x = context;
    for (int64_t i = begin; i < end; i++) {
        uint64_t z = (uint64_t)(i + 1) * 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        x[i] = (double)((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1;
    }
}

/* Ends of T's spectrum with their residuals beta_m |e_m^T s|. No negative Ritz value: no negative eigenvalue. */
static tw_status read_interval(const tw_chain *chain, tw_chain_scratch *scratch,
                               tw_spectral_interval *interval)
{
    tw_status status = tw_chain_decompose(chain, chain->dimension, scratch);
    if (status) return status;
    const tw_ritz *first = &scratch->ritz[0], *last = &scratch->ritz[chain->dimension - 1];
    double beta = chain->beta[chain->dimension - 1];
    interval->low = first->theta < 0 ? first->theta - beta * fabs(first->last) : 0;
    interval->high = last->theta + beta * fabs(last->last);
    return TW_OK;
}

tw_status tw_spectral_find_interval(tw_spectral_memory *memory, const tw_second_order *op,
                                    int steps, const double *start, tw_spectral_interval *interval,
                                    int64_t *products)
{
    if (!start) tw_parallel_for(memory->size, FILL_BLOCK, random_body, memory->bound_start);
    if (!start) start = memory->bound_start;
    tw_sweep sweep;
    tw_status status =
        tw_sweep_begin(&sweep, op, memory, TW_SPECTRAL_OWN_SLOT, 1, (const double *const[]){start});
    const tw_chain *chain = &memory->slot[TW_SPECTRAL_OWN_SLOT].chain[0];
    if (steps > memory->capacity) steps = memory->capacity;
    sweep.reorthogonalise = sweep.total_size <= memory->capacity;
    while (status == TW_OK && sweep.dimension < steps && !chain->exhausted)
        status = tw_sweep_step(&sweep);
    *products += sweep.products;
    if (status == TW_OK) status = read_interval(chain, &memory->scratch, interval);
    tw_spectral_open_slot(memory, TW_SPECTRAL_OWN_SLOT);
    return status;
}

tw_status tw_spectral_sharpen(tw_phi_workspace *workspace, const tw_second_order *op, double bound,
                              double *sharp)
{
    const double margin = 1.01; /* of the eigenvalue: costs half a per cent of the products */
    tw_spectral_memory *memory = tw_spectral_memory_of(workspace);
    *sharp = bound;
    if (!memory) return TW_OK;
    tw_spectral_interval interval;
    int64_t products = 0;
    tw_status status =
        tw_spectral_find_interval(memory, op, SHARPEN_STEPS, NULL, &interval, &products);
    if (status == TW_OK && interval.high > 0) *sharp = fmin(bound, margin * interval.high);
    return status;
}
