#include "model/probing.h"

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/vector.h"

void tw_probing_free(tw_probing *probing)
{
    tw_sparse_free(probing->matrix);
    tw_colouring_free(&probing->graph);
    tw_release(probing->target);
    tw_release(probing->in);
    tw_release(probing->out);
    *probing = (tw_probing){0};
}

static int64_t stored_blocks(const tw_probing *p)
{
    return tw_sparse_row_start(p->matrix)[p->particles->free_count];
}

tw_status tw_probing_create(tw_probing *probing, const tw_particles *particles, int64_t pair_count,
                            const int32_t *pairs)
{
    *probing = (tw_probing){.particles = particles};

    /* The pattern has a block for every pair of free particles. */
    tw_pattern pattern = {.rows = particles->free_count};
    for (int64_t i = 0; i < pair_count; i++) {
        int32_t a = particles->unknown[pairs[2 * i]];
        int32_t b = particles->unknown[pairs[2 * i + 1]];
        if (a >= 0 && b >= 0) tw_pattern_add(&pattern, a, b);
    }
    TW_TRY(tw_pattern_finish(&pattern, &probing->matrix, NULL));

    /* Room for the products. */
    int64_t n = particles->free_count;
    probing->target = TW_NEW_ARRAY(stored_blocks(probing), int64_t);
    probing->in = TW_NEW_ARRAY(3 * n, double);
    probing->out = TW_NEW_ARRAY(3 * TW_MAX_BLOCK * n, double);
    if (!probing->target || !probing->in || !probing->out) return TW_OUT_OF_MEMORY;
    return tw_colouring_create(&probing->graph, probing->matrix);
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

/* Adds half of column k of the block A_ij to the stored block of i and j, as it is or
 * transposed. Once both A_ij and A_ji have come, the stored block is that of the
 * symmetric part (A + A^T) / 2. */
static void add_column(tw_probing *p, int32_t i, int32_t j, int k, const double image[3])
{
    int64_t stored = tw_pattern_find(p->matrix, i, j);
    double *block = tw_sparse_values(p->matrix) + 9 * stored;

    /* The stored block (i, j), i <= j, is column by column; A_ji is transposed. */
    for (int r = 0; r < 3; r++) {
        if (i <= j) block[3 * k + r] += 0.5 * image[r];
        if (i >= j) block[3 * r + k] += 0.5 * image[r];
    }
}

tw_status tw_probing_fill(tw_probing *p, tw_probe_function *product, void *context)
{
    int64_t n = p->particles->free_count;
    const tw_colouring *graph = &p->graph;

    tw_vector_fill(9 * stored_blocks(p), 0.0, tw_sparse_values(p->matrix));
    for (int c = 0; c < 3 * graph->colours; c++) {
        int colour = c / 3;
        int component = c % 3;

        /* in = sum of the unit vectors of this colour and component, out = A in. */
        for (int64_t i = 0; i < 3 * n; i++)
            p->in[i] = graph->colour[i / 3] == colour && i % 3 == component ? 1.0 : 0.0;
        TW_TRY(product(context, p->in, p->out));

        /* The rows of the neighbours of j hold the column of j alone. */
        for (int32_t j = 0; j < n; j++) {
            if (graph->colour[j] != colour) continue;
            for (int64_t a = graph->start[j]; a < graph->start[j + 1]; a++) {
                int32_t i = graph->neighbour[a];
                add_column(p, i, j, component, p->out + 3 * (int64_t)i);
            }
        }
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
