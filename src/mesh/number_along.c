/* Numbers the vertices of a mesh along its longest axis.
 *
 * The lattice numbers its vertices by kind, so that neighbours would be far from each other in
 * memory, and in the matrix far from the diagonal. Along the longest axis neighbours are at most about
 * two layers of the lattice apart. */
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/mesh_internal.h"

/* Places along the axis that are told apart: many more than a mesh has layers. */
static const int64_t PLACES = 1 << 20;

/* The axis along which the vertices extend most, and where they begin and end on it. */
static int longest_axis(const tw_mesh *mesh, double *low, double *high)
{
    int axis = 0;
    *low = 0;
    *high = 0;
    for (int k = 0; k < 3; k++) {
        double least = INFINITY;
        double most = -INFINITY;
        for (int64_t i = 0; i < mesh->vertex_count; i++) {
            least = fmin(least, mesh->vertices[3 * i + k]);
            most = fmax(most, mesh->vertices[3 * i + k]);
        }
        if (!(most - least > *high - *low)) continue;
        axis = k;
        *low = least;
        *high = most;
    }
    return axis;
}

/* order = the vertices as they follow each other on the axis. */
static tw_status sort_along_axis(const tw_mesh *mesh, int64_t *place, int64_t *order,
                                 tw_error *error)
{
    double low = 0;
    double high = 0;
    int axis = longest_axis(mesh, &low, &high);
    double scale = high > low ? (double)(PLACES - 1) / (high - low) : 0;
    for (int64_t i = 0; i < mesh->vertex_count; i++)
        place[i] = (int64_t)((mesh->vertices[3 * i + axis] - low) * scale);
    return tw_tuple_sort(mesh->vertex_count, 1, place, PLACES, order, error);
}

/* The vertex order[i] becomes number i. */
static void move_vertices(tw_mesh *mesh, const int64_t *order, double *before, int64_t *numbers)
{
    memcpy(before, mesh->vertices, 3 * (size_t)mesh->vertex_count * sizeof *before);
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        memcpy(mesh->vertices + 3 * i, before + 3 * order[i], 3 * sizeof *before);
        numbers[order[i]] = i;
    }
    tw_mesh_renumber(mesh, numbers);
}

tw_status tw_mesh_number_along(tw_mesh *mesh, tw_error *error)
{
    int64_t count = mesh->vertex_count;
    int64_t *order = TW_NEW_ARRAY(count, int64_t);
    int64_t *numbers = TW_NEW_ARRAY(count, int64_t);
    double *before = TW_NEW_ARRAY(3 * count, double);
    tw_status status = TW_OUT_OF_MEMORY;

    if (order && numbers && before)
        status = sort_along_axis(mesh, numbers, order, error);
    else
        tw_fail_plain(error, status);
    if (status == TW_OK) move_vertices(mesh, order, before, numbers);

    tw_release(order);
    tw_release(numbers);
    tw_release(before);
    return status;
}
