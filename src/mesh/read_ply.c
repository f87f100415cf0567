/* PLY, text or binary of either byte order: `vertex` with x, y, z; `face` with a list
 * vertex_indices (cut into triangles from its first corner); `edge` with vertex1, vertex2. Other
 * elements and properties are passed over. */
#include <string.h>

#include "base/fail.h"
#include "mesh/mesh_formats.h"

enum { MAX_ELEMENTS = 32, MAX_PROPERTIES = 64 };

/* What a property is for. The order matters: coordinates, then whole numbers. */
typedef enum property_role {
    ROLE_NONE,
    ROLE_X,
    ROLE_Y,
    ROLE_Z,
    ROLE_CORNERS,
    ROLE_FROM,
    ROLE_TO
} property_role;

typedef struct property {
    bool is_list;
    tw_scan_type count_type, type;
    property_role role;
} property;

typedef enum element_kind { KIND_OTHER, KIND_VERTEX, KIND_FACE, KIND_EDGE } element_kind;

typedef struct element {
    element_kind kind;
    int64_t count;
    int property_count;
    property properties[MAX_PROPERTIES];
} element;

typedef struct header {
    tw_scan_mode mode;
    int element_count;
    int64_t vertex_count; /* as declared */
    element elements[MAX_ELEMENTS];
    tw_numbers corners; /* of the face being read */
} header;

/* ---- properties ---- */

static tw_status read_type(tw_scan *scan, tw_scan_type *type)
{
    static const struct {
        const char *name;
        tw_scan_type type;
    } types[] = {
        {"char", TW_SCAN_INT8},      {"int8", TW_SCAN_INT8},       {"uchar", TW_SCAN_UINT8},
        {"uint8", TW_SCAN_UINT8},    {"short", TW_SCAN_INT16},     {"int16", TW_SCAN_INT16},
        {"ushort", TW_SCAN_UINT16},  {"uint16", TW_SCAN_UINT16},   {"int", TW_SCAN_INT32},
        {"int32", TW_SCAN_INT32},    {"uint", TW_SCAN_UINT32},     {"uint32", TW_SCAN_UINT32},
        {"float", TW_SCAN_FLOAT32},  {"float32", TW_SCAN_FLOAT32}, {"double", TW_SCAN_FLOAT64},
        {"float64", TW_SCAN_FLOAT64}};

    if (!tw_scan_word_in_line(scan))
        return tw_scan_fail(scan, "the line ends here, expected the type of a property");
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(scan->word, types[i].name) == 0) {
            *type = types[i].type;
            return TW_OK;
        }
    return tw_scan_fail(scan, "unknown type '%.60s', expected one such as int, float or double",
                        scan->word);
}

static bool is_whole(tw_scan_type type)
{
    return type != TW_SCAN_FLOAT32 && type != TW_SCAN_FLOAT64;
}

static property_role role_of(element_kind kind, const char *name)
{
    static const struct {
        element_kind kind;
        const char *name;
        property_role role;
    } roles[] = {{KIND_VERTEX, "x", ROLE_X},
                 {KIND_VERTEX, "y", ROLE_Y},
                 {KIND_VERTEX, "z", ROLE_Z},
                 {KIND_FACE, "vertex_indices", ROLE_CORNERS},
                 {KIND_FACE, "vertex_index", ROLE_CORNERS},
                 {KIND_EDGE, "vertex1", ROLE_FROM},
                 {KIND_EDGE, "vertex2", ROLE_TO}};
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++)
        if (roles[i].kind == kind && strcmp(roles[i].name, name) == 0) return roles[i].role;

    return ROLE_NONE;
}

/* Corners must be a list, other roles a number; lengths, corners and ends of edges must be
 * whole. The last word is the name of the property. */
static tw_status check_property(tw_scan *scan, const property *p)
{
    if (p->is_list && !is_whole(p->count_type))
        return tw_scan_fail(
            scan, "the length of list '%.60s' is not whole, expected a type such as uchar",
            scan->word);
    if (p->role != ROLE_NONE && p->is_list != (p->role == ROLE_CORNERS))
        return tw_scan_fail(scan, "property '%.60s' is %s", scan->word,
                            p->is_list ? "a list, expected a number" : "a number, expected a list");

    /* Corners and ends of edges are numbers of vertices. */
    if (p->role >= ROLE_CORNERS && !is_whole(p->type))
        return tw_scan_fail(scan, "property '%.60s' is not whole, expected a type such as int",
                            scan->word);

    return TW_OK;
}

/* "property TYPE NAME" or "property list COUNT_TYPE TYPE NAME". */
static tw_status read_property(tw_scan *scan, header *head)
{
    if (head->element_count == 0)
        return tw_scan_fail(scan, "a property of no element, expected an element line first");
    element *e = head->elements + head->element_count - 1;
    if (e->property_count == MAX_PROPERTIES)
        return tw_scan_fail(scan, "more properties than expected, at most %d", MAX_PROPERTIES);

    /* If the next word is not "list", it is the type and is read again. */
    property p = {0};
    size_t here = scan->at;
    p.is_list = tw_scan_word_in_line(scan) && strcmp(scan->word, "list") == 0;
    if (p.is_list)
        TW_TRY(read_type(scan, &p.count_type));
    else
        scan->at = here;
    TW_TRY(read_type(scan, &p.type));

    if (!tw_scan_word_in_line(scan))
        return tw_scan_fail(scan, "the line ends here, expected the name of a property");
    p.role = role_of(e->kind, scan->word);
    e->properties[e->property_count++] = p;
    return check_property(scan, &p);
}

/* ---- elements ---- */

static element_kind kind_of(const char *name)
{
    if (strcmp(name, "vertex") == 0) return KIND_VERTEX;
    if (strcmp(name, "face") == 0) return KIND_FACE;
    if (strcmp(name, "edge") == 0) return KIND_EDGE;
    return KIND_OTHER;
}

/* "element NAME COUNT". */
static tw_status read_element(tw_scan *scan, header *head)
{
    if (head->element_count == MAX_ELEMENTS)
        return tw_scan_fail(scan, "more elements than expected, at most %d", MAX_ELEMENTS);
    element *e = head->elements + head->element_count++;
    *e = (element){0};

    /* The name. */
    if (!tw_scan_word_in_line(scan))
        return tw_scan_fail(scan, "the line ends here, expected the name of an element");
    e->kind = kind_of(scan->word);
    if (strcmp(scan->word, "tristrips") == 0)
        return tw_scan_fail(scan, "tristrips are not read, expected faces");
    for (element *other = head->elements; other < e; other++)
        if (e->kind != KIND_OTHER && other->kind == e->kind)
            return tw_scan_fail(scan, "element %s again, expected it once", scan->word);

    /* The count. */
    if (!tw_scan_word_in_line(scan))
        return tw_scan_fail(scan, "the line ends here, expected how many there are");
    TW_TRY(tw_scan_word_to_integer(scan, "how many there are", 0, INT64_MAX, &e->count));
    if (e->kind == KIND_VERTEX) head->vertex_count = e->count;

    return TW_OK;
}

/* Checks that an element has the properties that it needs. Every element has at least one
 * property and so takes bytes of the file: no declared number of elements is worked through
 * without a file behind it. */
static tw_status check_element(tw_scan *scan, const element *e)
{
    int roles[ROLE_TO + 1] = {0};
    for (int p = 0; p < e->property_count; p++) roles[e->properties[p].role]++;

    /* Each needed property stands exactly once. */
    if (e->property_count == 0)
        return tw_scan_fail(scan, "an element without properties, expected at least one");
    if (e->kind == KIND_VERTEX && (roles[ROLE_X] != 1 || roles[ROLE_Y] != 1 || roles[ROLE_Z] != 1))
        return tw_scan_fail(scan,
                            "vertices without x, y and z, expected these properties once each");
    if (e->kind == KIND_FACE && roles[ROLE_CORNERS] != 1)
        return tw_scan_fail(scan, "faces without vertex_indices, expected this list once");
    if (e->kind == KIND_EDGE && (roles[ROLE_FROM] != 1 || roles[ROLE_TO] != 1))
        return tw_scan_fail(
            scan, "edges without vertex1 and vertex2, expected these properties once each");

    return TW_OK;
}

/* ---- header ---- */

static tw_status read_format(tw_scan *scan, header *head)
{
    TW_TRY(tw_scan_expect(scan, "format"));
    TW_TRY(tw_scan_expect_word(scan, "ascii, binary_little_endian or binary_big_endian"));
    if (strcmp(scan->word, "ascii") == 0)
        head->mode = TW_SCAN_TEXT;
    else if (strcmp(scan->word, "binary_little_endian") == 0)
        head->mode = TW_SCAN_LITTLE_ENDIAN;
    else if (strcmp(scan->word, "binary_big_endian") == 0)
        head->mode = TW_SCAN_BIG_ENDIAN;
    else
        return tw_scan_fail(
            scan,
            "unknown format '%.60s', expected ascii, binary_little_endian or binary_big_endian",
            scan->word);

    return tw_scan_expect(scan, "1.0");
}

/* Reads a line of the header; the last word is its keyword. */
static tw_status read_header_line(tw_scan *scan, header *head)
{
    if (strcmp(scan->word, "element") == 0) return read_element(scan, head);
    if (strcmp(scan->word, "property") == 0) return read_property(scan, head);

    /* Comments are passed over, anything else is refused. */
    if (strcmp(scan->word, "comment") != 0 && strcmp(scan->word, "obj_info") != 0)
        return tw_scan_fail(scan,
                            "'%.60s' is unexpected here, expected element, property or end_header",
                            scan->word);
    tw_scan_next_line(scan);

    return TW_OK;
}

static tw_status read_header(tw_scan *scan, header *head)
{
    TW_TRY(tw_scan_expect(scan, "ply"));
    TW_TRY(read_format(scan, head));

    /* Lines up to end_header. */
    TW_TRY(tw_scan_expect_word(scan, "end_header"));
    while (strcmp(scan->word, "end_header") != 0) {
        TW_TRY(read_header_line(scan, head));
        TW_TRY(tw_scan_expect_word(scan, "end_header"));
    }

    /* The data begin in the next line. */
    for (int i = 0; i < head->element_count; i++) TW_TRY(check_element(scan, head->elements + i));
    tw_scan_next_line(scan);
    return TW_OK;
}

/* ---- data ---- */

/* Reads the list of corners of a face and adds the face. */
static tw_status read_corners(tw_scan *scan, header *head, const property *p, tw_builder *out)
{
    int64_t count = 0;
    TW_TRY(tw_scan_integer(scan, p->count_type, "the number of corners of a face", 3, INT32_MAX,
                           &count));

    /* Vertices may be declared behind the faces; the declared number is what limits a corner. */
    head->corners.count = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t corner = 0;
        TW_TRY(tw_scan_integer(scan, p->type, "the number of a vertex", 0, head->vertex_count - 1,
                               &corner));
        TW_TRY(tw_scan_check_memory(scan, tw_numbers_add(&head->corners, corner)));
    }

    return tw_scan_check_memory(scan, tw_builder_face(out, count, head->corners.values, NULL));
}

static tw_status skip_property(tw_scan *scan, const property *p)
{
    int64_t count = 1;
    if (p->is_list)
        TW_TRY(tw_scan_integer(scan, p->count_type, "the length of a list", 0, INT64_MAX, &count));
    for (int64_t i = 0; i < count; i++)
        TW_TRY(tw_scan_skip(scan, p->type, "the value of a property"));
    return TW_OK;
}

/* Reads one vertex, face, edge, or item of another element. */
static tw_status read_item(tw_scan *scan, header *head, const element *e, tw_builder *out)
{
    double point[3] = {0};
    int64_t ends[2] = {0};

    /* The properties stand in the order of the header. */
    for (int i = 0; i < e->property_count; i++) {
        const property *p = e->properties + i;
        if (p->role == ROLE_NONE)
            TW_TRY(skip_property(scan, p));
        else if (p->role == ROLE_CORNERS)
            TW_TRY(read_corners(scan, head, p, out));
        else if (p->role <= ROLE_Z)
            TW_TRY(tw_scan_coordinate(scan, p->type, "a coordinate", point + (p->role - ROLE_X)));
        else
            TW_TRY(tw_scan_integer(scan, p->type, "the number of a vertex", 0,
                                   head->vertex_count - 1, ends + (p->role - ROLE_FROM)));
    }

    /* A face was added with its corners; vertices and edges are complete only now. */
    tw_status status = TW_OK;
    if (e->kind == KIND_VERTEX) status = tw_builder_vertex(out, point);
    if (e->kind == KIND_EDGE) status = tw_builder_edge(out, ends[0], ends[1]);

    return tw_scan_check_memory(scan, status);
}

tw_status tw_read_ply(tw_scan *scan, tw_builder *out)
{
    header head = {0};
    tw_status status = read_header(scan, &head);
    if (status == TW_OK) scan->mode = head.mode;

    /* Elements follow each other in the order of the header. */
    for (const element *e = head.elements; e < head.elements + head.element_count; e++)
        for (int64_t i = 0; i < e->count && status == TW_OK; i++)
            status = read_item(scan, &head, e, out);
    tw_numbers_free(&head.corners);
    return status;
}
