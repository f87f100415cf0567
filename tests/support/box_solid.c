#include "support/box_solid.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "support/random.h"
#include "support/sparse_cases.h"

static void must(tw_status status)
{
    if (status != TW_OK) abort();
}

static int64_t vertex(const box_shape *s, int i, int j, int k)
{
    return ((int64_t)i * (s->cells[1] + 1) + j) * (s->cells[2] + 1) + k;
}

static void set_vertices(const box_shape *s, double *positions)
{
    test_random random = {.state = 11};
    for (int i = 0; i <= s->cells[0]; i++)
        for (int j = 0; j <= s->cells[1]; j++)
            for (int k = 0; k <= s->cells[2]; k++) {
                int at[3] = {i, j, k};
                bool inside = true;
                for (int d = 0; d < 3; d++) inside = inside && at[d] > 0 && at[d] < s->cells[d];
                for (int d = 0; d < 3; d++) {
                    double moved = inside ? s->jitter * test_random_between(&random, -1, 1) : 0.0;
                    positions[3 * vertex(s, i, j, k) + d] =
                        s->size[d] * (at[d] + moved) / s->cells[d];
                }
            }
}

/* From one corner of the cell to the opposite one, an axis after the other. */
static void set_elements(const box_shape *s, int64_t *corners)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    int64_t *next = corners;
    for (int i = 0; i < s->cells[0]; i++)
        for (int j = 0; j < s->cells[1]; j++)
            for (int k = 0; k < s->cells[2]; k++)
                for (int o = 0; o < 6; o++) {
                    int at[3] = {i, j, k};
                    *next++ = vertex(s, at[0], at[1], at[2]);
                    for (int step = 0; step < 3; step++) {
                        at[orders[o][step]]++;
                        *next++ = vertex(s, at[0], at[1], at[2]);
                    }
                }
}

static const double *sort_key;

static int compare_x(const void *a, const void *b)
{
    int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
    double x = sort_key[3 * p], y = sort_key[3 * q];
    if (x != y) return x < y ? -1 : 1;
    return (p > q) - (p < q);
}

/* Numbers the vertices along x. */
static void renumber(box_solid *box)
{
    size_t n = (size_t)box->vertices;
    int64_t *order = test_allocate(n, sizeof *order), *rank = test_allocate(n, sizeof *rank);
    double *sorted = test_allocate(3 * n, sizeof *sorted);
    for (size_t i = 0; i < n; i++) order[i] = (int64_t)i;
    sort_key = box->positions;
    qsort(order, n, sizeof *order, compare_x);
    for (size_t i = 0; i < n; i++) {
        rank[order[i]] = (int64_t)i;
        memcpy(sorted + 3 * i, box->positions + 3 * order[i], 3 * sizeof *sorted);
    }
    memcpy(box->positions, sorted, 3 * n * sizeof *sorted);
    for (int64_t i = 0; i < box->nodes * box->count; i++) box->elements[i] = rank[box->elements[i]];
    free(order);
    free(rank);
    free(sorted);
}

static void make_quadratic(box_solid *box)
{
    int64_t *edges = test_allocate(12 * (size_t)box->count, sizeof *edges), edge_count = 0;
    int64_t *elements = test_allocate(10 * (size_t)box->count, sizeof *elements);
    must(tw_solid_quadratic(box->vertices, box->count, box->elements, elements, edges, &edge_count,
                            NULL));
    double *positions = test_allocate(3 * (size_t)(box->vertices + edge_count), sizeof *positions);
    memcpy(positions, box->positions, 3 * (size_t)box->vertices * sizeof *positions);
    for (int64_t i = 0; i < edge_count; i++)
        for (int k = 0; k < 3; k++)
            positions[3 * (box->vertices + i) + k] =
                0.5 *
                (box->positions[3 * edges[2 * i] + k] + box->positions[3 * edges[2 * i + 1] + k]);
    free(box->positions);
    free(box->elements);
    free(edges);
    box->positions = positions;
    box->elements = elements;
    box->vertices += edge_count;
    box->nodes = 10;
}

box_solid box_solid_make(const box_shape *s)
{
    const int *c = s->cells;
    box_solid box = {.vertices = (int64_t)(c[0] + 1) * (c[1] + 1) * (c[2] + 1), .nodes = 4};
    box.count = (int64_t)6 * c[0] * c[1] * c[2];
    box.positions = test_allocate(3 * (size_t)box.vertices, sizeof(double));
    box.elements = test_allocate(4 * (size_t)box.count, sizeof(int64_t));
    set_vertices(s, box.positions);
    set_elements(s, box.elements);
    if (s->nodes == 10) make_quadratic(&box);
    renumber(&box);
    box.masses = test_allocate((size_t)box.vertices, sizeof(double));
    memset(box.masses, 0, (size_t)box.vertices * sizeof(double));
    must(tw_solid_lumped_mass(box.nodes, box.count, box.elements, box.vertices, box.positions, 1.0,
                              box.masses, NULL));
    return box;
}

void box_solid_free(box_solid *box)
{
    free(box->positions);
    free(box->masses);
    free(box->elements);
}

tw_model *box_solid_model(const box_solid *box, int64_t held, const tw_solid_material *material)
{
    tw_model *model = NULL;
    must(tw_model_create(&model, NULL));
    must(tw_model_add_particles(model, box->vertices, box->positions, NULL, box->masses, NULL,
                                NULL));
    if (held) must(tw_model_pin(model, 0, held - 1, NULL));
    must(tw_model_add_tetrahedra(model, box->nodes, box->count, box->elements, NULL, material,
                                 NULL));
    return model;
}

tw_simulation *box_solid_simulation(const box_solid *box, int64_t held,
                                    const tw_solid_material *material)
{
    tw_simulation *simulation = NULL;
    must(tw_simulation_of_model(box_solid_model(box, held, material), &simulation, NULL));
    return simulation;
}
