#include "mesh/bodies.h"

tw_status tw_body_box(const double size[3], const int64_t cells[3], tw_mesh *out, tw_error *error)
{
    int64_t n[3] = {cells[0] + 1, cells[1] + 1, cells[2] + 1};
    tw_status status = tw_lattice(n, out, error);
    if (status != TW_OK) return status;
    for (int64_t i = 0; i < 3 * out->vertex_count; i++)
        out->vertices[i] = size[i % 3] * (out->vertices[i] / (double)cells[i % 3]);
    return TW_OK;
}
