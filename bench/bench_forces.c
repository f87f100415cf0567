/* What springs cost: force, linearisation, product and assembly on the coil of 8,000 particles, per spring.
 *
 *   bench_forces [RUNS]
 *
 * One thread, processor time, the best of RUNS (default 200). The product with the assembled matrix stands beside. */
#define _GNU_SOURCE /* clock_gettime */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <twang/twang.h>

enum { SECTIONS = 500, PARTICLES = 16 * SECTIONS, MOST_SPRINGS = 7 * PARTICLES };

static double positions[3 * PARTICLES], masses[PARTICLES], stiffness[MOST_SPRINGS];
static int64_t ends[2 * MOST_SPRINGS], springs;

/* docs/scenes.md: a coil of 4 x 4 particles per section, six turns, Kuhn's tetrahedra. */
static void place(int64_t i)
{
    int64_t a = i % 4, b = i / 4 % 4, c = i / 16;
    double s = (double)c / (SECTIONS - 1), angle = 12 * 3.14159265358979323846 * s;
    double u = 0.3 * ((double)a / 3 - 0.5), w = 0.3 * ((double)b / 3 - 0.5);
    positions[3 * i] = (1 + u) * cos(angle);
    positions[3 * i + 1] = (1 + u) * sin(angle);
    positions[3 * i + 2] = 4 * s + w;
    masses[i] = 1;
    for (int d = 1; d < 8; d++)
        if (a + (d & 1) < 4 && b + (d >> 1 & 1) < 4 && c + (d >> 2) < SECTIONS) {
            ends[2 * springs] = i;
            ends[2 * springs + 1] = i + (d & 1) + 4 * (d >> 1 & 1) + 16 * (d >> 2);
            stiffness[springs++] = 1e6;
        }
}

static tw_simulation *coil(double alpha, double beta)
{
    tw_model *model = NULL;
    tw_simulation *simulation = NULL;
    springs = 0;
    for (int64_t i = 0; i < PARTICLES; i++) place(i);
    tw_model_create(&model, NULL);
    tw_model_add_particles(model, PARTICLES, positions, NULL, masses, NULL, NULL);
    tw_model_pin(model, 0, 63, NULL);
    tw_model_add_springs(model, springs, ends, stiffness, NULL, NULL);
    tw_model_set_rayleigh(model, alpha, beta, NULL);
    tw_simulation_of_model(model, &simulation, NULL);
    return simulation;
}

typedef struct bench {
    const tw_second_order_problem *p;
    const double *x, *v;
    double *in, *out;
    int count;
} bench;

typedef void action(bench *b);

static void force(bench *b)
{
    b->p->acceleration(b->p->context, 0, b->x, b->v, b->out);
}

static void linearise(bench *b)
{
    b->p->linearise(b->p->context, 0, b->x, b->v);
}

static void product(bench *b)
{
    b->p->apply_stiffness(b->p->context, b->count, b->in, b->out);
}

static void damping(bench *b)
{
    if (b->p->apply_damping) b->p->apply_damping(b->p->context, b->count, b->in, b->out);
}

static void linearise_and_assemble(bench *b)
{
    linearise(b);
    b->p->assemble(b->p->context, b->p->stiffness_matrix);
}

static void matrix_product(bench *b)
{
    tw_sparse_apply(b->p->stiffness_matrix, b->count, b->in, b->out);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void measure(const char *name, action *act, int count, int runs, bench *b)
{
    double best = INFINITY;
    b->count = count;
    for (int run = 0; run < runs; run++) {
        double begin = seconds();
        act(b);
        best = fmin(best, seconds() - begin);
    }
    printf("%-24s %d  %8.1f us  %6.2f ns per spring\n", name, count, 1e6 * best,
           1e9 * best / (double)springs);
}

static void measure_all(const char *title, tw_simulation *simulation, int runs)
{
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    int64_t n = p->space.local_size;
    bench b = {
        .p = p, .x = tw_simulation_start(simulation), .v = tw_simulation_start(simulation) + n};
    b.in = calloc(4 * (size_t)n, sizeof *b.in);
    b.out = calloc(4 * (size_t)n, sizeof *b.out);
    if (!b.in || !b.out) exit(1);
    for (int64_t i = 0; i < 4 * n; i++) b.in[i] = sin((double)i);
    printf("%s\n", title);
    measure("force", force, 1, runs, &b);
    measure("linearise", linearise, 1, runs, &b);
    measure("product", product, 1, runs, &b);
    measure("product", product, 2, runs, &b);
    measure("product", product, 4, runs, &b);
    if (p->apply_damping) measure("damping product", damping, 1, runs, &b);
    measure("linearise and assemble", linearise_and_assemble, 1, runs, &b);
    measure("product of the matrix", matrix_product, 1, runs, &b);
    measure("product of the matrix", matrix_product, 4, runs, &b);
    free(b.in);
    free(b.out);
    tw_simulation_free(simulation);
}

int main(int argc, char **argv)
{
    int runs = argc > 1 ? atoi(argv[1]) : 200;
    tw_set_threads(1);
    measure_all("springs", coil(0, 0), runs);
    measure_all("springs, Rayleigh damping", coil(0.1, 1e-4), runs);
    return 0;
}
