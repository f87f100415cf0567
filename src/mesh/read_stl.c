/* STL, text or binary. The format has triangles only, each with corners of its own: equal
 * corners become one vertex. */
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/mesh_formats.h"

/* A binary file: a header, the number of triangles in 4 bytes, and 50 bytes per triangle. */
enum { HEADER_BYTES = 80, COUNT_BYTES = 4, FACET_BYTES = 50 };

static tw_status add_facet(tw_scan *scan, tw_builder *out, double corners[3][3])
{
    int64_t first = out->mesh.vertex_count;
    for (int k = 0; k < 3; k++)
        TW_TRY(tw_scan_check_memory(scan, tw_builder_vertex(out, corners[k])));
    return tw_scan_check_memory(scan, tw_builder_triangle(out, first, first + 1, first + 2));
}

/* ---- text ---- */

/* Whether the text begins with `word`, which is in small letters. Some programs write the words
 * of STL in capitals. The locale does not matter. */
static bool begins_like(const char *text, const char *word)
{
    size_t i = 0;
    while (word[i] && (text[i] == word[i] || text[i] == word[i] - 'a' + 'A')) i++;
    return word[i] == '\0';
}

static bool is_word(const char *text, const char *word)
{
    return begins_like(text, word) && text[strlen(word)] == '\0';
}

/* Takes a word that must be this one. */
static tw_status expect(tw_scan *scan, const char *word)
{
    TW_TRY(tw_scan_expect_word(scan, word));
    if (is_word(scan->word, word)) return TW_OK;
    return tw_scan_fail(scan, "'%.60s' is unexpected here, expected %s", scan->word, word);
}

/* Reads a facet; the last word is `facet`. */
static tw_status read_facet(tw_scan *scan, tw_builder *out)
{
    /* The normal says nothing that the corners do not say, and some writers leave nan there. */
    TW_TRY(expect(scan, "normal"));
    for (int k = 0; k < 3; k++) TW_TRY(tw_scan_expect_word(scan, "a component of the normal"));

    double corners[3][3];
    TW_TRY(expect(scan, "outer"));
    TW_TRY(expect(scan, "loop"));
    for (int k = 0; k < 3; k++) {
        TW_TRY(expect(scan, "vertex"));
        TW_TRY(tw_scan_point(scan, TW_SCAN_FLOAT64, "a coordinate", corners[k]));
    }

    TW_TRY(expect(scan, "endloop"));
    TW_TRY(expect(scan, "endfacet"));
    return add_facet(scan, out, corners);
}

/* Reads from `solid` to `endsolid`. The name behind each of the two words is not kept. */
static tw_status read_solid(tw_scan *scan, tw_builder *out)
{
    TW_TRY(expect(scan, "solid"));
    tw_scan_next_line(scan);

    /* Facets up to endsolid. */
    TW_TRY(tw_scan_expect_word(scan, "facet or endsolid"));
    while (!is_word(scan->word, "endsolid")) {
        if (!is_word(scan->word, "facet"))
            return tw_scan_fail(scan, "'%.60s' is unexpected here, expected facet or endsolid",
                                scan->word);
        TW_TRY(read_facet(scan, out));
        TW_TRY(tw_scan_expect_word(scan, "facet or endsolid"));
    }

    tw_scan_next_line(scan);
    return TW_OK;
}

static tw_status read_text(tw_scan *scan, tw_builder *out)
{
    /* A file may hold several solids. Looking for a number skips blanks and empty lines. */
    do {
        TW_TRY(read_solid(scan, out));
    } while (tw_scan_number_follows(scan) || scan->at < scan->size);
    return TW_OK;
}

/* ---- binary ---- */

/* A facet: normal, three corners, an attribute of 16 bits. */
static tw_status read_binary_facet(tw_scan *scan, tw_builder *out)
{
    for (int k = 0; k < 3; k++) TW_TRY(tw_scan_skip(scan, TW_SCAN_FLOAT32, "a normal"));

    double corners[3][3];
    for (int k = 0; k < 3; k++)
        TW_TRY(tw_scan_point(scan, TW_SCAN_FLOAT32, "a coordinate", corners[k]));

    /* The attribute is not kept. */
    int64_t attribute = 0;
    TW_TRY(tw_scan_integer(scan, TW_SCAN_UINT16, "an attribute", 0, UINT16_MAX, &attribute));
    return add_facet(scan, out, corners);
}

static tw_status read_binary(tw_scan *scan, tw_builder *out)
{
    scan->mode = TW_SCAN_LITTLE_ENDIAN;
    if (scan->size < HEADER_BYTES)
        return tw_scan_fail(scan, "%zu bytes, expected 80 of header", scan->size);
    scan->at = HEADER_BYTES;

    /* The number of triangles is checked against the size of the file before anything is read. */
    int64_t count = 0;
    TW_TRY(tw_scan_integer(scan, TW_SCAN_UINT32, "the number of triangles", 0, UINT32_MAX, &count));
    int64_t room = (int64_t)(scan->size - scan->at) / FACET_BYTES;
    if (count > room)
        return tw_scan_fail(
            scan, "%lld triangles, but the file has bytes for %lld, expected 50 bytes each",
            (long long)count, (long long)room);

    for (int64_t i = 0; i < count; i++) TW_TRY(read_binary_facet(scan, out));
    return TW_OK;
}

/* ---- both ---- */

/* Keeps the first vertex of each place, and renumbers the triangles. `first` is that
 * of tw_find_equal_vertices. */
static void keep_first_vertices(tw_mesh *mesh, int64_t *first)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        /* first[i] < i refers to an earlier vertex, which has its new number already. */
        if (first[i] != i) {
            first[i] = first[first[i]];
            continue;
        }
        first[i] = kept;
        memmove(mesh->vertices + 3 * kept++, mesh->vertices + 3 * i, 3 * sizeof(double));
    }

    for (int64_t i = 0; i < 3 * mesh->triangle_count; i++)
        mesh->triangles[i] = first[mesh->triangles[i]];
    mesh->vertex_count = kept;
}

static tw_status merge_corners(tw_scan *scan, tw_mesh *mesh)
{
    int64_t *first = TW_NEW_ARRAY(mesh->vertex_count, int64_t);
    if (!first) return tw_scan_fail_memory(scan);

    /* Only exactly equal corners are one vertex. */
    int64_t merged = 0;
    tw_status status =
        tw_find_equal_vertices(mesh->vertex_count, mesh->vertices, first, &merged, scan->error);
    if (status == TW_OK) keep_first_vertices(mesh, first);
    tw_release(first);
    return status;
}

/* A text begins with "solid". A binary file may do so too; it is one if its size fits to
 * its number of triangles. */
static bool is_text(const tw_scan *scan)
{
    size_t begin = scan->at;
    while (begin < scan->size && scan->bytes[begin] && strchr(" \t\r\n", scan->bytes[begin]))
        begin++;
    if (scan->size - begin < 5 || !begins_like(scan->bytes + begin, "solid")) return false;
    if (scan->size < HEADER_BYTES + COUNT_BYTES) return true;

    /* The number of triangles of a binary file, with the lowest byte first. */
    uint64_t count = 0;
    for (int i = 0; i < COUNT_BYTES; i++)
        count |= (uint64_t)(unsigned char)scan->bytes[HEADER_BYTES + i] << (8 * i);

    return scan->size != HEADER_BYTES + COUNT_BYTES + FACET_BYTES * count;
}

tw_status tw_read_stl(tw_scan *scan, tw_builder *out)
{
    if (is_text(scan))
        TW_TRY(read_text(scan, out));
    else
        TW_TRY(read_binary(scan, out));
    return merge_corners(scan, &out->mesh);
}
