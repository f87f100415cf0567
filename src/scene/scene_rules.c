/* Rules between keys, which the schema cannot express. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "scene/scene_internal.h"

/* A run with more than these would not finish, and frame numbers have six digits. */
static const double MAX_FRAMES = 1e6;
static const double MAX_STEPS = 1e12;

static tw_status check_integrator(const tw_scene *scene, tw_error *error)
{
    /* Fixed or adaptive steps. */
    const tw_node *map = tw_scene_node(scene, "integrator");
    if (!tw_node_find(map, "step") && !tw_node_find(map, "rtol"))
        return tw_fail_at(error, map->mark,
                          "integrator has neither step nor rtol, give step for fixed steps or rtol "
                          "for adaptive ones");

    /* Some schemes need a library that was not there when twang was built. */
    const tw_node *name = tw_node_find(map, "name");
    if (!tw_scheme_available((tw_scheme)name->number))
        return tw_fail_at(error, name->mark,
                          "integrator.name is %s, which was not built into this twang; "
                          "`twang list integrators` shows what was",
                          name->text);
    return TW_OK;
}

/* A scene has bodies or a system of equations, and a system has no particles to pin or to pull. */
static tw_status check_what_is_simulated(const tw_scene *scene, tw_error *error)
{
    const tw_node *root = scene->tree.root;
    const tw_node *system = tw_node_find(root, "system");
    const tw_node *bodies = tw_node_find(root, "bodies");

    if (!system && !bodies)
        return tw_fail_at(error, root->mark,
                          "there is nothing to simulate, give bodies (or system)");
    if (system && bodies)
        return tw_fail_at(error, bodies->key_mark,
                          "both system and bodies are given, keep one of them");
    if (bodies && bodies->count == 0)
        return tw_fail_at(error, bodies->mark, "bodies is empty, give at least one body");
    if (bodies) return TW_OK;

    /* Keys that act on particles. */
    static const char *const of_bodies[] = {"gravity",   "pins",    "forces", "motions",
                                            "obstacles", "contact", "fluid"};
    for (size_t i = 0; i < sizeof of_bodies / sizeof *of_bodies; i++) {
        const tw_node *node = tw_node_find(root, of_bodies[i]);
        if (node)
            return tw_fail_at(error, node->key_mark,
                              "%s does not apply to a system of equations, only to bodies",
                              of_bodies[i]);
    }
    return TW_OK;
}

/* ---- bodies ---- */

static bool has_consistent_mass(const tw_node *body)
{
    const tw_node *inertia = tw_node_find(body, "inertia");
    return inertia && strcmp(inertia->text, "consistent") == 0;
}

/* Either mass or density; a consistent mass is made of the density. */
static tw_status check_mass(const tw_node *body, const char *path, tw_error *error)
{
    const tw_node *mass = tw_node_find(body, "mass");
    const tw_node *density = tw_node_find(body, "density");

    if (mass && density)
        return tw_fail_at(error, density->key_mark,
                          "both %s.mass and %s.density are given, keep one of them", path, path);
    if (!mass && !density)
        return tw_fail_at(error, body->mark,
                          "%s has no mass, give mass (of a particle, in kg) or density", path);
    if (has_consistent_mass(body) && !density)
        return tw_fail_at(error, tw_node_find(body, "inertia")->mark,
                          "%s.inertia is consistent, which needs density in place of mass", path);
    return TW_OK;
}

/* The key that a consistent mass cannot be combined with; NULL if the scene has none. */
static const char *enemy_of_consistent_mass(const tw_scene *scene)
{
    const tw_node *motions = tw_scene_node(scene, "motions");
    if (motions && motions->count > 0) return "motions";

    const tw_node *forces = tw_scene_node(scene, "forces");
    for (const tw_node *force = forces ? forces->first : NULL; force; force = force->next)
        if (tw_node_number(force, "alpha") > 0) return "alpha of rayleigh damping";
    return NULL;
}

static tw_status check_body(const tw_node *body, const char *path, tw_error *error)
{
    TW_TRY(check_mass(body, path, error));
    const tw_body_kind *kind = tw_body_kind_of(body);
    return kind->check ? kind->check(body, path, error) : TW_OK;
}

static tw_status check_bodies(const tw_scene *scene, tw_error *error)
{
    const tw_node *bodies = tw_scene_node(scene, "bodies");
    if (!bodies) return TW_OK;

    /* Each body by itself. */
    int index = 0;
    for (const tw_node *body = bodies->first; body; body = body->next) {
        char path[TW_ENTRY_PATH_SIZE];
        snprintf(path, sizeof path, "bodies.%d", index++);
        TW_TRY(check_body(body, path, error));
    }

    /* Bodies together with the rest of the scene. */
    const char *enemy = enemy_of_consistent_mass(scene);
    index = 0;
    for (const tw_node *body = bodies->first; body && enemy; body = body->next, index++)
        if (has_consistent_mass(body))
            return tw_fail_at(error, tw_node_find(body, "inertia")->mark,
                              "bodies.%d.inertia is consistent, which cannot be combined with %s, "
                              "make it lumped",
                              index, enemy);
    return TW_OK;
}

/* ---- counts and acceptance values ---- */

/* Refuses counts of frames and steps before the run and not after an hour. */
static tw_status check_counts(const tw_scene *scene, tw_error *error)
{
    const tw_node *duration = tw_scene_node(scene, "duration");
    const tw_node *fps = tw_scene_node(scene, "fps");

    /* Every frame is a file. */
    if (duration->number * fps->number > MAX_FRAMES)
        return tw_fail_at(error, fps->mark,
                          "fps %s over duration %s makes more than %.0f frames, lower one of them",
                          fps->text, duration->text, MAX_FRAMES);

    /* The number of adaptive steps is not known before the run. */
    const tw_node *step = tw_scene_node(scene, "integrator.step");
    bool is_adaptive = tw_scene_node(scene, "integrator.rtol") != NULL;
    if (step && !is_adaptive && duration->number / step->number > MAX_STEPS)
        return tw_fail_at(error, step->mark,
                          "integrator.step %s over duration %s makes more than 1e12 steps",
                          step->text, duration->text);
    return TW_OK;
}

/* Rows of bodies have a position, those of a system have a value. */
static tw_status check_tests(const tw_scene *scene, tw_error *error)
{
    const tw_node *final = tw_scene_node(scene, "tests.final");
    if (!final) return TW_OK;

    bool is_system = tw_scene_node(scene, "system") != NULL;
    const char *owner = is_system ? "a system" : "bodies";
    const char *wanted = is_system ? "value" : "position";
    const char *other = is_system ? "position" : "value";
    for (const tw_node *row = final->first; row; row = row->next)
        if (!tw_node_find(row, wanted) || tw_node_find(row, other))
            return tw_fail_at(error, row->mark, "tests.final of %s must give row, %s and tolerance",
                              owner, wanted);
    return TW_OK;
}

tw_status tw_scene_check_rules(const tw_scene *scene, tw_error *error)
{
    TW_TRY(check_what_is_simulated(scene, error));
    TW_TRY(check_bodies(scene, error));
    TW_TRY(check_integrator(scene, error));
    TW_TRY(check_counts(scene, error));
    return check_tests(scene, error);
}
