/* What the engines share: the workspace, the table of engines, and the calls between them. */
#ifndef TW_PHI_INTERNAL_H
#define TW_PHI_INTERNAL_H

#include <twang/phi.h>

/* One engine. A NULL function means "unsupported". The dispatcher (phi.c) has already checked the arguments, found the
 * inputs finite, and zeroed *statistics but for `engine`; afterwards it checks that the outputs are finite and zeroes
 * them on failure. t = 0 and zero or NULL vectors are the engine's to handle. An engine fills every field of
 * *statistics. */
typedef struct tw_phi_engine_table {
    /* Allocates what the engine needs into workspace->memory[engine]. */
    tw_status (*reserve)(tw_phi_workspace *workspace, tw_error *error);
    void (*release)(tw_phi_workspace *workspace);
    tw_status (*first_order)(tw_phi_workspace *workspace, const tw_operator *op,
                             const tw_phi_request *request, tw_phi_statistics *statistics,
                             tw_error *error);
    tw_status (*second_order)(tw_phi_workspace *workspace, const tw_second_order *op,
                              const tw_phi_request *request, tw_phi_statistics *statistics,
                              tw_error *error);
    tw_status (*spectral)(tw_phi_workspace *workspace, const tw_second_order *op,
                          const tw_spectral_request *request, tw_phi_statistics *statistics,
                          tw_error *error);
    tw_status (*reuse)(tw_phi_workspace *workspace, const tw_spectral_request *request,
                       tw_phi_statistics *statistics, tw_error *error);
} tw_phi_engine_table;

/* An inner product <u, z> = u^T G z other than the Euclidean one. A vector travels together with its dual G u, so that
 * the product with J and the inner product share one product with K. (second_order_pair.c) */
typedef struct tw_phi_metric {
    tw_status (*dual)(void *context, const double *u, double *dual); /* dual = G u */
    /* out = Op u and dual_out = G out, from u and its dual. */
    tw_status (*apply)(void *context, const double *u, const double *dual, double *out,
                       double *dual_out);
    /* <u, u>, or 0 if |u|_2^2 <= noise; TW_NOT_POSITIVE_DEFINITE if u shows that G is not. */
    tw_status (*square)(void *context, const double *u, const double *dual, double noise,
                        double *value);
    void *context;
} tw_phi_metric;

/* How a first_order call made for a second-order pair measures its vectors: in two blocks, the x-part and the v-part,
 * each with its own promise (phi.h, "The norm") and its own reference[b]. */
typedef struct tw_phi_frame {
    int64_t split;               /* entries of the first block */
    const tw_phi_metric *metric; /* in which the Arnoldi engines orthogonalise; NULL: Euclidean */
    /* Norm of each block; NULL: Euclidean. */
    tw_status (*norms)(void *context, const double *u, double norms[2]);
    void *context; /* handed to norms */
} tw_phi_frame;

struct tw_phi_workspace {
    tw_phi_limits limits;
    tw_phi_options options;            /* of the current call */
    int64_t vector_size;               /* entries of a request's vector: size, or 2 size */
    void *memory[TW_PHI_ENGINE_COUNT]; /* each engine's own, NULL if not reserved */
    tw_phi_engine slot_engine
        [TW_PHI_MAX_SLOTS]; /* which engine's basis a slot holds; TW_PHI_ENGINE_COUNT: none */
    void *pair_memory;      /* of second_order_pair.c: scaled copies for the first-order engines */
    const tw_phi_frame *frame; /* set while first_order runs for a second-order pair, else NULL */
    void *spectral_memory;     /* of phi_from_spectral.c */
};

/* The engines' tables, one per file. */
extern const tw_phi_engine_table tw_phi_dense, tw_phi_krylov, tw_phi_expmv, tw_phi_leja,
    tw_phi_lanczos, tw_phi_chebyshev, tw_phi_shift_invert, tw_phi_auto;

const tw_phi_engine_table *tw_phi_engine_table_of(tw_phi_engine engine);

/* Norms of the blocks of u: both of a second-order pair while workspace->frame is set; else |u| and 0. */
tw_status tw_phi_block_norms(const tw_phi_workspace *workspace, const tw_space *space,
                             const double *u, double norms[2]);

/* second_order of the polynomial first-order engines: works on J in scaled coordinates (omega_max M^1/2 x, M^1/2 v) or
 * in the inner product asked for, and calls the engine's first_order there with workspace->frame set. Engines that use
 * it call tw_phi_pair_reserve in their reserve and tw_phi_pair_release in their release; both may be called more than
 * once. (second_order_pair.c) */
tw_status tw_phi_pair_reserve(tw_phi_workspace *workspace, tw_error *error);
void tw_phi_pair_release(tw_phi_workspace *workspace);
tw_status tw_phi_pair_evaluate(tw_phi_workspace *workspace, const tw_phi_engine_table *engine,
                               const tw_second_order *op, const tw_phi_request *request,
                               tw_phi_statistics *statistics, tw_error *error);

/* second_order of the spectral engines: phi_k(tJ) through Stumpff functions, or 2x2 phi-functions per eigenvalue under
 * Rayleigh damping, by the engine's spectral function. (phi_from_spectral.c) */
tw_status tw_phi_spectral_evaluate(tw_phi_workspace *workspace, const tw_phi_engine_table *engine,
                                   const tw_second_order *op, const tw_phi_request *request,
                                   tw_phi_statistics *statistics, tw_error *error);

/* A bound of the spectrum of A that holds for this operator: at most `bound`, which may hold for all
 * operators of a run and be far too large. It costs some products with K. It is not proven, like all
 * that a few Lanczos steps tell, but it overshoots by the residual (docs/phi.md), and chebyshev notices
 * a bound that is too small. TW_OK with *sharp = bound where the workspace has no spectral engine.
 * (spectral/spectral_interval.c) */
tw_status tw_spectral_sharpen(tw_phi_workspace *workspace, const tw_second_order *op, double bound,
                              double *sharp);

#endif
