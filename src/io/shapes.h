/* What frames for other programs show: per body its own vertices, faces and lines. A body with an embedded surface is
 * that surface, in its own vertex order; else it is its triangles and edges, over those of its particles that they use.
 */
#ifndef TW_IO_SHAPES_H
#define TW_IO_SHAPES_H

#include <twang/model.h>

enum { TW_SHAPE_NAME_SIZE = 64 };

typedef struct tw_shape {
    char name[TW_SHAPE_NAME_SIZE]; /* unlike every other shape's, fit for a file name */
    int64_t vertex_count;
    int64_t first_vertex; /* among those of all shapes */
    int64_t *particles;   /* of each vertex; NULL: the vertices are those of `surface` */
    const tw_display_surface *surface; /* NULL: none */
    int64_t face_count;
    const int64_t *face_start; /* NULL: triangles */
    const int64_t *corners;    /* vertices of this shape */
    int64_t edge_count;
    const int64_t *edges;               /* vertices of this shape */
    int64_t *own_triangles, *own_edges; /* where corners and edges were numbered anew */
} tw_shape;

typedef struct tw_shapes {
    tw_shape *list;
    int count;
    int64_t vertex_count, face_count, edge_count; /* of all */
} tw_shapes;

/* TW_OUT_OF_MEMORY or TW_OK. The simulation must live as long. Particles that no display shows become points. */
tw_status tw_shapes_create(const tw_simulation *simulation, tw_shapes *out);
void tw_shapes_free(tw_shapes *shapes);

/* Positions of all vertices, x, y, z each, from rows of `stride` numbers that begin with x, y, z. */
void tw_shapes_place(const tw_shapes *shapes, const double *rows, int stride, double *positions);

static inline int64_t tw_shape_face_begin(const tw_shape *shape, int64_t face)
{
    return shape->face_start ? shape->face_start[face] : 3 * face;
}

#endif
