/* da/dt at fixed unknowns. It comes from forces that depend on time, and from particles of
 * prescribed motion p:
 *     M da/dt = sum_f [df/dt + df/dx_p v_p + df/dv_p a_p]. */
#include <float.h>
#include <math.h>

#include "linalg/vector.h"
#include "model/model_internal.h"

/* out += f(x + s x_rate, v + s v_rate) / (2 s): one side of a central
 * difference, s > 0 or s < 0. */
static tw_status add_side(tw_model *model, const tw_force *force, const tw_force_view *at, double s,
                          double *out)
{
    int64_t n = 3 * model->particles.count;
    double *x = tw_model_rates(model, TW_MOVED_X);
    double *v = tw_model_rates(model, TW_MOVED_V);
    double *side = tw_model_rates(model, TW_SIDE_FORCE);

    /* The point a little ahead or behind on the motion. */
    tw_vector_copy(n, at->x, x);
    tw_vector_copy(n, at->v, v);
    tw_vector_axpy(n, s, tw_model_rates(model, TW_X_RATE), x);
    tw_vector_axpy(n, s, tw_model_rates(model, TW_V_RATE), v);

    /* The force there. */
    tw_vector_fill(n, 0.0, side);
    tw_force_view moved = {at->t, x, v};
    tw_status status = force->table->add_force(force->data, &moved, side);
    tw_vector_axpy(n, 0.5 / s, side, out);
    return status;
}

/* For a force without add_rate: central differences along the motion. */
static tw_status add_difference(tw_model *model, const tw_force *force, const tw_force_view *at,
                                double *out)
{
    double size = 0.0;
    double rate = 0.0;
    tw_space space = {.local_size = 3 * model->particles.count};

    tw_vector_norm(&space, at->x, &size);
    tw_vector_norm(&space, tw_model_rates(model, TW_X_RATE), &rate);

    /* The step cbrt(eps), relative to the size of x, balances truncation
     * (s^2) and rounding (eps/s). */
    double s = cbrt(DBL_EPSILON);
    if (rate > 0.0) s = cbrt(DBL_EPSILON) * (1.0 + size) / rate;

    tw_status status = add_side(model, force, at, s, out);
    if (status != TW_OK) return status;
    return add_side(model, force, at, -s, out);
}

/* out += df/dx x_rate + df/dv v_rate, for one force. */
static tw_status add_rate(tw_model *model, const tw_force *force, const tw_force_view *at,
                          double *out)
{
    if (force->table->add_rate)
        return force->table->add_rate(force->data, at, tw_model_rates(model, TW_X_RATE),
                                      tw_model_rates(model, TW_V_RATE), out);

    /* A force without a tangent does not depend on x or v. */
    if (!force->table->linearise) return TW_OK;
    return add_difference(model, force, at, out);
}

tw_status tw_model_time_derivative(void *context, double t, const double *x, const double *v,
                                   double *out)
{
    tw_model *model = context;
    tw_model_unpack(model, t, x, v);
    tw_vector_fill(3 * model->particles.count, 0.0, model->force);
    tw_force_view at = {t, model->x, model->v};
    bool moves = model->motions.count > 0;

    /* df/dt, and then df/dx_p v_p + df/dv_p a_p, of each force. */
    for (const tw_force *f = model->forces; f < model->forces + model->force_count; f++) {
        tw_status status = TW_OK;
        if (f->table->add_time_derivative)
            status = f->table->add_time_derivative(f->data, &at, model->force);
        if (status == TW_OK && moves) status = add_rate(model, f, &at, model->force);
        if (status != TW_OK) return status;
    }

    return tw_model_divide_by_mass(model, model->force, out);
}
