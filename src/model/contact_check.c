/* Whether a step missed a contact, crossed a surface or went too deep: then it is to be divided. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/parallel_for.h"
#include "base/vector3.h"
#include "contact/approach.h"
#include "model/contact_force.h"

/* How near the closest points may come within a step, as a share of the distance at its start,
 * where they are near the limit or beyond it. Surfaces without thickness have nothing but this
 * distance; those with thickness go deeper by a part of it. */
static const double DEEPENING = 0.5;
static const double THICK_DEEPENING = 0.95;

/* Detection errs on the safe side by this share of a limit. */
static const double LIMIT_SLACK = 0.02;

typedef struct loop {
    const tw_contact *c;
    const tw_force_view *from;
    const double *x;
    double h;
    tw_contact_check *checks; /* one per block of pairs */
} loop;

/* Whether a pair comes too near on the way from x to y. */
static bool comes_too_near(const tw_contact_pair *pair, const double x[4][3], const double y[4][3])
{
    /* A plane is not crossed: what is behind it is pushed out. */
    if (pair->kind == TW_PAIR_POINT_PLANE) return false;

    tw_gap gap;
    if (!tw_gap_find(pair->kind, x, &gap)) return false;
    double deepening = pair->radius > 0.0 ? THICK_DEEPENING : DEEPENING;
    double limit = fmin(pair->limit, deepening * gap.distance);
    double slack = LIMIT_SLACK * limit;
    if (gap.distance - tw_pair_reach(pair->kind, x, y) > limit + slack) return false;
    return tw_pair_comes_near(pair->kind, x, y, limit, slack);
}

/* ---- energy ---- */

/* A step resolves its contacts if the trapezoidal rule finds their work,
 *     sum |psi_1 - psi_0 - (psi'_0 + psi'_1) (g_1 - g_0) / 2|,
 * within the share `work_error` of the energy that they turn over, m v_n^2 / 2 + psi, with v_n the larger of the
 * speed at the start and that of the way, (g_1 - g_0) / h: a body may start at rest. A scheme cannot know the
 * force better than from its ends. A step that leads from outside deep into the contact layer makes
 * an energy that was not there. */
static double normal_energy(const loop *l, const tw_contact_pair *pair, const tw_gap *frame,
                            double way)
{
    double velocity[4][3];
    double speed = 0.0;
    double inverse_mass = 0.0;
    tw_contact_take(l->c, pair, l->from->v, velocity);

    /* The closest points approach with sum_i w_i v_i . n, and 1/m = sum_i w_i^2 / m_i. */
    for (int i = 0; i < TW_PAIR_VERTICES; i++) {
        double w = frame->weight[i];
        speed += w * tw_dot3(velocity[i], frame->normal);
        inverse_mass += w * w * tw_contact_inverse_mass(l->c, pair->vertex[i]);
    }
    if (!(inverse_mass > 0.0)) return 0.0;
    speed = fmax(fabs(speed), fabs(way) / l->h);
    return 0.5 * speed * speed / inverse_mass;
}

/* Adds the error of one pair, and the energy that it turns over. */
static void add_error(tw_contact_check *check, int64_t p, double error, double turnover)
{
    check->error += error;
    check->turnover += turnover;
    if (!(error > check->largest_error)) return;
    check->largest_error = error;
    check->worst = p;
}

/* A contact that the scheme felt in its last evaluation and that neither end of the step shows is missed
 * as a whole: restitution and friction would not know of it, and a body would glide above a
 * surface. */
static void weigh_felt(const loop *l, int64_t p, tw_contact_check *check)
{
    const tw_contact_pair *pair = &l->c->pairs[p];
    double felt = l->c->pair_energy[p];
    double at[2][4][3];
    tw_gap ends[2];
    tw_contact_take(l->c, pair, l->from->x, at[0]);
    tw_contact_take(l->c, pair, l->x, at[1]);
    for (int i = 0; i < 2; i++) {
        bool found = tw_gap_find(pair->kind, at[i], &ends[i]);
        if (!found || ends[i].distance - pair->radius < pair->law.onset) return;
    }

    double way = ends[1].distance - ends[0].distance;
    add_error(check, p, felt, felt + normal_energy(l, pair, &ends[0], way));
}

/* Adds what a pair contributes that touches at one of the ends. */
static void weigh_work(const loop *l, int64_t p, const double x[4][3], const double y[4][3],
                       tw_contact_check *check)
{
    const tw_contact_pair *pair = &l->c->pairs[p];
    tw_gap before;
    tw_gap after;
    if (!tw_gap_find(pair->kind, x, &before) || !tw_gap_find(pair->kind, y, &after)) return;
    double gap[2] = {before.distance - pair->radius, after.distance - pair->radius};
    tw_repulsion psi[2] = {tw_contact_repulsion(&pair->law, gap[0]),
                           tw_contact_repulsion(&pair->law, gap[1])};
    if (psi[0].energy == 0.0 && psi[1].energy == 0.0) return;

    /* What is outside the layer counts as at its border. */
    double change = fmin(gap[1], pair->law.onset) - fmin(gap[0], pair->law.onset);
    double work = 0.5 * (psi[0].slope + psi[1].slope) * change;
    double error = fabs(psi[1].energy - psi[0].energy - work);
    double brought = normal_energy(l, pair, &before, gap[1] - gap[0]);
    add_error(check, p, error, fmax(psi[0].energy, psi[1].energy) + brought);
}

static void check_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    loop *l = context;
    tw_contact_check *check = &l->checks[block];
    *check = (tw_contact_check){.near = -1, .worst = -1};
    for (int64_t p = begin; p < end && l->c->felt[block]; p++)
        if (l->c->pair_energy[p] > 0.0) weigh_felt(l, p, check);

    for (int64_t i = 0; i < l->c->near_count[block]; i++) {
        int64_t p = l->c->near_pairs[begin + i];
        double x[4][3];
        double y[4][3];
        const tw_contact_pair *pair = &l->c->pairs[p];
        tw_contact_take(l->c, pair, l->from->x, x);
        tw_contact_take(l->c, pair, l->x, y);

        if (check->near < 0 && comes_too_near(pair, x, y)) check->near = p;
        weigh_work(l, p, x, y, check);
    }
}

/* Notes the pair that came too near, or the one whose energy changed most. */
static void note_worst(tw_contact *c, const tw_contact_check *sum, const double *x)
{
    double y[4][3];
    int64_t worst = sum->near >= 0 ? sum->near : sum->worst;
    tw_contact_take(c, &c->pairs[worst], x, y);
    if (sum->near >= 0)
        tw_contact_note_pair(c, &c->pairs[worst], y);
    else
        tw_contact_note_work(c, &c->pairs[worst], y);
}

/* Checks the pairs of the list, of which tw_contact_list_near has found those that matter. */
static tw_status check_listed(tw_contact *c, double h, const tw_force_view *from, const double *x)
{
    loop l = {.c = c, .from = from, .x = x, .h = h, .checks = c->checks};
    tw_parallel_for(c->pair_count, TW_PARTICLE_BLOCK, check_block, &l);

    /* The blocks are added in their order, so that nothing depends on the threads. */
    tw_contact_check sum = {.near = -1, .worst = -1};
    for (int64_t b = 0; b < tw_parallel_blocks(c->pair_count, TW_PARTICLE_BLOCK); b++) {
        const tw_contact_check *check = &c->checks[b];
        sum.error += check->error;
        sum.turnover += check->turnover;
        if (sum.near < 0) sum.near = check->near;
        if (!(check->largest_error > sum.largest_error)) continue;
        sum.largest_error = check->largest_error;
        sum.worst = check->worst;
    }
    if (sum.near < 0 && sum.error <= c->options.work_error * sum.turnover) return TW_OK;
    if (sum.near < 0 && sum.worst < 0) return TW_NOT_FINITE;
    note_worst(c, &sum, x);
    return TW_RECOVERABLE;
}

/* ---- missed pairs ---- */

/* Writes where the step led every vertex into c->from and c->to. True if all stayed in the boxes
 * for which the list was made. */
static bool follow_way(tw_contact *c, const tw_force_view *from, const double *x)
{
    bool inside = true;
    for (int64_t i = 0; i < c->points.count; i++) {
        int32_t vertex = c->points.list[i].vertex[0];
        double *a = c->from + 3 * (int64_t)vertex;
        double *b = c->to + 3 * (int64_t)vertex;
        tw_contact_take_vertex(c, vertex, from->x, a);
        tw_contact_take_vertex(c, vertex, x, b);

        inside = inside && tw_box_holds(&c->swept[vertex], b, 0.0);
    }
    return inside;
}

static int compare_pairs(const void *a, const void *b)
{
    const tw_box_pair *x = a;
    const tw_box_pair *y = b;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    return (x->second > y->second) - (x->second < y->second);
}

static bool is_listed(const tw_box_pairs *list, tw_box_pair pair)
{
    if (list->count == 0) return false;
    return bsearch(&pair, list->list, (size_t)list->count, sizeof pair, compare_pairs) != NULL;
}

/* Whether one of these pairs of cells is not in the list, and is in reach at the end of the step or
 * came too near on the way. */
static bool has_missed(tw_contact *c, tw_pair_kind kind, const tw_contact_cells *first,
                       const tw_contact_cells *second, const tw_box_pairs *seen,
                       const tw_box_pairs *listed)
{
    for (int64_t p = 0; p < seen->count; p++) {
        if (is_listed(listed, seen->list[p])) continue;
        const tw_contact_cell *a = &first->list[seen->list[p].first];
        const tw_contact_cell *b = &second->list[seen->list[p].second];
        double x[4][3];
        double y[4][3];

        /* The four vertices before and after the step. */
        for (int i = 0; i < 4; i++) {
            int64_t vertex = i < first->corners ? a->vertex[i] : b->vertex[i - first->corners];
            memcpy(x[i], c->from + 3 * vertex, sizeof x[i]);
            memcpy(y[i], c->to + 3 * vertex, sizeof y[i]);
        }

        tw_gap end;
        double radius = a->radius + b->radius;
        tw_contact_pair pair = {
            .kind = kind, .radius = radius, .limit = tw_contact_limit(&c->options, radius)};
        bool near = !tw_gap_find(kind, y, &end) || end.distance - radius < c->options.distance;
        if (!near && !comes_too_near(&pair, x, y)) continue;
        for (int i = 0; i < 4; i++)
            pair.vertex[i] = i < first->corners ? a->vertex[i] : b->vertex[i - first->corners];
        tw_contact_note_pair(c, &pair, y);
        return true;
    }
    return false;
}

/* Notes with which velocities the vertices went, for the search before the next attempt. */
static void remember_way(tw_contact *c, double h, double t)
{
    c->way_begin = t;
    for (int64_t i = 0; i < c->points.count; i++) {
        int64_t vertex = c->points.list[i].vertex[0];
        for (int64_t k = 3 * vertex; k < 3 * vertex + 3; k++)
            c->way[k] = (c->to[k] - c->from[k]) / h;
    }
}

static tw_status look_for_missed(tw_contact *c, double h, double t)
{
    TW_TRY(tw_contact_search(c, 0.0));
    bool missed =
        has_missed(c, TW_PAIR_POINT_TRIANGLE, &c->points, &c->triangles, &c->seen.points,
                   &c->near.points) ||
        has_missed(c, TW_PAIR_EDGE_EDGE, &c->edges, &c->edges, &c->seen.edges, &c->near.edges);
    if (!missed) return TW_OK;

    remember_way(c, h, t);
    return TW_RECOVERABLE;
}

tw_status tw_contact_check_step(tw_contact *c, double h, const tw_force_view *from, const double *x)
{
    TW_TRY(check_listed(c, h, from, x));

    /* The pairs that are not in the list. The search takes new boxes, so that the next step makes a new
     * list. */
    if (!c->has_surfaces || follow_way(c, from, x)) return TW_OK;
    return look_for_missed(c, h, from->t);
}
