/* A model in a viscous fluid as a problem of the first order: x' = F(t, x) = M(x) f(t, x), with the
 * mobility M of regularised Stokeslets and the sum f of all forces. Its Jacobian
 *     J = d(M f)/dx at fixed f  -  M K
 * is not symmetric. The energy is the potential energy V. With v = M f, the fluid takes f . v >= 0,
 * and dV/dt is what forces without a potential (a motor) bring less what the fluid takes. */
#include <math.h>
#include <string.h>
#include <twang/operator.h>

#include "base/fail.h"
#include "linalg/dense.h"
#include "linalg/vector.h"
#include "model/fluid_model.h"

/* ---- callbacks of the problem ---- */

/* model->force = f(t, x). */
static tw_status find_forces(tw_model *model, double t, const double *x)
{
    tw_model_unpack(model, t, x, NULL);
    tw_vector_fill(model->fluid->unknowns, 0.0, model->force);
    tw_force_view at = {t, model->x, model->v};
    for (const tw_force *f = model->forces; f < model->forces + model->force_count; f++)
        TW_TRY(f->table->add_force(f->data, &at, model->force));
    return TW_OK;
}

/* The velocities are those of all particles in their order, because all of them are free. */
static tw_status fluid_rhs(void *context, double t, const double *u, double *F)
{
    tw_model *model = context;
    TW_TRY(find_forces(model, t, u));
    tw_stokeslets_place(model->fluid->points, u);
    tw_stokeslets_velocity(model->fluid->points, model->force, F);
    return TW_OK;
}

/* J = G - M K, dense. K is found by products with the columns of the unit matrix. */
static tw_status fill_jacobian(tw_model *model)
{
    tw_model_fluid *fluid = model->fluid;
    int n = (int)fluid->unknowns;
    for (int j = 0; j < n; j++) {
        tw_vector_fill(n, 0.0, fluid->rate);
        fluid->rate[j] = 1.0;
        TW_TRY(tw_model_apply_stiffness(model, 1, fluid->rate, fluid->K + (size_t)j * (size_t)n));
    }

    tw_stokeslets_mobility(fluid->points, fluid->M);
    tw_stokeslets_gradient(fluid->points, fluid->load, fluid->J);
    tw_dense_multiply(n, -1.0, fluid->M, fluid->K, 1.0, fluid->J);
    return tw_dense_is_finite((size_t)n * (size_t)n, fluid->J) ? TW_OK : TW_NOT_FINITE;
}

static tw_status fluid_linearise(void *context, double t, const double *u)
{
    tw_model *model = context;
    tw_model_fluid *fluid = model->fluid;
    TW_TRY(find_forces(model, t, u));
    tw_vector_copy(fluid->unknowns, u, fluid->at);
    tw_vector_copy(fluid->unknowns, model->force, fluid->load);
    TW_TRY(tw_model_linearise(model, t, u, NULL));

    if (!fluid->J) return TW_OK;
    tw_stokeslets_place(fluid->points, fluid->at);
    return fill_jacobian(model);
}

static tw_status fluid_product(void *context, int count, const double *in, double *out)
{
    tw_model *model = context;
    tw_model_fluid *fluid = model->fluid;
    int64_t n = fluid->unknowns;
    if (!fluid->J) tw_stokeslets_place(fluid->points, fluid->at);

    for (int c = 0; c < count; c++, in += n, out += n) {
        if (fluid->J) {
            tw_dense_apply(false, (int)n, (int)n, fluid->J, in, out);
            continue;
        }

        /* out = (dM/dx . in) f + M (-K in). */
        TW_TRY(tw_model_apply_stiffness(model, 1, in, fluid->rate));
        tw_vector_scale(n, -1.0, fluid->rate);
        tw_stokeslets_change(fluid->points, fluid->load, fluid->rate, in, out);
    }
    return TW_OK;
}

/* dF/dt = M df/dt. */
static tw_status fluid_time_derivative(void *context, double t, const double *u, double *out)
{
    tw_model *model = context;
    tw_model_fluid *fluid = model->fluid;
    TW_TRY(tw_model_time_derivative(model, t, u, NULL, fluid->rate));

    /* The model divides by the masses. */
    for (int64_t i = 0; i < fluid->unknowns; i++) fluid->rate[i] *= model->lumped_mass[i];
    tw_stokeslets_place(fluid->points, u);
    tw_stokeslets_velocity(fluid->points, fluid->rate, out);
    return TW_OK;
}

static tw_status fluid_energy(void *context, double t, const double *u, double *energy)
{
    double kinetic = 0.0; /* of no meaning without inertia */
    return tw_model_energy(context, t, u, NULL, &kinetic, energy);
}

/* The power of forces without a potential, at the velocities that the fluid gives. */
static tw_status fluid_outside_power(void *context, double t, const double *u, double *power)
{
    tw_model *model = context;
    TW_TRY(fluid_rhs(model, t, u, model->fluid->velocity));
    return tw_model_outside_power(model, t, u, model->fluid->velocity, power);
}

/* ---- functions of the simulation ---- */

static tw_status fluid_rows(void *context, double t, const double *u, double *rows)
{
    tw_model *model = context;
    TW_TRY(fluid_rhs(model, t, u, model->fluid->velocity));
    for (int64_t i = 0; i < model->particles.count; i++)
        for (int k = 0; k < 3; k++) {
            rows[6 * i + k] = u[3 * i + k];
            rows[6 * i + 3 + k] = model->fluid->velocity[3 * i + k];
        }
    return TW_OK;
}

static tw_status fluid_measure(void *context, double t, const double *u, tw_measurement *out)
{
    tw_model *model = context;
    tw_model_fluid *fluid = model->fluid;
    TW_TRY(fluid_rhs(model, t, u, fluid->velocity));

    /* The fluid takes v . f. */
    tw_space space = {.local_size = fluid->unknowns};
    TW_TRY(tw_vector_dot(&space, model->force, fluid->velocity, &out->damping_power));
    TW_TRY(tw_model_outside_power(model, t, u, fluid->velocity, &out->outside_power));
    out->has_energy = true;
    out->without_inertia = true;
    return fluid_energy(model, t, u, &out->potential);
}

static void fluid_summarise(const void *context, tw_simulation_summary *out)
{
    tw_model_summarise(context, out);
    out->omega_bound = 0.0; /* nothing vibrates */
}

static void fluid_release(void *context)
{
    tw_model_free(context);
}

static const tw_simulation_table fluid_table = {.columns = tw_model_columns,
                                                .release = fluid_release,
                                                .rows = fluid_rows,
                                                .measure = fluid_measure,
                                                .summarise = fluid_summarise};

tw_status tw_fluid_simulation(tw_model *model, tw_simulation **out, tw_error *error)
{
    TW_TRY(tw_fluid_prepare(model, error));
    const tw_particles *p = &model->particles;
    tw_simulation *simulation = tw_simulation_create(&fluid_table, model, 3 * p->count);
    if (!simulation) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    bool depends_on_time = model->traits & TW_FORCE_TIME;
    simulation->first =
        (tw_first_order_problem){.space = {.local_size = 3 * p->count},
                                 .context = model,
                                 .rhs = fluid_rhs,
                                 .linearise = fluid_linearise,
                                 .jacobian_product = fluid_product,
                                 .symmetry = TW_GENERAL,
                                 .time_dependent = depends_on_time,
                                 .time_derivative = depends_on_time ? fluid_time_derivative : NULL,
                                 .energy = fluid_energy,
                                 .energy_never_grows = !tw_model_gains_energy(model),
                                 .outside_power = fluid_outside_power};
    simulation->row_count = p->count;
    simulation->displays = &model->displays;
    memcpy(simulation->start, p->position, 3 * (size_t)p->count * sizeof(double));
    *out = simulation;
    return TW_OK;
}
