/* MEDIT .mesh, text: Vertices, Edges, Triangles, Quadrilaterals, Tetrahedra; further sections are skipped. */
#include <string.h>

#include "mesh/readers.h"

static tw_status read_vertices(tw_scan *scan, tw_builder *out)
{
    int64_t count = 0;
    double point[3], reference = 0.0;
    tw_status status =
        tw_scan_integer(scan, TW_SCAN_INT64, "the number of vertices", 0, INT64_MAX, &count);
    if (status == TW_OK && out->mesh.vertex_count > 0)
        return tw_scan_fail(scan, "Vertices again, expected them once");
    for (int64_t i = 0; i < count && status == TW_OK; i++) {
        status = tw_scan_point(scan, TW_SCAN_FLOAT64, "a coordinate", point);
        if (status == TW_OK)
            status = tw_scan_real(scan, TW_SCAN_FLOAT64, "the reference of a vertex", &reference);
        if (status == TW_OK && tw_builder_vertex(out, point) != TW_OK)
            status = tw_scan_fail_memory(scan);
    }
    return status;
}

static tw_status add_cell(tw_builder *out, int width, bool is_face, const int64_t *corner)
{
    if (width == 2) return tw_builder_edge(out, corner[0], corner[1]);
    if (width == 4 && !is_face) return tw_builder_tetrahedron(out, corner);
    return tw_builder_face(out, width, corner, NULL);
}

static tw_status read_cells(tw_scan *scan, tw_builder *out, int width, bool is_face)
{
    int64_t count = 0, corner[4];
    double reference = 0.0;
    tw_status status =
        tw_scan_integer(scan, TW_SCAN_INT64, "the number of cells", 0, INT64_MAX, &count);
    for (int64_t i = 0; i < count && status == TW_OK; i++) {
        for (int k = 0; k < width && status == TW_OK; k++) {
            status = tw_scan_integer(scan, TW_SCAN_INT64, "the number of a vertex", 1,
                                     out->mesh.vertex_count, corner + k);
            corner[k]--;
        }
        if (status == TW_OK)
            status = tw_scan_real(scan, TW_SCAN_FLOAT64, "the reference of a cell", &reference);
        if (status == TW_OK && add_cell(out, width, is_face, corner) != TW_OK)
            status = tw_scan_fail_memory(scan);
    }
    return status;
}

static tw_status read_head(tw_scan *scan)
{
    int64_t version = 0, dimension = 0;
    tw_status status = tw_scan_expect(scan, "MeshVersionFormatted");
    if (status == TW_OK)
        status = tw_scan_integer(scan, TW_SCAN_INT64, "a version of the format", 1, 4, &version);
    if (status == TW_OK) status = tw_scan_expect(scan, "Dimension");
    if (status == TW_OK)
        status = tw_scan_integer(scan, TW_SCAN_INT64, "a dimension", 3, 3, &dimension);
    return status;
}

tw_status tw_read_medit(tw_scan *scan, tw_builder *out)
{
    scan->comment = '#';
    tw_status status = read_head(scan);
    while (status == TW_OK && tw_scan_word(scan)) {
        const char *word = scan->word;
        if (strcmp(word, "End") == 0) return TW_OK;
        if (strcmp(word, "Vertices") == 0)
            status = read_vertices(scan, out);
        else if (strcmp(word, "Edges") == 0)
            status = read_cells(scan, out, 2, true);
        else if (strcmp(word, "Triangles") == 0)
            status = read_cells(scan, out, 3, true);
        else if (strcmp(word, "Quadrilaterals") == 0)
            status = read_cells(scan, out, 4, true);
        else if (strcmp(word, "Tetrahedra") == 0)
            status = read_cells(scan, out, 4, false);
        else if (strcmp(word, "Hexahedra") == 0 || strcmp(word, "Prisms") == 0 ||
                 strcmp(word, "Pyramids") == 0)
            status = tw_scan_fail(scan, "%s are not read, expected Tetrahedra", word);
        else if ((word[0] >= 'A' && word[0] <= 'Z') || (word[0] >= 'a' && word[0] <= 'z'))
            while (tw_scan_number_follows(scan)) tw_scan_word(scan);
        else
            status = tw_scan_fail(
                scan, "'%.60s' is unexpected here, expected a section such as Tetrahedra", word);
    }
    return status;
}
