/* The operators on which bench_phi compares the engines. */
#ifndef BENCH_PHI_BENCH_CASE_H
#define BENCH_PHI_BENCH_CASE_H

#include <stdbool.h>
#include <twang/cholesky.h>
#include <twang/phi.h>

#include "problems/link_chain.h"
#include "problems/spring_network.h"

/* Name, what it is. */
#define PHI_BENCH_CASES(X)                                                                         \
    X("fpu-20", "FPU-beta chain, 1,000 masses, h omega_max = 20")                                  \
    X("fpu-100", "the same, h omega_max = 100")                                                    \
    X("coil", "coil of 23,808 unknowns 1 s after release, h = 0.05")                               \
    X("coil-x100", "the same coil, 100 times stiffer, in its own state after 1 s")                 \
    X("coil-x10000", "the same coil, 10,000 times stiffer")                                        \
    X("advection", "2D advection-diffusion, 10,000 unknowns, upwind: nonsymmetric, first order")   \
    X("dense", "full nonsymmetric matrix of order 200, first order")

typedef struct phi_bench_case {
    const char *name;
    bool second_order;
    int64_t size;   /* unknowns: half a vector if second_order */
    int64_t length; /* of a vector */
    double time;
    double omega;   /* largest frequency (second order), else 0 */
    double *vector; /* F = (v, a), or the initial value */
    double *x, *v;  /* the state (second order) */
    tw_operator first;
    tw_second_order second;
    problem problem;
    /* What it owns: */
    tw_sparse *matrix; /* K, or A */
    double *full;      /* `dense` */
    link_chain *chain;
    spring_network *network;
    tw_shifted_cholesky *shifted;
} phi_bench_case;

/* `quick` makes small ones of the same kind. */
tw_status phi_bench_case_create(const char *name, bool quick, phi_bench_case *c, tw_error *error);
void phi_bench_case_free(phi_bench_case *c);

/* Norm of part 0 (x, or all) or 1 (v), in the mass norm. */
double phi_bench_norm(const phi_bench_case *c, int part, const double *vector);

/* Writes for the peers, in PETSc's binary format: `NAME.A`, the matrix t J in coordinates (omega M^1/2 x, M^1/2 v) or
 * t A; `NAME.b`, the vector; each named reference times its factor as `NAME.REFERENCE`; and in plain text `NAME.split`,
 * where the v-part begins (0 if there is none). */
tw_status phi_bench_export(const phi_bench_case *c, const char *folder, int count,
                           const char *const *names, const double *factors,
                           double *const *references, tw_error *error);

#endif
