/* From a file in memory to a mesh: which reader reads it, and what every file must have. */
#include <string.h>

#include "base/fail.h"
#include "mesh/mesh_formats.h"

static bool begins_with(const char *bytes, size_t size, const char *start)
{
    size_t length = strlen(start);
    return size >= length && memcmp(bytes, start, length) == 0;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool tw_has_suffix(const char *name, const char *suffix)
{
    size_t length = strlen(name);
    size_t tail = strlen(suffix);
    if (length < tail) return false;
    for (size_t i = 0; i < tail; i++)
        if (lower(name[length - tail + i]) != suffix[i]) return false;
    return true;
}

tw_mesh_reader *tw_choose_reader(const char *name, const char *bytes, size_t size)
{
    static const struct {
        const char *start; /* of the file; NULL: the format has no such mark */
        const char *suffix;
        tw_mesh_reader *reader;
    } formats[] = {
        {"ply", ".ply", tw_read_ply},          {"# vtk DataFile", ".vtk", tw_read_vtk},
        {"$MeshFormat", ".msh", tw_read_gmsh}, {"MeshVersionFormatted", ".mesh", tw_read_medit},
        {"solid", ".stl", tw_read_stl},        {NULL, ".obj", tw_read_obj}};
    size_t count = sizeof formats / sizeof formats[0];

    /* What the file says about itself counts more than its name. */
    size_t mark = tw_scan_mark_size(bytes, size);
    for (size_t i = 0; i < count; i++)
        if (formats[i].start && begins_with(bytes + mark, size - mark, formats[i].start))
            return formats[i].reader;

    for (size_t i = 0; i < count; i++)
        if (tw_has_suffix(name, formats[i].suffix)) return formats[i].reader;
    return NULL;
}

/* A mesh needs vertices and cells. */
static tw_status check_built(const tw_scan *scan, const tw_mesh *m)
{
    if (m->vertex_count == 0)
        return tw_fail(scan->error, TW_BAD_INPUT, "%s: no vertices, expected a mesh", scan->name);
    if (m->edge_count + m->triangle_count + m->tetrahedron_count == 0)
        return tw_fail(scan->error, TW_BAD_INPUT,
                       "%s: %lld vertices but no cells, expected triangles or tetrahedra",
                       scan->name, (long long)m->vertex_count);
    return TW_OK;
}

/* Moves what was built to `mesh` if the reader returned TW_OK and nothing
 * is missing; else frees it. */
static tw_status finish(tw_status status, tw_scan *scan, tw_builder *built, tw_mesh *mesh)
{
    *mesh = (tw_mesh){0};
    if (status == TW_OK) status = check_built(scan, &built->mesh);

    if (status == TW_OK)
        tw_builder_finish(built, mesh);
    else
        tw_builder_free(built);

    return status;
}

tw_status tw_parse_mesh(tw_mesh_reader *reader, tw_mesh_bytes file, tw_mesh *mesh, tw_error *error)
{
    tw_scan scan;
    tw_builder built = {0};
    tw_scan_begin(&scan, file.name, file.bytes, file.size, error);
    return finish(reader(&scan, &built), &scan, &built, mesh);
}

tw_status tw_parse_tetgen(tw_mesh_bytes nodes, tw_mesh_bytes elements, tw_mesh *mesh,
                          tw_error *error)
{
    tw_scan scan;
    tw_builder built = {0};
    int64_t first = 0;
    tw_scan_begin(&scan, nodes.name, nodes.bytes, nodes.size, error);
    tw_status status = tw_read_tetgen_nodes(&scan, &built, &first);

    /* The second file counts its corners from the same first number. */
    if (status == TW_OK) {
        tw_scan_begin(&scan, elements.name, elements.bytes, elements.size, error);
        status = tw_read_tetgen_elements(&scan, &built, first);
    }
    return finish(status, &scan, &built, mesh);
}
