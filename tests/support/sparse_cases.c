#include "support/sparse_cases.h"

#include <stdbool.h>
#include <stdlib.h>

void *test_allocate(size_t count, size_t size)
{
    void *block = calloc(count ? count : 1, size);
    if (!block) abort();
    return block;
}

double *test_random_vector(test_random *random, int64_t n)
{
    double *x = test_allocate((size_t)n, sizeof *x);
    for (int64_t i = 0; i < n; i++) x[i] = test_random_between(random, -1, 1);
    return x;
}

/* A pattern under construction: rows are closed in order. */
typedef struct pattern {
    int64_t rows, *row_start, *column, used;
} pattern;

static pattern pattern_begin(int64_t rows, int64_t most_blocks)
{
    return (pattern){rows, test_allocate((size_t)rows + 1, sizeof(int64_t)),
                     test_allocate((size_t)most_blocks, sizeof(int64_t)), 0};
}

static tw_sparse *pattern_end(pattern *p, int block, tw_sparse_storage storage)
{
    tw_sparse *matrix = NULL;
    if (tw_sparse_create(block, p->rows, p->row_start, p->column, storage, &matrix, NULL)) abort();
    free(p->row_start);
    free(p->column);
    return matrix;
}

/* The cube corners other than the origin that are reached upwards, in the order of their vertex numbers. */
static const int kuhn_edge[7][3] = {{1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 1},
                                    {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};

static bool lattice_neighbour(const test_lattice *g, int64_t vertex, int edge, int sign,
                              int64_t *neighbour)
{
    int64_t x = vertex % g->nx, y = vertex / g->nx % g->ny, z = vertex / g->nx / g->ny;
    x += sign * kuhn_edge[edge][0], y += sign * kuhn_edge[edge][1], z += sign * kuhn_edge[edge][2];
    *neighbour = (z * g->ny + y) * g->nx + x;
    return x >= 0 && x < g->nx && y >= 0 && y < g->ny && z >= 0 && z < g->nz;
}

static pattern lattice_pattern(const test_lattice *g, tw_sparse_storage storage)
{
    int64_t vertices = (int64_t)g->nx * g->ny * g->nz, neighbour = 0;
    pattern p = pattern_begin(vertices, 15 * vertices);
    for (int64_t i = 0; i < vertices; i++) {
        for (int e = 6; e >= 0 && storage == TW_STORE_FULL; e--)
            if (lattice_neighbour(g, i, e, -1, &neighbour)) p.column[p.used++] = neighbour;
        p.column[p.used++] = i;
        for (int e = 0; e < 7; e++)
            if (lattice_neighbour(g, i, e, 1, &neighbour)) p.column[p.used++] = neighbour;
        p.row_start[i + 1] = p.used;
    }
    return p;
}

/* Adds sign * d d^T / |d|^2 to the stored block (i, j). */
static void add_edge(tw_sparse *matrix, int64_t i, int64_t j, const int d[3], double sign)
{
    const int block = tw_sparse_block(matrix);
    double *values = tw_sparse_values(matrix) + tw_sparse_find(matrix, i, j) * block * block;
    const double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    if (block == 1) values[0] += sign;
    for (int c = 0; c < block && block == 3; c++)
        for (int r = 0; r < block; r++) values[c * block + r] += sign * d[r] * d[c] / square;
}

tw_sparse *test_lattice_matrix(const test_lattice *g, tw_sparse_storage storage)
{
    pattern p = lattice_pattern(g, storage);
    tw_sparse *matrix = pattern_end(&p, g->block, storage);
    int64_t vertices = (int64_t)g->nx * g->ny * g->nz, j = 0;
    for (int64_t i = 0; i < vertices; i++) {
        double *diagonal =
            tw_sparse_values(matrix) + tw_sparse_find(matrix, i, i) * g->block * g->block;
        for (int c = 0; c < g->block; c++) diagonal[c * (g->block + 1)] += g->shift;
        for (int e = 0; e < 7; e++) {
            if (!lattice_neighbour(g, i, e, 1, &j)) continue;
            add_edge(matrix, i, i, kuhn_edge[e], 1);
            add_edge(matrix, j, j, kuhn_edge[e], 1);
            add_edge(matrix, i, j, kuhn_edge[e], -1);
            if (storage == TW_STORE_FULL) add_edge(matrix, j, i, kuhn_edge[e], -1);
        }
    }
    return matrix;
}

static void symmetrise_diagonal(tw_sparse *matrix, int64_t block_row)
{
    int64_t p = tw_sparse_find(matrix, block_row, block_row);
    if (p < 0 || tw_sparse_block(matrix) == 1) return;
    double *B = tw_sparse_values(matrix) + 9 * p;
    B[3] = B[1], B[6] = B[2], B[7] = B[5];
}

tw_sparse *test_random_sparse(test_random *random, int block, int64_t block_rows, double density,
                              tw_sparse_storage storage)
{
    pattern p = pattern_begin(block_rows, block_rows * block_rows);
    for (int64_t i = 0; i < block_rows; i++) {
        for (int64_t j = storage == TW_STORE_UPPER ? i : 0; j < block_rows; j++)
            if (test_random_unit(random) < density) p.column[p.used++] = j;
        p.row_start[i + 1] = p.used;
    }
    int64_t values = p.used * block * block;
    tw_sparse *matrix = pattern_end(&p, block, storage);
    for (int64_t k = 0; k < values; k++)
        tw_sparse_values(matrix)[k] = test_random_between(random, -1, 1);
    for (int64_t i = 0; i < block_rows && storage == TW_STORE_UPPER; i++)
        symmetrise_diagonal(matrix, i);
    return matrix;
}

double test_sparse_entry(const tw_sparse *matrix, int64_t i, int64_t j)
{
    const int64_t block = tw_sparse_block(matrix);
    if (tw_sparse_storage_of(matrix) == TW_STORE_UPPER && i / block > j / block) {
        int64_t swap = i;
        i = j;
        j = swap;
    }
    int64_t p = tw_sparse_find(matrix, i / block, j / block);
    return p < 0 ? 0.0
                 : tw_sparse_values_const(matrix)[(p * block + j % block) * block + i % block];
}

tw_sparse *test_full_of_upper(const tw_sparse *upper)
{
    const int64_t block = tw_sparse_block(upper), rows = tw_sparse_size(upper) / block;
    pattern p = pattern_begin(rows, 2 * tw_sparse_row_start(upper)[rows]);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < rows; j++)
            if (tw_sparse_find(upper, i < j ? i : j, i < j ? j : i) >= 0) p.column[p.used++] = j;
        p.row_start[i + 1] = p.used;
    }
    tw_sparse *full = pattern_end(&p, (int)block, TW_STORE_FULL);
    double *value = tw_sparse_values(full);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = tw_sparse_row_start(full)[i]; k < tw_sparse_row_start(full)[i + 1]; k++)
            for (int64_t c = 0; c < block; c++)
                for (int64_t r = 0; r < block; r++)
                    *value++ = test_sparse_entry(upper, i * block + r,
                                                 tw_sparse_column(full)[k] * block + c);
    return full;
}
