/* Wavefront OBJ: vertices, faces with their texture coordinates, lines; and the statements
 * between them (groups, materials), kept as they are so that the surface can be written as it
 * came. Normals are passed over. */
#include <string.h>

#include "base/fail.h"
#include "base/number.h"
#include "mesh/mesh_formats.h"

typedef struct obj_file {
    tw_scan *scan;
    tw_builder *out;
    tw_numbers vertices, textures; /* of the corners of the face being read */
} obj_file;

/* Whether the word is in the list, which ends with NULL. */
static bool is_one_of(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(word, *list) == 0) return true;
    return false;
}

static void skip_line(tw_scan *scan)
{
    while (tw_scan_word_in_line(scan)) {}
}

/* ---- vertices and texture coordinates ---- */

/* v x y z, then perhaps a weight or a colour, which are not kept. */
static tw_status read_vertex(obj_file *f)
{
    tw_scan *scan = f->scan;
    double point[3];

    for (int k = 0; k < 3; k++) {
        if (!tw_scan_word_in_line(scan))
            return tw_scan_fail(scan, "a vertex of %d coordinates, expected v x y z", k);
        TW_TRY(tw_scan_word_to_coordinate(scan, "a coordinate", point + k));
    }

    /* Further numbers must be numbers. */
    double extra = 0.0;
    while (tw_scan_word_in_line(scan))
        TW_TRY(tw_scan_word_to_real(scan, "a weight or a colour", &extra));

    return tw_scan_check_memory(scan, tw_builder_vertex(f->out, point));
}

/* vt u, then v (0 if it is not given), then perhaps a depth, which is not kept. */
static tw_status read_texture(obj_file *f)
{
    double coordinate[3] = {0.0};
    int count = 0;

    for (; tw_scan_word_in_line(f->scan); count++) {
        if (count == 3)
            return tw_scan_fail(f->scan,
                                "a texture coordinate of more than 3 numbers, expected vt u v");
        TW_TRY(tw_scan_word_to_real(f->scan, "a texture coordinate", coordinate + count));
    }

    if (count == 0)
        return tw_scan_fail(f->scan, "a texture coordinate of 0 numbers, expected vt u v");
    return tw_scan_check_memory(f->scan, tw_builder_texture(f->out, coordinate));
}

/* ---- faces and lines ---- */

/* A number counts from 1, or backwards from -1, among the `count` items so far. */
static tw_status read_index(tw_scan *scan, const char *digits, const char *what, int64_t count,
                            int64_t *index)
{
    int64_t number = 0;
    if (!tw_integer_parse(digits, &number))
        return tw_scan_fail(scan, "'%.60s' is not a whole number, expected the number of a %s",
                            digits, what);
    if (number == 0 || number > count || number < -count)
        return tw_scan_fail(scan, "there is no %s %lld, %lld are defined so far, counted from 1",
                            what, (long long)number, (long long)count);
    *index = number > 0 ? number - 1 : count + number;
    return TW_OK;
}

/* The last word is a corner such as `7`, `7/1`, `7//3` or `-1/-1/-1`: vertex, texture
 * coordinate, normal. *texture becomes -1 if there is none. The word is cut at its slashes. */
static tw_status read_corner(obj_file *f, int64_t *vertex, int64_t *texture)
{
    tw_scan *scan = f->scan;
    char *slash = strchr(scan->word, '/');

    if (slash && strspn(slash, "/-0123456789") != strlen(slash))
        return tw_scan_fail(scan, "'%.60s' is not a corner, expected vertex/texture/normal",
                            scan->word);

    /* Cut the word: the vertex before the first slash, the texture coordinate up to the second. */
    if (slash) *slash++ = '\0';
    if (slash) slash[strcspn(slash, "/")] = '\0';

    TW_TRY(read_index(scan, scan->word, "vertex", f->out->mesh.vertex_count, vertex));
    *texture = -1;
    if (!slash || *slash == '\0') return TW_OK;
    return read_index(scan, slash, "texture coordinate", f->out->texture_count, texture);
}

static tw_status read_face(obj_file *f)
{
    /* Collect the corners. */
    f->vertices.count = 0;
    f->textures.count = 0;
    while (tw_scan_word_in_line(f->scan)) {
        int64_t vertex = 0;
        int64_t texture = 0;
        TW_TRY(read_corner(f, &vertex, &texture));
        TW_TRY(tw_scan_check_memory(f->scan, tw_numbers_add(&f->vertices, vertex)));
        TW_TRY(tw_scan_check_memory(f->scan, tw_numbers_add(&f->textures, texture)));
    }

    /* A polygon has at least three corners. */
    int64_t count = f->vertices.count;
    if (count < 3)
        return tw_scan_fail(f->scan, "a face of %d corners, expected at least 3", (int)count);
    tw_status status = tw_builder_face(f->out, count, f->vertices.values, f->textures.values);
    return tw_scan_check_memory(f->scan, status);
}

/* A line of n corners is n - 1 edges. */
static tw_status read_line(obj_file *f)
{
    int64_t previous = 0;
    int count = 0;

    for (; tw_scan_word_in_line(f->scan); count += count < 2) {
        int64_t vertex = 0;
        int64_t texture = 0;
        TW_TRY(read_corner(f, &vertex, &texture));

        /* `count` stops at 2: only "none", "one" and "more" matter. */
        if (count >= 1)
            TW_TRY(tw_scan_check_memory(f->scan, tw_builder_edge(f->out, previous, vertex)));
        previous = vertex;
    }

    if (count < 2) return tw_scan_fail(f->scan, "a line of %d corners, expected at least 2", count);
    return TW_OK;
}

/* ---- statements ---- */

/* Keeps the whole line from its keyword on: names may hold blanks, and the sign that
 * begins a comment elsewhere. */
static tw_status read_statement(obj_file *f)
{
    tw_scan *scan = f->scan;
    size_t begin = scan->token;

    skip_line(scan);

    /* Blanks at the end of the line do not belong to the statement. */
    size_t end = scan->at;
    while (strchr(" \t\r", scan->bytes[end - 1])) end--;

    tw_status status = tw_builder_statement(f->out, scan->bytes + begin, end - begin);
    return tw_scan_check_memory(scan, status);
}

/* Reads an entry; the last word is its keyword. */
static tw_status read_entry(obj_file *f)
{
    static const char *const ignored[] = {"vn", "vp", "p", NULL};
    static const char *const kept[] = {"o",        "g",        "s",          "usemtl",    "mtllib",
                                       "mg",       "lod",      "usemap",     "maplib",    "bevel",
                                       "c_interp", "d_interp", "shadow_obj", "trace_obj", NULL};
    static const char *const free_form[] = {"cstype", "deg",  "bmat", "step", "curv",
                                            "curv2",  "surf", "parm", "trim", "hole",
                                            "scrv",   "sp",   "end",  "con",  NULL};

    /* What is read. */
    tw_scan *scan = f->scan;
    if (strcmp(scan->word, "v") == 0) return read_vertex(f);
    if (strcmp(scan->word, "vt") == 0) return read_texture(f);
    if (strcmp(scan->word, "f") == 0) return read_face(f);
    if (strcmp(scan->word, "l") == 0) return read_line(f);
    if (is_one_of(scan->word, kept)) return read_statement(f);

    /* What is refused, and what is passed over. */
    if (is_one_of(scan->word, free_form))
        return tw_scan_fail(scan, "'%s' is free-form geometry, expected polygons: v and f",
                            scan->word);
    if (!is_one_of(scan->word, ignored))
        return tw_scan_fail(scan,
                            "unknown keyword '%.60s', expected v, vt, vn, f, l, g, o, s or usemtl",
                            scan->word);
    skip_line(scan);

    return TW_OK;
}

tw_status tw_read_obj(tw_scan *scan, tw_builder *out)
{
    obj_file file = {.scan = scan, .out = out};
    scan->comment = '#';
    scan->continuation = true;

    tw_status status = TW_OK;

    /* Every line begins with a keyword. */
    while (status == TW_OK && tw_scan_word(scan)) status = read_entry(&file);
    tw_numbers_free(&file.vertices);
    tw_numbers_free(&file.textures);
    return status;
}
