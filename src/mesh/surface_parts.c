/* The connected parts of a surface: what each encloses, and which of them a solid has lost. */
#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/mesh_internal.h"

void tw_surface_find_parts(const tw_mesh *surface, int64_t *parent, double *volume)
{
    for (int64_t i = 0; i < surface->vertex_count; i++) {
        parent[i] = i;
        volume[i] = 0.0;
    }
    for (int64_t i = 0; i < surface->triangle_count; i++) {
        const int64_t *t = surface->triangles + 3 * i;
        tw_set_join(parent, t[0], t[1]);
        tw_set_join(parent, t[0], t[2]);
    }

    /* V = sum (a . (b x c)) / 6, with the vertex that stands for the part as origin. */
    for (int64_t i = 0; i < surface->triangle_count; i++) {
        const int64_t *t = surface->triangles + 3 * i;
        int64_t part = tw_set_find(parent, t[0]);
        vec3 origin = vec3_at(surface->vertices, part);
        vec3 a = vec3_subtract(vec3_at(surface->vertices, t[0]), origin);
        vec3 b = vec3_subtract(vec3_at(surface->vertices, t[1]), origin);
        vec3 c = vec3_subtract(vec3_at(surface->vertices, t[2]), origin);
        volume[part] += vec3_dot(a, vec3_cross(b, c)) / 6.0;
    }
}

/* ---- what a solid has lost ---- */

/* Memory for the search, per vertex of the surface. */
typedef struct part_memory {
    int64_t *parent; /* the vertex that stands for its part */
    double *volume;  /* per such vertex: what the part encloses */
    char *
        is_missed; /* per such vertex: nothing of the solid is known to be inside the part; zeroed */
} part_memory;

/* Marks the parts that enclose something and are outside of the solid with every vertex. Returns how
 * many they are. */
static int64_t mark_outside(const tw_mesh *surface, const double *gaps, const part_memory *m)
{
    for (int64_t i = 0; i < 3 * surface->triangle_count; i++) {
        int64_t part = tw_set_find(m->parent, surface->triangles[i]);
        if (m->volume[part] > 0.0) m->is_missed[part] = 1;
    }
    for (int64_t i = 0; i < surface->vertex_count; i++)
        if (gaps[i] == 0.0) m->is_missed[tw_set_find(m->parent, i)] = 0;

    int64_t count = 0;
    for (int64_t i = 0; i < surface->vertex_count; i++) count += m->is_missed[i];
    return count;
}

static vec3 middle_of(const tw_mesh *solid, int64_t tetrahedron)
{
    const int64_t *corner = solid->tetrahedra + 4 * tetrahedron;
    vec3 sum = vec3_at(solid->vertices, corner[0]);
    for (int k = 1; k < 4; k++) sum = vec3_add(sum, vec3_at(solid->vertices, corner[k]));
    return vec3_scale(0.25, sum);
}

/* Whether a point is behind the plane of a triangle. */
static bool is_behind(const tw_mesh *surface, int64_t triangle, vec3 point)
{
    const int64_t *t = surface->triangles + 3 * triangle;
    vec3 a = vec3_at(surface->vertices, t[0]);
    vec3 b = vec3_subtract(vec3_at(surface->vertices, t[1]), a);
    vec3 c = vec3_subtract(vec3_at(surface->vertices, t[2]), a);
    return vec3_dot(vec3_subtract(point, a), vec3_cross(b, c)) < 0.0;
}

/* Takes the marks off the parts in which a tetrahedron has its middle: it is behind the triangle that
 * is nearest to it. The corners of a box, say, are outside of the solid inside the box. */
static void find_again(const tw_winding *input, const tw_mesh *solid, int64_t missed,
                       const part_memory *m)
{
    for (int64_t i = 0; i < solid->tetrahedron_count && missed > 0; i++) {
        vec3 middle = middle_of(solid, i);
        int64_t triangle = tw_winding_nearest(input, middle);
        if (triangle < 0) continue;

        int64_t part = tw_set_find(m->parent, input->surface->triangles[3 * triangle]);
        if (!m->is_missed[part] || !is_behind(input->surface, triangle, middle)) continue;
        m->is_missed[part] = 0;
        missed--;
    }
}

/* The longest side of the box around a part. */
static double size_of(const tw_mesh *surface, const part_memory *m, int64_t part)
{
    vec3 first = vec3_at(surface->vertices, part);
    double lower[3] = {first.x, first.y, first.z};
    double upper[3] = {first.x, first.y, first.z};
    for (int64_t i = 0; i < surface->vertex_count; i++) {
        if (tw_set_find(m->parent, i) != part) continue;
        for (int k = 0; k < 3; k++) {
            lower[k] = fmin(lower[k], surface->vertices[3 * i + k]);
            upper[k] = fmax(upper[k], surface->vertices[3 * i + k]);
        }
    }

    double size = 0.0;
    for (int k = 0; k < 3; k++) size = fmax(size, upper[k] - lower[k]);
    return size;
}

static void find_lost(const tw_winding *input, const tw_mesh *solid, const double *gaps,
                      const part_memory *m, tw_fill_report *report)
{
    const tw_mesh *surface = input->surface;
    tw_surface_find_parts(surface, m->parent, m->volume);
    find_again(input, solid, mark_outside(surface, gaps, m), m);

    /* The largest of them, by its volume, is told by its size. */
    int64_t largest = -1;
    for (int64_t i = 0; i < surface->vertex_count; i++) {
        if (!m->is_missed[i]) continue;
        report->lost_components++;
        if (largest < 0 || m->volume[i] > m->volume[largest]) largest = i;
    }
    report->lost_size = largest < 0 ? 0.0 : size_of(surface, m, largest);
}

tw_status tw_fill_find_lost_parts(const tw_winding *input, const tw_mesh *solid, const double *gaps,
                                  tw_fill_report *report, tw_error *error)
{
    int64_t count = input->surface->vertex_count;
    part_memory memory = {.parent = TW_NEW_ARRAY(count, int64_t),
                          .volume = TW_NEW_ARRAY(count, double),
                          .is_missed = tw_allocate_zeroed((size_t)count, 1)};
    tw_status status = TW_OK;
    if (memory.parent && memory.volume && memory.is_missed)
        find_lost(input, solid, gaps, &memory, report);
    else
        status = tw_fail_plain(error, TW_OUT_OF_MEMORY);

    tw_release(memory.parent);
    tw_release(memory.volume);
    tw_release(memory.is_missed);
    return status;
}
