/* From a checked scene to a simulation. */
#include <stdio.h>
#include <string.h>
#include <twang/rigid.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "scene/scene_internal.h"

/* Gives the place of `node` to an error of the model, which does not know the scene. TW_BAD_INPUT has
 * its place already, and the scene is not to blame for a lack of memory. */
static tw_status place_error(const tw_node *node, tw_status status, tw_error *error)
{
    bool is_placed = status == TW_OK || status == TW_BAD_INPUT;
    if (is_placed || status == TW_OUT_OF_MEMORY || !error) return status;

    tw_error reason = *error;
    return tw_fail_at(error, node->mark, "%s", reason.text);
}

/* The key `motion` of a body. */
static tw_status set_motion(const tw_build *build, const tw_node *body, int count, tw_error *error)
{
    if (strcmp(tw_node_text(body, "motion"), "rigid") != 0) return TW_OK;
    if (count > 1)
        return tw_fail_at(error, body->mark,
                          "bodies.%d.motion is 'rigid', which needs a scene of one body, not of %d",
                          build->body_count - 1, count);
    return tw_model_set_rigid_motion(build->model, error);
}

static tw_status build_bodies(tw_build *build, tw_error *error)
{
    const tw_node *bodies = tw_scene_node(build->scene, "bodies");
    for (const tw_node *node = bodies->first; node; node = node->next) {
        tw_body *body = &build->bodies[build->body_count];
        body->scene = build->scene;
        body->node = node;
        snprintf(body->path, sizeof body->path, "bodies.%d", build->body_count);

        build->body_count++;
        TW_TRY(place_error(node, tw_build_body(build->model, body, error), error));
        TW_TRY(set_motion(build, node, bodies->count, error));
    }
    return TW_OK;
}

tw_status tw_build_entries(const tw_build *build, const char *name,
                           tw_status (*apply)(const tw_entry *entry, tw_error *error),
                           tw_error *error)
{
    const tw_node *list = tw_scene_node(build->scene, name);
    if (!list) return TW_OK;

    int index = 0;
    for (const tw_node *node = list->first; node; node = node->next) {
        tw_entry entry = {.build = build, .node = node};
        snprintf(entry.path, sizeof entry.path, "%s.%d", name, index++);
        TW_TRY(place_error(node, apply(&entry, error), error));
    }
    return TW_OK;
}

static tw_status fill_model(tw_build *build, tw_error *error)
{
    TW_TRY(build_bodies(build, error));

    /* A motion of a pinned particle replaces the pin, so pins come first. */
    TW_TRY(tw_build_entries(build, "pins", tw_build_pin, error));
    TW_TRY(tw_build_entries(build, "motions", tw_build_motion, error));
    TW_TRY(tw_build_entries(build, "obstacles", tw_build_obstacle, error));
    TW_TRY(tw_build_rooted_motions(build, error));
    const tw_node *contact = tw_scene_node(build->scene, "contact");
    TW_TRY(place_error(contact, tw_build_contact(build, error), error));

    double gravity[3];
    tw_node_numbers(build->scene->tree.root, "gravity", 3, gravity);
    tw_status status = tw_model_add_gravity(build->model, gravity, error);
    TW_TRY(place_error(build->scene->tree.root, status, error));
    TW_TRY(tw_build_entries(build, "forces", tw_build_force, error));
    TW_TRY(tw_build_fluid(build, error));

    /* There must be something left to integrate. */
    if (tw_model_free_count(build->model) > 0) return TW_OK;
    const char *held = tw_scene_node(build->scene, "pins") ? "pins" : "motions";
    return tw_fail_at(error, tw_scene_node(build->scene, held)->mark,
                      "%s hold every particle, leave one free", held);
}

tw_status tw_scene_build_model(const tw_scene *scene, tw_model **out, tw_error *error)
{
    if (!scene || !out) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    *out = NULL;
    if (tw_scene_node(scene, "system"))
        return tw_fail(error, TW_UNSUPPORTED, "the scene has a system of equations, and no bodies");

    TW_TRY(tw_check_scene_cost(scene, error));
    int count = tw_scene_node(scene, "bodies")->count;
    tw_build build = {.scene = scene};
    build.bodies = tw_allocate_zeroed((size_t)count, sizeof *build.bodies);
    if (!build.bodies) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    tw_status status = tw_model_create(&build.model, error);
    if (status == TW_OK) status = fill_model(&build, error);
    for (int i = 0; i < build.body_count; i++) tw_body_release(&build.bodies[i]);
    tw_release(build.bodies);

    if (status == TW_OK)
        *out = build.model;
    else
        tw_model_free(build.model);
    return status;
}

static tw_status build_simulation(const tw_scene *scene, tw_simulation **out, tw_error *error)
{
    tw_model *model = NULL;
    TW_TRY(tw_scene_build_model(scene, &model, error));

    /* The simulation takes the model over if it can be made of it. */
    tw_status status = tw_simulation_of_model(model, out, error);
    if (status == TW_OK) return TW_OK;
    tw_model_free(model);
    const tw_node *fluid = tw_scene_node(scene, "fluid");
    bool fluid_is_wrong = fluid && status == TW_UNSUPPORTED;
    return place_error(fluid_is_wrong ? fluid : tw_scene_node(scene, "bodies"), status, error);
}

tw_status tw_scene_build(const tw_scene *scene, tw_simulation **out, tw_error *error)
{
    if (!scene || !out) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    *out = NULL;

    const tw_node *system = tw_scene_node(scene, "system");
    return system ? tw_build_system(system, out, error) : build_simulation(scene, out, error);
}
