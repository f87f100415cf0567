/** @file phi.h
 *  Actions of phi-functions, and of any scalar function of a symmetric second-order operator.
 *
 *  `phi_0(z) = exp(z)`, `phi_{k+1}(z) = (phi_k(z) - 1/k!)/z`.
 *
 *  **The norm.** A tolerance `tol` promises, for every output w_i,
 *
 *      |w_i - exact| <= tol * max(|w_i|, sum_k |v_k| / k!, reference)
 *
 *  in the Euclidean norm for a first-order operator. For a second-order operator every vector is
 *  (x-part, v-part), and the inequality is promised for each part by itself in the mass norm
 *  `|x|_M = sqrt(x^T M x)`:
 *
 *      |x-part error|_M <= tol * max(|x-part of w_i|_M, sum_k |x-part of v_k|_M / k!, reference[0])
 *
 *  and likewise for v. The norm of the operator never loosens it. Where rounding alone exceeds it
 *  (condition), the status is TW_ILL_CONDITIONED and the outputs hold the best that was reached.
 */
#ifndef TWANG_PHI_H
#define TWANG_PHI_H

#include <stdbool.h>
#include <stdint.h>
#include <twang/operator.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The engines: enumerator, name in the command and in scene files. */
#define TW_PHI_ENGINE_LIST(X)                                                                      \
    X(TW_PHI_AUTO, "auto")                                                                         \
    X(TW_PHI_DENSE, "dense")                                                                       \
    X(TW_PHI_PHIPM, "phipm")                                                                       \
    X(TW_PHI_PHIPM_IOM2, "phipm-iom2")                                                             \
    X(TW_PHI_PHIPM_SIMUL_IOM2, "phipm-simul-iom2")                                                 \
    X(TW_PHI_KIOPS, "kiops")                                                                       \
    X(TW_PHI_EXPMV, "expmv")                                                                       \
    X(TW_PHI_LEJA, "leja")                                                                         \
    X(TW_PHI_LANCZOS, "lanczos")                                                                   \
    X(TW_PHI_CHEBYSHEV, "chebyshev")                                                               \
    X(TW_PHI_SHIFT_INVERT, "shift-invert")

#define TW_PHI_ENUMERATOR(name, text) name,
typedef enum tw_phi_engine {
    TW_PHI_ENGINE_LIST(TW_PHI_ENUMERATOR) TW_PHI_ENGINE_COUNT
} tw_phi_engine;
#undef TW_PHI_ENUMERATOR

/** "kiops" for TW_PHI_KIOPS; "?" for a value outside the list. */
TW_API const char *tw_phi_engine_name(tw_phi_engine engine);
/** The engine of that name, or TW_PHI_ENGINE_COUNT. */
TW_API tw_phi_engine tw_phi_engine_from_name(const char *name);

/** The inner product in which the Arnoldi engines (phipm*, kiops) orthogonalise a second-order
 *  problem. */
typedef enum tw_phi_inner_product {
    TW_INNER_SCALED, /**< `omega_max^2 <x,y>_M + <v,w>_M`: always available; the default */
    /** `x^T K y + v^T M w`: J is skew in it; needs K positive definite, else falls back to
     *  SCALED. */
    TW_INNER_ENERGY,
    /** Raw (x, v): unsafe with incomplete orthogonalisation, refused there (docs/phi.md tells
     *  why). */
    TW_INNER_EUCLIDEAN
} tw_phi_inner_product;

/** In which norm integrators ask for phi-actions of second-order problems with a symmetric
 *  tangent. */
typedef enum tw_phi_norm {
    TW_NORM_STATE, /**< positions and velocities each by themselves, see above; the default */
    /** A velocity counts as the displacement it makes, see tw_spectral_request.velocity: for bodies
     *  whose fast modes hold most of the velocity and little of the displacement. */
    TW_NORM_DISPLACEMENT
} tw_phi_norm;

enum {
    TW_PHI_MAX_ORDER = 8,  /**< highest phi index p */
    TW_PHI_MAX_NODES = 16, /**< most nodes (outputs) of one call */
    TW_PHI_MAX_SLOTS = 8   /**< most bases a workspace keeps for reuse */
};

/** How phi-actions are evaluated. Start from tw_phi_options_default(). */
typedef struct tw_phi_options {
    tw_phi_engine engine;               /**< default TW_PHI_AUTO */
    double tolerance;                   /**< relative, see above, in [1e-15, 1); default 1e-8 */
    tw_phi_inner_product inner_product; /**< default TW_INNER_SCALED */
    /** Of a Krylov basis or polynomial degree of one substep; 0: engine's default. */
    int max_dimension;
    int64_t max_products; /**< budget per call, then TW_BUDGET_EXHAUSTED; default 1,000,000 */
    double pole; /**< sigma of shift-invert's gamma = (sigma t)^2; 0 (default) lets it choose */
    /** Default TW_NORM_STATE. Read by the integrators; tw_phi_evaluate has the norm above. */
    tw_phi_norm norm;
} tw_phi_options;
TW_API tw_phi_options tw_phi_options_default(void);

/** What one call did. */
typedef struct tw_phi_statistics {
    tw_phi_engine engine;   /**< the one that did the work (never TW_PHI_AUTO) */
    int64_t products;       /**< with K or A, counted per vector */
    int64_t solves;         /**< with M + gamma K, counted per vector */
    int64_t factorisations; /**< done by this call */
    int64_t substeps;       /**< accepted */
    int64_t rejected;       /**< rejected substeps or enlarged bases */
    int dimension;          /**< largest Krylov dimension or degree used */
    double estimated_error; /**< relative, in the norm above; the largest over outputs */
    double pole;            /**< gamma used by shift-invert, else 0 */
    double eigenvalue_max;  /**< upper end of the spectrum that chebyshev used last, else 0 */
    double cost; /**< of what was done, in bytes-moved units of the cost model (see docs/phi.md) */
    bool fell_back; /**< the energy inner product was asked for and was not available */
} tw_phi_statistics;

/** Memory for phi evaluations of one size: everything is allocated here, nothing later. One thread
 *  at a time per workspace; different workspaces never meet. */
typedef struct tw_phi_workspace tw_phi_workspace;

/** What a workspace must be able to hold. Start from tw_phi_limits_default(). */
typedef struct tw_phi_limits {
    int64_t size; /**< N of a second-order problem, or the length of a first-order vector */
    /** Whether size is N of a second-order problem (vectors have 2N entries); default true. */
    bool second_order;
    int max_dimension; /**< of bases held, 0: as many as `basis_bytes` allows, at most 1,024 */
    int slots;         /**< bases kept for reuse, 1..TW_PHI_MAX_SLOTS; default 1 */
    /** Address space for all bases; pages are touched only as used; default 2e9. */
    double basis_bytes;
    /** Defaults for calls; `engine` decides which engines' memory is reserved (AUTO: all). */
    tw_phi_options options;
} tw_phi_limits;
TW_API tw_phi_limits tw_phi_limits_default(void);

TW_API tw_status tw_phi_workspace_create(const tw_phi_limits *limits, tw_phi_workspace **out,
                                         tw_error *error);
/** Frees; accepts NULL. */
TW_API void tw_phi_workspace_free(tw_phi_workspace *workspace);
/** Changes the options for the calls that follow. TW_UNSUPPORTED if memory for that engine was not
 *  reserved. */
TW_API tw_status tw_phi_workspace_set_options(tw_phi_workspace *workspace,
                                              const tw_phi_options *options);

/** `w_i = sum_{k=0..order} phi_k(nodes[i] * time * Op) vectors[k]` for all i. No hidden scaling. */
typedef struct tw_phi_request {
    double time;         /**< t, finite, any sign */
    int node_count;      /**< 1..TW_PHI_MAX_NODES */
    const double *nodes; /**< c_i, any order, any sign; zero allowed */
    int order;           /**< p, 0..TW_PHI_MAX_ORDER */
    /** p + 1 pointers; NULL means zero. 2N entries for second order: x-part, v-part. */
    const double *const *vectors;
    double *const *outputs; /**< node_count pointers, must not overlap vectors */
    double reference[2];    /**< see "The norm"; [0] alone for first order; default 0 */
} tw_phi_request;

/** Evaluates for a first-order operator. `statistics` and `error` may be NULL. On any status but
 *  TW_OK and TW_ILL_CONDITIONED the outputs are zero: no NaN leaves the library. */
TW_API tw_status tw_phi_evaluate(tw_phi_workspace *workspace, const tw_operator *op,
                                 const tw_phi_request *request, tw_phi_statistics *statistics,
                                 tw_error *error);

/** Evaluates for `J = [[0, I], [-M^-1 K, -M^-1 D]]`. */
TW_API tw_status tw_phi_evaluate_second_order(tw_phi_workspace *workspace,
                                              const tw_second_order *op,
                                              const tw_phi_request *request,
                                              tw_phi_statistics *statistics, tw_error *error);

/** A scalar function of an eigenvalue lambda of A = M^-1 K (lambda may be negative). `value ==
 *  NULL` means zero. */
typedef struct tw_spectral_function {
    double (*value)(const void *context, double lambda);
    const void *context;
} tw_spectral_function;

/** `outputs[i] = sum_j f_ij(A) starts[j]`, A = M^-1 K symmetric in the mass inner product. */
typedef struct tw_spectral_request {
    int start_count;                       /**< 1..TW_MAX_BLOCK: one sweep serves all */
    const double *const *starts;           /**< b_j, N entries; NULL means zero */
    int output_count;                      /**< 1..TW_PHI_MAX_NODES * 2 */
    double *const *outputs;                /**< N entries each, must not overlap the starts */
    const tw_spectral_function *functions; /**< f_ij at [i * start_count + j] */
    /** Per output: error promised <= tol * max(|output|_M, reference[i]); NULL: zeros. */
    const double *reference;
    /** NULL, or per output whether it is a velocity, of which only the displacement it makes within
     *  `time` matters: its error and norm are those of `time (1 + time^2 |A|)^-1/2 output`, and
     *  every error is promised relative to the largest output so measured (or to reference[i]).
     *  Engines that cannot weigh modes promise more than that. */
    const bool *velocity;
    double time; /**< the time scale of the functions (they vary like cos(time sqrt lambda)) */
    /** Shift-invert only: start from (I + gamma A)^-1 b_j and multiply f by (1 + gamma lambda): for
     *  start vectors with stiff parts and decaying f. */
    bool smooth;
    /** The basis will not serve again: auto may choose an engine that keeps none. */
    bool single_use;
    int slot; /**< the basis is kept there until the next call with this slot */
    /** Lanczos only: NULL, or per start vector the dimension that a similar request has taken (0:
     *  unknown). Errors are not estimated long before it. Replaced by what this one takes. */
    int *dimensions;
} tw_spectral_request;

/** Evaluates with the workspace's engine (dense, lanczos, chebyshev, shift-invert or auto; others:
 *  TW_UNSUPPORTED). Undamped operator only: damping is the caller's business, in f. */
TW_API tw_status tw_spectral_apply(tw_phi_workspace *workspace, const tw_second_order *op,
                                   const tw_spectral_request *request,
                                   tw_phi_statistics *statistics, tw_error *error);

/** Evaluates other functions of the same starts from the basis in `request->slot`: no product, no
 *  solve. `starts` is ignored. TW_NOT_CONVERGED if the kept basis is too small for the tolerance
 *  (outputs are zero then); TW_UNSUPPORTED if the slot holds no basis (chebyshev keeps none). */
TW_API tw_status tw_spectral_reuse(tw_phi_workspace *workspace, const tw_spectral_request *request,
                                   tw_phi_statistics *statistics, tw_error *error);

#ifdef __cplusplus
}
#endif
#endif
