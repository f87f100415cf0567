/* Chains of scalar unknowns joined by nonlinear links: the Fermi-Pasta-Ulam-Tsingou problems. Unit masses,
 *     V(x) = sum_i d_i x_i^2 / 2 + sum_l (a q_l^2 / 2 + b q_l^4 / 4),   q_l = sum_e c_{l,e} x_{l,e}. */
#ifndef PROBLEMS_LINK_CHAIN_H
#define PROBLEMS_LINK_CHAIN_H

#include "problems/plain_problem.h"

enum { LINK_ENTRIES = 4 };

/* q = sum of coefficient[e] * x[index[e]] over its first `count` entries. */
typedef struct chain_link {
    int count;
    int64_t index[LINK_ENTRIES];
    double coefficient[LINK_ENTRIES];
} chain_link;

typedef struct link_chain {
    int64_t size;       /* unknowns */
    int64_t link_count; /* links */
    chain_link *links;
    double *diagonal;          /* d: linear stiffness of every unknown by itself */
    double quadratic, quartic; /* a, b */
    double *link_stiffness;    /* V''(q_l) at the last linearisation */
    double *initial_x;         /* the state at t = 0 */
    double *initial_v;
    double omega; /* FPUT's fast frequency; 0 otherwise */
} link_chain;

/* FPUT as in the 2022 paper: m slow unknowns x_{0,1..m}, then m fast ones x_{1,1..m} of frequency omega; initially
 * x_{0,1} = v_{0,1} = v_{1,1} = 1, x_{1,1} = 1/omega, all else zero. NULL when memory is out. */
link_chain *fput_create(int64_t m, double omega);

/* FPU-beta: `masses` unit masses between fixed ends, V(r) = r^2/2 + r^4/4, at x = 0 with normally distributed
 * velocities from the seed. NULL when memory is out. */
link_chain *fpu_beta_create(int64_t masses, uint64_t seed);

/* Accepts NULL. */
void link_chain_free(link_chain *chain);

/* The chain as a problem; lives as long as the chain. */
problem link_chain_problem(link_chain *chain);

/* Energies I_j = (v_{1,j}^2 + omega^2 x_{1,j}^2)/2 of FPUT's m stiff oscillators; returns their sum I. */
double fput_oscillatory_energies(const link_chain *chain, const double *x, const double *v,
                                 double *energies);

#endif
