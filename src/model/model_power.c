/* The power of friction: -v . [f(t, x, v) - f(t, x, 0)] over all particles, moved ones included, of the forces that
 * depend on velocity and take energy only. */
#include "linalg/vector.h"
#include "model/model_internal.h"

static bool is_friction(const tw_force *force)
{
    unsigned traits = tw_force_traits(force);
    return (traits & TW_FORCE_VELOCITY) && !(traits & TW_FORCE_FEEDS);
}

/* out = the forces of all that is friction. */
static tw_status sum_friction(const tw_model *model, const tw_force_view *at, double *out)
{
    tw_vector_fill(3 * model->particles.count, 0.0, out);
    for (const tw_force *f = model->forces; f < model->forces + model->force_count; f++) {
        tw_status status = is_friction(f) ? f->table->add_force(f->data, at, out) : TW_OK;
        if (status != TW_OK) return status;
    }
    return TW_OK;
}

tw_status tw_model_damping_power(tw_model *model, double t, double *power)
{
    *power = 0.0;
    if (!model->friction) return TW_OK;
    int64_t n = 3 * model->particles.count;
    double *still = model->friction, *rest = model->friction + n; /* zeros; forces without velocity */
    tw_force_view moving = {t, model->x, model->v}, standing = {t, model->x, still};
    tw_status status = sum_friction(model, &moving, model->force);
    if (status == TW_OK) status = sum_friction(model, &standing, rest);
    if (status != TW_OK) return status;
    tw_vector_axpy(n, -1.0, model->force, rest);
    tw_space space = {.local_size = n};
    return tw_vector_dot(&space, model->v, rest, power);
}
