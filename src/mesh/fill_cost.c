/* What it costs to fill a surface, estimated before it begins. */
#include "base/available_memory.h"
#include "base/fail.h"
#include "base/log_line.h"
#include "mesh/mesh_internal.h"

/* Measured on an octahedron, a tetrahedron and a bunny of 50,000 and 200,000 vertices, rounded up:
 * tetrahedra, faces to sort and pieces take the memory; up to twelve trials of the cell take the
 * time, here of one processor. */
static const double bytes_per_vertex = 1800.0;
static const double seconds_per_vertex = 60e-6;

/* A lattice has two numbers of 8 bytes and three bytes of marks per node, and each trial looks
 * whether a node is inside, which matters where the surface encloses little of its bounding box. */
static const double bytes_per_node = 19.0;
static const double seconds_per_node = 40e-6;

static const double bytes_per_gigabyte = 1e9;
static const double seconds_per_minute = 60.0;

/* Users hear of what takes longer before it begins [s]. */
static const double long_time = 60.0;

tw_status tw_fill_check_cost(const tw_winding *winding, double volume, double wanted,
                             tw_error *error)
{
    /* A cube of the lattice has two nodes. About `wanted` of them are inside. */
    const tw_box *box = &winding->tree.nodes[0].box;
    double box_volume = 1.0;
    for (int k = 0; k < 3; k++) box_volume *= box->upper[k] - box->lower[k];
    double nodes_per_vertex = fmax(box_volume / volume, 1.0);

    double bytes_each = bytes_per_vertex + bytes_per_node * nodes_per_vertex;
    double bytes = wanted * bytes_each;
    double seconds = wanted * (seconds_per_vertex + seconds_per_node * (nodes_per_vertex - 1.0));
    double available = tw_available_memory();
    if (bytes > available)
        return tw_fail(error, TW_OUT_OF_MEMORY,
                       "%.0f vertices take about %.3g GB of memory and %.3g minutes, but %.3g GB "
                       "are free, expected at most %.2g vertices",
                       wanted, bytes / bytes_per_gigabyte, seconds / seconds_per_minute,
                       available / bytes_per_gigabyte, available / bytes_each);

    if (seconds > long_time)
        tw_log_line(TW_LOG_WARNING,
                    "filling with %.0f vertices takes about %.3g GB of memory and %.3g minutes",
                    wanted, bytes / bytes_per_gigabyte, seconds / seconds_per_minute);
    return TW_OK;
}
