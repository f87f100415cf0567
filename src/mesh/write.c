#include "mesh/write.h"

#include <stdarg.h>
#include <string.h>

#include "base/allocate.h"
#include "base/number.h"

enum { LINE_SIZE = 256 };

static void add(tw_mesh_text *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(tw_mesh_text *out, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    int length = tw_format(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length < 0 || length >= LINE_SIZE) out->failed = 1;
    if (out->failed) return;
    if (out->size + (size_t)length > out->capacity) {
        size_t wanted = 2 * out->capacity + 65536;
        char *larger = tw_allocate(wanted, 1);
        if (!larger) {
            out->failed = 1;
            return;
        }
        if (out->size > 0) memcpy(larger, out->bytes, out->size);
        tw_release(out->bytes);
        out->bytes = larger;
        out->capacity = wanted;
    }
    memcpy(out->bytes + out->size, line, (size_t)length);
    out->size += (size_t)length;
}

/* "before x y z after", 17 digits each. */
static void add_points(tw_mesh_text *out, const tw_mesh *mesh, const char *before,
                       const char *after, int64_t first)
{
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        const double *p = mesh->vertices + 3 * i;
        if (first >= 0) add(out, "%lld ", (long long)first + i);
        add(out, "%s%.17g %.17g %.17g%s\n", before, p[0], p[1], p[2], after);
    }
}

/* "before a b c after"; corners count from `first`. */
static void add_cells(tw_mesh_text *out, int width, int64_t count, const int64_t *cells,
                      const char *before, const char *after, int64_t first)
{
    for (int64_t i = 0; i < count; i++) {
        add(out, "%s", before);
        for (int k = 0; k < width; k++)
            add(out, k > 0 ? " %lld" : "%lld", (long long)cells[width * i + k] + first);
        add(out, "%s\n", after);
    }
}

void tw_write_node(const tw_mesh *mesh, tw_mesh_text *out)
{
    add(out, "%lld 3 0 0\n", (long long)mesh->vertex_count);
    add_points(out, mesh, "", "", 0);
}

void tw_write_ele(const tw_mesh *mesh, tw_mesh_text *out)
{
    add(out, "%lld 4 0\n", (long long)mesh->tetrahedron_count);
    for (int64_t i = 0; i < mesh->tetrahedron_count; i++) {
        const int64_t *t = mesh->tetrahedra + 4 * i;
        add(out, "%lld %lld %lld %lld %lld\n", (long long)i, (long long)t[0], (long long)t[1],
            (long long)t[2], (long long)t[3]);
    }
}

static void add_elements(tw_mesh_text *out, int width, int64_t count, const int64_t *cells,
                         int type, int64_t *number)
{
    for (int64_t i = 0; i < count; i++) {
        add(out, "%lld %d 2 0 1", (long long)++*number, type);
        for (int k = 0; k < width; k++) add(out, " %lld", (long long)cells[width * i + k] + 1);
        add(out, "\n");
    }
}

void tw_write_gmsh(const tw_mesh *mesh, tw_mesh_text *out)
{
    int64_t number = 0;
    add(out, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%lld\n", (long long)mesh->vertex_count);
    add_points(out, mesh, "", "", 1);
    add(out, "$EndNodes\n$Elements\n%lld\n",
        (long long)mesh->edge_count + mesh->triangle_count + mesh->tetrahedron_count);
    add_elements(out, 2, mesh->edge_count, mesh->edges, 1, &number);
    add_elements(out, 3, mesh->triangle_count, mesh->triangles, 2, &number);
    add_elements(out, 4, mesh->tetrahedron_count, mesh->tetrahedra, 4, &number);
    add(out, "$EndElements\n");
}

static void add_types(tw_mesh_text *out, int64_t count, int type)
{
    for (int64_t i = 0; i < count; i++) add(out, "%d\n", type);
}

void tw_write_vtk(const tw_mesh *mesh, tw_mesh_text *out)
{
    long long edges = mesh->edge_count, triangles = mesh->triangle_count,
              tetrahedra = mesh->tetrahedron_count;
    add(out,
        "# vtk DataFile Version 3.0\ntwang\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS %lld double\n",
        (long long)mesh->vertex_count);
    add_points(out, mesh, "", "", -1);
    add(out, "CELLS %lld %lld\n", edges + triangles + tetrahedra,
        3 * edges + 4 * triangles + 5 * tetrahedra);
    add_cells(out, 2, mesh->edge_count, mesh->edges, "2 ", "", 0);
    add_cells(out, 3, mesh->triangle_count, mesh->triangles, "3 ", "", 0);
    add_cells(out, 4, mesh->tetrahedron_count, mesh->tetrahedra, "4 ", "", 0);
    add(out, "CELL_TYPES %lld\n", edges + triangles + tetrahedra);
    add_types(out, mesh->edge_count, 3);
    add_types(out, mesh->triangle_count, 5);
    add_types(out, mesh->tetrahedron_count, 10);
}

static void add_section(tw_mesh_text *out, const char *name, int width, int64_t count,
                        const int64_t *cells)
{
    if (count == 0) return;
    add(out, "%s\n%lld\n", name, (long long)count);
    add_cells(out, width, count, cells, "", " 0", 1);
}

void tw_write_medit(const tw_mesh *mesh, tw_mesh_text *out)
{
    add(out, "MeshVersionFormatted 2\nDimension 3\nVertices\n%lld\n",
        (long long)mesh->vertex_count);
    add_points(out, mesh, "", " 0", -1);
    add_section(out, "Edges", 2, mesh->edge_count, mesh->edges);
    add_section(out, "Triangles", 3, mesh->triangle_count, mesh->triangles);
    add_section(out, "Tetrahedra", 4, mesh->tetrahedron_count, mesh->tetrahedra);
    add(out, "End\n");
}

void tw_write_obj(const tw_mesh *mesh, tw_mesh_text *out)
{
    add_points(out, mesh, "v ", "", -1);
    add_cells(out, 3, mesh->triangle_count, mesh->triangles, "f ", "", 1);
    add_cells(out, 2, mesh->edge_count, mesh->edges, "l ", "", 1);
}

void tw_write_ply(const tw_mesh *mesh, tw_mesh_text *out)
{
    add(out,
        "ply\nformat ascii 1.0\nelement vertex %lld\nproperty double x\nproperty double "
        "y\nproperty double z\n",
        (long long)mesh->vertex_count);
    add(out, "element face %lld\nproperty list uchar int vertex_indices\n",
        (long long)mesh->triangle_count);
    if (mesh->edge_count > 0)
        add(out, "element edge %lld\nproperty int vertex1\nproperty int vertex2\n",
            (long long)mesh->edge_count);
    add(out, "end_header\n");
    add_points(out, mesh, "", "", -1);
    add_cells(out, 3, mesh->triangle_count, mesh->triangles, "3 ", "", 0);
    add_cells(out, 2, mesh->edge_count, mesh->edges, "", "", 0);
}
