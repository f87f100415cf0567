/* The bodies of a run as triangles and capsules: topology once, places and normals per frame. */
#include "solids.h"

#include <stdlib.h>
#include <string.h>

/* Two faces look smooth if the cosine of the angle between their normals is above this: 40 degrees
 * for solids, which have edges, and 65 for cloth and embedded surfaces, which have folds. */
static const float cos_edge = 0.766F;
static const float cos_fold = 0.423F;

/* A display, and where its vertices are among all. */
typedef struct solid_body {
    const tw_display *display; /* NULL: particles that no display shows */
    int64_t first_vertex, vertex_count;
    int64_t *particles; /* of each vertex; NULL: those of the embedded surface */
} solid_body;

static bool is_embedded(const tw_display *d)
{
    return d && d->surface.vertex_count > 0;
}

/* The place where the corners of a face begin. */
static int64_t surface_corner(const tw_display_surface *s, int64_t face)
{
    return s->face_start ? s->face_start[face] : 3 * face;
}

/* ---- counting ---- */

typedef struct sizes {
    int64_t vertices, triangles, capsules;
} sizes;

/* A face of n corners is a fan of n - 2 triangles. */
static int64_t fan_triangles(const tw_display_surface *s)
{
    int64_t count = 0;
    for (int64_t f = 0; f < s->face_count; f++)
        count += surface_corner(s, f + 1) - surface_corner(s, f) - 2;
    return count;
}

/* What a display becomes. One without triangles and edges is shown as points. */
static sizes size_of(const tw_display *d)
{
    const tw_display_surface *surface = &d->surface;
    if (is_embedded(d))
        return (sizes){surface->vertex_count, fan_triangles(surface), surface->edge_count};
    sizes n = {d->count, d->triangle_count, d->edge_count};
    if (d->triangle_count == 0 && d->edge_count == 0) n.capsules = d->count;
    return n;
}

static bool allocate(solids *s, sizes n)
{
    /* One entry more than needed, so that NULL always means failure. */
    s->vertices = calloc((size_t)n.vertices + 1, sizeof *s->vertices);
    s->stains = calloc((size_t)n.vertices + 1, sizeof *s->stains);
    s->corners = calloc(3 * (size_t)n.triangles + 1, sizeof *s->corners);
    s->normals = calloc(3 * (size_t)n.triangles + 1, sizeof *s->normals);
    s->bodies = calloc((size_t)n.triangles + 1, sizeof *s->bodies);
    s->ends = calloc(2 * (size_t)n.capsules + 1, sizeof *s->ends);
    s->capsules = calloc((size_t)n.capsules + 1, sizeof *s->capsules);
    s->around_start = calloc((size_t)n.vertices + 2, sizeof *s->around_start);
    s->around = calloc(3 * (size_t)n.triangles + 1, sizeof *s->around);

    return s->vertices && s->stains && s->corners && s->normals && s->bodies && s->ends &&
           s->capsules && s->around_start && s->around;
}

/* ---- filling ---- */

static void add_triangle(solids *s, int64_t a, int64_t b, int64_t c, int body)
{
    int64_t *corner = s->corners + 3 * s->triangle_count;
    corner[0] = a;
    corner[1] = b;
    corner[2] = c;
    s->bodies[s->triangle_count++] = body;
}

static void add_capsule(solids *s, int64_t a, int64_t b, float radius, int body)
{
    s->ends[2 * s->capsule_count] = a;
    s->ends[2 * s->capsule_count + 1] = b;
    s->capsules[s->capsule_count++] = (capsule){.radius = radius, .body = body};
}

/* Cuts the faces of an embedded surface into fans of triangles. Its lines, such as fibres, are
 * capsules. */
static void add_surface(solids *s, const tw_display *d, int64_t first, int body)
{
    const tw_display_surface *surface = &d->surface;
    for (int64_t e = 0; e < surface->edge_count; e++)
        add_capsule(s, first + surface->edges[2 * e], first + surface->edges[2 * e + 1],
                    (float)d->radius, body);
    for (int64_t f = 0; f < surface->face_count; f++) {
        int64_t begin = surface_corner(surface, f);
        int64_t end = surface_corner(surface, f + 1);
        for (int64_t c = begin + 1; c + 1 < end; c++)
            add_triangle(s, first + surface->corners[begin], first + surface->corners[c],
                         first + surface->corners[c + 1], body);
    }
}

/* Adds the cells of a display without a surface. Its vertices are the particles
 * first ... first + count - 1. */
static void add_cells(solids *s, const tw_display *d, int64_t first, int body)
{
    int64_t shift = first - d->first;
    for (int64_t t = 0; t < d->triangle_count; t++)
        add_triangle(s, d->triangles[3 * t] + shift, d->triangles[3 * t + 1] + shift,
                     d->triangles[3 * t + 2] + shift, body);

    /* Edges are capsules between two vertices, points are capsules from a vertex to itself. */
    for (int64_t e = 0; e < d->edge_count; e++)
        add_capsule(s, d->edges[2 * e] + shift, d->edges[2 * e + 1] + shift, (float)d->radius,
                    body);
    for (int64_t p = 0; d->triangle_count == 0 && d->edge_count == 0 && p < d->count; p++)
        add_capsule(s, first + p, first + p, (float)d->radius, body);
}

/* Lists the triangles around each vertex: those of v are around[around_start[v] ...
 * around_start[v + 1] - 1]. */
static void find_neighbours(solids *s)
{
    /* Count, and add up: around_start[v + 1] is the end of the list of v. */
    for (int64_t i = 0; i < 3 * s->triangle_count; i++) s->around_start[s->corners[i] + 1]++;
    for (int64_t v = 0; v < s->vertex_count; v++) s->around_start[v + 1] += s->around_start[v];

    /* Fill the lists from their ends. */
    for (int64_t i = 3 * s->triangle_count - 1; i >= 0; i--)
        s->around[--s->around_start[s->corners[i] + 1]] = i / 3;

    /* Each end was counted down to the beginning of its list: move these one place to the front. */
    memmove(s->around_start, s->around_start + 1,
            (size_t)s->vertex_count * sizeof *s->around_start);
    s->around_start[s->vertex_count] = 3 * s->triangle_count;
}

/* Adds the triangles and capsules of a display as body number `index`. */
static void add_body(solids *s, const tw_display *d, int index)
{
    solid_body *b = &s->body[s->body_count++];
    *b = (solid_body){
        .display = d, .first_vertex = s->vertex_count, .vertex_count = size_of(d).vertices};
    if (is_embedded(d))
        add_surface(s, d, b->first_vertex, index);
    else
        add_cells(s, d, b->first_vertex, index);
    s->vertex_count += b->vertex_count;
}

bool solids_create(const tw_simulation *simulation, solids *out)
{
    /* Count everything first. */
    *out = (solids){.simulation = simulation};
    sizes all = {0};
    int count = tw_simulation_display_count(simulation);
    for (int i = 0; i < count; i++) {
        sizes n = size_of(tw_simulation_display(simulation, i));
        all.vertices += n.vertices;
        all.triangles += n.triangles;
        all.capsules += n.capsules;
    }

    out->body = calloc((size_t)count + 1, sizeof *out->body);
    if (!out->body || !allocate(out, all)) return false;
    for (int i = 0; i < count; i++) add_body(out, tw_simulation_display(simulation, i), i);
    find_neighbours(out);

    return true;
}

void solids_free(solids *s)
{
    void *blocks[] = {s->vertices, s->corners, s->normals,  s->bodies, s->around_start,
                      s->around,   s->ends,    s->capsules, s->body,   s->stains};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) free(blocks[i]);
    *s = (solids){0};
}

bool solids_show(solids *s, const char *column, double largest)
{
    for (int c = 1; c < tw_simulation_column_count(s->simulation); c++)
        if (strcmp(tw_simulation_column(s->simulation, c), column) == 0) s->field = c;
    s->field_max = largest;
    return s->field > 0;
}

void solids_set_radius(solids *s, float radius)
{
    for (int64_t i = 0; i < s->capsule_count; i++)
        if (s->capsules[i].radius == 0.0F) s->capsules[i].radius = radius;
}

void solids_thicken(solids *s, float radius)
{
    for (int64_t i = 0; i < s->capsule_count; i++)
        if (s->capsules[i].radius < radius) s->capsules[i].radius = radius;
}

/* ---- places ---- */

static vector3 row_position(const double *rows, int stride, int64_t particle)
{
    const double *x = rows + stride * particle;
    return vec((float)x[0], (float)x[1], (float)x[2]);
}

/* Grey, yellow, red for a share from 0 to 1. */
static vector3 share_colour(float share)
{
    const vector3 stops[3] = {{0.42F, 0.46F, 0.50F}, {1.0F, 0.70F, 0.05F}, {0.75F, 0.02F, 0.01F}};
    float place = 2.0F * least(greatest(share, 0.0F), 1.0F);
    int below = place < 1.0F ? 0 : 1;
    float rest = place - (float)below;
    return add(scale(stops[below], 1.0F - rest), scale(stops[below + 1], rest));
}

/* The colour of a particle by the column that is shown, or by its wear, the last number of its
 * row. */
static vector3 row_stain(const solids *s, const double *rows, int stride, int64_t particle)
{
    if (s->field > 0)
        return share_colour((float)(rows[stride * particle + s->field] / s->field_max));

    double colour[3] = {0.0, 0.0, 0.0};
    tw_simulation_stain(s->simulation, rows[stride * particle + stride - 1], colour);
    return vec((float)colour[0], (float)colour[1], (float)colour[2]);
}

bool solids_are_stained(const solids *s, int64_t triangle)
{
    if (s->field > 0) return true;
    double colour[3];
    const tw_display *d = s->body[s->bodies[triangle]].display;
    return d && d->stained && tw_simulation_stain(s->simulation, 0.0, colour);
}

static void place_body(solids *s, const solid_body *b, const double *rows, int stride)
{
    const tw_display *d = b->display;
    for (int64_t v = 0; v < b->vertex_count; v++) {
        vector3 *out = &s->vertices[b->first_vertex + v];
        if (!is_embedded(d)) {
            *out = row_position(rows, stride, d->first + v);
            s->stains[b->first_vertex + v] = row_stain(s, rows, stride, d->first + v);
            continue;
        }

        /* A vertex of an embedded surface is the weighted mean of its four carriers. */
        *out = vec(0, 0, 0);
        for (int k = 0; k < 4; k++)
            *out = add(*out, scale(row_position(rows, stride, d->surface.carriers[4 * v + k]),
                                   (float)d->surface.weights[4 * v + k]));
    }
}

/* Twice the area times the normal. */
static vector3 face_normal(const solids *s, int64_t triangle)
{
    const int64_t *c = s->corners + 3 * triangle;
    vector3 a = s->vertices[c[0]];
    return cross(subtract(s->vertices[c[1]], a), subtract(s->vertices[c[2]], a));
}

/* The normal at a corner is the mean over the triangles around it that
 * look smooth with this one. */
static void smooth_normals(solids *s)
{
#pragma omp parallel for schedule(static)
    for (int64_t t = 0; t < s->triangle_count; t++) {
        const tw_display *d = s->body[s->bodies[t]].display;
        float crease = d->tetrahedron_count && !is_embedded(d) ? cos_edge : cos_fold;
        vector3 own = normalised(face_normal(s, t));

        for (int k = 0; k < 3; k++) {
            /* Faces count by their area, because face_normal has that length. */
            int64_t v = s->corners[3 * t + k];
            vector3 sum = vec(0, 0, 0);
            for (int64_t i = s->around_start[v]; i < s->around_start[v + 1]; i++) {
                vector3 n = face_normal(s, s->around[i]);
                if (dot(n, own) > crease * length(n)) sum = add(sum, n);
            }
            s->normals[3 * t + k] = length(sum) > 0.0F ? normalised(sum) : own;
        }
    }
}

void solids_place(solids *s, const double *rows, int stride)
{
    /* The capsules and the normals follow the vertices. */
    for (int i = 0; i < s->body_count; i++) place_body(s, &s->body[i], rows, stride);
    for (int64_t i = 0; i < s->capsule_count; i++) {
        s->capsules[i].a = s->vertices[s->ends[2 * i]];
        s->capsules[i].b = s->vertices[s->ends[2 * i + 1]];
    }

    smooth_normals(s);
}
