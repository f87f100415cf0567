/* MEDIT .mesh, text: Vertices, Edges, Triangles, Quadrilaterals, Tetrahedra;
 * further sections are skipped. */
#include <string.h>

#include "base/fail.h"
#include "mesh/mesh_formats.h"

static tw_status read_vertices(tw_scan *scan, tw_builder *out)
{
    int64_t count = 0;
    TW_TRY(tw_scan_integer(scan, TW_SCAN_INT64, "the number of vertices", 0, INT64_MAX, &count));
    if (out->mesh.vertex_count > 0) return tw_scan_fail(scan, "Vertices again, expected them once");

    /* A vertex has three coordinates and a reference, which is not kept. */
    for (int64_t i = 0; i < count; i++) {
        double point[3];
        double reference = 0.0;
        TW_TRY(tw_scan_point(scan, TW_SCAN_FLOAT64, "a coordinate", point));
        TW_TRY(tw_scan_real(scan, TW_SCAN_FLOAT64, "the reference of a vertex", &reference));
        TW_TRY(tw_scan_check_memory(scan, tw_builder_vertex(out, point)));
    }

    return TW_OK;
}

static tw_status add_cell(tw_builder *out, int width, bool is_face, const int64_t *corner)
{
    if (width == 2) return tw_builder_edge(out, corner[0], corner[1]);
    if (width == 4 && !is_face) return tw_builder_tetrahedron(out, corner);
    return tw_builder_face(out, width, corner, NULL);
}

/* Reads cells of `width` corners. Four corners are a face (quadrilateral) or a tetrahedron. */
static tw_status read_cells(tw_scan *scan, tw_builder *out, int width, bool is_face)
{
    int64_t count = 0;
    TW_TRY(tw_scan_integer(scan, TW_SCAN_INT64, "the number of cells", 0, INT64_MAX, &count));

    for (int64_t i = 0; i < count; i++) {
        /* Vertices count from 1. */
        int64_t corner[4];
        for (int k = 0; k < width; k++) {
            TW_TRY(tw_scan_integer(scan, TW_SCAN_INT64, "the number of a vertex", 1,
                                   out->mesh.vertex_count, corner + k));
            corner[k]--;
        }

        double reference = 0.0;
        TW_TRY(tw_scan_real(scan, TW_SCAN_FLOAT64, "the reference of a cell", &reference));
        TW_TRY(tw_scan_check_memory(scan, add_cell(out, width, is_face, corner)));
    }

    return TW_OK;
}

static tw_status read_head(tw_scan *scan)
{
    int64_t version = 0;
    int64_t dimension = 0;
    TW_TRY(tw_scan_expect(scan, "MeshVersionFormatted"));
    TW_TRY(tw_scan_integer(scan, TW_SCAN_INT64, "a version of the format", 1, 4, &version));
    TW_TRY(tw_scan_expect(scan, "Dimension"));
    return tw_scan_integer(scan, TW_SCAN_INT64, "a dimension", 3, 3, &dimension);
}

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Reads a section; the last word is its name. */
static tw_status read_section(tw_scan *scan, tw_builder *out)
{
    const char *word = scan->word;
    if (strcmp(word, "Vertices") == 0) return read_vertices(scan, out);
    if (strcmp(word, "Edges") == 0) return read_cells(scan, out, 2, true);
    if (strcmp(word, "Triangles") == 0) return read_cells(scan, out, 3, true);
    if (strcmp(word, "Quadrilaterals") == 0) return read_cells(scan, out, 4, true);
    if (strcmp(word, "Tetrahedra") == 0) return read_cells(scan, out, 4, false);
    if (strcmp(word, "Hexahedra") == 0 || strcmp(word, "Prisms") == 0 ||
        strcmp(word, "Pyramids") == 0)
        return tw_scan_fail(scan, "%s are not read, expected Tetrahedra", word);
    if (!is_letter(word[0]))
        return tw_scan_fail(
            scan, "'%.60s' is unexpected here, expected a section such as Tetrahedra", word);

    /* Any other section consists of numbers. */
    while (tw_scan_number_follows(scan)) tw_scan_word(scan);
    return TW_OK;
}

tw_status tw_read_medit(tw_scan *scan, tw_builder *out)
{
    scan->comment = '#';
    TW_TRY(read_head(scan));
    while (tw_scan_word(scan) && strcmp(scan->word, "End") != 0) TW_TRY(read_section(scan, out));
    return TW_OK;
}
