/* Wavefront OBJ: an object per body, with its faces and lines; and the texture coordinates,
 * groups and materials that the body came with, each where it stood. */
#include <string.h>

#include "base/allocate.h"
#include "base/number.h"
#include "io/frames_internal.h"

/* ---- lines of the file ---- */

/* Adds `before` and the number of an item. OBJ counts from 1 over the whole file; `first`
 * items are before this shape. */
static void add_index(tw_text *out, const char *before, int64_t first, int64_t index)
{
    /* Own digits are faster than printf, and faces are most of the file. */
    char digits[24];
    int at = (int)sizeof digits;
    for (uint64_t number = (uint64_t)(first + index) + 1; number > 0; number /= 10)
        digits[--at] = (char)('0' + number % 10);

    tw_text_add_bytes(out, before, strlen(before));
    tw_text_add_bytes(out, digits + at, sizeof digits - (size_t)at);
}

static void add_face(const tw_shape *shape, int64_t face, const tw_obj_before *before, tw_text *out)
{
    const int64_t *texture = shape->surface ? shape->surface->corner_texture : NULL;
    int64_t begin = tw_shape_face_begin(shape, face);
    int64_t end = tw_shape_face_begin(shape, face + 1);

    /* A face of OBJ has texture coordinates at all corners or at none. */
    for (int64_t c = begin; texture && c < end; c++)
        if (texture[c] < 0) texture = NULL;

    tw_text_add_bytes(out, "f", 1);
    for (int64_t c = begin; c < end; c++) {
        add_index(out, " ", before->vertices, shape->corners[c]);
        if (texture) add_index(out, "/", before->textures, texture[c]);
    }

    tw_text_add_bytes(out, "\n", 1);
}

/* Adds a vertex with nine digits per number, which tell every float from every other. */
static void add_vertex(const double *position, tw_text *out)
{
    char line[3 * (TW_NUMBER_SIZE + 1) + 2] = "v";
    size_t length = 1;

    for (int k = 0; k < 3; k++) {
        line[length++] = ' ';
        length += tw_number_print_digits(line + length, 9, position[k]);
    }

    line[length++] = '\n';
    tw_text_add_bytes(out, line, length);
}

static void add_line(int64_t first, int64_t from, int64_t to, tw_text *out)
{
    add_index(out, "l ", first, from);
    add_index(out, " ", first, to);
    tw_text_add_bytes(out, "\n", 1);
}

/* ---- statements: lines of the file that the surface came from ---- */

/* The next statement to write, and what is left out. */
typedef struct cursor {
    const tw_display_surface *s; /* NULL: no statements */
    int64_t next;
    bool drops_objects;
} cursor;

static const char *statement(const tw_display_surface *s, int64_t index, int64_t *size)
{
    int64_t begin = index > 0 ? s->statement_end[index - 1] : 0;
    *size = s->statement_end[index] - begin;
    return s->statements + begin;
}

/* Whether the statement begins an object: "o NAME". */
static bool is_object(const tw_display_surface *s, int64_t index)
{
    int64_t size = 0;
    const char *text = statement(s, index, &size);
    return size > 1 && text[0] == 'o' && (text[1] == ' ' || text[1] == '\t');
}

/* Adds the statements that stand before this face and were not added yet. */
static void add_statements(cursor *c, int64_t face, tw_text *out)
{
    if (!c->s) return;
    for (; c->next < c->s->statement_count && c->s->statement_face[c->next] <= face; c->next++) {
        int64_t size = 0;
        const char *text = statement(c->s, c->next, &size);
        if (c->drops_objects && face > 0 && is_object(c->s, c->next)) continue;
        tw_text_add_bytes(out, text, (size_t)size);
        tw_text_add_bytes(out, "\n", 1);
    }
}

/* Whether the surface says itself which object its first face belongs to. */
static bool names_object(const tw_display_surface *s)
{
    if (!s) return false;
    for (int64_t i = 0; i < s->statement_count && s->statement_face[i] <= 0; i++)
        if (is_object(s, i)) return true;
    return false;
}

/* ---- shapes ---- */

static void begin_object(const tw_shape *shape, const tw_obj_before *before, tw_text *out)
{
    const tw_display_surface *s = shape->surface;
    if (!names_object(s)) tw_text_add(out, "o %s\n", shape->name);

    /* A shape without statements must not inherit the group and material of the body before. */
    if (before->statements && !(s && s->statement_count))
        tw_text_add(out, "g %s\nusemtl %s\ns off\n", shape->name, shape->name);
}

/* Adds the vertices as points, so that a reader keeps them. */
static void add_points(const tw_shape *shape, const tw_obj_before *before, tw_text *out)
{
    for (int64_t v = 0; v < shape->vertex_count; v++) {
        add_index(out, "p ", before->vertices, v);
        tw_text_add_bytes(out, "\n", 1);
    }
}

void tw_shape_to_obj(const tw_shape *shape, const double *positions, const tw_obj_before *before,
                     tw_text *out)
{
    const tw_display_surface *s = shape->surface;
    cursor c = {.s = s, .drops_objects = before->one_object};

    /* The head: the object, and what stood before the first vertex. */
    begin_object(shape, before, out);
    add_statements(&c, -1, out);

    /* Vertices and texture coordinates. */
    for (int64_t v = 0; v < shape->vertex_count; v++) add_vertex(positions + 3 * v, out);
    for (int64_t i = 0; s && i < s->texture_count; i++)
        tw_text_add(out, "vt %.9g %.9g\n", s->texture[2 * i], s->texture[2 * i + 1]);

    /* Faces, each behind its statements. */
    for (int64_t f = 0; f < shape->face_count; f++) {
        add_statements(&c, f, out);
        add_face(shape, f, before, out);
    }

    add_statements(&c, shape->face_count, out);

    /* Lines, or points if there is nothing else. */
    for (int64_t e = 0; e < shape->edge_count; e++)
        add_line(before->vertices, shape->edges[2 * e], shape->edges[2 * e + 1], out);
    if (shape->face_count == 0 && shape->edge_count == 0) add_points(shape, before, out);
}

void tw_shape_unused_to_obj(const tw_shape *shape, tw_text *out)
{
    if (shape->face_count == 0 && shape->edge_count == 0) return;
    bool *used = tw_allocate_zeroed((size_t)shape->vertex_count, sizeof(bool));
    if (!used) {
        out->failed = true;
        return;
    }

    /* Mark the vertices of faces and edges. */
    for (int64_t c = 0; c < tw_shape_face_begin(shape, shape->face_count); c++)
        used[shape->corners[c]] = true;
    for (int64_t e = 0; e < 2 * shape->edge_count; e++) used[shape->edges[e]] = true;

    for (int64_t v = 0; v < shape->vertex_count; v++)
        if (!used[v]) add_line(0, v, v, out);
    tw_release(used);
}

void tw_frame_to_obj(tw_frames *frames, const tw_frame *frame, tw_text *out)
{
    tw_obj_before before = {0};
    tw_text_add(out, "# twang, frame %lld, t = %.17g s\n", (long long)frame->index, frame->t);

    for (int i = 0; i < frames->shapes.count; i++) {
        const tw_shape *shape = &frames->shapes.list[i];
        tw_shape_to_obj(shape, frames->positions + 3 * shape->first_vertex, &before, out);

        /* The next shape counts on from here. */
        before.vertices += shape->vertex_count;
        if (!shape->surface) continue;
        before.textures += shape->surface->texture_count;
        before.statements = before.statements || shape->surface->statement_count > 0;
    }
}
