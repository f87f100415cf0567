/* What is wrong with the contacts of a start: surfaces that cross or overlap, and bodies inside closed
 * surfaces. One line of the log tells of each sort, with the worst pair and its place. */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/log_line.h"
#include "base/vector3.h"
#include "model/contact_force.h"
#include "model/obstacle_shape.h"

/* ---- overlaps ---- */

/* Roots of fibres may stand in what they grow on: a pair counts if no side is held in part. */
static bool is_held_in_part(const tw_contact *c, const tw_contact_pair *pair)
{
    int first = tw_pair_first_count(pair->kind);
    int used = tw_pair_vertex_count(pair->kind);
    for (int i = 0; i < used; i++) {
        int other = i < first ? 0 : first;
        if (tw_contact_is_held(c, pair->vertex[i]) != tw_contact_is_held(c, pair->vertex[other]))
            return true;
    }
    return false;
}

static void report_overlaps(const tw_contact *c)
{
    int64_t count = 0;
    double deepest = 0.0;
    const tw_contact_pair *worst = NULL;
    double place[3] = {0.0, 0.0, 0.0};
    for (int64_t p = 0; p < c->pair_count; p++) {
        const tw_contact_pair *pair = &c->pairs[p];
        double x[4][3];
        tw_gap gap;
        tw_contact_take(c, pair, c->particles->position, x);
        tw_gap_find(pair->kind, x, &gap);

        /* 5 % of the thickness are allowed. */
        double depth = 0.95 * pair->radius - gap.distance;
        if (!(depth > 0.0) || is_held_in_part(c, pair)) continue;
        count++;

        if (!(depth > deepest)) continue;
        deepest = depth;
        worst = pair;
        tw_contact_find_place(pair, x, place);
    }
    if (!worst) return;

    tw_log_line(TW_LOG_WARNING,
                "%.60s and %.60s overlap by %.3g m at (%.4g, %.4g, %.4g) at the start (%lld pairs "
                "in all): they are pushed apart, better begin without",
                tw_contact_name(c, worst->vertex[0]),
                tw_contact_name(c, worst->vertex[tw_pair_first_count(worst->kind)]), deepest,
                place[0], place[1], place[2], (long long)count);
}

/* ---- crossings ---- */

/* Six times the signed volume of a tetrahedron. */
static double volume(const double a[3], const double b[3], const double c[3], const double d[3])
{
    double e[3][3];
    double normal[3];
    for (int k = 0; k < 3; k++) {
        e[0][k] = b[k] - a[k];
        e[1][k] = c[k] - a[k];
        e[2][k] = d[k] - a[k];
    }
    tw_cross3(e[0], e[1], normal);
    return tw_dot3(normal, e[2]);
}

/* Whether the edge p q passes through the triangle t. */
static bool pierces(const double p[3], const double q[3], const double t[3][3])
{
    if (volume(t[0], t[1], t[2], p) * volume(t[0], t[1], t[2], q) >= 0.0) return false;
    double a = volume(p, q, t[0], t[1]);
    double b = volume(p, q, t[1], t[2]);
    double c = volume(p, q, t[2], t[0]);
    return (a > 0.0 && b > 0.0 && c > 0.0) || (a < 0.0 && b < 0.0 && c < 0.0);
}

/* Whether an edge of one surface passes through a triangle of another one. */
static bool cells_cross(const tw_contact *c, const tw_contact_cell *edge,
                        const tw_contact_cell *triangle, double place[3])
{
    if (edge->body == triangle->body || (edge->held && triangle->held)) return false;
    bool rooted = tw_contact_is_held(c, edge->vertex[0]) != tw_contact_is_held(c, edge->vertex[1]);
    if (rooted) return false;

    double ends[2][3];
    double corners[3][3];
    for (int i = 0; i < 2; i++)
        tw_contact_take_vertex(c, edge->vertex[i], c->particles->position, ends[i]);
    for (int i = 0; i < 3; i++)
        tw_contact_take_vertex(c, triangle->vertex[i], c->particles->position, corners[i]);
    for (int k = 0; k < 3; k++) place[k] = 0.5 * (ends[0][k] + ends[1][k]);
    return pierces(ends[0], ends[1], corners);
}

static tw_status report_crossings(tw_contact *c)
{
    tw_box_pairs *met = &c->seen.points;
    TW_TRY(tw_overlap_tree_meet(c->edges.tree, c->triangles.tree, met));

    int64_t count = 0;
    double place[3];
    const tw_contact_cell *first[2] = {NULL, NULL};
    double where[3] = {0.0, 0.0, 0.0};
    for (int64_t i = 0; i < met->count; i++) {
        const tw_contact_cell *edge = &c->edges.list[met->list[i].first];
        const tw_contact_cell *triangle = &c->triangles.list[met->list[i].second];

        if (!cells_cross(c, edge, triangle, place)) continue;
        if (count++ > 0) continue;
        first[0] = edge;
        first[1] = triangle;
        memcpy(where, place, sizeof where);
    }
    if (count > 0)
        tw_log_line(TW_LOG_WARNING,
                    "%.60s and %.60s cross each other at the start near (%.4g, %.4g, %.4g), %lld "
                    "edges in all: they stay entangled, move one of them",
                    tw_contact_name(c, first[0]->vertex[0]),
                    tw_contact_name(c, first[1]->vertex[0]), where[0], where[1], where[2],
                    (long long)count);
    return TW_OK;
}

/* ---- inside ---- */

/* Whether a closed surface encloses a point: a ray from there meets it an odd number of times. */
static bool encloses(const tw_contact *c, const tw_display *surface, const double point[3])
{
    /* A direction that no mesh has along an edge, beyond everything. */
    static const double direction[3] = {0.5403, 0.3217, 0.7776};
    double far[3];
    double size = 0.0;
    for (int64_t i = 0; i < 3 * c->particles->count; i++)
        size = fmax(size, fabs(c->particles->position[i]));
    for (int k = 0; k < 3; k++) far[k] = point[k] + 10.0 * size * direction[k];

    bool inside = false;
    for (int64_t t = 0; t < surface->triangle_count; t++) {
        double corners[3][3];
        for (int i = 0; i < 3; i++)
            memcpy(corners[i], c->particles->position + 3 * surface->triangles[3 * t + i],
                   sizeof corners[i]);
        inside = inside != pierces(point, far, corners);
    }
    return inside;
}

/* Looks at the first vertex of each piece of the other bodies, but not at fibres: their roots stand
 * in what they grow on. */
static void report_inside(const tw_contact *c, const tw_placed_obstacle *obstacle)
{
    const tw_display *surface = &c->source.displays->list[obstacle->display];
    for (int64_t i = 0; i < c->points.count; i++) {
        const tw_contact_cell *point = &c->points.list[i];
        bool is_first = point->vertex[0] == point->piece;
        bool is_fibre = point->vertex[0] >= c->particles->count;
        if (point->held || !is_first || is_fibre) continue;

        const double *x = c->particles->position + 3 * (int64_t)point->vertex[0];
        if (!encloses(c, surface, x)) continue;
        tw_log_line(TW_LOG_WARNING,
                    "%.60s starts inside %.60s, at (%.4g, %.4g, %.4g): a closed surface holds what "
                    "is inside it, move it if it is to be outside",
                    tw_contact_name(c, point->vertex[0]), surface->name ? surface->name : "a mesh",
                    x[0], x[1], x[2]);
        return;
    }
}

tw_status tw_contact_check_start(tw_contact *c)
{
    report_overlaps(c);
    if (!c->has_surfaces) return TW_OK;

    const tw_obstacle_list *obstacles = c->source.obstacles;
    for (int o = 0; o < obstacles->count; o++) {
        const tw_placed_obstacle *obstacle = &obstacles->list[o];
        bool is_mesh = obstacle->kind == TW_OBSTACLE_BOX || obstacle->kind == TW_OBSTACLE_MESH;
        if (is_mesh && obstacle->closed) report_inside(c, obstacle);
    }
    return report_crossings(c);
}
