/* Points that are out of reach of a plane. Most points of a body are far from every plane, so that they are passed over
 * in one short loop, without looking at their pairs. */
#include "base/allocate.h"
#include "base/parallel_for.h"
#include "base/vector3.h"
#include "model/contact_force.h"

/* ---- listing ---- */

/* Whether a pair is one of a particle and a plane. Vertices that several particles carry are not passed over. */
static bool is_plain(const tw_contact *c, const tw_contact_pair *pair)
{
    return pair->kind == TW_PAIR_POINT_PLANE && pair->vertex[0] < c->particles->count;
}

/* Whether two pairs have the same plane and the same reach. */
static bool are_alike(const tw_contact_pair *a, const tw_contact_pair *b)
{
    bool same_plane = true;
    for (int i = 1; i < TW_PAIR_VERTICES; i++)
        same_plane = same_plane && a->vertex[i] == b->vertex[i];
    return same_plane && a->radius == b->radius && a->law.onset == b->law.onset;
}

/* Ends the last row of pairs at p, or begins a new one there. */
static void extend_rows(tw_contact *c, int64_t p)
{
    const tw_contact_pair *pair = &c->pairs[p];
    tw_plane_row *last = c->plane_row_count > 0 ? &c->plane_rows[c->plane_row_count - 1] : NULL;
    bool goes_on = last && last->end == p && are_alike(&c->pairs[p - 1], pair);
    if (goes_on) {
        last->end = p + 1;
        return;
    }

    tw_plane_row *row = &c->plane_rows[c->plane_row_count++];
    *row = (tw_plane_row){.begin = p, .end = p + 1, .reach = pair->law.onset + pair->radius};
    for (int i = 0; i < 3; i++) row->plane[i] = pair->vertex[i + 1];
}

tw_status tw_contact_list_planes(tw_contact *c)
{
    /* A body has at most one row with a plane, and so have its carried vertices. */
    int64_t most = (int64_t)c->source.displays->count * c->source.obstacles->count;
    c->plane_rows = TW_NEW_ARRAY(most + 1, tw_plane_row);
    c->plane_points = TW_NEW_ARRAY(c->pair_count + 1, int32_t);
    if (!c->plane_rows || !c->plane_points) return TW_OUT_OF_MEMORY;

    for (int64_t p = 0; p < c->pair_count; p++) {
        c->plane_points[p] = c->pairs[p].vertex[0];
        if (is_plain(c, &c->pairs[p])) extend_rows(c, p);
    }
    return TW_OK;
}

/* ---- passing over ---- */

/* The plane through b, c, d: a point a is out of reach if m . (a - b) > reach |m|, m = (c - b) x (d - b). */
typedef struct plane {
    const double *origin; /* b */
    double normal[3];     /* m, of any length */
    double square_reach;  /* (reach |m|)^2, with a margin for rounding */
} plane;

static plane find_plane(const tw_plane_row *row, const double *x)
{
    plane out = {.origin = x + 3 * (int64_t)row->plane[0]};
    double to[2][3];
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++)
            to[i][k] = x[3 * (int64_t)row->plane[i + 1] + k] - out.origin[k];
    tw_cross3(to[0], to[1], out.normal);

    double reach = row->reach;
    out.square_reach = 1.01 * reach * reach * tw_dot3(out.normal, out.normal);
    return out;
}

static bool is_far(const plane *at, const double *point)
{
    double height = 0.0;
    for (int k = 0; k < 3; k++) height += at->normal[k] * (point[k] - at->origin[k]);
    return height > 0.0 && height * height > at->square_reach;
}

/* The first pair of a row from p on whose point is in reach of the plane. */
static int64_t pass_row(const tw_contact *c, const tw_plane_row *row, int64_t p, int64_t end,
                        const double *x)
{
    plane at = find_plane(row, x);
    while (p < end && is_far(&at, x + 3 * (int64_t)c->plane_points[p])) p++;
    return p;
}

int64_t tw_contact_next(const tw_contact *c, int64_t p, int64_t end, const double *x)
{
    for (int i = 0; i < c->plane_row_count && p < end; i++) {
        const tw_plane_row *row = &c->plane_rows[i];
        if (p >= row->end) continue;
        if (p < row->begin) return p;

        int64_t row_end = row->end < end ? row->end : end;
        p = pass_row(c, row, p, row_end, x);
        if (p < row_end) return p;
    }
    return p;
}

/* ---- over a step ---- */

/* What the loop over the pairs has. */
typedef struct loop {
    tw_contact *c;
    const tw_force_view *from;
    const double *x; /* after the step */
    double half;     /* of the step */
} loop;

/* Where a particle is in the middle of the step, if nothing pushes it. */
static void find_flight(const loop *l, int64_t particle, double out[3])
{
    const double *x = l->from->x + 3 * particle;
    const double *v = l->from->v + 3 * particle;
    for (int k = 0; k < 3; k++) out[k] = x[k] + l->half * v[k];
}

/* Lists those pairs from p to end - 1 of a row whose points come into reach. Returns the new number of pairs in the
 * list. */
static int64_t list_row(const loop *l, const tw_plane_row *row, int64_t p, int64_t end,
                        int64_t *list, int64_t count)
{
    /* The plane in the middle of the step. */
    double corner[3][3];
    for (int i = 0; i < 3; i++) find_flight(l, row->plane[i], corner[i]);
    const tw_plane_row in_corners = {.plane = {0, 1, 2}, .reach = row->reach};
    plane middle = find_plane(&in_corners, corner[0]);
    plane before = find_plane(row, l->from->x);
    plane after = find_plane(row, l->x);

    for (; p < end; p++) {
        int64_t particle = l->c->plane_points[p];
        double flight[3];
        find_flight(l, particle, flight);
        bool far = is_far(&before, l->from->x + 3 * particle) &&
                   is_far(&after, l->x + 3 * particle) && is_far(&middle, flight);
        if (!far) list[count++] = p;
    }
    return count;
}

static void list_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    const loop *l = context;
    int64_t *list = l->c->near_pairs + begin;
    int64_t count = 0;
    int64_t p = begin;

    for (int i = 0; i < l->c->plane_row_count && p < end; i++) {
        const tw_plane_row *row = &l->c->plane_rows[i];
        if (p >= row->end) continue;

        /* Pairs before the row are near, whatever they are. */
        for (; p < row->begin && p < end; p++) list[count++] = p;
        int64_t row_end = row->end < end ? row->end : end;
        if (p >= row_end) continue;
        count = list_row(l, row, p, row_end, list, count);
        p = row_end;
    }
    for (; p < end; p++) list[count++] = p;
    l->c->near_count[block] = count;
}

void tw_contact_list_near(tw_contact *c, double h, const tw_force_view *from, const double *x)
{
    loop l = {.c = c, .from = from, .x = x, .half = 0.5 * h};
    tw_parallel_for(c->pair_count, TW_PARTICLE_BLOCK, list_block, &l);
}
