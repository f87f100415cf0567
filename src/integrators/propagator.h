/* Sums of phi-functions over several sources, as every exponential scheme needs them:
 *
 *     row_r = sum_terms coefficient * phi_k(node * h * J) source_j          (J of the system's last linearisation)
 *
 * Second-order problems with a symmetric tangent and no damping but Rayleigh's go through scalar functions of the
 * spectrum (one basis per source serves all rows, later rows of the same sources, and a smaller h); everything else
 * goes through tw_phi_evaluate. */
#ifndef TW_INTEGRATORS_PROPAGATOR_H
#define TW_INTEGRATORS_PROPAGATOR_H

#include "integrators/system.h"

enum { TW_SUM_MAX_SOURCES = 8, TW_SUM_MAX_ROWS = 8, TW_SUM_MAX_TERMS = 64 };

typedef struct tw_sum_term {
    int row, source, k;
    double node, coefficient;
} tw_sum_term;

typedef struct tw_phi_sum {
    double h;
    int source_count;
    const double *source
        [TW_SUM_MAX_SOURCES]; /* size entries; or n entries d standing for (0, d) if force_only */
    bool force_only[TW_SUM_MAX_SOURCES];
    int row_count;
    double *row[TW_SUM_MAX_ROWS]; /* size entries each, written */
    double reference[TW_SUM_MAX_ROWS]
                    [2]; /* magnitudes the tolerance refers to, see phi.h; 0: the row's own */
    bool incidental
        [TW_SUM_MAX_ROWS]; /* as good as what the other rows need makes it: for the same sources at times
                                             that are not longer. See tw_propagator_made_incidental. */
    int term_count;
    tw_sum_term term[TW_SUM_MAX_TERMS];
    double tolerance;
    int slot; /* first basis slot for these sources: ceil(starts / TW_MAX_BLOCK) slots are used */
    bool single_use;   /* the bases will not serve again: auto may take an engine that keeps none */
    bool same_sources; /* the slot still holds the bases of exactly these sources: try it first */
} tw_phi_sum;

typedef struct tw_propagator tw_propagator;

/* `slots` bases are kept. The workspace is sized for the system and options->phi. */
tw_status tw_propagator_create(const tw_system *system, const tw_phi_options *options, int slots,
                               tw_propagator **out, tw_error *error);
void tw_propagator_free(tw_propagator *propagator);

/* Evaluates, adding to the system's counts. TW_ILL_CONDITIONED from an engine is success here as long as the error it
 * estimates is below 1e-6: rounding is the limit then, not the method. */
tw_status tw_propagator_apply(tw_propagator *propagator, tw_system *system, const tw_phi_sum *sum,
                              tw_error *error);

/* Whether rows of old sources cost no product (bases are kept). */
bool tw_propagator_keeps_bases(const tw_propagator *propagator);

/* Whether functions of the spectrum are used, as incidental rows need. */
bool tw_propagator_is_spectral(const tw_propagator *propagator);

/* Whether the incidental rows of the last call can be trusted: a polynomial that is good enough for a time is so for
 * all shorter ones, a rational function need not be. */
bool tw_propagator_made_incidental(const tw_propagator *propagator);

/* Appends a term; TW_INTERNAL if there are too many. */
tw_status tw_phi_sum_add(tw_phi_sum *sum, int row, int source, int k, double node,
                         double coefficient);

#endif
