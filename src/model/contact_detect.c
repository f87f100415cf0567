/* Which pairs between surfaces a step may need. They are looked for before the step: every vertex
 * is expected to go from x to x + h v, and pairs that may come within the contact distance on this
 * way enter the list. The list stays while the vertices stay in the boxes for which it was made, so
 * that bodies at rest need no search. A pair that is in the list and out of reach has no effect. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/interrupt.h"
#include "base/log_line.h"
#include "base/parallel_for.h"
#include "contact/approach.h"
#include "linalg/vector.h"
#include "model/contact_force.h"

/* A list is made for vertices that leave their expected way by this share of the contact distance.
 * It serves a later step if that step needs no more than the second share: what lies between is the
 * motion for which no new list is needed. */
static const double WIDE_SLACK = 0.5;
static const double NARROW_SLACK = 0.1;

static int64_t vertex_total(const tw_contact *c)
{
    return c->particles->count + c->carried_count;
}

/* ---- boxes ---- */

typedef struct boxes_loop {
    tw_contact *c;
    tw_contact_cells *cells;
    double slack;
} boxes_loop;

static void sweep_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const boxes_loop *l = context;
    for (int64_t i = begin; i < end; i++) {
        int64_t vertex = l->c->points.list[i].vertex[0];
        tw_box *box = &l->c->swept[vertex];
        *box = tw_box_empty();
        tw_box_add(box, l->c->from + 3 * vertex, l->slack);
        tw_box_add(box, l->c->to + 3 * vertex, l->slack);
    }
}

/* The box of a cell holds those of its vertices, enlarged by its radius and half the contact
 * distance. */
static void cells_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const boxes_loop *l = context;
    for (int64_t i = begin; i < end; i++) {
        const tw_contact_cell *cell = &l->cells->list[i];
        tw_box box = l->c->swept[cell->vertex[0]];
        for (int k = 1; k < l->cells->corners; k++)
            tw_box_unite(&box, &l->c->swept[cell->vertex[k]]);

        double margin = cell->radius + 0.5 * l->c->options.distance;
        tw_box wider = tw_box_empty();
        const double lower[3] = {box.lower[0], box.lower[1], box.lower[2]};
        const double upper[3] = {box.upper[0], box.upper[1], box.upper[2]};
        tw_box_add(&wider, lower, margin);
        tw_box_add(&wider, upper, margin);
        l->cells->boxes[i] = wider;
    }
}

static void update_cells(tw_contact *c, tw_contact_cells *cells)
{
    boxes_loop l = {.c = c, .cells = cells};
    tw_parallel_for(cells->count, TW_PARTICLE_BLOCK, cells_block, &l);
    tw_overlap_tree_update(cells->tree, cells->boxes);
}

/* ---- candidates ---- */

static bool have_common_vertex(const tw_contact_cell *a, const tw_contact_cell *b)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (a->vertex[i] == b->vertex[j]) return true;
    return false;
}

/* The four vertices of a pair of cells, from positions of all vertices. */
static void take_cells(const double *positions, const tw_contact_cell *a, int a_corners,
                       const tw_contact_cell *b, int b_corners, double x[4][3])
{
    for (int i = 0; i < 4; i++) {
        int64_t vertex = i < a_corners ? a->vertex[i] : b->vertex[i - a_corners];
        memcpy(x[i], positions + 3 * vertex, sizeof x[i]);
    }
    (void)b_corners;
}

/* The distance of two cells at the start. */
static double start_distance(const tw_contact *c, tw_pair_kind kind, const tw_contact_cell *a,
                             int a_corners, const tw_contact_cell *b)
{
    double x[4][3];
    tw_gap gap;

    /* The start of the run, not of the step. */
    for (int i = 0; i < 4; i++) {
        int32_t vertex = i < a_corners ? a->vertex[i] : b->vertex[i - a_corners];
        tw_contact_take_vertex(c, vertex, c->particles->position, x[i]);
    }
    tw_gap_find(kind, x, &gap);
    return gap.distance;
}

/* Whether two cells may touch at all. Cells of one piece that are neighbours, so near each other at
 * the start that they would repel each other there, may not. */
static bool may_touch(const tw_contact *c, tw_pair_kind kind, const tw_contact_cell *a,
                      int a_corners, const tw_contact_cell *b)
{
    if (a->held && b->held) return false;
    if (a->body != b->body) return true;
    if (!c->options.self || have_common_vertex(a, b)) return false;
    if (a->piece != b->piece) return true;
    return start_distance(c, kind, a, a_corners, b) - a->radius - b->radius > c->options.distance;
}

/* Keeps those pairs of boxes whose cells may touch, and may come within the contact distance:
 *     |distance(from)| - reach - 2 slack < radii + d. */
static tw_status keep_near(const tw_contact *c, tw_pair_kind kind, const tw_contact_cells *first,
                           const tw_contact_cells *second, double slack, tw_box_pairs *pairs)
{
    int64_t kept = 0;
    for (int64_t p = 0; p < pairs->count; p++) {
        const tw_contact_cell *a = &first->list[pairs->list[p].first];
        const tw_contact_cell *b = &second->list[pairs->list[p].second];
        TW_TRY(tw_question_ask(p));
        if (a->held && b->held) continue;

        double x[4][3];
        double y[4][3];
        tw_gap gap;
        take_cells(c->from, a, first->corners, b, second->corners, x);
        take_cells(c->to, a, first->corners, b, second->corners, y);
        tw_gap_find(kind, x, &gap);

        double wanted = a->radius + b->radius + c->options.distance + 2.0 * slack;
        if (gap.distance - tw_pair_reach(kind, x, y) > wanted) continue;
        if (may_touch(c, kind, a, first->corners, b)) pairs->list[kept++] = pairs->list[p];
    }
    pairs->count = kept;
    return TW_OK;
}

tw_status tw_contact_search(tw_contact *c, double slack)
{
    boxes_loop l = {.c = c, .slack = slack};
    c->searches++;

    tw_parallel_for(c->points.count, TW_PARTICLE_BLOCK, sweep_block, &l);
    update_cells(c, &c->points);
    update_cells(c, &c->edges);
    update_cells(c, &c->triangles);

    TW_TRY(tw_overlap_tree_meet(c->points.tree, c->triangles.tree, &c->seen.points));
    TW_TRY(keep_near(c, TW_PAIR_POINT_TRIANGLE, &c->points, &c->triangles, slack, &c->seen.points));

    TW_TRY(tw_overlap_tree_meet(c->edges.tree, c->edges.tree, &c->seen.edges));
    return keep_near(c, TW_PAIR_EDGE_EDGE, &c->edges, &c->edges, slack, &c->seen.edges);
}

/* ---- the list ---- */

static void exchange(tw_box_pairs *a, tw_box_pairs *b)
{
    tw_box_pairs c = *a;
    *a = *b;
    *b = c;
}

/* Replaces the pairs after the lasting ones by the candidates that were seen. */
static tw_status replace_list(tw_contact *c)
{
    c->pair_count = c->lasting_count;
    exchange(&c->near.points, &c->seen.points);
    exchange(&c->near.edges, &c->seen.edges);

    for (int64_t p = 0; p < c->near.points.count; p++) {
        tw_box_pair pair = c->near.points.list[p];
        TW_TRY(tw_contact_add_cell_pair(c, TW_PAIR_POINT_TRIANGLE, &c->points.list[pair.first], 1,
                                        &c->triangles.list[pair.second], 3));
    }

    for (int64_t p = 0; p < c->near.edges.count; p++) {
        tw_box_pair pair = c->near.edges.list[p];
        TW_TRY(tw_contact_add_cell_pair(c, TW_PAIR_EDGE_EDGE, &c->edges.list[pair.first], 2,
                                        &c->edges.list[pair.second], 2));
    }
    return TW_OK;
}

/* Looks for the pairs on the way from c->from to c->to and lists them. The list is a function of this
 * way, which is kept: a checkpoint holds it. */
static tw_status make_list(tw_contact *c)
{
    size_t bytes = 3 * (size_t)vertex_total(c) * sizeof(double);
    memcpy(c->list_way, c->from, bytes);
    memcpy(c->list_way + 3 * vertex_total(c), c->to, bytes);
    TW_TRY(tw_contact_search(c, WIDE_SLACK * c->options.distance));
    TW_TRY(replace_list(c));
    tw_contact_forget_felt(c, true);
    return TW_OK;
}

/* Where every vertex is, and where a step of h is expected to lead it: with its velocity, or with
 * that of an attempt from here that missed a pair. */
static void expect_way(tw_contact *c, double h, const tw_force_view *at)
{
    bool known = c->way_begin == at->t;
    for (int64_t i = 0; i < c->points.count; i++) {
        int32_t vertex = c->points.list[i].vertex[0];
        double v[3];
        double *x = c->from + 3 * (int64_t)vertex;
        tw_contact_take_vertex(c, vertex, at->x, x);
        tw_contact_take_vertex(c, vertex, at->v, v);

        if (known) memcpy(v, c->way + 3 * (int64_t)vertex, sizeof v);
        for (int k = 0; k < 3; k++) c->to[3 * (int64_t)vertex + k] = x[k] + h * v[k];
    }
}

/* Whether the boxes of the last search hold the way from c->from to c->to. */
static bool is_covered(const tw_contact *c)
{
    double slack = NARROW_SLACK * c->options.distance;
    for (int64_t i = 0; i < c->points.count; i++) {
        int64_t vertex = c->points.list[i].vertex[0];
        const tw_box *box = &c->swept[vertex];
        if (!tw_box_holds(box, c->from + 3 * vertex, slack)) return false;
        if (!tw_box_holds(box, c->to + 3 * vertex, slack)) return false;
    }
    return true;
}

static tw_status update_list(tw_contact *c, double h, const tw_force_view *at, bool *changed)
{
    if (!c->has_surfaces) return TW_OK;

    /* A step of no length goes before the first one. After a restart the list is already there. */
    bool is_ready = c->is_loaded && h == 0.0;
    c->is_loaded = false;
    if (is_ready) return TW_OK;

    /* The list from before may still do. */
    expect_way(c, h, at);
    if (is_covered(c)) return TW_OK;

    *changed = true;
    return make_list(c);
}

tw_status tw_contact_begin_step(void *data, double h, const tw_force_view *at, bool *changed)
{
    tw_contact *c = data;
    TW_TRY(update_list(c, h, at, changed));

    /* The check after the step asks which pairs the scheme felt in its last evaluation. Each attempt begins
     * without any. */
    tw_contact_forget_felt(c, false);
    return TW_OK;
}

/* ---- memory ---- */

/* The numbers of one way: from and to of all vertices. */
static int64_t way_size(const tw_contact *c)
{
    return 6 * vertex_total(c);
}

int64_t tw_contact_memory_size(const tw_contact *c)
{
    return c->has_surfaces ? 2 * way_size(c) : 0;
}

void tw_contact_mark_pattern(tw_contact *c)
{
    if (c->list_way) tw_vector_copy(way_size(c), c->list_way, c->pattern_way);
}

void tw_contact_save(const tw_contact *c, double *values)
{
    if (!c->has_surfaces) return;
    tw_vector_copy(way_size(c), c->pattern_way, values);
    tw_vector_copy(way_size(c), c->list_way, values + way_size(c));
}

tw_status tw_contact_load(tw_contact *c, const double *values, int which)
{
    const double *way = values + which * way_size(c);
    if (!tw_vector_is_finite(way_size(c), way)) return TW_BAD_INPUT;
    tw_vector_copy(way_size(c) / 2, way, c->from);
    tw_vector_copy(way_size(c) / 2, way + way_size(c) / 2, c->to);
    c->way_begin = NAN;
    c->is_loaded = true;
    return make_list(c);
}

tw_status tw_contact_begin(tw_contact *c)
{
    c->way_begin = NAN;
    c->from = tw_allocate_zeroed(3 * (size_t)vertex_total(c), sizeof(double));
    c->to = tw_allocate_zeroed(3 * (size_t)vertex_total(c), sizeof(double));
    c->way = tw_allocate_zeroed(3 * (size_t)vertex_total(c), sizeof(double));
    c->swept = TW_NEW_ARRAY(vertex_total(c), tw_box);
    c->list_way = tw_allocate_zeroed(6 * (size_t)vertex_total(c), sizeof(double));
    c->pattern_way = tw_allocate_zeroed(6 * (size_t)vertex_total(c), sizeof(double));
    if (!c->from || !c->to || !c->way || !c->swept || !c->list_way || !c->pattern_way)
        return TW_OUT_OF_MEMORY;
    if (!c->has_surfaces) return TW_OK;

    /* A list for the start, where nothing has moved yet. */
    tw_force_view start = {0.0, c->particles->position, c->particles->velocity};
    expect_way(c, 0.0, &start);
    TW_TRY(make_list(c));
    tw_contact_mark_pattern(c);
    return TW_OK;
}
