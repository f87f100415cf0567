/* Where the spectrum of A = M^-1 K lies, from a few Lanczos steps. */
#include <math.h>
#include <stddef.h>

#include "base/start_vector.h"
#include "phi/spectral/spectral.h"

enum { SHARPEN_STEPS = 10 /* products with K that tw_spectral_sharpen spends */ };

/* The ends of T's spectrum, each moved outwards by its residual beta_m |e_m^T s|. If no Ritz value
 * is negative, then no eigenvalue is taken to be. */
static tw_status read_interval(const tw_chain *chain, tw_chain_scratch *scratch,
                               tw_spectral_interval *interval)
{
    tw_status status = tw_chain_decompose(chain, chain->dimension, scratch);
    if (status) return status;

    /* The outermost Ritz values. */
    const tw_ritz *first = &scratch->ritz[0];
    const tw_ritz *last = &scratch->ritz[chain->dimension - 1];
    double beta = chain->beta[chain->dimension - 1];
    interval->low = first->theta < 0 ? first->theta - beta * fabs(first->last) : 0;
    interval->high = last->theta + beta * fabs(last->last);

    return TW_OK;
}

tw_status tw_spectral_find_interval(tw_spectral_memory *memory, const tw_second_order *op,
                                    int steps, const double *start, tw_spectral_interval *interval,
                                    int64_t *products)
{
    if (!start) {
        tw_fill_start_vector(memory->size, memory->bound_start);
        start = memory->bound_start;
    }
    if (steps > memory->capacity) steps = memory->capacity;

    /* A chain of at most `steps` vectors. A small space may be used up before that. */
    tw_sweep sweep;
    tw_status status =
        tw_sweep_begin(&sweep, op, memory, TW_SPECTRAL_OWN_SLOT, 1, (const double *const[]){start});
    const tw_chain *chain = &memory->slot[TW_SPECTRAL_OWN_SLOT].chain[0];
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
    /* Relative reserve of the eigenvalue. It costs half a per cent of the products. */
    const double margin = 1.01;
    tw_spectral_memory *memory = tw_spectral_memory_of(workspace);
    *sharp = bound;
    if (!memory) return TW_OK;

    /* The steps also cost products, which nobody counts here. */
    tw_spectral_interval interval;
    int64_t products = 0;
    tw_status status =
        tw_spectral_find_interval(memory, op, SHARPEN_STEPS, NULL, &interval, &products);
    if (status == TW_OK && interval.high > 0) *sharp = fmin(bound, margin * interval.high);

    return status;
}
