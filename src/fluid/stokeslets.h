/* Regularised Stokeslets (Cortez 2001; Cortez, Fauci and Medovikov 2005): the flow of a viscous fluid
 * without inertia that forces make, each of them spread over a blob
 *     phi(r) = 15 eps^4 / (8 pi (r^2 + eps^2)^(7/2)).
 *
 * With r = x_i - x_j, c = (eps_i^2 + eps_j^2) / 2 and s = r . r + c, the velocity of point i is
 *     u_i = 1/(8 pi mu) sum_j S f_j,   S f = (1/sqrt(s) + c/s^(3/2)) f + (f . r)/s^(3/2) r,
 * the point itself included. For points of one radius eps this is the published kernel, because
 * 1/sqrt(s) + c/s^(3/2) = (r^2 + 2 eps^2)/(r^2 + eps^2)^(3/2).
 *
 * The mobility u = M f is symmetric and positive definite for any radii: S = (laplace I - grad grad)
 * sqrt(s), and sqrt(s) is a constant less an integral over Gaussians exp(-a s) with positive weights.
 * Each of them gives the positive definite kernel (grad grad - laplace I) exp(-a r^2), times
 * exp(-a eps_i^2/2) exp(-a eps_j^2/2), which is of rank one and positive. */
#ifndef TW_FLUID_STOKESLETS_H
#define TW_FLUID_STOKESLETS_H

#include <stdint.h>
#include <twang/status.h>

/* Points in a fluid. Arrays of points have three entries each: x, y, z. Functions that fill arrays
 * allocate nothing, use threads, and give bitwise the same result for any number of them. */
typedef struct tw_stokeslets tw_stokeslets;

/* `count` points with radii eps > 0 [m], which are copied, in a fluid of viscosity mu > 0 [Pa s]. NULL
 * when memory is out. */
tw_stokeslets *tw_stokeslets_create(int64_t count, const double *radius, double viscosity);
/* Accepts NULL. */
void tw_stokeslets_free(tw_stokeslets *stokeslets);

/* Says where the points are. It must be called before the functions below. */
void tw_stokeslets_place(tw_stokeslets *stokeslets, const double *x);

/* velocity = M force. */
void tw_stokeslets_velocity(tw_stokeslets *stokeslets, const double *force, double *velocity);

/* velocity = M force + (dM/dx . move) load: how the velocity under `load` changes where the points
 * change by `move` and the load by `force`. */
void tw_stokeslets_change(tw_stokeslets *stokeslets, const double *load, const double *force,
                          const double *move, double *velocity);

/* The dense matrices of the two parts, 3 count x 3 count, column-major: M, and G = d(M load)/dx at
 * fixed load. */
void tw_stokeslets_mobility(const tw_stokeslets *stokeslets, double *M);
void tw_stokeslets_gradient(tw_stokeslets *stokeslets, const double *load, double *G);

#endif
