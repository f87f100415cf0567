/* Obstacles: pinned particles that bodies touch and do not move. */
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/vector.h"
#include "model/contact_force.h"
#include "model/friction.h"
#include "model/model_internal.h"
#include "model/obstacle_shape.h"

tw_contact_options tw_contact_options_default(void)
{
    return (tw_contact_options){.restitution = 1.0, .work_error = 5e-4};
}

static tw_status check_options(const tw_contact_options *o, tw_error *error)
{
    const double values[] = {o->distance,        o->stiffness,  o->thickness,  o->friction,
                             o->friction_length, o->stain_work, o->work_error, o->restitution};
    bool good = tw_vector_is_finite(8, values) && o->stain_work >= 0.0 && o->work_error > 0.0 &&
                o->distance > 0.0 && o->stiffness >= 0.0 && o->thickness >= 0.0 &&
                o->friction >= 0.0 && o->friction_length >= 0.0 && o->restitution >= 0.0 &&
                o->restitution <= 1.0;
    if (good) return TW_OK;
    return tw_fail(error, TW_INVALID_ARGUMENT,
                   "contact needs a distance > 0, a restitution from 0 to 1, and nothing negative");
}

/* The diagonal of the box around all particles, with the radii of the obstacles. */
static double scene_size(const tw_model *model)
{
    const tw_particles *p = &model->particles;
    double lower[3] = {INFINITY, INFINITY, INFINITY};
    double upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = 0; i < 3 * p->count; i++) {
        lower[i % 3] = fmin(lower[i % 3], p->position[i]);
        upper[i % 3] = fmax(upper[i % 3], p->position[i]);
    }
    double size = p->count > 0
                      ? hypot(hypot(upper[0] - lower[0], upper[1] - lower[1]), upper[2] - lower[2])
                      : 0.0;

    double radius = 0.0;
    for (int i = 0; i < model->obstacles.count; i++)
        radius = fmax(radius, model->obstacles.list[i].radius);
    return size + 2.0 * radius;
}

tw_status tw_model_check_contact_lengths(const tw_model *model, tw_error *error)
{
    if (!model->contact) return TW_OK;
    const tw_contact_options *o = &model->contact->options;
    double size = scene_size(model);
    bool is_far = o->distance > size;
    if (!is_far && !(o->thickness > size)) return TW_OK;
    return tw_fail(error, TW_INVALID_ARGUMENT,
                   "contact.%s of %g m is larger than all bodies and obstacles together, %.3g m",
                   is_far ? "distance" : "thickness", is_far ? o->distance : o->thickness, size);
}

tw_status tw_model_add_contact(tw_model *model, const tw_contact_options *options, tw_error *error)
{
    if (!model || !options) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    TW_TRY(check_options(options, error));
    if (model->contact)
        return tw_fail(error, TW_INVALID_ARGUMENT, "contact was added to this model before");

    tw_contact_source source = {&model->displays, &model->obstacles, model->gravity, &model->forces,
                                &model->force_count};
    tw_force force;
    if (tw_force_contact_create(options, &source, &force) != TW_OK)
        return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    TW_TRY(tw_model_add_force(model, &force, error));
    model->contact = force.data;
    if (options->friction == 0.0 || options->friction_length == 0.0) return TW_OK;

    /* Friction reads the pairs of the contact force, so that it stands behind it in the list. */
    if (tw_force_friction_create(model->contact, &force) != TW_OK)
        return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    TW_TRY(tw_model_add_force(model, &force, error));
    model->grips = force.data;
    return TW_OK;
}

/* ---- adding ---- */

static tw_status reserve(tw_obstacle_list *obstacles)
{
    if (obstacles->count < obstacles->capacity) return TW_OK;
    int capacity = obstacles->capacity ? 2 * obstacles->capacity : 8;
    tw_placed_obstacle *larger = TW_NEW_ARRAY(capacity, tw_placed_obstacle);
    if (!larger) return TW_OUT_OF_MEMORY;

    size_t bytes = (size_t)obstacles->count * sizeof *larger;
    if (bytes) memcpy(larger, obstacles->list, bytes);
    tw_release(obstacles->list);
    obstacles->list = larger;
    obstacles->capacity = capacity;
    return TW_OK;
}

/* Adds particles and display of a shape. */
static tw_status add_shape(tw_model *model, const tw_obstacle *o, tw_obstacle_shape *s,
                           int64_t *first, tw_error *error)
{
    static const char *const names[] = {"plane", "sphere", "capsule", "box", "mesh"};
    double *masses = TW_NEW_ARRAY(s->count, double);
    if (!masses) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* They are pinned, so that their mass has no meaning. */
    for (int64_t i = 0; i < s->count; i++) masses[i] = 1.0;
    tw_status status = tw_model_add_particles(model, s->count, s->x, NULL, masses, first, error);
    tw_release(masses);
    if (status != TW_OK) return status;
    TW_TRY(tw_model_pin(model, *first, *first + s->count - 1, error));

    for (int64_t i = 0; i < 3 * s->triangle_count; i++) s->triangles[i] += *first;
    tw_display display = {.name = o->name ? o->name : names[o->kind],
                          .first = *first,
                          .count = s->count,
                          .triangle_count = s->triangle_count,
                          .triangles = s->triangles,
                          .stained = true};
    return tw_model_add_display(model, &display, error);
}

tw_status tw_model_add_obstacle(tw_model *model, const tw_obstacle *obstacle, int64_t *first,
                                int64_t *last, tw_error *error)
{
    if (!model || !obstacle) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    TW_TRY(tw_obstacle_check(obstacle, error));
    if (reserve(&model->obstacles) != TW_OK) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    tw_obstacle_shape s = {0};
    tw_placed_obstacle placed = {.kind = obstacle->kind, .radius = obstacle->radius};
    tw_status status = tw_obstacle_shape_make(obstacle, &s, error);
    if (status == TW_OK) status = tw_obstacle_shape_closed(&s, &placed.closed, error);
    if (status == TW_OK) status = add_shape(model, obstacle, &s, &placed.first, error);
    placed.count = s.count;
    tw_obstacle_shape_free(&s);
    if (status != TW_OK) return status;

    for (int i = 0; i < 3; i++) placed.point[i] = placed.first + i;
    placed.display = model->displays.count - 1;
    model->obstacles.list[model->obstacles.count++] = placed;
    if (first) *first = placed.first;
    if (last) *last = placed.first + placed.count - 1;
    return TW_OK;
}
