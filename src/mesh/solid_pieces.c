/* The pieces of a solid: which are bodies of their own, and which are crumbs. */
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

/* ---- the bodies of the input ---- */

/* The connected parts of a surface. */
typedef struct body_parts {
    int64_t *parent; /* per vertex: the vertex that stands for its part */
    double *volume;  /* per such vertex: the signed volume that the part encloses */
    int64_t *piece;  /* per such vertex: the largest piece of the solid near it, or -1 */
} body_parts;

/* ---- keeping ---- */

/* Memory for the search. */
typedef struct piece_memory {
    int64_t *parent; /* per tetrahedron: the one that stands for its piece */
    int64_t *sizes;  /* per tetrahedron that stands for a piece: its tetrahedra; zeroed */
    char *kept;      /* per such tetrahedron; zeroed */
    int64_t *faces;  /* 12 per tetrahedron */
    int64_t *order;  /* 4 per tetrahedron */
    int64_t *number; /* per vertex */
    body_parts parts;
} piece_memory;

/* Marks the largest piece of each body, and the largest of all, the first one of equal ones. */
static void choose_pieces(const tw_mesh *mesh, const tw_winding *input, const piece_memory *m)
{
    int64_t largest = 0;
    for (int64_t i = 0; i < mesh->tetrahedron_count; i++) m->sizes[m->parent[i]]++;
    for (int64_t i = 0; i < mesh->tetrahedron_count; i++) {
        if (m->sizes[i] == 0) continue;
        if (m->sizes[i] > m->sizes[largest]) largest = i;

        /* A piece belongs to the body whose surface is nearest to one of its corners. */
        vec3 corner = vec3_at(mesh->vertices, mesh->tetrahedra[4 * i]);
        int64_t triangle = tw_winding_nearest(input, corner);
        if (triangle < 0) continue;
        int64_t part = tw_set_find(m->parts.parent, input->surface->triangles[3 * triangle]);
        int64_t *best = &m->parts.piece[part];
        if (m->parts.volume[part] > 0.0 && (*best < 0 || m->sizes[i] > m->sizes[*best])) *best = i;
    }

    m->kept[largest] = 1;
    for (int64_t i = 0; i < input->surface->vertex_count; i++)
        if (m->parts.piece[i] >= 0) m->kept[m->parts.piece[i]] = 1;
}

static tw_status keep_pieces(tw_mesh *mesh, const tw_winding *input, const piece_memory *m,
                             tw_fill_report *report, tw_error *error)
{
    TW_TRY(find_pieces(mesh, m->parent, m->faces, m->order, error));
    tw_surface_find_parts(input->surface, m->parts.parent, m->parts.volume);
    for (int64_t i = 0; i < input->surface->vertex_count; i++) m->parts.piece[i] = -1;
    choose_pieces(mesh, input, m);

    /* Close the gaps that the tetrahedra of other pieces leave. */
    int64_t count = mesh->tetrahedron_count;
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        report->dropped_components += m->sizes[i] > 0 && !m->kept[i];
        if (!m->kept[m->parent[i]]) continue;
        memmove(mesh->tetrahedra + 4 * kept++, mesh->tetrahedra + 4 * i, 4 * sizeof(int64_t));
    }

    mesh->tetrahedron_count = kept;
    report->dropped_tetrahedra = count - kept;
    drop_unused_vertices(mesh, m->number);
    return TW_OK;
}

static bool allocate(const tw_mesh *mesh, const tw_mesh *surface, piece_memory *m)
{
    int64_t count = mesh->tetrahedron_count;
    *m = (piece_memory){.parent = TW_NEW_ARRAY(count, int64_t),
                        .sizes = tw_allocate_zeroed((size_t)count, sizeof(int64_t)),
                        .kept = tw_allocate_zeroed((size_t)count, 1),
                        .faces = TW_NEW_ARRAY(12 * count, int64_t),
                        .order = TW_NEW_ARRAY(4 * count, int64_t),
                        .number = TW_NEW_ARRAY(mesh->vertex_count, int64_t)};
    m->parts.parent = TW_NEW_ARRAY(surface->vertex_count, int64_t);
    m->parts.volume = TW_NEW_ARRAY(surface->vertex_count, double);
    m->parts.piece = TW_NEW_ARRAY(surface->vertex_count, int64_t);
    return m->parent && m->sizes && m->kept && m->faces && m->order && m->number &&
           m->parts.parent && m->parts.volume && m->parts.piece;
}

static void release(piece_memory *m)
{
    tw_release(m->parent);
    tw_release(m->sizes);
    tw_release(m->kept);
    tw_release(m->faces);
    tw_release(m->order);
    tw_release(m->number);
    tw_release(m->parts.parent);
    tw_release(m->parts.volume);
    tw_release(m->parts.piece);
}

tw_status tw_keep_pieces(tw_mesh *mesh, const tw_winding *input, tw_fill_report *report,
                         tw_error *error)
{
    report->dropped_components = 0;
    report->dropped_tetrahedra = 0;
    if (mesh->tetrahedron_count == 0) return TW_OK;

    piece_memory memory;
    tw_status status = TW_OK;
    if (allocate(mesh, input->surface, &memory))
        status = keep_pieces(mesh, input, &memory, report, error);
    else
        status = tw_fail_plain(error, TW_OUT_OF_MEMORY);
    release(&memory);
    return status;
}
