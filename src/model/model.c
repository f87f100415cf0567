/* Putting a model together. */
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/vector.h"
#include "model/fluid_model.h"
#include "model/model_internal.h"

/* Room for forces at first: enough for most models. */
enum { FIRST_FORCES = 16 };

tw_status tw_model_create(tw_model **out, tw_error *error)
{
    if (!out) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    *out = NULL;
    tw_model *model = TW_NEW(tw_model);
    if (!model) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* The list of forces is never NULL: loops over it go from its first address to its last. */
    model->forces = TW_NEW_ARRAY(FIRST_FORCES, tw_force);
    if (!model->forces) {
        tw_model_free(model);
        return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    }
    model->force_capacity = FIRST_FORCES;
    *out = model;
    return TW_OK;
}

void tw_model_free(tw_model *model)
{
    if (!model) return;

    /* Forces and motions release what they own. */
    for (int i = 0; i < model->force_count; i++)
        model->forces[i].table->release(model->forces[i].data);
    tw_motions_free(&model->motions);
    tw_release(model->obstacles.list);
    tw_fluid_free(model->fluid);

    tw_particles *p = &model->particles;
    void *blocks[] = {p->position,
                      p->velocity,
                      p->mass,
                      p->pinned,
                      p->unknown,
                      p->particle,
                      model->x,
                      model->v,
                      model->force,
                      model->lumped_mass,
                      model->inverse_mass,
                      model->partial,
                      model->rates,
                      model->friction,
                      model->momentum,
                      model->tension_row,
                      model->fibres.list,
                      model->forces,
                      model->before,
                      model->internal,
                      model->internal_changed,
                      model->internal_start};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) tw_release(blocks[i]);

    tw_consistent_mass_free(&model->mass);
    if (model->stiffness != model->first) tw_sparse_free(model->stiffness);
    if (model->former != model->first) tw_sparse_free(model->former);
    tw_sparse_free(model->first);
    tw_display_list_free(&model->displays);
    tw_release(model);
}

int64_t tw_model_particle_count(const tw_model *model)
{
    if (!model) return 0;
    return model->particles.count;
}

int64_t tw_model_free_count(const tw_model *model)
{
    if (!model) return 0;
    return model->particles.free_count;
}

/* Moves an array to a larger place. Returns false when memory is out. */
static bool enlarge(void **array, int64_t count, int64_t capacity, size_t size)
{
    void *larger = tw_allocate((size_t)capacity, size);
    if (!larger) return false;
    if (count) memcpy(larger, *array, (size_t)count * size);
    tw_release(*array);
    *array = larger;
    return true;
}

/* Makes room for `count` particles in all. */
static tw_status reserve(tw_model *model, int64_t count)
{
    if (count <= model->capacity) return TW_OK;
    tw_particles *p = &model->particles;

    /* Arrays that were enlarged before a failure stay larger; `capacity` does not. */
    bool done = enlarge((void **)&p->position, p->count, count, 3 * sizeof(double)) &&
                enlarge((void **)&p->velocity, p->count, count, 3 * sizeof(double)) &&
                enlarge((void **)&p->mass, p->count, count, sizeof(double)) &&
                enlarge((void **)&p->pinned, p->count, count, sizeof(bool));

    if (!done) return TW_OUT_OF_MEMORY;
    model->capacity = count;
    return TW_OK;
}

/* Checks that all values are finite and all masses positive. */
static tw_status check_particles(int64_t count, const double *positions, const double *velocities,
                                 const double *masses, tw_error *error)
{
    if (!tw_vector_is_finite(3 * count, positions) ||
        (velocities && !tw_vector_is_finite(3 * count, velocities)))
        return tw_fail(error, TW_NOT_FINITE, "a position or velocity is not finite");

    /* Masses divide the forces. */
    for (int64_t i = 0; i < count; i++)
        if (!(masses[i] > 0.0) || !isfinite(masses[i]))
            return tw_fail(error, TW_INVALID_ARGUMENT, "the mass of a particle must be positive");

    return TW_OK;
}

tw_status tw_model_add_particles(tw_model *model, int64_t count, const double *positions,
                                 const double *velocities, const double *masses, int64_t *first,
                                 tw_error *error)
{
    if (!model || count < 0 || (count && (!positions || !masses)))
        return tw_fail(error, TW_INVALID_ARGUMENT, "particles need positions and masses");
    tw_particles *p = &model->particles;
    if (count > INT32_MAX - p->count)
        return tw_fail(error, TW_UNSUPPORTED, "more than 2^31 - 1 particles");
    TW_TRY(check_particles(count, positions, velocities, masses, error));
    if (reserve(model, p->count + count) != TW_OK) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* The new particles follow on those that are there. Without velocities they are at rest. */
    if (count) {
        size_t vectors = 3 * (size_t)count * sizeof(double);
        memcpy(p->position + 3 * p->count, positions, vectors);
        if (velocities)
            memcpy(p->velocity + 3 * p->count, velocities, vectors);
        else
            memset(p->velocity + 3 * p->count, 0, vectors);
        memcpy(p->mass + p->count, masses, (size_t)count * sizeof(double));
        memset(p->pinned + p->count, 0, (size_t)count * sizeof(bool));
    }

    if (first) *first = p->count;
    p->count += count;
    p->free_count += count;
    return TW_OK;
}

tw_status tw_model_pin(tw_model *model, int64_t first, int64_t last, tw_error *error)
{
    if (!model || first < 0 || last < first || last >= model->particles.count)
        return tw_fail(error, TW_INVALID_ARGUMENT, "there are no particles %lld to %lld to pin",
                       (long long)first, (long long)last);

    /* A particle that was pinned before stays pinned and is not counted twice. */
    tw_particles *p = &model->particles;
    for (int64_t i = first; i <= last; i++) {
        if (!p->pinned[i]) p->free_count--;
        p->pinned[i] = true;
        for (int k = 0; k < 3; k++) p->velocity[3 * i + k] = 0.0;
    }

    return TW_OK;
}

tw_status tw_model_add_force(tw_model *model, const tw_force *force, tw_error *error)
{
    /* The list grows by doubling. */
    if (model->force_count == model->force_capacity) {
        int capacity = 2 * model->force_capacity;
        if (!enlarge((void **)&model->forces, model->force_count, capacity, sizeof *force)) {
            force->table->release(force->data);
            return tw_fail_plain(error, TW_OUT_OF_MEMORY);
        }
        model->force_capacity = capacity;
    }

    model->forces[model->force_count++] = *force;
    return TW_OK;
}

tw_status tw_model_add_gravity(tw_model *model, const double acceleration[3], tw_error *error)
{
    if (!model || !acceleration) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    if (!tw_vector_is_finite(3, acceleration))
        return tw_fail(error, TW_NOT_FINITE, "gravity is not finite");

    for (int k = 0; k < 3; k++) model->gravity[k] += acceleration[k];

    /* No acceleration needs no force. */
    if (acceleration[0] == 0.0 && acceleration[1] == 0.0 && acceleration[2] == 0.0) return TW_OK;

    /* The force is released if it cannot be added. */
    tw_force force;
    if (tw_force_gravity_create(acceleration, &force) != TW_OK)
        return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    return tw_model_add_force(model, &force, error);
}
