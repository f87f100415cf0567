/* A uniform acceleration g: force m g, energy -m g . x over the free particles. The force is
 * constant, so that it has no tangent. */
#include <string.h>

#include "base/allocate.h"
#include "base/parallel_for.h"
#include "model/force.h"

typedef struct gravity {
    double acceleration[3];
    const tw_particles *particles;
    double *partial; /* energy per block of free particles */
} gravity;

static void gravity_release(void *data)
{
    gravity *g = data;
    if (!g) return;
    tw_release(g->partial);
    tw_release(g);
}

static unsigned gravity_traits(const void *data)
{
    (void)data;
    return TW_FORCE_FREE_ONLY | TW_FORCE_UNIFORM;
}

static tw_status gravity_complete(void *data, const tw_particles *particles)
{
    gravity *g = data;
    g->particles = particles;
    g->partial = TW_NEW_ARRAY(tw_parallel_blocks(particles->free_count, TW_PARTICLE_BLOCK), double);
    return g->partial ? TW_OK : TW_OUT_OF_MEMORY;
}

/* What the functions of the parallel loops share. */
typedef struct loop {
    const gravity *g;
    const double *x;
    double *force;
} loop;

/* f = m g. */
static void force_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const loop *p = context;
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < 3; k++)
            p->force[3 * i + k] += p->g->particles->load[i] * p->g->acceleration[k];
}

static tw_status gravity_add_force(void *data, const tw_force_view *at, double *force)
{
    (void)at;

    /* Pinned particles get the force, too; it does not matter. */
    loop p = {.g = data, .force = force};
    tw_parallel_for(p.g->particles->count, TW_PARTICLE_BLOCK, force_block, &p);
    return TW_OK;
}

static void energy_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    const loop *p = context;
    const double *a = p->g->acceleration;
    double sum = 0.0;

    /* -m g . x, over the free particles of a block. */
    for (int64_t i = begin; i < end; i++) {
        int64_t particle = p->g->particles->particle[i];
        const double *x = p->x + 3 * particle;
        sum -= p->g->particles->load[particle] * (a[0] * x[0] + a[1] * x[1] + a[2] * x[2]);
    }
    p->g->partial[block] = sum;
}

static tw_status gravity_add_energy(void *data, const tw_force_view *at, double *energy)
{
    loop p = {.g = data, .x = at->x};
    int64_t count = p.g->particles->free_count;

    tw_parallel_for(count, TW_PARTICLE_BLOCK, energy_block, &p);

    /* The blocks are added in their order, so that the sum does not depend on the threads. */
    for (int64_t b = 0; b < tw_parallel_blocks(count, TW_PARTICLE_BLOCK); b++)
        *energy += p.g->partial[b];
    return TW_OK;
}

static void no_stiffness_bound(const void *data, double *bound)
{
    (void)data;
    (void)bound;
}

static const tw_force_table gravity_table = {
    .name = "gravity",
    .release = gravity_release,
    .traits = gravity_traits,
    .complete = gravity_complete,
    .add_energy = gravity_add_energy,
    .add_force = gravity_add_force,
    .add_stiffness_bound = no_stiffness_bound,
};

tw_status tw_force_gravity_create(const double acceleration[3], tw_force *out)
{
    gravity *g = TW_NEW(gravity);
    if (!g) return TW_OUT_OF_MEMORY;
    memcpy(g->acceleration, acceleration, sizeof g->acceleration);
    *out = (tw_force){&gravity_table, g};
    return TW_OK;
}
