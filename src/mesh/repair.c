/* Repairs of what files contain: one step per kind of fault, and each fault is counted. */
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/mesh_internal.h"

/* A cell is flat if its area (volume) is below this share of the square (cube) of its longest edge.
 * Rounding leaves a few hundred units of 2^-52, about 1e-13, in a cell that should be flat. */
static const double flatness = 1e-12;

/* One of the three arrays of cells. */
typedef struct cells {
    int width; /* corners per cell */
    int64_t *count;
    int64_t *indices;
} cells;

static void list_cells(tw_mesh *mesh, cells list[3])
{
    list[0] = (cells){4, &mesh->tetrahedron_count, mesh->tetrahedra};
    list[1] = (cells){3, &mesh->triangle_count, mesh->triangles};
    list[2] = (cells){2, &mesh->edge_count, mesh->edges};
}

void tw_mesh_renumber(tw_mesh *mesh, const int64_t *numbers)
{
    cells list[3];
    list_cells(mesh, list);
    for (int l = 0; l < 3; l++)
        for (int64_t i = 0; i < *list[l].count * list[l].width; i++)
            list[l].indices[i] = numbers[list[l].indices[i]];
}

/* ---- vertices at the same place ---- */

static uint64_t hash_vertex(const double *vertex)
{
    uint64_t hash = 0;
    for (int k = 0; k < 3; k++) {
        double value = vertex[k] + 0.0; /* -0 becomes 0 */
        uint64_t bits = 0;
        memcpy(&bits, &value, sizeof bits);
        hash = (hash ^ bits) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }

    return hash ^ (hash >> 32);
}

static bool is_same_place(const double *a, const double *b)
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

tw_status tw_find_equal_vertices(int64_t count, const double *vertices, int64_t *first,
                                 int64_t *merged, tw_error *error)
{
    /* A hash table with open addressing, at most half full. A slot holds the number
     * of a first vertex, or -1. */
    uint64_t size = 16;
    while (size < 2 * (uint64_t)count) size *= 2;
    int64_t *slots = TW_NEW_ARRAY(size, int64_t);
    if (!slots) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    for (uint64_t s = 0; s < size; s++) slots[s] = -1;

    *merged = 0;
    for (int64_t i = 0; i < count; i++) {
        /* Find the slot of this place, or the empty slot where it belongs. */
        uint64_t s = hash_vertex(vertices + 3 * i) & (size - 1);
        while (slots[s] >= 0 && !is_same_place(vertices + 3 * slots[s], vertices + 3 * i))
            s = (s + 1) & (size - 1);

        if (slots[s] < 0) slots[s] = i;
        first[i] = slots[s];
        *merged += first[i] != i;
    }

    tw_release(slots);
    return TW_OK;
}

static tw_status merge_vertices(tw_mesh *mesh, tw_mesh_repairs *repairs, tw_error *error)
{
    int64_t *first = TW_NEW_ARRAY(mesh->vertex_count, int64_t);
    if (!first) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    tw_status status = tw_find_equal_vertices(mesh->vertex_count, mesh->vertices, first,
                                              &repairs->merged_vertices, error);
    if (status == TW_OK) tw_mesh_renumber(mesh, first);
    tw_release(first);
    return status;
}

/* ---- degenerate cells ---- */

static double longest_edge(int width, const vec3 *p)
{
    double longest = 0.0;
    for (int i = 0; i < width; i++)
        for (int j = 0; j < i; j++) longest = fmax(longest, vec3_length(vec3_subtract(p[i], p[j])));
    return longest;
}

static bool is_flat(const tw_mesh *mesh, int width, const int64_t *cell)
{
    vec3 p[4];
    for (int k = 0; k < width; k++) p[k] = vec3_at(mesh->vertices, cell[k]);
    double length = longest_edge(width, p);

    /* An edge is flat if it has no length, a triangle by its area, a tetrahedron by its volume. */
    if (width == 2) return !(length > 0.0);
    if (width == 3) {
        vec3 normal = vec3_cross(vec3_subtract(p[1], p[0]), vec3_subtract(p[2], p[0]));
        return !(vec3_length(normal) > flatness * length * length);
    }

    return !(fabs(vec3_six_volumes(p[0], p[1], p[2], p[3])) > flatness * length * length * length);
}

static bool has_repeated(int width, const int64_t *cell)
{
    for (int i = 0; i < width; i++)
        for (int j = 0; j < i; j++)
            if (cell[i] == cell[j]) return true;
    return false;
}

static void sorted_copy(int width, const int64_t *cell, int64_t *out)
{
    for (int i = 0; i < width; i++) {
        int j = i;
        for (; j > 0 && out[j - 1] > cell[i]; j--) out[j] = out[j - 1];
        out[j] = cell[i];
    }
}

/* Marks the cells that have the same vertices as an earlier one. */
static tw_status mark_doubles(const tw_mesh *mesh, const cells *c, char *dropped, tw_error *error)
{
    int64_t count = *c->count;
    int64_t *tuples = TW_NEW_ARRAY(count * c->width, int64_t);
    int64_t *order = TW_NEW_ARRAY(count, int64_t);

    /* Sort the cells by their vertices, whatever their order within the cell. */
    tw_status status = TW_OK;
    if (tuples && order) {
        for (int64_t i = 0; i < count; i++)
            sorted_copy(c->width, c->indices + c->width * i, tuples + c->width * i);
        status = tw_tuple_sort(count, c->width, tuples, mesh->vertex_count, order, error);
    } else {
        status = tw_fail_plain(error, TW_OUT_OF_MEMORY);
    }

    for (int64_t i = 1; status == TW_OK && i < count; i++)
        if (tw_tuple_equal(c->width, tuples + c->width * order[i],
                           tuples + c->width * order[i - 1]))
            dropped[order[i]] = 1;

    tw_release(tuples);
    tw_release(order);
    return status;
}

/* Drops cells that stand twice, have a vertex twice, or are flat. */
static tw_status drop_degenerate(const tw_mesh *mesh, const cells *c, tw_mesh_repairs *repairs,
                                 tw_error *error)
{
    char *dropped = tw_allocate_zeroed((size_t)*c->count, 1);
    if (!dropped) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    tw_status status = mark_doubles(mesh, c, dropped, error);

    if (status == TW_OK) {
        /* Close the gaps. */
        int64_t kept = 0;
        for (int64_t i = 0; i < *c->count; i++) {
            const int64_t *cell = c->indices + c->width * i;
            if (dropped[i] || has_repeated(c->width, cell) || is_flat(mesh, c->width, cell))
                continue;
            memmove(c->indices + c->width * kept++, cell, (size_t)c->width * sizeof *cell);
        }
        repairs->degenerate_cells += *c->count - kept;
        *c->count = kept;
    }

    tw_release(dropped);
    return status;
}

/* ---- cells of lower dimension, orientation, vertices without a cell ---- */

/* Drops the cells below the highest dimension: boundary triangles and lines of a
 * solid, lines of a surface. */
static void drop_lower(tw_mesh *mesh, tw_mesh_repairs *repairs)
{
    if (mesh->tetrahedron_count > 0) {
        repairs->lower_cells += mesh->triangle_count;
        mesh->triangle_count = 0;
    }

    if (mesh->tetrahedron_count > 0 || mesh->triangle_count > 0) {
        repairs->lower_cells += mesh->edge_count;
        mesh->edge_count = 0;
    }
}

/* Turns tetrahedra of negative volume by swapping two corners. */
static void turn_tetrahedra(tw_mesh *mesh, tw_mesh_repairs *repairs)
{
    const double *x = mesh->vertices;
    for (int64_t i = 0; i < mesh->tetrahedron_count; i++) {
        int64_t *t = mesh->tetrahedra + 4 * i;
        if (vec3_six_volumes(vec3_at(x, t[0]), vec3_at(x, t[1]), vec3_at(x, t[2]),
                             vec3_at(x, t[3])) > 0.0)
            continue;

        int64_t swap = t[2];
        t[2] = t[3];
        t[3] = swap;
        repairs->flipped_cells++;
    }
}

/* Drops vertices in no cell. Those that were merged into others are among them,
 * but are not counted again. */
static tw_status drop_isolated(tw_mesh *mesh, tw_mesh_repairs *repairs, tw_error *error)
{
    int64_t *numbers = tw_allocate_zeroed((size_t)mesh->vertex_count, sizeof *numbers);
    if (!numbers) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* Mark the vertices in use. */
    cells list[3];
    list_cells(mesh, list);
    for (int l = 0; l < 3; l++)
        for (int64_t i = 0; i < *list[l].count * list[l].width; i++)
            numbers[list[l].indices[i]] = 1;

    /* Close the gaps and number the vertices anew. */
    int64_t kept = 0;
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        if (!numbers[i]) continue;
        memmove(mesh->vertices + 3 * kept, mesh->vertices + 3 * i, 3 * sizeof(double));
        numbers[i] = kept++;
    }

    tw_mesh_renumber(mesh, numbers);

    repairs->dropped_vertices = mesh->vertex_count - kept - repairs->merged_vertices;
    mesh->vertex_count = kept;
    tw_release(numbers);
    return TW_OK;
}

/* ---- all repairs ---- */

tw_status tw_mesh_repair(tw_mesh *mesh, tw_mesh_repairs *repairs, tw_error *error)
{
    tw_mesh_repairs done = {0};
    TW_TRY(tw_mesh_check(mesh, error));
    TW_TRY(merge_vertices(mesh, &done, error));

    /* The faces still have the old numbers of vertices. */
    tw_mesh_forget_faces(mesh);

    cells list[3];
    list_cells(mesh, list);
    for (int l = 0; l < 3; l++) TW_TRY(drop_degenerate(mesh, list + l, &done, error));

    drop_lower(mesh, &done);
    turn_tetrahedra(mesh, &done);
    TW_TRY(tw_orient_triangles(mesh, &done.flipped_cells, error));
    TW_TRY(drop_isolated(mesh, &done, error));
    if (repairs) *repairs = done;

    return TW_OK;
}

/* ---- the repairs in words ---- */

static void add_words(char *text, size_t size, int64_t count, const char *singular,
                      const char *plural)
{
    size_t used = strlen(text);
    if (count == 0 || used >= size) return;
    const char *separator = used > 0 ? ", " : "";
    const char *words = count == 1 ? singular : plural;
    snprintf(text + used, size - used, "%s%lld %s", separator, (long long)count, words);
}

const char *tw_mesh_repairs_text(const tw_mesh_repairs *repairs, char *text, size_t size)
{
    if (!text || size == 0) return text;
    text[0] = '\0';
    if (!repairs) return text;
    add_words(text, size, repairs->merged_vertices, "duplicate vertex merged",
              "duplicate vertices merged");
    add_words(text, size, repairs->dropped_vertices, "isolated vertex dropped",
              "isolated vertices dropped");
    add_words(text, size, repairs->degenerate_cells, "degenerate cell dropped",
              "degenerate cells dropped");
    add_words(text, size, repairs->lower_cells, "lower-dimensional cell dropped",
              "lower-dimensional cells dropped");
    add_words(text, size, repairs->flipped_cells, "cell turned", "cells turned");
    if (text[0] == '\0') snprintf(text, size, "none");

    return text;
}
