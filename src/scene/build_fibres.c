/* Fibres of a scene: the rules between their keys, and how they are added to the model. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <twang/fibres.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "model/fibre_parts.h"
#include "model/model_internal.h"
#include "scene/fibre_roots.h"
#include "scene/scene_internal.h"

enum { SECTION_PARTICLES = 4 };

/* ---- rules ---- */

/* The first of the keys that the map has; NULL if it has none. */
static const tw_node *first_given(const tw_node *map, int count, const char *const *keys)
{
    for (int i = 0; i < count; i++) {
        const tw_node *node = tw_node_find(map, keys[i]);
        if (node) return node;
    }
    return NULL;
}

/* Refuses too many particles before memory is asked for. */
static tw_status check_particles(const tw_node *body, const char *path, double fibres,
                                 tw_error *error)
{
    double sections = tw_node_number(body, "segments") + 1.0;
    if (SECTION_PARTICLES * sections * fibres <= INT32_MAX) return TW_OK;
    return tw_fail_at(error, body->mark, "%s has more than 2^31 - 1 particles", path);
}

/* A grid has columns, rows and spacing, and nothing else that says where roots are. */
static tw_status check_grid(const tw_node *body, const char *path, tw_error *error)
{
    enum { GRID_KEYS = 3, OTHER_KEYS = 2 };
    static const char *const grid[GRID_KEYS] = {"columns", "rows", "spacing"};
    static const char *const others[OTHER_KEYS] = {"roots", "count"};
    const tw_node *given = first_given(body, GRID_KEYS, grid);
    if (!given) return TW_OK;

    for (int i = 0; i < GRID_KEYS; i++)
        if (!tw_node_find(body, grid[i]))
            return tw_fail_at(error, given->key_mark,
                              "%s.%s is given without %s, a grid needs columns, rows and spacing",
                              path, given->key, grid[i]);

    const tw_node *other = first_given(body, OTHER_KEYS, others);
    if (other)
        return tw_fail_at(
            error, other->key_mark,
            "%s.%s does not go with a grid of columns and rows, leave one of them out", path,
            other->key);

    double fibres = tw_node_number(body, "columns") * tw_node_number(body, "rows");
    return check_particles(body, path, fibres, error);
}

/* Roots come from a file or are scattered over an obstacle. */
static tw_status check_roots(const tw_node *roots, const char *path, tw_error *error)
{
    static const char *const of_obstacles[] = {"upper", "seed"};
    const tw_node *points = tw_node_find(roots, "points");
    const tw_node *obstacle = tw_node_find(roots, "obstacle");
    if (!points && !obstacle)
        return tw_fail_at(error, roots->mark, "%s.roots has neither points nor obstacle, give one",
                          path);
    if (points && obstacle)
        return tw_fail_at(error, obstacle->key_mark,
                          "%s.roots has both points and obstacle, keep one of them", path);
    if (obstacle) return TW_OK;

    const tw_node *other = first_given(roots, 2, of_obstacles);
    if (!other) return TW_OK;
    return tw_fail_at(error, other->key_mark,
                      "%s.roots.%s does not go with points, only with obstacle", path, other->key);
}

/* One root needs no count; roots from a file are as many as the file has. */
static tw_status check_count(const tw_node *body, const char *path, tw_error *error)
{
    const tw_node *roots = tw_node_find(body, "roots");
    const tw_node *count = tw_node_find(body, "count");
    bool is_scattered = roots && tw_node_find(roots, "obstacle");
    if (roots) TW_TRY(check_roots(roots, path, error));
    if (is_scattered && !count)
        return tw_fail_at(error, body->mark, "%s has no count, say how many fibres grow on %s",
                          path, tw_node_text(roots, "obstacle"));
    if (is_scattered) return check_particles(body, path, count->number, error);
    if (!count) return TW_OK;

    if (roots)
        return tw_fail_at(error, count->key_mark,
                          "%s.count does not go with roots.points, the file says how many", path);
    if (count->number != 1.0)
        return tw_fail_at(error, count->mark,
                          "%s.count is %s, must be 1 without a grid (columns, rows, spacing) or "
                          "roots",
                          path, count->text);
    return TW_OK;
}

static tw_status check_moduli(const tw_node *body, const char *path, tw_error *error)
{
    const tw_node *young = tw_node_find(body, "youngs_modulus");
    const tw_node *shear = tw_node_find(body, "shear_modulus");
    if (shear->number <= young->number) return TW_OK;

    return tw_fail_at(error, shear->mark,
                      "%s.shear_modulus is %s, must be at most youngs_modulus, which is %s", path,
                      shear->text, young->text);
}

/* A direction of length zero is none. */
static tw_status check_direction(const tw_node *body, const char *path, tw_error *error)
{
    double direction[3];
    tw_node_numbers(body, "direction", 3, direction);
    if (direction[0] != 0.0 || direction[1] != 0.0 || direction[2] != 0.0) return TW_OK;

    return tw_fail_at(error, tw_node_find(body, "direction")->mark,
                      "%s.direction has length zero, give it any other", path);
}

/* What does not depend on the roots. */
static tw_fibres read_fibres(const tw_node *body)
{
    const tw_node *curl = tw_node_find(body, "curl");
    tw_fibres fibres = {.length = tw_node_number(body, "length"),
                        .segments = tw_node_integer(body, "segments"),
                        .thickness = tw_node_number(body, "thickness"),
                        .tip_thickness = tw_node_number(body, "tip_thickness"),
                        .youngs_modulus = tw_node_number(body, "youngs_modulus"),
                        .shear_modulus = tw_node_number(body, "shear_modulus"),
                        .density = tw_node_number(body, "density"),
                        .curl_radius = tw_node_number(curl, "radius"),
                        .curl_pitch = tw_node_number(curl, "pitch"),
                        .is_free = tw_node_number(body, "rooted") == 0.0};
    tw_node_numbers(body, "velocity", 3, fibres.velocity);
    tw_node_numbers(body, "spin", 3, fibres.spin);
    return fibres;
}

static tw_status check_curl(const tw_node *body, const char *path, tw_error *error)
{
    tw_fibres fibres = read_fibres(body);
    double turning = tw_fibre_turning(&fibres);
    if (turning <= 1.0) return TW_OK;

    return tw_fail_at(error, tw_node_find(body, "curl")->mark,
                      "%s.curl turns by more than a radian per segment, give at least %.0f "
                      "segments",
                      path, ceil(turning * (double)fibres.segments));
}

tw_status tw_check_fibres(const tw_node *body, const char *path, tw_error *error)
{
    TW_TRY(check_grid(body, path, error));
    TW_TRY(check_count(body, path, error));
    TW_TRY(check_direction(body, path, error));
    TW_TRY(check_moduli(body, path, error));
    return check_curl(body, path, error);
}

/* ---- the body ---- */

/* Copies the particles of the body from the model: pins and motions select them by place. */
static tw_status copy_vertices(const tw_model *model, tw_body *body, tw_error *error)
{
    body->count = tw_model_particle_count(model) - body->first;
    TW_TRY(tw_mesh_allocate(&body->mesh, body->count, 0, 0, 0, error));
    memcpy(body->mesh.vertices, model->particles.position + 3 * body->first,
           3 * (size_t)body->count * sizeof(double));
    return TW_OK;
}

static tw_status add_fibres(tw_model *model, tw_body *body, const tw_fibre_roots *roots,
                            tw_error *error)
{
    char name[TW_BODY_NAME_SIZE];
    tw_name_body(body->node, name);

    tw_fibres fibres = read_fibres(body->node);
    fibres.name = name;
    fibres.count = roots->count;
    fibres.roots = roots->points;
    fibres.directions = roots->directions;
    fibres.sides = roots->sides;

    double sections = (double)fibres.count * (double)(fibres.segments + 1);
    TW_TRY(tw_check_body_cost(body, SECTION_PARTICLES * sections, error));
    tw_status status = tw_model_add_fibres(model, &fibres, &body->first, error);
    if (status == TW_UNSUPPORTED)
        return tw_fail_at(error, body->node->mark, "%s has more than 2^31 - 1 particles",
                          body->path);
    if (status != TW_OK) return status;

    body->fibres = *tw_model_fibre_set(model, tw_model_fibre_set_count(model) - 1);
    return copy_vertices(model, body, error);
}

tw_status tw_build_fibres(tw_model *model, tw_body *body, tw_error *error)
{
    tw_fibre_roots roots = {0};
    tw_status status = tw_fibre_roots_find(body, &roots, error);
    if (status == TW_OK) status = add_fibres(model, body, &roots, error);
    tw_fibre_roots_free(&roots);
    return status;
}

/* ---- fibres on an obstacle ---- */

/* Moves the roots of one body as its obstacle moves, if it does. */
static tw_status follow_obstacle(const tw_build *build, const tw_body *body, tw_error *error)
{
    const tw_node *roots = tw_node_find(body->node, "roots");
    const tw_node *name = roots ? tw_node_find(roots, "obstacle") : NULL;
    if (!name || body->fibres.count == 0 || tw_node_number(body->node, "rooted") == 0.0)
        return TW_OK;

    int index = 0;
    const tw_node *obstacle = tw_find_obstacle(build->scene, name->text, &index);
    const tw_node *motion = obstacle ? tw_node_find(obstacle, "motion") : NULL;
    if (!motion) return TW_OK;

    if (tw_node_find(motion, "files"))
        return tw_fail_at(error, name->mark,
                          "%s.roots.obstacle is '%s', which follows a sequence of meshes, fibres "
                          "do not grow on such an obstacle",
                          body->path, name->text);

    /* Its roots cannot follow two motions. */
    int64_t first = body->fibres.first;
    int64_t last = first + SECTION_PARTICLES * body->fibres.count - 1;
    if (tw_motions_touch(&build->model->motions, first, last))
        return tw_fail_at(error, name->mark,
                          "%s.roots.obstacle is '%s', whose motion the roots follow, but motions "
                          "move them too, keep one of them",
                          body->path, name->text);

    tw_entry entry = {.build = build, .node = obstacle};
    snprintf(entry.path, sizeof entry.path, "obstacles.%d", index);
    return tw_build_obstacle_motion(&entry, motion, first, last, error);
}

tw_status tw_build_rooted_motions(const tw_build *build, tw_error *error)
{
    for (int i = 0; i < build->body_count; i++)
        TW_TRY(follow_obstacle(build, &build->bodies[i], error));
    return TW_OK;
}
