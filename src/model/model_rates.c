/* da/dt at fixed unknowns: forces that know the time, and particles that move by themselves,
 *     M a_t = sum_f [df/dt + df/dx_p v_p + df/dv_p a_p],  p the particles of prescribed motion. */
#include <float.h>
#include <math.h>

#include "linalg/vector.h"
#include "model/model_internal.h"

/* The arrays in model->rates. */
enum { X_RATE, V_RATE, MOVED_X, MOVED_V, BEHIND };

static double *array_of(const tw_model *model, int which)
{
    return model->rates + which * 3 * model->particles.count;
}

/* out += sign/(2s) f(x + sign s x_rate, v + sign s v_rate). */
static tw_status add_side(tw_model *model, const tw_force *force, const tw_force_view *at, double s,
                          double *out)
{
    int64_t n = 3 * model->particles.count;
    double *x = array_of(model, MOVED_X), *v = array_of(model, MOVED_V),
           *side = array_of(model, BEHIND);
    tw_vector_copy(n, at->x, x);
    tw_vector_copy(n, at->v, v);
    tw_vector_axpy(n, s, array_of(model, X_RATE), x);
    tw_vector_axpy(n, s, array_of(model, V_RATE), v);
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
    double size = 0.0, rate = 0.0;
    tw_space space = {.local_size = 3 * model->particles.count};
    tw_vector_norm(&space, at->x, &size);
    tw_vector_norm(&space, array_of(model, X_RATE), &rate);
    double s = rate > 0.0 ? cbrt(DBL_EPSILON) * (1.0 + size) / rate : cbrt(DBL_EPSILON);
    tw_status status = add_side(model, force, at, s, out);
    return status == TW_OK ? add_side(model, force, at, -s, out) : status;
}

static tw_status add_rate(tw_model *model, const tw_force *force, const tw_force_view *at,
                          double *out)
{
    if (force->table->add_rate)
        return force->table->add_rate(force->data, at, array_of(model, X_RATE),
                                      array_of(model, V_RATE), out);
    return force->table->linearise ? add_difference(model, force, at, out) : TW_OK;
}

/* Rates of the moved particles; the others keep the zeros that they were given at the start. */
static void find_motion_rates(tw_model *model, double t)
{
    const tw_motions *motions = &model->motions;
    double *x_rate = array_of(model, X_RATE), *v_rate = array_of(model, V_RATE);
    tw_motions_evaluate(motions, &model->particles, t, array_of(model, MOVED_X), x_rate, v_rate);
}

tw_status tw_model_time_derivative(void *context, double t, const double *x, const double *v,
                                   double *out)
{
    tw_model *model = context;
    tw_model_unpack(model, t, x, v);
    tw_vector_fill(3 * model->particles.count, 0.0, model->force);
    tw_force_view at = {t, model->x, model->v};
    bool moves = model->motions.count > 0;
    if (moves) find_motion_rates(model, t);
    for (const tw_force *f = model->forces; f < model->forces + model->force_count; f++) {
        tw_status status = TW_OK;
        if (f->table->add_time_derivative)
            status = f->table->add_time_derivative(f->data, &at, model->force);
        if (status == TW_OK && moves) status = add_rate(model, f, &at, model->force);
        if (status != TW_OK) return status;
    }
    return tw_model_divide_by_mass(model, model->force, out);
}
