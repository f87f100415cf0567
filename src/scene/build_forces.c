/* `forces` of a scene: what acts besides gravity and elasticity. */
#include <stdio.h>
#include <string.h>
#include <twang/forces.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "scene/scene_internal.h"

/* An entry of the list: what it is, and how errors call it. */
typedef struct entry {
    const tw_build *build;
    const tw_node *node;
    char path[32];
} entry;

static tw_status build_rayleigh(const entry *e, tw_error *error)
{
    return tw_model_set_rayleigh(e->build->model, tw_node_number(e->node, "alpha"),
                                 tw_node_number(e->node, "beta"), error);
}

static int64_t *shifted(int64_t count, const int64_t *indices, int64_t first)
{
    int64_t *copy = TW_NEW_ARRAY(count, int64_t);
    for (int64_t i = 0; copy && i < count; i++) copy[i] = first + indices[i];
    return copy;
}

static tw_status add_dashpots(const entry *e, const tw_body *body, int64_t count,
                              const int64_t *edges, tw_error *error)
{
    int64_t *ends = shifted(2 * count, edges, body->first);
    double *damping = TW_NEW_ARRAY(count, double);
    for (int64_t i = 0; damping && i < count; i++) damping[i] = tw_node_number(e->node, "damping");
    tw_status status = ends && damping
                           ? tw_model_add_dashpots(e->build->model, count, ends, damping, error)
                           : tw_fail_plain(error, TW_OUT_OF_MEMORY);
    tw_release(ends);
    tw_release(damping);
    return status;
}

static tw_status build_dashpots(const entry *e, tw_error *error)
{
    const tw_body *body = tw_build_find_body(e->build, e->node, e->path, error);
    if (!body) return TW_BAD_INPUT;
    if (body->mesh.edge_count)
        return add_dashpots(e, body, body->mesh.edge_count, body->mesh.edges, error);
    int64_t *edges = NULL, count = 0;
    tw_status status = tw_mesh_unique_edges(&body->mesh, &edges, &count, error);
    if (status == TW_OK) status = add_dashpots(e, body, count, edges, error);
    tw_mesh_free_indices(edges);
    return status;
}

static tw_status add_wind(const entry *e, const tw_body *body, int64_t count, const int64_t *faces,
                          tw_error *error)
{
    tw_wind wind = tw_wind_default();
    tw_node_numbers(e->node, "velocity", 3, wind.velocity);
    wind.density = tw_node_number(e->node, "density");
    wind.drag = tw_node_number(e->node, "drag");
    wind.lift = tw_node_number(e->node, "lift");
    wind.gust = tw_node_number(e->node, "gust");
    wind.gust_frequency = tw_node_number(e->node, "frequency");
    int64_t *triangles = shifted(3 * count, faces, body->first);
    tw_status status = triangles
                           ? tw_model_add_wind(e->build->model, count, triangles, &wind, error)
                           : tw_fail_plain(error, TW_OUT_OF_MEMORY);
    tw_release(triangles);
    return status;
}

static tw_status build_wind(const entry *e, tw_error *error)
{
    const tw_body *body = tw_build_find_body(e->build, e->node, e->path, error);
    if (!body) return TW_BAD_INPUT;
    if (body->mesh.triangle_count + body->mesh.tetrahedron_count == 0)
        return tw_fail_at(error, e->node->mark,
                          "%s: body %.0f is a %s, which has no surface for the wind", e->path,
                          tw_node_number(e->node, "body"), tw_node_text(body->node, "kind"));
    int64_t *faces = NULL, count = 0;
    tw_status status = tw_mesh_surface(&body->mesh, &faces, &count, error);
    if (status == TW_OK) status = add_wind(e, body, count, faces, error);
    tw_mesh_free_indices(faces);
    return status;
}

static tw_status build_shaking(const entry *e, tw_error *error)
{
    double acceleration[3];
    tw_node_numbers(e->node, "acceleration", 3, acceleration);
    return tw_model_add_shaking(e->build->model, acceleration, tw_node_number(e->node, "frequency"),
                                tw_node_number(e->node, "phase"), error);
}

typedef struct load {
    tw_model *model;
    int64_t count;
    double force[3]; /* on each particle */
} load;

static tw_status count_range(void *context, int64_t first, int64_t last, tw_error *error)
{
    (void)error;
    ((load *)context)->count += last - first + 1;
    return TW_OK;
}

static tw_status load_range(void *context, int64_t first, int64_t last, tw_error *error)
{
    const load *l = context;
    return tw_model_add_load(l->model, first, last, l->force, error);
}

static tw_status build_load(const entry *e, tw_error *error)
{
    load l = {.model = e->build->model};
    tw_status status = tw_build_select(e->build, e->node, e->path, count_range, &l, error);
    if (status != TW_OK) return status;
    tw_node_numbers(e->node, "force", 3, l.force);
    for (int k = 0; k < 3; k++) l.force[k] /= (double)l.count;
    return tw_build_select(e->build, e->node, e->path, load_range, &l, error);
}

tw_status tw_build_forces(const tw_build *build, tw_error *error)
{
    static const struct {
        const char *kind;
        tw_status (*build)(const entry *e, tw_error *error);
    } builders[] = {{"rayleigh", build_rayleigh},
                    {"dashpots", build_dashpots},
                    {"wind", build_wind},
                    {"shaking", build_shaking},
                    {"load", build_load}};
    const tw_node *forces = tw_scene_node(build->scene, "forces");
    tw_status status = TW_OK;
    int index = 0;
    for (const tw_node *node = forces ? forces->first : NULL; node && status == TW_OK;
         node = node->next) {
        entry e = {.build = build, .node = node};
        snprintf(e.path, sizeof e.path, "forces.%d", index++);
        for (size_t i = 0; i < sizeof builders / sizeof *builders; i++)
            if (strcmp(tw_node_text(node, "kind"), builders[i].kind) == 0)
                status = builders[i].build(&e, error);
    }
    return status;
}
