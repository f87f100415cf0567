/* VTK's XML: an unstructured grid per frame (all particles; tetrahedra, triangles, lines, points; velocities), arrays
 * appended raw and compressed by zlib; and frames.pvd, which tells ParaView the time of each. */
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "io/frames_internal.h"

enum { VTK_VERTEX = 1, VTK_LINE = 3, VTK_TRIANGLE = 5, VTK_TETRAHEDRON = 10 };

/* ---- cells ---- */

typedef struct cell_list {
    tw_text connectivity, offsets, types, body; /* Int32, Int32, UInt8, Int32 */
    int32_t end;                                /* of the cells so far in connectivity */
    int64_t count;
} cell_list;

static void add_cells(cell_list *list, int64_t count, const int64_t *cells, int corners,
                      unsigned char type, int body)
{
    int32_t body_index = body;
    for (int64_t c = 0; c < count; c++) {
        for (int k = 0; k < corners; k++) {
            int32_t particle = (int32_t)cells[corners * c + k];
            tw_text_add_bytes(&list->connectivity, &particle, sizeof particle);
        }
        list->end += corners;
        tw_text_add_bytes(&list->offsets, &list->end, sizeof list->end);
        tw_text_add_bytes(&list->types, &type, 1);
        tw_text_add_bytes(&list->body, &body_index, sizeof body_index);
    }
    list->count += count;
}

/* Particles that no display shows, and those of displays without cells. */
static tw_status add_points(cell_list *list, const tw_simulation *simulation)
{
    int64_t particles = tw_simulation_row_count(simulation);
    bool *shown = tw_allocate_zeroed((size_t)particles, sizeof(bool));
    if (!shown) return TW_OUT_OF_MEMORY;
    const tw_display *d;
    for (int i = 0; (d = tw_simulation_display(simulation, i)); i++)
        if (d->tetrahedron_count || d->triangle_count || d->edge_count)
            memset(shown + d->first, 1, (size_t)d->count);
    for (int64_t p = 0; p < particles; p++)
        if (!shown[p]) add_cells(list, 1, &p, 1, VTK_VERTEX, -1);
    tw_release(shown);
    return TW_OK;
}

static tw_status collect_cells(cell_list *list, const tw_simulation *simulation)
{
    const tw_display *d;
    for (int i = 0; (d = tw_simulation_display(simulation, i)); i++) {
        add_cells(list, d->tetrahedron_count, d->tetrahedra, 4, VTK_TETRAHEDRON, i);
        if (!d->tetrahedron_count)
            add_cells(list, d->triangle_count, d->triangles, 3, VTK_TRIANGLE, i);
        add_cells(list, d->edge_count, d->edges, 2, VTK_LINE, i);
    }
    return add_points(list, simulation);
}

tw_status tw_vtu_prepare(tw_frames *frames)
{
    cell_list list = {0};
    tw_vtu_cells *cells = &frames->cells;
    tw_status status = collect_cells(&list, frames->simulation);
    tw_text *const from[] = {&list.connectivity, &list.offsets, &list.types, &list.body};
    tw_text *const to[] = {&cells->connectivity, &cells->offsets, &cells->types, &cells->body};
    for (int i = 0; i < 4; i++) {
        tw_vtk_compress(from[i]->bytes, from[i]->size, false, to[i]);
        if (from[i]->failed || to[i]->failed) status = TW_OUT_OF_MEMORY;
        tw_text_free(from[i]);
    }
    cells->count = list.count;
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

static void add_array(tw_frames *frames, tw_text *out, const char *type, const char *name,
                      int components, const tw_text *compressed)
{
    tw_text_add(out,
                "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" "
                "offset=\"%lld\"/>\n",
                type, name, components, (long long)frames->payload.size);
    tw_text_add_bytes(&frames->payload, compressed->bytes, compressed->size);
    if (compressed->failed) out->failed = true;
}

/* `width` columns of the table from `column` on. */
static void add_columns(tw_frames *frames, const tw_table *table, int column, int width,
                        const char *name, tw_text *out)
{
    for (int64_t r = 0; r < table->row_count; r++)
        memcpy(frames->column + width * r, table->values + r * table->column_count + column,
               (size_t)width * sizeof(double));
    tw_text_add(out,
                "<DataArray type=\"Float64\" Name=\"%s\" NumberOfComponents=\"%d\" "
                "format=\"appended\" offset=\"%lld\"/>\n",
                name, width, (long long)frames->payload.size);
    tw_vtk_compress(frames->column, (size_t)(width * table->row_count) * sizeof(double), true,
                    &frames->payload);
}

static void add_points_and_cells(tw_frames *frames, const tw_table *table, tw_text *out)
{
    const tw_vtu_cells *cells = &frames->cells;
    tw_text_add(out, "<PointData Vectors=\"velocity\">\n");
    add_columns(frames, table, 3, 3, "velocity", out);
    for (int c = 6; c < table->column_count; c++)
        add_columns(frames, table, c, 1, table->columns[c], out);
    tw_text_add(out, "</PointData>\n<CellData>\n");
    add_array(frames, out, "Int32", "body", 1, &cells->body);
    tw_text_add(out, "</CellData>\n<Points>\n");
    add_columns(frames, table, 0, 3, "Points", out);
    tw_text_add(out, "</Points>\n<Cells>\n");
    add_array(frames, out, "Int32", "connectivity", 1, &cells->connectivity);
    add_array(frames, out, "Int32", "offsets", 1, &cells->offsets);
    add_array(frames, out, "UInt8", "types", 1, &cells->types);
    tw_text_add(out, "</Cells>\n");
}

void tw_frame_to_vtu(tw_frames *frames, const tw_frame *frame, tw_text *out)
{
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
    tw_text_add(out, "<Piece NumberOfPoints=\"%lld\" NumberOfCells=\"%lld\">\n",
                (long long)frame->table->row_count, (long long)frames->cells.count);
    add_points_and_cells(frames, frame->table, out);
    tw_text_add(out, "</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_");
    tw_text_add_bytes(out, frames->payload.bytes, frames->payload.size);
    tw_text_add(out, "\n</AppendedData>\n</VTKFile>\n");
    if (frames->payload.failed) out->failed = true;
}

/* ---- the series ---- */

tw_status tw_vtu_write_index(tw_frames *frames, int64_t count, tw_error *error)
{
    char path[TW_FILE_PATH_SIZE], name[64];
    tw_text *text = &frames->scratch;
    tw_text_clear(text);
    tw_text_add(text, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" "
                      "byte_order=\"LittleEndian\">\n<Collection>\n");
    for (int64_t i = 0; i < count; i++) {
        tw_frame_name(name, TW_FRAMES_VTU, i);
        tw_text_add(text, "<DataSet timestep=\"%.15g\" group=\"\" part=\"0\" file=\"%s%s\"/>\n",
                    (double)i / frames->fps, frames->prefix, name);
    }
    tw_text_add(text, "</Collection>\n</VTKFile>\n");
    if (text->failed) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    tw_status status = tw_file_path(path, frames->directory, "frames.pvd", error);
    return status == TW_OK ? tw_file_replace(path, text->bytes, text->size, error) : status;
}
