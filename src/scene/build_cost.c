/* What a scene costs, judged before it is built: a scene that cannot fit into the memory is refused
 * at once, and users hear of one that takes long to prepare. */
#include <math.h>
#include <stdio.h>

#include "base/available_memory.h"
#include "base/fail.h"
#include "base/log_line.h"
#include "scene/scene_internal.h"

static const double bytes_per_gigabyte = 1e9;
static const double seconds_per_minute = 60.0;

/* Users hear of what takes longer before it begins [s]. */
static const double long_time = 60.0;

/* Whether the scheme of the scene evaluates forces only, without a matrix. */
static bool is_explicit(const tw_scene *scene)
{
    switch (tw_scene_integrator_options(scene).scheme) {
    case TW_SCHEME_RK4:
    case TW_SCHEME_EULER:
    case TW_SCHEME_MIDPOINT_EXPLICIT:
    case TW_SCHEME_VERLET:
    case TW_SCHEME_CVODE:
        return true;
    default:
        return false;
    }
}

/* Bytes that a particle of this body takes at least. */
static double bytes_per_particle(const tw_scene *scene, const tw_node *body)
{
    const tw_body_cost *cost = &tw_body_kind_of(body)->cost;
    return is_explicit(scene) ? cost->explicit_bytes : cost->implicit_bytes;
}

static tw_status refuse(const tw_node *body, const char *path, double particles, double bytes_each,
                        double available, tw_error *error)
{
    const tw_body_cost *cost = &tw_body_kind_of(body)->cost;
    tw_fail_at(error, body->mark,
               "%s has %.0f particles, which take at least %.3g GB of memory and %.2g minutes to "
               "prepare, but %.3g GB are free, expected at most %.2g particles",
               path, particles, particles * bytes_each / bytes_per_gigabyte,
               particles * cost->seconds / seconds_per_minute, available / bytes_per_gigabyte,
               floor(available / bytes_each));

    /* The scene is right; it is the machine that is too small. */
    if (error) error->status = TW_OUT_OF_MEMORY;
    return TW_OUT_OF_MEMORY;
}

tw_status tw_check_body_cost(const tw_body *body, double particles, tw_error *error)
{
    double bytes_each = bytes_per_particle(body->scene, body->node);
    double available = tw_available_memory();
    if (particles * bytes_each <= available) return TW_OK;
    return refuse(body->node, body->path, particles, bytes_each, available, error);
}

/* A body of a file has no count yet. */
static double count_particles(const tw_node *body)
{
    const tw_body_kind *kind = tw_body_kind_of(body);
    if (!kind->count_particles) return 0.0;

    /* Elements of order 2 have a node in the middle of each of about seven edges per vertex. */
    double nodes_per_vertex = tw_node_number(body, "order") == 2.0 ? 8.0 : 1.0;
    return nodes_per_vertex * kind->count_particles(body);
}

tw_status tw_check_scene_cost(const tw_scene *scene, tw_error *error)
{
    double available = tw_available_memory();
    double seconds = 0.0;
    int index = 0;
    for (const tw_node *body = tw_scene_node(scene, "bodies")->first; body; body = body->next) {
        char path[TW_ENTRY_PATH_SIZE];
        snprintf(path, sizeof path, "bodies.%d", index++);

        /* Each body has what those before it leave. */
        double particles = count_particles(body);
        double bytes_each = bytes_per_particle(scene, body);
        if (particles > INT32_MAX)
            return tw_fail_at(error, body->mark, "%s has more than 2^31 - 1 particles", path);
        if (particles * bytes_each > available)
            return refuse(body, path, particles, bytes_each, available, error);
        available -= particles * bytes_each;
        seconds += particles * tw_body_kind_of(body)->cost.seconds;
    }

    if (seconds > long_time)
        tw_log_line(TW_LOG_WARNING, "preparing the bodies takes about %.2g minutes",
                    seconds / seconds_per_minute);
    return TW_OK;
}
