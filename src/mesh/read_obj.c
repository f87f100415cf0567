/* Wavefront OBJ: vertices, faces (cut into triangles from their first corner) and lines. */
#include <string.h>

#include "base/number.h"
#include "mesh/readers.h"

static bool is_one_of(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(word, *list) == 0) return true;
    return false;
}

static tw_status read_vertex(tw_scan *scan, tw_builder *out)
{
    double point[3], extra = 0.0;
    for (int k = 0; k < 3; k++) {
        if (!tw_scan_word_in_line(scan)) return tw_scan_fail(scan, "a vertex of %d coordinates, expected v x y z", k);
        tw_status status = tw_scan_word_to_coordinate(scan, "a coordinate", point + k);
        if (status != TW_OK) return status;
    }
    while (tw_scan_word_in_line(scan)) { /* a weight or a colour */
        tw_status status = tw_scan_word_to_real(scan, "a weight or a colour", &extra);
        if (status != TW_OK) return status;
    }
    return tw_builder_vertex(out, point) == TW_OK ? TW_OK : tw_scan_fail_memory(scan);
}

/* `7`, `7/1`, `7//3`, `-1/-1/-1`: the first number is the vertex, from 1, or from -1 backwards. */
static tw_status read_corner(tw_scan *scan, const tw_builder *out, int64_t *vertex)
{
    char *slash = strchr(scan->word, '/');
    if (slash && strspn(slash, "/-0123456789") != strlen(slash))
        return tw_scan_fail(scan, "'%.60s' is not a corner, expected vertex/texture/normal", scan->word);
    if (slash) *slash = '\0';
    int64_t number = 0, count = out->mesh.vertex_count;
    if (!tw_integer_parse(scan->word, &number))
        return tw_scan_fail(scan, "'%.60s' is not a whole number, expected the number of a vertex", scan->word);
    if (number == 0 || number > count || number < -count)
        return tw_scan_fail(scan, "there is no vertex %lld, %lld are defined so far, counted from 1", (long long)number,
                            (long long)count);
    *vertex = number > 0 ? number - 1 : count + number;
    return TW_OK;
}

static tw_status read_face(tw_scan *scan, tw_builder *out)
{
    int64_t first = 0, previous = 0, corner = 0;
    int count = 0;
    for (; tw_scan_word_in_line(scan); count += count < 3) {
        tw_status status = read_corner(scan, out, &corner);
        if (status != TW_OK) return status;
        if (count >= 2 && tw_builder_triangle(out, first, previous, corner) != TW_OK) return tw_scan_fail_memory(scan);
        if (count == 0) first = corner;
        previous = corner;
    }
    return count >= 3 ? TW_OK : tw_scan_fail(scan, "a face of %d corners, expected at least 3", count);
}

static tw_status read_line(tw_scan *scan, tw_builder *out)
{
    int64_t previous = 0, corner = 0;
    int count = 0;
    for (; tw_scan_word_in_line(scan); count += count < 2) {
        tw_status status = read_corner(scan, out, &corner);
        if (status != TW_OK) return status;
        if (count >= 1 && tw_builder_edge(out, previous, corner) != TW_OK) return tw_scan_fail_memory(scan);
        previous = corner;
    }
    return count >= 2 ? TW_OK : tw_scan_fail(scan, "a line of %d corners, expected at least 2", count);
}

tw_status tw_read_obj(tw_scan *scan, tw_builder *out)
{
    static const char *const ignored[] = {
        "vt",  "vn",     "vp",     "o",     "g",        "s",        "p",          "usemtl",    "mtllib", "mg",
        "lod", "usemap", "maplib", "bevel", "c_interp", "d_interp", "shadow_obj", "trace_obj", NULL};
    static const char *const free_form[] = {"cstype", "deg",  "bmat", "step", "curv", "curv2", "surf", "parm",
                                            "trim",   "hole", "scrv", "sp",   "end",  "con",   NULL};
    scan->comment = '#';
    scan->continuation = true;
    while (tw_scan_word(scan)) {
        tw_status status = TW_OK;
        if (strcmp(scan->word, "v") == 0)
            status = read_vertex(scan, out);
        else if (strcmp(scan->word, "f") == 0)
            status = read_face(scan, out);
        else if (strcmp(scan->word, "l") == 0)
            status = read_line(scan, out);
        else if (is_one_of(scan->word, ignored))
            while (tw_scan_word_in_line(scan)) {}
        else if (is_one_of(scan->word, free_form))
            status = tw_scan_fail(scan, "'%s' is free-form geometry, expected polygons: v and f", scan->word);
        else
            status =
                tw_scan_fail(scan, "unknown keyword '%.60s', expected v, vt, vn, f, l, g, o, s or usemtl", scan->word);
        if (status != TW_OK) return status;
    }
    return TW_OK;
}
