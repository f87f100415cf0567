#include "model/probing.h"

#include <string.h>

#include "base/allocate.h"
#include "linalg/vector.h"

void tw_probing_free(tw_probing *probing)
{
    tw_sparse_free(probing->matrix);
    void *blocks[] = {probing->target, probing->neighbour, probing->start,
                      probing->colour, probing->in,        probing->out};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) tw_release(blocks[i]);
    *probing = (tw_probing){0};
}

static int64_t stored_blocks(const tw_probing *p)
{
    return tw_sparse_row_start(p->matrix)[p->particles->free_count];
}

/* Calls back for both sides of every stored block. */
typedef void visit(tw_probing *p, int64_t row, int32_t column);

static void visit_all(tw_probing *p, visit *function)
{
    const int64_t *start = tw_sparse_row_start(p->matrix);
    const int32_t *column = tw_sparse_column(p->matrix);
    for (int64_t r = 0; r < p->particles->free_count; r++)
        for (int64_t b = start[r]; b < start[r + 1]; b++) {
            function(p, r, column[b]);
            if (column[b] != r) function(p, column[b], (int32_t)r);
        }
}

static void count_neighbour(tw_probing *p, int64_t row, int32_t column)
{
    (void)column;
    p->start[row + 1]++;
}

static void list_neighbour(tw_probing *p, int64_t row, int32_t column)
{
    p->neighbour[p->start[row]++] = column;
}

static void list_neighbours(tw_probing *p)
{
    int64_t n = p->particles->free_count;
    visit_all(p, count_neighbour);
    for (int64_t r = 0; r < n; r++) p->start[r + 1] += p->start[r];
    visit_all(p, list_neighbour);
    for (int64_t r = n; r > 0; r--) p->start[r] = p->start[r - 1];
    p->start[0] = 0;
}

/* Greedy: the smallest colour that no particle two steps away has. `taken` marks colours by the particle at hand. */
static void choose_colours(tw_probing *p, int64_t *taken)
{
    int64_t n = p->particles->free_count;
    for (int64_t i = 0; i < n; i++) p->colour[i] = -1;
    for (int64_t i = 0; i < n; i++) taken[i] = -1;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t a = p->start[i]; a < p->start[i + 1]; a++) {
            int32_t j = p->neighbour[a];
            for (int64_t b = p->start[j]; b < p->start[j + 1]; b++)
                if (p->colour[p->neighbour[b]] >= 0) taken[p->colour[p->neighbour[b]]] = i;
        }
        int32_t colour = 0;
        while (taken[colour] == i) colour++;
        p->colour[i] = colour;
        if (colour >= p->colours) p->colours = colour + 1;
    }
}

static tw_status find_graph(tw_probing *p)
{
    int64_t n = p->particles->free_count;
    p->target = TW_NEW_ARRAY(stored_blocks(p), int64_t);
    p->start = tw_allocate_zeroed((size_t)n + 1, sizeof(int64_t));
    p->neighbour = TW_NEW_ARRAY(2 * stored_blocks(p), int32_t);
    p->colour = TW_NEW_ARRAY(n, int32_t);
    p->in = TW_NEW_ARRAY(3 * n, double);
    p->out = TW_NEW_ARRAY(3 * TW_MAX_BLOCK * n, double);
    int64_t *taken = TW_NEW_ARRAY(n, int64_t);
    bool all = p->target && p->start && p->neighbour && p->colour && p->in && p->out && taken;
    if (all) list_neighbours(p);
    if (all) choose_colours(p, taken);
    tw_release(taken);
    return all ? TW_OK : TW_OUT_OF_MEMORY;
}

tw_status tw_probing_create(tw_probing *probing, const tw_particles *particles, int64_t pair_count,
                            const int32_t *pairs)
{
    *probing = (tw_probing){.particles = particles};
    tw_pattern pattern = {.rows = particles->free_count};
    for (int64_t i = 0; i < pair_count; i++) {
        int32_t a = particles->unknown[pairs[2 * i]], b = particles->unknown[pairs[2 * i + 1]];
        if (a >= 0 && b >= 0) tw_pattern_add(&pattern, a, b);
    }
    tw_status status = tw_pattern_finish(&pattern, &probing->matrix, NULL);
    return status == TW_OK ? find_graph(probing) : status;
}

void tw_probing_add_pattern(const tw_probing *probing, tw_pattern *pattern)
{
    const int64_t *start = tw_sparse_row_start(probing->matrix);
    const int32_t *column = tw_sparse_column(probing->matrix);
    for (int32_t r = 0; r < probing->particles->free_count; r++)
        for (int64_t b = start[r]; b < start[r + 1]; b++) tw_pattern_add(pattern, r, column[b]);
}

void tw_probing_locate(tw_probing *probing, const tw_sparse *matrix)
{
    const int64_t *start = tw_sparse_row_start(probing->matrix);
    const int32_t *column = tw_sparse_column(probing->matrix);
    for (int64_t r = 0; r < probing->particles->free_count; r++)
        for (int64_t b = start[r]; b < start[r + 1]; b++)
            probing->target[b] = tw_sparse_find(matrix, r, column[b]);
}

/* Half of A_ij's column k into the stored block of i and j, as it is and transposed where it belongs: the symmetric
 * part, once both (i, j) and (j, i) have come. */
static void add_column(tw_probing *p, int32_t i, int32_t j, int k, const double image[3])
{
    double *block =
        tw_sparse_values(p->matrix) + 9 * tw_sparse_find(p->matrix, i < j ? i : j, i < j ? j : i);
    for (int r = 0; r < 3; r++) {
        if (i <= j) block[3 * k + r] += 0.5 * image[r];
        if (i >= j) block[3 * r + k] += 0.5 * image[r];
    }
}

tw_status tw_probing_fill(tw_probing *p, tw_probe_function *product, void *context)
{
    int64_t n = p->particles->free_count;
    tw_vector_fill(9 * stored_blocks(p), 0.0, tw_sparse_values(p->matrix));
    for (int c = 0; c < 3 * p->colours; c++) {
        for (int64_t i = 0; i < 3 * n; i++)
            p->in[i] = p->colour[i / 3] == c / 3 && i % 3 == c % 3 ? 1.0 : 0.0;
        tw_status status = product(context, p->in, p->out);
        if (status != TW_OK) return status;
        for (int32_t j = 0; j < n; j++)
            for (int64_t a = p->start[j]; a < p->start[j + 1] && p->colour[j] == c / 3; a++)
                add_column(p, p->neighbour[a], j, c % 3, p->out + 3 * (int64_t)p->neighbour[a]);
    }
    return TW_OK;
}

void tw_probing_add_product(tw_probing *p, int count, const double *in, double *out)
{
    if (tw_sparse_apply(p->matrix, count, in, p->out) == TW_OK)
        tw_vector_axpy(3 * p->particles->free_count * count, 1.0, p->out, out);
}

void tw_probing_add_tangent(const tw_probing *p, tw_sparse *matrix)
{
    const double *from = tw_sparse_values_const(p->matrix);
    double *values = tw_sparse_values(matrix);
    for (int64_t b = 0; b < stored_blocks(p); b++)
        for (int k = 0; k < 9; k++) values[9 * p->target[b] + k] += from[9 * b + k];
}
