/* What changes the energy of a model, kinetic of the free particles and potential, besides the integrator's errors:
 *
 *   damping   -v . [f(t, x, v) - f(t, x, 0)] over all particles, of the forces that depend on velocity and take energy
 *             only;
 *   outside   v . f over the free particles, of forces that can feed energy (wind); -v . f over the moved particles, of
 *             what joins them to the others: the work of who moves them; dV/dt of potentials that depend on time.
 *
 * On exact solutions d(energy)/dt = outside - damping. */
#include <float.h>
#include <math.h>

#include "linalg/vector.h"
#include "model/model_internal.h"

static bool is_friction(unsigned traits)
{
    return (traits & TW_FORCE_VELOCITY) && !(traits & TW_FORCE_FEEDS);
}

static bool is_feeding(unsigned traits)
{
    return traits & TW_FORCE_FEEDS;
}

/* Elastic, between particles of which some may be moved. */
static bool is_joining(unsigned traits)
{
    return !(traits & (TW_FORCE_VELOCITY | TW_FORCE_FEEDS | TW_FORCE_FREE_ONLY));
}

/* out += the forces of the kind asked for. */
static tw_status add_forces(const tw_model *model, bool (*is_asked)(unsigned traits),
                            const tw_force_view *at, double *out)
{
    for (const tw_force *f = model->forces; f < model->forces + model->force_count; f++) {
        tw_status status =
            is_asked(tw_force_traits(f)) ? f->table->add_force(f->data, at, out) : TW_OK;
        if (status != TW_OK) return status;
    }
    return TW_OK;
}

/* v . f over the held and moved particles, or over the others. */
static double power_on(const tw_model *model, bool held, const double *force)
{
    const tw_particles *p = &model->particles;
    double sum = 0.0;
    for (int64_t i = 0; i < p->count; i++)
        for (int k = 0; k < 3 && (p->unknown[i] < 0) == held; k++)
            sum += model->v[3 * i + k] * force[3 * i + k];
    return sum;
}

/* dV/dt at fixed positions, by a central difference. */
static tw_status add_potential_rate(const tw_model *model, double t, double *rate)
{
    double s = cbrt(DBL_EPSILON) * fmax(1.0, fabs(t)), ahead = 0.0, behind = 0.0;
    tw_force_view later = {t + s, model->x, model->v}, earlier = {t - s, model->x, model->v};
    tw_status status = TW_OK;
    for (const tw_force *f = model->forces;
         f < model->forces + model->force_count && status == TW_OK; f++) {
        if (!(tw_force_traits(f) & TW_FORCE_TIME) || is_feeding(tw_force_traits(f)) ||
            !f->table->add_energy)
            continue;
        status = f->table->add_energy(f->data, &later, &ahead);
        if (status == TW_OK) status = f->table->add_energy(f->data, &earlier, &behind);
    }
    *rate += (ahead - behind) / (2 * s);
    return status;
}

bool tw_model_exchanges_energy(const tw_model *model)
{
    return (model->traits & (TW_FORCE_VELOCITY | TW_FORCE_TIME | TW_FORCE_FEEDS)) ||
           model->motions.count > 0;
}

tw_status tw_model_powers(tw_model *model, double t, double *damping, double *outside)
{
    *damping = *outside = 0.0;
    if (!model->friction) return TW_OK;
    int64_t n = 3 * model->particles.count;
    double *still = model->friction, *other = model->friction + n,
           *force = model->force; /* still: zeros */
    tw_force_view moving = {t, model->x, model->v}, standing = {t, model->x, still};
    tw_vector_fill(n, 0.0, force);
    tw_vector_fill(n, 0.0, other);
    tw_status status = add_forces(model, is_friction, &moving, force);
    if (status == TW_OK) status = add_forces(model, is_friction, &standing, other);
    if (status != TW_OK) return status;
    tw_vector_axpy(n, -1.0, force, other);
    tw_space space = {.local_size = n};
    status = tw_vector_dot(&space, model->v, other, damping);
    if (status == TW_OK && model->motions.count > 0) {
        status = add_forces(model, is_joining, &moving, force);
        *outside -= power_on(model, true, force);
    }
    if (status == TW_OK && is_feeding(model->traits)) {
        tw_vector_fill(n, 0.0, other);
        status = add_forces(model, is_feeding, &moving, other);
        *outside += power_on(model, false, other);
    }
    if (status == TW_OK && (model->traits & TW_FORCE_TIME))
        status = add_potential_rate(model, t, outside);
    return status;
}
