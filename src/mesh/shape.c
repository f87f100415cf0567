#include "mesh/shape.h"

#include <string.h>

#include "base/allocate.h"

tw_status tw_shape_reserve(tw_shape *shape, int64_t points, int64_t edges, int64_t triangles, int64_t tetrahedra)
{
    memset(shape, 0, sizeof *shape);
    shape->points = TW_NEW_ARRAY(3 * points, double);
    shape->edges = TW_NEW_ARRAY(2 * edges, int64_t);
    shape->edge_groups = TW_NEW_ARRAY(edges, uint8_t);
    shape->triangles = TW_NEW_ARRAY(3 * triangles, int64_t);
    shape->tetrahedra = TW_NEW_ARRAY(4 * tetrahedra, int64_t);
    bool all = shape->points && shape->edges && shape->edge_groups && shape->triangles && shape->tetrahedra;
    return all ? TW_OK : TW_OUT_OF_MEMORY;
}

void tw_shape_free(tw_shape *shape)
{
    tw_release(shape->points);
    tw_release(shape->edges);
    tw_release(shape->edge_groups);
    tw_release(shape->triangles);
    tw_release(shape->tetrahedra);
    memset(shape, 0, sizeof *shape);
}

void tw_shape_add_edge(tw_shape *shape, int64_t from, int64_t to, tw_edge_group group)
{
    int64_t *ends = shape->edges + 2 * shape->edge_count;
    ends[0] = from;
    ends[1] = to;
    shape->edge_groups[shape->edge_count++] = (uint8_t)group;
}

void tw_shape_add_triangle(tw_shape *shape, int64_t a, int64_t b, int64_t c)
{
    int64_t *corners = shape->triangles + 3 * shape->triangle_count++;
    corners[0] = a;
    corners[1] = b;
    corners[2] = c;
}
