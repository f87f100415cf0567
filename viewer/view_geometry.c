/* What bodies look like: the displays of a simulation as one message.
 *
 * The message: magic, version, kind 2, bytes of the head (a multiple of 4), the head as JSON, and
 * 32-bit numbers. The head names arrays by [offset, count] in numbers from the end of the head. */
#include "view_geometry.h"

#include <stdlib.h>
#include <string.h>

typedef struct writer {
    view_text head;
    view_text data;
} writer;

/* Adds an array of indices, and names it in the head. */
static void add_indices(writer *w, const char *name, int64_t count, const int64_t *values)
{
    view_text_add(&w->head, ",\"%s\":[%zu,%lld]", name, w->data.size / 4, (long long)count);
    for (int64_t i = 0; i < count; i++) {
        uint32_t value = (uint32_t)values[i];
        view_text_bytes(&w->data, &value, sizeof value);
    }
}

static void add_numbers(writer *w, const char *name, int64_t count, const double *values)
{
    view_text_add(&w->head, ",\"%s\":[%zu,%lld]", name, w->data.size / 4, (long long)count);
    for (int64_t i = 0; i < count; i++) {
        float value = (float)values[i];
        view_text_bytes(&w->data, &value, sizeof value);
    }
}

/* The faces of a surface as triangles: polygons become fans. */
static void add_surface_faces(writer *w, const tw_display_surface *surface)
{
    size_t begin = w->data.size / 4;
    for (int64_t f = 0; f < surface->face_count; f++) {
        /* Without a list of starts all faces are triangles. */
        int64_t first = surface->face_start ? surface->face_start[f] : 3 * f;
        int64_t end = surface->face_start ? surface->face_start[f + 1] : 3 * f + 3;

        for (int64_t c = first + 1; c + 1 < end; c++) {
            const uint32_t corner[3] = {(uint32_t)surface->corners[first],
                                        (uint32_t)surface->corners[c],
                                        (uint32_t)surface->corners[c + 1]};
            view_text_bytes(&w->data, corner, sizeof corner);
        }
    }

    view_text_add(&w->head, ",\"faces\":[%zu,%zu]", begin, w->data.size / 4 - begin);
}

/* A surface or lines with vertices of their own, each carried by four particles. */
static void add_surface(writer *w, const tw_display_surface *surface)
{
    view_text_add(&w->head, ",\"surface\":{\"vertices\":%lld", (long long)surface->vertex_count);
    add_indices(w, "carriers", 4 * surface->vertex_count, surface->carriers);
    add_numbers(w, "weights", 4 * surface->vertex_count, surface->weights);
    add_indices(w, "edges", 2 * surface->edge_count, surface->edges);
    add_surface_faces(w, surface);
    view_text_add(&w->head, "}");
}

/* Whether nothing of it moves by itself: an obstacle. */
static bool is_fixed(const tw_display *display, const int64_t *free_at)
{
    if (!free_at) return false;
    for (int64_t i = display->first; i < display->first + display->count; i++)
        if (free_at[i] >= 0) return false;
    return true;
}

static void add_body(writer *w, const tw_display *display, const int64_t *free_at)
{
    view_text_add(&w->head, "{\"name\":");
    view_text_string(&w->head, display->name ? display->name : "body");

    /* Which particles it has, and what it is. */
    const char *fixed = is_fixed(display, free_at) ? "true" : "false";
    const char *stained = display->stained ? "true" : "false";
    view_text_add(&w->head, ",\"first\":%lld,\"count\":%lld", (long long)display->first,
                  (long long)display->count);
    view_text_add(&w->head, ",\"fixed\":%s,\"stained\":%s,\"radius\":", fixed, stained);
    view_text_number(&w->head, display->radius);

    /* What is drawn of it. */
    add_indices(w, "edges", 2 * display->edge_count, display->edges);
    add_indices(w, "triangles", 3 * display->triangle_count, display->triangles);
    if (display->surface.vertex_count > 0) add_surface(w, &display->surface);
    view_text_add(&w->head, "}");
}

/* The particles that are held or moved. */
static void add_pinned(writer *w, int64_t particles, const int64_t *free_at)
{
    size_t begin = w->data.size / 4;
    for (int64_t i = 0; free_at && i < particles; i++) {
        uint32_t index = (uint32_t)i;
        if (free_at[i] < 0) view_text_bytes(&w->data, &index, sizeof index);
    }
    view_text_add(&w->head, ",\"pinned\":[%zu,%zu]", begin, w->data.size / 4 - begin);
}

static void write_head(writer *w, const tw_simulation *simulation, const int64_t *free_at)
{
    int64_t particles = tw_simulation_row_count(simulation);
    bool has_bodies = tw_simulation_column_count(simulation) >= 6;

    view_text_add(&w->head, "{\"particles\":%lld,\"bodies\":[", (long long)particles);
    for (int i = 0; i < tw_simulation_display_count(simulation); i++) {
        if (i > 0) view_text_add(&w->head, ",");
        add_body(w, tw_simulation_display(simulation, i), free_at);
    }

    /* The points of a system of equations are nobody's particles. */
    view_text_add(&w->head, "],\"system\":%s", has_bodies ? "false" : "true");
    add_pinned(w, particles, has_bodies ? free_at : NULL);
}

/* The positions at t = 0, three per particle. */
static void add_rest(writer *w, const tw_simulation *simulation, const double *rest)
{
    int64_t particles = tw_simulation_row_count(simulation);
    int columns = tw_simulation_column_count(simulation);
    double *positions = calloc((size_t)(3 * particles) + 1, sizeof *positions);
    if (!positions) {
        w->data.failed = true;
        return;
    }

    /* The rows of bodies begin with their positions; systems of equations have none. */
    for (int64_t i = 0; i < particles && columns >= 6; i++)
        memcpy(positions + 3 * i, rest + i * columns, 3 * sizeof *positions);
    add_numbers(w, "rest", 3 * particles, positions);
    free(positions);
}

bool view_geometry_write(const tw_simulation *simulation, const int64_t *free_at,
                         const double *rest, const view_series *series, view_text *out)
{
    /* The head names the arrays, so that both are written together. */
    writer w = {0};
    write_head(&w, simulation, free_at);
    add_rest(&w, simulation, rest);
    if (series) view_series_write(series, &w.head);
    view_text_add(&w.head, "}");
    while (w.head.size % 4 != 0 && !w.head.failed) view_text_add(&w.head, " ");

    /* One message of both. */
    const uint32_t begin[4] = {0x474e5754u, 1, 2, (uint32_t)w.head.size};
    bool good = !w.head.failed && !w.data.failed;
    if (good) {
        view_text_bytes(out, begin, sizeof begin);
        view_text_bytes(out, w.head.bytes, w.head.size);
        view_text_bytes(out, w.data.bytes, w.data.size);
    }
    view_text_free(&w.head);
    view_text_free(&w.data);
    return good && !out->failed;
}
