/* A sheet whose shape comes from a file: the vertices that become particles, and the edges that keep
 * the sheet in shape. */
#include <math.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/bodies.h"

/* ---- which vertex of the sheet a vertex of the file is ---- */

/* A vertex and its place, to be sorted by place. */
typedef struct place {
    double x[3];
    int64_t vertex;
} place;

static int compare_places(const void *left, const void *right)
{
    const place *a = left;
    const place *b = right;
    for (int k = 0; k < 3; k++)
        if (a->x[k] != b->x[k]) return a->x[k] < b->x[k] ? -1 : 1;
    return 0;
}

/* The vertices of a mesh, sorted by place; NULL when memory is out. Freed by tw_release. */
static place *sort_places(const tw_mesh *mesh)
{
    place *places = TW_NEW_ARRAY(mesh->vertex_count, place);
    if (!places) return NULL;

    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        const double *x = mesh->vertices + 3 * i;
        places[i] = (place){.x = {x[0], x[1], x[2]}, .vertex = i};
    }
    qsort(places, (size_t)mesh->vertex_count, sizeof *places, compare_places);
    return places;
}

/* The vertex of the sheet nearest to x: for the few vertices of a file that no face uses. */
static int64_t nearest_vertex(const tw_mesh *sheet, const double *x)
{
    int64_t nearest = 0;
    double least = INFINITY;
    for (int64_t i = 0; i < sheet->vertex_count; i++) {
        double square = 0.0;
        for (int k = 0; k < 3; k++) {
            double d = sheet->vertices[3 * i + k] - x[k];
            square += d * d;
        }
        if (square < least) nearest = i;
        least = fmin(least, square);
    }
    return nearest;
}

tw_status tw_sheet_map(const tw_mesh *sheet, const tw_mesh *surface, int64_t **map, tw_error *error)
{
    place *places = sort_places(sheet);
    *map = TW_NEW_ARRAY(surface->vertex_count, int64_t);
    if (!places || !*map) {
        tw_release(places);
        return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    }

    /* A repair moves no vertex: it merges those at the same place and drops those in no face. */
    for (int64_t i = 0; i < surface->vertex_count; i++) {
        const double *x = surface->vertices + 3 * i;
        place wanted = {.x = {x[0], x[1], x[2]}};
        const place *found =
            bsearch(&wanted, places, (size_t)sheet->vertex_count, sizeof *places, compare_places);
        (*map)[i] = found ? found->vertex : nearest_vertex(sheet, x);
    }

    tw_release(places);
    return TW_OK;
}

/* ---- edges ---- */

/* A side of a face: its two ends, a < b, and the corner of the triangle that faces it. */
typedef struct side {
    int64_t a, b;
    int64_t opposite;
} side;

static int compare_sides(const void *left, const void *right)
{
    const side *p = left;
    const side *q = right;
    if (p->a != q->a) return p->a < q->a ? -1 : 1;
    if (p->b != q->b) return p->b < q->b ? -1 : 1;
    return 0;
}

static side make_side(int64_t p, int64_t q, int64_t opposite)
{
    bool rises = p < q;
    return (side){.a = rises ? p : q, .b = rises ? q : p, .opposite = opposite};
}

/* The sides of all triangles, sorted. NULL when memory is out. */
static side *sort_triangle_sides(const tw_mesh *sheet)
{
    side *sides = TW_NEW_ARRAY(3 * sheet->triangle_count, side);
    if (!sides) return NULL;

    for (int64_t i = 0; i < 3 * sheet->triangle_count; i++) {
        const int64_t *t = sheet->triangles + i / 3 * 3;
        sides[i] = make_side(t[i % 3], t[(i + 1) % 3], t[(i + 2) % 3]);
    }
    qsort(sides, (size_t)(3 * sheet->triangle_count), sizeof *sides, compare_sides);
    return sides;
}

/* The sides of all polygons of the file in the numbering of the sheet, sorted. NULL when memory
 * is out. */
static side *sort_polygon_sides(const tw_mesh_faces *faces, const int64_t *map, int64_t count)
{
    side *sides = TW_NEW_ARRAY(count, side);
    if (!sides) return NULL;

    for (int64_t f = 0; f < faces->count; f++) {
        int64_t begin = faces->start[f];
        int64_t end = faces->start[f + 1];
        for (int64_t i = begin; i < end; i++) {
            int64_t next = i + 1 < end ? i + 1 : begin;
            sides[i] = make_side(map[faces->corners[i]], map[faces->corners[next]], -1);
        }
    }
    qsort(sides, (size_t)count, sizeof *sides, compare_sides);
    return sides;
}

/* Where the edges go that are found. */
typedef struct edge_lists {
    int64_t *edges[TW_CLOTH_GROUPS];
    int64_t count[TW_CLOTH_GROUPS];
} edge_lists;

static void add_edge(edge_lists *lists, tw_cloth_group group, int64_t a, int64_t b)
{
    if (a == b) return;
    int64_t *edge = lists->edges[group] + 2 * lists->count[group]++;
    edge[0] = a;
    edge[1] = b;
}

/* Sorts the sides of triangles into groups. A side of a polygon is structural, and the corners that
 * face it bend about it. Any other side is a diagonal of a polygon: it and the corners that face it
 * resist shear. */
static void list_edges(const side *sides, int64_t count, const side *outline, int64_t outline_count,
                       edge_lists *lists)
{
    for (int64_t i = 0; i < count; i++) {
        bool is_outline = outline_count == 0 || bsearch(sides + i, outline, (size_t)outline_count,
                                                        sizeof *outline, compare_sides);
        tw_cloth_group along = is_outline ? TW_CLOTH_STRUCTURAL : TW_CLOTH_SHEAR;
        tw_cloth_group across = is_outline ? TW_CLOTH_BENDING : TW_CLOTH_SHEAR;

        /* The first triangle at an edge brings the edge, every further one its corner. */
        bool is_first = i == 0 || compare_sides(sides + i - 1, sides + i) != 0;
        if (is_first)
            add_edge(lists, along, sides[i].a, sides[i].b);
        else
            add_edge(lists, across, sides[i - 1].opposite, sides[i].opposite);
    }
}

tw_status tw_sheet_edges(const tw_mesh *sheet, const tw_mesh *surface, tw_sheet_springs *out,
                         tw_error *error)
{
    *out = (tw_sheet_springs){0};
    int64_t *map = NULL;
    TW_TRY(tw_sheet_map(sheet, surface, &map, error));

    /* The sides of triangles and polygons. Every side of a triangle gives at most one edge. */
    const tw_mesh_faces *faces = &surface->faces;
    int64_t count = 3 * sheet->triangle_count;
    int64_t outline_count = faces->count ? faces->start[faces->count] : 0;
    side *sides = sort_triangle_sides(sheet);
    side *outline = sort_polygon_sides(faces, map, outline_count);
    edge_lists lists = {0};
    bool good = sides && outline;
    for (int g = 0; g < TW_CLOTH_GROUPS; g++) {
        lists.edges[g] = TW_NEW_ARRAY(2 * count, int64_t);
        good = good && lists.edges[g];
    }

    if (good) list_edges(sides, count, outline, outline_count, &lists);
    for (int g = 0; g < TW_CLOTH_GROUPS; g++) {
        out->edges[g] = lists.edges[g];
        out->count[g] = lists.count[g];
    }

    tw_release(map);
    tw_release(sides);
    tw_release(outline);
    return good ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);
}

void tw_sheet_springs_free(tw_sheet_springs *springs)
{
    for (int g = 0; g < TW_CLOTH_GROUPS; g++) tw_release(springs->edges[g]);
    *springs = (tw_sheet_springs){0};
}
