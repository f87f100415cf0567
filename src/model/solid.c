/* Adding solids to a model: checks, masses, ten-node elements from four-node ones. */
#include <twang/solid.h>

#include <math.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/vector.h"
#include "model/model_internal.h"
#include "model/tetrahedron.h"

/* A middle node may be off the middle of its edge by this share of the edge. */
static const double middle_tolerance = 1e-6;

tw_solid_material tw_solid_material_default(void)
{
    return (tw_solid_material){.law = TW_SOLID_COROTATIONAL,
                               .youngs_modulus = 1e6,
                               .poisson_ratio = 0.3,
                               .density = 1000.0};
}

static tw_status check_material(const tw_solid_material *m, tw_error *error)
{
    /* The law is one of the three. */
    if (m->law != TW_SOLID_LINEAR && m->law != TW_SOLID_COROTATIONAL &&
        m->law != TW_SOLID_NEO_HOOKEAN)
        return tw_fail(error, TW_INVALID_ARGUMENT, "unknown law %d of a solid", (int)m->law);

    /* With E > 0 and -1 < nu < 1/2 the material is stable. */
    if (!(m->youngs_modulus > 0.0) || !isfinite(m->youngs_modulus))
        return tw_fail(error, TW_INVALID_ARGUMENT, "Young's modulus must be positive, not %g",
                       m->youngs_modulus);

    if (!(m->poisson_ratio > -1.0 && m->poisson_ratio < 0.5))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "Poisson's ratio must lie between -1 and 1/2, not at %g", m->poisson_ratio);

    /* The elements do not use the density, but nobody means one that is none. */
    if (!(m->density >= 0.0) || isinf(m->density))
        return tw_fail(error, TW_INVALID_ARGUMENT, "the density must be finite, not %g",
                       m->density);

    return TW_OK;
}

/* Checks that the particles of an element exist and are different. */
static tw_status check_nodes(int nodes, const int64_t *element, int64_t e, int64_t particle_count,
                             tw_error *error)
{
    for (int a = 0; a < nodes; a++) {
        if (element[a] < 0 || element[a] >= particle_count)
            return tw_fail(error, TW_INVALID_ARGUMENT,
                           "element %lld has no particle %lld to use: there are %lld", (long long)e,
                           (long long)element[a], (long long)particle_count);

        /* No particle comes twice. */
        for (int b = 0; b < a; b++)
            if (element[a] == element[b])
                return tw_fail(error, TW_INVALID_ARGUMENT, "element %lld uses particle %lld twice",
                               (long long)e, (long long)element[a]);
    }

    return TW_OK;
}

/* How far node a >= 4 is from the middle of its edge, relative to the length of the edge. */
static double distance_from_middle(const double *const corner[4], int a, const double *middle)
{
    const double *p = corner[tw_tetrahedron_edges[a - 4][0]];
    const double *q = corner[tw_tetrahedron_edges[a - 4][1]];
    double length = 0.0;
    double off = 0.0;

    /* The longest component of the edge and of the deviation. */
    for (int k = 0; k < 3; k++) {
        length = fmax(length, fabs(q[k] - p[k]));
        off = fmax(off, fabs(middle[k] - 0.5 * (p[k] + q[k])));
    }

    return off / length;
}

/* Finds the volume of the element. It must have one, and its middle nodes must lie in the
 * middle of their edges. */
static tw_status check_geometry(int nodes, const int64_t *element, int64_t e, const double *x,
                                double *volume, tw_error *error)
{
    const double *corner[4];
    double gradient[3][3];

    for (int c = 0; c < 4; c++) corner[c] = x + 3 * element[c];
    *volume = tw_tetrahedron_gradients(corner, gradient);
    if (*volume == 0.0)
        return tw_fail(error, TW_INVALID_ARGUMENT, "element %lld has no volume", (long long)e);

    /* Ten-node elements have straight edges with their nodes in the middle. */
    for (int a = 4; a < nodes; a++) {
        if (distance_from_middle(corner, a, x + 3 * element[a]) > middle_tolerance)
            return tw_fail(error, TW_INVALID_ARGUMENT,
                           "node %d of element %lld is not in the middle of its edge", a,
                           (long long)e);
    }

    return TW_OK;
}

/* Checks an element and finds its volume. */
static tw_status find_volume(int nodes, const int64_t *element, int64_t e, int64_t particle_count,
                             const double *x, double *volume, tw_error *error)
{
    TW_TRY(check_nodes(nodes, element, e, particle_count, error));
    return check_geometry(nodes, element, e, x, volume, error);
}

/* Checks what does not depend on a single element. */
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
    TW_TRY(check_elements(nodes, count, elements, error));
    TW_TRY(check_material(material, error));
    const tw_particles *p = &model->particles;
    if (rest && !tw_vector_is_finite(3 * p->count, rest))
        return tw_fail(error, TW_NOT_FINITE, "a position at rest is not finite");

    /* Without given positions at rest, the solid is at rest where its particles are. */
    if (!rest) rest = p->position;
    for (int64_t e = 0; e < count; e++) {
        double volume;
        TW_TRY(find_volume(nodes, elements + nodes * e, e, p->count, rest, &volume, error));
    }
    if (count == 0) return TW_OK;

    /* Everything is checked: the force copies it. */
    tw_force force;
    tw_status status = tw_force_tetrahedra_create(nodes, count, elements, rest, material, &force);
    if (status != TW_OK) return tw_fail_plain(error, status);
    return tw_model_add_force(model, &force, error);
}

/* ---- masses ---- */

/* Checks the arguments of the two functions that follow. */
static tw_status check_masses(int nodes, int64_t count, const int64_t *elements,
                              const double *positions, double density, tw_error *error)
{
    if (!positions) return tw_fail_plain(error, TW_INVALID_ARGUMENT);

    if (!(density > 0.0) || !isfinite(density))
        return tw_fail(error, TW_INVALID_ARGUMENT, "the density must be positive, not %g", density);
    return check_elements(nodes, count, elements, error);
}

tw_status tw_solid_lumped_mass(int nodes, int64_t count, const int64_t *elements,
                               int64_t particle_count, const double *positions, double density,
                               double *masses, tw_error *error)
{
    if (!masses || !tw_is_count(particle_count)) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    tw_status status = check_masses(nodes, count, elements, positions, density, error);

    /* Each node gets its share of the mass of the element. */
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
    if (!element_mass || !tw_is_count(particle_count))
        return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    tw_status status = check_masses(nodes, count, elements, positions, density, error);

    /* element_mass = density * volume. */
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

    /* Bars have two nodes, and for the rest they are checked like tetrahedra. */
    tw_status status = check_elements(nodes == 2 ? 4 : nodes, count, elements, error);
    for (int64_t e = 0; e < count && status == TW_OK; e++) {
        status = check_nodes(nodes, elements + nodes * e, e, model->particles.count, error);
        if (status == TW_OK && (!(element_mass[e] > 0.0) || !isfinite(element_mass[e])))
            status = tw_fail(error, TW_INVALID_ARGUMENT,
                             "the mass of element %lld must be positive", (long long)e);
    }
    if (status != TW_OK || count == 0) return status;

    /* Groups name their particles by 32 bits. */
    int32_t *particle = TW_NEW_ARRAY(nodes * count, int32_t);
    if (!particle) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    for (int64_t i = 0; i < nodes * count; i++) particle[i] = (int32_t)elements[i];
    tw_mass_group group = {nodes, count, particle, element_mass};
    status = tw_consistent_mass_add(&model->mass, &group);
    tw_release(particle);
    if (status != TW_OK) return tw_fail_plain(error, status);
    return TW_OK;
}

/* ---- ten nodes ---- */

/* An edge of an element, a < b, and the entry of `elements` that is to name its middle. */
typedef struct half_edge {
    int64_t a;
    int64_t b;
    int64_t entry;
} half_edge;

static int compare_edges(const void *left, const void *right)
{
    const half_edge *x = left;
    const half_edge *y = right;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    if (x->b != y->b) return x->b < y->b ? -1 : 1;
    return (x->entry > y->entry) - (x->entry < y->entry);
}

/* Copies the corners of all elements, and lists their edges so that equal
 * ones follow each other. */
static void list_edges(int64_t count, const int64_t *corners, int64_t *elements, half_edge *list)
{
    for (int64_t e = 0; e < count; e++) {
        for (int c = 0; c < 4; c++) elements[10 * e + c] = corners[4 * e + c];
        for (int k = 0; k < 6; k++) {
            int64_t a = corners[4 * e + tw_tetrahedron_edges[k][0]];
            int64_t b = corners[4 * e + tw_tetrahedron_edges[k][1]];
            list[6 * e + k] = (half_edge){a < b ? a : b, a < b ? b : a, 10 * e + 4 + k};
        }
    }
    qsort(list, 6 * (size_t)count, sizeof *list, compare_edges);
}

tw_status tw_solid_quadratic(int64_t vertex_count, int64_t count, const int64_t *corners,
                             int64_t *elements, int64_t *edges, int64_t *edge_count,
                             tw_error *error)
{
    if (!edge_count || !tw_is_count(vertex_count) || (count > 0 && (!elements || !edges)))
        return tw_fail_plain(error, TW_INVALID_ARGUMENT);

    tw_status status = check_elements(4, count, corners, error);
    for (int64_t e = 0; e < count && status == TW_OK; e++)
        status = check_nodes(4, corners + 4 * e, e, vertex_count, error);
    if (status != TW_OK) return status;

    half_edge *list = TW_NEW_ARRAY(6 * count, half_edge);
    if (!list) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    list_edges(count, corners, elements, list);

    /* Each new edge gets the next vertex as its middle. */
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
