/* Meshes from and to the disk; what is in the files is the mesh room's business. */
#include <stdio.h>
#include <string.h>
#include <twang/mesh.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "io/file.h"
#include "mesh/readers.h"
#include "mesh/write.h"

static bool is_tetgen(const char *path)
{
    return tw_has_suffix(path, ".node") || tw_has_suffix(path, ".ele");
}

/* The other of TetGen's two files: the same name with another suffix. */
static tw_status sibling(const char *path, const char *suffix, char out[TW_FILE_PATH_SIZE],
                         tw_error *error)
{
    const char *dot = strrchr(path, '.');
    int length = snprintf(out, TW_FILE_PATH_SIZE, "%.*s%s", (int)(dot - path), path, suffix);
    if (length > 0 && length < TW_FILE_PATH_SIZE) return TW_OK;
    return tw_fail(error, TW_INVALID_ARGUMENT, "%.200s...: the path is too long", path);
}

/* A file that cannot be read is bad input, like one that is not right. */
static tw_status read_file(const char *path, char **bytes, size_t *size, tw_error *error)
{
    tw_status status = tw_file_read(path, bytes, size, error);
    if (status == TW_INPUT_OUTPUT && error) error->status = TW_BAD_INPUT;
    return status == TW_INPUT_OUTPUT ? TW_BAD_INPUT : status;
}

static tw_status load_tetgen(const char *path, tw_mesh *mesh, tw_error *error)
{
    char node_path[TW_FILE_PATH_SIZE], element_path[TW_FILE_PATH_SIZE], *nodes = NULL,
                                                                        *elements = NULL;
    size_t node_size = 0, element_size = 0;
    tw_status status = sibling(path, ".node", node_path, error);
    if (status == TW_OK) status = sibling(path, ".ele", element_path, error);
    if (status == TW_OK) status = read_file(node_path, &nodes, &node_size, error);
    if (status == TW_OK) status = read_file(element_path, &elements, &element_size, error);
    if (status == TW_OK)
        status = tw_parse_tetgen(node_path, nodes, node_size, element_path, elements, element_size,
                                 mesh, error);
    tw_release(nodes);
    tw_release(elements);
    return status;
}

static tw_status load_other(const char *path, tw_mesh *mesh, tw_error *error)
{
    char *bytes = NULL;
    size_t size = 0;
    tw_status status = read_file(path, &bytes, &size, error);
    if (status != TW_OK) return status;
    tw_mesh_reader *reader = tw_choose_reader(path, bytes, size);
    if (size >= 2 && memcmp(bytes, "\x1f\x8b", 2) == 0)
        status = tw_fail(error, TW_BAD_INPUT,
                         "%s: is compressed, expected a mesh: unpack it with gunzip", path);
    else if (reader)
        status = tw_parse_mesh(reader, path, bytes, size, mesh, error);
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
        is_tetgen(path) ? load_tetgen(path, mesh, error) : load_other(path, mesh, error);
    if (status == TW_OK && repairs) status = tw_mesh_repair(mesh, repairs, error);
    if (status == TW_OK && mesh->edge_count + mesh->triangle_count + mesh->tetrahedron_count == 0)
        status = tw_fail(error, TW_BAD_INPUT,
                         "%s: every cell is degenerate, expected triangles or tetrahedra", path);
    if (status != TW_OK) tw_mesh_free(mesh);
    return status;
}

static tw_status save_text(const char *path, const tw_mesh *mesh, tw_mesh_writer *writer,
                           tw_error *error)
{
    tw_mesh_text text = {0};
    writer(mesh, &text);
    tw_status status = text.failed ? tw_fail_plain(error, TW_OUT_OF_MEMORY)
                                   : tw_file_replace(path, text.bytes, text.size, error);
    tw_release(text.bytes);
    return status;
}

static tw_status save_tetgen(const char *path, const tw_mesh *mesh, tw_error *error)
{
    char node_path[TW_FILE_PATH_SIZE], element_path[TW_FILE_PATH_SIZE];
    if (mesh->tetrahedron_count == 0)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "%s: the mesh has no tetrahedra, which .ele is made of", path);
    tw_status status = sibling(path, ".node", node_path, error);
    if (status == TW_OK) status = sibling(path, ".ele", element_path, error);
    if (status == TW_OK) status = save_text(node_path, mesh, tw_write_node, error);
    return status == TW_OK ? save_text(element_path, mesh, tw_write_ele, error) : status;
}

/* A solid in a format of surfaces: its boundary, without the vertices inside. */
static tw_status save_surface(const char *path, const tw_mesh *mesh, tw_mesh_writer *writer,
                              tw_error *error)
{
    if (mesh->tetrahedron_count == 0) return save_text(path, mesh, writer, error);
    tw_mesh surface;
    int64_t *triangles = NULL, count = 0;
    tw_status status = tw_mesh_surface(mesh, &triangles, &count, error);
    if (status != TW_OK) return status;
    status = tw_mesh_allocate(&surface, mesh->vertex_count, 0, count, 0, error);
    if (status == TW_OK) {
        memcpy(surface.vertices, mesh->vertices, (size_t)mesh->vertex_count * 3 * sizeof(double));
        memcpy(surface.triangles, triangles, (size_t)count * 3 * sizeof(int64_t));
        status = tw_mesh_repair(&surface, NULL, error);
    }
    tw_mesh_free_indices(triangles);
    if (status == TW_OK) status = save_text(path, &surface, writer, error);
    tw_mesh_free(&surface);
    return status;
}

tw_status tw_mesh_save(const char *path, const tw_mesh *mesh, tw_error *error)
{
    if (!path || !mesh) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    tw_status status = tw_mesh_check(mesh, error);
    if (status != TW_OK) return status;
    if (is_tetgen(path)) return save_tetgen(path, mesh, error);
    if (tw_has_suffix(path, ".msh")) return save_text(path, mesh, tw_write_gmsh, error);
    if (tw_has_suffix(path, ".vtk")) return save_text(path, mesh, tw_write_vtk, error);
    if (tw_has_suffix(path, ".mesh")) return save_text(path, mesh, tw_write_medit, error);
    if (tw_has_suffix(path, ".obj")) return save_surface(path, mesh, tw_write_obj, error);
    if (tw_has_suffix(path, ".ply")) return save_surface(path, mesh, tw_write_ply, error);
    return tw_fail(error, TW_INVALID_ARGUMENT,
                   "%s: unknown format, expected a name ending in .node, .ele, .msh, .vtk, .mesh, "
                   ".obj or .ply",
                   path);
}
