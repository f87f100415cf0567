/* A sedan of triangles: panels of one bent lattice, which are joined where they share its nodes, and
 * four wheels, whose hubs are tied to the panels around them by edges. */
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/bodies.h"
#include "mesh/car_shape.h"

static const double pi = 3.14159265358979323846;

enum {
    WHEELS = 4,
    TIES = 10, /* from each hub to the nearest vertices of the panels */
    TIES_PER_WHEEL = 2 * TIES + 1
};

/* ---- the lattice ---- */

typedef struct lattice {
    double spacing; /* about [m] */
    int64_t cells[3];
    int32_t *vertex; /* of each node; -1: it is not used */
    int64_t vertex_count, triangle_count;
    double *vertices;   /* to be filled; NULL: they are only counted */
    int64_t *triangles; /* likewise */
} lattice;

static const double low_end[3] = {0.0, -1.0, 0.0};
static const double high_end[3] = {TW_CAR_LENGTH, 1.0, 1.0};

static int64_t node_at(const lattice *l, const int64_t index[3])
{
    return index[0] + (l->cells[0] + 1) * (index[1] + (l->cells[1] + 1) * index[2]);
}

/* The index along an axis that is nearest to a lattice coordinate. */
static int64_t nearest(const lattice *l, int axis, double value)
{
    double share = (value - low_end[axis]) / (high_end[axis] - low_end[axis]);
    return (int64_t)lround(share * (double)l->cells[axis]);
}

/* The lattice coordinates of a point between nodes. */
static void coordinates(const lattice *l, const double index[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = low_end[k] + (high_end[k] - low_end[k]) * index[k] / (double)l->cells[k];
}

/* The vertex of a node. It is made at the first use. */
static int64_t vertex_of(lattice *l, const int64_t index[3])
{
    int32_t *vertex = &l->vertex[node_at(l, index)];
    if (*vertex >= 0) return *vertex;

    *vertex = (int32_t)l->vertex_count++;
    if (!l->vertices) return *vertex;

    double at[3];
    coordinates(l, (const double[]){(double)index[0], (double)index[1], (double)index[2]}, at);
    tw_car_place(at, l->vertices + 3 * (int64_t)*vertex);
    return *vertex;
}

static void add_triangle(lattice *l, int64_t a, int64_t b, int64_t c)
{
    int64_t *corners = l->triangles ? l->triangles + 3 * l->triangle_count : NULL;
    l->triangle_count++;
    if (!corners) return;

    corners[0] = a;
    corners[1] = b;
    corners[2] = c;
}

/* The two triangles of the cell from `index` on along the axes p and q. Neighbouring cells have
 * different diagonals. */
static void add_cell(lattice *l, const int64_t index[3], int p, int q)
{
    int64_t corner[4];
    for (int c = 0; c < 4; c++) {
        int64_t at[3] = {index[0], index[1], index[2]};
        at[p] += c % 2;
        at[q] += c / 2;
        corner[c] = vertex_of(l, at);
    }

    if ((index[p] + index[q]) % 2 == 0) {
        add_triangle(l, corner[0], corner[1], corner[3]);
        add_triangle(l, corner[0], corner[3], corner[2]);
    } else {
        add_triangle(l, corner[0], corner[1], corner[2]);
        add_triangle(l, corner[1], corner[3], corner[2]);
    }
}

static void add_panel(lattice *l, const tw_car_panel *panel)
{
    int p = panel->axis == 0 ? 1 : 0;
    int q = panel->axis == 2 ? 1 : 2;
    int64_t index[3];
    index[panel->axis] = nearest(l, panel->axis, panel->at);

    int64_t p_end = nearest(l, p, panel->high[0]);
    int64_t q_end = nearest(l, q, panel->high[1]);
    for (index[q] = nearest(l, q, panel->low[1]); index[q] < q_end; index[q]++)
        for (index[p] = nearest(l, p, panel->low[0]); index[p] < p_end; index[p]++) {
            /* The shell is open where the middle of a cell is. */
            double middle[3] = {(double)index[0], (double)index[1], (double)index[2]};
            double at[3];
            middle[p] += 0.5;
            middle[q] += 0.5;
            coordinates(l, middle, at);
            if (panel->is_shell && tw_car_is_open(panel->axis, at)) continue;
            add_cell(l, index, p, q);
        }
}

static void add_panels(lattice *l)
{
    int64_t nodes = (l->cells[0] + 1) * (l->cells[1] + 1) * (l->cells[2] + 1);
    memset(l->vertex, 0xff, (size_t)nodes * sizeof *l->vertex);
    l->vertex_count = 0;
    l->triangle_count = 0;

    for (int i = 0; tw_car_panel_at(i); i++) add_panel(l, tw_car_panel_at(i));
}

static int64_t cells_along(double length, double spacing)
{
    return (int64_t)fmax(4.0, round(length / spacing));
}

/* Sets the lattice to another spacing, and counts what the panels have then. */
static tw_status space(lattice *l, double spacing, tw_error *error)
{
    l->spacing = spacing;
    l->cells[0] = cells_along(TW_CAR_LENGTH, spacing);
    l->cells[1] = cells_along(TW_CAR_WIDTH, spacing);
    l->cells[2] = cells_along(TW_CAR_HEIGHT, spacing);

    tw_release(l->vertex);
    l->vertex = TW_NEW_ARRAY((l->cells[0] + 1) * (l->cells[1] + 1) * (l->cells[2] + 1), int32_t);
    if (!l->vertex) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    add_panels(l);
    return TW_OK;
}

/* ---- wheels ---- */

/* A wheel is turned from a profile: from the inner hub over the tread to the outer hub. */
typedef struct wheel {
    int64_t across;   /* cells of the tread */
    int64_t radial;   /* cells from the hub to the tread */
    int64_t segments; /* around */
} wheel;

static wheel wheel_of(double spacing)
{
    double around = 2.0 * pi * TW_CAR_WHEEL_RADIUS;
    return (wheel){.across = (int64_t)fmax(2.0, round(TW_CAR_WHEEL_WIDTH / spacing)),
                   .radial = (int64_t)fmax(2.0, round(TW_CAR_WHEEL_RADIUS / spacing)),
                   .segments = (int64_t)fmax(8.0, round(around / spacing))};
}

/* Rings of vertices between the two hubs. */
static int64_t rings_of(const wheel *w)
{
    return 2 * w->radial + w->across - 1;
}

static int64_t wheel_vertices(const wheel *w)
{
    return rings_of(w) * w->segments + 2;
}

static int64_t wheel_triangles(const wheel *w)
{
    return 2 * rings_of(w) * w->segments;
}

/* Radius and place across of ring p = 1, 2, ..., which count from the inner hub. */
static void ring_at(const wheel *w, int64_t p, double *radius, double *across)
{
    double half = 0.5 * TW_CAR_WHEEL_WIDTH;
    int64_t tread = p - w->radial;
    *radius = TW_CAR_WHEEL_RADIUS;
    *across = -half + 2.0 * half * (double)tread / (double)w->across;

    /* The inner and the outer side of the wheel. */
    if (tread < 0) {
        *radius *= (double)p / (double)w->radial;
        *across = -half;
    }
    if (tread > w->across) {
        *radius *= (double)(2 * w->radial + w->across - p) / (double)w->radial;
        *across = half;
    }
}

static void place_wheel(const wheel *w, int number, double *out)
{
    double side = number % 2 == 0 ? -1.0 : 1.0;
    double axle = number < 2 ? TW_CAR_REAR_AXLE : TW_CAR_FRONT_AXLE;
    double half = 0.5 * TW_CAR_WHEEL_WIDTH;
    const double hub[3] = {axle, side * TW_CAR_WHEEL_PLACE, TW_CAR_WHEEL_RADIUS};

    /* The hubs, then ring after ring. */
    for (int k = 0; k < 2; k++)
        for (int d = 0; d < 3; d++)
            out[3 * k + d] = hub[d] + (d == 1 ? side * (k == 0 ? -half : half) : 0.0);
    for (int64_t p = 1; p <= rings_of(w); p++) {
        double radius;
        double across;
        ring_at(w, p, &radius, &across);

        for (int64_t s = 0; s < w->segments; s++) {
            double angle = 2.0 * pi * (double)s / (double)w->segments;
            double *x = out + 3 * (2 + (p - 1) * w->segments + s);
            x[0] = hub[0] + radius * cos(angle);
            x[1] = hub[1] + side * across;
            x[2] = hub[2] + radius * sin(angle);
        }
    }
}

/* The triangles between the rings of a wheel, whose first vertex is `first`. */
static void join_wheel(lattice *l, const wheel *w, int64_t first)
{
    int64_t rings = rings_of(w);
    int64_t last = first + 2 + (rings - 1) * w->segments;
    for (int64_t s = 0; s < w->segments; s++) {
        int64_t next = (s + 1) % w->segments;
        add_triangle(l, first, first + 2 + s, first + 2 + next);
        add_triangle(l, first + 1, last + next, last + s);
        for (int64_t p = 0; p + 1 < rings; p++) {
            int64_t row = first + 2 + p * w->segments;
            add_triangle(l, row + s, row + w->segments + s, row + w->segments + next);
            add_triangle(l, row + s, row + w->segments + next, row + next);
        }
    }
}

/* Ties a hub to the nearest vertices of the panels that are further inside than the wheel, so that no
 * tie is seen from outside. */
static void tie_hub(const tw_mesh *mesh, int64_t panel_vertices, int64_t hub, int64_t *edges)
{
    int64_t found[TIES] = {0};
    double distance[TIES];
    int count = 0;
    const double *from = mesh->vertices + 3 * hub;

    /* The list of the nearest so far is sorted. */
    for (int64_t i = 0; i < panel_vertices; i++) {
        const double *x = mesh->vertices + 3 * i;
        if (fabs(x[1]) > TW_CAR_WHEEL_PLACE - 0.5 * TW_CAR_WHEEL_WIDTH) continue;
        double d = hypot(hypot(x[0] - from[0], x[1] - from[1]), x[2] - from[2]);
        if (count == TIES && d >= distance[TIES - 1]) continue;
        int at = count < TIES ? count++ : TIES - 1;
        for (; at > 0 && distance[at - 1] > d; at--) {
            distance[at] = distance[at - 1];
            found[at] = found[at - 1];
        }
        distance[at] = d;
        found[at] = i;
    }

    for (int k = 0; k < TIES; k++) {
        edges[2 * k] = hub;
        edges[2 * k + 1] = found[k];
    }
}

static void add_wheels(lattice *l, tw_mesh *mesh)
{
    wheel w = wheel_of(l->spacing);
    int64_t panel_vertices = l->vertex_count;
    for (int i = 0; i < WHEELS; i++) {
        int64_t first = panel_vertices + i * wheel_vertices(&w);
        int64_t *edges = mesh->edges + 2 * (int64_t)TIES_PER_WHEEL * i;

        place_wheel(&w, i, mesh->vertices + 3 * first);
        join_wheel(l, &w, first);
        tie_hub(mesh, panel_vertices, first, edges);
        tie_hub(mesh, panel_vertices, first + 1, edges + 2 * TIES);

        /* The axle between the hubs. */
        edges[4 * TIES] = first;
        edges[4 * TIES + 1] = first + 1;
    }
}

/* ---- the car ---- */

static int64_t count_vertices(const lattice *l)
{
    wheel w = wheel_of(l->spacing);
    return l->vertex_count + WHEELS * wheel_vertices(&w);
}

/* Finds the spacing at which the car has about so many vertices, by bisection. */
static tw_status find_spacing(lattice *l, int64_t vertices, tw_error *error)
{
    /* The area of all panels and wheels is about 36 m^2. */
    double guess = sqrt(36.0 / (double)vertices);
    double fine = 0.5 * guess;
    double coarse = 2.0 * guess;

    for (int i = 0; i < 12; i++) {
        double middle = 0.5 * (fine + coarse);
        TW_TRY(space(l, middle, error));
        if (count_vertices(l) > vertices)
            fine = middle;
        else
            coarse = middle;
    }
    return space(l, coarse, error);
}

tw_status tw_body_car(int64_t vertices, tw_mesh *out, tw_error *error)
{
    *out = (tw_mesh){0};
    lattice l = {0};
    tw_status status = find_spacing(&l, vertices, error);
    wheel w = wheel_of(l.spacing);
    if (status == TW_OK)
        status = tw_mesh_allocate(out, count_vertices(&l), (int64_t)WHEELS * TIES_PER_WHEEL,
                                  l.triangle_count + WHEELS * wheel_triangles(&w), 0, error);
    if (status == TW_OK) {
        l.vertices = out->vertices;
        l.triangles = out->triangles;
        add_panels(&l);
        add_wheels(&l, out);
    }

    tw_release(l.vertex);
    return status;
}
