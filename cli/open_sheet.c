/* Tells sheets from surfaces that enclose something. */
#include <math.h>
#include <stdio.h>

#include "command.h"

/* A surface is taken for a sheet if the areas of its triangles, as vectors, add up to more than this
 * share of its area. They add up to nothing where it is closed, to little where it has holes, to all
 * of it where it is flat, and to a half of it in a hemisphere. */
static const double OPEN_SHARE = 0.2;

/* |sum of a_i| / sum of |a_i| over the triangles, a_i their areas as vectors. */
static double open_share(const tw_mesh *mesh)
{
    double sum[3] = {0};
    double area = 0;
    for (int64_t i = 0; i < mesh->triangle_count; i++) {
        const int64_t *corner = mesh->triangles + 3 * i;

        /* Two of its sides. */
        double d[2][3];
        for (int k = 0; k < 6; k++)
            d[k / 3][k % 3] = mesh->vertices[3 * corner[1 + k / 3] + k % 3] -
                              mesh->vertices[3 * corner[0] + k % 3];

        /* a = d_0 x d_1, twice the area. */
        double a[3];
        for (int k = 0; k < 3; k++)
            a[k] = d[0][(k + 1) % 3] * d[1][(k + 2) % 3] - d[0][(k + 2) % 3] * d[1][(k + 1) % 3];

        for (int k = 0; k < 3; k++) sum[k] += a[k];
        area += sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    }
    return area > 0 ? sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]) / area : 0;
}

bool is_open_sheet(const tw_mesh *mesh, const tw_mesh_quality *quality)
{
    return quality->open_edges > 0 && open_share(mesh) > OPEN_SHARE;
}

void warn_of_fill(const char *path, const tw_fill_report *report)
{
    char text[400];
    tw_fill_report_text(report, text, sizeof text);
    if (text[0]) fprintf(stderr, "twang: %s: %s\n", printable(path), text);
}
