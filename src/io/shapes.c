/* What frames for other programs show: names, vertices and cells of the
 * bodies, and where they are. */
#include "io/shapes.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/parallel_for.h"

enum { VERTEX_BLOCK = 4096 }; /* vertices per block of work */

void tw_shapes_free(tw_shapes *shapes)
{
    for (int i = 0; shapes->list && i < shapes->count; i++) {
        tw_release(shapes->list[i].particles);
        tw_release(shapes->list[i].own_triangles);
        tw_release(shapes->list[i].own_edges);
    }
    tw_release(shapes->list);
    *shapes = (tw_shapes){0};
}

/* ---- names ---- */

static bool is_taken(const tw_shapes *shapes, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(shapes->list[i].name, name) == 0) return true;
    return false;
}

/* Whether a name looks like that of a frame, such as "frame_12". */
static bool is_like_frame(const char *name)
{
    return strncmp(name, "frame_", 6) == 0 && name[6] >= '0' && name[6] <= '9';
}

/* Whether a file name may have this character at this place. '-' and '.' are not
 * allowed at the beginning. */
static bool is_fit(char c, bool at_begin)
{
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    bool digit = c >= '0' && c <= '9';

    /* Bytes from 0x80 on belong to letters of other alphabets, in UTF-8. */
    if ((unsigned char)c >= 0x80) return true;
    return letter || digit || c == '_' || (!at_begin && (c == '-' || c == '.'));
}

/* Takes the last character away, all of its bytes in UTF-8: a name that was cut may end inside one. */
static void drop_last_character(char *text)
{
    size_t length = strlen(text);
    while (length > 0 && ((unsigned char)text[length - 1] & 0xC0) == 0x80) length--;
    if (length > 0) length--;
    text[length] = '\0';
}

/* Gives a shape the display's name, without the characters that file names cannot have, and with
 * a number if the name is taken already. */
static void name_shape(tw_shapes *shapes, int index, const char *wish)
{
    char plain[TW_SHAPE_NAME_SIZE - 12];
    const char *prefix = is_like_frame(wish) ? "body_" : "";

    int length = snprintf(plain, sizeof plain, "%s%s", prefix, wish);
    if (length >= (int)sizeof plain) drop_last_character(plain);
    for (char *p = plain; *p; p++)
        if (!is_fit(*p, p == plain)) *p = '_';

    /* NAME, NAME_2, NAME_3, and so on. */
    char *name = shapes->list[index].name;
    snprintf(name, TW_SHAPE_NAME_SIZE, "%s", plain);
    for (int n = 2; is_taken(shapes, index, name); n++)
        snprintf(name, TW_SHAPE_NAME_SIZE, "%s_%d", plain, n);
}

/* ---- vertices ---- */

/* vertex_of has an entry per particle: its vertex in the shape, or -1. While particles
 * are marked, 0 means in use. */

static void forget_vertices(int64_t particle_count, int64_t *vertex_of)
{
    for (int64_t p = 0; p < particle_count; p++) vertex_of[p] = -1;
}

static void mark_used(int64_t count, const int64_t *indices, int64_t *vertex_of)
{
    for (int64_t i = 0; i < count; i++) vertex_of[indices[i]] = 0;
}

/* Gives the marked particles vertices, in their order. */
static bool take_particles(tw_shape *shape, int64_t particle_count, int64_t *vertex_of)
{
    for (int64_t p = 0; p < particle_count; p++)
        if (vertex_of[p] >= 0) vertex_of[p] = shape->vertex_count++;

    /* The way back, from a vertex to its particle. */
    shape->particles = TW_NEW_ARRAY(shape->vertex_count, int64_t);
    if (!shape->particles) return false;
    for (int64_t p = 0; p < particle_count; p++)
        if (vertex_of[p] >= 0) shape->particles[vertex_of[p]] = p;

    return true;
}

static int64_t *renumbered(int64_t count, const int64_t *indices, const int64_t *vertex_of)
{
    int64_t *out = TW_NEW_ARRAY(count, int64_t);
    for (int64_t i = 0; out && i < count; i++) out[i] = vertex_of[indices[i]];
    return out;
}

/* ---- shapes ---- */

/* A shape of the display's own triangles and edges, or of points if it has neither. */
static bool shape_of_cells(tw_shape *shape, const tw_display *d, int64_t particle_count,
                           int64_t *vertex_of)
{
    /* The vertices are the particles in use. */
    forget_vertices(particle_count, vertex_of);
    mark_used(3 * d->triangle_count, d->triangles, vertex_of);
    mark_used(2 * d->edge_count, d->edges, vertex_of);
    if (d->triangle_count == 0 && d->edge_count == 0)
        for (int64_t p = d->first; p < d->first + d->count; p++) vertex_of[p] = 0;
    if (!take_particles(shape, particle_count, vertex_of)) return false;

    /* The cells get the new numbers. */
    shape->face_count = d->triangle_count;
    shape->edge_count = d->edge_count;
    shape->own_triangles = renumbered(3 * d->triangle_count, d->triangles, vertex_of);
    shape->own_edges = renumbered(2 * d->edge_count, d->edges, vertex_of);
    shape->corners = shape->own_triangles;
    shape->edges = shape->own_edges;
    return shape->corners && shape->edges;
}

static void shape_of_surface(tw_shape *shape, const tw_display_surface *surface)
{
    shape->surface = surface;
    shape->vertex_count = surface->vertex_count;
    shape->face_count = surface->face_count;
    shape->face_start = surface->face_start;
    shape->corners = surface->corners;
    shape->edge_count = surface->edge_count;
    shape->edges = surface->edges;
}

static void mark_shown(const tw_display *d, bool *shown)
{
    memset(shown + d->first, 1, (size_t)d->count);
    for (int64_t i = 0; i < 3 * d->triangle_count; i++) shown[d->triangles[i]] = true;
    for (int64_t i = 0; i < 2 * d->edge_count; i++) shown[d->edges[i]] = true;
}

/* A shape of points for the particles that no display shows, if there are any. */
static bool shape_of_rest(tw_shapes *shapes, const tw_simulation *simulation, const bool *shown,
                          int64_t *vertex_of)
{
    int64_t particles = tw_simulation_row_count(simulation);

    /* Mark the particles that are not shown. */
    bool any = false;

    for (int64_t p = 0; p < particles; p++) {
        vertex_of[p] = shown[p] ? -1 : 0;
        any = any || !shown[p];
    }

    if (!any) return true;

    name_shape(shapes, shapes->count, "particles");
    return take_particles(&shapes->list[shapes->count++], particles, vertex_of);
}

/* Makes a shape per display, then one of the rest. False when memory is out. */
static bool fill_shapes(tw_shapes *shapes, const tw_simulation *simulation, bool *shown,
                        int64_t *vertex_of)
{
    int64_t particles = tw_simulation_row_count(simulation);
    bool good = true;

    for (const tw_display *d; good && (d = tw_simulation_display(simulation, shapes->count));) {
        mark_shown(d, shown);
        name_shape(shapes, shapes->count, d->name);
        tw_shape *shape = &shapes->list[shapes->count++];

        /* An embedded surface is shown instead of the cells. */
        if (d->surface.vertex_count)
            shape_of_surface(shape, &d->surface);
        else
            good = shape_of_cells(shape, d, particles, vertex_of);
    }

    return good && shape_of_rest(shapes, simulation, shown, vertex_of);
}

/* Adds up the counts of all shapes. */
static void count_all(tw_shapes *shapes)
{
    for (int i = 0; i < shapes->count; i++) {
        shapes->list[i].first_vertex = shapes->vertex_count;
        shapes->vertex_count += shapes->list[i].vertex_count;
        shapes->face_count += shapes->list[i].face_count;
        shapes->edge_count += shapes->list[i].edge_count;
    }
}

tw_status tw_shapes_create(const tw_simulation *simulation, tw_shapes *out)
{
    /* One shape per display, and one for the particles of no display. */
    int64_t particles = tw_simulation_row_count(simulation);
    size_t most = (size_t)tw_simulation_display_count(simulation) + 1;
    *out = (tw_shapes){.list = tw_allocate_zeroed(most, sizeof *out->list)};
    bool *shown = tw_allocate_zeroed((size_t)particles, sizeof(bool));
    int64_t *vertex_of = TW_NEW_ARRAY(particles, int64_t);

    bool good = out->list && shown && vertex_of && fill_shapes(out, simulation, shown, vertex_of);
    tw_release(shown);
    tw_release(vertex_of);
    if (!good) {
        tw_shapes_free(out);
        return TW_OUT_OF_MEMORY;
    }

    count_all(out);
    return TW_OK;
}

/* ---- positions ---- */

typedef struct placing {
    const tw_shape *shape;
    const double *rows;
    int stride; /* numbers per row */
    double *positions;
} placing;

static void place_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const placing *p = context;
    const tw_display_surface *s = p->shape->surface;

    for (int64_t v = begin; v < end; v++) {
        /* A vertex that is a particle is where that is. */
        double *out = p->positions + 3 * v;
        if (!s) {
            memcpy(out, p->rows + p->stride * p->shape->particles[v], 3 * sizeof(double));
            continue;
        }

        /* A vertex of an embedded surface is the weighted mean of its four carriers. */
        out[0] = out[1] = out[2] = 0.0;
        for (int corner = 0; corner < 4; corner++)
            for (int k = 0; k < 3; k++)
                out[k] += s->weights[4 * v + corner] *
                          p->rows[p->stride * s->carriers[4 * v + corner] + k];
    }
}

void tw_shapes_place(const tw_shapes *shapes, const double *rows, int stride, double *positions)
{
    for (int i = 0; i < shapes->count; i++) {
        const tw_shape *shape = &shapes->list[i];
        placing p = {shape, rows, stride, positions + 3 * shape->first_vertex};
        tw_parallel_for(shape->vertex_count, VERTEX_BLOCK, place_block, &p);
    }
}
