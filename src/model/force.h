/* What a force is to the model: a table of functions over the arrays of all particles. One file per force.
 *
 * A force owns its elements and its scratch. It computes per element in parallel and gathers per particle
 * (incidence.h), so that results are bitwise the same for any number of threads. Where a function is NULL the force has
 * none of that: no energy, no tangent (constant), no damping. Particles have three entries in `x`, `v`, `force`,
 * `rate`; free particles three in `in`, `out` (see tw_particles.unknown). Only name, release, complete and add_force
 * are required of every force.
 *
 * K = -df/dx and D = -df/dv. Where K is not symmetric (TW_FORCE_GENERAL), the matrix holds a symmetric S instead, by
 * which implicit schemes iterate: usually K's symmetric part. */
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

/* What else a force is, besides a function of x that conserves its energy. */
enum {
    TW_FORCE_VELOCITY = 1, /* depends on v: has add_damping_product */
    TW_FORCE_TIME = 2,     /* depends on t explicitly: has add_time_derivative */
    TW_FORCE_GENERAL = 4,  /* K is not symmetric: has add_symmetric_product */
    TW_FORCE_FEEDS = 8,    /* can feed energy that add_energy does not know of */
    TW_FORCE_FREE_ONLY =
        16 /* acts on each particle by itself, and add_energy counts the free ones */
};

/* Who is joined to whom: `corners` particles per element. */
typedef struct tw_force_elements {
    int64_t count;
    int corners;
    const int32_t *particle;
} tw_force_elements;

typedef struct tw_force_table {
    const char *name;
    void (*release)(void *data);
    /* TW_FORCE_... flags; NULL: none. Known once Rayleigh damping is set. */
    unsigned (*traits)(const void *data);
    /* Particles that it joins to bodies. NULL: it joins none. */
    tw_force_elements (*elements)(const void *data);
    /* Adds beta times its material stiffness to D, and the force that belongs to it: see tw_model_set_rayleigh.
     * Called once, before complete. NULL: it has no deformation to damp. */
    void (*set_rayleigh)(void *data, double beta);
    /* The particles are complete and stay where they are: builds gather lists, allocates all scratch. */
    tw_status (*complete)(void *data, const tw_particles *particles);
    /* Names every pair of free particles between which it has stiffness or damping. */
    void (*add_pattern)(const void *data, tw_pattern *pattern);
    /* The matrix of all forces: remembers where its blocks are. */
    void (*locate)(void *data, const tw_sparse *matrix);

    /* *energy += its potential energy. */
    tw_status (*add_energy)(void *data, const tw_force_view *at, double *energy);
    /* force += f. TW_RECOVERABLE where it is not defined. */
    tw_status (*add_force)(void *data, const tw_force_view *at, double *force);
    /* out += df/dt at fixed x and v. */
    tw_status (*add_time_derivative)(void *data, const tw_force_view *at, double *out);
    /* out += df/dx x_rate + df/dv v_rate, of all particles: what moved particles do. NULL: by differences. */
    tw_status (*add_rate)(void *data, const tw_force_view *at, const double *x_rate,
                          const double *v_rate, double *out);

    /* Fixes K, S and D for those that follow. */
    tw_status (*linearise)(void *data, const tw_force_view *at);
    /* out += K in, for `count` columns. */
    void (*add_product)(void *data, int count, const double *in, double *out);
    /* out += S in. NULL where K is symmetric. */
    void (*add_symmetric_product)(void *data, int count, const double *in, double *out);
    /* out += (K - S) in: lets the model use one matrix for all S. NULL where K is symmetric, or where this costs as
     * much as K itself: then products are taken force by force. */
    void (*add_rest_product)(void *data, int count, const double *in, double *out);
    /* matrix += S (= K where that is symmetric). */
    void (*add_tangent)(void *data, tw_sparse *matrix);
    /* out += D in. */
    void (*add_damping_product)(void *data, int count, const double *in, double *out);
    /* matrix += factor * D, or its symmetric part. */
    void (*add_damping)(void *data, double factor, tw_sparse *matrix);
    /* What a product or matrix since the last call failed with, once. NULL: they cannot fail. */
    tw_status (*take_failure)(void *data);
    /* bound[p] += b_p for every particle, where K <= diag(b) at any state: gives the highest frequency. NULL: unknown.
     */
    void (*add_stiffness_bound)(const void *data, double *bound);
} tw_force_table;

typedef struct tw_force {
    const tw_force_table *table;
    void *data;
} tw_force;

static inline unsigned tw_force_traits(const tw_force *force)
{
    return force->table->traits ? force->table->traits(force->data) : 0;
}

/* The forces there are. Each create function copies what it is given. */
tw_status tw_force_gravity_create(const double acceleration[3], tw_force *out);

#endif
