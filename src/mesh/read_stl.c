/* STL, text or binary. The format has triangles only, each with corners of its own: equal corners become one vertex. */
#include <string.h>

#include "base/allocate.h"
#include "mesh/merge_vertices.h"
#include "mesh/readers.h"

enum { HEADER_BYTES = 80, FACET_BYTES = 50 };

static tw_status add_facet(tw_scan *scan, tw_builder *out, double corners[3][3])
{
    int64_t first = out->mesh.vertex_count;
    for (int k = 0; k < 3; k++)
        if (tw_builder_vertex(out, corners[k]) != TW_OK) return tw_scan_fail_memory(scan);
    return tw_builder_triangle(out, first, first + 1, first + 2) == TW_OK
               ? TW_OK
               : tw_scan_fail_memory(scan);
}

/* Some programs write words in capitals. `word` is in small letters; any locale. */
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
    tw_status status = tw_scan_expect_word(scan, word);
    if (status != TW_OK || is_word(scan->word, word)) return status;
    return tw_scan_fail(scan, "'%.60s' is unexpected here, expected %s", scan->word, word);
}

/* After the word `facet`. Normals say nothing that the corners do not, and some writers leave nan there. */
static tw_status read_facet(tw_scan *scan, tw_builder *out)
{
    double corners[3][3];
    tw_status status = expect(scan, "normal");
    for (int k = 0; k < 3 && status == TW_OK; k++)
        status = tw_scan_expect_word(scan, "a component of the normal");
    if (status == TW_OK) status = expect(scan, "outer");
    if (status == TW_OK) status = expect(scan, "loop");
    for (int k = 0; k < 3 && status == TW_OK; k++) {
        status = expect(scan, "vertex");
        if (status == TW_OK)
            status = tw_scan_point(scan, TW_SCAN_FLOAT64, "a coordinate", corners[k]);
    }
    if (status == TW_OK) status = expect(scan, "endloop");
    if (status == TW_OK) status = expect(scan, "endfacet");
    return status == TW_OK ? add_facet(scan, out, corners) : status;
}

static tw_status read_text(tw_scan *scan, tw_builder *out)
{
    do {
        tw_status status = expect(scan, "solid");
        if (status != TW_OK) return status;
        tw_scan_next_line(scan); /* its name */
        while ((status = tw_scan_expect_word(scan, "facet or endsolid")) == TW_OK) {
            if (is_word(scan->word, "endsolid")) break;
            if (!is_word(scan->word, "facet"))
                return tw_scan_fail(scan, "'%.60s' is unexpected here, expected facet or endsolid",
                                    scan->word);
            status = read_facet(scan, out);
            if (status != TW_OK) return status;
        }
        if (status != TW_OK) return status;
        tw_scan_next_line(scan);
    } while (tw_scan_number_follows(scan) || scan->at < scan->size);
    return TW_OK;
}

static tw_status read_binary(tw_scan *scan, tw_builder *out)
{
    int64_t count = 0, room = 0, attribute = 0;
    scan->mode = TW_SCAN_LITTLE_ENDIAN;
    if (scan->size < HEADER_BYTES)
        return tw_scan_fail(scan, "%zu bytes, expected 80 of header", scan->size);
    scan->at = HEADER_BYTES;
    tw_status status =
        tw_scan_integer(scan, TW_SCAN_UINT32, "the number of triangles", 0, UINT32_MAX, &count);
    if (status != TW_OK) return status;
    room = (int64_t)(scan->size - scan->at) / FACET_BYTES;
    if (count > room)
        return tw_scan_fail(
            scan, "%lld triangles, but the file has bytes for %lld, expected 50 bytes each",
            (long long)count, (long long)room);
    for (int64_t i = 0; i < count; i++) {
        double corners[3][3];
        for (int k = 0; k < 3 && status == TW_OK; k++)
            status = tw_scan_skip(scan, TW_SCAN_FLOAT32, "a normal");
        for (int k = 0; k < 3 && status == TW_OK; k++)
            status = tw_scan_point(scan, TW_SCAN_FLOAT32, "a coordinate", corners[k]);
        if (status == TW_OK)
            status =
                tw_scan_integer(scan, TW_SCAN_UINT16, "an attribute", 0, UINT16_MAX, &attribute);
        if (status == TW_OK) status = add_facet(scan, out, corners);
        if (status != TW_OK) return status;
    }
    return TW_OK;
}

static tw_status merge_corners(tw_scan *scan, tw_mesh *mesh)
{
    int64_t merged = 0, kept = 0, *first = TW_NEW_ARRAY(mesh->vertex_count, int64_t);
    if (!first) return tw_scan_fail_memory(scan);
    tw_status status =
        tw_find_equal_vertices(mesh->vertex_count, mesh->vertices, first, &merged, scan->error);
    for (int64_t i = 0; status == TW_OK && i < mesh->vertex_count; i++) {
        bool is_first = first[i] == i;
        first[i] = is_first
                       ? kept
                       : first[first[i]]; /* an earlier one, which has its new number already */
        if (is_first)
            memmove(mesh->vertices + 3 * kept++, mesh->vertices + 3 * i, 3 * sizeof(double));
    }
    if (status == TW_OK) {
        for (int64_t i = 0; i < 3 * mesh->triangle_count; i++)
            mesh->triangles[i] = first[mesh->triangles[i]];
        mesh->vertex_count = kept;
    }
    tw_release(first);
    return status;
}

/* A binary file may begin with "solid" too: its size tells. */
static bool is_text(const tw_scan *scan)
{
    size_t begin = scan->at;
    while (begin < scan->size && scan->bytes[begin] && strchr(" \t\r\n", scan->bytes[begin]))
        begin++;
    if (scan->size - begin < 5 || !begins_like(scan->bytes + begin, "solid")) return false;
    if (scan->size < HEADER_BYTES + 4) return true;
    uint64_t count = 0;
    for (int i = 0; i < 4; i++)
        count |= (uint64_t)(unsigned char)scan->bytes[HEADER_BYTES + i] << (8 * i);
    return scan->size != HEADER_BYTES + 4 + FACET_BYTES * count;
}

tw_status tw_read_stl(tw_scan *scan, tw_builder *out)
{
    tw_status status = is_text(scan) ? read_text(scan, out) : read_binary(scan, out);
    return status == TW_OK ? merge_corners(scan, &out->mesh) : status;
}
