/* A lattice tower: box trusses along curves, tied to each other where they meet.
 *
 * Let z be the height as a share of the whole, and W half the width of the base. The outer edge
 * follows W exp(-z/0.31), close to what is built in Paris. The inner edge of a leg runs straight
 * from 0.6 W at the ground to the axis at z = 0.42. */
#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/bodies.h"

static const double pi = 3.14159265358979323846;

/* Heights as shares of the whole, after the tower in Paris. */
static const double FIRST_PLATFORM = 0.19;
static const double SECOND_PLATFORM = 0.383;
static const double SHAFT_TOP = 0.90;
static const double CABIN_TOP = 0.93;

/* Gaps between a part and the one that stands on it. */
static const double SHAFT_GAP = 0.008;
static const double CABIN_GAP = 0.004;
static const double SPIRE_GAP = 0.004;

/* A parallelogram across a truss: a corner and two sides. */
typedef struct section {
    double corner[3], u[3], v[3];
} section;

/* A box truss: `sections` cross-sections with 4 `segments` nodes around each. section_at gives
 * the cross-section at a share of the way from 0 to 1. */
typedef struct truss {
    const tw_tower *tower;
    void (*section_at)(const struct truss *truss, double share, section *out);
    int64_t sections, segments;
    double turn_x, turn_y; /* quadrant or side of the tower: +1 or -1 each */
    bool swapped;          /* x and y are exchanged */
    double z, reach;       /* of a platform: its height and half its length */
    bool tied_start;       /* whether the first section is tied to what stands there already */
    bool tied_end;         /* the same for the last section */
} truss;

/* The tower so far. */
typedef struct draft {
    double *vertices;
    int64_t *edges;
    int64_t vertex_count, edge_count;
    int64_t vertex_capacity, edge_capacity;
} draft;

/* Half the width of the tower at height z. */
static double outer(const tw_tower *t, double z)
{
    return 0.5 * t->width * exp(-z / 0.31);
}

/* Half the width of the opening between the legs at height z. */
static double inner(const tw_tower *t, double z)
{
    return fmax(0.0, 0.3 * t->width * (1.0 - z / 0.42));
}

/* ---- the parts ---- */

/* A rectangle in the plane z, from (x, y) to (x + side_x, y + side_y). */
static void level_rectangle(section *s, double x, double y, double side_x, double side_y, double z)
{
    *s = (section){.corner = {x, y, z}, .u = {side_x, 0, 0}, .v = {0, side_y, 0}};
}

static void leg_section(const truss *p, double share, section *s)
{
    double z = share * SECOND_PLATFORM;
    double in = inner(p->tower, z);
    double side = outer(p->tower, z) - in;
    level_rectangle(s, p->turn_x * in, p->turn_y * in, p->turn_x * side, p->turn_y * side,
                    z * p->tower->height);
}

static void shaft_section(const truss *p, double share, section *s)
{
    double z = SECOND_PLATFORM + SHAFT_GAP + share * (SHAFT_TOP - SECOND_PLATFORM - SHAFT_GAP);
    double w = outer(p->tower, z);
    level_rectangle(s, -w, -w, 2 * w, 2 * w, z * p->tower->height);
}

static void cabin_section(const truss *p, double share, section *s)
{
    double z = SHAFT_TOP + CABIN_GAP + share * (CABIN_TOP - SHAFT_TOP - CABIN_GAP);
    double w = 1.6 * outer(p->tower, SHAFT_TOP);
    level_rectangle(s, -w, -w, 2 * w, 2 * w, z * p->tower->height);
}

static void spire_section(const truss *p, double share, section *s)
{
    double z = CABIN_TOP + SPIRE_GAP + share * (1 - CABIN_TOP - SPIRE_GAP);
    double w = (0.012 - 0.009 * share) * p->tower->width;
    level_rectangle(s, -w, -w, 2 * w, 2 * w, z * p->tower->height);
}

/* A rectangle across a truss that lies along one side of the tower, from leg to leg. */
typedef struct lying_rectangle {
    double along;      /* place along the side */
    double out, thick; /* from where, and how far, it goes outwards */
    double z, high;    /* from where, and how far, it goes upwards */
} lying_rectangle;

static void lying_section(const truss *p, lying_rectangle r, section *s)
{
    double side = p->turn_y;
    if (p->swapped)
        *s = (section){.corner = {side * r.out, r.along, r.z},
                       .u = {side * r.thick, 0, 0},
                       .v = {0, 0, r.high}};
    else
        *s = (section){.corner = {r.along, side * r.out, r.z},
                       .u = {0, side * r.thick, 0},
                       .v = {0, 0, r.high}};
}

static void platform_section(const truss *p, double share, section *s)
{
    const tw_tower *t = p->tower;

    /* The platform sticks out of the outer edge by 0.6 of its thickness. */
    double thick = 0.12 * outer(t, p->z);
    lying_rectangle across = {.along = (2 * share - 1) * p->reach,
                              .out = outer(t, p->z) - 0.4 * thick,
                              .thick = thick,
                              .z = (p->z - 0.006) * t->height,
                              .high = 0.014 * t->height};

    lying_section(p, across, s);
}

/* Half an ellipse between the legs, under the first platform. It leans inwards as the legs do. */
static void arch_section(const truss *p, double share, section *s)
{
    const tw_tower *t = p->tower;

    /* The angle goes from 0 at one leg to pi at the other. */
    double angle = pi * share;
    double z = 0.02 + 0.135 * sin(angle);
    double reach = 0.5 * (inner(t, 0.02) + inner(t, 0.1)) + 0.01 * t->width;
    lying_rectangle across = {.along = -reach * cos(angle),
                              .out = outer(t, z) - 0.03 * t->width,
                              .thick = 0.025 * t->width,
                              .z = z * t->height,
                              .high = 0.014 * t->height};

    lying_section(p, across, s);
}

/* ---- nodes and girders ---- */

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

/* Node j of 4 n around a section: corner + a u + b v, with (a, b) on the
 * border of the unit square. */
static void section_node(const section *s, int64_t j, int64_t n, double x[3])
{
    double at = (double)(j % n) / (double)n;
    double a = 0;
    double b = 0;

    switch (j / n) {
    case 0: /* along u */
        a = at;
        break;
    case 1: /* along v */
        a = 1;
        b = at;
        break;
    case 2: /* back along u */
        a = 1 - at;
        b = 1;
        break;
    default: /* back along v */
        b = 1 - at;
        break;
    }

    for (int k = 0; k < 3; k++) x[k] = s->corner[k] + a * s->u[k] + b * s->v[k];
}

/* Adds the girders of the section whose nodes begin at `first`. */
static void brace_section(draft *d, int64_t first, int64_t n, bool has_before)
{
    int64_t around = 4 * n;
    for (int64_t j = 0; j < around; j++) {
        /* Around the section, and across it. */
        int64_t next = (j + 1) % around;
        add_edge(d, first + j, first + next);
        if (j < around / 2) add_edge(d, first + j, first + j + around / 2);
        if (j % n) add_edge(d, first + j, first + (j + n) % around);

        /* To the section before: straight, and both diagonals. */
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

/* Joins each of the `count` nodes from `first` to the four nearest of the nodes below `others`. */
static void tie(draft *d, int64_t first, int64_t count, int64_t others)
{
    enum { TIES = 4 };
    for (int64_t i = first; i < first + count; i++) {
        /* near[] holds the nearest nodes so far, by rising distance. */
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
    int64_t others = d->vertex_count;
    int64_t around = 4 * p->segments;

    for (int64_t i = 0; i < p->sections; i++) {
        /* The nodes of this section. */
        section s;
        p->section_at(p, (double)i / (double)(p->sections - 1), &s);
        int64_t first = d->vertex_count;
        for (int64_t j = 0; j < around; j++) {
            double x[3];
            section_node(&s, j, p->segments, x);
            if (!add_vertex(d, x)) return;
        }

        /* Its girders, and its ties to the trusses that were there before. */
        brace_section(d, first, p->segments, i > 0);
        if ((i == 0 && p->tied_start) || (i + 1 == p->sections && p->tied_end))
            tie(d, first, around, others);
    }
}

/* ---- putting the parts together ---- */

/* The number of sections for this detail; `count` is the number at detail 1. */
static int64_t sections_of(const tw_tower *t, int64_t count)
{
    return (int64_t)fmax(3.0, floor(t->detail * (double)count + 0.5));
}

static double sign_of(bool positive)
{
    return positive ? 1.0 : -1.0;
}

static void add_legs(draft *d, const tw_tower *t)
{
    for (int leg = 0; leg < 4; leg++) {
        /* The two signs choose the quadrant. */
        truss p = {.tower = t,
                   .section_at = leg_section,
                   .sections = sections_of(t, 52),
                   .segments = 2,
                   .turn_x = sign_of(leg % 2 == 1),
                   .turn_y = sign_of(leg / 2 == 1)};
        add_truss(d, &p);
    }
}

/* Adds the platforms and the arch of one side. */
static void add_side(draft *d, const tw_tower *t, int side)
{
    truss p = {.tower = t,
               .segments = 1,
               .turn_y = sign_of(side % 2 == 1),
               .swapped = side / 2 == 1,
               .tied_start = true,
               .tied_end = true};

    /* The first platform. */
    p.section_at = platform_section;
    p.sections = sections_of(t, 28);
    p.z = FIRST_PLATFORM;
    p.reach = outer(t, p.z);
    add_truss(d, &p);

    /* The second platform. */
    p.sections = sections_of(t, 16);
    p.z = SECOND_PLATFORM;
    p.reach = outer(t, p.z);
    add_truss(d, &p);

    /* The arch under the first platform. */
    p.section_at = arch_section;
    p.sections = sections_of(t, 40);
    add_truss(d, &p);
}

/* Adds what stands on the second platform: shaft, cabin, spire. */
static void add_top(draft *d, const tw_tower *t)
{
    truss p = {.tower = t,
               .section_at = shaft_section,
               .sections = sections_of(t, 152),
               .segments = 3,
               .tied_start = true};
    add_truss(d, &p);

    /* The cabin is wider than the top of the shaft. */
    p.section_at = cabin_section;
    p.sections = sections_of(t, 6);
    p.segments = 2;
    add_truss(d, &p);

    /* The spire ends in a point. */
    p.section_at = spire_section;
    p.sections = sections_of(t, 14);
    p.segments = 1;
    add_truss(d, &p);
}

static tw_status copy_draft(const draft *d, tw_mesh *out, tw_error *error)
{
    TW_TRY(tw_mesh_allocate(out, d->vertex_count, d->edge_count, 0, 0, error));
    for (int64_t i = 0; i < 3 * d->vertex_count; i++) out->vertices[i] = d->vertices[i];
    for (int64_t i = 0; i < 2 * d->edge_count; i++) out->edges[i] = d->edges[i];
    return TW_OK;
}

tw_status tw_body_tower(const tw_tower *tower, tw_mesh *out, tw_error *error)
{
    /* About 5,000 nodes at detail 1, with room for the few sections of the smallest detail. */
    *out = (tw_mesh){0};
    double most = 6000 * fmax(tower->detail, 0.1) + 2000;
    if (most > (double)INT32_MAX)
        return tw_fail(error, TW_UNSUPPORTED, "more than 2^31 - 1 vertices");

    draft d = {.vertex_capacity = (int64_t)most, .edge_capacity = 8 * (int64_t)most};
    d.vertices = TW_NEW_ARRAY(3 * d.vertex_capacity, double);
    d.edges = TW_NEW_ARRAY(2 * d.edge_capacity, int64_t);
    tw_status status = TW_OK;
    if (d.vertices && d.edges) {
        add_legs(&d, tower);
        for (int side = 0; side < 4; side++) add_side(&d, tower, side);
        add_top(&d, tower);
        status = copy_draft(&d, out, error);
    } else {
        status = tw_fail_plain(error, TW_OUT_OF_MEMORY);
    }

    tw_release(d.vertices);
    tw_release(d.edges);
    return status;
}
