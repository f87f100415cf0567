/** @file operator.h
 *  Linear operators by callback: what the phi-engines and the implicit methods see of a problem.
 *
 *  A block of `count` vectors is `count` contiguous columns: column j starts at `in + j *
 *  local_size`.
 */
#ifndef TWANG_OPERATOR_H
#define TWANG_OPERATOR_H

#include <stdint.h>
#include <twang/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TW_MAX_BLOCK = 4 /**< most vectors handed to an operator at once */ };

/** The part of a vector this process holds, and how to sum over the others. */
typedef struct tw_space {
    int64_t local_size; /**< entries of a vector held here, >= 0 */
    /** Replaces each of `count` values by its sum over all ranks; NULL in a single process. */
    tw_status (*reduce)(void *context, double *values, int count);
    void *context; /**< handed to reduce; may be NULL */
} tw_space;

/** out = Op in, for `count` columns (1..TW_MAX_BLOCK). `in` and `out` do not overlap. */
typedef tw_status tw_apply_function(void *context, int count, const double *in, double *out);

typedef enum tw_symmetry {
    TW_GENERAL,   /**< nothing is known */
    TW_SYMMETRIC, /**< Op = Op^T in the Euclidean inner product */
    TW_SKEW       /**< Op = -Op^T */
} tw_symmetry;

struct tw_single_product;

/** A linear operator. Plain data: copy it freely; it owns nothing. */
typedef struct tw_operator {
    tw_space space;           /**< of `in` and `out` alike (square) */
    tw_apply_function *apply; /**< required */
    void *context;            /**< handed to apply */
    tw_symmetry symmetry;     /**< default TW_GENERAL; a false promise gives wrong results */
    /** An upper bound of the 2-norm, 0 if unknown (then it is estimated when needed). */
    double norm;
    /** Memory one product with one vector must move, for the cost model; 0 if unknown. */
    double bytes_per_product;
    /** Products in single precision, which the library's own problems offer for where few digits are
     *  asked for. Leave it NULL. */
    const struct tw_single_product *single;
} tw_operator;

/** Solves with `M + gamma K`: used by shift-invert and by Newton's method. Plain data; owns
 *  nothing. */
typedef struct tw_shifted_solver {
    void *context;
    /** Prepares `M + gamma K`, gamma > 0, for the K of the last linearisation; a no-op if that is
     *  what it holds already. TW_NOT_POSITIVE_DEFINITE if it is not; then the caller may try a
     *  smaller gamma. */
    tw_status (*factor)(void *context, double gamma);
    /** out = (M + gamma K)^-1 in, for `count` columns. Only after a successful factor. */
    tw_status (*solve)(void *context, int count, const double *in, double *out);
    double factor_flops; /**< of one factorisation, for the cost model */
    double solve_bytes;  /**< memory one solve with one vector must move, for the cost model */
    /** Running count of factorisations really done; NULL if not counted. */
    const int64_t *factorisations;
} tw_shifted_solver;

/** A consistent mass matrix, symmetric positive definite. Plain data; owns nothing. */
typedef struct tw_mass_operator {
    tw_apply_function *apply; /**< out = M in */
    tw_apply_function *solve; /**< out = M^-1 in */
    void *context;            /**< handed to both */
} tw_mass_operator;

/** The linearised second-order system ``M x'' + D x' + K x = 0``, N unknowns. Its first-order form
 *  is `u = (x, v)`, `J = [[0, I], [-A, -B]]`, `A = M^-1 K`, `B = M^-1 D`. Plain data. */
typedef struct tw_second_order {
    /** K. TW_SYMMETRIC enables lanczos, chebyshev, shift-invert (indefinite is fine). */
    tw_operator stiffness;
    const double *lumped_mass;    /**< N positive values, or NULL for unit mass */
    const tw_mass_operator *mass; /**< consistent mass, or NULL; excludes lumped_mass */
    double rayleigh_mass;         /**< alpha of D = alpha M + beta K [1/s], default 0 */
    double rayleigh_stiffness;    /**< beta of D = alpha M + beta K [s], default 0 */
    /** Any other D (Arnoldi engines only), added to Rayleigh's; NULL if none. */
    const tw_operator *damping;
    const tw_shifted_solver *shifted; /**< enables shift-invert; NULL if there is none */
    /** Upper bound of A's largest eigenvalue; 0 if unknown (then it is estimated). */
    double eigenvalue_max;
} tw_second_order;

#ifdef __cplusplus
}
#endif
#endif
