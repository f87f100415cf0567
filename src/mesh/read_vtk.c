/* Legacy VTK: unstructured grids and polygonal data, text and binary (big-endian), up to version
 * 5.1, whose cells have offsets. Attributes of points and cells are not read. */
#include <string.h>

#include "base/fail.h"
#include "mesh/mesh_formats.h"

typedef struct vtk_file {
    tw_scan *scan;
    tw_builder *out;
    tw_scan_mode data;
    bool has_offsets;           /* version 5: cells as OFFSETS and CONNECTIVITY */
    tw_numbers starts, corners; /* cell i has corners starts[i] ... starts[i + 1] - 1 */
} vtk_file;

/* ---- small steps ---- */

static tw_status read_type(tw_scan *scan, tw_scan_type *type)
{
    static const struct {
        const char *name;
        tw_scan_type type;
    } types[] = {{"float", TW_SCAN_FLOAT32},      {"double", TW_SCAN_FLOAT64},
                 {"int", TW_SCAN_INT32},          {"unsigned_int", TW_SCAN_UINT32},
                 {"long", TW_SCAN_INT64},         {"unsigned_long", TW_SCAN_UINT64},
                 {"vtktypeint64", TW_SCAN_INT64}, {"vtkIdType", TW_SCAN_INT32},
                 {"short", TW_SCAN_INT16},        {"unsigned_short", TW_SCAN_UINT16},
                 {"char", TW_SCAN_INT8},          {"unsigned_char", TW_SCAN_UINT8}};

    TW_TRY(tw_scan_expect_word(scan, "a type such as float"));
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(scan->word, types[i].name) == 0) {
            *type = types[i].type;
            return TW_OK;
        }
    return tw_scan_fail(scan, "unknown type '%.60s', expected one such as float, double or int",
                        scan->word);
}

/* Takes a number of items, which is always text. */
static tw_status read_count(vtk_file *f, const char *what, int64_t most, int64_t *count)
{
    return tw_scan_integer(f->scan, TW_SCAN_INT64, what, 0, most, count);
}

/* Goes from the end of a line of text to the data behind it. */
static void begin_data(vtk_file *f)
{
    if (f->data != TW_SCAN_TEXT) tw_scan_next_line(f->scan);
    f->scan->mode = f->data;
}

static void end_data(vtk_file *f)
{
    f->scan->mode = TW_SCAN_TEXT;
}

static tw_status add_number(vtk_file *f, tw_numbers *numbers, int64_t value)
{
    return tw_scan_check_memory(f->scan, tw_numbers_add(numbers, value));
}

/* ---- points ---- */

static tw_status read_points(vtk_file *f)
{
    int64_t count = 0;
    tw_scan_type type = TW_SCAN_FLOAT32;

    TW_TRY(read_count(f, "the number of points", INT64_MAX, &count));
    TW_TRY(read_type(f->scan, &type));
    if (f->out->mesh.vertex_count > 0)
        return tw_scan_fail(f->scan, "POINTS again, expected them once");

    /* Points may be read once only, because cells refer to them by number. */
    begin_data(f);
    for (int64_t i = 0; i < count; i++) {
        double point[3];
        TW_TRY(tw_scan_point(f->scan, type, "a coordinate", point));
        TW_TRY(tw_scan_check_memory(f->scan, tw_builder_vertex(f->out, point)));
    }

    end_data(f);
    return TW_OK;
}

/* ---- lists of cells ---- */

static tw_status read_corner(vtk_file *f, tw_scan_type type)
{
    int64_t corner = 0;
    TW_TRY(tw_scan_integer(f->scan, type, "the number of a point", 0, f->out->mesh.vertex_count - 1,
                           &corner));
    return add_number(f, &f->corners, corner);
}

/* Before version 5: for each cell the number of its corners, then these. `size` is
 * the number of all numbers. */
static tw_status read_counted_cells(vtk_file *f, int64_t cells, int64_t size)
{
    TW_TRY(add_number(f, &f->starts, 0));
    begin_data(f);
    for (int64_t i = 0; i < cells; i++) {
        /* A cell has at most the numbers that remain of the list. */
        int64_t count = 0;
        int64_t most = size - f->corners.count - i - 1;
        TW_TRY(tw_scan_integer(f->scan, TW_SCAN_INT32, "the number of corners of a cell", 1, most,
                               &count));
        for (int64_t k = 0; k < count; k++) TW_TRY(read_corner(f, TW_SCAN_INT32));
        TW_TRY(add_number(f, &f->starts, f->corners.count));
    }

    end_data(f);
    return TW_OK;
}

/* Version 5: offsets of all cells and of their end. They rise from 0 to `size`. */
static tw_status read_offsets(vtk_file *f, int64_t count, int64_t size)
{
    tw_scan_type type = TW_SCAN_INT64;
    TW_TRY(tw_scan_expect(f->scan, "OFFSETS"));
    TW_TRY(read_type(f->scan, &type));

    /* Each offset is between the one before and the end; the first and the last are known. */
    begin_data(f);
    int64_t offset = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t low = offset;
        int64_t high = size;
        if (i == count - 1) low = size;
        if (i == 0) low = high = 0;
        TW_TRY(tw_scan_integer(f->scan, type, "the offset of a cell", low, high, &offset));
        TW_TRY(add_number(f, &f->starts, offset));
    }

    end_data(f);
    return TW_OK;
}

/* Version 5: offsets, then the corners of all cells. */
static tw_status read_offset_cells(vtk_file *f, int64_t offsets, int64_t size)
{
    TW_TRY(read_offsets(f, offsets, size));

    /* The list of corners has a type of its own. */
    tw_scan_type type = TW_SCAN_INT64;
    TW_TRY(tw_scan_expect(f->scan, "CONNECTIVITY"));
    TW_TRY(read_type(f->scan, &type));
    begin_data(f);
    for (int64_t i = 0; i < size; i++) TW_TRY(read_corner(f, type));
    end_data(f);

    return TW_OK;
}

static tw_status read_cells(vtk_file *f)
{
    int64_t cells = 0;
    int64_t size = 0;

    f->starts.count = 0;
    f->corners.count = 0;
    TW_TRY(read_count(f, "the number of cells", INT64_MAX, &cells));
    TW_TRY(read_count(f, "the size of the list", INT64_MAX, &size));
    return f->has_offsets ? read_offset_cells(f, cells, size) : read_counted_cells(f, cells, size);
}

/* ---- cells by their type ---- */

typedef enum cell_shape {
    SHAPE_REFUSED,
    SHAPE_POINT,
    SHAPE_LINE,
    SHAPE_POLYGON,
    SHAPE_PIXEL,
    SHAPE_STRIP,
    SHAPE_TETRAHEDRON
} cell_shape;

/* A cell type: its shape, how many corners it must at least have, and how
 * many of them count (0: all). */
typedef struct cell_type {
    cell_shape shape;
    int64_t least, used;
} cell_type;

/* The types of the sections of polygonal data. */
enum { TYPE_VERTICES = 2, TYPE_LINES = 4, TYPE_STRIPS = 6, TYPE_POLYGONS = 7 };

static cell_type type_of(int64_t number)
{
    static const cell_type types[] = {
        [1] = {SHAPE_POINT, 1, 0},    [2] = {SHAPE_POINT, 1, 0},
        [3] = {SHAPE_LINE, 2, 2},     [4] = {SHAPE_LINE, 2, 0},
        [5] = {SHAPE_POLYGON, 3, 3},  [6] = {SHAPE_STRIP, 3, 0},
        [7] = {SHAPE_POLYGON, 3, 0},  [8] = {SHAPE_PIXEL, 4, 4},
        [9] = {SHAPE_POLYGON, 4, 4},  [10] = {SHAPE_TETRAHEDRON, 4, 4},
        [21] = {SHAPE_LINE, 3, 2},    [22] = {SHAPE_POLYGON, 6, 3},
        [23] = {SHAPE_POLYGON, 8, 4}, [24] = {SHAPE_TETRAHEDRON, 10, 4}};
    if (number < 0 || number >= (int64_t)(sizeof types / sizeof types[0]))
        return (cell_type){.shape = SHAPE_REFUSED};

    return types[number];
}

static tw_status add_polygon(vtk_file *f, const int64_t *corner, int64_t count)
{
    if (count < 3)
        return tw_scan_fail(f->scan, "a polygon of %lld corners, expected at least 3",
                            (long long)count);
    return tw_scan_check_memory(f->scan, tw_builder_face(f->out, count, corner, NULL));
}

/* Triangle k of a strip has the corners k, k + 1, k + 2; every other one runs the other way. */
static tw_status add_strip(vtk_file *f, const int64_t *corner, int64_t count)
{
    for (int64_t k = 2; k < count; k++) {
        int64_t odd = k % 2;
        const int64_t triangle[3] = {corner[k - 2 + odd], corner[k - 1 - odd], corner[k]};
        TW_TRY(tw_scan_check_memory(f->scan, tw_builder_face(f->out, 3, triangle, NULL)));
    }
    return TW_OK;
}

static tw_status add_line(vtk_file *f, const int64_t *corner, int64_t count)
{
    for (int64_t k = 1; k < count; k++)
        TW_TRY(tw_scan_check_memory(f->scan, tw_builder_edge(f->out, corner[k - 1], corner[k])));
    return TW_OK;
}

static tw_status add_tetrahedron(vtk_file *f, const int64_t *corner)
{
    return tw_scan_check_memory(f->scan, tw_builder_tetrahedron(f->out, corner));
}

/* Adds the cell number `cell` of the list as one of this type. */
static tw_status add_cell(vtk_file *f, int64_t cell, int64_t number)
{
    const int64_t *corner = f->corners.values + f->starts.values[cell];
    int64_t count = f->starts.values[cell + 1] - f->starts.values[cell];
    cell_type type = type_of(number);

    if (type.shape == SHAPE_REFUSED)
        return tw_scan_fail(f->scan,
                            "cell type %lld is not read, expected tetrahedra (10) or triangles (5)",
                            (long long)number);
    if (count < type.least)
        return tw_scan_fail(f->scan, "cell type %lld with %lld corners, expected %lld",
                            (long long)number, (long long)count, (long long)type.least);

    /* Nodes on the edges of a cell of higher order are left out. */
    if (type.used > 0) count = type.used;
    switch (type.shape) {
    case SHAPE_LINE:
        return add_line(f, corner, count);
    case SHAPE_POLYGON:
        return add_polygon(f, corner, count);
    case SHAPE_STRIP:
        return add_strip(f, corner, count);
    case SHAPE_PIXEL: /* corners by rows, not around */
        return add_polygon(f, (const int64_t[4]){corner[0], corner[1], corner[3], corner[2]}, 4);
    case SHAPE_TETRAHEDRON:
        return add_tetrahedron(f, corner);
    default: /* a point */
        return TW_OK;
    }
}

static int64_t cell_count(const vtk_file *f)
{
    return f->starts.count > 0 ? f->starts.count - 1 : 0;
}

static tw_status read_cell_types(vtk_file *f)
{
    int64_t count = 0;
    int64_t cells = cell_count(f);
    TW_TRY(tw_scan_integer(f->scan, TW_SCAN_INT64, "the number of cells", cells, cells, &count));

    /* The cells were listed before; now each is added with its type. */
    begin_data(f);
    for (int64_t i = 0; i < count; i++) {
        int64_t type = 0;
        TW_TRY(tw_scan_integer(f->scan, TW_SCAN_INT32, "a cell type", 0, 255, &type));
        TW_TRY(add_cell(f, i, type));
    }

    end_data(f);
    return TW_OK;
}

/* Cells of polygonal data: the section tells the type of all. */
static tw_status read_poly_cells(vtk_file *f, int64_t type)
{
    TW_TRY(read_cells(f));
    for (int64_t i = 0; i < cell_count(f); i++) TW_TRY(add_cell(f, i, type));
    return TW_OK;
}

/* ---- what is passed over ---- */

/* An array of a field: name, components, tuples, type, values. */
static tw_status skip_array(vtk_file *f)
{
    int64_t components = 0;
    int64_t tuples = 0;
    tw_scan_type type = TW_SCAN_FLOAT32;

    TW_TRY(tw_scan_expect_word(f->scan, "the name of an array"));
    TW_TRY(read_count(f, "a number of components", INT32_MAX, &components));
    TW_TRY(read_count(f, "a number of tuples", INT32_MAX, &tuples));
    TW_TRY(read_type(f->scan, &type));

    /* The values themselves are passed over. */
    begin_data(f);
    for (int64_t k = 0; k < components * tuples; k++)
        TW_TRY(tw_scan_skip(f->scan, type, "a value"));
    end_data(f);

    return TW_OK;
}

/* FIELD name n, then n arrays. */
static tw_status skip_field(vtk_file *f)
{
    int64_t arrays = 0;
    TW_TRY(tw_scan_expect_word(f->scan, "the name of the field"));
    TW_TRY(read_count(f, "the number of arrays", INT64_MAX, &arrays));
    for (int64_t i = 0; i < arrays; i++) TW_TRY(skip_array(f));
    return TW_OK;
}

/* METADATA goes up to an empty line. */
static void skip_metadata(tw_scan *scan)
{
    tw_scan_next_line(scan);
    while (scan->at < scan->size && tw_scan_word_in_line(scan)) tw_scan_next_line(scan);
}

/* ---- the file ---- */

/* Reads a section; the last word is its name. *done becomes true where the attributes begin. */
static tw_status read_section(vtk_file *f, bool *done)
{
    const char *word = f->scan->word;
    if (strcmp(word, "POINTS") == 0) return read_points(f);
    if (strcmp(word, "CELLS") == 0) return read_cells(f);
    if (strcmp(word, "CELL_TYPES") == 0) return read_cell_types(f);
    if (strcmp(word, "VERTICES") == 0) return read_poly_cells(f, TYPE_VERTICES);
    if (strcmp(word, "LINES") == 0) return read_poly_cells(f, TYPE_LINES);
    if (strcmp(word, "POLYGONS") == 0) return read_poly_cells(f, TYPE_POLYGONS);
    if (strcmp(word, "TRIANGLE_STRIPS") == 0) return read_poly_cells(f, TYPE_STRIPS);
    if (strcmp(word, "FIELD") == 0) return skip_field(f);

    /* Attributes come last, and are not read. */
    *done = strcmp(word, "POINT_DATA") == 0 || strcmp(word, "CELL_DATA") == 0;
    if (strcmp(word, "METADATA") == 0)
        skip_metadata(f->scan);
    else if (!*done)
        return tw_scan_fail(
            f->scan, "'%.60s' is unexpected here, expected a section such as POINTS or CELLS",
            word);

    return TW_OK;
}

/* "# vtk DataFile Version 3.0". */
static tw_status read_version(vtk_file *f)
{
    static const char *const words[] = {"#", "vtk", "DataFile", "Version"};
    for (int i = 0; i < 4; i++) TW_TRY(tw_scan_expect(f->scan, words[i]));
    TW_TRY(tw_scan_expect_word(f->scan, "a version"));

    /* The first digit tells how cells are written. */
    f->has_offsets = f->scan->word[0] == '5';
    if (strchr("12345", f->scan->word[0]) == NULL || f->scan->word[1] != '.')
        return tw_scan_fail(f->scan, "version %.60s is not read, expected one from 1.0 to 5.1",
                            f->scan->word);

    return TW_OK;
}

/* The version, a title, ASCII or BINARY, the kind of dataset. */
static tw_status read_head(vtk_file *f)
{
    TW_TRY(read_version(f));
    tw_scan_next_line(f->scan);
    tw_scan_next_line(f->scan); /* the title */

    /* Binary data are big-endian always. */
    TW_TRY(tw_scan_expect_word(f->scan, "ASCII or BINARY"));
    f->data = strcmp(f->scan->word, "BINARY") == 0 ? TW_SCAN_BIG_ENDIAN : TW_SCAN_TEXT;
    if (f->data == TW_SCAN_TEXT && strcmp(f->scan->word, "ASCII") != 0)
        return tw_scan_fail(f->scan, "'%.60s' is unexpected here, expected ASCII or BINARY",
                            f->scan->word);

    /* Structured grids and the like are refused. */
    TW_TRY(tw_scan_expect(f->scan, "DATASET"));
    TW_TRY(tw_scan_expect_word(f->scan, "UNSTRUCTURED_GRID or POLYDATA"));
    if (strcmp(f->scan->word, "UNSTRUCTURED_GRID") != 0 && strcmp(f->scan->word, "POLYDATA") != 0)
        return tw_scan_fail(f->scan,
                            "dataset %.60s is not read, expected UNSTRUCTURED_GRID or POLYDATA",
                            f->scan->word);

    return TW_OK;
}

tw_status tw_read_vtk(tw_scan *scan, tw_builder *out)
{
    vtk_file f = {.scan = scan, .out = out};
    bool done = false;
    tw_status status = read_head(&f);
    while (status == TW_OK && !done && tw_scan_word(scan)) status = read_section(&f, &done);

    tw_numbers_free(&f.starts);
    tw_numbers_free(&f.corners);
    return status;
}
