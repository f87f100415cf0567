#include "problems/spring_network.h"

#include <stdlib.h>

#include "base/parallel_for.h"

static void number_particles(spring_network *network, const network_input *input)
{
    int64_t next_free = 0, next_pinned = network->free_count;
    for (int64_t i = 0; i < input->particle_count; i++) {
        int64_t own = input->pinned[i] ? next_pinned++ : next_free++;
        network->unknown_of[i] = own;
        for (int c = 0; c < 3; c++) network->padded[4 * own + c] = input->positions[3 * i + c];
        if (input->pinned[i]) continue;
        for (int c = 0; c < 3; c++) {
            network->masses[3 * own + c] = input->masses[i];
            network->initial[3 * own + c] = input->positions[3 * i + c];
        }
    }
}

static bool spring_is_valid(const network_input *input, const spring *s)
{
    return s->from >= 0 && s->to >= 0 && s->from < input->particle_count &&
           s->to < input->particle_count && s->from != s->to && s->stiffness >= 0 &&
           s->rest_length > 0;
}

static tw_status copy_springs(spring_network *network, const network_input *input)
{
    for (int64_t s = 0; s < input->spring_count; s++) {
        const spring *given = &input->springs[s];
        if (!spring_is_valid(input, given)) return TW_INVALID_ARGUMENT;
        network->springs[s] = (block_spring){(int32_t)network->unknown_of[given->from],
                                             (int32_t)network->unknown_of[given->to],
                                             given->stiffness, given->rest_length};
    }
    return TW_OK;
}

static int by_other(const void *left, const void *right)
{
    const spring_end *a = left, *b = right;
    if (a->other != b->other) return a->other < b->other ? -1 : 1;
    return (a->spring > b->spring) - (a->spring < b->spring);
}

/* Lists the springs at every free particle (counting sort, then each list by the other end). */
static void list_ends(spring_network *network)
{
    int64_t n = network->free_count, *start = network->end_start;
    for (int64_t s = 0; s < network->spring_count; s++) {
        if (network->springs[s].from < n) start[network->springs[s].from + 1]++;
        if (network->springs[s].to < n) start[network->springs[s].to + 1]++;
    }
    for (int64_t i = 0; i < n; i++) start[i + 1] += start[i];
    int64_t total = start[n];
    for (int64_t s = 0; s < network->spring_count; s++) {
        int32_t from = network->springs[s].from, to = network->springs[s].to;
        /* start[i + 1] runs from the end of list i to its beginning, which start[i] must become. */
        if (from < n) network->ends[--start[from + 1]] = (spring_end){(int32_t)s, to};
        if (to < n) network->ends[--start[to + 1]] = (spring_end){(int32_t)s, from};
    }
    for (int64_t i = 0; i < n; i++) start[i] = start[i + 1];
    start[n] = total;
    for (int64_t i = 0; i < n; i++)
        qsort(network->ends + start[i], (size_t)(start[i + 1] - start[i]), sizeof(spring_end),
              by_other);
}

static int by_offset(const void *left, const void *right)
{
    const block_spring *a = left, *b = right;
    int32_t offset_a = a->to - a->from, offset_b = b->to - b->from;
    if (offset_a != offset_b) return offset_a < offset_b ? -1 : 1;
    return (a->from > b->from) - (a->from < b->from);
}

/* The blocks of a spring's free ends; returns how many (0, 1 or 2) they are. */
static int blocks_of(const spring_network *network, const block_spring *s, int64_t blocks[2])
{
    int count = 0;
    if (s->from < network->free_count) blocks[count++] = s->from / NETWORK_BLOCK;
    if (s->to < network->free_count && (count == 0 || s->to / NETWORK_BLOCK != blocks[0]))
        blocks[count++] = s->to / NETWORK_BLOCK;
    return count;
}

static void list_blocks(spring_network *network)
{
    int64_t block_count = tw_parallel_blocks(network->free_count, NETWORK_BLOCK),
            *start = network->block_start;
    int64_t blocks[2];
    for (int64_t s = 0; s < network->spring_count; s++)
        for (int b = blocks_of(network, &network->springs[s], blocks); b-- > 0;)
            start[blocks[b] + 1]++;
    for (int64_t b = 0; b < block_count; b++) start[b + 1] += start[b];
    int64_t total = start[block_count];
    for (int64_t s = 0; s < network->spring_count; s++)
        for (int b = blocks_of(network, &network->springs[s], blocks); b-- > 0;)
            network->block_springs[--start[blocks[b] + 1]] = network->springs[s];
    for (int64_t b = 0; b < block_count; b++) start[b] = start[b + 1];
    start[block_count] = total;
    for (int64_t b = 0; b < block_count; b++)
        qsort(network->block_springs + start[b], (size_t)(start[b + 1] - start[b]),
              sizeof(block_spring), by_offset);
}

static bool allocate_arrays(spring_network *network)
{
    size_t particles = (size_t)network->particle_count, springs = (size_t)network->spring_count;
    size_t unknowns = 3 * (size_t)network->free_count;
    network->unknown_of = calloc(particles + 1, sizeof(int64_t));
    network->masses = calloc(unknowns + 1, sizeof(double));
    network->initial = calloc(unknowns + 1, sizeof(double));
    network->springs = calloc(springs + 1, sizeof(block_spring));
    network->tangents = calloc(5 * springs + 1, sizeof(double));
    network->padded = calloc(4 * particles + 1, sizeof(double));
    network->end_start = calloc((size_t)network->free_count + 1, sizeof(int64_t));
    network->ends = calloc(2 * springs + 1, sizeof(spring_end));
    network->block_start = calloc((size_t)network->free_count / NETWORK_BLOCK + 2, sizeof(int64_t));
    network->block_springs = calloc(2 * springs + 1, sizeof(block_spring));
    return network->unknown_of && network->masses && network->initial && network->springs &&
           network->tangents && network->padded && network->end_start && network->ends &&
           network->block_start && network->block_springs;
}

tw_status spring_network_create(const network_input *input, spring_network **out)
{
    *out = NULL;
    spring_network *network = calloc(1, sizeof *network);
    if (!network) return TW_OUT_OF_MEMORY;
    network->particle_count = input->particle_count;
    network->spring_count = input->spring_count;
    for (int64_t i = 0; i < input->particle_count; i++) network->free_count += !input->pinned[i];
    for (int c = 0; c < 3; c++) network->field[c] = input->field[c];
    tw_status status = allocate_arrays(network) ? TW_OK : TW_OUT_OF_MEMORY;
    if (status == TW_OK) {
        number_particles(network, input);
        status = copy_springs(network, input);
    }
    if (status) {
        spring_network_free(network);
        return status;
    }
    list_ends(network);
    list_blocks(network);
    *out = network;
    return TW_OK;
}

void spring_network_free(spring_network *network)
{
    if (!network) return;
    free(network->unknown_of);
    free(network->masses);
    free(network->initial);
    free(network->springs);
    free(network->tangents);
    free(network->padded);
    free(network->end_start);
    free(network->ends);
    free(network->block_start);
    free(network->block_springs);
    free(network);
}
