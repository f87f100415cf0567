/* Meshes as text, a function per format. Coordinates have 17 digits, so that
 * they read back bit for bit. */
#include "mesh/mesh_formats.h"

/* ---- what the formats share ---- */

/* Adds a line "number before x y z after" per vertex. The numbers count from `first`; none are
 * written if it is negative. */
static void add_points(tw_text *out, const tw_mesh *mesh, const char *before, const char *after,
                       int64_t first)
{
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        const double *p = mesh->vertices + 3 * i;

        if (first >= 0) tw_text_add(out, "%lld ", (long long)first + i);
        tw_text_add(out, "%s%.17g %.17g %.17g%s\n", before, p[0], p[1], p[2], after);
    }
}

/* Cells of one kind. */
typedef struct cell_list {
    int width; /* corners per cell */
    int64_t count;
    const int64_t *corners;
} cell_list;

static cell_list edges_of(const tw_mesh *mesh)
{
    return (cell_list){2, mesh->edge_count, mesh->edges};
}

static cell_list triangles_of(const tw_mesh *mesh)
{
    return (cell_list){3, mesh->triangle_count, mesh->triangles};
}

static cell_list tetrahedra_of(const tw_mesh *mesh)
{
    return (cell_list){4, mesh->tetrahedron_count, mesh->tetrahedra};
}

/* Adds a line "before a b c after" per cell. Corners count from `first`. */
static void add_cells(tw_text *out, cell_list cells, const char *before, const char *after,
                      int64_t first)
{
    for (int64_t i = 0; i < cells.count; i++) {
        const int64_t *corner = cells.corners + cells.width * i;

        tw_text_add(out, "%s%lld", before, (long long)corner[0] + first);
        for (int k = 1; k < cells.width; k++)
            tw_text_add(out, " %lld", (long long)corner[k] + first);
        tw_text_add(out, "%s\n", after);
    }
}

/* ---- TetGen ---- */

void tw_write_node(const tw_mesh *mesh, tw_text *out)
{
    tw_text_add(out, "%lld 3 0 0\n", (long long)mesh->vertex_count);
    add_points(out, mesh, "", "", 0);
}

void tw_write_ele(const tw_mesh *mesh, tw_text *out)
{
    tw_text_add(out, "%lld 4 0\n", (long long)mesh->tetrahedron_count);
    for (int64_t i = 0; i < mesh->tetrahedron_count; i++) {
        const int64_t *t = mesh->tetrahedra + 4 * i;
        tw_text_add(out, "%lld %lld %lld %lld %lld\n", (long long)i, (long long)t[0],
                    (long long)t[1], (long long)t[2], (long long)t[3]);
    }
}

/* ---- Gmsh ---- */

/* Adds the elements of one type; *number counts all elements. Each has two tags: physical entity
 * 0, elementary 1. */
static void add_elements(tw_text *out, cell_list cells, int type, int64_t *number)
{
    for (int64_t i = 0; i < cells.count; i++) {
        tw_text_add(out, "%lld %d 2 0 1", (long long)++*number, type);
        for (int k = 0; k < cells.width; k++)
            tw_text_add(out, " %lld", (long long)cells.corners[cells.width * i + k] + 1);
        tw_text_add(out, "\n");
    }
}

void tw_write_gmsh(const tw_mesh *mesh, tw_text *out)
{
    /* Nodes count from 1. */
    tw_text_add(out, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%lld\n",
                (long long)mesh->vertex_count);
    add_points(out, mesh, "", "", 1);

    /* Element types: 1 line, 2 triangle, 4 tetrahedron. */
    tw_text_add(out, "$EndNodes\n$Elements\n%lld\n",
                (long long)mesh->edge_count + mesh->triangle_count + mesh->tetrahedron_count);

    int64_t number = 0;
    add_elements(out, edges_of(mesh), 1, &number);
    add_elements(out, triangles_of(mesh), 2, &number);
    add_elements(out, tetrahedra_of(mesh), 4, &number);
    tw_text_add(out, "$EndElements\n");
}

/* ---- legacy VTK ---- */

static void add_types(tw_text *out, int64_t count, int type)
{
    for (int64_t i = 0; i < count; i++) tw_text_add(out, "%d\n", type);
}

void tw_write_vtk(const tw_mesh *mesh, tw_text *out)
{
    long long edges = mesh->edge_count;
    long long triangles = mesh->triangle_count;
    long long tetrahedra = mesh->tetrahedron_count;

    tw_text_add(out,
                "# vtk DataFile Version 3.0\ntwang\nASCII\nDATASET UNSTRUCTURED_GRID\n"
                "POINTS %lld double\n",
                (long long)mesh->vertex_count);
    add_points(out, mesh, "", "", -1);

    /* The second number counts all numbers of the list; a cell is the number of
     * its corners, then these. */
    tw_text_add(out, "CELLS %lld %lld\n", edges + triangles + tetrahedra,
                3 * edges + 4 * triangles + 5 * tetrahedra);
    add_cells(out, edges_of(mesh), "2 ", "", 0);
    add_cells(out, triangles_of(mesh), "3 ", "", 0);
    add_cells(out, tetrahedra_of(mesh), "4 ", "", 0);

    /* Cell types: 3 line, 5 triangle, 10 tetrahedron. */
    tw_text_add(out, "CELL_TYPES %lld\n", edges + triangles + tetrahedra);
    add_types(out, mesh->edge_count, 3);
    add_types(out, mesh->triangle_count, 5);
    add_types(out, mesh->tetrahedron_count, 10);
}

/* ---- MEDIT ---- */

/* Every cell ends with its reference, 0. */
static void add_section(tw_text *out, const char *name, cell_list cells)
{
    if (cells.count == 0) return;
    tw_text_add(out, "%s\n%lld\n", name, (long long)cells.count);
    add_cells(out, cells, "", " 0", 1);
}

void tw_write_medit(const tw_mesh *mesh, tw_text *out)
{
    tw_text_add(out, "MeshVersionFormatted 2\nDimension 3\nVertices\n%lld\n",
                (long long)mesh->vertex_count);
    add_points(out, mesh, "", " 0", -1);

    /* Sections without cells are left out. */
    add_section(out, "Edges", edges_of(mesh));
    add_section(out, "Triangles", triangles_of(mesh));
    add_section(out, "Tetrahedra", tetrahedra_of(mesh));
    tw_text_add(out, "End\n");
}

/* ---- surfaces ---- */

void tw_write_obj(const tw_mesh *mesh, tw_text *out)
{
    add_points(out, mesh, "v ", "", -1);
    add_cells(out, triangles_of(mesh), "f ", "", 1);
    add_cells(out, edges_of(mesh), "l ", "", 1);
}

void tw_write_ply(const tw_mesh *mesh, tw_text *out)
{
    /* The header. */
    tw_text_add(out,
                "ply\nformat ascii 1.0\nelement vertex %lld\n"
                "property double x\nproperty double y\nproperty double z\n",
                (long long)mesh->vertex_count);
    tw_text_add(out, "element face %lld\nproperty list uchar int vertex_indices\n",
                (long long)mesh->triangle_count);
    if (mesh->edge_count > 0)
        tw_text_add(out, "element edge %lld\nproperty int vertex1\nproperty int vertex2\n",
                    (long long)mesh->edge_count);
    tw_text_add(out, "end_header\n");

    /* The data: a face begins with the number of its corners. */
    add_points(out, mesh, "", "", -1);
    add_cells(out, triangles_of(mesh), "3 ", "", 0);
    add_cells(out, edges_of(mesh), "", "", 0);
}
