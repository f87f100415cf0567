/* What a force is to the model: a table of functions over the arrays of all particles. One file per force.
 *
 * A force owns its elements and its scratch. It computes per element in parallel and gathers per particle
 * (incidence.h), so that results are bitwise the same for any number of threads. Where a function is NULL the force has
 * none of that: no energy (not conservative), no tangent (constant). Particles have three entries in `x`, `v`, `force`;
 * free particles three in `in`, `out` (see tw_particles.unknown). */
#ifndef TW_MODEL_FORCE_H
#define TW_MODEL_FORCE_H

#include <twang/sparse.h>

#include "model/particles.h"
#include "model/pattern.h"

/* Where and when: positions and velocities of all particles. */
typedef struct tw_force_view {
    double t;
    const double *x, *v;
} tw_force_view;

typedef struct tw_force_table {
    const char *name;
    void (*release)(void *data);
    /* The particles are complete and stay where they are: builds gather lists, allocates all scratch. */
    tw_status (*complete)(void *data, const tw_particles *particles);
    /* Names every pair of free particles between which it has stiffness. */
    void (*add_pattern)(const void *data, tw_pattern *pattern);
    /* The matrix of all forces: remembers where its blocks are. */
    void (*locate)(void *data, const tw_sparse *matrix);

    /* *energy += its potential energy. */
    tw_status (*add_energy)(void *data, const tw_force_view *at, double *energy);
    /* force += f. TW_RECOVERABLE where it is not defined. */
    tw_status (*add_force)(void *data, const tw_force_view *at, double *force);
    /* Fixes K = -df/dx for the two that follow. */
    tw_status (*linearise)(void *data, const tw_force_view *at);
    /* out += K in, for `count` columns. */
    void (*add_product)(void *data, int count, const double *in, double *out);
    /* matrix += K. */
    void (*add_tangent)(void *data, tw_sparse *matrix);
    /* bound[p] += b_p for every particle, where K <= diag(b) at any state: gives the highest frequency. NULL: unknown.
     */
    void (*add_stiffness_bound)(const void *data, double *bound);
} tw_force_table;

typedef struct tw_force {
    const tw_force_table *table;
    void *data;
} tw_force;

/* The forces there are. Each create function copies what it is given. */
tw_status tw_force_springs_create(int64_t count, const int64_t *ends, const double *stiffness,
                                  const double *rest_length, const double *positions, tw_force *out);
tw_status tw_force_gravity_create(const double acceleration[3], tw_force *out);

#endif
