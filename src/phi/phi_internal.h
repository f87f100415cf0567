/* What the families of engines share: the table of an engine, the workspace, the calls between
 * them, the cost model of `auto`, and a second-order system as a first-order operator. README.md
 * has the map. */
#ifndef TW_PHI_INTERNAL_H
#define TW_PHI_INTERNAL_H

#include <stddef.h>
#include <twang/phi.h>

#include "linalg/single.h"

/* ---- engines ---- */

/* One engine. A NULL function means "unsupported". The dispatcher (phi.c) has checked the
 * arguments, found the inputs finite, and zeroed *statistics but for `engine`. Of a request for
 * phi-functions it has answered the nodes with c_i t = 0, and it hands over zero vectors as NULL;
 * in `spectral` the time and the start vectors may still be zero. The engine fills *statistics but
 * for `cost`. Afterwards the dispatcher computes the cost, checks that the outputs are finite, and
 * zeroes them on failure. */
typedef struct tw_phi_engine_table {
    /* Allocates what the engine needs into workspace->memory[engine]. */
    tw_status (*reserve)(tw_phi_workspace *workspace, tw_error *error);
    void (*release)(tw_phi_workspace *workspace);

    /* phi-functions of a first-order operator, and of J of a second-order one. */
    tw_status (*first_order)(tw_phi_workspace *workspace, const tw_operator *op,
                             const tw_phi_request *request, tw_phi_statistics *statistics,
                             tw_error *error);
    tw_status (*second_order)(tw_phi_workspace *workspace, const tw_second_order *op,
                              const tw_phi_request *request, tw_phi_statistics *statistics,
                              tw_error *error);

    /* Functions of A = M^-1 K, and the same from the basis that the last call kept in its slot. */
    tw_status (*spectral)(tw_phi_workspace *workspace, const tw_second_order *op,
                          const tw_spectral_request *request, tw_phi_statistics *statistics,
                          tw_error *error);
    tw_status (*reuse)(tw_phi_workspace *workspace, const tw_spectral_request *request,
                       tw_phi_statistics *statistics, tw_error *error);
} tw_phi_engine_table;

/* The tables: one per file, and one for the four Krylov engines. */
extern const tw_phi_engine_table tw_phi_dense, tw_phi_krylov, tw_phi_expmv, tw_phi_leja,
    tw_phi_lanczos, tw_phi_chebyshev, tw_phi_shift_invert, tw_phi_auto;

const tw_phi_engine_table *tw_phi_engine_table_of(tw_phi_engine engine);

/* ---- the workspace ---- */

/* An inner product <u, z> = u^T G z other than the Euclidean one. A vector travels together
 * with its dual G u, so that the product with J and the inner product share one product with
 * K. (pair_operator.c) */
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

/* How a first_order call that is made for a second-order pair measures its vectors: in two
 * parts, the x-part and the v-part, each with its own promise (phi.h, "The norm") and its
 * own reference[b]. */
typedef struct tw_phi_frame {
    int64_t split;               /* entries of the first part */
    const tw_phi_metric *metric; /* in which the Arnoldi engines orthogonalise; NULL: Euclidean */
    /* Norm of each part; NULL: Euclidean. */
    tw_status (*norms)(void *context, const double *u, double norms[2]);
    void *context; /* handed to norms */
    /* Whether the products so far agree with positive semidefinite K and D; NULL: nothing is known.
     * Then the energy of an error decays, and e(t) = exp(t J) e(0) satisfies for t > 0
     *     |e_v(t)| <= |e(0)|,   |e_x(t)| <= |e_x(0)| + exchange t |e(0)|. */
    const bool *dissipates;
    double exchange;
} tw_phi_frame;

struct tw_phi_workspace {
    tw_phi_limits limits;
    tw_phi_options options;            /* of the current call */
    int64_t vector_size;               /* entries of a request's vector: size, or 2 size */
    void *memory[TW_PHI_ENGINE_COUNT]; /* each engine's own, NULL if not reserved */
    void *pair_memory;     /* of second_order_pair.c: scaled copies for the first-order engines */
    void *spectral_memory; /* of spectral_memory.c: shared by the spectral engines */
    const tw_phi_frame *frame; /* set while first_order runs for a second-order pair, else NULL */
    /* The engine whose basis a slot holds; TW_PHI_ENGINE_COUNT: none. */
    tw_phi_engine slot_engine[TW_PHI_MAX_SLOTS];
};

/* Norms of the parts of u: both of a second-order pair while workspace->frame is set, else |u| and
 * 0. (second_order_pair.c) */
tw_status tw_phi_part_norms(const tw_phi_workspace *workspace, const tw_space *space,
                            const double *u, double norms[2]);

/* ---- what the dispatcher checks (phi_check.c) ---- */

tw_status tw_phi_check_options(const tw_phi_options *options, tw_error *error);
tw_status tw_phi_check_limits(const tw_phi_limits *limits, tw_error *error);
tw_status tw_phi_check_first_order(const tw_phi_workspace *workspace, const tw_operator *op,
                                   tw_error *error);
tw_status tw_phi_check_second_order(const tw_phi_workspace *workspace, const tw_second_order *op,
                                    tw_error *error);

/* Counts and pointers give TW_INVALID_ARGUMENT, values give TW_NOT_FINITE. `size`: entries of
 * a vector. */
tw_status tw_phi_check_request(int64_t size, const tw_phi_request *request, tw_error *error);
tw_status tw_phi_check_spectral(const tw_phi_workspace *workspace,
                                const tw_spectral_request *request, tw_error *error);
tw_status tw_phi_check_starts(int64_t size, const tw_spectral_request *request, tw_error *error);

/* Only finite values leave the library. Anything else becomes zeros and a status. */
tw_status tw_phi_check_outputs(tw_status status, int count, double *const *outputs, int64_t size,
                               tw_error *error);

/* ---- single precision ---- */

/* Whether vectors and products in single precision (tw_operator.single) may serve where this relative
 * error is allowed: it is a thousand times theirs. What they leave depends on the function, so an
 * engine that takes them looks at its estimate of rounding afterwards. */
static inline bool tw_single_products_may_serve(double tolerance)
{
    return tolerance >= 1e3 * TW_SINGLE_ERROR;
}

/* ---- second-order systems for the families ---- */

/* second_order of the polynomial first-order engines: works on J in scaled coordinates (omega_max
 * M^1/2 x, M^1/2 v) or in the inner product asked for, and calls the engine's first_order there
 * with workspace->frame set. Engines that use it call tw_phi_pair_reserve in their reserve and
 * tw_phi_pair_release in their release; both may be called more than once. (second_order_pair.c) */
tw_status tw_phi_pair_reserve(tw_phi_workspace *workspace, tw_error *error);
void tw_phi_pair_release(tw_phi_workspace *workspace);
tw_status tw_phi_pair_evaluate(tw_phi_workspace *workspace, const tw_phi_engine_table *engine,
                               const tw_second_order *op, const tw_phi_request *request,
                               tw_phi_statistics *statistics, tw_error *error);

/* second_order of the spectral engines: phi_k(tJ) through Stumpff functions, or 2x2
 * phi-functions per eigenvalue under Rayleigh damping, by the engine's spectral
 * function. (phi_from_spectral.c) */
tw_status tw_phi_spectral_evaluate(tw_phi_workspace *workspace, const tw_phi_engine_table *engine,
                                   const tw_second_order *op, const tw_phi_request *request,
                                   tw_phi_statistics *statistics, tw_error *error);

/* A bound of the spectrum of A that holds for this operator: at most `bound`, which may hold for
 * all operators of a run and be far too large. It costs some products with K. It is not proven,
 * like all that a few Lanczos steps tell, but it overshoots by the residual (docs/phi.md), and
 * chebyshev notices a bound that is too small. TW_OK with *sharp = bound where the workspace has no
 * spectral engine. (spectral_interval.c) */
tw_status tw_spectral_sharpen(tw_phi_workspace *workspace, const tw_second_order *op, double bound,
                              double *sharp);

/* ---- a second-order system as a first-order operator (pair_operator.c) ----
 *
 * Both parts of a vector must weigh alike. The coordinates are
 *     y = (omega R x, R v),   R = M^1/2 (lumped mass) or 1 (unit or consistent mass),
 * with omega^2 ~ lambda_max(M^-1 K), and in them
 *     J y = (omega y_v, -K^ (y_x/omega + beta y_v) - D^ y_v - alpha y_v),
 * K^ = R^-1 K R^-1 or M^-1 K. Incomplete orthogonalisation of raw (x, v) can fail without
 * a sign. */

typedef struct tw_phi_pair {
    const tw_second_order *op;
    tw_phi_inner_product inner_product;
    int64_t n;          /* unknowns: half a vector */
    tw_space half;      /* space of x or v alone */
    double omega;       /* scale of the x-part; 1 in raw coordinates */
    const double *root; /* R, n entries; NULL means ones */
    int64_t products;   /* with K so far */
    double *scratch[3]; /* n entries each */
    bool dissipates;    /* no product showed negative curvature of K or D (tw_phi_frame) */
    tw_phi_metric metric;
    tw_phi_frame frame;
} tw_phi_pair;

/* Scratch of the calls below, in doubles. */
size_t tw_phi_pair_scratch(int64_t n);

/* Binds the pair to op; omega is still to be set. `root` (n entries) and `scratch` are
 * the caller's. */
void tw_phi_pair_bind(tw_phi_pair *pair, const tw_second_order *op,
                      tw_phi_inner_product inner_product, double *root, double *scratch);

/* J as an operator on vectors of 2n entries. It lives as long as the pair. */
tw_operator tw_phi_pair_operator(tw_phi_pair *pair);

/* ---- the cost model (cost_model.c) ----
 *
 * Bytes moved, and flops counted as bytes, of what an engine did or is expected to do. It depends
 * on sizes and counts only, never on time, so that repeated and resumed runs choose alike.
 * docs/phi.md says how its constants were found. */

/* Bytes that a flop of a factorisation counts for: it runs beside others, on data in the cache. */
#define TW_FACTOR_FLOP_BYTES 0.5

/* What a call is about. */
typedef struct tw_phi_setting {
    double n;             /* entries of one vector that the engine orthogonalises: N or 2N */
    double product_bytes; /* of one product with one vector */
    double solve_bytes;   /* of one solve with one vector; 0 without a solver */
    double factor_flops;
    double starts; /* start vectors */
    double outputs;
    bool bounded; /* a bound of the spectrum was given: chebyshev need not look for one */
    bool pair;    /* J of a second-order system: its spectrum is imaginary, twice as long */
    /* For predictions only: */
    double reach;     /* |t| |A| (first order) or |t| omega_max (second) */
    double roughness; /* |t| omega of the roughest start vector, omega^2 = b^T K b / b^T M b */
    /* First order, zero if not measured: the reach along the real and the imaginary axis. Decay is
     * far cheaper than rotation, for Krylov spaces even more than for leja. */
    double decay;
    double rotation;
} tw_phi_setting;

tw_phi_setting tw_phi_setting_first(const tw_operator *op, int outputs);
tw_phi_setting tw_phi_setting_second(const tw_second_order *op, tw_phi_engine engine, int starts,
                                     int outputs);

/* Cost of the counted work of statistics->engine: products, solves, factorisations, dimension. */
double tw_phi_cost(const tw_phi_statistics *statistics, const tw_phi_setting *setting);

/* Fills the counts that the engine is expected to need. */
void tw_phi_predict(tw_phi_engine engine, const tw_phi_setting *setting, double tolerance,
                    tw_phi_statistics *expected);

#endif
