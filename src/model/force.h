/* What a force is to the model: a table of functions over the arrays of all particles.
 * There is one file per force.
 *
 * A force owns its elements and its scratch memory. It computes per element in parallel and gathers
 * per particle (incidence.h), so that results are bitwise the same for any number of threads. Every
 * function of the table except release, complete and add_force may be NULL: then the force has no
 * energy, no tangent, no damping and so on.
 *
 * `x`, `v`, `force` and `rate` have three entries per particle. `in` and `out` have three entries
 * per free particle, in the order of tw_particles.unknown.
 *
 * The tangents are K = -df/dx and D = -df/dv. Where K is not symmetric (TW_FORCE_GENERAL), the
 * matrix holds a symmetric S instead, usually the symmetric part of K. The implicit schemes use S
 * in their Newton iteration. */
#ifndef TW_MODEL_FORCE_H
#define TW_MODEL_FORCE_H

#include <twang/solid.h>
#include <twang/sparse.h>

#include "model/particles.h"
#include "model/pattern.h"

/* The point at which forces are evaluated: time, and positions and velocities of all particles. */
typedef struct tw_force_view {
    double t;
    const double *x;
    const double *v;
} tw_force_view;

/* Properties of a force, besides being a function of x that conserves its energy. */
enum {
    /* The force depends on v: it has add_damping_product. */
    TW_FORCE_VELOCITY = 1,
    /* The force depends on t explicitly: it has add_time_derivative. */
    TW_FORCE_TIME = 2,
    /* K is not symmetric: the force has add_symmetric_product. */
    TW_FORCE_GENERAL = 4,
    /* The force can add energy to the model that add_energy does not know of. */
    TW_FORCE_FEEDS = 8,
    /* The force acts on each particle by itself, and add_energy counts the free particles only. */
    TW_FORCE_FREE_ONLY = 16,
    /* The force is m g with the g that model->gravity sums up. */
    TW_FORCE_UNIFORM = 32,
    /* The force may act between bodies that its pattern does not join. */
    TW_FORCE_FAR = 64
};

/* Which particles are joined by elements: `corners` particle indices per element. */
typedef struct tw_force_elements {
    int64_t count;
    int corners;
    const int32_t *particle;
} tw_force_elements;

typedef struct tw_force_table {
    const char *name;
    void (*release)(void *data);
    /* The TW_FORCE_... flags; NULL: none. They are known once Rayleigh damping is set. */
    unsigned (*traits)(const void *data);
    /* The elements that join particles to bodies. NULL: the force joins none. */
    tw_force_elements (*elements)(const void *data);
    /* Adds beta times its material stiffness to D, and the force that belongs to it:
     * see tw_model_set_rayleigh. It is called once, before complete. NULL: the force
     * has no deformation to damp. */
    void (*set_rayleigh)(void *data, double beta);
    /* Builds the gather lists and allocates all scratch memory. The particles
     * do not change any more. */
    tw_status (*complete)(void *data, const tw_particles *particles);
    /* Names every pair of free particles between which the force has stiffness or damping. */
    void (*add_pattern)(const void *data, tw_pattern *pattern);
    /* Remembers where its blocks are in the matrix of all forces. */
    void (*locate)(void *data, const tw_sparse *matrix);

    /* *energy += its potential energy. */
    tw_status (*add_energy)(void *data, const tw_force_view *at, double *energy);
    /* force += f. TW_RECOVERABLE where f is not defined. */
    tw_status (*add_force)(void *data, const tw_force_view *at, double *force);
    /* out += df/dt at fixed x and v. */
    tw_status (*add_time_derivative)(void *data, const tw_force_view *at, double *out);
    /* out += df/dx x_rate + df/dv v_rate, over all particles: the effect of moved particles. NULL:
     * the model takes finite differences of add_force. */
    tw_status (*add_rate)(void *data, const tw_force_view *at, const double *x_rate,
                          const double *v_rate, double *out);

    /* Before an attempt of a step of length h from this point. *changed: add_pattern may name other
     * pairs than before. NULL: nothing to do. */
    tw_status (*begin_step)(void *data, double h, const tw_force_view *at, bool *changed);
    /* After a step of length h from `from` to `to`: changes the positions and velocities of free
     * particles in x and v, which are those of `to`. *changed: it did. TW_RECOVERABLE: the step
     * is to be divided. NULL: nothing to do. */
    tw_status (*finish_step)(void *data, double h, const tw_force_view *from, double t, double *x,
                             double *v, bool *changed);

    /* Internal variables, which change between steps only: how many; NULL: none. */
    int64_t (*internal_count)(const void *data);
    /* Where they are from now on, in the array of the model, and their values at the start. The
     * force works on them in begin_step and finish_step. `changed` are the marks of its blocks, from its
     * first variable on (tw_internal_variables): a force that never clears one need not set any. */
    void (*set_internal)(void *data, double *state, unsigned char *changed);
    /* Energy that flow has taken since the start [J], up to time t: the stage of the last step, or
     * its end. NULL: nothing flows. */
    double (*plastic_work)(const void *data, double t);
    /* For every particle: rows[stride i] = the largest of itself and the strains of its elements,
     * rows[stride i + 1] = the same of their plastic strains. NULL: nothing flows. */
    void (*add_strain)(const void *data, const double *x, double *rows, int stride);

    /* Fixes K, S and D at this point for the functions that follow. */
    tw_status (*linearise)(void *data, const tw_force_view *at);
    /* Elements with a scalar tension may take it as an unknown of its own (force_spring_tension.c).
     * How many there are; NULL: none. */
    int64_t (*tension_count)(const void *data);
    /* As linearise, with geometric stiffness made of the given tensions; `definite`: of
     * max(tension, 0). */
    tw_status (*linearise_tension)(void *data, const tw_force_view *at, const double *tension,
                                   bool definite);
    /* The tensions that the laws, linearised at this point, predict for x + dx and v + rate dx (dx
     * of the unknowns), and the angles [rad] by which dx can turn each element. */
    void (*predict_tension)(void *data, const tw_force_view *at, const double *dx, double rate,
                            double *predicted, double *turn);
    /* out += K in, for `count` columns. */
    void (*add_product)(void *data, int count, const double *in, double *out);
    /* out += S in. NULL where K is symmetric. */
    void (*add_symmetric_product)(void *data, int count, const double *in, double *out);
    /* out += (K - S) in: with it the model can use one matrix for all S. NULL where K is symmetric,
     * or where this costs as much as a product with K: then products are taken force by force. */
    void (*add_rest_product)(void *data, int count, const double *in, double *out);
    /* matrix += S (= K where K is symmetric), in the rows of active particles (tw_particles_want). */
    void (*add_tangent)(void *data, tw_sparse *matrix);
    /* out += D in. */
    void (*add_damping_product)(void *data, int count, const double *in, double *out);
    /* matrix += factor * D, or the symmetric part of D, in the same rows. */
    void (*add_damping)(void *data, double factor, tw_sparse *matrix);
    /* Returns the failure of a product or a matrix since the last call, once.
     * NULL: they cannot fail. */
    tw_status (*take_failure)(void *data);
    /* bound[p] += b_p for every particle, where K <= diag(b) at any state: it bounds the highest
     * frequency. NULL: there is no such bound. */
    void (*add_stiffness_bound)(const void *data, double *bound);
    /* The same at rest, where there is no bound at any state. NULL: not known either. */
    void (*add_stiffness_at_rest)(const void *data, double *bound);
} tw_force_table;

typedef struct tw_force {
    const tw_force_table *table;
    void *data;
} tw_force;

static inline unsigned tw_force_traits(const tw_force *force)
{
    if (!force->table->traits) return 0;
    return force->table->traits(force->data);
}

/* The same acceleration for every particle. (force_gravity.c) */
tw_status tw_force_gravity_create(const double acceleration[3], tw_force *out);

/* The mass-proportional part of Rayleigh damping: one force over all bodies, made when all other
 * forces are there. The elements of `forces` join particles to bodies. *some_free: a body has no
 * pinned particle. (force_mass_damping.c) */
tw_status tw_force_mass_damping_create(double alpha, const tw_particles *particles, int force_count,
                                       const tw_force *forces, bool *some_free, tw_force *out);

/* Elastic tetrahedra of checked input, which is copied. TW_INVALID_ARGUMENT if an element has no
 * volume at rest. (force_tetrahedra.c) */
tw_status tw_force_tetrahedra_create(int nodes, int64_t count, const int64_t *elements,
                                     const double *rest, const tw_solid_material *material,
                                     tw_force *out);

/* A girder network of checked input, which is copied. `transverse` may be
 * NULL. (force_warping.c) */
tw_status tw_force_warping_create(int64_t count, const int64_t *ends, const double *axial,
                                  const double *transverse, const double *rest, tw_force *out);

#endif
