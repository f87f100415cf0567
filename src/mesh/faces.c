/* The faces of a surface as its file has them, beside the triangles of a mesh. */
#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/mesh_internal.h"

static void release_faces(tw_mesh_faces *faces)
{
    tw_release(faces->start);
    tw_release(faces->corners);
    tw_release(faces->corner_texture);
    tw_release(faces->texture);
    tw_release(faces->statement_face);
    tw_release(faces->statement_end);
    tw_release(faces->statements);
    *faces = (tw_mesh_faces){0};
}

void tw_mesh_forget_faces(tw_mesh *mesh)
{
    if (mesh) release_faces(&mesh->faces);
}

static int64_t corner_count(const tw_mesh_faces *faces)
{
    return faces->count > 0 ? faces->start[faces->count] : 0;
}

tw_status tw_faces_copy(const tw_mesh_faces *faces, tw_mesh_faces *out)
{
    *out = (tw_mesh_faces){.count = faces->count,
                           .texture_count = faces->texture_count,
                           .statement_count = faces->statement_count};

    /* The statements are one text; the last end is its size. */
    int64_t corners = corner_count(faces);
    int64_t statements = faces->statement_count;
    int64_t bytes = statements > 0 ? faces->statement_end[statements - 1] : 0;

    bool good = true;
    out->start = tw_copy_array(faces->start, faces->count + 1, sizeof(int64_t), &good);
    out->corners = tw_copy_array(faces->corners, corners, sizeof(int64_t), &good);
    out->corner_texture = tw_copy_array(faces->corner_texture, corners, sizeof(int64_t), &good);
    out->texture = tw_copy_array(faces->texture, faces->texture_count, 2 * sizeof(double), &good);
    out->statement_face = tw_copy_array(faces->statement_face, statements, sizeof(int64_t), &good);
    out->statement_end = tw_copy_array(faces->statement_end, statements, sizeof(int64_t), &good);
    out->statements = tw_copy_array(faces->statements, bytes, 1, &good);
    if (good) return TW_OK;

    release_faces(out);
    return TW_OUT_OF_MEMORY;
}

/* ---- checks ---- */

static tw_status check_polygons(const tw_mesh *mesh, tw_error *error)
{
    const tw_mesh_faces *faces = &mesh->faces;
    for (int64_t f = 0; f < faces->count; f++) {
        /* The starts begin with 0, and every face has at least three corners. */
        int64_t begin = faces->start[f];
        int64_t end = faces->start[f + 1];
        if ((f == 0 && begin != 0) || end - begin < 3)
            return tw_fail(error, TW_INVALID_ARGUMENT, "face %lld of the mesh has no three corners",
                           (long long)f);

        /* Every corner is a vertex. */
        for (int64_t c = begin; c < end; c++)
            if (faces->corners[c] < 0 || faces->corners[c] >= mesh->vertex_count)
                return tw_fail(error, TW_INVALID_ARGUMENT,
                               "face %lld of the mesh has vertex %lld, there are %lld",
                               (long long)f, (long long)faces->corners[c],
                               (long long)mesh->vertex_count);
    }

    return TW_OK;
}

static tw_status check_texture(const tw_mesh_faces *faces, tw_error *error)
{
    for (int64_t i = 0; i < 2 * faces->texture_count; i++)
        if (!isfinite(faces->texture[i]))
            return tw_fail(error, TW_NOT_FINITE,
                           "texture coordinate %lld of the mesh is not finite", (long long)(i / 2));

    /* A corner without a texture coordinate has -1. */
    for (int64_t c = 0; faces->corner_texture && c < corner_count(faces); c++)
        if (faces->corner_texture[c] < -1 || faces->corner_texture[c] >= faces->texture_count)
            return tw_fail(error, TW_INVALID_ARGUMENT,
                           "corner %lld of the mesh has texture coordinate %lld, there are %lld",
                           (long long)c, (long long)faces->corner_texture[c],
                           (long long)faces->texture_count);

    return TW_OK;
}

static tw_status check_statements(const tw_mesh *mesh, tw_error *error)
{
    const tw_mesh_faces *faces = &mesh->faces;
    int64_t last = faces->count > 0 ? faces->count : mesh->triangle_count;

    /* Faces and ends of the statements never decrease. */
    int64_t face = -1;
    int64_t end = 0;
    for (int64_t i = 0; i < faces->statement_count; i++) {
        if (faces->statement_face[i] < face || faces->statement_face[i] > last ||
            faces->statement_end[i] < end)
            return tw_fail(error, TW_INVALID_ARGUMENT,
                           "statement %lld between the faces of the mesh is out of order",
                           (long long)i);
        face = faces->statement_face[i];
        end = faces->statement_end[i];
    }

    return TW_OK;
}

tw_status tw_faces_check(const tw_mesh *mesh, tw_error *error)
{
    TW_TRY(check_polygons(mesh, error));
    TW_TRY(check_texture(&mesh->faces, error));
    return check_statements(mesh, error);
}
