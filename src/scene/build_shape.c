/* A shape, with the masses and springs its body gives it, into the model. */
#include "base/allocate.h"
#include "base/fail.h"
#include "scene/scene_internal.h"

/* What a body's keys say about every particle of it, filled into arrays of the model's. */
typedef struct parts {
    double *velocities, *masses, *stiffness;
    int64_t *ends;
} parts;

static tw_status reserve(parts *p, const tw_shape *shape)
{
    p->velocities = TW_NEW_ARRAY(3 * shape->point_count, double);
    p->masses = TW_NEW_ARRAY(shape->point_count, double);
    p->stiffness = TW_NEW_ARRAY(shape->edge_count, double);
    p->ends = TW_NEW_ARRAY(2 * shape->edge_count, int64_t);
    return p->velocities && p->masses && p->stiffness && p->ends ? TW_OK : TW_OUT_OF_MEMORY;
}

static void release(parts *p)
{
    tw_release(p->velocities);
    tw_release(p->masses);
    tw_release(p->stiffness);
    tw_release(p->ends);
}

static void fill(parts *p, const tw_shape *shape, const tw_node *body, int64_t first)
{
    double velocity[3], mass = tw_node_number(body, "mass"), stiffness = tw_node_number(body, "stiffness");
    tw_node_numbers(body, "velocity", 3, velocity);
    for (int64_t i = 0; i < shape->point_count; i++) {
        p->masses[i] = mass;
        for (int k = 0; k < 3; k++) p->velocities[3 * i + k] = velocity[k];
    }
    for (int64_t e = 0; e < shape->edge_count; e++) {
        p->stiffness[e] = stiffness;
        for (int k = 0; k < 2; k++) p->ends[2 * e + k] = first + shape->edges[2 * e + k];
    }
}

tw_status tw_build_shape(tw_model *model, const tw_node *body, const tw_shape *shape, tw_error *error)
{
    parts p = {0};
    int64_t first = tw_model_particle_count(model);
    tw_status status = reserve(&p, shape);
    if (status == TW_OK)
        fill(&p, shape, body, first);
    else
        tw_fail_plain(error, status);
    if (status == TW_OK)
        status = tw_model_add_particles(model, shape->point_count, shape->points, p.velocities, p.masses, NULL, error);
    if (status == TW_OK) status = tw_model_add_springs(model, shape->edge_count, p.ends, p.stiffness, NULL, error);
    release(&p);
    return status;
}
