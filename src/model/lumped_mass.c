/* Lumped masses of lines, triangles and tetrahedra: each corner gets an equal share. */
#include <math.h>
#include <twang/forces.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/vector3.h"
#include "linalg/vector.h"

/* The length, area or volume of an element. */
static double measure(int corners, const int64_t *corner, const double *positions)
{
    /* The edges from corner 0. */
    double edge[3][3] = {{0.0}};
    for (int c = 1; c < corners; c++)
        for (int k = 0; k < 3; k++)
            edge[c - 1][k] = positions[3 * corner[c] + k] - positions[3 * corner[0] + k];

    if (corners == 2) return sqrt(tw_dot3(edge[0], edge[0]));
    double normal[3];
    tw_cross3(edge[0], edge[1], normal);
    if (corners == 3) return 0.5 * sqrt(tw_dot3(normal, normal));
    return fabs(tw_dot3(normal, edge[2])) / 6.0;
}

tw_status tw_lump_mass(int corners, int64_t element_count, const int64_t *elements,
                       int64_t particle_count, const double *positions, double density,
                       double *mass, tw_error *error)
{
    if (corners < 2 || corners > 4)
        return tw_fail(error, TW_INVALID_ARGUMENT, "elements have 2, 3 or 4 corners");
    if (!tw_is_count(element_count) || !tw_is_count(particle_count) || !(density > 0.0) ||
        !isfinite(density))
        return tw_fail(error, TW_INVALID_ARGUMENT, "a count or the density is out of range");
    if (element_count > 0 && (!elements || !positions || !mass))
        return tw_fail_plain(error, TW_INVALID_ARGUMENT);

    /* Only the positions of corners are read. */
    for (int64_t i = 0; i < corners * element_count; i++) {
        if (elements[i] < 0 || elements[i] >= particle_count)
            return tw_fail(error, TW_INVALID_ARGUMENT, "an element names particle %lld of %lld",
                           (long long)elements[i], (long long)particle_count);
        if (!tw_vector_is_finite(3, positions + 3 * elements[i]))
            return tw_fail(error, TW_NOT_FINITE, "the position of particle %lld is not finite",
                           (long long)elements[i]);
    }

    /* mass += density * size / corners. */
    for (int64_t e = 0; e < element_count; e++) {
        double share = density * measure(corners, elements + corners * e, positions) / corners;
        for (int c = 0; c < corners; c++) mass[elements[corners * e + c]] += share;
    }

    return TW_OK;
}
