/* Wavefront OBJ: an object per body, faces, lines, and the texture coordinates the body came with. */
#include <string.h>

#include "base/number.h"
#include "io/frames_internal.h"

/* OBJ counts from 1. */
static void add_index(tw_text *out, const char *before, int64_t first, int64_t index)
{
    char digits[24];
    int at = (int)sizeof digits;
    for (uint64_t number = (uint64_t)(first + index) + 1; number > 0; number /= 10)
        digits[--at] = (char)('0' + number % 10);
    tw_text_add_bytes(out, before, strlen(before));
    tw_text_add_bytes(out, digits + at, sizeof digits - (size_t)at);
}

static void add_face(const tw_shape *shape, int64_t face, int64_t first, int64_t first_texture, tw_text *out)
{
    const int64_t *texture = shape->surface ? shape->surface->corner_texture : NULL;
    int64_t begin = tw_shape_face_begin(shape, face), end = tw_shape_face_begin(shape, face + 1);
    /* a face has texture coordinates at all corners or at none */
    for (int64_t c = begin; texture && c < end; c++)
        if (texture[c] < 0) texture = NULL;
    tw_text_add_bytes(out, "f", 1);
    for (int64_t c = begin; c < end; c++) {
        add_index(out, " ", first, shape->corners[c]);
        if (texture) add_index(out, "/", first_texture, texture[c]);
    }
    tw_text_add_bytes(out, "\n", 1);
}

/* Nine digits tell every float from every other. */
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

void tw_shape_to_obj(const tw_shape *shape, const double *positions, int64_t first, int64_t first_texture, tw_text *out)
{
    tw_text_add(out, "o %s\n", shape->name);
    for (int64_t v = 0; v < shape->vertex_count; v++) add_vertex(positions + 3 * v, out);
    const tw_display_surface *s = shape->surface;
    for (int64_t i = 0; s && i < s->texture_count; i++)
        tw_text_add(out, "vt %.9g %.9g\n", s->texture[2 * i], s->texture[2 * i + 1]);
    for (int64_t f = 0; f < shape->face_count; f++) add_face(shape, f, first, first_texture, out);
    for (int64_t e = 0; e < shape->edge_count; e++) {
        add_index(out, "l ", first, shape->edges[2 * e]);
        add_index(out, " ", first, shape->edges[2 * e + 1]);
        tw_text_add_bytes(out, "\n", 1);
    }
    /* points, so that a reader keeps the vertices */
    for (int64_t v = 0; shape->face_count == 0 && shape->edge_count == 0 && v < shape->vertex_count; v++) {
        add_index(out, "p ", first, v);
        tw_text_add_bytes(out, "\n", 1);
    }
}

void tw_frame_to_obj(tw_frames *frames, const tw_frame *frame, tw_text *out)
{
    int64_t textures = 0;
    tw_text_add(out, "# twang, frame %lld, t = %.17g s\n", (long long)frame->index, frame->t);
    for (int i = 0; i < frames->shapes.count; i++) {
        const tw_shape *shape = &frames->shapes.list[i];
        tw_shape_to_obj(shape, frames->positions + 3 * shape->first_vertex, shape->first_vertex, textures, out);
        if (shape->surface) textures += shape->surface->texture_count;
    }
}
