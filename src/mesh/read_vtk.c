/* Legacy VTK: unstructured grids and polygonal data, text and binary (big-endian), up to version 5.1, whose cells have
 * offsets. Attributes of points and cells are not read. */
#include <string.h>

#include "mesh/readers.h"

typedef struct vtk_file {
    tw_scan *scan;
    tw_builder *out;
    tw_scan_mode data;
    bool has_offsets;           /* version 5: cells as OFFSETS and CONNECTIVITY */
    tw_numbers starts, corners; /* cell i has corners starts[i] ... starts[i + 1] - 1 */
} vtk_file;

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
    tw_status status = tw_scan_expect_word(scan, "a type such as float");
    for (size_t i = 0; status == TW_OK && i < sizeof types / sizeof types[0]; i++)
        if (strcmp(scan->word, types[i].name) == 0) {
            *type = types[i].type;
            return TW_OK;
        }
    if (status != TW_OK) return status;
    return tw_scan_fail(scan, "unknown type '%.60s', expected one such as float, double or int",
                        scan->word);
}

/* From the end of a line of text to the data, and back. */
static void begin_data(vtk_file *f)
{
    if (f->data != TW_SCAN_TEXT) tw_scan_next_line(f->scan);
    f->scan->mode = f->data;
}

static void end_data(vtk_file *f)
{
    f->scan->mode = TW_SCAN_TEXT;
}

static tw_status read_points(vtk_file *f)
{
    int64_t count = 0;
    tw_scan_type type = TW_SCAN_FLOAT32;
    double point[3];
    tw_status status =
        tw_scan_integer(f->scan, TW_SCAN_INT64, "the number of points", 0, INT64_MAX, &count);
    if (status == TW_OK) status = read_type(f->scan, &type);
    if (status == TW_OK && f->out->mesh.vertex_count > 0)
        status = tw_scan_fail(f->scan, "POINTS again, expected them once");
    if (status != TW_OK) return status;
    begin_data(f);
    for (int64_t i = 0; i < count && status == TW_OK; i++) {
        status = tw_scan_point(f->scan, type, "a coordinate", point);
        if (status == TW_OK && tw_builder_vertex(f->out, point) != TW_OK)
            status = tw_scan_fail_memory(f->scan);
    }
    if (status == TW_OK) end_data(f);
    return status;
}

static tw_status add_number(vtk_file *f, tw_numbers *numbers, int64_t value)
{
    return tw_numbers_add(numbers, value) == TW_OK ? TW_OK : tw_scan_fail_memory(f->scan);
}

static tw_status read_corner(vtk_file *f, tw_scan_type type)
{
    int64_t corner = 0;
    tw_status status = tw_scan_integer(f->scan, type, "the number of a point", 0,
                                       f->out->mesh.vertex_count - 1, &corner);
    return status == TW_OK ? add_number(f, &f->corners, corner) : status;
}

/* Before version 5: for each cell the number of its corners, then these. */
static tw_status read_counted_cells(vtk_file *f, int64_t cells, int64_t size)
{
    tw_status status = add_number(f, &f->starts, 0);
    begin_data(f);
    for (int64_t i = 0; i < cells && status == TW_OK; i++) {
        int64_t count = 0;
        status = tw_scan_integer(f->scan, TW_SCAN_INT32, "the number of corners of a cell", 1,
                                 size - f->corners.count - i - 1, &count);
        for (int64_t k = 0; k < count && status == TW_OK; k++)
            status = read_corner(f, TW_SCAN_INT32);
        if (status == TW_OK) status = add_number(f, &f->starts, f->corners.count);
    }
    if (status == TW_OK) end_data(f);
    return status;
}

/* Version 5: offsets of all cells and of their end, then all corners. */
static tw_status read_offset_cells(vtk_file *f, int64_t offsets, int64_t size)
{
    tw_scan_type type = TW_SCAN_INT64;
    tw_status status = tw_scan_expect(f->scan, "OFFSETS");
    if (status == TW_OK) status = read_type(f->scan, &type);
    if (status != TW_OK) return status;
    begin_data(f);
    int64_t previous = 0;
    for (int64_t i = 0; i < offsets && status == TW_OK; i++) {
        int64_t low = i == 0 || i == offsets - 1 ? (i == 0 ? 0 : size) : previous,
                high = i == 0 ? 0 : size;
        status = tw_scan_integer(f->scan, type, "the offset of a cell", low, high, &previous);
        if (status == TW_OK) status = add_number(f, &f->starts, previous);
    }
    if (status != TW_OK) return status;
    end_data(f);
    status = tw_scan_expect(f->scan, "CONNECTIVITY");
    if (status == TW_OK) status = read_type(f->scan, &type);
    if (status != TW_OK) return status;
    begin_data(f);
    for (int64_t i = 0; i < size && status == TW_OK; i++) status = read_corner(f, type);
    if (status == TW_OK) end_data(f);
    return status;
}

static tw_status read_cells(vtk_file *f)
{
    int64_t cells = 0, size = 0;
    f->starts.count = f->corners.count = 0;
    tw_status status =
        tw_scan_integer(f->scan, TW_SCAN_INT64, "the number of cells", 0, INT64_MAX, &cells);
    if (status == TW_OK)
        status =
            tw_scan_integer(f->scan, TW_SCAN_INT64, "the size of the list", 0, INT64_MAX, &size);
    if (status != TW_OK) return status;
    return f->has_offsets ? read_offset_cells(f, cells, size) : read_counted_cells(f, cells, size);
}

static tw_status add_polygon(vtk_file *f, const int64_t *corner, int64_t count)
{
    if (count < 3)
        return tw_scan_fail(f->scan, "a polygon of %lld corners, expected at least 3",
                            (long long)count);
    return tw_builder_face(f->out, count, corner, NULL) == TW_OK ? TW_OK
                                                                 : tw_scan_fail_memory(f->scan);
}

static tw_status add_strip(vtk_file *f, const int64_t *corner, int64_t count)
{
    tw_status status = TW_OK;
    for (int64_t k = 2; k < count && status == TW_OK; k++) {
        int64_t odd = k % 2; /* every other triangle of a strip runs the other way */
        if (tw_builder_triangle(f->out, corner[k - 2 + odd], corner[k - 1 - odd], corner[k]) !=
            TW_OK)
            status = tw_scan_fail_memory(f->scan);
    }
    return status;
}

static tw_status add_line(vtk_file *f, const int64_t *corner, int64_t count)
{
    tw_status status = TW_OK;
    for (int64_t k = 1; k < count && status == TW_OK; k++)
        if (tw_builder_edge(f->out, corner[k - 1], corner[k]) != TW_OK)
            status = tw_scan_fail_memory(f->scan);
    return status;
}

typedef enum cell_shape {
    SHAPE_REFUSED,
    SHAPE_POINT,
    SHAPE_LINE,
    SHAPE_POLYGON,
    SHAPE_PIXEL,
    SHAPE_STRIP,
    SHAPE_TETRAHEDRON
} cell_shape;

/* The shape of a cell type, how many corners it must at least have and how many of them count (0: all). */
static cell_shape shape_of(int64_t type, int64_t *least, int64_t *used)
{
    static const struct {
        cell_shape shape;
        int least, used;
    } shapes[] = {[1] = {SHAPE_POINT, 1, 0},    [2] = {SHAPE_POINT, 1, 0},
                  [3] = {SHAPE_LINE, 2, 2},     [4] = {SHAPE_LINE, 2, 0},
                  [5] = {SHAPE_POLYGON, 3, 3},  [6] = {SHAPE_STRIP, 3, 0},
                  [7] = {SHAPE_POLYGON, 3, 0},  [8] = {SHAPE_PIXEL, 4, 4},
                  [9] = {SHAPE_POLYGON, 4, 4},  [10] = {SHAPE_TETRAHEDRON, 4, 4},
                  [21] = {SHAPE_LINE, 3, 2},    [22] = {SHAPE_POLYGON, 6, 3},
                  [23] = {SHAPE_POLYGON, 8, 4}, [24] = {SHAPE_TETRAHEDRON, 10, 4}};
    if (type < 0 || type >= (int64_t)(sizeof shapes / sizeof shapes[0])) return SHAPE_REFUSED;
    *least = shapes[type].least;
    *used = shapes[type].used;
    return shapes[type].shape;
}

static tw_status add_cell(vtk_file *f, int64_t cell, int64_t type)
{
    const int64_t *corner = f->corners.values + f->starts.values[cell];
    int64_t count = f->starts.values[cell + 1] - f->starts.values[cell], least = 0, used = 0;
    cell_shape shape = shape_of(type, &least, &used);
    if (shape == SHAPE_REFUSED)
        return tw_scan_fail(f->scan,
                            "cell type %lld is not read, expected tetrahedra (10) or triangles (5)",
                            (long long)type);
    if (count < least)
        return tw_scan_fail(f->scan, "cell type %lld with %lld corners, expected %lld",
                            (long long)type, (long long)count, (long long)least);
    if (used > 0) count = used;
    if (shape == SHAPE_LINE) return add_line(f, corner, count);
    if (shape == SHAPE_POLYGON) return add_polygon(f, corner, count);
    if (shape == SHAPE_STRIP) return add_strip(f, corner, count);
    if (shape == SHAPE_PIXEL) {
        const int64_t around[4] = {corner[0], corner[1], corner[3], corner[2]};
        return add_polygon(f, around, 4);
    }
    if (shape == SHAPE_TETRAHEDRON && tw_builder_tetrahedron(f->out, corner) != TW_OK)
        return tw_scan_fail_memory(f->scan);
    return TW_OK;
}

static int64_t cell_count(const vtk_file *f)
{
    return f->starts.count > 0 ? f->starts.count - 1 : 0;
}

static tw_status read_cell_types(vtk_file *f)
{
    int64_t count = 0, type = 0, cells = cell_count(f);
    tw_status status =
        tw_scan_integer(f->scan, TW_SCAN_INT64, "the number of cells", cells, cells, &count);
    if (status != TW_OK) return status;
    begin_data(f);
    for (int64_t i = 0; i < count && status == TW_OK; i++) {
        status = tw_scan_integer(f->scan, TW_SCAN_INT32, "a cell type", 0, 255, &type);
        if (status == TW_OK) status = add_cell(f, i, type);
    }
    if (status == TW_OK) end_data(f);
    return status;
}

/* Cells of polygonal data: the section tells the type of all. */
static tw_status read_poly_cells(vtk_file *f, int64_t type)
{
    tw_status status = read_cells(f);
    for (int64_t i = 0; i < cell_count(f) && status == TW_OK; i++) status = add_cell(f, i, type);
    return status;
}

/* FIELD name n, then n arrays: name, components, tuples, type, values. */
static tw_status skip_field(vtk_file *f)
{
    int64_t arrays = 0, components = 0, tuples = 0;
    tw_scan_type type = TW_SCAN_FLOAT32;
    tw_status status = tw_scan_expect_word(f->scan, "the name of the field");
    if (status == TW_OK)
        status =
            tw_scan_integer(f->scan, TW_SCAN_INT64, "the number of arrays", 0, INT64_MAX, &arrays);
    for (int64_t i = 0; i < arrays && status == TW_OK; i++) {
        status = tw_scan_expect_word(f->scan, "the name of an array");
        if (status == TW_OK)
            status = tw_scan_integer(f->scan, TW_SCAN_INT64, "a number of components", 0, INT32_MAX,
                                     &components);
        if (status == TW_OK)
            status = tw_scan_integer(f->scan, TW_SCAN_INT64, "a number of tuples", 0, INT32_MAX,
                                     &tuples);
        if (status == TW_OK) status = read_type(f->scan, &type);
        if (status != TW_OK) return status;
        begin_data(f);
        for (int64_t k = 0; k < components * tuples && status == TW_OK; k++)
            status = tw_scan_skip(f->scan, type, "a value");
        if (status == TW_OK) end_data(f);
    }
    return status;
}

/* METADATA goes up to an empty line. */
static void skip_metadata(tw_scan *scan)
{
    tw_scan_next_line(scan);
    while (scan->at < scan->size && tw_scan_word_in_line(scan)) tw_scan_next_line(scan);
}

static tw_status read_section(vtk_file *f, bool *done)
{
    const char *word = f->scan->word;
    if (strcmp(word, "POINTS") == 0) return read_points(f);
    if (strcmp(word, "CELLS") == 0) return read_cells(f);
    if (strcmp(word, "CELL_TYPES") == 0) return read_cell_types(f);
    if (strcmp(word, "VERTICES") == 0) return read_poly_cells(f, 2);
    if (strcmp(word, "LINES") == 0) return read_poly_cells(f, 4);
    if (strcmp(word, "POLYGONS") == 0) return read_poly_cells(f, 7);
    if (strcmp(word, "TRIANGLE_STRIPS") == 0) return read_poly_cells(f, 6);
    if (strcmp(word, "FIELD") == 0) return skip_field(f);
    *done = strcmp(word, "POINT_DATA") == 0 || strcmp(word, "CELL_DATA") == 0;
    if (strcmp(word, "METADATA") == 0)
        skip_metadata(f->scan);
    else if (!*done)
        return tw_scan_fail(
            f->scan, "'%.60s' is unexpected here, expected a section such as POINTS or CELLS",
            word);
    return TW_OK;
}

/* "# vtk DataFile Version 3.0", a title, ASCII or BINARY, the kind of dataset. */
static tw_status read_head(vtk_file *f)
{
    static const char *const words[] = {"#", "vtk", "DataFile", "Version"};
    tw_status status = TW_OK;
    for (int i = 0; i < 4 && status == TW_OK; i++) status = tw_scan_expect(f->scan, words[i]);
    if (status == TW_OK) status = tw_scan_expect_word(f->scan, "a version");
    if (status != TW_OK) return status;
    f->has_offsets = f->scan->word[0] == '5';
    if (strchr("12345", f->scan->word[0]) == NULL || f->scan->word[1] != '.')
        return tw_scan_fail(f->scan, "version %.60s is not read, expected one from 1.0 to 5.1",
                            f->scan->word);
    tw_scan_next_line(f->scan);
    tw_scan_next_line(f->scan); /* the title */
    status = tw_scan_expect_word(f->scan, "ASCII or BINARY");
    if (status != TW_OK) return status;
    f->data = strcmp(f->scan->word, "BINARY") == 0 ? TW_SCAN_BIG_ENDIAN : TW_SCAN_TEXT;
    if (f->data == TW_SCAN_TEXT && strcmp(f->scan->word, "ASCII") != 0)
        return tw_scan_fail(f->scan, "'%.60s' is unexpected here, expected ASCII or BINARY",
                            f->scan->word);
    status = tw_scan_expect(f->scan, "DATASET");
    if (status == TW_OK) status = tw_scan_expect_word(f->scan, "UNSTRUCTURED_GRID or POLYDATA");
    if (status != TW_OK || strcmp(f->scan->word, "UNSTRUCTURED_GRID") == 0 ||
        strcmp(f->scan->word, "POLYDATA") == 0)
        return status;
    return tw_scan_fail(f->scan,
                        "dataset %.60s is not read, expected UNSTRUCTURED_GRID or POLYDATA",
                        f->scan->word);
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
