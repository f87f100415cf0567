/* Force, energy, tangent product of a spring network. */
#include <math.h>

#include "base/parallel_for.h"
#include "problems/spring_network.h"
#include "problems/spring_tangent.h"
#include "problems/spring_tension.h"

enum { SPRING_BLOCK = 4096, BATCH = 64 };

typedef struct network_job {
    spring_network *network;
    const double *in;
    double *out;
    int count;
} network_job;

void spring_network_place(spring_network *network, const double *x)
{
    for (int64_t i = 0; i < network->free_count; i++)
        for (int c = 0; c < 3; c++) network->padded[4 * i + c] = x[3 * i + c];
}

/* Sum where a particle's force is gathered: its place in the block, or the bin behind it for particles elsewhere. */
static uint32_t place_in_block(int64_t particle, int64_t begin, int64_t end)
{
    uint32_t place = (uint32_t)(particle - begin), bin = (uint32_t)(end - begin);
    return place < bin ? place : bin;
}

/* Adds the pulls k (1 - L/l) d of up to BATCH springs to the sums of a block. Loops over the batch and over padded
 * vectors of four, so that the compiler vectorises each. */
static void pull_batch(const double *restrict padded, const block_spring *restrict springs,
                       int count, int64_t begin, int64_t end, double (*restrict sums)[4])
{
    double d[BATCH][4], factor[BATCH];
    for (int s = 0; s < count; s++) {
        const double *near = padded + 4 * (int64_t)springs[s].from,
                     *far = padded + 4 * (int64_t)springs[s].to;
        for (int c = 0; c < 4; c++) d[s][c] = far[c] - near[c];
    }
    for (int s = 0; s < count; s++)
        factor[s] = d[s][0] * d[s][0] + d[s][1] * d[s][1] + d[s][2] * d[s][2];
    for (int s = 0; s < count; s++)
        factor[s] = springs[s].stiffness * (1 - springs[s].rest_length / sqrt(factor[s]));
    for (int s = 0; s < count; s++) {
        uint32_t near = place_in_block(springs[s].from, begin, end),
                 far = place_in_block(springs[s].to, begin, end);
        double pull[4];
        for (int c = 0; c < 4; c++) pull[c] = factor[s] * d[s][c];
        for (int c = 0; c < 4; c++) sums[near][c] += pull[c];
        for (int c = 0; c < 4; c++) sums[far][c] -= pull[c];
    }
}

static void acceleration_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    const network_job *job = context;
    const spring_network *network = job->network;
    double sums[NETWORK_BLOCK + 1][4] = {{0}};
    int64_t last = network->block_start[block + 1];
    for (int64_t s = network->block_start[block]; s < last; s += BATCH)
        pull_batch(network->padded, network->block_springs + s,
                   last - s < BATCH ? (int)(last - s) : BATCH, begin, end, sums);
    for (int64_t i = begin; i < end; i++)
        for (int c = 0; c < 3; c++)
            job->out[3 * i + c] = sums[i - begin][c] / network->masses[3 * i] + network->field[c];
}

static void network_acceleration(void *context, const double *x, double *a)
{
    spring_network *network = context;
    spring_network_place(network, x);
    tw_parallel_for(network->free_count, NETWORK_BLOCK, acceleration_block,
                    &(network_job){.network = network, .out = a});
}

static double network_potential(void *context, const double *x)
{
    spring_network *network = context;
    spring_network_place(network, x);
    double elastic = 0, field = 0;
    for (int64_t s = 0; s < network->spring_count; s++) {
        const block_spring *own = &network->springs[s];
        const double *near = network->padded + 4 * (int64_t)own->from,
                     *far = network->padded + 4 * (int64_t)own->to;
        double square = 0;
        for (int c = 0; c < 3; c++) square += (far[c] - near[c]) * (far[c] - near[c]);
        double stretch = sqrt(square) - own->rest_length;
        elastic += 0.5 * own->stiffness * stretch * stretch;
    }
    for (int64_t i = 0; i < network->free_count; i++)
        for (int c = 0; c < 3; c++)
            field -= network->masses[3 * i] * network->field[c] * x[3 * i + c];
    return elastic + field;
}

/* K of one spring is B = k_perp I + (k_par - k_perp) n n^T with k_par = k, k_perp = k (1 - L/l). */
static void tangent_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const network_job *job = context;
    spring_network *network = job->network;
    for (int64_t s = begin; s < end; s++) {
        const block_spring *own = &network->springs[s];
        const double *near = network->padded + 4 * (int64_t)own->from,
                     *far = network->padded + 4 * (int64_t)own->to;
        double d[3] = {far[0] - near[0], far[1] - near[1], far[2] - near[2]};
        double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        double across = own->stiffness * (1 - own->rest_length / length);
        double *tangent = network->tangents + 5 * s;
        for (int c = 0; c < 3; c++) tangent[c] = d[c] / length;
        tangent[3] = across;
        tangent[4] = own->stiffness - across;
    }
}

static void network_linearise(void *context, const double *x)
{
    spring_network *network = context;
    spring_network_place(network, x);
    tw_parallel_for(network->spring_count, SPRING_BLOCK, tangent_block,
                    &(network_job){.network = network});
}

/* (K x)_i = sum over springs at i of B (x_i - x_other); pinned particles do not move. */
static void product_row(const spring_network *network, const double *x, int64_t i, double *y)
{
    double sum[3] = {0};
    for (int64_t e = network->end_start[i]; e < network->end_start[i + 1]; e++) {
        const spring_end *at = &network->ends[e];
        const double *tangent = network->tangents + 5 * (int64_t)at->spring;
        double d[3] = {x[3 * i], x[3 * i + 1], x[3 * i + 2]};
        if (at->other < network->free_count)
            for (int c = 0; c < 3; c++) d[c] -= x[3 * (int64_t)at->other + c];
        double along = tangent[4] * (tangent[0] * d[0] + tangent[1] * d[1] + tangent[2] * d[2]);
        for (int c = 0; c < 3; c++) sum[c] += tangent[3] * d[c] + along * tangent[c];
    }
    for (int c = 0; c < 3; c++) y[3 * i + c] = sum[c];
}

static void product_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const network_job *job = context;
    int64_t size = 3 * job->network->free_count;
    for (int column = 0; column < job->count; column++)
        for (int64_t i = begin; i < end; i++)
            product_row(job->network, job->in + column * size, i, job->out + column * size);
}

static tw_status network_apply_stiffness(void *context, int count, const double *in, double *out)
{
    spring_network *network = context;
    network_job job = {.network = network, .in = in, .out = out, .count = count};
    tw_parallel_for(network->free_count, NETWORK_BLOCK, product_block, &job);
    return TW_OK;
}

problem spring_network_problem(spring_network *network)
{
    return (problem){.size = 3 * network->free_count,
                     .lumped_mass = network->masses,
                     .context = network,
                     .acceleration = network_acceleration,
                     .potential = network_potential,
                     .linearise = network_linearise,
                     .tension_count = network->spring_count,
                     .linearise_tension = spring_tension_linearise,
                     .predict_tension = spring_tension_predict,
                     .apply_stiffness = network_apply_stiffness,
                     .block = 3,
                     .pattern = spring_tangent_pattern,
                     .fill = spring_tangent_fill};
}
