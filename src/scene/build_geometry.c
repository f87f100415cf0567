/* From a body's keys to its shape, and to its place. */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "scene/scene_internal.h"

static tw_status make_coil(tw_body *b, tw_error *error)
{
    const tw_node *body = b->node;
    tw_coil coil = {.sections = tw_node_integer(body, "sections"),
                    .across = tw_node_integer(body, "across"),
                    .turns = tw_node_number(body, "turns"),
                    .radius = tw_node_number(body, "radius"),
                    .height = tw_node_number(body, "height"),
                    .thickness = tw_node_number(body, "thickness")};
    return tw_body_coil(&coil, &b->mesh, error);
}

static tw_status make_cloth(tw_body *b, tw_error *error)
{
    const tw_node *body = b->node;
    tw_cloth cloth = {.columns = tw_node_integer(body, "columns"),
                      .rows = tw_node_integer(body, "rows"),
                      .width = tw_node_number(body, "width"),
                      .height = tw_node_number(body, "height")};
    return tw_body_cloth(&cloth, &b->mesh, error);
}

static tw_status make_box(tw_body *b, tw_error *error)
{
    const tw_node *body = b->node;
    double size[3], cells[3];
    tw_node_numbers(body, "size", 3, size);
    tw_node_numbers(body, "cells", 3, cells);
    return tw_body_box(size, (int64_t[3]){(int64_t)cells[0], (int64_t)cells[1], (int64_t)cells[2]},
                       &b->mesh, error);
}

static tw_status make_bar(tw_body *b, tw_error *error)
{
    const tw_node *body = b->node;
    double cells[2], thickness = tw_node_number(body, "thickness");
    tw_node_numbers(body, "cells", 2, cells);
    double size[3] = {tw_node_number(body, "length"), thickness, thickness};
    return tw_body_box(size, (int64_t[3]){(int64_t)cells[0], (int64_t)cells[1], (int64_t)cells[1]},
                       &b->mesh, error);
}

static tw_status make_rope(tw_body *b, tw_error *error)
{
    const tw_node *body = b->node;
    return tw_body_rope(tw_node_integer(body, "count"), tw_node_number(body, "length"), &b->mesh,
                        error);
}

static tw_status make_tower(tw_body *b, tw_error *error)
{
    const tw_node *body = b->node;
    tw_tower tower = {.height = tw_node_number(body, "height"),
                      .width = tw_node_number(body, "width"),
                      .detail = tw_node_number(body, "detail")};
    return tw_body_tower(&tower, &b->mesh, error);
}

static const struct {
    const char *kind;
    tw_status (*make)(tw_body *body, tw_error *error);
} makers[] = {
    {"coil", make_coil}, {"cloth", make_cloth}, {"box", make_box},       {"bar", make_bar},
    {"rope", make_rope}, {"tower", make_tower}, {"mesh", tw_build_mesh},
};

/* ---- place ---- */

static void move(tw_mesh *mesh, const double origin[3])
{
    for (int64_t i = 0; i < 3 * mesh->vertex_count; i++) mesh->vertices[i] += origin[i % 3];
}

/* Turns the plane of axes j and k by `degrees`, j towards k. */
static void turn(tw_mesh *mesh, int j, int k, double degrees)
{
    if (degrees == 0.0) return;
    double angle = degrees * (3.14159265358979323846 / 180.0), c = cos(angle), s = sin(angle);
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        double *v = mesh->vertices + 3 * i, a = v[j], b = v[k];
        v[j] = c * a - s * b;
        v[k] = s * a + c * b;
    }
}

static void scale(tw_mesh *mesh, double factor)
{
    for (int64_t i = 0; i < 3 * mesh->vertex_count; i++) mesh->vertices[i] *= factor;
}

/* What makes the longest side `extent` long. */
static double scale_of(const tw_mesh *mesh, double extent)
{
    double lower[3], upper[3], longest = 0.0;
    tw_mesh_bounds(mesh, lower, upper);
    for (int k = 0; k < 3; k++) longest = fmax(longest, upper[k] - lower[k]);
    return longest > 0.0 ? extent / longest : 1.0;
}

/* A rope lies along its direction. */
static tw_status lay(tw_mesh *mesh, const tw_node *body, const char *path, const double origin[3],
                     tw_error *error)
{
    double direction[3], length = tw_node_number(body, "length");
    tw_node_numbers(body, "direction", 3, direction);
    double norm = sqrt(direction[0] * direction[0] + direction[1] * direction[1] +
                       direction[2] * direction[2]);
    if (!(norm > 0.0) || !isfinite(norm))
        return tw_fail_at(error, tw_node_find(body, "direction")->mark,
                          "%s.direction has length zero, give it any other", path);
    for (int64_t i = 0; i < mesh->vertex_count; i++)
        for (int k = 0; k < 3; k++)
            mesh->vertices[3 * i + k] = origin[k] + (double)i * length * (direction[k] / norm);
    return TW_OK;
}

static tw_status place(tw_body *body, tw_error *error)
{
    double origin[3], rotation[3];
    tw_node_numbers(body->node, "origin", 3, origin);
    tw_node_numbers(body->node, "rotation", 3, rotation);
    if (tw_node_find(body->node, "direction"))
        return lay(&body->mesh, body->node, body->path, origin, error);
    tw_mesh *both[] = {&body->mesh, &body->surface};
    for (int i = 0; i < 2; i++) {
        turn(both[i], 1, 2, rotation[0]);
        turn(both[i], 2, 0, rotation[1]);
        turn(both[i], 0, 1, rotation[2]);
    }
    bool sized = tw_node_find(body->node, "extent") != NULL;
    double factor = sized ? scale_of(&body->mesh, tw_node_number(body->node, "extent")) : 1.0;
    for (int i = 0; i < 2; i++) {
        if (sized) scale(both[i], factor);
        move(both[i], origin);
    }
    return TW_OK;
}

tw_status tw_build_geometry(tw_body *body, tw_error *error)
{
    const char *kind = tw_node_text(body->node, "kind");
    tw_status status = TW_INTERNAL;
    bool known = false;
    for (size_t i = 0; i < sizeof makers / sizeof *makers && !known; i++) {
        known = strcmp(kind, makers[i].kind) == 0;
        if (known) status = makers[i].make(body, error);
    }
    if (!known) return tw_fail(error, TW_INTERNAL, "nothing makes a body of kind %s", kind);
    if (status == TW_UNSUPPORTED)
        return tw_fail_at(error, body->node->mark, "%s has more than 2^31 - 1 particles",
                          body->path);
    return status == TW_OK ? place(body, error) : status;
}
