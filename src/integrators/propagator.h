/* Sums of phi-functions over several sources, as every exponential scheme needs them:
 *
 *     row_r = sum_terms coefficient * phi_k(node * h * J) source_j
 *
 * with J of the system's last linearisation.
 *
 * Second-order problems with a symmetric tangent and no damping but Rayleigh's are evaluated by
 * scalar functions of the spectrum of M^-1 K (propagator.c): one basis per source serves all rows,
 * later rows of the same sources, and a smaller h. All other problems are evaluated by
 * tw_phi_evaluate (propagator_general.c). */
#ifndef TW_INTEGRATORS_PROPAGATOR_H
#define TW_INTEGRATORS_PROPAGATOR_H

#include "integrators/system.h"

enum { TW_SUM_MAX_SOURCES = 8, TW_SUM_MAX_ROWS = 9, TW_SUM_MAX_TERMS = 64 };

typedef struct tw_sum_term {
    int row;
    int source;
    int k; /* index of phi */
    double node;
    double coefficient;
} tw_sum_term;

typedef struct tw_phi_sum {
    double h;

    int source_count;
    /* `size` entries each; or, if force_only, n entries d that stand for (0, d). */
    const double *source[TW_SUM_MAX_SOURCES];
    bool force_only[TW_SUM_MAX_SOURCES];

    int row_count;
    double *row[TW_SUM_MAX_ROWS]; /* size entries each, written */
    /* Magnitudes of x and v to which the tolerance refers, see phi.h; 0: those of the
     * row itself. */
    double reference[TW_SUM_MAX_ROWS][2];
    /* An incidental row does not decide how large a basis becomes: it has the same sources as the
     * others at times that are not longer. See tw_propagator_made_incidental. */
    bool incidental[TW_SUM_MAX_ROWS];

    int term_count;
    tw_sum_term term[TW_SUM_MAX_TERMS];

    double tolerance;
    int slot; /* first basis slot of these sources; ceil(starts / TW_MAX_BLOCK) slots are used */
    bool single_use;   /* the bases are not used again: auto may choose an engine without any */
    bool same_sources; /* the slot still holds the bases of exactly these sources: try it first */
} tw_phi_sum;

/* Whether the engine evaluates functions of a symmetric operator and nothing else. */
bool tw_phi_engine_is_spectral(tw_phi_engine engine);

typedef struct tw_propagator tw_propagator;

/* `slots` bases are kept. The workspace has room for the system and these options. TW_UNSUPPORTED if
 * the engine of the options does not apply to the system. */
tw_status tw_propagator_create(tw_system *system, const tw_phi_options *options, int slots,
                               tw_propagator **out, tw_error *error);
void tw_propagator_free(tw_propagator *propagator);

/* Notes the size of the terms that make a step of h from u with the slope F. Sums that follow are
 * not asked for errors below the rounding of these terms: a row may be 0 where they are not, for
 * example after a whole period, and cannot be accurate relative to itself. */
tw_status tw_propagator_note_rounding(tw_propagator *propagator, const tw_system *system, double h,
                                      const double *u, const double *F);

/* Evaluates the rows and adds to the system's counts. */
tw_status tw_propagator_apply(tw_propagator *propagator, tw_system *system, const tw_phi_sum *sum,
                              tw_error *error);

/* Whether further rows of the same sources cost no product, because bases are kept. */
bool tw_propagator_keeps_bases(const tw_propagator *propagator);

/* Whether functions of the spectrum are used, which incidental rows need. */
bool tw_propagator_is_spectral(const tw_propagator *propagator);

/* Whether the incidental rows of the last call can be trusted. A polynomial that is accurate for
 * one time is accurate for all shorter times; a rational function need not be. */
bool tw_propagator_made_incidental(const tw_propagator *propagator);

/* Appends a term; TW_INTERNAL if there are too many. */
tw_status tw_phi_sum_add(tw_phi_sum *sum, int row, int source, int k, double node,
                         double coefficient);

/* TW_OK in place of TW_ILL_CONDITIONED if the error that the engine estimates is small all the
 * same: rounding limits the accuracy then, not the method. */
tw_status tw_accept_rounding(tw_status status, const tw_phi_statistics *statistics);

/* ---- shared by propagator.c and propagator_general.c ---- */

struct tw_propagator {
    tw_phi_workspace *workspace;
    tw_phi_options options;
    double rounding[2]; /* of the x- and the v-part of a step, see tw_propagator_note_rounding */
    bool spectral;      /* by scalar functions of the spectrum */
    bool polynomial;    /* every engine of the last call made polynomials, or exact functions */
    /* Number of the linearisation whose eigenvalue bound was sharpened; 0: none. */
    int64_t sharpened;
    double *vectors; /* TW_PHI_MAX_ORDER + 2 vectors of `size` entries */
    int64_t size;
};

/* Adds the counts of one evaluation. */
void tw_propagator_count(tw_system *system, const tw_phi_statistics *statistics);

/* The rows of a sum by tw_phi_evaluate. */
tw_status tw_propagator_apply_general(tw_propagator *propagator, tw_system *system,
                                      const tw_phi_sum *sum, tw_error *error);

#endif
