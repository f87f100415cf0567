#include "mesh/largest_piece.h"

#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/tuple_sort.h"

static int64_t root_of(int64_t *parent, int64_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* Face f of a tetrahedron is the one without corner f; its corners in rising order. */
static void face_of(const int64_t *tetrahedron, int f, int64_t out[3])
{
    int count = 0;
    for (int k = 0; k < 4; k++) {
        if (k == f) continue;
        int at = count++;
        for (; at > 0 && out[at - 1] > tetrahedron[k]; at--) out[at] = out[at - 1];
        out[at] = tetrahedron[k];
    }
}

/* parent[i] becomes the first tetrahedron of the piece of tetrahedron i. */
static tw_status find_pieces(const tw_mesh *mesh, int64_t *parent, tw_error *error)
{
    int64_t all = 4 * mesh->tetrahedron_count;
    int64_t *faces = TW_NEW_ARRAY(3 * all, int64_t), *order = TW_NEW_ARRAY(all, int64_t);
    tw_status status = faces && order ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);
    if (status == TW_OK) {
        for (int64_t i = 0; i < all; i++)
            face_of(mesh->tetrahedra + 4 * (i / 4), (int)(i % 4), faces + 3 * i);
        status = tw_tuple_sort(all, 3, faces, mesh->vertex_count, order, error);
    }
    for (int64_t i = 0; i < mesh->tetrahedron_count; i++) parent[i] = i;
    for (int64_t i = 1; status == TW_OK && i < all; i++) {
        if (!tw_tuple_equal(3, faces + 3 * order[i], faces + 3 * order[i - 1])) continue;
        int64_t a = root_of(parent, order[i] / 4), b = root_of(parent, order[i - 1] / 4);
        parent[a < b ? b : a] = a < b ? a : b;
    }
    for (int64_t i = 0; i < mesh->tetrahedron_count; i++) parent[i] = root_of(parent, i);
    tw_release(faces);
    tw_release(order);
    return status;
}

static void drop_unused_vertices(tw_mesh *mesh, int64_t *number)
{
    int64_t kept = 0;
    memset(number, 0, (size_t)mesh->vertex_count * sizeof *number);
    for (int64_t i = 0; i < 4 * mesh->tetrahedron_count; i++) number[mesh->tetrahedra[i]] = 1;
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        if (!number[i]) continue;
        memmove(mesh->vertices + 3 * kept, mesh->vertices + 3 * i, 3 * sizeof(double));
        number[i] = kept++;
    }
    for (int64_t i = 0; i < 4 * mesh->tetrahedron_count; i++)
        mesh->tetrahedra[i] = number[mesh->tetrahedra[i]];
    mesh->vertex_count = kept;
}

/* With the memory it needs: parent and sizes for each tetrahedron, numbers for each vertex. */
static tw_status keep_largest(tw_mesh *mesh, int64_t *parent, int64_t *sizes, int64_t *number,
                              int64_t *dropped_pieces, tw_error *error)
{
    int64_t count = mesh->tetrahedron_count, largest = 0, pieces = 0, kept = 0;
    tw_status status = find_pieces(mesh, parent, error);
    if (status != TW_OK) return status;
    for (int64_t i = 0; i < count; i++) pieces += sizes[parent[i]]++ == 0;
    for (int64_t i = 0; i < count; i++)
        if (sizes[i] > sizes[largest]) largest = i;
    for (int64_t i = 0; i < count; i++) {
        if (parent[i] != largest) continue;
        memmove(mesh->tetrahedra + 4 * kept++, mesh->tetrahedra + 4 * i, 4 * sizeof(int64_t));
    }
    mesh->tetrahedron_count = kept;
    drop_unused_vertices(mesh, number);
    *dropped_pieces = pieces > 0 ? pieces - 1 : 0;
    return TW_OK;
}

tw_status tw_keep_largest_piece(tw_mesh *mesh, int64_t *dropped_pieces, int64_t *dropped_tetrahedra,
                                tw_error *error)
{
    int64_t count = mesh->tetrahedron_count, *number = TW_NEW_ARRAY(mesh->vertex_count, int64_t);
    int64_t *parent = TW_NEW_ARRAY(count, int64_t),
            *sizes = tw_allocate_zeroed((size_t)count, sizeof *sizes);
    tw_status status = TW_OUT_OF_MEMORY;
    if (parent && sizes && number)
        status = keep_largest(mesh, parent, sizes, number, dropped_pieces, error);
    else
        tw_fail_plain(error, TW_OUT_OF_MEMORY);
    *dropped_tetrahedra = count - mesh->tetrahedron_count;
    tw_release(parent);
    tw_release(sizes);
    tw_release(number);
    return status;
}
