/* Gmsh .msh, versions 2.2 and 4.1, text and binary. Sections other than Nodes and
 * Elements are passed over. Cells of second and third order give their corners;
 * quadrilaterals become two triangles. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "mesh/mesh_formats.h"

enum { MAX_NODES_PER_ELEMENT = 20 };

typedef struct gmsh_file {
    tw_scan *scan;
    tw_builder *out;
    tw_tag_map tags;    /* from the tags of nodes to the numbers of vertices */
    bool is_new_format; /* version 4.1 */
    tw_scan_mode data;  /* of the sections */
    int64_t corner[MAX_NODES_PER_ELEMENT];
} gmsh_file;

/* ---- element types ---- */

typedef enum element_shape {
    SHAPE_UNKNOWN,
    SHAPE_POINT,
    SHAPE_EDGE,
    SHAPE_TRIANGLE,
    SHAPE_QUADRILATERAL,
    SHAPE_TETRAHEDRON,
    SHAPE_REFUSED
} element_shape;

/* What an element type is. Of an element of higher order the first nodes are its corners. */
typedef struct element_type {
    element_shape shape;
    int nodes;
    const char *refused; /* how a type that is not read is called */
} element_type;

static element_type type_of(int64_t type)
{
    static const element_type types[] = {[1] = {SHAPE_EDGE, 2, NULL},
                                         [2] = {SHAPE_TRIANGLE, 3, NULL},
                                         [3] = {SHAPE_QUADRILATERAL, 4, NULL},
                                         [4] = {SHAPE_TETRAHEDRON, 4, NULL},
                                         [5] = {SHAPE_REFUSED, 8, "hexahedron"},
                                         [6] = {SHAPE_REFUSED, 6, "prism"},
                                         [7] = {SHAPE_REFUSED, 5, "pyramid"},
                                         [8] = {SHAPE_EDGE, 3, NULL},
                                         [9] = {SHAPE_TRIANGLE, 6, NULL},
                                         [10] = {SHAPE_QUADRILATERAL, 9, NULL},
                                         [11] = {SHAPE_TETRAHEDRON, 10, NULL},
                                         [12] = {SHAPE_REFUSED, 27, "hexahedron"},
                                         [13] = {SHAPE_REFUSED, 18, "prism"},
                                         [14] = {SHAPE_REFUSED, 14, "pyramid"},
                                         [15] = {SHAPE_POINT, 1, NULL},
                                         [16] = {SHAPE_QUADRILATERAL, 8, NULL},
                                         [17] = {SHAPE_REFUSED, 20, "hexahedron"},
                                         [18] = {SHAPE_REFUSED, 15, "prism"},
                                         [19] = {SHAPE_REFUSED, 13, "pyramid"},
                                         [20] = {SHAPE_TRIANGLE, 9, NULL},
                                         [21] = {SHAPE_TRIANGLE, 10, NULL},
                                         [26] = {SHAPE_EDGE, 4, NULL},
                                         [29] = {SHAPE_TETRAHEDRON, 20, NULL}};
    if (type < 0 || type >= (int64_t)(sizeof types / sizeof types[0])) return (element_type){0};
    return types[type];
}

/* Takes the number of an element type. */
static tw_status read_type(gmsh_file *f, const char *what, element_type *type)
{
    int64_t number = 0;
    TW_TRY(tw_scan_integer(f->scan, TW_SCAN_INT32, what, 0, 1000, &number));
    *type = type_of(number);

    /* Complain at the number, by the name of the shape if it has one. */
    if (type->shape == SHAPE_REFUSED)
        return tw_scan_fail(
            f->scan, "element type %lld (%s) is not read, expected tetrahedra (4) or triangles (2)",
            (long long)number, type->refused);
    if (type->shape == SHAPE_UNKNOWN)
        return tw_scan_fail(
            f->scan,
            "unknown element type %lld, expected one such as 4 (tetrahedron) or 2 (triangle)",
            (long long)number);

    return TW_OK;
}

/* ---- small steps ---- */

/* Goes from the end of a line of text to the data behind it. */
static void begin_data(gmsh_file *f)
{
    if (f->data != TW_SCAN_TEXT) tw_scan_next_line(f->scan);
    f->scan->mode = f->data;
}

/* Takes the tag of a node. */
static tw_status read_tag(gmsh_file *f, tw_scan_type type, int64_t *tag)
{
    return tw_scan_integer(f->scan, type, "the number of a node", 1, INT64_MAX - 1, tag);
}

/* Takes `count` numbers that are of no interest. */
static tw_status skip_numbers(gmsh_file *f, int64_t count, const char *what)
{
    int64_t ignored = 0;
    for (int64_t i = 0; i < count; i++)
        TW_TRY(tw_scan_integer(f->scan, TW_SCAN_INT32, what, INT64_MIN, INT64_MAX, &ignored));
    return TW_OK;
}

/* Version 4.1: the four numbers that begin the sections Nodes and Elements are the number of
 * blocks, the number of items, the smallest and the largest tag. */
static tw_status read_counts_4(gmsh_file *f, int64_t *blocks)
{
    int64_t ignored = 0;
    begin_data(f);
    TW_TRY(tw_scan_integer(f->scan, TW_SCAN_UINT64, "the number of blocks", 0, INT64_MAX, blocks));
    for (int i = 0; i < 3; i++)
        TW_TRY(tw_scan_integer(f->scan, TW_SCAN_UINT64, "a number of items or a tag", 0, INT64_MAX,
                               &ignored));
    return TW_OK;
}

/* ---- nodes ---- */

/* Reads the coordinates of a node and adds it. */
static tw_status read_node(gmsh_file *f, int64_t tag)
{
    double point[3];
    TW_TRY(tw_scan_point(f->scan, TW_SCAN_FLOAT64, "a coordinate", point));

    /* The tag must be new, because a second node of the same tag would be lost. */
    bool is_new = false;
    int64_t vertex = f->out->mesh.vertex_count;
    TW_TRY(tw_scan_check_memory(f->scan, tw_tag_map_add(&f->tags, tag, vertex, &is_new)));
    if (!is_new)
        return tw_scan_fail(f->scan, "node %lld again, expected every node once", (long long)tag);
    return tw_scan_check_memory(f->scan, tw_builder_vertex(f->out, point));
}

static tw_status read_nodes_2(gmsh_file *f)
{
    int64_t count = 0;
    TW_TRY(tw_scan_integer(f->scan, TW_SCAN_INT32, "the number of nodes", 0, INT64_MAX, &count));
    begin_data(f);

    /* A node is its tag and three coordinates. */
    for (int64_t i = 0; i < count; i++) {
        int64_t tag = 0;
        TW_TRY(read_tag(f, TW_SCAN_INT32, &tag));
        TW_TRY(read_node(f, tag));
    }

    return TW_OK;
}

/* Version 4.1: a block has a head, then all tags, then all coordinates. `tags` is scratch. */
static tw_status read_node_block(gmsh_file *f, tw_numbers *tags)
{
    tw_scan *scan = f->scan;
    int64_t dimension = 0;
    int64_t parametric = 0;
    int64_t count = 0;

    /* The head: dimension and tag of the entity, whether nodes have parameters, number of nodes. */
    TW_TRY(tw_scan_integer(scan, TW_SCAN_INT32, "the dimension of an entity", 0, 3, &dimension));
    TW_TRY(skip_numbers(f, 1, "the tag of an entity"));
    TW_TRY(tw_scan_integer(scan, TW_SCAN_INT32, "parametric", 0, 1, &parametric));
    TW_TRY(tw_scan_integer(scan, TW_SCAN_UINT64, "the number of nodes of a block", 0, INT64_MAX,
                           &count));

    /* All tags of the block come first. */
    tags->count = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t tag = 0;
        TW_TRY(read_tag(f, TW_SCAN_UINT64, &tag));
        TW_TRY(tw_scan_check_memory(scan, tw_numbers_add(tags, tag)));
    }

    /* A parametric node has as many parameters as its entity has
     * dimensions, behind its coordinates. */
    for (int64_t i = 0; i < count; i++) {
        TW_TRY(read_node(f, tags->values[i]));
        for (int64_t k = 0; k < dimension * parametric; k++)
            TW_TRY(tw_scan_skip(scan, TW_SCAN_FLOAT64, "a parameter of a node"));
    }

    return TW_OK;
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

/* ---- elements ---- */

static tw_status add_element(gmsh_file *f, element_shape shape)
{
    const int64_t *c = f->corner;
    tw_status status = TW_OK;

    if (shape == SHAPE_EDGE) status = tw_builder_edge(f->out, c[0], c[1]);
    if (shape == SHAPE_TRIANGLE) status = tw_builder_face(f->out, 3, c, NULL);
    if (shape == SHAPE_QUADRILATERAL) status = tw_builder_face(f->out, 4, c, NULL);
    if (shape == SHAPE_TETRAHEDRON) status = tw_builder_tetrahedron(f->out, c);
    return tw_scan_check_memory(f->scan, status);
}

/* Reads the nodes of an element and adds it. */
static tw_status read_element_nodes(gmsh_file *f, tw_scan_type number_type,
                                    const element_type *type)
{
    for (int k = 0; k < type->nodes; k++) {
        int64_t tag = 0;
        TW_TRY(read_tag(f, number_type, &tag));

        /* Nodes must be defined before the elements that use them. */
        f->corner[k] = tw_tag_map_find(&f->tags, tag);
        if (f->corner[k] < 0)
            return tw_scan_fail(f->scan, "there is no node %lld, expected one of section Nodes",
                                (long long)tag);
    }

    return add_element(f, type->shape);
}

/* Version 2.2, text: number, type, number of tags, tags, nodes. */
static tw_status read_text_element_2(gmsh_file *f)
{
    int64_t tag_count = 0;
    element_type type = {0};

    TW_TRY(skip_numbers(f, 1, "the number of an element"));
    TW_TRY(read_type(f, "the type of an element", &type));
    TW_TRY(tw_scan_integer(f->scan, TW_SCAN_INT32, "the number of tags", 0, 1000, &tag_count));
    TW_TRY(skip_numbers(f, tag_count, "a tag of an element"));
    return read_element_nodes(f, TW_SCAN_INT32, &type);
}

/* Version 2.2, binary: type, number of elements and number of tags for a whole block. *done
 * becomes the number of elements, at most `left`. */
static tw_status read_binary_block_2(gmsh_file *f, int64_t left, int64_t *done)
{
    int64_t tag_count = 0;
    element_type type = {0};

    TW_TRY(read_type(f, "the type of elements", &type));
    TW_TRY(tw_scan_integer(f->scan, TW_SCAN_INT32, "the number of elements of a block", 1, left,
                           done));
    TW_TRY(tw_scan_integer(f->scan, TW_SCAN_INT32, "the number of tags", 0, 1000, &tag_count));

    /* Per element: its number, its tags, its nodes. */
    for (int64_t i = 0; i < *done; i++) {
        TW_TRY(skip_numbers(f, 1 + tag_count, "a tag of an element"));
        TW_TRY(read_element_nodes(f, TW_SCAN_INT32, &type));
    }

    return TW_OK;
}

static tw_status read_elements_2(gmsh_file *f)
{
    int64_t count = 0;
    int64_t done = 1;

    TW_TRY(tw_scan_integer(f->scan, TW_SCAN_INT32, "the number of elements", 0, INT64_MAX, &count));
    begin_data(f);
    for (int64_t i = 0; i < count; i += done) {
        /* In text each element has its own type; in binary files a block has one. */
        if (f->data == TW_SCAN_TEXT)
            TW_TRY(read_text_element_2(f));
        else
            TW_TRY(read_binary_block_2(f, count - i, &done));
    }

    return TW_OK;
}

/* Version 4.1: a block has a head, then per element its number and its nodes. */
static tw_status read_element_block(gmsh_file *f)
{
    tw_scan *scan = f->scan;
    int64_t ignored = 0;
    int64_t count = 0;
    element_type type = {0};

    /* The head: dimension and tag of the entity, type, number of elements. */
    TW_TRY(tw_scan_integer(scan, TW_SCAN_INT32, "the dimension of an entity", 0, 3, &ignored));
    TW_TRY(skip_numbers(f, 1, "the tag of an entity"));
    TW_TRY(read_type(f, "the type of elements", &type));
    TW_TRY(tw_scan_integer(scan, TW_SCAN_UINT64, "the number of elements of a block", 0, INT64_MAX,
                           &count));

    /* Per element: its number, its nodes. */
    for (int64_t k = 0; k < count; k++) {
        TW_TRY(tw_scan_integer(scan, TW_SCAN_UINT64, "the number of an element", 0, INT64_MAX,
                               &ignored));
        TW_TRY(read_element_nodes(f, TW_SCAN_UINT64, &type));
    }

    return TW_OK;
}

static tw_status read_elements_4(gmsh_file *f)
{
    int64_t blocks = 0;
    TW_TRY(read_counts_4(f, &blocks));
    for (int64_t i = 0; i < blocks; i++) TW_TRY(read_element_block(f));
    return TW_OK;
}

/* ---- sections ---- */

static tw_status read_version(gmsh_file *f)
{
    TW_TRY(tw_scan_expect_word(f->scan, "the version of the format"));
    const char *word = f->scan->word;
    f->is_new_format = strcmp(word, "4.1") == 0;
    if (!f->is_new_format && strcmp(word, "2.2") != 0 && strcmp(word, "2.1") != 0 &&
        strcmp(word, "2") != 0)
        return tw_scan_fail(f->scan, "version %.60s is not read, expected 2.2 or 4.1", word);
    return TW_OK;
}

static tw_status read_format(gmsh_file *f)
{
    tw_scan *scan = f->scan;
    int64_t type = 0;
    int64_t size = 0;

    TW_TRY(read_version(f));
    TW_TRY(tw_scan_integer(scan, TW_SCAN_INT64, "0 (text) or 1 (binary)", 0, 1, &type));
    TW_TRY(tw_scan_integer(scan, TW_SCAN_INT64, "the size of a number", 8, 8, &size));
    if (type == 0) return TW_OK;

    /* In a binary file the number 1 tells the byte order. */
    tw_scan_next_line(scan);
    f->data = TW_SCAN_BIG_ENDIAN;
    if (scan->at < scan->size && scan->bytes[scan->at] == 1) f->data = TW_SCAN_LITTLE_ENDIAN;

    int64_t one = 0;
    scan->mode = f->data;
    tw_status status =
        tw_scan_integer(scan, TW_SCAN_INT32, "the mark of the byte order", 1, 1, &one);
    scan->mode = TW_SCAN_TEXT;
    return status;
}

/* Goes to the word `$EndX` of the section `$X`, over whatever is in between. */
static tw_status skip_section(gmsh_file *f, const char *end)
{
    tw_scan *scan = f->scan;
    size_t length = strlen(end);

    /* The end stands at the beginning of a line, also behind binary data. */
    while (scan->at < scan->size) {
        if (scan->size - scan->at >= length && memcmp(scan->bytes + scan->at, end, length) == 0)
            return TW_OK;
        tw_scan_next_line(scan);
    }

    return tw_scan_fail(scan, "section %.60s does not end, expected %.60s", scan->word, end);
}

/* Reads what is between `$X` and `$EndX`. */
static tw_status read_content(gmsh_file *f, const char *name, const char *end)
{
    if (strcmp(name, "MeshFormat") == 0) return read_format(f);
    if (strcmp(name, "Nodes") == 0) return f->is_new_format ? read_nodes_4(f) : read_nodes_2(f);
    if (strcmp(name, "Elements") == 0)
        return f->is_new_format ? read_elements_4(f) : read_elements_2(f);
    return skip_section(f, end);
}

/* Reads a section; the last word is its beginning. */
static tw_status read_section(gmsh_file *f)
{
    char name[TW_SCAN_WORD_SIZE];
    char end[TW_SCAN_WORD_SIZE + 8];

    if (f->scan->word[0] != '$')
        return tw_scan_fail(f->scan,
                            "'%.60s' is unexpected here, expected a section such as $Nodes",
                            f->scan->word);

    /* Remember the name, because reading overwrites the word. */
    snprintf(name, sizeof name, "%s", f->scan->word + 1);
    snprintf(end, sizeof end, "$End%s", name);

    /* The end of a section is text, also in a binary file. */
    TW_TRY(read_content(f, name, end));
    f->scan->mode = TW_SCAN_TEXT;
    return tw_scan_expect(f->scan, end);
}

static tw_status read_sections(gmsh_file *f)
{
    /* Comments may stand before the format. */
    tw_scan *scan = f->scan;
    TW_TRY(tw_scan_expect_word(scan, "$MeshFormat"));
    while (strcmp(scan->word, "$Comments") == 0) {
        /* The format, then all other sections. */
        TW_TRY(read_section(f));
        TW_TRY(tw_scan_expect_word(scan, "$MeshFormat"));
    }

    if (strcmp(scan->word, "$MeshFormat") != 0)
        return tw_scan_fail(scan, "'%.60s' is unexpected here, expected $MeshFormat", scan->word);

    TW_TRY(read_section(f));
    while (tw_scan_word(scan)) TW_TRY(read_section(f));
    return TW_OK;
}

tw_status tw_read_gmsh(tw_scan *scan, tw_builder *out)
{
    gmsh_file f = {.scan = scan, .out = out};
    tw_status status = read_sections(&f);
    tw_tag_map_free(&f.tags);
    return status;
}
