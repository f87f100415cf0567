/* PLY, binary: vertices (float; with the particle each is, -1 on an embedded surface), faces, edges. */
#include "io/frames_internal.h"

static bool has_large_face(const tw_shapes *shapes)
{
    for (int i = 0; i < shapes->count; i++)
        for (int64_t f = 0; shapes->list[i].face_start && f < shapes->list[i].face_count; f++)
            if (shapes->list[i].face_start[f + 1] - shapes->list[i].face_start[f] > 255)
                return true;
    return false;
}

static void add_header(const tw_frames *frames, const tw_frame *frame, bool large, tw_text *out)
{
    const tw_shapes *s = &frames->shapes;
    tw_text_add(out,
                "ply\nformat binary_little_endian 1.0\ncomment twang, frame %lld, t = %.17g s\n",
                (long long)frame->index, frame->t);
    tw_text_add(out,
                "element vertex %lld\nproperty float x\nproperty float y\nproperty float "
                "z\nproperty int particle\n",
                (long long)s->vertex_count);
    tw_text_add(out, "element face %lld\nproperty list %s int vertex_indices\n",
                (long long)s->face_count, large ? "uint" : "uchar");
    tw_text_add(out, "element edge %lld\nproperty int vertex1\nproperty int vertex2\nend_header\n",
                (long long)s->edge_count);
}

static void add_vertices(const tw_frames *frames, tw_text *out)
{
    for (int i = 0; i < frames->shapes.count; i++) {
        const tw_shape *shape = &frames->shapes.list[i];
        for (int64_t v = 0; v < shape->vertex_count; v++) {
            const double *x = frames->positions + 3 * (shape->first_vertex + v);
            const float position[3] = {(float)x[0], (float)x[1], (float)x[2]};
            int32_t particle = shape->particles ? (int32_t)shape->particles[v] : -1;
            tw_text_add_bytes(out, position, sizeof position);
            tw_text_add_bytes(out, &particle, sizeof particle);
        }
    }
}

static void add_faces(const tw_frames *frames, bool large, tw_text *out)
{
    for (int i = 0; i < frames->shapes.count; i++) {
        const tw_shape *shape = &frames->shapes.list[i];
        for (int64_t f = 0; f < shape->face_count; f++) {
            int64_t begin = tw_shape_face_begin(shape, f), end = tw_shape_face_begin(shape, f + 1);
            uint32_t corners = (uint32_t)(end - begin);
            unsigned char few = (unsigned char)corners;
            tw_text_add_bytes(out, large ? (const void *)&corners : (const void *)&few,
                              large ? sizeof corners : 1);
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
    add_vertices(frames, out);
    add_faces(frames, large, out);
    add_edges(frames, out);
}
