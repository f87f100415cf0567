/* A pull: a spring of rest length 0 from one particle to a point in space.
 *     force f = k (target - x),   energy k |x - target|^2 / 2,   tangent K = k I,
 * where k = w^2 m would let the mass m of all free particles swing with the frequency w.
 * Which particle is pulled, and where to, may change between two steps (tw_simulation_pull). */
#include <math.h>
#include <string.h>
#include <twang/forces.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "model/model_internal.h"

typedef struct pull {
    double frequency; /* w [1/s] */
    double stiffness; /* k = w^2 times the mass of the free particles [N/m] */
    int64_t particle; /* -1: none is pulled */
    double target[3]; /* [m] */
    const tw_particles *particles;
} pull;

static void pull_release(void *data)
{
    tw_release(data);
}

static unsigned pull_traits(const void *data)
{
    (void)data;
    return TW_FORCE_FREE_ONLY;
}

static tw_status pull_complete(void *data, const tw_particles *particles)
{
    pull *p = data;
    p->particles = particles;

    double mass = 0.0;
    for (int64_t i = 0; i < particles->count; i++)
        if (!particles->pinned[i]) mass += particles->mass[i];
    p->stiffness = mass * p->frequency * p->frequency;
    return TW_OK;
}

/* The free index of the pulled particle; -1 if there is none, or it is pinned. */
static int64_t pulled_row(const pull *p)
{
    return p->particle < 0 ? -1 : p->particles->unknown[p->particle];
}

static tw_status pull_add_energy(void *data, const tw_force_view *at, double *energy)
{
    const pull *p = data;
    if (pulled_row(p) < 0) return TW_OK;

    for (int k = 0; k < 3; k++) {
        double distance = at->x[3 * p->particle + k] - p->target[k];
        *energy += 0.5 * p->stiffness * distance * distance;
    }
    return TW_OK;
}

static tw_status pull_add_force(void *data, const tw_force_view *at, double *force)
{
    const pull *p = data;
    if (pulled_row(p) < 0) return TW_OK;

    for (int k = 0; k < 3; k++) {
        int64_t entry = 3 * p->particle + k;
        force[entry] += p->stiffness * (p->target[k] - at->x[entry]);
    }
    return TW_OK;
}

static void pull_add_product(void *data, int count, const double *in, double *out)
{
    const pull *p = data;
    int64_t row = pulled_row(p);
    int64_t stride = 3 * p->particles->free_count;

    for (int c = 0; c < count && row >= 0; c++)
        for (int k = 0; k < 3; k++)
            out[c * stride + 3 * row + k] += p->stiffness * in[c * stride + 3 * row + k];
}

static void pull_add_tangent(void *data, tw_sparse *matrix)
{
    const pull *p = data;
    int64_t row = pulled_row(p);
    if (row < 0 || !tw_particles_want(p->particles, row)) return;

    /* A block is 3 x 3; its diagonal has the entries 0, 4 and 8. */
    double *block = tw_sparse_values(matrix) + 9 * tw_sparse_find(matrix, row, row);
    for (int k = 0; k < 9; k += 4) block[k] += p->stiffness;
}

/* A pull on a moved particle does not act on the unknowns, so that there is nothing to add. */
static tw_status pull_add_rate(void *data, const tw_force_view *at, const double *x_rate,
                               const double *v_rate, double *out)
{
    (void)data;
    (void)at;
    (void)x_rate;
    (void)v_rate;
    (void)out;
    return TW_OK;
}

/* Any particle may be pulled. */
static void pull_bound(const void *data, double *bound)
{
    const pull *p = data;
    for (int64_t i = 0; i < p->particles->count; i++) bound[i] += p->stiffness;
}

static const tw_force_table pull_table = {
    .name = "pull",
    .release = pull_release,
    .traits = pull_traits,
    .complete = pull_complete,
    .add_energy = pull_add_energy,
    .add_force = pull_add_force,
    .add_rate = pull_add_rate,
    .add_product = pull_add_product,
    .add_tangent = pull_add_tangent,
    .add_stiffness_bound = pull_bound,
};

tw_status tw_model_add_pull(tw_model *model, double frequency, tw_error *error)
{
    if (!model) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    if (!(frequency > 0.0) || !isfinite(frequency))
        return tw_fail(error, TW_INVALID_ARGUMENT, "the frequency of a pull must be > 0");

    pull *p = TW_NEW(pull);
    if (!p) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    p->frequency = frequency;
    p->particle = -1;
    tw_force force = {&pull_table, p};
    return tw_model_add_force(model, &force, error);
}

tw_status tw_model_pull(void *context, int64_t particle, const double target[3])
{
    tw_model *model = context;
    if (model->rigid) return TW_UNSUPPORTED;
    for (int i = 0; i < model->force_count; i++) {
        if (model->forces[i].table != &pull_table) continue;

        pull *p = model->forces[i].data;
        if (particle >= model->particles.count) return TW_INVALID_ARGUMENT;
        p->particle = particle < 0 ? -1 : particle;
        if (target) memcpy(p->target, target, sizeof p->target);
        return TW_OK;
    }
    return TW_UNSUPPORTED;
}
