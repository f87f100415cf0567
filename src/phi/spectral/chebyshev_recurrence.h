/* T_k(x) b by the three-term recurrence, x = (A - middle)/half, for a block of start vectors, with all sums of the
 * outputs made in the same pass. No inner products, no stored basis. */
#ifndef TW_PHI_CHEBYSHEV_RECURRENCE_H
#define TW_PHI_CHEBYSHEV_RECURRENCE_H

#include "phi/spectral/chebyshev_series.h"
#include "phi/spectral/spectral_memory.h"

typedef struct tw_chebyshev_run {
    const tw_second_order *op;
    tw_spectral_memory *memory;
    tw_mass_metric metric;
    tw_chebyshev_interval interval;
    int active; /* start vectors still in the block */
    int start[TW_MAX_BLOCK];
    double norm[TW_MAX_BLOCK]; /* |b_j|_M, of the requests' start vectors */
    double growth
        [TW_MAX_BLOCK]; /* largest |T_k b|_M / |b|_M seen; about 1 while the interval holds the spectrum */
    int degree;         /* k: `now` holds T_k b, `before` T_{k-1} b, normalised */
    int added;          /* terms up to this degree are in the outputs */
    double *now, *before; /* active contiguous columns each */
    int output_count, start_count, row;
    double *const *outputs;
    const double *coefficients; /* of f_ij at (i * start_count + j) * row, times |b_j| */
    int64_t products;
} tw_chebyshev_run;

/* T_0 b and the outputs' first terms. The caller has filled everything but the recurrence itself, norms included. */
void tw_chebyshev_begin(tw_chebyshev_run *run, const double *const *starts);

/* One product for every column in the block: T_{k+1} b. Terms are added to the outputs two by two, unless it is the
 * last: then nothing is left out. */
tw_status tw_chebyshev_step(tw_chebyshev_run *run, bool last);

/* Goes on with those start vectors for which keep[j] is true. */
void tw_chebyshev_retire(tw_chebyshev_run *run, const bool *keep);

/* Updates growth. */
tw_status tw_chebyshev_measure(tw_chebyshev_run *run);

#endif
