/* TetGen: vertices in .node, tetrahedra in .ele. Vertices count from 0 or from 1, as the first one does. */
#include "mesh/readers.h"

static tw_status skip_attributes(tw_scan *scan, int64_t count)
{
    tw_status status = TW_OK;
    double value = 0.0;
    for (int64_t i = 0; i < count && status == TW_OK; i++)
        status = tw_scan_real(scan, TW_SCAN_FLOAT64, "an attribute or a marker", &value);
    return status;
}

tw_status tw_read_tetgen_nodes(tw_scan *scan, tw_builder *out, int64_t *first)
{
    int64_t count = 0, dimension = 0, attributes = 0, markers = 0, number = 0;
    double point[3];
    scan->comment = '#';
    *first = 0;
    tw_status status =
        tw_scan_integer(scan, TW_SCAN_INT64, "the number of vertices", 1, INT64_MAX, &count);
    if (status == TW_OK)
        status = tw_scan_integer(scan, TW_SCAN_INT64, "a dimension", 3, 3, &dimension);
    if (status == TW_OK)
        status =
            tw_scan_integer(scan, TW_SCAN_INT64, "a number of attributes", 0, 1000, &attributes);
    if (status == TW_OK)
        status = tw_scan_integer(scan, TW_SCAN_INT64, "a number of markers", 0, 1, &markers);
    for (int64_t i = 0; i < count && status == TW_OK; i++) {
        int64_t low = i == 0 ? 0 : *first + i, high = i == 0 ? 1 : low;
        status =
            tw_scan_integer(scan, TW_SCAN_INT64, "the number of the vertex", low, high, &number);
        if (i == 0) *first = number;
        if (status == TW_OK) status = tw_scan_point(scan, TW_SCAN_FLOAT64, "a coordinate", point);
        if (status == TW_OK) status = skip_attributes(scan, attributes + markers);
        if (status == TW_OK && tw_builder_vertex(out, point) != TW_OK)
            status = tw_scan_fail_memory(scan);
    }
    if (status == TW_OK && tw_scan_word(scan))
        status = tw_scan_fail(scan, "'%.60s' after the last vertex, expected the file to end",
                              scan->word);
    return status;
}

tw_status tw_read_tetgen_elements(tw_scan *scan, tw_builder *out, int64_t first)
{
    int64_t count = 0, corners = 0, attributes = 0, number = 0,
            last = first + out->mesh.vertex_count - 1;
    scan->comment = '#';
    tw_status status =
        tw_scan_integer(scan, TW_SCAN_INT64, "the number of tetrahedra", 1, INT64_MAX, &count);
    if (status == TW_OK)
        status = tw_scan_integer(scan, TW_SCAN_INT64, "vertices per tetrahedron", 4, 10, &corners);
    if (status == TW_OK && corners != 4 && corners != 10)
        return tw_scan_fail(scan, "%lld vertices per tetrahedron, expected 4 or 10",
                            (long long)corners);
    if (status == TW_OK)
        status =
            tw_scan_integer(scan, TW_SCAN_INT64, "a number of attributes", 0, 1000, &attributes);
    for (int64_t i = 0; i < count && status == TW_OK; i++) {
        int64_t corner[10] = {0};
        status = tw_scan_integer(scan, TW_SCAN_INT64, "the number of the tetrahedron", first + i,
                                 first + i, &number);
        for (int k = 0; k < corners && status == TW_OK; k++) {
            status = tw_scan_integer(scan, TW_SCAN_INT64, "the number of a vertex", first, last,
                                     corner + k);
            corner[k] -= first;
        }
        if (status == TW_OK) status = skip_attributes(scan, attributes);
        if (status == TW_OK && tw_builder_tetrahedron(out, corner) != TW_OK)
            status = tw_scan_fail_memory(scan);
    }
    if (status == TW_OK && tw_scan_word(scan))
        status = tw_scan_fail(scan, "'%.60s' after the last tetrahedron, expected the file to end",
                              scan->word);
    return status;
}
