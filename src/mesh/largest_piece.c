/* Keeping the largest connected piece of a solid. */
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/mesh_internal.h"

/* Face f of a tetrahedron is the one without corner f. `out` gets its corners in rising order. */
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

/* parent[i] becomes the first tetrahedron of the piece of tetrahedron i. `faces` has room for 12
 * numbers per tetrahedron, `order` for 4. */
static tw_status find_pieces(const tw_mesh *mesh, int64_t *parent, int64_t *faces, int64_t *order,
                             tw_error *error)
{
    /* Sort the faces of all tetrahedra, so that equal ones stand side by side. */
    int64_t all = 4 * mesh->tetrahedron_count;
    for (int64_t i = 0; i < all; i++)
        face_of(mesh->tetrahedra + 4 * (i / 4), (int)(i % 4), faces + 3 * i);
    TW_TRY(tw_tuple_sort(all, 3, faces, mesh->vertex_count, order, error));

    /* Join the tetrahedra on both sides of a face. */
    for (int64_t i = 0; i < mesh->tetrahedron_count; i++) parent[i] = i;
    for (int64_t i = 1; i < all; i++)
        if (tw_tuple_equal(3, faces + 3 * order[i], faces + 3 * order[i - 1]))
            tw_set_join(parent, order[i] / 4, order[i - 1] / 4);

    for (int64_t i = 0; i < mesh->tetrahedron_count; i++) parent[i] = tw_set_find(parent, i);
    return TW_OK;
}

/* Drops the vertices that no tetrahedron uses. `number` has an entry for each vertex. */
static void drop_unused_vertices(tw_mesh *mesh, int64_t *number)
{
    /* Mark the vertices in use, then number them anew in their order. */
    memset(number, 0, (size_t)mesh->vertex_count * sizeof *number);
    for (int64_t i = 0; i < 4 * mesh->tetrahedron_count; i++) number[mesh->tetrahedra[i]] = 1;

    int64_t kept = 0;
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        if (!number[i]) continue;
        memmove(mesh->vertices + 3 * kept, mesh->vertices + 3 * i, 3 * sizeof(double));
        number[i] = kept++;
    }

    for (int64_t i = 0; i < 4 * mesh->tetrahedron_count; i++)
        mesh->tetrahedra[i] = number[mesh->tetrahedra[i]];
    mesh->vertex_count = kept;
}

/* The number of pieces; *largest becomes the representative of the largest one, the first one of
 * equal ones. `sizes` is zeroed. */
static int64_t count_pieces(int64_t count, const int64_t *parent, int64_t *sizes, int64_t *largest)
{
    int64_t pieces = 0;
    for (int64_t i = 0; i < count; i++) pieces += sizes[parent[i]]++ == 0;

    *largest = 0;
    for (int64_t i = 0; i < count; i++)
        if (sizes[i] > sizes[*largest]) *largest = i;
    return pieces;
}

/* Memory for the search: entries per tetrahedron, and per vertex. */
typedef struct piece_memory {
    int64_t *parent; /* per tetrahedron */
    int64_t *sizes;  /* per tetrahedron, zeroed */
    int64_t *faces;  /* 12 per tetrahedron */
    int64_t *order;  /* 4 per tetrahedron */
    int64_t *number; /* per vertex */
} piece_memory;

static tw_status keep_largest(tw_mesh *mesh, const piece_memory *memory, int64_t *dropped_pieces,
                              tw_error *error)
{
    TW_TRY(find_pieces(mesh, memory->parent, memory->faces, memory->order, error));
    int64_t largest = 0;
    int64_t pieces = count_pieces(mesh->tetrahedron_count, memory->parent, memory->sizes, &largest);

    /* Close the gaps that the tetrahedra of other pieces leave. */
    int64_t kept = 0;
    for (int64_t i = 0; i < mesh->tetrahedron_count; i++) {
        if (memory->parent[i] != largest) continue;
        memmove(mesh->tetrahedra + 4 * kept++, mesh->tetrahedra + 4 * i, 4 * sizeof(int64_t));
    }

    mesh->tetrahedron_count = kept;

    drop_unused_vertices(mesh, memory->number);
    *dropped_pieces = pieces > 0 ? pieces - 1 : 0;
    return TW_OK;
}

tw_status tw_keep_largest_piece(tw_mesh *mesh, int64_t *dropped_pieces, int64_t *dropped_tetrahedra,
                                tw_error *error)
{
    int64_t count = mesh->tetrahedron_count;
    piece_memory memory = {.parent = TW_NEW_ARRAY(count, int64_t),
                           .sizes = tw_allocate_zeroed((size_t)count, sizeof(int64_t)),
                           .faces = TW_NEW_ARRAY(12 * count, int64_t),
                           .order = TW_NEW_ARRAY(4 * count, int64_t),
                           .number = TW_NEW_ARRAY(mesh->vertex_count, int64_t)};

    tw_status status = TW_OK;

    /* Search with all memory at hand. */
    if (memory.parent && memory.sizes && memory.faces && memory.order && memory.number)
        status = keep_largest(mesh, &memory, dropped_pieces, error);
    else
        status = tw_fail_plain(error, TW_OUT_OF_MEMORY);
    *dropped_tetrahedra = count - mesh->tetrahedron_count;

    tw_release(memory.parent);
    tw_release(memory.sizes);
    tw_release(memory.faces);
    tw_release(memory.order);
    tw_release(memory.number);
    return status;
}
