/* VTK's XML: per frame an unstructured grid (all particles; tetrahedra, triangles, lines,
 * points; velocities) whose arrays are appended raw and compressed by zlib; and frames.pvd,
 * which tells ParaView the time of each frame. */
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "io/frames_internal.h"

/* ---- cells ---- */

/* Kinds of cells: corners per cell, and VTK's number of the type. */
typedef struct cell_kind {
    int corners;
    unsigned char type;
} cell_kind;

static const cell_kind point = {1, 1};
static const cell_kind line = {2, 3};
static const cell_kind triangle = {3, 5};
static const cell_kind tetrahedron = {4, 10};

typedef struct cell_list {
    tw_text connectivity, offsets, types, body; /* Int32, Int32, UInt8, Int32 */
    int32_t end;                                /* of the cells so far in connectivity */
    int64_t count;
} cell_list;

/* Adds `count` cells of one kind that belong to this body; -1 is no body. */
static void add_cells(cell_list *list, int64_t count, const int64_t *cells, cell_kind kind,
                      int body)
{
    int32_t body_index = body;
    for (int64_t c = 0; c < count; c++) {
        for (int k = 0; k < kind.corners; k++) {
            int32_t particle = (int32_t)cells[kind.corners * c + k];
            tw_text_add_bytes(&list->connectivity, &particle, sizeof particle);
        }

        /* An offset is the end of its cell in the list of corners. */
        list->end += kind.corners;
        tw_text_add_bytes(&list->offsets, &list->end, sizeof list->end);
        tw_text_add_bytes(&list->types, &kind.type, 1);
        tw_text_add_bytes(&list->body, &body_index, sizeof body_index);
    }

    list->count += count;
}

/* Adds as points the particles that no display shows, and those of displays without cells. */
static tw_status add_points(cell_list *list, const tw_simulation *simulation)
{
    int64_t particles = tw_simulation_row_count(simulation);
    bool *shown = tw_allocate_zeroed((size_t)particles, sizeof(bool));
    if (!shown) return TW_OUT_OF_MEMORY;

    /* Mark the particles of displays that have cells. */
    const tw_display *d;
    for (int i = 0; (d = tw_simulation_display(simulation, i)); i++)
        if (d->tetrahedron_count || d->triangle_count || d->edge_count)
            memset(shown + d->first, 1, (size_t)d->count);

    for (int64_t p = 0; p < particles; p++)
        if (!shown[p]) add_cells(list, 1, &p, point, -1);
    tw_release(shown);
    return TW_OK;
}

static tw_status collect_cells(cell_list *list, const tw_simulation *simulation)
{
    /* The triangles of a solid are its boundary, which the tetrahedra show already. */
    const tw_display *d;
    for (int i = 0; (d = tw_simulation_display(simulation, i)); i++) {
        add_cells(list, d->tetrahedron_count, d->tetrahedra, tetrahedron, i);
        if (!d->tetrahedron_count) add_cells(list, d->triangle_count, d->triangles, triangle, i);
        add_cells(list, d->edge_count, d->edges, line, i);
    }

    return add_points(list, simulation);
}

/* ---- life ---- */

tw_status tw_vtu_prepare(tw_frames *frames)
{
    cell_list list = {0};
    tw_vtu_cells *cells = &frames->cells;
    tw_status status = collect_cells(&list, frames->simulation);
    cells->count = list.count;

    /* Compress the four arrays, which are the same in every frame. */
    tw_text *const from[] = {&list.connectivity, &list.offsets, &list.types, &list.body};
    tw_text *const to[] = {&cells->connectivity, &cells->offsets, &cells->types, &cells->body};
    for (int i = 0; i < 4; i++) {
        tw_vtk_compress(from[i]->bytes, from[i]->size, false, to[i]);
        if (from[i]->failed || to[i]->failed) status = TW_OUT_OF_MEMORY;
        tw_text_free(from[i]);
    }

    frames->column = TW_NEW_ARRAY(3 * tw_simulation_row_count(frames->simulation), double);
    return frames->column ? status : TW_OUT_OF_MEMORY;
}

void tw_vtu_release(tw_frames *frames)
{
    tw_text_free(&frames->cells.connectivity);
    tw_text_free(&frames->cells.offsets);
    tw_text_free(&frames->cells.types);
    tw_text_free(&frames->cells.body);
    tw_release(frames->column);
    frames->column = NULL;
}

/* ---- a frame ---- */

/* Adds the tag of an array whose data begin at the end of the payload so far. */
static void add_tag(tw_frames *frames, tw_text *out, const char *type, const char *name,
                    int components)
{
    tw_text_add(out,
                "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" "
                "offset=\"%lld\"/>\n",
                type, name, components, (long long)frames->payload.size);
}

/* Adds an array that is compressed already. */
static void add_array(tw_frames *frames, tw_text *out, const char *type, const char *name,
                      const tw_text *compressed)
{
    add_tag(frames, out, type, name, 1);
    tw_text_add_bytes(&frames->payload, compressed->bytes, compressed->size);
    if (compressed->failed) out->failed = true;
}

/* Adds `width` columns of the table from `column` on, as one array. */
static void add_columns(tw_frames *frames, const tw_table *table, int column, int width,
                        const char *name, tw_text *out)
{
    for (int64_t r = 0; r < table->row_count; r++)
        memcpy(frames->column + width * r, table->values + r * table->column_count + column,
               (size_t)width * sizeof(double));

    add_tag(frames, out, "Float64", name, width);
    tw_vtk_compress(frames->column, (size_t)(width * table->row_count) * sizeof(double), true,
                    &frames->payload);
}

static void add_points_and_cells(tw_frames *frames, const tw_table *table, tw_text *out)
{
    const tw_vtu_cells *cells = &frames->cells;

    /* Velocities, and the columns behind them. */
    tw_text_add(out, "<PointData Vectors=\"velocity\">\n");
    add_columns(frames, table, 3, 3, "velocity", out);
    for (int c = 6; c < table->column_count; c++)
        add_columns(frames, table, c, 1, table->columns[c], out);
    tw_text_add(out, "</PointData>\n<CellData>\n");
    add_array(frames, out, "Int32", "body", &cells->body);

    /* Positions, and the cells between them. */
    tw_text_add(out, "</CellData>\n<Points>\n");
    add_columns(frames, table, 0, 3, "Points", out);
    tw_text_add(out, "</Points>\n<Cells>\n");
    add_array(frames, out, "Int32", "connectivity", &cells->connectivity);
    add_array(frames, out, "Int32", "offsets", &cells->offsets);
    add_array(frames, out, "UInt8", "types", &cells->types);
    tw_text_add(out, "</Cells>\n");
}

void tw_frame_to_vtu(tw_frames *frames, const tw_frame *frame, tw_text *out)
{
    /* The head, with the time of the frame. */
    tw_text_clear(&frames->payload);
    tw_text_add(
        out,
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
        "byte_order=\"LittleEndian\" header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\">\n"
        "<UnstructuredGrid>\n<FieldData>\n");
    tw_text_add(out,
                "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
                "format=\"ascii\">%.17g</DataArray>\n"
                "</FieldData>\n",
                frame->t);

    /* The tags of the arrays; their data are collected in the payload. */
    tw_text_add(out, "<Piece NumberOfPoints=\"%lld\" NumberOfCells=\"%lld\">\n",
                (long long)frame->table->row_count, (long long)frames->cells.count);
    add_points_and_cells(frames, frame->table, out);

    /* The payload. */
    tw_text_add(out, "</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_");
    tw_text_add_bytes(out, frames->payload.bytes, frames->payload.size);
    tw_text_add(out, "\n</AppendedData>\n</VTKFile>\n");
    if (frames->payload.failed) out->failed = true;
}

/* ---- the series ---- */

tw_status tw_vtu_write_index(tw_frames *frames, int64_t count, tw_error *error)
{
    tw_text *text = &frames->scratch;
    tw_text_clear(text);
    tw_text_add(text, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" "
                      "byte_order=\"LittleEndian\">\n<Collection>\n");

    /* The time follows from the number of the frame. */
    for (int64_t i = 0; i < count; i++) {
        char name[64];
        tw_frame_name(name, TW_FRAMES_VTU, i);
        tw_text_add(text, "<DataSet timestep=\"%.15g\" group=\"\" part=\"0\" file=\"%s%s\"/>\n",
                    (double)i / frames->fps, frames->prefix, name);
    }

    tw_text_add(text, "</Collection>\n</VTKFile>\n");
    if (text->failed) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    char path[TW_FILE_PATH_SIZE];
    TW_TRY(tw_file_path(path, frames->directory, "frames.pvd", error));
    return tw_file_replace(path, text->bytes, text->size, error);
}
