/* Which particles an entry of pins, forces or motions means. */
#include <math.h>
#include <stdio.h>

#include "base/fail.h"
#include "scene/scene_internal.h"

const tw_body *tw_build_find_body(const tw_build *build, const tw_node *entry, const char *path,
                                  tw_error *error)
{
    const tw_node *body = tw_node_find(entry, "body");
    if (body->number < build->body_count) return &build->bodies[(int)body->number];
    tw_fail_at(error, body->mark, "%s.body is %s, must be at most %d: the last body", path,
               body->text, build->body_count - 1);
    return NULL;
}

static tw_status select_range(const tw_body *body, const tw_node *entry, const char *path,
                              tw_range_visit *visit, void *context, tw_error *error)
{
    const tw_node *from = tw_node_find(entry, "from"), *to = tw_node_find(entry, "to"),
                  *last = to ? to : from;
    if (last->number < from->number)
        return tw_fail_at(error, last->mark, "%s.to is %s, must be at least from, which is %s",
                          path, last->text, from->text);
    if (last->number >= (double)body->count)
        return tw_fail_at(error, last->mark,
                          "%s.%s is %s, must be at most %lld: the body's last particle", path,
                          last->key, last->text, (long long)(body->count - 1));
    return visit(context, body->first + (int64_t)from->number, body->first + (int64_t)last->number,
                 error);
}

/* A box in space: the one given, or the lowest or highest part of the body's own. */
static void selection_box(const tw_body *body, const tw_node *entry, double lower[3],
                          double upper[3])
{
    if (tw_node_find(entry, "lower")) {
        tw_node_numbers(entry, "lower", 3, lower);
        tw_node_numbers(entry, "upper", 3, upper);
        return;
    }
    tw_mesh_bounds(&body->mesh, lower, upper);
    double height = upper[2] - lower[2], rounding = 1e-12 * height;
    if (tw_node_find(entry, "lowest"))
        upper[2] = lower[2] + tw_node_number(entry, "lowest") * height + rounding;
    else
        lower[2] = upper[2] - tw_node_number(entry, "highest") * height - rounding;
}

static bool is_inside(const double *x, const double lower[3], const double upper[3])
{
    for (int k = 0; k < 3; k++)
        if (!(x[k] >= lower[k] && x[k] <= upper[k])) return false;
    return true;
}

/* Neighbouring indices inside the box go together. */
static tw_status select_box(const tw_body *body, const tw_node *entry, const char *path,
                            tw_range_visit *visit, void *context, tw_error *error)
{
    double lower[3], upper[3];
    selection_box(body, entry, lower, upper);
    int64_t begin = -1, found = 0;
    tw_status status = TW_OK;
    for (int64_t i = 0; i <= body->count && status == TW_OK; i++) {
        bool inside = i < body->count && is_inside(body->mesh.vertices + 3 * i, lower, upper);
        if (inside && begin < 0) begin = i;
        if (inside) found++;
        if (inside || begin < 0) continue;
        status = visit(context, body->first + begin, body->first + i - 1, error);
        begin = -1;
    }
    if (status == TW_OK && found == 0)
        return tw_fail_at(error, entry->mark, "%s means no particle at all, none is there", path);
    return status;
}

/* One way of saying it, and one only. */
static tw_status check_ways(const tw_node *entry, const char *path, tw_error *error)
{
    static const char *const ways[] = {"from", "lowest", "highest", "lower"};
    const tw_node *way = NULL;
    for (int i = 0; i < 4; i++) {
        const tw_node *node = tw_node_find(entry, ways[i]);
        if (node && way)
            return tw_fail_at(error, node->key_mark, "%s has both %s and %s, keep one of them",
                              path, way->key, node->key);
        if (node) way = node;
    }
    const tw_node *to = tw_node_find(entry, "to"), *lower = tw_node_find(entry, "lower");
    const tw_node *upper = tw_node_find(entry, "upper");
    if (to && !tw_node_find(entry, "from"))
        return tw_fail_at(error, to->key_mark, "%s.to is given without from", path);
    if (!lower != !upper)
        return tw_fail_at(error, lower ? lower->key_mark : upper->key_mark,
                          "%s needs both lower and upper for a box", path);
    if (!way)
        return tw_fail_at(error, entry->mark,
                          "%s does not say which particles: give from, lowest, highest, or lower "
                          "and upper",
                          path);
    return TW_OK;
}

tw_status tw_build_select(const tw_build *build, const tw_node *entry, const char *path,
                          tw_range_visit *visit, void *context, tw_error *error)
{
    tw_status status = check_ways(entry, path, error);
    if (status != TW_OK) return status;
    const tw_body *body = tw_build_find_body(build, entry, path, error);
    if (!body) return TW_BAD_INPUT;
    return tw_node_find(entry, "from") ? select_range(body, entry, path, visit, context, error)
                                       : select_box(body, entry, path, visit, context, error);
}
