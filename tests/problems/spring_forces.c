/* Force, energy, tangent product of a spring network. */
#include <math.h>

#include "base/parallel_for.h"
#include "problems/spring_network.h"
#include "problems/spring_tangent.h"

enum { SPRING_BLOCK = 4096, PARTICLE_BLOCK = 1024, BATCH = 64 };

typedef struct network_job {
    spring_network *network;
    const double *in;
    double *out;
    int count;
} network_job;

static void place_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const network_job *job = context;
    double *padded = job->network->padded;
    for (int64_t i = begin; i < end; i++)
        for (int c = 0; c < 3; c++) padded[4 * i + c] = job->in[3 * i + c];
}

/* Copies the unknowns beside the pinned particles. */
static void place(spring_network *network, const double *x)
{
    tw_parallel_for(network->free_count, SPRING_BLOCK, place_body, &(network_job){.network = network, .in = x});
}

/* Pull of `count` springs from the first one on: k (1 - L/l) d acts on `from`. Loops over a batch and over padded
 * vectors of four so that the compiler vectorises each. */
static void pull_batch(spring_network *network, int64_t first, int count)
{
    double d[BATCH][4], factor[BATCH];
    const int32_t *from = network->from + first, *to = network->to + first;
    const double *stiffness = network->stiffness + first, *rest_length = network->rest_length + first;
    for (int s = 0; s < count; s++) {
        const double *near = network->padded + 4 * (int64_t)from[s], *far = network->padded + 4 * (int64_t)to[s];
        for (int c = 0; c < 4; c++) d[s][c] = far[c] - near[c];
    }
    for (int s = 0; s < count; s++) factor[s] = d[s][0] * d[s][0] + d[s][1] * d[s][1] + d[s][2] * d[s][2];
    for (int s = 0; s < count; s++) factor[s] = stiffness[s] * (1 - rest_length[s] / sqrt(factor[s]));
    double *pulls = network->pulls + 4 * first;
    for (int s = 0; s < count; s++)
        for (int c = 0; c < 4; c++) pulls[4 * s + c] = factor[s] * d[s][c];
}

static void pull_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const network_job *job = context;
    for (int64_t s = begin; s < end; s += BATCH) pull_batch(job->network, s, end - s < BATCH ? (int)(end - s) : BATCH);
}

static void gather_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const network_job *job = context;
    const spring_network *network = job->network;
    for (int64_t i = begin; i < end; i++) {
        double force[4] = {0};
        for (int64_t e = network->end_start[i]; e < network->end_start[i + 1]; e++) {
            const double *pull = network->pulls + 4 * (int64_t)network->ends[e].spring;
            for (int c = 0; c < 4; c++) force[c] += network->ends[e].sign * pull[c];
        }
        for (int c = 0; c < 3; c++) job->out[3 * i + c] = force[c] / network->masses[3 * i] + network->field[c];
    }
}

static void network_acceleration(void *context, const double *x, double *a)
{
    spring_network *network = context;
    network_job job = {.network = network, .out = a};
    place(network, x);
    tw_parallel_for(network->spring_count, SPRING_BLOCK, pull_body, &job);
    tw_parallel_for(network->free_count, PARTICLE_BLOCK, gather_body, &job);
}

static double network_potential(void *context, const double *x)
{
    spring_network *network = context;
    place(network, x);
    double elastic = 0, field = 0;
    for (int64_t s = 0; s < network->spring_count; s++) {
        const double *near = network->padded + 4 * (int64_t)network->from[s];
        const double *far = network->padded + 4 * (int64_t)network->to[s];
        double square = 0;
        for (int c = 0; c < 3; c++) square += (far[c] - near[c]) * (far[c] - near[c]);
        double stretch = sqrt(square) - network->rest_length[s];
        elastic += 0.5 * network->stiffness[s] * stretch * stretch;
    }
    for (int64_t i = 0; i < network->free_count; i++)
        for (int c = 0; c < 3; c++) field -= network->masses[3 * i] * network->field[c] * x[3 * i + c];
    return elastic + field;
}

/* K of one spring is B = k_perp I + (k_par - k_perp) n n^T with k_par = k, k_perp = k (1 - L/l). */
static void tangent_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const network_job *job = context;
    spring_network *network = job->network;
    for (int64_t s = begin; s < end; s++) {
        const double *near = network->padded + 4 * (int64_t)network->from[s];
        const double *far = network->padded + 4 * (int64_t)network->to[s];
        double d[3] = {far[0] - near[0], far[1] - near[1], far[2] - near[2]};
        double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        double across = network->stiffness[s] * (1 - network->rest_length[s] / length);
        double *tangent = network->tangents + 5 * s;
        for (int c = 0; c < 3; c++) tangent[c] = d[c] / length;
        tangent[3] = across;
        tangent[4] = network->stiffness[s] - across;
    }
}

static void network_linearise(void *context, const double *x)
{
    spring_network *network = context;
    place(network, x);
    tw_parallel_for(network->spring_count, SPRING_BLOCK, tangent_body, &(network_job){.network = network});
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

static void product_body(void *context, int64_t begin, int64_t end, int64_t block)
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
    tw_parallel_for(network->free_count, PARTICLE_BLOCK, product_body, &job);
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
                     .apply_stiffness = network_apply_stiffness,
                     .block = 3,
                     .pattern = spring_tangent_pattern,
                     .fill = spring_tangent_fill};
}
