/* Rules between keys. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scene/scene_internal.h"

static tw_status check_integrator(const tw_scene *scene, tw_error *error)
{
    const tw_node *map = tw_scene_node(scene, "integrator");
    if (!tw_node_find(map, "step") && !tw_node_find(map, "rtol"))
        return tw_fail_at(error, map->mark,
                          "integrator has neither step nor rtol, give step for fixed steps or rtol "
                          "for adaptive ones");
    const tw_node *name = tw_node_find(map, "name");
    if (!tw_scheme_available((tw_scheme)name->number))
        return tw_fail_at(error, name->mark,
                          "integrator.name is %s, which was not built into this twang; "
                          "`twang list integrators` shows what was",
                          name->text);
    return TW_OK;
}

/* A system of equations has no particles to pin or to pull. */
static tw_status check_what_is_simulated(const tw_scene *scene, tw_error *error)
{
    const tw_node *root = scene->tree.root;
    const tw_node *system = tw_node_find(root, "system"), *bodies = tw_node_find(root, "bodies");
    if (!system && !bodies)
        return tw_fail_at(error, root->mark,
                          "there is nothing to simulate, give bodies (or system)");
    if (system && bodies)
        return tw_fail_at(error, bodies->key_mark,
                          "both system and bodies are given, keep one of them");
    if (bodies && bodies->count == 0)
        return tw_fail_at(error, bodies->mark, "bodies is empty, give at least one body");
    static const char *const of_bodies[] = {"gravity", "pins", "forces", "motions"};
    for (int i = 0; system && i < 4; i++) {
        const tw_node *node = tw_node_find(root, of_bodies[i]);
        if (node)
            return tw_fail_at(error, node->key_mark,
                              "%s does not apply to a system of equations, only to bodies",
                              of_bodies[i]);
    }
    return TW_OK;
}

static tw_status check_bodies(const tw_scene *scene, tw_error *error)
{
    const tw_node *bodies = tw_scene_node(scene, "bodies");
    tw_status status = TW_OK;
    int index = 0;
    for (const tw_node *body = bodies ? bodies->first : NULL; body && status == TW_OK;
         body = body->next) {
        char path[32];
        snprintf(path, sizeof path, "bodies.%d", index++);
        status = tw_scene_check_body(body, path, error);
    }
    return status;
}

/* What a consistent mass cannot be together with; NULL if there is nothing of that. */
static const char *against_consistent_mass(const tw_scene *scene)
{
    const tw_node *motions = tw_scene_node(scene, "motions"),
                  *forces = tw_scene_node(scene, "forces");
    if (motions && motions->count > 0) return "motions";
    for (const tw_node *force = forces ? forces->first : NULL; force; force = force->next) {
        const tw_node *alpha = tw_node_find(force, "alpha");
        if (alpha && alpha->number > 0) return "alpha of rayleigh damping";
    }
    return NULL;
}

static tw_status check_inertia(const tw_scene *scene, tw_error *error)
{
    const tw_node *bodies = tw_scene_node(scene, "bodies");
    const char *against = against_consistent_mass(scene);
    int index = 0;
    for (const tw_node *body = bodies && against ? bodies->first : NULL; body;
         body = body->next, index++) {
        const tw_node *inertia = tw_node_find(body, "inertia");
        if (inertia && strcmp(inertia->text, "consistent") == 0)
            return tw_fail_at(error, inertia->mark,
                              "bodies.%d.inertia is consistent, which does not go together with "
                              "%s, make it lumped",
                              index, against);
    }
    return TW_OK;
}

/* Refused here and not after an hour: step and frame counts that no run could finish or number. */
static tw_status check_counts(const tw_scene *scene, tw_error *error)
{
    const tw_node *duration = tw_scene_node(scene, "duration");
    const tw_node *fps = tw_scene_node(scene, "fps"),
                  *step = tw_scene_node(scene, "integrator.step");
    if (duration->number * fps->number > 1e6)
        return tw_fail_at(
            error, fps->mark,
            "fps %s over duration %s makes more than 1000000 frames, lower one of them", fps->text,
            duration->text);
    if (step && !tw_scene_node(scene, "integrator.rtol") && duration->number / step->number > 1e12)
        return tw_fail_at(error, step->mark,
                          "integrator.step %s over duration %s makes more than 1e12 steps",
                          step->text, duration->text);
    return TW_OK;
}

static tw_status check_tests(const tw_scene *scene, tw_error *error)
{
    const tw_node *final = tw_scene_node(scene, "tests.final");
    bool is_system = tw_scene_node(scene, "system") != NULL;
    for (const tw_node *row = final ? final->first : NULL; row; row = row->next) {
        const char *wanted = is_system ? "value" : "position",
                   *other = is_system ? "position" : "value";
        if (!tw_node_find(row, wanted) || tw_node_find(row, other))
            return tw_fail_at(error, row->mark, "tests.final of %s must give %s",
                              is_system ? "a system" : "bodies",
                              is_system ? "row, value and tolerance"
                                        : "row, position and tolerance");
    }
    return TW_OK;
}

tw_status tw_scene_check_rules(const tw_scene *scene, tw_error *error)
{
    tw_status status = check_what_is_simulated(scene, error);
    if (status == TW_OK) status = check_bodies(scene, error);
    if (status == TW_OK) status = check_inertia(scene, error);
    if (status == TW_OK) status = check_integrator(scene, error);
    if (status == TW_OK) status = check_counts(scene, error);
    if (status == TW_OK) status = check_tests(scene, error);
    return status;
}
