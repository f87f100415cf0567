/* PLY, binary: vertices (floats; with the particle that each one is, -1 on an embedded surface, a
 * colour where friction stains obstacles, and strains where springs yield), faces, edges. */
#include <string.h>

#include "io/frames_internal.h"

/* A face of more corners than this needs a larger type for their number. */
enum { MOST_CORNERS_OF_UCHAR = 255 };

static bool has_large_face(const tw_shapes *shapes)
{
    for (int i = 0; i < shapes->count; i++) {
        const tw_shape *shape = &shapes->list[i];
        for (int64_t f = 0; f < shape->face_count; f++) {
            int64_t corners = tw_shape_face_begin(shape, f + 1) - tw_shape_face_begin(shape, f);
            if (corners > MOST_CORNERS_OF_UCHAR) return true;
        }
    }

    return false;
}

/* Whether obstacles have colours. */
static bool has_stains(const tw_frames *frames)
{
    double colour[3];
    return tw_simulation_stain(frames->simulation, 0.0, colour);
}

/* The column of that name; -1: there is none. */
static int column_of(const tw_frames *frames, const char *name)
{
    int count = tw_simulation_column_count(frames->simulation);
    for (int c = 0; c < count; c++)
        if (strcmp(tw_simulation_column(frames->simulation, c), name) == 0) return c;
    return -1;
}

/* Columns that are properties of the vertices. */
static const char *const strains[] = {"strain", "plastic_strain"};
enum { STRAINS = sizeof strains / sizeof *strains };

static void add_header(const tw_frames *frames, const tw_frame *frame, bool large, tw_text *out)
{
    const tw_shapes *s = &frames->shapes;
    const char *count_type = large ? "uint" : "uchar";

    tw_text_add(out,
                "ply\nformat binary_little_endian 1.0\ncomment twang, frame %lld, t = %.17g s\n",
                (long long)frame->index, frame->t);
    tw_text_add(out,
                "element vertex %lld\nproperty float x\nproperty float y\nproperty float z\n"
                "property int particle\n",
                (long long)s->vertex_count);

    if (has_stains(frames))
        tw_text_add(out, "property uchar red\nproperty uchar green\nproperty uchar blue\n");

    for (int i = 0; i < STRAINS; i++)
        if (column_of(frames, strains[i]) >= 0) tw_text_add(out, "property float %s\n", strains[i]);

    /* The type of the number of corners depends on the largest face. */
    tw_text_add(out, "element face %lld\nproperty list %s int vertex_indices\n",
                (long long)s->face_count, count_type);
    tw_text_add(out, "element edge %lld\nproperty int vertex1\nproperty int vertex2\nend_header\n",
                (long long)s->edge_count);
}

/* Adds the colour of a particle; what is not stained is white. */
static void add_colour(const tw_frames *frames, const tw_table *table, const tw_display *display,
                       int64_t particle, tw_text *out)
{
    unsigned char bytes[3] = {255, 255, 255};
    double colour[3];
    double wear = table->values[particle * table->column_count + column_of(frames, "wear")];
    if (display->stained && tw_simulation_stain(frames->simulation, wear, colour))
        for (int k = 0; k < 3; k++) bytes[k] = (unsigned char)(255.0 * colour[k] + 0.5);
    tw_text_add_bytes(out, bytes, sizeof bytes);
}

/* Adds the strains of a particle; 0 on an embedded surface. */
static void add_strains(const tw_table *table, const int columns[STRAINS], int64_t particle,
                        tw_text *out)
{
    for (int i = 0; i < STRAINS; i++) {
        if (columns[i] < 0) continue;
        float value = 0.0F;
        if (particle >= 0)
            value = (float)table->values[particle * table->column_count + columns[i]];
        tw_text_add_bytes(out, &value, sizeof value);
    }
}

static void add_vertices(const tw_frames *frames, const tw_table *table, tw_text *out)
{
    bool stains = has_stains(frames);
    int columns[STRAINS];
    for (int i = 0; i < STRAINS; i++) columns[i] = column_of(frames, strains[i]);

    for (int i = 0; i < frames->shapes.count; i++) {
        const tw_shape *shape = &frames->shapes.list[i];
        for (int64_t v = 0; v < shape->vertex_count; v++) {
            const double *x = frames->positions + 3 * (shape->first_vertex + v);

            /* Position as floats, then the particle. */
            const float position[3] = {(float)x[0], (float)x[1], (float)x[2]};
            tw_text_add_bytes(out, position, sizeof position);

            int32_t particle = shape->particles ? (int32_t)shape->particles[v] : -1;
            tw_text_add_bytes(out, &particle, sizeof particle);
            const tw_display *display = tw_simulation_display(frames->simulation, i);
            if (stains) add_colour(frames, table, display, particle < 0 ? 0 : particle, out);
            add_strains(table, columns, particle, out);
        }
    }
}

/* Adds the number of corners of a face, as one byte or four. */
static void add_corner_count(uint32_t count, bool large, tw_text *out)
{
    unsigned char few = (unsigned char)count;
    if (large)
        tw_text_add_bytes(out, &count, sizeof count);
    else
        tw_text_add_bytes(out, &few, 1);
}

static void add_faces(const tw_frames *frames, bool large, tw_text *out)
{
    for (int i = 0; i < frames->shapes.count; i++) {
        const tw_shape *shape = &frames->shapes.list[i];
        for (int64_t f = 0; f < shape->face_count; f++) {
            int64_t begin = tw_shape_face_begin(shape, f);
            int64_t end = tw_shape_face_begin(shape, f + 1);

            /* The number of corners, then the vertices counted over all shapes. */
            add_corner_count((uint32_t)(end - begin), large, out);
            for (int64_t c = begin; c < end; c++) {
                int32_t vertex = (int32_t)(shape->first_vertex + shape->corners[c]);
                tw_text_add_bytes(out, &vertex, sizeof vertex);
            }
        }
    }
}

static void add_edges(const tw_frames *frames, tw_text *out)
{
    for (int i = 0; i < frames->shapes.count; i++) {
        const tw_shape *shape = &frames->shapes.list[i];
        for (int64_t e = 0; e < 2 * shape->edge_count; e++) {
            int32_t vertex = (int32_t)(shape->first_vertex + shape->edges[e]);
            tw_text_add_bytes(out, &vertex, sizeof vertex);
        }
    }
}

void tw_frame_to_ply(tw_frames *frames, const tw_frame *frame, tw_text *out)
{
    bool large = has_large_face(&frames->shapes);
    add_header(frames, frame, large, out);
    add_vertices(frames, frame->table, out);
    add_faces(frames, large, out);
    add_edges(frames, out);
}
