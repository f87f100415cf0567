/* TetGen: vertices in .node, tetrahedra in .ele. Numbers count from 0 or from 1, as that
 * of the first vertex tells. */
#include "base/fail.h"
#include "mesh/mesh_formats.h"

/* Of second order there are six nodes on the edges, behind the four corners. */
enum { MOST_NODES = 10 };

static tw_status skip_attributes(tw_scan *scan, int64_t count)
{
    double value = 0.0;
    for (int64_t i = 0; i < count; i++)
        TW_TRY(tw_scan_real(scan, TW_SCAN_FLOAT64, "an attribute or a marker", &value));
    return TW_OK;
}

tw_status tw_read_tetgen_nodes(tw_scan *scan, tw_builder *out, int64_t *first)
{
    /* The first line: number of vertices, dimension, number of attributes, number of markers. */
    int64_t count = 0;
    int64_t dimension = 0;
    int64_t attributes = 0;
    int64_t markers = 0;
    scan->comment = '#';
    TW_TRY(tw_scan_integer(scan, TW_SCAN_INT64, "the number of vertices", 1, INT64_MAX, &count));
    TW_TRY(tw_scan_integer(scan, TW_SCAN_INT64, "a dimension", 3, 3, &dimension));
    TW_TRY(tw_scan_integer(scan, TW_SCAN_INT64, "a number of attributes", 0, 1000, &attributes));
    TW_TRY(tw_scan_integer(scan, TW_SCAN_INT64, "a number of markers", 0, 1, &markers));

    /* The first vertex has the number 0 or 1; the others follow it. */
    *first = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t low = *first + i;
        int64_t high = i == 0 ? 1 : low;
        int64_t number = 0;
        TW_TRY(
            tw_scan_integer(scan, TW_SCAN_INT64, "the number of the vertex", low, high, &number));
        if (i == 0) *first = number;

        double point[3];
        TW_TRY(tw_scan_point(scan, TW_SCAN_FLOAT64, "a coordinate", point));
        TW_TRY(skip_attributes(scan, attributes + markers));
        TW_TRY(tw_scan_check_memory(scan, tw_builder_vertex(out, point)));
    }

    if (tw_scan_word(scan))
        return tw_scan_fail(scan, "'%.60s' after the last vertex, expected the file to end",
                            scan->word);

    return TW_OK;
}

/* Reads the nodes of a tetrahedron and adds its corners. */
static tw_status read_tetrahedron(tw_scan *scan, tw_builder *out, int64_t first, int64_t nodes)
{
    int64_t last = first + out->mesh.vertex_count - 1;
    int64_t node[MOST_NODES] = {0};

    /* Numbers of vertices count from `first`. */
    for (int k = 0; k < nodes; k++) {
        TW_TRY(
            tw_scan_integer(scan, TW_SCAN_INT64, "the number of a vertex", first, last, node + k));
        node[k] -= first;
    }

    return tw_scan_check_memory(scan, tw_builder_tetrahedron(out, node));
}

tw_status tw_read_tetgen_elements(tw_scan *scan, tw_builder *out, int64_t first)
{
    /* The first line: number of tetrahedra, vertices per tetrahedron, number of attributes. */
    int64_t count = 0;
    int64_t nodes = 0;
    int64_t attributes = 0;
    scan->comment = '#';
    TW_TRY(tw_scan_integer(scan, TW_SCAN_INT64, "the number of tetrahedra", 1, INT64_MAX, &count));
    TW_TRY(tw_scan_integer(scan, TW_SCAN_INT64, "vertices per tetrahedron", 4, MOST_NODES, &nodes));
    if (nodes != 4 && nodes != MOST_NODES)
        return tw_scan_fail(scan, "%lld vertices per tetrahedron, expected 4 or 10",
                            (long long)nodes);
    TW_TRY(tw_scan_integer(scan, TW_SCAN_INT64, "a number of attributes", 0, 1000, &attributes));

    for (int64_t i = 0; i < count; i++) {
        int64_t number = 0;
        TW_TRY(tw_scan_integer(scan, TW_SCAN_INT64, "the number of the tetrahedron", first + i,
                               first + i, &number));
        TW_TRY(read_tetrahedron(scan, out, first, nodes));
        TW_TRY(skip_attributes(scan, attributes));
    }

    if (tw_scan_word(scan))
        return tw_scan_fail(scan, "'%.60s' after the last tetrahedron, expected the file to end",
                            scan->word);

    return TW_OK;
}
