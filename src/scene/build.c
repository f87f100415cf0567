/* From a checked scene to a simulation. */
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "scene/scene_internal.h"

static const struct {
    const char *kind;
    tw_body_builder *build;
} body_builders[] = {
    {"coil", tw_build_coil},
    {"rope", tw_build_rope},
};

static tw_status build_body(tw_model *model, const tw_node *body, int index, tw_error *error)
{
    const char *kind = tw_node_text(body, "kind");
    char path[32];
    snprintf(path, sizeof path, "bodies.%d", index);
    for (size_t i = 0; i < sizeof body_builders / sizeof *body_builders; i++)
        if (strcmp(kind, body_builders[i].kind) == 0) return body_builders[i].build(model, body, path, error);
    return tw_fail(error, TW_INTERNAL, "no builder for kind %s", kind);
}

/* first[b] is the first particle of body b; first[count] the number of all. */
static tw_status build_bodies(tw_model *model, const tw_node *bodies, int64_t *first, tw_error *error)
{
    int b = 0;
    for (const tw_node *body = bodies->first; body; body = body->next) {
        first[b] = tw_model_particle_count(model);
        tw_status status = build_body(model, body, b++, error);
        if (status != TW_OK) return status;
    }
    first[b] = tw_model_particle_count(model);
    return TW_OK;
}

static tw_status build_pin(tw_model *model, const tw_node *pin, int index, const tw_node *bodies, const int64_t *first,
                           tw_error *error)
{
    const tw_node *body = tw_node_find(pin, "body"), *from = tw_node_find(pin, "from"), *to = tw_node_find(pin, "to");
    int64_t b = (int64_t)body->number;
    if (b >= bodies->count)
        return tw_fail_at(error, body->mark, "pins.%d.body is %s, must be at most %d: the last body", index, body->text,
                          bodies->count - 1);
    const tw_node *last = to ? to : from;
    int64_t particles = first[b + 1] - first[b];
    if (last->number < from->number)
        return tw_fail_at(error, last->mark, "pins.%d.to is %s, must be at least from, which is %s", index, last->text,
                          from->text);
    if (last->number >= (double)particles)
        return tw_fail_at(error, last->mark, "pins.%d.%s is %s, must be at most %lld: the body's last particle", index,
                          last->key, last->text, (long long)(particles - 1));
    return tw_model_pin(model, first[b] + (int64_t)from->number, first[b] + (int64_t)last->number, error);
}

static tw_status build_pins(tw_model *model, const tw_scene *scene, const int64_t *first, tw_error *error)
{
    const tw_node *pins = tw_scene_node(scene, "pins"), *bodies = tw_scene_node(scene, "bodies");
    int index = 0;
    for (const tw_node *pin = pins ? pins->first : NULL; pin; pin = pin->next) {
        tw_status status = build_pin(model, pin, index++, bodies, first, error);
        if (status != TW_OK) return status;
    }
    return TW_OK;
}

static tw_status fill_model(tw_model *model, const tw_scene *scene, tw_error *error)
{
    const tw_node *bodies = tw_scene_node(scene, "bodies");
    int64_t *first = TW_NEW_ARRAY(bodies->count + 1, int64_t);
    if (!first) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    double gravity[3];
    tw_node_numbers(scene->tree.root, "gravity", 3, gravity);
    tw_status status = build_bodies(model, bodies, first, error);
    if (status == TW_OK) status = build_pins(model, scene, first, error);
    if (status == TW_OK) status = tw_model_add_gravity(model, gravity, error);
    if (status == TW_OK && tw_model_free_count(model) == 0)
        status = tw_fail_at(error, tw_scene_node(scene, "pins")->mark, "pins hold every particle, leave one free");
    tw_release(first);
    return status;
}

static tw_status build_model(const tw_scene *scene, tw_simulation **out, tw_error *error)
{
    tw_model *model = NULL;
    tw_status status = tw_model_create(&model);
    if (status != TW_OK) return tw_fail_plain(error, status);
    status = fill_model(model, scene, error);
    if (status == TW_OK) return tw_simulation_of_model(model, out, error);
    tw_model_free(model);
    return status;
}

static tw_status build_system(const tw_node *system, tw_simulation **out, tw_error *error)
{
    if (strcmp(tw_node_text(system, "kind"), "fput") == 0)
        return tw_simulation_fput(tw_node_integer(system, "m"), tw_node_number(system, "omega"), out, error);
    double start[2];
    tw_node_numbers(system, "start", 2, start);
    return tw_simulation_stiff_line(tw_node_number(system, "k"), start, out, error);
}

tw_status tw_scene_build(const tw_scene *scene, tw_simulation **out, tw_error *error)
{
    if (!scene || !out) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    *out = NULL;
    const tw_node *system = tw_scene_node(scene, "system");
    return system ? build_system(system, out, error) : build_model(scene, out, error);
}
