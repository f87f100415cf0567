/* A rope: `count` links of equal length in a straight line, linear springs, no bending stiffness. */
#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "scene/scene_internal.h"

typedef struct rope {
    int64_t links;
    double *positions, *velocities, *masses, *stiffness, *rest_length;
    int64_t *ends;
} rope;

static tw_status rope_reserve(rope *r)
{
    int64_t particles = r->links + 1;
    r->positions = TW_NEW_ARRAY(3 * particles, double);
    r->velocities = TW_NEW_ARRAY(3 * particles, double);
    r->masses = TW_NEW_ARRAY(particles, double);
    r->stiffness = TW_NEW_ARRAY(r->links, double);
    r->rest_length = TW_NEW_ARRAY(r->links, double);
    r->ends = TW_NEW_ARRAY(2 * r->links, int64_t);
    bool all = r->positions && r->velocities && r->masses && r->stiffness && r->rest_length && r->ends;
    return all ? TW_OK : TW_OUT_OF_MEMORY;
}

static void rope_release(rope *r)
{
    tw_release(r->positions);
    tw_release(r->velocities);
    tw_release(r->masses);
    tw_release(r->stiffness);
    tw_release(r->rest_length);
    tw_release(r->ends);
}

static tw_status rope_fill(rope *r, const tw_node *body, const char *path, int64_t first, tw_error *error)
{
    double origin[3], direction[3], velocity[3];
    tw_node_numbers(body, "origin", 3, origin);
    tw_node_numbers(body, "direction", 3, direction);
    tw_node_numbers(body, "velocity", 3, velocity);
    double norm = sqrt(direction[0] * direction[0] + direction[1] * direction[1] + direction[2] * direction[2]);
    if (!(norm > 0.0) || !isfinite(norm))
        return tw_fail_at(error, tw_node_find(body, "direction")->mark,
                          "%s.direction has length zero, give it any other", path);
    double length = tw_node_number(body, "length");
    double mass = tw_node_number(body, "mass"), stiffness = tw_node_number(body, "stiffness");
    for (int64_t i = 0; i <= r->links; i++) {
        for (int k = 0; k < 3; k++) {
            r->positions[3 * i + k] = origin[k] + (double)i * length * (direction[k] / norm);
            r->velocities[3 * i + k] = velocity[k];
        }
        r->masses[i] = mass;
    }
    for (int64_t i = 0; i < r->links; i++) {
        r->stiffness[i] = stiffness;
        r->rest_length[i] = length;
        r->ends[2 * i] = first + i;
        r->ends[2 * i + 1] = first + i + 1;
    }
    return TW_OK;
}

tw_status tw_build_rope(tw_model *model, const tw_node *body, const char *path, tw_error *error)
{
    rope r = {.links = tw_node_integer(body, "count")};
    int64_t first = tw_model_particle_count(model);
    tw_status status = rope_reserve(&r);
    if (status != TW_OK) tw_fail_plain(error, status);
    if (status == TW_OK) status = rope_fill(&r, body, path, first, error);
    if (status == TW_OK)
        status = tw_model_add_particles(model, r.links + 1, r.positions, r.velocities, r.masses, NULL, error);
    if (status == TW_OK) status = tw_model_add_springs(model, r.links, r.ends, r.stiffness, r.rest_length, error);
    tw_display display = {.name = "rope", .first = first, .count = r.links + 1, .edge_count = r.links, .edges = r.ends};
    if (status == TW_OK) status = tw_model_add_display(model, &display, error);
    rope_release(&r);
    return status;
}
