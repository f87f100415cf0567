/* The points, edges and triangles of all surfaces, each with the piece to which it belongs. */
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "model/contact_force.h"

/* ---- lists ---- */

static tw_status add_cell(tw_contact_cells *cells, const tw_contact_cell *cell)
{
    if (cells->count == cells->capacity) {
        int64_t capacity = cells->capacity ? 2 * cells->capacity : 256;
        tw_contact_cell *larger = TW_NEW_ARRAY(capacity, tw_contact_cell);
        if (!larger) return TW_OUT_OF_MEMORY;

        if (cells->count) memcpy(larger, cells->list, (size_t)cells->count * sizeof *larger);
        tw_release(cells->list);
        cells->list = larger;
        cells->capacity = capacity;
    }
    cells->list[cells->count++] = *cell;
    return TW_OK;
}

static tw_contact_cell make_cell(const tw_contact *contact, const tw_contact_body *body,
                                 int corners, const int64_t *vertices)
{
    tw_contact_cell cell = {.body = body->display, .radius = body->radius, .held = true};
    for (int i = 0; i < corners; i++) {
        cell.vertex[i] = (int32_t)(body->first + vertices[i]);
        cell.held = cell.held && tw_contact_is_held(contact, cell.vertex[i]);
    }
    for (int i = corners; i < 3; i++) cell.vertex[i] = cell.vertex[corners - 1];
    return cell;
}

/* Edges by their two vertices, the smaller one first. */
static int compare_edges(const void *a, const void *b)
{
    const tw_contact_cell *x = a;
    const tw_contact_cell *y = b;
    if (x->vertex[0] != y->vertex[0]) return x->vertex[0] < y->vertex[0] ? -1 : 1;
    if (x->vertex[1] != y->vertex[1]) return x->vertex[1] < y->vertex[1] ? -1 : 1;
    return 0;
}

/* Sorts the edges from number `begin` on, and keeps each once. */
static void unite_edges(tw_contact_cells *edges, int64_t begin)
{
    int64_t count = edges->count - begin;
    tw_contact_cell *list = edges->list + begin;
    if (count == 0) return;
    qsort(list, (size_t)count, sizeof *list, compare_edges);

    int64_t kept = 1;
    for (int64_t i = 1; i < count; i++)
        if (compare_edges(&list[kept - 1], &list[i]) != 0) list[kept++] = list[i];
    edges->count = begin + kept;
}

/* ---- the surface of one body ---- */

static tw_status add_edge(tw_contact *contact, const tw_contact_body *body, int64_t a, int64_t b)
{
    int64_t ends[2] = {a < b ? a : b, a < b ? b : a};
    tw_contact_cell edge = make_cell(contact, body, 2, ends);
    return add_cell(&contact->edges, &edge);
}

/* The points are the corners of the edges. */
static tw_status add_points(tw_contact *contact, const tw_contact_body *body, int64_t begin)
{
    bool *is_corner = tw_allocate_zeroed((size_t)body->vertex_count + 1, sizeof *is_corner);
    if (!is_corner) return TW_OUT_OF_MEMORY;

    int64_t offset = body->first + body->lowest;
    for (int64_t i = begin; i < contact->edges.count; i++)
        for (int end = 0; end < 2; end++)
            is_corner[contact->edges.list[i].vertex[end] - offset] = true;

    tw_status status = TW_OK;
    for (int64_t i = 0; i < body->vertex_count && status == TW_OK; i++) {
        int64_t vertex = body->lowest + i;
        if (!is_corner[i]) continue;

        tw_contact_cell point = make_cell(contact, body, 1, &vertex);
        status = add_cell(&contact->points, &point);
    }
    tw_release(is_corner);
    return status;
}

static tw_status add_surface(tw_contact *contact, const tw_contact_body *body)
{
    int64_t begin = contact->edges.count;
    for (int64_t i = 0; i < body->triangle_count; i++) {
        const int64_t *corners = body->triangles + 3 * i;
        tw_contact_cell triangle = make_cell(contact, body, 3, corners);
        TW_TRY(add_cell(&contact->triangles, &triangle));
        for (int k = 0; k < 3; k++)
            TW_TRY(add_edge(contact, body, corners[k], corners[(k + 1) % 3]));
    }
    for (int64_t i = 0; i < body->edge_count; i++)
        TW_TRY(add_edge(contact, body, body->edges[2 * i], body->edges[2 * i + 1]));

    unite_edges(&contact->edges, begin);
    return add_points(contact, body, begin);
}

/* ---- pieces ---- */

/* The piece of a vertex: the smallest vertex that edges join it to (union-find). */
static int32_t piece_of(int32_t *parent, int32_t vertex)
{
    while (parent[vertex] != vertex) {
        parent[vertex] = parent[parent[vertex]];
        vertex = parent[vertex];
    }
    return vertex;
}

static void set_pieces(int32_t *parent, tw_contact_cells *cells)
{
    for (int64_t i = 0; i < cells->count; i++)
        cells->list[i].piece = piece_of(parent, cells->list[i].vertex[0]);
}

static tw_status find_pieces(tw_contact *contact)
{
    int64_t count = contact->particles->count + contact->carried_count;
    int32_t *parent = TW_NEW_ARRAY(count, int32_t);
    if (!parent) return TW_OUT_OF_MEMORY;
    for (int64_t i = 0; i < count; i++) parent[i] = (int32_t)i;

    for (int64_t i = 0; i < contact->edges.count; i++) {
        int32_t a = piece_of(parent, contact->edges.list[i].vertex[0]);
        int32_t b = piece_of(parent, contact->edges.list[i].vertex[1]);
        if (a < b) parent[b] = a;
        if (b < a) parent[a] = b;
    }
    set_pieces(parent, &contact->points);
    set_pieces(parent, &contact->edges);
    set_pieces(parent, &contact->triangles);
    tw_release(parent);
    return TW_OK;
}

/* ---- all ---- */

/* Whether two cells can touch at all: those of two bodies of which one is free, or of one body that
 * touches itself. */
static bool some_can_touch(const tw_contact *contact)
{
    const tw_contact_cells *edges = &contact->edges;
    bool several = false;
    bool free = false;
    for (int64_t i = 0; i < edges->count; i++) {
        several = several || edges->list[i].body != edges->list[0].body;
        free = free || !edges->list[i].held;
    }
    return edges->count > 1 && free && (several || contact->options.self);
}

tw_status tw_contact_list_cells(tw_contact *contact, int64_t body_count,
                                const tw_contact_body *bodies)
{
    for (int64_t b = 0; b < body_count; b++) TW_TRY(add_surface(contact, &bodies[b]));
    TW_TRY(find_pieces(contact));
    contact->has_surfaces = some_can_touch(contact);

    tw_contact_cells *kinds[3] = {&contact->points, &contact->edges, &contact->triangles};
    for (int i = 0; i < 3; i++) {
        kinds[i]->corners = i + 1;
        kinds[i]->boxes = TW_NEW_ARRAY(kinds[i]->count, tw_box);
        if (!kinds[i]->boxes) return TW_OUT_OF_MEMORY;
        TW_TRY(tw_overlap_tree_create(kinds[i]->count, &kinds[i]->tree));
    }
    return TW_OK;
}

void tw_contact_cells_free(tw_contact_cells *cells)
{
    tw_overlap_tree_free(cells->tree);
    tw_release(cells->boxes);
    tw_release(cells->list);
    *cells = (tw_contact_cells){0};
}
