/* Completes a model whose particles and forces are all there: numbers the unknowns, completes the
 * forces, analyses the pattern of the matrix, allocates scratch memory. */
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/parallel_for.h"
#include "linalg/vector.h"
#include "model/fluid_model.h"
#include "model/model_internal.h"

/* Numbers the free particles in their order; -1 for pinned ones. */
static void number_unknowns(tw_particles *p)
{
    int32_t next = 0;
    for (int64_t i = 0; i < p->count; i++) {
        p->unknown[i] = p->pinned[i] ? -1 : next;
        if (!p->pinned[i]) p->particle[next++] = (int32_t)i;
    }
}

static tw_status allocate(tw_model *model)
{
    tw_particles *p = &model->particles;
    int64_t blocks = tw_parallel_blocks(p->free_count, TW_PARTICLE_BLOCK);

    p->unknown = TW_NEW_ARRAY(p->count, int32_t);
    p->particle = TW_NEW_ARRAY(p->free_count, int32_t);
    model->x = TW_NEW_ARRAY(3 * p->count, double);
    model->v = TW_NEW_ARRAY(3 * p->count, double);
    model->force = TW_NEW_ARRAY(3 * p->count, double);
    model->lumped_mass = TW_NEW_ARRAY(3 * p->free_count, double);
    model->inverse_mass = TW_NEW_ARRAY(p->free_count, double);
    model->partial = TW_NEW_ARRAY(TW_MODEL_SUMS * blocks, double);
    bool all = p->unknown && p->particle && model->x && model->v && model->force &&
               model->lumped_mass && model->inverse_mass && model->partial;
    if (!all) return TW_OUT_OF_MEMORY;

    /* Only prescribed motions need rates. They start at zero: unmoved particles keep that. */
    if (model->motions.count == 0) return TW_OK;
    model->rates = tw_allocate_zeroed(TW_MODEL_RATES * 3 * (size_t)p->count, sizeof(double));
    return model->rates ? TW_OK : TW_OUT_OF_MEMORY;
}

/* Sets Rayleigh damping: beta acts inside the elements, alpha is a force of its own. */
static tw_status add_rayleigh(tw_model *model, tw_error *error)
{
    for (int i = 0; i < model->force_count && model->rayleigh_stiffness > 0.0; i++)
        if (model->forces[i].table->set_rayleigh)
            model->forces[i].table->set_rayleigh(model->forces[i].data, model->rayleigh_stiffness);

    if (model->rayleigh_mass == 0.0) return TW_OK;
    tw_force damping;
    tw_status status =
        tw_force_mass_damping_create(model->rayleigh_mass, &model->particles, model->force_count,
                                     model->forces, &model->free_bodies_are_damped, &damping);
    if (status != TW_OK) return tw_fail_plain(error, status);
    return tw_model_add_force(model, &damping, error);
}

/* Factorises a consistent mass, and says on which mass gravity acts. */
static tw_status complete_mass(tw_model *model, tw_error *error)
{
    tw_particles *p = &model->particles;
    p->load = p->mass;
    if (model->mass.group_count == 0) return TW_OK;

    model->momentum = TW_NEW_ARRAY(6 * p->free_count, double);
    if (!model->momentum) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    tw_status status = tw_consistent_mass_complete(&model->mass, p, error);
    p->load = model->mass.load;

    /* M = consistent part + (particle mass - lumped part): too small a particle
     * mass makes M indefinite. */
    if (status == TW_NOT_POSITIVE_DEFINITE)
        return tw_fail(
            error, TW_INVALID_ARGUMENT,
            "the masses of the particles do not contain those of the elements of consistent mass");
    if (status != TW_OK) return tw_fail_plain(error, status);
    return TW_OK;
}

/* In a fluid that leaves particles their inertia, drag is a force. */
static tw_status add_fluid_drag(tw_model *model, tw_error *error)
{
    if (!model->fluid || !model->fluid->given.inertia) return TW_OK;
    tw_force drag;
    TW_TRY(tw_fluid_drag_create(model, &drag, error));
    return tw_model_add_force(model, &drag, error);
}

static tw_status complete_forces(tw_model *model)
{
    for (int i = 0; i < model->force_count; i++) {
        const tw_force *f = &model->forces[i];
        TW_TRY(f->table->complete(f->data, &model->particles));
        model->traits |= tw_force_traits(f);
    }
    return TW_OK;
}

/* Whether products with S, plus the rests K - S, give the same as products force by force. A
 * product with the matrix moves half the memory of one with the springs themselves
 * (bench_forces.c), and it serves all forces at once. */
static bool can_multiply_by_matrix(const tw_model *model)
{
    for (const tw_force *f = model->forces; f < model->forces + model->force_count; f++) {
        bool general = tw_force_traits(f) & TW_FORCE_GENERAL;
        bool multiplies = f->table->add_product != NULL;

        /* Products that can fail, and tangents without a cheap K - S, are taken force by force. */
        if (f->table->take_failure) return false;
        if (general && !f->table->add_rest_product) return false;
        if (multiplies && !general && !f->table->add_tangent) return false;
    }

    return true;
}

/* Room for the state before a step, if some force wants to see it. */
static tw_status allocate_before(tw_model *model)
{
    bool wanted = false;
    for (int i = 0; i < model->force_count; i++)
        wanted = wanted || model->forces[i].table->finish_step;
    if (!wanted) return TW_OK;
    int64_t n = 3 * model->particles.count;
    model->before = TW_NEW_ARRAY(2 * n, double);
    if (!model->before) return TW_OUT_OF_MEMORY;

    /* Pinned particles keep these values, unless they are moved. */
    tw_vector_copy(n, model->x, model->before);
    tw_vector_copy(n, model->v, model->before + n);
    return TW_OK;
}

/* Blocks of internal variables of a force. */
static int64_t internal_blocks(const tw_force *f)
{
    if (!f->table->internal_count) return 0;
    return tw_parallel_blocks(f->table->internal_count(f->data), TW_INTERNAL_BLOCK);
}

/* Gives the forces room for their internal variables. Each force has blocks of its own, and the last one ends
 * with the last variable. */
static tw_status allocate_internal(tw_model *model)
{
    int64_t blocks = 0;
    int64_t count = 0;
    for (int i = 0; i < model->force_count; i++) {
        const tw_force *f = &model->forces[i];
        if (internal_blocks(f) == 0) continue;
        count = blocks * TW_INTERNAL_BLOCK + f->table->internal_count(f->data);
        blocks += internal_blocks(f);
    }
    model->internal_count = count;
    if (count == 0) return TW_OK;

    model->internal = tw_allocate_zeroed((size_t)count, sizeof(double));
    model->internal_start = TW_NEW_ARRAY(count, double);
    model->internal_changed = tw_allocate_zeroed((size_t)blocks, 1);
    if (!model->internal || !model->internal_start || !model->internal_changed)
        return TW_OUT_OF_MEMORY;

    int64_t next = 0;
    for (const tw_force *f = model->forces; f < model->forces + model->force_count; f++) {
        if (internal_blocks(f) == 0) continue;
        double *state = model->internal + next * TW_INTERNAL_BLOCK;
        f->table->set_internal(f->data, state, model->internal_changed + next);
        next += internal_blocks(f);
    }
    memcpy(model->internal_start, model->internal, (size_t)count * sizeof(double));
    return TW_OK;
}

static tw_status allocate_friction(tw_model *model)
{
    if (!tw_model_exchanges_energy(model)) return TW_OK;
    model->friction = tw_allocate_zeroed(2 * 3 * (size_t)model->particles.count, sizeof(double));
    return model->friction ? TW_OK : TW_OUT_OF_MEMORY;
}

/* The pattern has a block for every pair that some force names. */
static tw_pattern pattern_of(const tw_model *model)
{
    tw_pattern pattern = {.rows = model->particles.free_count};
    for (int i = 0; i < model->force_count; i++)
        if (model->forces[i].table->add_pattern)
            model->forces[i].table->add_pattern(model->forces[i].data, &pattern);
    return pattern;
}

/* Each force finds its blocks in the matrix. */
static void locate_blocks(const tw_model *model)
{
    for (int i = 0; i < model->force_count; i++)
        if (model->forces[i].table->locate)
            model->forces[i].table->locate(model->forces[i].data, model->stiffness);
}

static tw_status analyse_pattern(tw_model *model, tw_error *error)
{
    tw_pattern pattern = pattern_of(model);
    TW_TRY(tw_pattern_finish(&pattern, &model->stiffness, error));
    model->first = model->stiffness;
    model->multiplies_by_matrix = can_multiply_by_matrix(model);
    locate_blocks(model);
    return TW_OK;
}

tw_status tw_model_renew_pattern(tw_model *model)
{
    tw_pattern pattern = pattern_of(model);
    bool enough = !pattern.out_of_memory && tw_pattern_is_in(&pattern, model->stiffness);
    tw_pattern_free(&pattern);
    return enough ? TW_OK : tw_model_make_pattern(model);
}

tw_status tw_model_make_pattern(tw_model *model)
{
    tw_pattern pattern = pattern_of(model);
    tw_sparse *matrix = NULL;
    TW_TRY(tw_pattern_finish(&pattern, &matrix, NULL));
    if (model->former != model->first) tw_sparse_free(model->former);
    model->former = model->stiffness;
    model->stiffness = matrix;
    model->content = TW_MATRIX_STALE;
    locate_blocks(model);
    if (model->contact) tw_contact_mark_pattern(model->contact);
    return TW_OK;
}

/* Contacts become as stiff as the bodies need it: their tangent at the start goes to the contact. A
 * force that is not defined there does not count. */
static tw_status tell_contact(tw_model *model)
{
    if (!model->contact) return TW_OK;
    int64_t blocks = tw_sparse_row_start(model->stiffness)[model->particles.free_count];
    tw_vector_fill(9 * blocks, 0.0, tw_sparse_values(model->stiffness));

    tw_force_view at = {0.0, model->x, model->v};
    for (const tw_force *f = model->forces; f < model->forces + model->force_count; f++) {
        if (f->data == model->contact || !f->table->linearise || !f->table->add_tangent) continue;
        tw_status status = f->table->linearise(f->data, &at);
        if (status == TW_OUT_OF_MEMORY) return status;
        if (status == TW_OK) f->table->add_tangent(f->data, model->stiffness);
    }
    model->content = TW_MATRIX_STALE;
    return tw_contact_take_elasticity(model->contact, model->stiffness);
}

/* lambda_max(M^-1 K) <= max_p b_p / m_p, where K <= diag(b) and the mass is lumped. */
static tw_status bound_eigenvalue(tw_model *model)
{
    const tw_particles *p = &model->particles;
    double *bound = tw_allocate_zeroed((size_t)p->count, sizeof(double));
    if (!bound) return TW_OUT_OF_MEMORY;

    /* b is the sum of the bounds of all forces, if all have one at any state, or at rest. */
    bool always = true;
    bool at_rest = true;
    for (int i = 0; i < model->force_count && at_rest; i++) {
        const tw_force *force = &model->forces[i];
        always = always && force->table->add_stiffness_bound;
        at_rest = force->table->add_stiffness_bound || force->table->add_stiffness_at_rest;
        if (force->table->add_stiffness_bound)
            force->table->add_stiffness_bound(force->data, bound);
        else if (at_rest)
            force->table->add_stiffness_at_rest(force->data, bound);
    }

    double largest = 0.0;
    for (int64_t i = 0; i < p->count; i++)
        if (!p->pinned[i]) largest = fmax(largest, bound[i] / p->mass[i]);
    if (model->mass.group_count > 0) largest = 0.0;
    if (always) model->eigenvalue_bound = largest;
    if (at_rest) model->eigenvalue_at_rest = largest;

    tw_release(bound);
    return TW_OK;
}

/* Says what keeps the model from being simulated, before anything of it is changed. */
static tw_status check_completable(const tw_model *model, tw_error *error)
{
    if (model->completion_begun)
        return tw_fail(error, TW_INVALID_ARGUMENT, "a simulation was made of this model before");
    if (model->particles.free_count == 0)
        return tw_fail(error, TW_INVALID_ARGUMENT, "there is no particle that can move");
    if (model->mass.group_count == 0) return TW_OK;

    /* With a consistent mass, moved particles would also act on their
     * neighbours by their inertia. */
    if (model->motions.count > 0)
        return tw_fail(error, TW_UNSUPPORTED,
                       "prescribed motion needs lumped mass, not consistent mass");
    if (model->rayleigh_mass > 0.0)
        return tw_fail(error, TW_UNSUPPORTED,
                       "consistent mass together with mass-proportional damping");

    return TW_OK;
}

tw_status tw_model_complete(tw_model *model, tw_error *error)
{
    TW_TRY(check_completable(model, error));
    TW_TRY(tw_model_check_contact_lengths(model, error));
    model->completion_begun = true;

    /* All particles stand where they start; free particles are unknowns. */
    tw_particles *p = &model->particles;
    if (allocate(model) != TW_OK) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    number_unknowns(p);
    memcpy(model->x, p->position, 3 * (size_t)p->count * sizeof(double));
    memcpy(model->v, p->velocity, 3 * (size_t)p->count * sizeof(double));
    for (int64_t i = 0; i < p->free_count; i++)
        for (int k = 0; k < 3; k++) model->lumped_mass[3 * i + k] = p->mass[p->particle[i]];
    for (int64_t i = 0; i < p->free_count; i++)
        model->inverse_mass[i] = 1.0 / p->mass[p->particle[i]];
    model->moved_at = NAN;
    tw_model_move(model, 0.0);

    /* Damping must be set before the forces are completed, because it
     * decides what they allocate. */
    TW_TRY(tw_model_take_rigid_motion(model, error));
    TW_TRY(complete_mass(model, error));
    TW_TRY(add_rayleigh(model, error));
    TW_TRY(add_fluid_drag(model, error));
    tw_status status = complete_forces(model);
    if (status == TW_OK) status = allocate_friction(model);
    if (status == TW_OK) status = allocate_before(model);
    if (status == TW_OK) status = allocate_internal(model);
    if (status == TW_OK) status = tw_model_list_tension_rows(model);
    if (status == TW_OK) status = bound_eigenvalue(model);
    if (status != TW_OK) return tw_fail_plain(error, status);
    TW_TRY(analyse_pattern(model, error));
    status = tell_contact(model);
    if (status != TW_OK) return tw_fail_plain(error, status);
    return TW_OK;
}
