#include "support/surfaces.h"

#include <check.h>
#include <math.h>
#include <string.h>

static const double pi = 3.141592653589793;

static void allocate(tw_mesh *out, int64_t vertices, int64_t triangles)
{
    ck_assert_int_eq(tw_mesh_allocate(out, vertices, 0, triangles, 0, NULL), TW_OK);
}

void surface_box(double x, double y, double z, tw_mesh *out)
{
    static const int64_t triangles[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                          2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    const double size[3] = {x, y, z};
    allocate(out, 8, 12);
    memcpy(out->triangles, triangles, sizeof triangles);
    for (int i = 0; i < 24; i++) out->vertices[i] = (i / 3 >> i % 3 & 1) * size[i % 3];
}

void surface_torus(double major, double minor, int around, int across, tw_mesh *out)
{
    allocate(out, (int64_t)around * across, 2 * (int64_t)around * across);
    for (int i = 0; i < around; i++)
        for (int j = 0; j < across; j++) {
            double u = 2.0 * pi * i / around, v = 2.0 * pi * j / across, r = major + minor * cos(v);
            int64_t p = i * across + j, q = (i + 1) % around * across + j;
            int64_t s = i * across + (j + 1) % across,
                    t = (i + 1) % around * across + (j + 1) % across;
            const double point[3] = {r * cos(u), r * sin(u), minor * sin(v)};
            const int64_t two[6] = {p, q, s, q, t, s};
            memcpy(out->vertices + 3 * p, point, sizeof point);
            memcpy(out->triangles + 6 * p, two, sizeof two);
        }
}

void surface_sphere(int rings, tw_mesh *out)
{
    const int w = 2 * rings;
    allocate(out, 2 + (int64_t)(rings - 1) * w, 2 * (int64_t)(rings - 1) * w);
    int64_t south = out->vertex_count - 1, *t = out->triangles;
    out->vertices[2] = 1.0;
    out->vertices[3 * south + 2] = -1.0;
    for (int i = 1; i < rings; i++)
        for (int j = 0; j < w; j++) {
            double theta = pi * i / rings, phi = pi * j / rings;
            int64_t a = 1 + (i - 1) * w + j, b = 1 + (i - 1) * w + (j + 1) % w;
            const double point[3] = {sin(theta) * cos(phi), sin(theta) * sin(phi), cos(theta)};
            const int64_t first[3] = {i == 1 ? 0 : a - w, a, b};
            const int64_t last[3] = {a, i == rings - 1 ? south : b + w, b};
            memcpy(out->vertices + 3 * a, point, sizeof point);
            memcpy(t, first, sizeof first);
            memcpy(t + 3, last, sizeof last);
            t += 6;
        }
}

void surface_join(tw_mesh *a, tw_mesh *b, const double move[3], tw_mesh *out)
{
    allocate(out, a->vertex_count + b->vertex_count, a->triangle_count + b->triangle_count);
    memcpy(out->vertices, a->vertices, (size_t)a->vertex_count * 24);
    memcpy(out->triangles, a->triangles, (size_t)a->triangle_count * 24);
    for (int64_t i = 0; i < 3 * b->vertex_count; i++)
        out->vertices[3 * a->vertex_count + i] = b->vertices[i] + move[i % 3];
    for (int64_t i = 0; i < 3 * b->triangle_count; i++)
        out->triangles[3 * a->triangle_count + i] = b->triangles[i] + a->vertex_count;
    tw_mesh_free(a);
    tw_mesh_free(b);
}

static void centroid(const tw_mesh *mesh, int64_t i, double out[3])
{
    const int64_t *t = mesh->triangles + 3 * i;
    for (int k = 0; k < 3; k++)
        out[k] = (mesh->vertices[3 * t[0] + k] + mesh->vertices[3 * t[1] + k] +
                  mesh->vertices[3 * t[2] + k]) /
                 3.0;
}

void surface_punch(tw_mesh *mesh, int64_t index, double radius)
{
    double middle[3], other[3];
    int64_t kept = 0;
    centroid(mesh, index, middle);
    for (int64_t i = 0; i < mesh->triangle_count; i++) {
        centroid(mesh, i, other);
        if (hypot(hypot(other[0] - middle[0], other[1] - middle[1]), other[2] - middle[2]) <=
            radius)
            continue;
        memmove(mesh->triangles + 3 * kept++, mesh->triangles + 3 * i, 3 * sizeof(int64_t));
    }
    mesh->triangle_count = kept;
}

void surface_transform(tw_mesh *mesh, const double A[9])
{
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        double *v = mesh->vertices + 3 * i, x = v[0], y = v[1], z = v[2];
        for (int k = 0; k < 3; k++) v[k] = A[3 * k] * x + A[3 * k + 1] * y + A[3 * k + 2] * z;
    }
}
