#include "problems/spring_tangent.h"

#include <stdlib.h>
#include <string.h>

#include "base/parallel_for.h"
#include "problems/spring_network.h"

/* Writes the ascending columns of block row i (unless `column` is NULL) and returns how many they are. */
static int64_t row_columns(const spring_network *network, tw_sparse_storage storage, int64_t i,
                           int64_t *column)
{
    int64_t count = 0, last = -1;
    bool diagonal_done = false;
    for (int64_t e = network->end_start[i]; e <= network->end_start[i + 1]; e++) {
        bool past = e == network->end_start[i + 1];
        int64_t other = past ? INT64_MAX : network->ends[e].other;
        if (!diagonal_done && other > i) {
            if (column) column[count] = i;
            count++;
            diagonal_done = true;
        }
        if (other >= network->free_count) continue; /* pinned, or past the list */
        if (other == last || (storage == TW_STORE_UPPER && other < i)) continue;
        if (column) column[count] = other;
        count++;
        last = other;
    }
    return count;
}

tw_status spring_tangent_pattern(const void *context, tw_sparse_storage storage,
                                 int64_t **row_start, int64_t **column)
{
    const spring_network *network = context;
    int64_t n = network->free_count;
    *column = NULL;
    *row_start = calloc((size_t)n + 1, sizeof **row_start);
    if (!*row_start) return TW_OUT_OF_MEMORY;
    for (int64_t i = 0; i < n; i++)
        (*row_start)[i + 1] = (*row_start)[i] + row_columns(network, storage, i, NULL);
    *column = malloc((size_t)((*row_start)[n] + 1) * sizeof **column);
    if (!*column) {
        free(*row_start);
        return TW_OUT_OF_MEMORY;
    }
    for (int64_t i = 0; i < n; i++) row_columns(network, storage, i, *column + (*row_start)[i]);
    return TW_OK;
}

typedef struct fill_job {
    const spring_network *network;
    tw_sparse_storage storage;
    const int64_t *row_start;
    const int32_t *column;
    double *values;
} fill_job;

/* block += sign * (k_perp I + (k_par - k_perp) n n^T) */
static void add_block(const double *tangent, double sign, double *block)
{
    for (int c = 0; c < 3; c++)
        for (int r = 0; r < 3; r++)
            block[3 * c + r] +=
                sign * ((r == c ? tangent[3] : 0.0) + tangent[4] * tangent[r] * tangent[c]);
}

static void fill_row(const fill_job *job, int64_t i)
{
    const spring_network *network = job->network;
    int64_t begin = job->row_start[i], end = job->row_start[i + 1], diagonal = begin, at = begin;
    memset(job->values + 9 * begin, 0, 9 * (size_t)(end - begin) * sizeof(double));
    while (job->column[diagonal] != i) diagonal++;
    for (int64_t e = network->end_start[i]; e < network->end_start[i + 1]; e++) {
        const spring_end *seen = &network->ends[e];
        const double *tangent = network->tangents + 5 * (int64_t)seen->spring;
        add_block(tangent, 1, job->values + 9 * diagonal);
        if (seen->other >= network->free_count ||
            (job->storage == TW_STORE_UPPER && seen->other < i))
            continue;
        while (job->column[at] != seen->other) at++; /* both lists ascend */
        add_block(tangent, -1, job->values + 9 * at);
    }
}

static void fill_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    for (int64_t i = begin; i < end; i++) fill_row(context, i);
}

void spring_tangent_fill(const void *context, tw_sparse_storage storage, const int64_t *row_start,
                         const int32_t *column, double *values)
{
    fill_job job = {context, storage, row_start, column, values};
    tw_parallel_for(job.network->free_count, 512, fill_block, &job);
}
