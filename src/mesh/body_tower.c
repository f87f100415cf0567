/* A lattice tower: box trusses along curves, tied to each other where they meet.
 *
 * With z the height as a share of the whole and W half the width of the base, the outer edge follows W exp(-z/0.31),
 * close to what is built in Paris; a leg's inner edge runs straight from 0.6 W at the ground to the axis at z = 0.42.
 */
#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/bodies.h"

static const double FIRST_PLATFORM = 0.19, SECOND_PLATFORM = 0.383, SHAFT_TOP = 0.90,
                    CABIN_TOP = 0.93;

/* A parallelogram across a truss: a corner and two sides. */
typedef struct section {
    double corner[3], u[3], v[3];
} section;

/* A box truss: `sections` cross-sections with 4 `segments` nodes around each, at section_at(index, share of the way).
 */
typedef struct truss {
    const tw_tower *tower;
    void (*section_at)(const struct truss *truss, double share, section *out);
    int64_t sections, segments;
    double turn_x, turn_y;     /* quadrant or side: +-1 each */
    bool swapped;              /* x and y exchanged */
    double z, reach;           /* of a platform: its height and half its length */
    bool tied_start, tied_end; /* to what stands there already */
} truss;

typedef struct draft {
    double *vertices;
    int64_t *edges;
    int64_t vertex_count, edge_count, vertex_capacity, edge_capacity;
} draft;

static double outer(const tw_tower *t, double z)
{
    return 0.5 * t->width * exp(-z / 0.31);
}

static double inner(const tw_tower *t, double z)
{
    return fmax(0.0, 0.3 * t->width * (1.0 - z / 0.42));
}

/* ---- the parts ---- */

/* A square in the plane z, from (x, y) to (x + side, y + side). */
static void level_square(section *s, double x, double y, double side_x, double side_y, double z)
{
    *s = (section){.corner = {x, y, z}, .u = {side_x, 0, 0}, .v = {0, side_y, 0}};
}

static void leg_section(const truss *p, double share, section *s)
{
    double z = share * SECOND_PLATFORM, in = inner(p->tower, z), side = outer(p->tower, z) - in;
    level_square(s, p->turn_x * in, p->turn_y * in, p->turn_x * side, p->turn_y * side,
                 z * p->tower->height);
}

static void shaft_section(const truss *p, double share, section *s)
{
    double z = SECOND_PLATFORM + 0.008 + share * (SHAFT_TOP - SECOND_PLATFORM - 0.008),
           w = outer(p->tower, z);
    level_square(s, -w, -w, 2 * w, 2 * w, z * p->tower->height);
}

static void cabin_section(const truss *p, double share, section *s)
{
    double z = SHAFT_TOP + 0.004 + share * (CABIN_TOP - SHAFT_TOP - 0.004),
           w = 1.6 * outer(p->tower, SHAFT_TOP);
    level_square(s, -w, -w, 2 * w, 2 * w, z * p->tower->height);
}

static void spire_section(const truss *p, double share, section *s)
{
    double z = CABIN_TOP + 0.004 + share * (1 - CABIN_TOP - 0.004),
           w = (0.012 - 0.009 * share) * p->tower->width;
    level_square(s, -w, -w, 2 * w, 2 * w, z * p->tower->height);
}

/* Along one side of the tower, from leg to leg: across it in y (outwards) and z. */
static void lying_section(const truss *p, double along, double out, double thick, double z,
                          double high, section *s)
{
    double side = p->turn_y;
    *s = (section){.corner = {along, side * out, z}, .u = {0, side * thick, 0}, .v = {0, 0, high}};
    if (!p->swapped) return;
    *s = (section){.corner = {side * out, along, z}, .u = {side * thick, 0, 0}, .v = {0, 0, high}};
}

static void platform_section(const truss *p, double share, section *s)
{
    const tw_tower *t = p->tower;
    double thick = 0.12 * outer(t, p->z);
    lying_section(p, (2 * share - 1) * p->reach, outer(t, p->z) - 0.4 * thick, thick,
                  (p->z - 0.006) * t->height, 0.014 * t->height, s);
}

/* Half an ellipse between the legs, under the first platform; it leans inwards as the legs do. */
static void arch_section(const truss *p, double share, section *s)
{
    const tw_tower *t = p->tower;
    double angle = 3.14159265358979323846 * share, z = 0.02 + 0.135 * sin(angle);
    double reach = 0.5 * (inner(t, 0.02) + inner(t, 0.1)) + 0.01 * t->width;
    lying_section(p, -reach * cos(angle), outer(t, z) - 0.03 * t->width, 0.025 * t->width,
                  z * t->height, 0.014 * t->height, s);
}

/* ---- putting them together ---- */

static bool add_vertex(draft *d, const double x[3])
{
    if (d->vertex_count == d->vertex_capacity) return false;
    for (int k = 0; k < 3; k++) d->vertices[3 * d->vertex_count + k] = x[k];
    d->vertex_count++;
    return true;
}

static void add_edge(draft *d, int64_t a, int64_t b)
{
    if (d->edge_count == d->edge_capacity) return;
    d->edges[2 * d->edge_count] = a;
    d->edges[2 * d->edge_count + 1] = b;
    d->edge_count++;
}

/* Node j of 4 n around a section: along u, then v, then back. */
static void section_node(const section *s, int64_t j, int64_t n, double x[3])
{
    double at = (double)(j % n) / (double)n, a = 0, b = 0;
    int64_t side = j / n;
    if (side == 0) a = at;
    if (side == 1) a = 1, b = at;
    if (side == 2) a = 1 - at, b = 1;
    if (side == 3) b = 1 - at;
    for (int k = 0; k < 3; k++) x[k] = s->corner[k] + a * s->u[k] + b * s->v[k];
}

/* Around the section, across it, and to the section before. */
static void brace_section(draft *d, int64_t first, int64_t n, bool has_before)
{
    int64_t around = 4 * n;
    for (int64_t j = 0; j < around; j++) {
        int64_t next = (j + 1) % around;
        add_edge(d, first + j, first + next);
        if (j < around / 2) add_edge(d, first + j, first + j + around / 2);
        if (j % n) add_edge(d, first + j, first + (j + n) % around);
        if (!has_before) continue;
        add_edge(d, first - around + j, first + j);
        add_edge(d, first - around + j, first + next);
        add_edge(d, first - around + next, first + j);
    }
}

static double distance2(const draft *d, int64_t a, int64_t b)
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        double e = d->vertices[3 * a + k] - d->vertices[3 * b + k];
        sum += e * e;
    }
    return sum;
}

/* Joins each of the `count` nodes from `first` to the four nearest of those before `others`. */
static void tie(draft *d, int64_t first, int64_t count, int64_t others)
{
    enum { TIES = 4 };
    for (int64_t i = first; i < first + count; i++) {
        int64_t near[TIES];
        int found = 0;
        for (int64_t j = 0; j < others; j++) {
            int at = found < TIES ? found++ : TIES;
            for (; at > 0 && distance2(d, i, j) < distance2(d, i, near[at - 1]); at--)
                if (at < TIES) near[at] = near[at - 1];
            if (at < TIES) near[at] = j;
        }
        for (int k = 0; k < found; k++) add_edge(d, near[k], i);
    }
}

static void add_truss(draft *d, const truss *p)
{
    int64_t others = d->vertex_count, around = 4 * p->segments;
    for (int64_t i = 0; i < p->sections; i++) {
        section s;
        double x[3];
        p->section_at(p, (double)i / (double)(p->sections - 1), &s);
        int64_t first = d->vertex_count;
        for (int64_t j = 0; j < around; j++) {
            section_node(&s, j, p->segments, x);
            if (!add_vertex(d, x)) return;
        }
        brace_section(d, first, p->segments, i > 0);
        if ((i == 0 && p->tied_start) || (i + 1 == p->sections && p->tied_end))
            tie(d, first, around, others);
    }
}

static int64_t sections_of(const tw_tower *t, int64_t count)
{
    return (int64_t)fmax(3.0, floor(t->detail * (double)count + 0.5));
}

static void add_side(draft *d, const tw_tower *t, int side)
{
    truss p = {.tower = t,
               .segments = 1,
               .turn_y = side % 2 ? 1 : -1,
               .swapped = side / 2 == 1,
               .tied_start = true,
               .tied_end = true};
    p.section_at = platform_section;
    p.sections = sections_of(t, 28);
    p.z = FIRST_PLATFORM;
    p.reach = outer(t, p.z);
    add_truss(d, &p);
    p.sections = sections_of(t, 16);
    p.z = SECOND_PLATFORM;
    p.reach = outer(t, p.z);
    add_truss(d, &p);
    p.section_at = arch_section;
    p.sections = sections_of(t, 40);
    add_truss(d, &p);
}

static void add_all(draft *d, const tw_tower *t)
{
    for (int leg = 0; leg < 4; leg++) {
        truss p = {.tower = t,
                   .section_at = leg_section,
                   .sections = sections_of(t, 52),
                   .segments = 2,
                   .turn_x = leg % 2 ? 1 : -1,
                   .turn_y = leg / 2 ? 1 : -1};
        add_truss(d, &p);
    }
    for (int side = 0; side < 4; side++) add_side(d, t, side);
    truss p = {.tower = t,
               .section_at = shaft_section,
               .sections = sections_of(t, 152),
               .segments = 3,
               .tied_start = true};
    add_truss(d, &p);
    p.section_at = cabin_section;
    p.sections = sections_of(t, 6);
    p.segments = 2;
    add_truss(d, &p);
    p.section_at = spire_section;
    p.sections = sections_of(t, 14);
    p.segments = 1;
    add_truss(d, &p);
}

tw_status tw_body_tower(const tw_tower *tower, tw_mesh *out, tw_error *error)
{
    *out = (tw_mesh){0};
    double most = 6000 * fmax(tower->detail, 0.1) + 2000;
    if (most > (double)INT32_MAX)
        return tw_fail(error, TW_UNSUPPORTED, "more than 2^31 - 1 vertices");
    draft d = {.vertex_capacity = (int64_t)most, .edge_capacity = 8 * (int64_t)most};
    d.vertices = TW_NEW_ARRAY(3 * d.vertex_capacity, double);
    d.edges = TW_NEW_ARRAY(2 * d.edge_capacity, int64_t);
    tw_status status = d.vertices && d.edges ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);
    if (status == TW_OK) {
        add_all(&d, tower);
        status = tw_mesh_allocate(out, d.vertex_count, d.edge_count, 0, 0, error);
    }
    for (int64_t i = 0; status == TW_OK && i < 3 * d.vertex_count; i++)
        out->vertices[i] = d.vertices[i];
    for (int64_t i = 0; status == TW_OK && i < 2 * d.edge_count; i++) out->edges[i] = d.edges[i];
    tw_release(d.vertices);
    tw_release(d.edges);
    return status;
}
