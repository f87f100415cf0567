/* A conservative second-order problem `M x'' = f(x) = -dV/dx`, as tests and benchmarks see it: plain functions over
 * plain arrays. N unknowns, lumped mass. */
#ifndef PROBLEMS_PLAIN_PROBLEM_H
#define PROBLEMS_PLAIN_PROBLEM_H

#include <stdbool.h>
#include <stdint.h>
#include <twang/operator.h>
#include <twang/sparse.h>

typedef struct problem {
    int64_t size;              /* N */
    const double *lumped_mass; /* N values; NULL means ones */
    void *context;             /* handed to every function */
    /* a = M^-1 f(x). */
    void (*acceleration)(void *context, const double *x, double *a);
    /* V(x), external field included. */
    double (*potential)(void *context, const double *x);
    /* Fixes the state at which apply_stiffness and fill take K = -df/dx. */
    void (*linearise)(void *context, const double *x);
    /* Elements with a scalar tension, as tw_tension_elements of problem.h describes them; 0: there are none. */
    int64_t tension_count;
    void (*linearise_tension)(void *context, const double *x, const double *tension, bool definite);
    void (*predict_tension)(void *context, const double *x, const double *dx, double *tension,
                            double *turn);
    /* out = K in, matrix-free. */
    tw_apply_function *apply_stiffness;
    int block; /* 1 or 3: the block size in which K is assembled */
    /* Pattern of K in blocks, as tw_sparse_create takes it; both arrays are the caller's to free(). */
    tw_status (*pattern)(const void *context, tw_sparse_storage storage, int64_t **row_start,
                         int64_t **column);
    /* Values of K at the last linearisation in that pattern. */
    void (*fill)(const void *context, tw_sparse_storage storage, const int64_t *row_start,
                 const int32_t *column, double *values);
} problem;

/* V(x) + v^T M v / 2. */
double problem_energy(const problem *p, const double *x, const double *v);

/* The linearised system with K matrix-free: no shifted solver, no bound on the spectrum. */
tw_second_order problem_second_order(const problem *p);

/* K as a matrix: its pattern, once, and its values at the last linearisation, often. */
tw_status problem_create_stiffness(const problem *p, tw_sparse_storage storage, tw_sparse **out,
                                   tw_error *error);
void problem_fill_stiffness(const problem *p, tw_sparse *matrix);

/* The linearised system with K in `matrix`. */
tw_second_order problem_second_order_assembled(const problem *p, const tw_sparse *matrix);

/* Largest frequency sqrt(lambda_max(M^-1 K)) at the last linearisation, from below, by `iterations` Lanczos steps;
 * 0 when memory is out. */
double problem_frequency_max(const problem *p, int iterations);

#endif
