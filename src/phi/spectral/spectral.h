/* What the spectral engines (lanczos, chebyshev, shift-invert) share.
 *
 * All three compute functions f(A) b of A = M^-1 K, which is symmetric in the mass inner product
 * <p, q>_M = p^T M q (linalg/mass.h). The parts, from the bottom up:
 *
 *     spectral_kernels.c     norms, and passes over the columns of a block of vectors
 *     single_passes.c        passes of lanczos in single precision
 *     spectral_memory.c      the memory of the family, with a pool of basis vectors for the slots
 *     tridiagonal_rows.c     a few rows of the eigenvectors of a tridiagonal matrix
 *     lanczos_chain.c        functions of one Lanczos chain, and their errors
 *     lanczos_sweep.c        the Lanczos recurrence of several chains in one sweep
 *     spectral_interval.c    an interval that holds the spectrum, from a few Lanczos steps
 *     chebyshev_series.c     Chebyshev coefficients, and the Chebyshev recurrence
 *     shift_invert_basis.c   a Krylov space of (M + gamma K)^-1 M
 *     shift_invert_error.c   functions of that space, and their errors
 *
 * phi_from_spectral.c turns phi-functions of J into functions of A. README.md has the map. */
#ifndef TW_PHI_SPECTRAL_H
#define TW_PHI_SPECTRAL_H

#include <stdbool.h>
#include <stddef.h>
#include <twang/phi.h>

#include "linalg/mass.h"
#include "phi/phi_internal.h"

/* ---- norms (spectral_kernels.c) ---- */

/* y = x / norm. The division is done in two factors, because 1/norm overflows below 1e-308. */
void tw_normalised_copy(int64_t n, double norm, const double *x, double *y);

/* The displacement norm measures a velocity by the displacement that it makes. A mode lambda moves
 * by at most v/sqrt(lambda), and within `time` by at most time v. The weight joins both smoothly:
 * time (1 + time^2 |lambda|)^-1/2. It keeps the pointer. Its largest value is *time. */
tw_spectral_function tw_displacement_weight(const double *time);

/* The product weight(lambda) f(lambda). Both functions must live as long as the result. */
typedef struct tw_weighted_function {
    const tw_spectral_function *weight;
    const tw_spectral_function *f;
} tw_weighted_function;
tw_spectral_function tw_weigh_function(const tw_spectral_function *weight,
                                       const tw_spectral_function *f, tw_weighted_function *pair);

/* ---- passes over columns (spectral_kernels.c) ---- */

/* One pass of a three-term recurrence over a block of columns. */
typedef struct tw_column_pass {
    int count;                            /* columns */
    int64_t size;                         /* entries of a column */
    const double *product;                /* `count` contiguous columns y */
    const double *current;                /* `count` contiguous columns q */
    const double *previous[TW_MAX_BLOCK]; /* columns o */
    const double *mass;                   /* lumped mass; NULL: ones */
    double *next;                         /* `count` contiguous columns r */
    double a[TW_MAX_BLOCK];               /* factor of y */
    double b[TW_MAX_BLOCK];               /* factor of q */
    double c[TW_MAX_BLOCK];               /* factor of o */
    double *partial;                      /* sums of the blocks of the loop; set by the pass */
} tw_column_pass;

/* sums[j] = q_j^T y_j, over all ranks. */
tw_status tw_pass_dots(const tw_space *space, tw_column_pass *pass, double *sums);

/* r_j = a_j y_j / mass + b_j q_j + c_j o_j and sums[j] = r_j^T mass r_j, over all ranks. */
tw_status tw_pass_update(const tw_space *space, tw_column_pass *pass, double *sums);

/* outputs[i] = sum_k coefficients[i * row + k] vectors[k], or the sum added to the outputs. */
typedef struct tw_combination {
    int count; /* vectors */
    double *const *vectors;
    int output_count;
    double *const *outputs;
    int64_t row;
    const double *coefficients;
    bool add; /* to what the outputs hold */
} tw_combination;

/* Forms all outputs in one pass: every vector is read once. n is the size of a vector. */
void tw_spectral_combine(int64_t n, const tw_combination *combination);

/* ---- the same in single precision (single_passes.c) ----
 *
 * Vectors are those of linalg/single.h. They stand in the memory of vectors of doubles, and pointers to
 * them are kept as pointers to doubles. */

/* tw_column_pass with columns that are `stride` apart. */
typedef struct tw_single_pass {
    int count;
    int64_t size;
    int64_t stride;
    const float *product;
    const float *current;
    const float *previous[TW_MAX_BLOCK];
    const float *mass;
    const float *inverse_mass;
    float *next;
    float a[TW_MAX_BLOCK];
    float b[TW_MAX_BLOCK];
    float c[TW_MAX_BLOCK];
    double *partial;
} tw_single_pass;
tw_status tw_single_pass_dots(const tw_space *space, tw_single_pass *pass, double *sums);
tw_status tw_single_pass_update(const tw_space *space, tw_single_pass *pass, double *sums);

/* sums[i] += sum_k coefficients[i * row + k] vectors[k] */
typedef struct tw_single_combination {
    int count;
    double *const *vectors;
    int output_count;
    float *const *sums;
    int64_t row;
    const double *coefficients;
} tw_single_combination;
void tw_single_combine(int64_t size, const tw_single_combination *combination);

/* ---- functions of a Lanczos chain (lanczos_chain.c, tridiagonal_rows.c) ---- */

enum { TW_CHAIN_PAD = 4 /* rows by which a chain is continued to see its error */ };

/* The three-term recurrence of one start vector b:
 *     A q_k = beta_{k-1} q_{k-1} + alpha_k q_k + beta_k q_{k+1},   q_0 = b/|b|_M.
 * The vectors are kept without normalisation: q_k = scale_k * vector_k. */
typedef struct tw_chain {
    double norm;    /* |b|_M; zero: the chain is empty */
    double rough;   /* relative error of its products beyond that of doubles; 0: none */
    int dimension;  /* m: alpha_0..alpha_{m-1} and beta_0..beta_{m-1} are known */
    bool exhausted; /* beta_{m-1} vanishes: the space is invariant, f(T) is exact */
    double *alpha;
    double *beta;
    double *scale;
    double **vector;
    int stored; /* vectors 0..stored-1 are kept; fewer than dimension when memory ran out */
} tw_chain;

/* A Ritz value with the first and the last entry of its eigenvector, and a function's
 * value there. */
typedef struct tw_ritz {
    double theta;
    double first;
    double last;
    double value;
} tw_ritz;

/* Scratch for chains of up to `capacity` dimensions. */
typedef struct tw_chain_scratch {
    int capacity;
    double *d;     /* capacity + TW_CHAIN_PAD */
    double *e;     /* capacity + TW_CHAIN_PAD */
    double *rows;  /* (1 + TW_CHAIN_PAD) times that */
    tw_ritz *ritz; /* capacity */
    double *Q;     /* capacity^2 */
    double *eigen; /* tw_dense_eigen_scratch(capacity) */
} tw_chain_scratch;

/* What is known of the spectrum outside of what this chain has seen. */
typedef struct tw_chain_range {
    double lowest;      /* smallest Ritz value of any chain so far, at most 0 */
    double highest;     /* largest Ritz value of any chain so far, at least 0 */
    bool hidden_growth; /* allow for growing modes below zero even if no Ritz value is negative */
} tw_chain_range;

/* What is known of |b| f(T_m) e_1 as an approximation to f(A) b. */
typedef struct tw_chain_error {
    double error;    /* |f(A) b - approximation|_M, estimated */
    double norm;     /* |approximation|_M */
    double rounding; /* change of the approximation when T changes by a few units of rounding |T| */
} tw_chain_error;

/* The functions first[0], first[stride], ..., `count` of them: those of one start vector. */
typedef struct tw_function_list {
    int count;
    int stride;
    const tw_spectral_function *first;
} tw_function_list;

/* Eigenvalues of T (diagonal d[n], off-diagonal e[n], e[n-1] is ignored). Both are destroyed: d
 * becomes the eigenvalues in no order. Z (row_count entries per column, n columns) is multiplied by
 * the eigenvectors from the right, so it gives row_count rows of them. O(n^2 row_count). */
tw_status tw_tridiagonal_rows(int n, double *d, double *e, int row_count, double *Z);

/* Ritz values of T_m, ascending, into scratch->ritz. */
tw_status tw_chain_decompose(const tw_chain *chain, int m, tw_chain_scratch *scratch);

/* Errors of the first m dimensions for every function, from the chain alone: no product.
 *
 * Let theta_i be the Ritz values and s_i the eigenvectors of T_m. The error is exactly
 *     |b| r(A) q_{m+1},
 *     r(lambda) = beta_m sum_i (e_1^T s_i)(e_m^T s_i) f[theta_i, lambda]   (divided difference).
 *
 * 1. r is sampled between the Ritz values, at zero, and a residual beyond the ends. If q_{m+1}
 *    spreads evenly over the spectrum, then the error is the mean square of the samples; it never
 *    exceeds their maximum. The estimate is the larger of the first and a fraction of the second.
 * 2. A mode at lambda below all Ritz values has at most the weight
 *        1/T_m(1 + 2 (theta_1 - lambda)/spread)
 *    in b (T_m: Chebyshev polynomial), else it would have been seen. Where f grows so fast that
 *    this weight is not small enough, the unseen mode counts as an error too.
 * 3. Where rounding hides r, T_m is continued by TW_CHAIN_PAD rows, as if the recurrence went on
 *    with its last coefficients. The error is then the part of f(T) e_1 in the added rows.
 *
 * The call also widens *range. */
tw_status tw_chain_estimate(const tw_chain *chain, int m, tw_chain_range *range,
                            tw_function_list functions, tw_chain_scratch *scratch,
                            tw_chain_error *errors);

/* Largest minus smallest eigenvalue of T_m and 0, bounded from above by Gershgorin's circles. */
double tw_chain_spread(const tw_chain *chain, int m);

/* coefficients[i * row + k] = |b| scale_k e_k^T f_i(T) e_1: f_i(A) b = sum_k
 * coefficients_k vector_k. */
tw_status tw_chain_coefficients(const tw_chain *chain, tw_function_list functions,
                                tw_chain_scratch *scratch, int64_t row, double *coefficients);

/* ---- memory (spectral_memory.c) ---- */

enum {
    TW_SPECTRAL_MAX_OUTPUTS = 2 * TW_PHI_MAX_NODES,
    TW_SPECTRAL_OWN_SLOT = TW_PHI_MAX_SLOTS, /* of phi_from_spectral.c; no caller's slot */
    TW_SPECTRAL_SLOTS
};

/* A kept basis. */
typedef struct tw_spectral_slot {
    tw_mass_metric metric; /* of the operator that the basis belongs to */
    /* The vectors are in single precision, of this form; NULL: they are doubles. */
    const tw_single *single;
    int start_count;
    tw_chain_range range;
    int64_t searched; /* pool vectors before this one are taken */
    tw_chain chain[TW_MAX_BLOCK];
} tw_spectral_slot;

/* One per workspace, shared by the three engines. */
typedef struct tw_spectral_memory {
    int64_t size;         /* N, local */
    int capacity;         /* largest dimension of a chain */
    double *pool;         /* basis vectors of all slots; a page is touched only when it is used */
    int64_t pool_vectors; /* vectors in the pool */
    signed char *owner;   /* slot that holds a pool vector, or -1 */
    double *product;      /* TW_MAX_BLOCK vectors: K q */
    double *momentum;     /* 3 TW_MAX_BLOCK vectors: M q of three steps, for a consistent mass */
    double *rolling;      /* 3 TW_MAX_BLOCK vectors: the recurrence once the pool is full */
    double *bound_start;  /* 1 vector: start of tw_spectral_find_interval */
    double *parts;        /* TW_SPECTRAL_MAX_OUTPUTS vectors: sums over blocks of start vectors */
    double *numbers;      /* all small arrays */
    double **pointers;    /* the chains' vectors */
    double growing_end;   /* end of the spectrum if the functions grow towards it, else 0 */
    double *coefficients; /* TW_SPECTRAL_MAX_OUTPUTS rows of TW_MAX_BLOCK * capacity */
    tw_chain_scratch scratch;
    tw_spectral_slot slot[TW_SPECTRAL_SLOTS];
} tw_spectral_memory;

/* Allocates workspace->spectral_memory unless it is there already. */
tw_status tw_spectral_reserve(tw_phi_workspace *workspace, tw_error *error);

/* Frees it. A second call does nothing. */
void tw_spectral_release(tw_phi_workspace *workspace);

static inline tw_spectral_memory *tw_spectral_memory_of(const tw_phi_workspace *workspace)
{
    return workspace->spectral_memory;
}

/* Notes whose basis the slot holds (TW_PHI_ENGINE_COUNT: none). */
static inline void tw_spectral_set_engine(tw_phi_workspace *workspace, int slot,
                                          tw_phi_engine engine)
{
    if (slot < TW_PHI_MAX_SLOTS) workspace->slot_engine[slot] = engine;
}

/* Empties the slot: its vectors go back to the pool. */
void tw_spectral_open_slot(tw_spectral_memory *memory, int slot);

/* `count` contiguous vectors for the slot, or NULL when there are none. They are the lowest free
 * ones, so that few pages are ever touched. */
double *tw_spectral_extend_slot(tw_spectral_memory *memory, int slot, int count);

/* ---- the Lanczos recurrence (lanczos_sweep.c) ---- */

/* A sweep under way, for up to TW_MAX_BLOCK chains. The active chains have equal dimension. */
typedef struct tw_sweep {
    const tw_second_order *op;
    tw_spectral_memory *memory;
    int slot;
    int active; /* chains that still grow */
    int chain[TW_MAX_BLOCK];
    int dimension;
    double *current;                /* vector number `dimension` of the active chains, contiguous */
    double *previous[TW_MAX_BLOCK]; /* the vector before, per active chain */
    double *momentum;               /* M times `current`, for a consistent mass only */
    double *momentum_before;        /* M times `previous` */
    double total_size;              /* N over all ranks */
    bool reorthogonalise; /* against all earlier vectors: for a small N the space is used up */
    bool storing;         /* the pool still has room */
    int64_t products;
} tw_sweep;

/* Empties the slot and starts a chain for every start vector that is not zero. */
tw_status tw_sweep_begin(tw_sweep *sweep, const tw_second_order *op, tw_spectral_memory *memory,
                         int slot, int start_count, const double *const *starts);

/* Goes on in single precision. Called between tw_sweep_begin and the first step, for an operator that
 * offers it, with lumped or unit mass. Then a step fails with TW_NOT_CONVERGED where the pool is full. */
void tw_sweep_use_single(tw_sweep *sweep, const double *const *starts);

/* One product with K for every active chain. */
tw_status tw_sweep_step(tw_sweep *sweep);

/* Goes on with those active chains for which keep[chain] is true. */
void tw_sweep_retire(tw_sweep *sweep, const bool *keep);

/* The second pass, for vectors that found no room in the pool:
 *     outputs[i] += sum over chains j and k >= stored_j of coefficients_ijk vector_k,
 * with the coefficients of memory->coefficients: output i at i * TW_MAX_BLOCK * capacity, chain j
 * at j * capacity after that. It repeats the recurrence bit for bit from the known alpha and beta.
 * It does nothing, and needs no product, when all vectors were kept. */
tw_status tw_sweep_repeat(tw_sweep *sweep, int output_count, double *const *outputs);

/* ---- an interval that holds the spectrum of A (spectral_interval.c) ---- */

/* The outermost Ritz values and zero, each moved outwards by its residual. */
typedef struct tw_spectral_interval {
    double low;
    double high;
} tw_spectral_interval;

/* Takes `steps` products with K, fewer if the space is used up, from `start` (not zero; NULL: a
 * pseudo-random vector). Works in TW_SPECTRAL_OWN_SLOT, which it empties, and does not touch
 * `rolling`. Adds to *products. */
tw_status tw_spectral_find_interval(tw_spectral_memory *memory, const tw_second_order *op,
                                    int steps, const double *start, tw_spectral_interval *interval,
                                    int64_t *products);

/* ---- Chebyshev series (chebyshev_series.c) ---- */

/* f(lambda) ~ sum_{k < count} c_k T_k(x), x = (lambda - middle)/half. */
typedef struct tw_chebyshev_interval {
    double middle;
    double half;
} tw_chebyshev_interval;

/* Doubles of scratch for series of `count` (a power of two) terms. */
size_t tw_chebyshev_scratch(int count);

/* c[0..count-1] by the discrete cosine transform of `count` (a power of two) samples:
 * O(count log count). TW_NOT_FINITE if f is not finite somewhere. */
tw_status tw_chebyshev_coefficients(const tw_spectral_function *f,
                                    const tw_chebyshev_interval *interval, int count,
                                    double *scratch, double *c);

/* tail[k] = sum of |c_l| over l > k: a bound of what a series that ends with T_k lacks. */
void tw_chebyshev_tails(int count, const double *c, double *tail);

/* T_k(x) b by the three-term recurrence, x = (A - middle)/half, for a block of start vectors.
 * The sums of all outputs are made in the same pass. There are no inner products and no
 * stored basis. */
typedef struct tw_chebyshev_recurrence {
    const tw_second_order *op;
    tw_spectral_memory *memory;
    tw_mass_metric metric;
    tw_chebyshev_interval interval;
    int active; /* start vectors still in the block */
    int start[TW_MAX_BLOCK];
    double norm[TW_MAX_BLOCK];   /* |b_j|_M of the request's start vectors */
    double growth[TW_MAX_BLOCK]; /* largest |T_k b|_M / |b|_M seen; about 1 inside the interval */
    int degree;                  /* k: `now` holds T_k b, `before` T_{k-1} b, normalised */
    int added;                   /* terms up to this degree are in the outputs */
    double *now;                 /* `active` contiguous columns */
    double *before;              /* `active` contiguous columns */
    int output_count;
    int start_count;
    int row;
    double *const *outputs;
    const double *coefficients; /* of f_ij at (i * start_count + j) * row, times |b_j| */
    int64_t products;
} tw_chebyshev_recurrence;

/* T_0 b. The caller has filled everything but the recurrence itself, norms included. */
void tw_chebyshev_begin(tw_chebyshev_recurrence *recurrence, const double *const *starts);

/* One product for every column in the block: T_{k+1} b. Terms are added to the outputs two by two;
 * the last step adds all that is not added yet. */
tw_status tw_chebyshev_step(tw_chebyshev_recurrence *recurrence, bool last);

/* Goes on with those start vectors for which keep[j] is true. */
void tw_chebyshev_retire(tw_chebyshev_recurrence *recurrence, const bool *keep);

/* Updates `growth`. */
tw_status tw_chebyshev_measure(tw_chebyshev_recurrence *recurrence);

/* ---- the space of shift-invert (shift_invert_basis.c) ----
 *
 * A block Krylov space of S = (M + gamma K)^-1 M, orthonormal in the mass inner product, in which S
 * is symmetric:
 *     f(A) b ~ Q f~(H) Q^T M b,   H = Q^T M S Q,   f~(theta) = f((1/theta - 1)/gamma).
 * The space of all start vectors together serves each of them. Orthogonalisation is complete and
 * done twice: the space is small, and it stays small because every vector adds a new direction. A
 * vector that depends on the earlier ones is dropped, and the block becomes narrower. */

enum { TW_SHIFT_INVERT_MAX = 256 /* most vectors of any basis */ };

/* The state of a basis after one extension. */
typedef struct tw_shift_invert_edge {
    int processed;
    int count;
    /* For Galerkin: C_ij = q_i^T (M + gamma K) q_j of the vectors not yet processed. */
    double rest[TW_MAX_BLOCK][TW_MAX_BLOCK];
} tw_shift_invert_edge;

typedef struct tw_shift_invert_basis {
    int64_t size;  /* N, local */
    int capacity;  /* most vectors */
    double *Q;     /* `capacity` vectors */
    double *H;     /* capacity^2, by columns: columns 0..processed-1 are known, `count` rows each */
    int count;     /* vectors in Q */
    int processed; /* vectors that S was applied to: the dimension of the space in use */
    int start_count;
    int active;                               /* start vectors that are not zero */
    double norm[TW_MAX_BLOCK];                /* |b_j|_M of the start vectors */
    double start[TW_MAX_BLOCK][TW_MAX_BLOCK]; /* b_j/|b_j| in terms of the first vectors of Q */
    double gamma;
    double theta_low; /* lower end of the spectrum of S: 1/(1 + gamma lambda_max), or 0 */
    bool grows;       /* functions grow towards theta_low: modes that nobody saw count there */
    bool smooth;      /* the start vectors were multiplied by S: functions carry 1/theta */
    int extensions;   /* so far */
    tw_shift_invert_edge *edge; /* edge[e]: after extension e + 1; `capacity` of them */
    bool galerkin;              /* functions are those of Q^T K Q instead of H, see below */
} tw_shift_invert_basis;

/* Scratch of the construction. */
typedef struct tw_shift_invert_scratch {
    double *image;   /* TW_MAX_BLOCK vectors */
    double *force;   /* TW_MAX_BLOCK vectors */
    double *weighed; /* 1 vector */
} tw_shift_invert_scratch;

/* Empties the basis and takes in the request's start vectors (NULL: zero), multiplied by S first if
 * request->smooth. Adds to *solves. */
tw_status tw_shift_invert_begin(tw_shift_invert_basis *basis, const tw_second_order *op,
                                const tw_spectral_request *request, double gamma,
                                tw_shift_invert_scratch *scratch, int64_t *solves);

/* Applies S to the vectors it was not applied to yet (at most TW_MAX_BLOCK) and adds what is new.
 * TW_NOT_CONVERGED when the capacity is reached. */
tw_status tw_shift_invert_extend(tw_shift_invert_basis *basis, const tw_second_order *op,
                                 tw_shift_invert_scratch *scratch, int64_t *solves);

/* For a Galerkin basis, after each extension: fills the edge's `rest`. Adds to *products. */
tw_status tw_shift_invert_measure_rest(tw_shift_invert_basis *basis, const tw_second_order *op,
                                       tw_shift_invert_scratch *scratch, int64_t *products);

/* The basis as it was `ago` extensions before, empty if it had not begun. It shares the vectors. */
tw_shift_invert_basis tw_shift_invert_past(const tw_shift_invert_basis *basis, int ago);

/* Whether S maps the space into itself. Results are exact then. */
static inline bool tw_shift_invert_is_invariant(const tw_shift_invert_basis *basis)
{
    return basis->processed == basis->count;
}

/* ---- functions of that space (shift_invert_error.c) ----
 *
 * They need the small matrix H alone. Let H = U diag(theta) U^T, R = (rows of H below the processed
 * block) U, and w_j = U^T (coordinates of b_j). The error of sum_j f_j(A) b_j is exactly the sum
 * over the unprocessed vectors, each multiplied by one component of
 *     r(S) = sum_k R_k sum_j w_jk f~_j[theta_k, S]                 (divided differences).
 * r is sampled between the theta_k, below the smallest, and at theta = 1 (lambda = 0). If the
 * unprocessed vectors spread evenly over the spectrum, then the error is the mean square of the
 * samples; it cannot exceed their maximum. On the coil, at three stiffnesses, the mean square was
 * within 30 % of the true error from the third solve on. That holds also where convergence
 * stagnates, and where the differences of nested spaces are three times too small.
 *
 * Galerkin. By default (M + gamma K)^-1 M is projected. With T = Q^T K Q instead, the motion is
 * that of the system constrained to x_n + span Q. It keeps its energy, however coarse the space is.
 * From S Q = Q H + q R^T and C = q^T (M + gamma K) q follows
 *     (I + gamma T)^-1 = H - R (C^-1 + R^T H^-1 R)^-1 R^T.
 * The error has the same form as above, with theta_k, u_k of this matrix and R_k = theta_k R^T
 * H^-1 u_k. */

/* Scratch and result of a decomposition. Arrays without a size have one entry per mode. */
typedef struct tw_shift_invert_modes {
    int count;                    /* p, dimension of the space */
    int residual;                 /* vectors not yet processed, at most TW_MAX_BLOCK */
    double *U;                    /* p x p */
    double *theta;                /* ascending */
    double *weight[TW_MAX_BLOCK]; /* w_j, relative to the largest start vector */
    double *rest[TW_MAX_BLOCK];   /* R, a row per unprocessed vector */
    double *value[TW_MAX_BLOCK];  /* f~_j(theta_k) of the function under examination */
    double *eigen;                /* tw_dense_eigen_scratch */
    double *factor;               /* p x p: Cholesky factor of H, for Galerkin */
    double unit;                  /* length of the largest start vector */
} tw_shift_invert_modes;

/* The meaning of the fields is that of tw_chain_error. */
typedef struct tw_shift_invert_error {
    double error;
    double norm;
    double rounding;
} tw_shift_invert_error;

/* Doubles that the arrays of the modes need, and how they are shared out. */
size_t tw_shift_invert_modes_scratch(int capacity);
void tw_shift_invert_modes_share_out(tw_shift_invert_modes *modes, int capacity, double *numbers);

tw_status tw_shift_invert_decompose(const tw_shift_invert_basis *basis,
                                    tw_shift_invert_modes *modes);

/* |weight(A) Q change|_M from the small matrix alone. `change` are coefficients in Q, a NULL weight
 * means 1, `scratch` has p entries. */
double tw_shift_invert_weighted_norm(const tw_shift_invert_basis *basis,
                                     const tw_shift_invert_modes *modes,
                                     const tw_spectral_function *weight, const double *change,
                                     double *scratch);

/* Examines one output, f being its start_count functions. Leaves its coefficients in Q in
 * coefficients[0..p-1]. Error, norm and rounding are those of weight(A) f(A) b (NULL: weight 1). */
tw_status tw_shift_invert_examine(const tw_shift_invert_basis *basis, tw_shift_invert_modes *modes,
                                  const tw_spectral_function *f, const tw_spectral_function *weight,
                                  double *coefficients, tw_shift_invert_error *error);

#endif
