/* What frames for other programs show: per body its own vertices, faces and lines. A body with
 * an embedded surface is shown as that surface, in the vertex order of its file. Another body is
 * shown by its triangles and edges, over those of its particles that they use. */
#ifndef TW_IO_SHAPES_H
#define TW_IO_SHAPES_H

#include <twang/model.h>

enum { TW_SHAPE_NAME_SIZE = 64 };

typedef struct tw_shape {
    char name[TW_SHAPE_NAME_SIZE]; /* different for every shape, fit for a file name */
    int64_t vertex_count;
    int64_t first_vertex; /* number of vertices of the shapes before */
    int64_t *particles;   /* of each vertex; NULL: the vertices are those of `surface` */
    const tw_display_surface *surface; /* NULL: none */
    int64_t face_count;
    const int64_t *face_start; /* first corner of each face; NULL: all faces are triangles */
    const int64_t *corners;    /* vertices of this shape */
    int64_t edge_count;
    const int64_t *edges;               /* vertices of this shape */
    int64_t *own_triangles, *own_edges; /* memory of corners and edges if numbered anew */
} tw_shape;

typedef struct tw_shapes {
    tw_shape *list;
    int count;
    int64_t vertex_count, face_count, edge_count; /* of all */
} tw_shapes;

/* TW_OK or TW_OUT_OF_MEMORY. The simulation must outlive the result. Particles that no
 * display shows become points. */
tw_status tw_shapes_create(const tw_simulation *simulation, tw_shapes *out);
void tw_shapes_free(tw_shapes *shapes);

/* Fills in the positions of all vertices, x, y, z each, from rows of `stride` numbers
 * that begin with x, y, z. */
void tw_shapes_place(const tw_shapes *shapes, const double *rows, int stride, double *positions);

/* The place in `corners` where a face begins. */
static inline int64_t tw_shape_face_begin(const tw_shape *shape, int64_t face)
{
    return shape->face_start ? shape->face_start[face] : 3 * face;
}

#endif
