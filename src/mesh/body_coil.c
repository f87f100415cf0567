/* A helical wire of square cross-section. With 500 sections of 4 x 4 vertices it is the coil of Luan and Michels
 * (2018): s = c/499, th = 2 pi 6 s, u = 0.3 (a/3 - 1/2), w = 0.3 (b/3 - 1/2), vertex ((1 + u) cos th, (1 + u) sin th, 4
 * s + w).
 */
#include <math.h>

#include "mesh/bodies.h"

tw_status tw_body_coil(const tw_coil *coil, tw_mesh *out, tw_error *error)
{
    int64_t n[3] = {coil->across, coil->across, coil->sections};
    tw_status status = tw_lattice(n, out, error);
    if (status != TW_OK) return status;
    for (int64_t i = 0; i < out->vertex_count; i++) {
        double *p = out->vertices + 3 * i;
        double s = p[2] / (double)(n[2] - 1), angle = 2 * 3.14159265358979323846 * coil->turns * s;
        double u = coil->thickness * (p[0] / (double)(n[0] - 1) - 0.5);
        double w = coil->thickness * (p[1] / (double)(n[1] - 1) - 0.5);
        p[0] = (coil->radius + u) * cos(angle);
        p[1] = (coil->radius + u) * sin(angle);
        p[2] = coil->height * s + w;
    }
    tw_lattice_orient(out);
    return TW_OK;
}
