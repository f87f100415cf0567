/* A model as a second-order problem: unknowns are the free particles, M x'' = sum of forces. */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/parallel_for.h"
#include "linalg/vector.h"
#include "model/model_internal.h"
#include "model/model_sums.h"
#include "model/simulation.h"

typedef struct copy {
    const tw_model *model;
    const double *x, *v; /* of the unknowns; v may be NULL */
    const double *force;
    double *a;
} copy;

static void unpack_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const copy *c = context;
    for (int64_t i = begin; i < end; i++) {
        int64_t particle = c->model->particles.particle[i];
        for (int k = 0; k < 3; k++) c->model->x[3 * particle + k] = c->x[3 * i + k];
        for (int k = 0; c->v && k < 3; k++) c->model->v[3 * particle + k] = c->v[3 * i + k];
    }
}

/* Pinned particles keep the values that tw_model_complete gave them, unless they are moved. */
void tw_model_unpack(tw_model *model, double t, const double *x, const double *v)
{
    tw_motions_evaluate(&model->motions, &model->particles, t, model->x, model->v, NULL);
    copy c = {.model = model, .x = x, .v = v};
    tw_parallel_for(model->particles.free_count, TW_PARTICLE_BLOCK, unpack_body, &c);
}

static void acceleration_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const copy *c = context;
    const tw_particles *p = &c->model->particles;
    for (int64_t i = begin; i < end; i++) {
        int64_t particle = p->particle[i];
        for (int k = 0; k < 3; k++)
            c->a[3 * i + k] = c->force[3 * particle + k] / p->mass[particle];
    }
}

static void pack_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const copy *c = context;
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < 3; k++)
            c->a[3 * i + k] = c->force[3 * (int64_t)c->model->particles.particle[i] + k];
}

tw_status tw_model_divide_by_mass(tw_model *model, const double *force, double *a)
{
    bool consistent = model->mass.group_count > 0;
    copy c = {.model = model, .force = force, .a = consistent ? model->momentum : a};
    tw_parallel_for(model->particles.free_count, TW_PARTICLE_BLOCK,
                    consistent ? pack_body : acceleration_body, &c);
    return consistent ? tw_consistent_mass_solve(&model->mass, 1, model->momentum, a) : TW_OK;
}

static tw_status model_acceleration(void *context, double t, const double *x, const double *v,
                                    double *a)
{
    tw_model *model = context;
    tw_model_unpack(model, t, x, v);
    tw_vector_fill(3 * model->particles.count, 0.0, model->force);
    tw_force_view at = {t, model->x, model->v};
    for (int i = 0; i < model->force_count; i++) {
        tw_status status =
            model->forces[i].table->add_force(model->forces[i].data, &at, model->force);
        if (status != TW_OK) return status;
    }
    return tw_model_divide_by_mass(model, model->force, a);
}

/* Potential energy at model->x. */
static tw_status potential_energy(tw_model *model, double t, double *potential)
{
    *potential = 0.0;
    tw_force_view at = {t, model->x, model->v};
    for (int i = 0; i < model->force_count; i++) {
        if (!model->forces[i].table->add_energy) continue;
        tw_status status =
            model->forces[i].table->add_energy(model->forces[i].data, &at, potential);
        if (status != TW_OK) return status;
    }
    return TW_OK;
}

static tw_status model_energy(void *context, double t, const double *x, const double *v,
                              double *kinetic, double *potential)
{
    tw_model *model = context;
    double sums[TW_MODEL_SUMS];
    tw_model_unpack(model, t, x, v);
    tw_model_sums(model, sums);
    *kinetic = sums[0];
    return potential_energy(model, t, potential);
}

static tw_status model_rows(void *context, double t, const double *u, double *rows)
{
    tw_model *model = context;
    const tw_particles *p = &model->particles;
    tw_model_unpack(model, t, u, u + 3 * p->free_count);
    for (int64_t i = 0; i < p->count; i++)
        for (int k = 0; k < 3; k++) {
            rows[6 * i + k] = model->x[3 * i + k];
            rows[6 * i + 3 + k] = model->v[3 * i + k];
        }
    return TW_OK;
}

static tw_status model_measure(void *context, double t, const double *u, tw_measurement *out)
{
    tw_model *model = context;
    double sums[TW_MODEL_SUMS];
    tw_model_unpack(model, t, u, u + 3 * model->particles.free_count);
    tw_model_sums(model, sums);
    out->has_energy = 1;
    out->kinetic = sums[0];
    memcpy(out->momentum, sums + 1, sizeof out->momentum);
    memcpy(out->angular_momentum, sums + 4, sizeof out->angular_momentum);
    tw_status status = tw_model_powers(model, t, &out->damping_power, &out->outside_power);
    if (status != TW_OK) return status;
    return potential_energy(model, t, &out->potential);
}

static void model_summarise(const void *context, tw_simulation_summary *out)
{
    const tw_model *model = context;
    const tw_particles *p = &model->particles;
    out->particles = p->count;
    out->pinned = p->count - p->free_count;
    out->springs = model->spring_count;
    out->unknowns = 3 * p->free_count;
    out->omega_bound = sqrt(model->eigenvalue_bound);
    for (int k = 0; k < 3; k++) out->lower[k] = out->upper[k] = p->position[k];
    for (int64_t i = 0; i < p->count; i++) {
        if (!p->pinned[i]) out->mass += p->mass[i];
        for (int k = 0; k < 3; k++) {
            out->lower[k] = fmin(out->lower[k], p->position[3 * i + k]);
            out->upper[k] = fmax(out->upper[k], p->position[3 * i + k]);
        }
    }
}

static void model_release(void *context)
{
    tw_model_free(context);
}

static const char *const model_columns[] = {"x", "y", "z", "vx", "vy", "vz", NULL};
static const tw_simulation_table model_table = {.columns = model_columns,
                                                .release = model_release,
                                                .rows = model_rows,
                                                .measure = model_measure,
                                                .summarise = model_summarise};

/* Damping and what depends on velocity, where there is any. */
static void describe_damping(const tw_model *model, tw_second_order_problem *problem)
{
    if (!(model->traits & (TW_FORCE_VELOCITY | TW_FORCE_GENERAL))) return;
    problem->stiffness_is_general = (model->traits & TW_FORCE_GENERAL) != 0;
    problem->symmetric_part = (tw_symmetric_part){
        .apply = tw_model_apply_symmetric,
        .rayleigh_mass = model->free_bodies_are_damped ? 0.0 : model->rayleigh_mass,
        .rayleigh_stiffness = model->rayleigh_stiffness};
    if (!(model->traits & TW_FORCE_VELOCITY)) return;
    problem->velocity_dependent = true;
    problem->apply_damping = tw_model_apply_damping;
    problem->add_damping = tw_model_add_damping;
}

static tw_second_order_problem model_problem(tw_model *model)
{
    tw_second_order_problem problem = {.space = {.local_size = 3 * model->particles.free_count},
                                       .context = model,
                                       .acceleration = model_acceleration,
                                       .linearise = tw_model_linearise,
                                       .apply_stiffness = tw_model_apply_stiffness,
                                       .assemble = tw_model_assemble,
                                       .stiffness_matrix = model->stiffness,
                                       .lumped_mass = model->lumped_mass,
                                       .eigenvalue_max = model->eigenvalue_bound};
    if (model->mass.group_count > 0) {
        problem.lumped_mass = NULL;
        problem.mass = &model->mass.view;
        problem.mass_matrix = model->mass.matrix;
    }
    describe_damping(model, &problem);
    if (!(model->traits & TW_FORCE_FEEDS)) problem.energy = model_energy;
    if ((model->traits & TW_FORCE_TIME) || model->motions.count > 0) {
        problem.time_dependent = true;
        problem.time_derivative = tw_model_time_derivative;
    }
    return problem;
}

tw_status tw_simulation_of_model(tw_model *model, tw_simulation **out, tw_error *error)
{
    if (!model || !out) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    *out = NULL;
    tw_status status = tw_model_complete(model, error);
    if (status != TW_OK) return status;
    const tw_particles *p = &model->particles;
    tw_simulation *simulation = tw_simulation_create(&model_table, model, 6 * p->free_count);
    if (!simulation) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    simulation->second_order = true;
    simulation->second = model_problem(model);
    simulation->row_count = p->count;
    simulation->displays = &model->displays;
    for (int64_t i = 0; i < p->free_count; i++)
        for (int k = 0; k < 3; k++) {
            simulation->start[3 * i + k] = p->position[3 * (int64_t)p->particle[i] + k];
            simulation->start[3 * (p->free_count + i) + k] =
                p->velocity[3 * (int64_t)p->particle[i] + k];
        }
    *out = simulation;
    return TW_OK;
}
