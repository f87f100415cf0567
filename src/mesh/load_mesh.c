/* Meshes from the disk. */
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/read_file.h"
#include "mesh/mesh_formats.h"

bool tw_is_tetgen(const char *path)
{
    return tw_has_suffix(path, ".node") || tw_has_suffix(path, ".ele");
}

tw_status tw_tetgen_path(const char *path, const char *suffix, char out[TW_MESH_PATH_SIZE],
                         tw_error *error)
{
    const char *dot = strrchr(path, '.');
    int length = snprintf(out, TW_MESH_PATH_SIZE, "%.*s%s", (int)(dot - path), path, suffix);
    if (length > 0 && length < TW_MESH_PATH_SIZE) return TW_OK;
    return tw_fail(error, TW_INVALID_ARGUMENT, "%.200s...: the path is too long", path);
}

/* Reads a whole file. A file that cannot be read counts as bad input,
 * like one with a fault in it. */
static tw_status read_file(const char *path, char **bytes, size_t *size, tw_error *error)
{
    tw_status status = tw_read_file(path, TW_READ_ALL, bytes, size, error);
    if (status != TW_INPUT_OUTPUT) return status;
    if (error) error->status = TW_BAD_INPUT;
    return TW_BAD_INPUT;
}

static tw_status load_tetgen(const char *path, tw_mesh *mesh, tw_error *error)
{
    char node_path[TW_MESH_PATH_SIZE];
    char element_path[TW_MESH_PATH_SIZE];

    TW_TRY(tw_tetgen_path(path, ".node", node_path, error));
    TW_TRY(tw_tetgen_path(path, ".ele", element_path, error));

    /* Read both files, then parse them together. */
    char *nodes = NULL;
    char *elements = NULL;
    size_t node_size = 0;
    size_t element_size = 0;
    tw_status status = read_file(node_path, &nodes, &node_size, error);
    if (status == TW_OK) status = read_file(element_path, &elements, &element_size, error);
    if (status == TW_OK)
        status =
            tw_parse_tetgen((tw_mesh_bytes){node_path, nodes, node_size},
                            (tw_mesh_bytes){element_path, elements, element_size}, mesh, error);
    tw_release(nodes);
    tw_release(elements);
    return status;
}

/* Whether the bytes are those of a file that gzip made. */
static bool is_compressed(const char *bytes, size_t size)
{
    return size >= 2 && memcmp(bytes, "\x1f\x8b", 2) == 0;
}

static tw_status load_other(const char *path, tw_mesh *mesh, tw_error *error)
{
    char *bytes = NULL;
    size_t size = 0;
    TW_TRY(read_file(path, &bytes, &size, error));

    tw_status status = TW_OK;
    tw_mesh_reader *reader = tw_choose_reader(path, bytes, size);

    /* A compressed file gets advice rather than "unknown format". */
    if (is_compressed(bytes, size))
        status = tw_fail(error, TW_BAD_INPUT,
                         "%s: is compressed, expected a mesh: unpack it with gunzip", path);
    else if (reader)
        status = tw_parse_mesh(reader, (tw_mesh_bytes){path, bytes, size}, mesh, error);
    else
        status = tw_fail(
            error, TW_BAD_INPUT,
            "%s: unknown format, expected .obj, .ply, .stl, .node with .ele, .msh, .vtk or .mesh",
            path);
    tw_release(bytes);
    return status;
}

tw_status tw_mesh_load(const char *path, tw_mesh *mesh, tw_mesh_repairs *repairs, tw_error *error)
{
    if (!path || !mesh) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    *mesh = (tw_mesh){0};
    tw_status status =
        tw_is_tetgen(path) ? load_tetgen(path, mesh, error) : load_other(path, mesh, error);

    /* Repairing may leave nothing. */
    if (status == TW_OK && repairs) status = tw_mesh_repair(mesh, repairs, error);
    if (status == TW_OK && mesh->edge_count + mesh->triangle_count + mesh->tetrahedron_count == 0)
        status = tw_fail(error, TW_BAD_INPUT,
                         "%s: every cell is degenerate, expected triangles or tetrahedra", path);
    if (status != TW_OK) tw_mesh_free(mesh);

    return status;
}
