/* Meshes to the disk. Reading them is in mesh/load_mesh.c. */
#include <string.h>

#include "base/fail.h"
#include "io/file.h"
#include "mesh/mesh_formats.h"

static tw_status save_text(const char *path, const tw_mesh *mesh, tw_mesh_writer *writer,
                           tw_error *error)
{
    tw_text text = {0};
    writer(mesh, &text);

    tw_status status = TW_OK;

    /* The file is replaced only if the text is complete. */
    if (text.failed)
        status = tw_fail_plain(error, TW_OUT_OF_MEMORY);
    else
        status = tw_file_replace(path, text.bytes, text.size, error);
    tw_text_free(&text);
    return status;
}

static tw_status save_tetgen(const char *path, const tw_mesh *mesh, tw_error *error)
{
    if (mesh->tetrahedron_count == 0)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "%s: the mesh has no tetrahedra, which .ele is made of", path);

    /* Whichever of the two names is given, both files are written. */
    char node_path[TW_MESH_PATH_SIZE];
    char element_path[TW_MESH_PATH_SIZE];
    TW_TRY(tw_tetgen_path(path, ".node", node_path, error));
    TW_TRY(tw_tetgen_path(path, ".ele", element_path, error));
    TW_TRY(save_text(node_path, mesh, tw_write_node, error));

    return save_text(element_path, mesh, tw_write_ele, error);
}

/* Copies the boundary of a solid, without the vertices inside. */
static tw_status copy_boundary(const tw_mesh *mesh, tw_mesh *surface, tw_error *error)
{
    int64_t *triangles = NULL;
    int64_t count = 0;
    TW_TRY(tw_mesh_surface(mesh, &triangles, &count, error));

    tw_status status = tw_mesh_allocate(surface, mesh->vertex_count, 0, count, 0, error);
    if (status == TW_OK) {
        /* The repair drops the vertices that no triangle uses. */
        memcpy(surface->vertices, mesh->vertices, (size_t)mesh->vertex_count * 3 * sizeof(double));
        memcpy(surface->triangles, triangles, (size_t)count * 3 * sizeof(int64_t));
        status = tw_mesh_repair(surface, NULL, error);
    }
    tw_mesh_free_indices(triangles);
    return status;
}

/* Tetrahedra that overlap, or are there twice, may have no face that belongs to one of them only. */
static tw_status check_boundary(const char *path, const tw_mesh *surface, tw_error *error)
{
    if (surface->triangle_count > 0) return TW_OK;
    return tw_fail(error, TW_BAD_INPUT,
                   "%s: the tetrahedra have no outer face (each face belongs to two or more of "
                   "them), so there is no surface to write",
                   path);
}

/* Writes a format that has surfaces only: of a solid its boundary. */
static tw_status save_surface(const char *path, const tw_mesh *mesh, tw_mesh_writer *writer,
                              tw_error *error)
{
    if (mesh->tetrahedron_count == 0) return save_text(path, mesh, writer, error);
    tw_mesh surface = {0};
    tw_status status = copy_boundary(mesh, &surface, error);
    if (status == TW_OK) status = check_boundary(path, &surface, error);
    if (status == TW_OK) status = save_text(path, &surface, writer, error);
    tw_mesh_free(&surface);
    return status;
}

tw_status tw_mesh_save(const char *path, const tw_mesh *mesh, tw_error *error)
{
    if (!path || !mesh) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    TW_TRY(tw_mesh_check(mesh, error));

    /* The suffix tells the format. */
    if (tw_is_tetgen(path)) return save_tetgen(path, mesh, error);
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
