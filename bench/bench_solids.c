/* What solids and girder networks cost: energy, force, linearisation with the matrix, and product, per element.
 *
 *   bench_solids [RUNS]
 *
 * One thread, processor time, the best of RUNS (default 20), in a strained box of some 18,000 nodes. */
#define _GNU_SOURCE /* clock_gettime */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <twang/twang.h>

#include "support/box_solid.h"
#include "support/random.h"
#include "support/sparse_cases.h"

typedef struct bench {
    const tw_second_order_problem *p;
    const double *in;
    double *x, *out;
} bench;

typedef void action(bench *b);

static void energy(bench *b)
{
    double kinetic, potential;
    b->p->energy(b->p->context, 0, b->x, b->in, &kinetic, &potential);
}

static void force(bench *b)
{
    b->p->acceleration(b->p->context, 0, b->x, b->in, b->out);
}

static void linearise(bench *b)
{
    b->p->linearise(b->p->context, 0, b->x, b->in);
    b->p->assemble(b->p->context, b->p->stiffness_matrix);
}

static void product(bench *b)
{
    b->p->apply_stiffness(b->p->context, 1, b->in, b->out);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Nanoseconds per element. */
static double measure(action *act, int runs, int64_t elements, bench *b)
{
    double best = INFINITY;
    for (int run = 0; run < runs; run++) {
        double begin = seconds();
        act(b);
        best = fmin(best, seconds() - begin);
    }
    return 1e9 * best / (double)elements;
}

static void measure_all(const char *title, tw_simulation *simulation, int64_t elements, int runs)
{
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    int64_t n = p->space.local_size;
    test_random random = {.state = 1};
    double *in = test_random_vector(&random, n), *x = test_random_vector(&random, n);
    bench b = {.p = p, .in = in, .x = x, .out = test_random_vector(&random, n)};
    for (int64_t i = 0; i < n; i++) x[i] = tw_simulation_start(simulation)[i] + 0.003 * x[i];
    double costs[4] = {measure(energy, runs, elements, &b), measure(force, runs, elements, &b),
                       measure(linearise, runs, elements, &b),
                       measure(product, runs, elements, &b)};
    printf("%-24s %8lld %10.0f %10.0f %10.0f %10.1f\n", title, (long long)elements, costs[0],
           costs[1], costs[2], costs[3]);
    free(in);
    free(x);
    free(b.out);
    tw_simulation_free(simulation);
}

static void measure_solids(int nodes, int runs)
{
    static const char *const names[] = {"linear", "co-rotational", "neo-Hookean"};
    int fine = nodes == 4 ? 2 : 1;
    box_solid box = box_solid_make(&(box_shape){.cells = {20 * fine, 10 * fine, 10 * fine},
                                                .size = {2, 1, 1},
                                                .nodes = nodes,
                                                .jitter = 0.2});
    for (int law = 0; law < 3; law++) {
        tw_solid_material material = tw_solid_material_default();
        material.law = (tw_solid_law)law;
        char title[40];
        snprintf(title, sizeof title, "%s, %d nodes", names[law], nodes);
        measure_all(title, box_solid_simulation(&box, 0, &material), box.count, runs);
    }
    box_solid_free(&box);
}

static void measure_network(int runs)
{
    box_solid box = box_solid_make(
        &(box_shape){.cells = {40, 20, 20}, .size = {2, 1, 1}, .nodes = 4, .jitter = 0.2});
    int64_t *ten = test_allocate(10 * (size_t)box.count, sizeof *ten), girders = 0;
    int64_t *ends = test_allocate(12 * (size_t)box.count, sizeof *ends);
    tw_model *model = NULL;
    tw_simulation *simulation = NULL;
    tw_solid_quadratic(box.vertices, box.count, box.elements, ten, ends, &girders, NULL);
    double *axial = test_allocate((size_t)girders, sizeof *axial);
    for (int64_t e = 0; e < girders; e++) axial[e] = 1e4;
    tw_model_create(&model, NULL);
    tw_model_add_particles(model, box.vertices, box.positions, NULL, box.masses, NULL, NULL);
    tw_model_add_warped_network(model, girders, ends, axial, NULL, NULL, NULL);
    if (tw_simulation_of_model(model, &simulation, NULL) != TW_OK) exit(1);
    measure_all("warped girders", simulation, girders, runs);
    free(ten);
    free(ends);
    free(axial);
    box_solid_free(&box);
}

int main(int argc, char **argv)
{
    int runs = argc > 1 ? atoi(argv[1]) : 20;
    tw_set_threads(1);
    printf("%-24s %8s %10s %10s %10s %10s\n", "ns per element", "elements", "energy", "force",
           "linearise", "product");
    measure_solids(4, runs);
    measure_solids(10, runs);
    measure_network(runs);
    return 0;
}
