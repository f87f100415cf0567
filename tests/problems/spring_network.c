#include "problems/spring_network.h"

#include <math.h>
#include <stdlib.h>

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
    return s->from >= 0 && s->to >= 0 && s->from < input->particle_count && s->to < input->particle_count &&
           s->from != s->to && s->stiffness >= 0 && s->rest_length > 0;
}

static tw_status copy_springs(spring_network *network, const network_input *input)
{
    for (int64_t s = 0; s < input->spring_count; s++) {
        const spring *given = &input->springs[s];
        if (!spring_is_valid(input, given)) return TW_INVALID_ARGUMENT;
        network->from[s] = (int32_t)network->unknown_of[given->from];
        network->to[s] = (int32_t)network->unknown_of[given->to];
        network->stiffness[s] = given->stiffness;
        network->rest_length[s] = given->rest_length;
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
        if (network->from[s] < n) start[network->from[s] + 1]++;
        if (network->to[s] < n) start[network->to[s] + 1]++;
    }
    for (int64_t i = 0; i < n; i++) start[i + 1] += start[i];
    int64_t total = start[n];
    for (int64_t s = network->spring_count - 1; s >= 0; s--) {
        int32_t from = network->from[s], to = network->to[s];
        /* start[i + 1] runs backwards from the end of list i to its beginning, which is start[i]'s final value. */
        if (from < n) network->ends[--start[from + 1]] = (spring_end){(int32_t)s, to, 1};
        if (to < n) network->ends[--start[to + 1]] = (spring_end){(int32_t)s, from, -1};
    }
    for (int64_t i = 0; i < n; i++) start[i] = start[i + 1];
    start[n] = total;
    for (int64_t i = 0; i < n; i++)
        qsort(network->ends + start[i], (size_t)(start[i + 1] - start[i]), sizeof(spring_end), by_other);
}

static bool allocate_arrays(spring_network *network)
{
    size_t particles = (size_t)network->particle_count, springs = (size_t)network->spring_count;
    size_t unknowns = 3 * (size_t)network->free_count;
    network->unknown_of = calloc(particles + 1, sizeof(int64_t));
    network->masses = calloc(unknowns + 1, sizeof(double));
    network->initial = calloc(unknowns + 1, sizeof(double));
    network->from = calloc(springs + 1, sizeof(int32_t));
    network->to = calloc(springs + 1, sizeof(int32_t));
    network->stiffness = calloc(springs + 1, sizeof(double));
    network->rest_length = calloc(springs + 1, sizeof(double));
    network->pulls = calloc(4 * springs + 1, sizeof(double));
    network->tangents = calloc(5 * springs + 1, sizeof(double));
    network->padded = calloc(4 * particles + 1, sizeof(double));
    network->end_start = calloc((size_t)network->free_count + 1, sizeof(int64_t));
    network->ends = calloc(2 * springs + 1, sizeof(spring_end));
    return network->unknown_of && network->masses && network->initial && network->from && network->to &&
           network->stiffness && network->rest_length && network->pulls && network->tangents && network->padded &&
           network->end_start && network->ends;
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
    *out = network;
    return TW_OK;
}

void spring_network_free(spring_network *network)
{
    if (!network) return;
    free(network->unknown_of);
    free(network->masses);
    free(network->initial);
    free(network->from);
    free(network->to);
    free(network->stiffness);
    free(network->rest_length);
    free(network->pulls);
    free(network->tangents);
    free(network->padded);
    free(network->end_start);
    free(network->ends);
    free(network);
}
