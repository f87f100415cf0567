/* What can be measured of a state of a model: energies, momenta, and the
 * powers that change the energy.
 *
 * The energy is the kinetic energy of the free particles plus the potential energy. On exact
 * solutions
 *     d(energy)/dt = outside - damping,
 *     damping = -v . [f(t, x, v) - f(t, x, 0)],   outside = v . f_feeding - v . f_joining + dV/dt.
 * The term of damping is summed over all particles, for the forces that depend on the velocity and
 * can only take energy. f_feeding are the forces that can feed energy (wind), over the free
 * particles. f_joining are the forces that join moved particles to the others, over the moved
 * particles: this is the work of whoever moves them. V are the potentials that depend on time. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/parallel_for.h"
#include "linalg/vector.h"
#include "model/model_internal.h"
#include "model/rigid_motion.h"

/* ---- kinetic energy and momenta ---- */

/* The sums of one block of free particles: energy, momentum, angular momentum about the origin. */
static void sums_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    tw_model *model = context;
    const tw_particles *p = &model->particles;
    double *s = model->partial + TW_MODEL_SUMS * block;

    for (int k = 0; k < TW_MODEL_SUMS; k++) s[k] = 0.0;
    for (int64_t i = begin; i < end; i++) {
        int64_t particle = p->particle[i];
        const double *x = model->x + 3 * particle;
        const double *v = model->v + 3 * particle;

        /* p = M v: found before for a consistent mass, m v for a lumped one. */
        double momentum[3];
        for (int k = 0; k < 3; k++)
            momentum[k] = model->momentum ? model->momentum[3 * i + k] : p->mass[particle] * v[k];

        /* v . p / 2, p, and x cross p. */
        for (int k = 0; k < 3; k++) {
            int a = (k + 1) % 3;
            int b = (k + 2) % 3;
            s[0] += 0.5 * v[k] * momentum[k];
            s[1 + k] += momentum[k];
            s[4 + k] += x[a] * momentum[b] - x[b] * momentum[a];
        }
    }
}

static void pack_velocities_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const tw_model *model = context;
    double *packed = model->momentum + 3 * model->particles.free_count;

    /* Copies the velocities of the free particles, one after another. */
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < 3; k++)
            packed[3 * i + k] = model->v[3 * (int64_t)model->particles.particle[i] + k];
}

/* model->momentum = M v, for a consistent mass. */
static void find_momentum(tw_model *model)
{
    int64_t count = model->particles.free_count;
    tw_parallel_for(count, TW_PARTICLE_BLOCK, pack_velocities_block, model);
    tw_consistent_mass_apply(&model->mass, 1, model->momentum + 3 * count, model->momentum);
}

/* Kinetic energy, momentum and angular momentum about the origin, from model->x and model->v. */
static void find_sums(tw_model *model, double sums[TW_MODEL_SUMS])
{
    int64_t count = model->particles.free_count;
    if (model->momentum) find_momentum(model);
    tw_parallel_for(count, TW_PARTICLE_BLOCK, sums_block, model);

    /* The blocks are added in their order, so that the sums do not depend on the threads. */
    for (int k = 0; k < TW_MODEL_SUMS; k++) sums[k] = 0.0;
    for (int64_t b = 0; b < tw_parallel_blocks(count, TW_PARTICLE_BLOCK); b++)
        for (int k = 0; k < TW_MODEL_SUMS; k++) sums[k] += model->partial[TW_MODEL_SUMS * b + k];
}

/* ---- potential energy ---- */

/* Potential energy at model->x. */
static tw_status find_potential(tw_model *model, double t, double *potential)
{
    *potential = 0.0;
    tw_force_view at = {t, model->x, model->v};
    for (int i = 0; i < model->force_count; i++) {
        const tw_force *f = &model->forces[i];
        if (!f->table->add_energy) continue;

        /* The weight of a body with a frame of its own is a matter of the frame. */
        if (model->rigid && (tw_force_traits(f) & TW_FORCE_UNIFORM)) continue;
        tw_status status = f->table->add_energy(f->data, &at, potential);
        if (status != TW_OK) return status;
    }

    return TW_OK;
}

/* What flow and rupture have taken. */
static double find_plastic_work(const tw_model *model, double t)
{
    double work = 0.0;
    for (const tw_force *f = model->forces; f < model->forces + model->force_count; f++)
        if (f->table->plastic_work) work += f->table->plastic_work(f->data, t);
    return work;
}

tw_status tw_model_energy(void *context, double t, const double *x, const double *v,
                          double *kinetic, double *potential)
{
    tw_model *model = context;
    double sums[TW_MODEL_SUMS];

    tw_model_unpack(model, t, x, v);
    TW_TRY(find_potential(model, t, potential));

    /* The energy guard must not take for sound what explodes and flows at once: no solution raises the
     * energy and the plastic work together. */
    *potential += find_plastic_work(model, t);

    /* The motion is that in the world. */
    if (model->rigid) {
        tw_rigid_motion_place(model->rigid, t, model->x, model->v);
        model->moved_at = NAN;
    }
    find_sums(model, sums);
    *kinetic = sums[0];
    return TW_OK;
}

/* ---- powers ---- */

/* A force that depends on the velocity and can only take energy. */
static bool is_friction(unsigned traits)
{
    return (traits & TW_FORCE_VELOCITY) && !(traits & TW_FORCE_FEEDS);
}

static bool is_feeding(unsigned traits)
{
    return traits & TW_FORCE_FEEDS;
}

/* An elastic force between particles, of which some may be moved. */
static bool is_joining(unsigned traits)
{
    return !(traits & (TW_FORCE_VELOCITY | TW_FORCE_FEEDS | TW_FORCE_FREE_ONLY));
}

/* out += the forces of one kind. */
static tw_status add_forces(const tw_model *model, bool (*is_of_kind)(unsigned traits),
                            const tw_force_view *at, double *out)
{
    for (const tw_force *f = model->forces; f < model->forces + model->force_count; f++) {
        if (!is_of_kind(tw_force_traits(f))) continue;
        tw_status status = f->table->add_force(f->data, at, out);
        if (status != TW_OK) return status;
    }
    return TW_OK;
}

/* v . f over the held and moved particles, or over the free ones. */
static double power_on(const tw_model *model, bool held, const double *force)
{
    const tw_particles *p = &model->particles;
    double sum = 0.0;

    for (int64_t i = 0; i < p->count; i++)
        for (int k = 0; k < 3 && (p->unknown[i] < 0) == held; k++)
            sum += model->v[3 * i + k] * force[3 * i + k];
    return sum;
}

/* *rate += dV/dt at fixed positions, by a central difference. */
static tw_status add_potential_rate(const tw_model *model, double t, double *rate)
{
    /* The step cbrt(eps) balances truncation (s^2) and rounding (eps/s). */
    double s = cbrt(DBL_EPSILON) * fmax(1.0, fabs(t));
    double ahead = 0.0;
    double behind = 0.0;
    tw_force_view later = {t + s, model->x, model->v};
    tw_force_view earlier = {t - s, model->x, model->v};

    /* Forces that feed energy are counted by their power, not by their potential. */
    tw_status status = TW_OK;
    for (int i = 0; i < model->force_count && status == TW_OK; i++) {
        const tw_force *f = &model->forces[i];
        unsigned traits = tw_force_traits(f);
        if (!(traits & TW_FORCE_TIME) || is_feeding(traits) || !f->table->add_energy) continue;
        status = f->table->add_energy(f->data, &later, &ahead);
        if (status == TW_OK) status = f->table->add_energy(f->data, &earlier, &behind);
    }

    *rate += (ahead - behind) / (2 * s);
    return status;
}

bool tw_model_exchanges_energy(const tw_model *model)
{
    return (model->traits & TW_FORCE_VELOCITY) || tw_model_gains_energy(model);
}

bool tw_model_gains_energy(const tw_model *model)
{
    return (model->traits & (TW_FORCE_TIME | TW_FORCE_FEEDS)) || model->motions.count > 0;
}

/* *damping = -v . [f(t, x, v) - f(t, x, 0)]. */
static tw_status find_damping(tw_model *model, double t, double *damping)
{
    int64_t n = 3 * model->particles.count;
    double *at_rest = model->friction; /* zeros */
    double *other = model->friction + n;
    double *force = model->force;
    tw_force_view moving = {t, model->x, model->v};
    tw_force_view standing = {t, model->x, at_rest};

    /* force = f(t, x, v), other = f(t, x, 0). */
    tw_vector_fill(n, 0.0, force);
    tw_vector_fill(n, 0.0, other);
    tw_status status = add_forces(model, is_friction, &moving, force);
    if (status == TW_OK) status = add_forces(model, is_friction, &standing, other);
    if (status != TW_OK) return status;

    /* damping = v . (other - force). */
    tw_vector_axpy(n, -1.0, force, other);
    tw_space space = {.local_size = n};
    return tw_vector_dot(&space, model->v, other, damping);
}

/* The power that comes from outside, at model->x and model->v. */
static tw_status find_outside(tw_model *model, double t, double *outside)
{
    *outside = 0.0;
    int64_t n = 3 * model->particles.count;
    double *force = model->force;
    tw_force_view moving = {t, model->x, model->v};
    tw_status status = TW_OK;

    /* The work on moved particles: friction and elastic forces hold against the motion. */
    if (model->motions.count > 0) {
        tw_vector_fill(n, 0.0, force);
        status = add_forces(model, is_friction, &moving, force);
        if (status == TW_OK) status = add_forces(model, is_joining, &moving, force);
        *outside -= power_on(model, true, force);
    }

    /* The power of forces that feed energy. */
    if (status == TW_OK && is_feeding(model->traits)) {
        tw_vector_fill(n, 0.0, force);
        status = add_forces(model, is_feeding, &moving, force);
        *outside += power_on(model, false, force);
    }

    if (status == TW_OK && (model->traits & TW_FORCE_TIME))
        status = add_potential_rate(model, t, outside);
    return status;
}

tw_status tw_model_outside_power(void *context, double t, const double *x, const double *v,
                                 double *power)
{
    tw_model *model = context;
    tw_model_unpack(model, t, x, v);
    TW_TRY(find_outside(model, t, power));
    if (model->motions.count == 0 || !(model->traits & TW_FORCE_VELOCITY)) return TW_OK;

    /* Where particles are moved, mass damping draws the others along: it can give energy. */
    double damping = 0.0;
    TW_TRY(find_damping(model, t, &damping));
    *power += fmax(0.0, -damping);
    return TW_OK;
}

/* The power that friction takes and the power that comes from outside, at model->x and model->v. */
static tw_status find_powers(tw_model *model, double t, double *damping, double *outside)
{
    *damping = 0.0;
    *outside = 0.0;
    if (!model->friction) return TW_OK;

    tw_status status = find_damping(model, t, damping);
    if (status != TW_OK) return status;
    return find_outside(model, t, outside);
}

/* ---- all together ---- */

tw_status tw_model_measure(void *context, double t, const double *u, tw_measurement *out)
{
    tw_model *model = context;
    double sums[TW_MODEL_SUMS];

    tw_model_unpack(model, t, u, u + 3 * model->particles.free_count);

    /* Powers and potential energy. */
    TW_TRY(find_powers(model, t, &out->damping_power, &out->outside_power));
    if (model->contact) tw_contact_measure(model->contact, model->x, out);
    if (model->rigid) tw_rigid_motion_measure(model->rigid, t, out);
    if (model->grips) out->sliding_work = model->grips->taken;
    out->plastic_work = find_plastic_work(model, t);
    TW_TRY(find_potential(model, t, &out->potential));

    /* Kinetic energy and momenta, in the world. */
    if (model->rigid) {
        tw_rigid_motion_place(model->rigid, t, model->x, model->v);
        model->moved_at = NAN;
    }
    find_sums(model, sums);
    out->has_energy = true;
    out->kinetic = sums[0];
    memcpy(out->momentum, sums + 1, sizeof out->momentum);
    memcpy(out->angular_momentum, sums + 4, sizeof out->angular_momentum);
    return TW_OK;
}
