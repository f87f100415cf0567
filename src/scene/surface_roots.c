#include "scene/surface_roots.h"

#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"

/* A corner of a triangle: where it is, and the normal there, of any length. */
typedef struct point {
    vec3 place;
    vec3 normal;
} point;

/* The part of the surface above a height, cut into triangles. */
typedef struct patch {
    point (*triangles)[3];
    double *area; /* of this triangle and all before it */
    int64_t count;
} patch;

static point between(point a, point b, double share)
{
    point p;
    p.place = vec3_add(vec3_scale(1.0 - share, a.place), vec3_scale(share, b.place));
    p.normal = vec3_add(vec3_scale(1.0 - share, a.normal), vec3_scale(share, b.normal));
    return p;
}

static void add_triangle(patch *p, point a, point b, point c)
{
    vec3 u = vec3_add_scaled(b.place, -1.0, a.place);
    vec3 v = vec3_add_scaled(c.place, -1.0, a.place);
    double before = p->count > 0 ? p->area[p->count - 1] : 0.0;
    p->area[p->count] = before + 0.5 * vec3_length(vec3_cross(u, v));
    p->triangles[p->count][0] = a;
    p->triangles[p->count][1] = b;
    p->triangles[p->count][2] = c;
    p->count++;
}

/* Adds the part of a triangle with z >= lowest: it has three or four corners, or none. */
static void add_part_above(patch *p, const point corners[3], double lowest)
{
    point kept[4];
    int count = 0;
    for (int c = 0; c < 3; c++) {
        point here = corners[c];
        point next = corners[(c + 1) % 3];
        bool is_above = here.place.z >= lowest;
        if (is_above) kept[count++] = here;

        /* The edge to the next corner crosses the height. */
        if (is_above != (next.place.z >= lowest))
            kept[count++] =
                between(here, next, (lowest - here.place.z) / (next.place.z - here.place.z));
    }

    if (count >= 3) add_triangle(p, kept[0], kept[1], kept[2]);
    if (count == 4) add_triangle(p, kept[0], kept[2], kept[3]);
}

/* Normals of the vertices: sums of the normals of their triangles, weighted by area. */
static void sum_normals(const tw_mesh *surface, double *normals)
{
    for (int64_t i = 0; i < surface->triangle_count; i++) {
        const int64_t *t = surface->triangles + 3 * i;
        vec3 a = vec3_at(surface->vertices, t[0]);
        vec3 u = vec3_add_scaled(vec3_at(surface->vertices, t[1]), -1.0, a);
        vec3 v = vec3_add_scaled(vec3_at(surface->vertices, t[2]), -1.0, a);
        vec3 normal = vec3_cross(u, v);
        for (int c = 0; c < 3; c++)
            vec3_store(normals, t[c], vec3_add(vec3_at(normals, t[c]), normal));
    }
}

static void cut(const tw_mesh *surface, const double *normals, double upper, patch *p)
{
    double low[3];
    double high[3];
    tw_mesh_bounds(surface, low, high);
    double lowest = high[2] - upper * (high[2] - low[2]);

    for (int64_t i = 0; i < surface->triangle_count; i++) {
        point corners[3];
        for (int c = 0; c < 3; c++) {
            int64_t vertex = surface->triangles[3 * i + c];
            corners[c] = (point){vec3_at(surface->vertices, vertex), vec3_at(normals, vertex)};
        }
        add_part_above(p, corners, lowest);
    }
}

/* The first triangle whose sum of areas is above `area`. */
static int64_t triangle_at(const patch *p, double area)
{
    int64_t low = 0;
    int64_t high = p->count - 1;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (p->area[middle] > area)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The direction down along the surface; any other along it where that is not defined. */
static vec3 side_of(vec3 normal)
{
    vec3 down = {0.0, 0.0, -1.0};
    vec3 x = {1.0, 0.0, 0.0};
    double square = vec3_dot(normal, normal);
    vec3 side = vec3_add_scaled(down, -vec3_dot(down, normal) / square, normal);
    if (vec3_length(side) > 1e-6) return side;
    return vec3_add_scaled(x, -vec3_dot(x, normal) / square, normal);
}

/* Root i is at a random place of the i-th of `count` parts of equal area. */
static void scatter_over(const patch *p, const tw_root_scatter *scatter, tw_fibre_roots *out)
{
    double all = p->area[p->count - 1];
    for (int64_t i = 0; i < scatter->count; i++) {
        uint64_t index = 3 * (uint64_t)i;
        double share = ((double)i + tw_random_unit(scatter->seed, index)) / (double)scatter->count;
        const point *corners = p->triangles[triangle_at(p, share * all)];

        /* Uniform in the triangle: a + sqrt(r) ((b - a) + s (c - b)). */
        double r = sqrt(tw_random_unit(scatter->seed, index + 1));
        double s = tw_random_unit(scatter->seed, index + 2);
        point root = between(corners[0], between(corners[1], corners[2], s), r);

        /* A smoothed normal may vanish at a sharp edge: then that of the triangle counts. */
        vec3 u = vec3_add_scaled(corners[1].place, -1.0, corners[0].place);
        vec3 v = vec3_add_scaled(corners[2].place, -1.0, corners[0].place);
        vec3 flat = vec3_cross(u, v);
        if (!(vec3_dot(root.normal, flat) > 0.0)) root.normal = flat;

        vec3 normal = vec3_scale(1.0 / vec3_length(root.normal), root.normal);
        vec3_store(out->sides, out->count, side_of(normal));
        tw_fibre_roots_append(out, root.place, normal);
    }
}

tw_status tw_scatter_over_surface(const tw_mesh *surface, const tw_root_scatter *scatter,
                                  tw_fibre_roots *out, tw_error *error)
{
    /* A triangle has at most two parts. */
    int64_t parts = 2 * surface->triangle_count;
    double *normals = tw_allocate_zeroed((size_t)surface->vertex_count, 3 * sizeof *normals);
    patch p = {.triangles = tw_allocate_zeroed((size_t)parts, sizeof *p.triangles),
               .area = TW_NEW_ARRAY(parts, double)};

    tw_status status = TW_OK;
    if (!normals || !p.triangles || !p.area) {
        status = tw_fail_plain(error, TW_OUT_OF_MEMORY);
    } else {
        sum_normals(surface, normals);
        cut(surface, normals, scatter->upper, &p);
        scatter_over(&p, scatter, out);
    }
    tw_release(normals);
    tw_release(p.triangles);
    tw_release(p.area);
    return status;
}
