#include "mesh/bodies.h"

tw_status tw_body_rope(int64_t links, double length, tw_mesh *out, tw_error *error)
{
    tw_status status = tw_mesh_allocate(out, links + 1, links, 0, 0, error);
    if (status != TW_OK) return status;
    for (int64_t i = 0; i <= links; i++) out->vertices[3 * i] = (double)i * length;
    for (int64_t i = 0; i < 2 * links; i++) out->edges[i] = (i + 1) / 2;
    return TW_OK;
}
