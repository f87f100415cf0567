/* Putting solids together: checks, masses, ten-node elements from four-node ones. */
#include <twang/solid.h>

#include <math.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/vector.h"
#include "model/model_internal.h"
#include "model/solid_forces.h"
#include "model/tetrahedron.h"

tw_solid_material tw_solid_material_default(void)
{
    return (tw_solid_material){.law = TW_SOLID_COROTATIONAL, 1e6, 0.3, 1000.0};
}

static tw_status check_material(const tw_solid_material *m, tw_error *error)
{
    if (m->law != TW_SOLID_LINEAR && m->law != TW_SOLID_COROTATIONAL &&
        m->law != TW_SOLID_NEO_HOOKEAN)
        return tw_fail(error, TW_INVALID_ARGUMENT, "unknown law %d of a solid", (int)m->law);
    if (!(m->youngs_modulus > 0.0) || !isfinite(m->youngs_modulus))
        return tw_fail(error, TW_INVALID_ARGUMENT, "Young's modulus must be positive, not %g",
                       m->youngs_modulus);
    if (!(m->poisson_ratio > -1.0 && m->poisson_ratio < 0.5))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "Poisson's ratio must lie between -1 and 1/2, not at %g", m->poisson_ratio);
    return TW_OK;
}

/* Its particles exist and are different ones. */
static tw_status check_nodes(int nodes, const int64_t *element, int64_t e, int64_t particle_count,
                             tw_error *error)
{
    for (int a = 0; a < nodes; a++) {
        if (element[a] < 0 || element[a] >= particle_count)
            return tw_fail(error, TW_INVALID_ARGUMENT,
                           "element %lld has no particle %lld to use: there are %lld", (long long)e,
                           (long long)element[a], (long long)particle_count);
        for (int b = 0; b < a; b++)
            if (element[a] == element[b])
                return tw_fail(error, TW_INVALID_ARGUMENT, "element %lld uses particle %lld twice",
                               (long long)e, (long long)element[a]);
    }
    return TW_OK;
}

/* *volume of the element; it must have one, and its middle nodes must lie in the middle. */
static tw_status check_geometry(int nodes, const int64_t *element, int64_t e, const double *x,
                                double *volume, tw_error *error)
{
    const double *corner[4];
    double gradient[3][3];
    for (int c = 0; c < 4; c++) corner[c] = x + 3 * element[c];
    *volume = tw_tetrahedron_gradients(corner, gradient);
    if (*volume == 0.0)
        return tw_fail(error, TW_INVALID_ARGUMENT, "element %lld has no volume", (long long)e);
    for (int a = 4; a < nodes; a++) {
        const double *p = corner[tw_tetrahedron_edges[a - 4][0]],
                     *q = corner[tw_tetrahedron_edges[a - 4][1]];
        const double *middle = x + 3 * element[a];
        double length = 0.0, off = 0.0;
        for (int k = 0; k < 3; k++) {
            length = fmax(length, fabs(q[k] - p[k]));
            off = fmax(off, fabs(middle[k] - 0.5 * (p[k] + q[k])));
        }
        if (off > 1e-6 * length)
            return tw_fail(error, TW_INVALID_ARGUMENT,
                           "node %d of element %lld is not in the middle of its edge", a,
                           (long long)e);
    }
    return TW_OK;
}

static tw_status check_elements(int nodes, int64_t count, const int64_t *elements, tw_error *error)
{
    if (!tw_shape_of(nodes))
        return tw_fail(error, TW_INVALID_ARGUMENT, "a tetrahedron has 4 or 10 nodes, not %d",
                       nodes);
    if (count < 0 || (count && !elements)) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    if (count > INT32_MAX / 64) return tw_fail(error, TW_UNSUPPORTED, "more than 2^25 elements");
    return TW_OK;
}

tw_status tw_model_add_tetrahedra(tw_model *model, int nodes, int64_t count,
                                  const int64_t *elements, const double *rest,
                                  const tw_solid_material *material, tw_error *error)
{
    if (!model || !material) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    tw_status status = check_elements(nodes, count, elements, error);
    if (status == TW_OK) status = check_material(material, error);
    const tw_particles *p = &model->particles;
    if (status == TW_OK && rest && !tw_vector_is_finite(3 * p->count, rest))
        status = tw_fail(error, TW_NOT_FINITE, "a position at rest is not finite");
    if (!rest) rest = p->position;
    for (int64_t e = 0; e < count && status == TW_OK; e++) {
        double volume;
        status = check_nodes(nodes, elements + nodes * e, e, p->count, error);
        if (status == TW_OK)
            status = check_geometry(nodes, elements + nodes * e, e, rest, &volume, error);
    }
    if (status != TW_OK || count == 0) return status;
    tw_force force;
    status = tw_force_tetrahedra_create(nodes, count, elements, rest, material, &force);
    return status == TW_OK ? tw_model_add_force(model, &force, error)
                           : tw_fail_plain(error, status);
}

/* What the two functions of mass check alike. */
static tw_status check_masses(int nodes, int64_t count, const int64_t *elements,
                              const double *positions, double density, tw_error *error)
{
    if (!positions) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    if (!(density > 0.0) || !isfinite(density))
        return tw_fail(error, TW_INVALID_ARGUMENT, "the density must be positive, not %g", density);
    return check_elements(nodes, count, elements, error);
}

static tw_status find_volume(int nodes, const int64_t *element, int64_t e, int64_t particle_count,
                             const double *x, double *volume, tw_error *error)
{
    tw_status status = check_nodes(nodes, element, e, particle_count, error);
    return status == TW_OK ? check_geometry(nodes, element, e, x, volume, error) : status;
}

tw_status tw_solid_lumped_mass(int nodes, int64_t count, const int64_t *elements,
                               int64_t particle_count, const double *positions, double density,
                               double *masses, tw_error *error)
{
    if (!masses) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    tw_status status = check_masses(nodes, count, elements, positions, density, error);
    for (int64_t e = 0; e < count && status == TW_OK; e++) {
        const int64_t *element = elements + nodes * e;
        double volume;
        status = find_volume(nodes, element, e, particle_count, positions, &volume, error);
        for (int a = 0; a < nodes && status == TW_OK; a++)
            masses[element[a]] += density * volume * tw_shape_of(nodes)->lumped[a];
    }
    return status;
}

tw_status tw_solid_element_mass(int nodes, int64_t count, const int64_t *elements,
                                int64_t particle_count, const double *positions, double density,
                                double *element_mass, tw_error *error)
{
    if (!element_mass) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    tw_status status = check_masses(nodes, count, elements, positions, density, error);
    for (int64_t e = 0; e < count && status == TW_OK; e++) {
        double volume;
        status =
            find_volume(nodes, elements + nodes * e, e, particle_count, positions, &volume, error);
        if (status == TW_OK) element_mass[e] = density * volume;
    }
    return status;
}

tw_status tw_model_add_consistent_mass(tw_model *model, int nodes, int64_t count,
                                       const int64_t *elements, const double *element_mass,
                                       tw_error *error)
{
    if (!model || (count > 0 && !element_mass)) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    tw_status status = check_elements(nodes == 2 ? 4 : nodes, count, elements, error);
    for (int64_t e = 0; e < count && status == TW_OK; e++) {
        status = check_nodes(nodes, elements + nodes * e, e, model->particles.count, error);
        if (status == TW_OK && (!(element_mass[e] > 0.0) || !isfinite(element_mass[e])))
            status = tw_fail(error, TW_INVALID_ARGUMENT,
                             "the mass of element %lld must be positive", (long long)e);
    }
    if (status != TW_OK || count == 0) return status;
    int32_t *particle = TW_NEW_ARRAY(nodes * count, int32_t);
    if (!particle) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    for (int64_t i = 0; i < nodes * count; i++) particle[i] = (int32_t)elements[i];
    status = tw_consistent_mass_add(&model->mass,
                                    &(tw_mass_group){nodes, count, particle, element_mass});
    tw_release(particle);
    return status == TW_OK ? TW_OK : tw_fail_plain(error, status);
}

/* An edge of an element: its vertices in ascending order, and which entry of `elements` is to name its middle. */
typedef struct half_edge {
    int64_t a, b, entry;
} half_edge;

static int compare_edges(const void *left, const void *right)
{
    const half_edge *x = left, *y = right;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    if (x->b != y->b) return x->b < y->b ? -1 : 1;
    return (x->entry > y->entry) - (x->entry < y->entry);
}

tw_status tw_solid_quadratic(int64_t vertex_count, int64_t count, const int64_t *corners,
                             int64_t *elements, int64_t *edges, int64_t *edge_count,
                             tw_error *error)
{
    if (!edge_count || (count > 0 && (!elements || !edges)))
        return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    tw_status status = check_elements(4, count, corners, error);
    for (int64_t e = 0; e < count && status == TW_OK; e++)
        status = check_nodes(4, corners + 4 * e, e, vertex_count, error);
    if (status != TW_OK) return status;
    half_edge *list = TW_NEW_ARRAY(6 * count, half_edge);
    if (!list) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    for (int64_t e = 0; e < count; e++) {
        for (int c = 0; c < 4; c++) elements[10 * e + c] = corners[4 * e + c];
        for (int k = 0; k < 6; k++) {
            int64_t a = corners[4 * e + tw_tetrahedron_edges[k][0]],
                    b = corners[4 * e + tw_tetrahedron_edges[k][1]];
            list[6 * e + k] = (half_edge){a < b ? a : b, a < b ? b : a, 10 * e + 4 + k};
        }
    }
    qsort(list, 6 * (size_t)count, sizeof *list, compare_edges);
    *edge_count = 0;
    for (int64_t i = 0; i < 6 * count; i++) {
        if (i == 0 || list[i].a != list[i - 1].a || list[i].b != list[i - 1].b) {
            edges[2 * *edge_count] = list[i].a;
            edges[2 * *edge_count + 1] = list[i].b;
            ++*edge_count;
        }
        elements[list[i].entry] = vertex_count + *edge_count - 1;
    }
    tw_release(list);
    return TW_OK;
}
