/* Rigid global motion in a model: what goes with it, and what of the model it takes over. */
#include <twang/rigid.h>

#include <string.h>

#include "base/fail.h"
#include "model/fluid_model.h"
#include "model/model_internal.h"
#include "model/rigid_motion.h"

tw_status tw_model_set_rigid_motion(tw_model *model, tw_error *error)
{
    if (!model) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    if (model->completion_begun)
        return tw_fail(error, TW_INVALID_ARGUMENT, "a simulation was made of this model before");
    model->moves_rigidly = true;
    return TW_OK;
}

/* Whether a pinned particle belongs to an obstacle. */
static bool is_obstacle(const tw_model *model, int64_t particle)
{
    for (int o = 0; o < model->obstacles.count; o++) {
        int64_t beyond = particle - model->obstacles.list[o].first;
        if (beyond >= 0 && beyond < model->obstacles.list[o].count) return true;
    }
    return false;
}

/* Forces inside the body join its particles. Weight and contact are taken over, and a pull that holds
 * nothing does nothing. */
static bool is_possible(const tw_model *model, const tw_force *f)
{
    if (f->table->elements || f->data == model->contact) return true;
    return (tw_force_traits(f) & TW_FORCE_UNIFORM) || strcmp(f->table->name, "pull") == 0;
}

static tw_status check_obstacles(const tw_model *model, tw_error *error)
{
    for (int o = 0; o < model->obstacles.count; o++)
        if (model->obstacles.list[o].kind != TW_OBSTACLE_PLANE)
            return tw_fail(error, TW_UNSUPPORTED,
                           "rigid motion: the bounding box touches planes only, leave other "
                           "obstacles out or let the particles move freely");
    if (model->contact && model->contact->options.self)
        return tw_fail(error, TW_UNSUPPORTED,
                       "rigid motion: particles touch nothing, set contact.self to false");
    if (model->grips)
        return tw_fail(error, TW_UNSUPPORTED,
                       "rigid motion: friction acts on the bounding box, leave "
                       "contact.friction_length out");

    return TW_OK;
}

static tw_status check_model(const tw_model *model, tw_error *error)
{
    for (int64_t i = 0; i < model->particles.count; i++)
        if (model->particles.pinned[i] && !is_obstacle(model, i))
            return tw_fail(error, TW_UNSUPPORTED,
                           "rigid motion needs a free body, leave pins and roots out");
    if (model->motions.count > 0 || model->fluid || model->mass.group_count > 0)
        return tw_fail(error, TW_UNSUPPORTED,
                       "rigid motion goes neither with motions, nor a fluid, nor consistent mass");
    for (const tw_force *f = model->forces; f < model->forces + model->force_count; f++)
        if (!is_possible(model, f))
            return tw_fail(error, TW_UNSUPPORTED,
                           "rigid motion: of forces from outside only gravity and contact with "
                           "planes are possible, not '%s'",
                           f->table->name);

    return check_obstacles(model, error);
}

/* Particles touch nothing any more: the contact of particles is taken out of the list of forces. */
static void drop_contact(tw_model *model)
{
    int kept = 0;

    for (int i = 0; i < model->force_count; i++) {
        if (model->forces[i].data != model->contact)
            model->forces[kept++] = model->forces[i];
        else
            model->forces[i].table->release(model->forces[i].data);
    }
    if (model->contact) model->force_count = kept;
    model->contact = NULL;
}

tw_status tw_model_take_rigid_motion(tw_model *model, tw_error *error)
{
    if (!model->moves_rigidly) return TW_OK;
    TW_TRY(check_model(model, error));

    tw_rigid_source source = {.obstacles = &model->obstacles};

    if (model->contact) source.contact = &model->contact->options;
    memcpy(source.gravity, model->gravity, sizeof source.gravity);
    tw_force force;

    tw_status status = tw_rigid_motion_create(&model->particles, &source, &force);

    if (status != TW_OK) return tw_fail_plain(error, status);
    TW_TRY(tw_model_add_force(model, &force, error));

    /* In the frame there is no weight. */
    model->rigid = force.data;
    memset(model->gravity, 0, sizeof model->gravity);
    drop_contact(model);

    return TW_OK;
}
