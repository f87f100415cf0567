/* A model as a second-order problem: M x'' = sum of forces, where the unknowns x are the positions
 * of the free particles, three entries each. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/fail.h"
#include "base/parallel_for.h"
#include "linalg/vector.h"
#include "model/fluid_model.h"
#include "model/model_internal.h"
#include "model/rigid_motion.h"
#include "model/simulation.h"

/* ---- between the unknowns and the arrays of all particles ---- */

/* What the functions of the parallel loops share. */
typedef struct copy {
    const tw_model *model;
    const double *x;     /* of the unknowns */
    const double *v;     /* of the unknowns; may be NULL */
    double *all_x;       /* of all particles */
    double *all_v;       /* likewise */
    const double *force; /* of all particles */
    double *a;           /* of the unknowns */
} copy;

/* Whether the unknowns begin ... end - 1 belong to particles in a row: particles ascend. */
static bool are_in_a_row(const tw_particles *p, int64_t begin, int64_t end)
{
    return p->particle[end - 1] - p->particle[begin] == end - 1 - begin;
}

/* A function of the free particles begin ... end - 1, of which there is at least one. */
typedef void copy_run(const copy *c, int64_t begin, int64_t end);

/* Calls the function for all runs of wanted particles of a block. */
static void for_wanted(const copy *c, int64_t begin, int64_t end, copy_run *function)
{
    for (int64_t i = begin; i < end;) {
        int64_t stop = tw_particles_run(&c->model->particles, &i, end);
        if (i < stop) function(c, i, stop);
        i = stop;
    }
}

static void unpack_run(const copy *c, int64_t begin, int64_t end)
{
    const tw_particles *p = &c->model->particles;

    /* Mostly the particles of a run are in a row. */
    if (are_in_a_row(p, begin, end)) {
        int64_t first = 3 * (int64_t)p->particle[begin];
        size_t bytes = 3 * (size_t)(end - begin) * sizeof(double);
        memcpy(c->all_x + first, c->x + 3 * begin, bytes);
        if (c->v) memcpy(c->all_v + first, c->v + 3 * begin, bytes);
        return;
    }

    for (int64_t i = begin; i < end; i++) {
        int64_t particle = c->model->particles.particle[i];
        for (int k = 0; k < 3; k++) c->all_x[3 * particle + k] = c->x[3 * i + k];
        for (int k = 0; c->v && k < 3; k++) c->all_v[3 * particle + k] = c->v[3 * i + k];
    }
}

static void unpack_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    for_wanted(context, begin, end, unpack_run);
}

/* Writes the unknowns into arrays of all particles. */
static void unpack_into(const tw_model *model, const double *x, const double *v, double *all_x,
                        double *all_v)
{
    copy c = {.model = model, .x = x, .v = v, .all_x = all_x, .all_v = all_v};
    tw_parallel_for(model->particles.free_count, TW_PARTICLE_BLOCK, unpack_block, &c);
}

void tw_model_unpack(tw_model *model, double t, const double *x, const double *v)
{
    /* Pinned particles keep the values that tw_model_complete gave them, unless they are moved. */
    tw_model_move(model, t);
    unpack_into(model, x, v, model->x, model->v);
}

/* The same into model->before, for the state before a step. */
static void unpack_before(tw_model *model, double t, const double *u)
{
    const tw_particles *p = &model->particles;
    double *x = model->before;
    double *v = model->before + 3 * p->count;

    /* The moved particles are in the arrays of the model. */
    tw_model_move(model, t);
    for (int m = 0; m < model->motions.count; m++) {
        const tw_prescribed *moved = &model->motions.list[m];
        int64_t first = 3 * moved->first;
        size_t bytes = 3 * (size_t)(moved->last - moved->first + 1) * sizeof *x;
        memcpy(x + first, model->x + first, bytes);
        memcpy(v + first, model->v + first, bytes);
    }
    unpack_into(model, u, u + 3 * p->free_count, x, v);
}

/* What the parallel loop of pack_state has. */
typedef struct packing {
    const tw_model *model;
    double *x; /* of the unknowns */
    double *v;
} packing;

static void pack_state_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const packing *c = context;
    const tw_model *model = c->model;
    for (int64_t i = begin; i < end; i++) {
        int64_t particle = model->particles.particle[i];
        for (int k = 0; k < 3; k++) c->x[3 * i + k] = model->x[3 * particle + k];
        for (int k = 0; k < 3; k++) c->v[3 * i + k] = model->v[3 * particle + k];
    }
}

/* The unknowns from the arrays of all particles. */
static void pack_state(const tw_model *model, double *u)
{
    int64_t count = model->particles.free_count;
    packing c = {.model = model, .x = u, .v = u + 3 * count};
    tw_parallel_for(count, TW_PARTICLE_BLOCK, pack_state_block, &c);
}

static void divide_run(const copy *c, int64_t begin, int64_t end)
{
    const tw_particles *p = &c->model->particles;
    const double *inverse = c->model->inverse_mass;

    /* a_i = force_i / m_i. Mostly the particles of a run are in a row. */
    if (are_in_a_row(p, begin, end)) {
        const double *force = c->force + 3 * ((int64_t)p->particle[begin] - begin);
        for (int64_t i = begin; i < end; i++)
            for (int k = 0; k < 3; k++) c->a[3 * i + k] = force[3 * i + k] * inverse[i];
        return;
    }
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < 3; k++)
            c->a[3 * i + k] = c->force[3 * (int64_t)p->particle[i] + k] * inverse[i];
}

static void divide_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    for_wanted(context, begin, end, divide_run);
}

/* a_i = force_i, without the mass. */
static void pack_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const copy *c = context;
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < 3; k++)
            c->a[3 * i + k] = c->force[3 * (int64_t)c->model->particles.particle[i] + k];
}

tw_status tw_model_divide_by_mass(tw_model *model, const double *force, double *a)
{
    int64_t count = model->particles.free_count;
    copy c = {.model = model, .force = force, .a = a};

    /* Lumped mass: M is diagonal. */
    if (model->mass.group_count == 0) {
        tw_parallel_for(count, TW_PARTICLE_BLOCK, divide_block, &c);
        return TW_OK;
    }

    /* Consistent mass: model->momentum is scratch for the right-hand side of M a = force. */
    c.a = model->momentum;
    tw_parallel_for(count, TW_PARTICLE_BLOCK, pack_block, &c);
    return tw_consistent_mass_solve(&model->mass, 1, model->momentum, a);
}

/* ---- callbacks ---- */

/* The force begins with the weight m g, to which all other forces are added. */
static void weigh(const tw_model *model, int64_t begin, int64_t end)
{
    const double *load = model->particles.load;
    const double *g = model->gravity;
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < 3; k++) model->force[3 * i + k] = load[i] * g[k];
}

static void weigh_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    weigh(context, begin, end);
}

/* The same for free particles that are wanted. */
static void weigh_run(const copy *c, int64_t begin, int64_t end)
{
    const tw_particles *p = &c->model->particles;
    if (are_in_a_row(p, begin, end)) {
        weigh(c->model, p->particle[begin], p->particle[end - 1] + 1);
        return;
    }
    for (int64_t i = begin; i < end; i++) weigh(c->model, p->particle[i], p->particle[i] + 1);
}

static void weigh_wanted_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    for_wanted(context, begin, end, weigh_run);
}

static void begin_force(tw_model *model)
{
    copy c = {.model = model};
    if (model->particles.active)
        tw_parallel_for(model->particles.free_count, TW_PARTICLE_BLOCK, weigh_wanted_block, &c);
    else
        tw_parallel_for(model->particles.count, TW_PARTICLE_BLOCK, weigh_block, model);
}

static tw_status model_acceleration(void *context, double t, const double *x, const double *v,
                                    double *a)
{
    tw_model *model = context;
    bool needs_velocity = model->traits & TW_FORCE_VELOCITY;
    tw_model_unpack(model, t, x, needs_velocity ? v : NULL);
    begin_force(model);
    tw_force_view at = {t, model->x, model->v};
    for (int i = 0; i < model->force_count; i++) {
        const tw_force *f = &model->forces[i];
        if (tw_force_traits(f) & TW_FORCE_UNIFORM) continue;
        tw_status status = f->table->add_force(f->data, &at, model->force);
        if (status != TW_OK) return status;
    }

    /* a = M^-1 sum_f f(t, x, v). */
    return tw_model_divide_by_mass(model, model->force, a);
}

/* Keeps the state before the step in model->before, and lets the forces look for what a step needs. A matrix
 * of another pattern replaces the one before, which is kept until the next time, because a factor may
 * still refer to it. */
static tw_status model_begin_step(void *context, double t, double h, const double *u,
                                  tw_sparse **matrix)
{
    tw_model *model = context;
    unpack_before(model, t, u);
    tw_force_view at = {t, model->before, model->before + 3 * model->particles.count};
    bool changed = false;
    for (const tw_force *f = model->forces; f < model->forces + model->force_count; f++)
        if (f->table->begin_step) TW_TRY(f->table->begin_step(f->data, h, &at, &changed));

    if (changed) TW_TRY(tw_model_renew_pattern(model));
    *matrix = model->stiffness;
    return TW_OK;
}

/* Lets the forces change the state after the step. The one before it is that of the last begin_step. */
static tw_status model_finish_step(void *context, double t, double h, const double *u,
                                   double *u_new, bool *changed)
{
    (void)u;
    tw_model *model = context;
    const tw_particles *p = &model->particles;
    tw_model_unpack(model, t + h, u_new, u_new + 3 * p->free_count);

    tw_force_view from = {t, model->before, model->before + 3 * p->count};
    for (const tw_force *f = model->forces; f < model->forces + model->force_count; f++)
        if (f->table->finish_step)
            TW_TRY(f->table->finish_step(f->data, h, &from, t + h, model->x, model->v, changed));
    if (!*changed) return TW_OK;
    model->moved_at = NAN;
    pack_state(model, u_new);
    return TW_OK;
}

static bool model_touched(void *context)
{
    const tw_model *model = context;
    return model->contact->touched;
}

/* The force on all obstacles. */
static tw_status model_press(void *context, double t, const double *x, double out[3])
{
    tw_model *model = context;
    if (x) {
        tw_model_unpack(model, t, x, NULL);
        tw_force_view at = {t, model->x, model->v};
        TW_TRY(tw_contact_add_force(model->contact, &at, model->force));
    }
    memcpy(out, model->contact->press, sizeof model->contact->press);
    return TW_OK;
}

static bool model_press_change(void *context, const double *d, double out[3])
{
    const tw_model *model = context;
    return tw_contact_press_change(model->contact, d, out);
}

static void model_take_impulse(void *context, const double *gain)
{
    tw_contact *contact = ((tw_model *)context)->contact;
    contact->gain_known = gain != NULL;
    if (gain) memcpy(contact->gain, gain, sizeof contact->gain);
}

/* What was told of the contact of a rigid body, whose particles touch nothing; or the account and the pairs
 * of contact. */
static int64_t lists_size(const tw_model *model)
{
    if (model->rigid) return TW_RIGID_ACCOUNT_SIZE;
    if (!model->contact) return 0;
    return TW_CONTACT_ACCOUNT_SIZE + tw_contact_memory_size(model->contact);
}

static void model_save_lists(void *context, double *values)
{
    const tw_model *model = context;
    if (model->rigid) {
        memcpy(values, tw_rigid_motion_told(model->rigid), TW_RIGID_ACCOUNT_SIZE * sizeof *values);
        return;
    }

    tw_contact_save_account(model->contact, values);
    tw_contact_save(model->contact, values + TW_CONTACT_ACCOUNT_SIZE);
}

/* First the list for which the matrix was made, and the matrix; then the list of the
 * last step. */
static tw_status model_load_lists(void *context, const double *values)
{
    tw_model *model = context;
    if (model->rigid) {
        if (!tw_vector_is_finite(TW_RIGID_ACCOUNT_SIZE, values)) return TW_BAD_INPUT;
        memcpy(tw_rigid_motion_told(model->rigid), values, TW_RIGID_ACCOUNT_SIZE * sizeof *values);
        return TW_OK;
    }

    TW_TRY(tw_contact_load_account(model->contact, values));
    if (tw_contact_memory_size(model->contact) == 0) return TW_OK;
    const double *ways = values + TW_CONTACT_ACCOUNT_SIZE;
    TW_TRY(tw_contact_load(model->contact, ways, 0));
    TW_TRY(tw_model_make_pattern(model));
    return tw_contact_load(model->contact, ways, 1);
}

static const char *model_explain(void *context)
{
    const tw_model *model = context;
    if (!model->contact || !model->contact->note.text[0]) return NULL;
    return model->contact->note.text;
}

/* A row per particle, pinned ones included: x, y, z, vx, vy, vz, and zeros for what follows. */
static void fill_rows(tw_model *model, double t, const double *u, double *rows, int stride)
{
    const tw_particles *p = &model->particles;

    tw_model_unpack(model, t, u, u + 3 * p->free_count);
    if (model->rigid) tw_rigid_motion_place(model->rigid, t, model->x, model->v);
    for (int64_t i = 0; i < p->count; i++) {
        double *row = rows + stride * i;
        for (int k = 0; k < 3; k++) {
            row[k] = model->x[3 * i + k];
            row[3 + k] = model->v[3 * i + k];
        }
        for (int k = 6; k < stride; k++) row[k] = 0.0;
        if (model->grips) row[6] = tw_friction_wear(model->grips, i);
    }
}

/* How many columns there are without the strains. Where friction is a force, the work that it did
 * per area is one of them. */
static int plain_columns(const tw_model *model)
{
    return model->grips ? 7 : 6;
}

static tw_status model_rows(void *context, double t, const double *u, double *rows)
{
    fill_rows(context, t, u, rows, plain_columns(context));
    return TW_OK;
}

/* The same with strain and plastic strain, the largest of the elements at a particle. */
static tw_status plastic_rows(void *context, double t, const double *u, double *rows)
{
    tw_model *model = context;
    int first = plain_columns(model);
    fill_rows(model, t, u, rows, first + 2);
    for (const tw_force *f = model->forces; f < model->forces + model->force_count; f++)
        if (f->table->add_strain) f->table->add_strain(f->data, model->x, rows + first, first + 2);
    return TW_OK;
}

void tw_model_summarise(const void *context, tw_simulation_summary *out)
{
    const tw_model *model = context;
    const tw_particles *p = &model->particles;

    /* The points that show an obstacle are pinned, and are no particles of a body. */
    int64_t shown = 0;
    for (int i = 0; i < model->obstacles.count; i++) shown += model->obstacles.list[i].count;
    out->particles = p->count - shown;
    out->pinned = p->count - shown - p->free_count;
    out->springs = model->spring_count;
    out->unknowns = 3 * p->free_count;
    out->omega_bound = sqrt(model->eigenvalue_bound);

    /* Mass of the free particles, and the bounding box of all. */
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

const char *const tw_model_columns[] = {"x", "y", "z", "vx", "vy", "vz", NULL};
static const tw_simulation_table model_table = {.columns = tw_model_columns,
                                                .release = model_release,
                                                .rows = model_rows,
                                                .measure = tw_model_measure,
                                                .summarise = tw_model_summarise,
                                                .contacts = tw_model_contacts,
                                                .pull = tw_model_pull};

static const char *const wear_columns[] = {"x", "y", "z", "vx", "vy", "vz", "wear", NULL};
static const tw_simulation_table wear_table = {.columns = wear_columns,
                                               .release = model_release,
                                               .rows = model_rows,
                                               .measure = tw_model_measure,
                                               .summarise = tw_model_summarise,
                                               .contacts = tw_model_contacts,
                                               .pull = tw_model_pull};

/* Models in which something flows have the strain in their rows, behind the wear. */
static const char *const plastic_columns[] = {
    "x", "y", "z", "vx", "vy", "vz", "strain", "plastic_strain", NULL};
static const tw_simulation_table plastic_table = {.columns = plastic_columns,
                                                  .release = model_release,
                                                  .rows = plastic_rows,
                                                  .measure = tw_model_measure,
                                                  .summarise = tw_model_summarise,
                                                  .contacts = tw_model_contacts,
                                                  .pull = tw_model_pull};
static const char *const plastic_wear_columns[] = {
    "x", "y", "z", "vx", "vy", "vz", "wear", "strain", "plastic_strain", NULL};
static const tw_simulation_table plastic_wear_table = {.columns = plastic_wear_columns,
                                                       .release = model_release,
                                                       .rows = plastic_rows,
                                                       .measure = tw_model_measure,
                                                       .summarise = tw_model_summarise,
                                                       .contacts = tw_model_contacts,
                                                       .pull = tw_model_pull};

/* ---- the problem ---- */

/* Describes damping and tangents that are not symmetric, where there are any. */
static void describe_damping(const tw_model *model, tw_second_order_problem *problem)
{
    if (!(model->traits & (TW_FORCE_VELOCITY | TW_FORCE_GENERAL))) return;

    /* The symmetric stand-in: S for K, and alpha M + beta S for D. A free body keeps its rigid
     * motion, so that alpha M would be wrong for it. */
    problem->stiffness_is_general = (model->traits & TW_FORCE_GENERAL) != 0;
    double dashpot_time = tw_model_dashpot_time(model);
    problem->symmetric_part = (tw_symmetric_part){
        .apply = tw_model_apply_symmetric,
        .rayleigh_mass = model->free_bodies_are_damped ? 0.0 : model->rayleigh_mass,
        .rayleigh_stiffness = model->rayleigh_stiffness + dashpot_time,
        .rest_rate = tw_model_dashpot_rate(model, dashpot_time)};

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
                                       .eigenvalue_max = model->eigenvalue_bound,
                                       .eigenvalue_estimate = model->eigenvalue_at_rest};

    /* A consistent mass replaces the lumped one. */
    if (model->mass.group_count > 0) {
        problem.lumped_mass = NULL;
        problem.mass = &model->mass.view;
        problem.mass_matrix = model->mass.matrix;
    }
    problem.tension = (tw_tension_elements){.count = tw_model_tension_count(model),
                                            .linearise = tw_model_linearise_tension,
                                            .predict = tw_model_predict_tension,
                                            .row = model->tension_row};
    bool bodies_are_apart = !(model->traits & TW_FORCE_FAR) && !model->rigid && !model->fluid;
    if (bodies_are_apart) problem.focus = tw_model_focus;
    describe_damping(model, &problem);
    if (model->before) problem.finish_step = model_finish_step;
    if (model->before) problem.begin_step = model_begin_step;
    problem.lists = (tw_problem_lists){
        .count = lists_size(model), .save = model_save_lists, .load = model_load_lists};
    problem.internal = (tw_internal_variables){.count = model->internal_count,
                                               .values = model->internal,
                                               .start = model->internal_start,
                                               .changed = model->internal_changed,
                                               .holder = &model->internal_holder};
    if (model->contact && !model->rigid)
        problem.tally = (tw_tally){model_press, model_press_change, model_take_impulse};
    if (model->contact) problem.explain = model_explain;
    if (model->contact) problem.touched = model_touched;

    problem.energy = tw_model_energy;
    problem.energy_never_grows = !tw_model_gains_energy(model);
    if (!problem.energy_never_grows) problem.outside_power = tw_model_outside_power;
    if ((model->traits & TW_FORCE_TIME) || model->motions.count > 0 || model->rigid) {
        problem.time_dependent = true;
        problem.time_derivative = tw_model_time_derivative;
    }

    return problem;
}

/* Writes the initial positions and then the initial velocities of the free particles. */
static void fill_start(const tw_particles *p, double *start)
{
    for (int64_t i = 0; i < p->free_count; i++) {
        int64_t particle = p->particle[i];
        for (int k = 0; k < 3; k++) {
            start[3 * i + k] = p->position[3 * particle + k];
            start[3 * (p->free_count + i) + k] = p->velocity[3 * particle + k];
        }
    }
}

/* Whether something flows. */
static bool has_strain(const tw_model *model)
{
    bool found = false;
    for (int i = 0; i < model->force_count; i++)
        found = found || (model->forces[i].table->add_strain &&
                          model->forces[i].table->internal_count(model->forces[i].data) > 0);
    return found;
}

tw_status tw_simulation_of_model(tw_model *model, tw_simulation **out, tw_error *error)
{
    if (!model || !out) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    *out = NULL;
    tw_status status = tw_model_complete(model, error);
    if (status != TW_OK) return status;
    if (model->fluid && !model->fluid->given.inertia) return tw_fluid_simulation(model, out, error);

    /* From here on the simulation owns the model. */
    const tw_particles *p = &model->particles;
    const tw_simulation_table *table = model->grips ? &wear_table : &model_table;
    if (has_strain(model)) table = model->grips ? &plastic_wear_table : &plastic_table;
    tw_simulation *simulation = tw_simulation_create(table, model, 6 * p->free_count);
    if (simulation && model->grips) simulation->stain_work = model->contact->options.stain_work;
    if (!simulation) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    simulation->second_order = true;
    simulation->second = model_problem(model);
    simulation->row_count = p->count;
    simulation->displays = &model->displays;
    fill_start(p, simulation->start);
    if (model->rigid) tw_rigid_motion_start(model->rigid, simulation->start);
    *out = simulation;
    return TW_OK;
}
