/* Gmsh .msh, versions 2.2 and 4.1, text and binary. Sections other than Nodes and Elements are passed over. Cells of
 * second and third order give their corners; quadrilaterals become two triangles. */
#include <stdio.h>
#include <string.h>

#include "mesh/readers.h"
#include "mesh/tag_map.h"

enum { MAX_NODES_PER_ELEMENT = 20 };

typedef struct gmsh_file {
    tw_scan *scan;
    tw_builder *out;
    tw_tag_map tags;
    bool is_new_format; /* 4.1 */
    tw_scan_mode data;  /* of the sections */
    int64_t corner[MAX_NODES_PER_ELEMENT];
} gmsh_file;

/* What an element type is: nodes it has, corners it gives (0: a point), and how it is called if it is not read. */
typedef struct element_type {
    int nodes, corners;
    const char *refused;
} element_type;

static element_type type_of(int64_t type)
{
    static const element_type types[] = {
        [1] = {2, 2, NULL},        [2] = {3, 3, NULL},           [3] = {4, -4, NULL},
        [4] = {4, 4, NULL},        [5] = {8, 0, "hexahedron"},   [6] = {6, 0, "prism"},
        [7] = {5, 0, "pyramid"},   [8] = {3, 2, NULL},           [9] = {6, 3, NULL},
        [10] = {9, -4, NULL},      [11] = {10, 4, NULL},         [12] = {27, 0, "hexahedron"},
        [13] = {18, 0, "prism"},   [14] = {14, 0, "pyramid"},    [15] = {1, 0, NULL},
        [16] = {8, -4, NULL},      [17] = {20, 0, "hexahedron"}, [18] = {15, 0, "prism"},
        [19] = {13, 0, "pyramid"}, [20] = {9, 3, NULL},          [21] = {10, 3, NULL},
        [26] = {4, 2, NULL},       [29] = {20, 4, NULL}};
    if (type < 0 || type >= (int64_t)(sizeof types / sizeof types[0])) return (element_type){0};
    return types[type];
}

static tw_status check_type(gmsh_file *f, int64_t number, element_type *type)
{
    *type = type_of(number);
    if (type->refused)
        return tw_scan_fail(
            f->scan, "element type %lld (%s) is not read, expected tetrahedra (4) or triangles (2)",
            (long long)number, type->refused);
    if (type->nodes > 0) return TW_OK;
    return tw_scan_fail(
        f->scan, "unknown element type %lld, expected one such as 4 (tetrahedron) or 2 (triangle)",
        (long long)number);
}

static tw_status add_node(gmsh_file *f, int64_t tag, const double point[3])
{
    bool is_new = false;
    tw_status status = tw_tag_map_add(&f->tags, tag, f->out->mesh.vertex_count, &is_new);
    if (status == TW_OK && !is_new)
        return tw_scan_fail(f->scan, "node %lld again, expected every node once", (long long)tag);
    if (status == TW_OK) status = tw_builder_vertex(f->out, point);
    return status == TW_OK ? TW_OK : tw_scan_fail_memory(f->scan);
}

/* From the end of a line of text to the data. */
static void begin_data(gmsh_file *f)
{
    if (f->data != TW_SCAN_TEXT) tw_scan_next_line(f->scan);
    f->scan->mode = f->data;
}

static tw_status read_nodes_2(gmsh_file *f)
{
    int64_t count = 0, tag = 0;
    double point[3];
    tw_status status =
        tw_scan_integer(f->scan, TW_SCAN_INT32, "the number of nodes", 0, INT64_MAX, &count);
    begin_data(f);
    for (int64_t i = 0; i < count && status == TW_OK; i++) {
        status =
            tw_scan_integer(f->scan, TW_SCAN_INT32, "the number of a node", 1, INT64_MAX - 1, &tag);
        if (status == TW_OK)
            status = tw_scan_point(f->scan, TW_SCAN_FLOAT64, "a coordinate", point);
        if (status == TW_OK) status = add_node(f, tag, point);
    }
    return status;
}

static tw_status read_node_block(gmsh_file *f, tw_numbers *tags)
{
    int64_t dimension = 0, entity = 0, parametric = 0, count = 0, tag = 0;
    double point[3];
    tw_status status =
        tw_scan_integer(f->scan, TW_SCAN_INT32, "the dimension of an entity", 0, 3, &dimension);
    if (status == TW_OK)
        status = tw_scan_integer(f->scan, TW_SCAN_INT32, "the tag of an entity", INT64_MIN,
                                 INT64_MAX, &entity);
    if (status == TW_OK)
        status = tw_scan_integer(f->scan, TW_SCAN_INT32, "parametric", 0, 1, &parametric);
    if (status == TW_OK)
        status = tw_scan_integer(f->scan, TW_SCAN_UINT64, "the number of nodes of a block", 0,
                                 INT64_MAX, &count);
    tags->count = 0;
    for (int64_t i = 0; i < count && status == TW_OK; i++) {
        status = tw_scan_integer(f->scan, TW_SCAN_UINT64, "the number of a node", 1, INT64_MAX - 1,
                                 &tag);
        if (status == TW_OK && tw_numbers_add(tags, tag) != TW_OK)
            status = tw_scan_fail_memory(f->scan);
    }
    for (int64_t i = 0; i < count && status == TW_OK; i++) {
        status = tw_scan_point(f->scan, TW_SCAN_FLOAT64, "a coordinate", point);
        if (status == TW_OK) status = add_node(f, tags->values[i], point);
        for (int64_t k = 0; k < dimension * parametric && status == TW_OK; k++)
            status = tw_scan_skip(f->scan, TW_SCAN_FLOAT64, "a parameter of a node");
    }
    return status;
}

/* The four numbers that begin the sections Nodes and Elements of 4.1: blocks, items, smallest and largest tag. */
static tw_status read_counts_4(gmsh_file *f, int64_t *blocks)
{
    int64_t ignored = 0;
    begin_data(f);
    tw_status status =
        tw_scan_integer(f->scan, TW_SCAN_UINT64, "the number of blocks", 0, INT64_MAX, blocks);
    for (int i = 0; i < 3 && status == TW_OK; i++)
        status = tw_scan_integer(f->scan, TW_SCAN_UINT64, "a number of items or a tag", 0,
                                 INT64_MAX, &ignored);
    return status;
}

static tw_status read_nodes_4(gmsh_file *f)
{
    int64_t blocks = 0;
    tw_numbers tags = {0};
    tw_status status = read_counts_4(f, &blocks);
    for (int64_t i = 0; i < blocks && status == TW_OK; i++) status = read_node_block(f, &tags);
    tw_numbers_free(&tags);
    return status;
}

static tw_status read_element_nodes(gmsh_file *f, tw_scan_type number_type,
                                    const element_type *type)
{
    for (int k = 0; k < type->nodes; k++) {
        int64_t tag = 0;
        tw_status status =
            tw_scan_integer(f->scan, number_type, "the number of a node", 1, INT64_MAX - 1, &tag);
        if (status != TW_OK) return status;
        f->corner[k] = tw_tag_map_find(&f->tags, tag);
        if (f->corner[k] < 0)
            return tw_scan_fail(f->scan, "there is no node %lld, expected one of section Nodes",
                                (long long)tag);
    }
    const int64_t *c = f->corner;
    tw_status status = TW_OK;
    if (type->corners == 2) status = tw_builder_edge(f->out, c[0], c[1]);
    if (type->corners == 3) status = tw_builder_face(f->out, 3, c, NULL);
    if (type->corners == -4) status = tw_builder_face(f->out, 4, c, NULL);
    if (type->corners == 4) status = tw_builder_tetrahedron(f->out, c);
    return status == TW_OK ? TW_OK : tw_scan_fail_memory(f->scan);
}

/* Number, tags and nodes of an element of 2.2; its type comes before it, once per block in binary files. */
static tw_status skip_numbers(gmsh_file *f, int64_t count, const char *what)
{
    tw_status status = TW_OK;
    int64_t ignored = 0;
    for (int64_t i = 0; i < count && status == TW_OK; i++)
        status = tw_scan_integer(f->scan, TW_SCAN_INT32, what, INT64_MIN, INT64_MAX, &ignored);
    return status;
}

static tw_status read_text_element_2(gmsh_file *f)
{
    int64_t number = 0, tag_count = 0;
    element_type type = {0};
    tw_status status = skip_numbers(f, 1, "the number of an element");
    if (status == TW_OK)
        status =
            tw_scan_integer(f->scan, TW_SCAN_INT32, "the type of an element", 0, 1000, &number);
    if (status == TW_OK) status = check_type(f, number, &type);
    if (status == TW_OK)
        status = tw_scan_integer(f->scan, TW_SCAN_INT32, "the number of tags", 0, 1000, &tag_count);
    if (status == TW_OK) status = skip_numbers(f, tag_count, "a tag of an element");
    return status == TW_OK ? read_element_nodes(f, TW_SCAN_INT32, &type) : status;
}

static tw_status read_binary_block_2(gmsh_file *f, int64_t left, int64_t *done)
{
    int64_t number = 0, count = 0, tag_count = 0;
    element_type type = {0};
    tw_status status =
        tw_scan_integer(f->scan, TW_SCAN_INT32, "the type of elements", 0, 1000, &number);
    if (status == TW_OK) status = check_type(f, number, &type);
    if (status == TW_OK)
        status = tw_scan_integer(f->scan, TW_SCAN_INT32, "the number of elements of a block", 1,
                                 left, &count);
    if (status == TW_OK)
        status = tw_scan_integer(f->scan, TW_SCAN_INT32, "the number of tags", 0, 1000, &tag_count);
    for (int64_t i = 0; i < count && status == TW_OK; i++) {
        status = skip_numbers(f, 1 + tag_count, "a tag of an element");
        if (status == TW_OK) status = read_element_nodes(f, TW_SCAN_INT32, &type);
    }
    *done = count;
    return status;
}

static tw_status read_elements_2(gmsh_file *f)
{
    int64_t count = 0, done = 1;
    tw_status status =
        tw_scan_integer(f->scan, TW_SCAN_INT32, "the number of elements", 0, INT64_MAX, &count);
    begin_data(f);
    for (int64_t i = 0; i < count && status == TW_OK; i += done)
        status = f->data == TW_SCAN_TEXT ? read_text_element_2(f)
                                         : read_binary_block_2(f, count - i, &done);
    return status;
}

static tw_status read_elements_4(gmsh_file *f)
{
    int64_t blocks = 0, ignored = 0, number = 0, count = 0;
    tw_status status = read_counts_4(f, &blocks);
    for (int64_t i = 0; i < blocks && status == TW_OK; i++) {
        element_type type = {0};
        status =
            tw_scan_integer(f->scan, TW_SCAN_INT32, "the dimension of an entity", 0, 3, &ignored);
        if (status == TW_OK)
            status = tw_scan_integer(f->scan, TW_SCAN_INT32, "the tag of an entity", INT64_MIN,
                                     INT64_MAX, &ignored);
        if (status == TW_OK)
            status =
                tw_scan_integer(f->scan, TW_SCAN_INT32, "the type of elements", 0, 1000, &number);
        if (status == TW_OK) status = check_type(f, number, &type);
        if (status == TW_OK)
            status = tw_scan_integer(f->scan, TW_SCAN_UINT64, "the number of elements of a block",
                                     0, INT64_MAX, &count);
        for (int64_t k = 0; k < count && status == TW_OK; k++) {
            status = tw_scan_integer(f->scan, TW_SCAN_UINT64, "the number of an element", 0,
                                     INT64_MAX, &ignored);
            if (status == TW_OK) status = read_element_nodes(f, TW_SCAN_UINT64, &type);
        }
    }
    return status;
}

static tw_status read_format(gmsh_file *f)
{
    int64_t type = 0, size = 0, one = 0;
    tw_status status = tw_scan_expect_word(f->scan, "the version of the format");
    if (status != TW_OK) return status;
    f->is_new_format = strcmp(f->scan->word, "4.1") == 0;
    if (!f->is_new_format && strcmp(f->scan->word, "2.2") != 0 &&
        strcmp(f->scan->word, "2.1") != 0 && strcmp(f->scan->word, "2") != 0)
        return tw_scan_fail(f->scan, "version %.60s is not read, expected 2.2 or 4.1",
                            f->scan->word);
    status = tw_scan_integer(f->scan, TW_SCAN_INT64, "0 (text) or 1 (binary)", 0, 1, &type);
    if (status == TW_OK)
        status = tw_scan_integer(f->scan, TW_SCAN_INT64, "the size of a number", 8, 8, &size);
    if (status != TW_OK || type == 0) return status;
    tw_scan_next_line(f->scan);
    /* The number 1 tells the byte order. */
    f->data = f->scan->at < f->scan->size && f->scan->bytes[f->scan->at] == 1
                  ? TW_SCAN_LITTLE_ENDIAN
                  : TW_SCAN_BIG_ENDIAN;
    f->scan->mode = f->data;
    status = tw_scan_integer(f->scan, TW_SCAN_INT32, "the mark of the byte order", 1, 1, &one);
    f->scan->mode = TW_SCAN_TEXT;
    return status;
}

/* To the word `$EndX` of the section `$X`, over whatever is in between. */
static tw_status skip_section(gmsh_file *f, const char *end)
{
    tw_scan *scan = f->scan;
    size_t length = strlen(end);
    while (scan->at < scan->size) {
        if (scan->size - scan->at >= length && memcmp(scan->bytes + scan->at, end, length) == 0)
            return TW_OK;
        tw_scan_next_line(scan);
    }
    return tw_scan_fail(scan, "section %.60s does not end, expected %.60s", scan->word, end);
}

static tw_status read_section(gmsh_file *f)
{
    char name[TW_SCAN_WORD_SIZE], end[TW_SCAN_WORD_SIZE + 8];
    if (f->scan->word[0] != '$')
        return tw_scan_fail(f->scan,
                            "'%.60s' is unexpected here, expected a section such as $Nodes",
                            f->scan->word);
    snprintf(name, sizeof name, "%s", f->scan->word + 1);
    snprintf(end, sizeof end, "$End%s", name);
    tw_status status = TW_OK;
    if (strcmp(name, "MeshFormat") == 0)
        status = read_format(f);
    else if (strcmp(name, "Nodes") == 0)
        status = f->is_new_format ? read_nodes_4(f) : read_nodes_2(f);
    else if (strcmp(name, "Elements") == 0)
        status = f->is_new_format ? read_elements_4(f) : read_elements_2(f);
    else
        status = skip_section(f, end);
    if (status != TW_OK) return status;
    f->scan->mode = TW_SCAN_TEXT;
    return tw_scan_expect(f->scan, end);
}

tw_status tw_read_gmsh(tw_scan *scan, tw_builder *out)
{
    gmsh_file f = {.scan = scan, .out = out};
    tw_status status = tw_scan_expect_word(scan, "$MeshFormat");
    while (status == TW_OK && strcmp(scan->word, "$Comments") == 0) {
        status = read_section(&f);
        if (status == TW_OK) status = tw_scan_expect_word(scan, "$MeshFormat");
    }
    if (status == TW_OK && strcmp(scan->word, "$MeshFormat") != 0)
        status = tw_scan_fail(scan, "'%.60s' is unexpected here, expected $MeshFormat", scan->word);
    if (status == TW_OK) status = read_section(&f);
    while (status == TW_OK && tw_scan_word(scan)) status = read_section(&f);
    tw_tag_map_free(&f.tags);
    return status;
}
