/* From a checked scene to a simulation. */
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "scene/scene_internal.h"

static tw_status build_bodies(tw_build *build, tw_error *error)
{
    const tw_node *bodies = tw_scene_node(build->scene, "bodies");
    tw_status status = TW_OK;
    for (const tw_node *node = bodies->first; node && status == TW_OK; node = node->next) {
        tw_body *body = &build->bodies[build->body_count];
        snprintf(body->path, sizeof body->path, "bodies.%d", build->body_count++);
        body->node = node;
        status = tw_build_body(build->model, body, error);
    }
    return status;
}

static tw_status pin_range(void *context, int64_t first, int64_t last, tw_error *error)
{
    return tw_model_pin(context, first, last, error);
}

static tw_status build_pins(const tw_build *build, tw_error *error)
{
    const tw_node *pins = tw_scene_node(build->scene, "pins");
    tw_status status = TW_OK;
    int index = 0;
    for (const tw_node *pin = pins ? pins->first : NULL; pin && status == TW_OK; pin = pin->next) {
        char path[32];
        snprintf(path, sizeof path, "pins.%d", index++);
        status = tw_build_select(build, pin, path, pin_range, build->model, error);
    }
    return status;
}

static tw_status fill_model(tw_build *build, tw_error *error)
{
    double gravity[3];
    const char *held = tw_scene_node(build->scene, "pins") ? "pins" : "motions";
    tw_node_numbers(build->scene->tree.root, "gravity", 3, gravity);
    tw_status status = build_bodies(build, error);
    if (status == TW_OK) status = build_pins(build, error);
    if (status == TW_OK) status = tw_build_motions(build, error);
    if (status == TW_OK) status = tw_model_add_gravity(build->model, gravity, error);
    if (status == TW_OK) status = tw_build_forces(build, error);
    if (status == TW_OK && tw_model_free_count(build->model) == 0)
        status = tw_fail_at(error, tw_scene_node(build->scene, held)->mark,
                            "%s hold every particle, leave one free", held);
    return status;
}

static void release_bodies(tw_build *build)
{
    for (int i = 0; build->bodies && i < build->body_count; i++) {
        tw_mesh_free(&build->bodies[i].mesh);
        tw_mesh_free(&build->bodies[i].surface);
        tw_release(build->bodies[i].elements);
    }
    tw_release(build->bodies);
}

static tw_status build_model(const tw_scene *scene, tw_simulation **out, tw_error *error)
{
    tw_build build = {.scene = scene};
    build.bodies =
        tw_allocate_zeroed((size_t)tw_scene_node(scene, "bodies")->count, sizeof *build.bodies);
    if (!build.bodies) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    tw_status status = tw_model_create(&build.model, error);
    if (status == TW_OK) status = fill_model(&build, error);
    release_bodies(&build);

    /* The simulation takes the model over if it can be made of it. */
    if (status == TW_OK) status = tw_simulation_of_model(build.model, out, error);
    if (status != TW_OK) tw_model_free(build.model);
    return status;
}

static tw_status build_system(const tw_node *system, tw_simulation **out, tw_error *error)
{
    if (strcmp(tw_node_text(system, "kind"), "fput") == 0)
        return tw_simulation_fput(tw_node_integer(system, "m"), tw_node_number(system, "omega"),
                                  out, error);
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
