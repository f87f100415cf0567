/* Explicit schemes against the plain loop of bench/plain, on a scene of springs and gravity.
 *
 *   bench_explicit SCENE.yaml [STEPS [ROUNDS]]
 *
 * The contestants take turns: the plain loop, then verlet and rk4 with one and with two threads, STEPS steps each,
 * ROUNDS times. The table gives the median of the seconds per step and its ratio to the plain loop of the same scheme:
 * seconds of the processor for one thread, seconds of the clock for two. Both have to end at the same state. */
#define _GNU_SOURCE /* clock_gettime */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <twang/twang.h>

#include "model/model_internal.h"
#include "model/simulation.h"
#include "model/springs.h"
#include "plain/plain_springs.h"

enum { MOST_ROUNDS = 99, CONTESTANTS = 6 };

/* Share of the limit of stability at which verlet steps. */
static const double SHARE = 0.5;

typedef struct race {
    tw_simulation *simulation;
    tw_model *model;
    plain_system plain;
    double *start; /* positions, then velocities, of all particles */
    double *work;  /* of plain_rk4 */
    long steps;
    double h;
    double *reached; /* state at which the plain loop ended */
} race;

static void check(tw_status status, const tw_error *error)
{
    if (status == TW_OK) return;
    fprintf(stderr, "bench_explicit: %s\n", error->text[0] ? error->text : tw_status_text(status));
    exit(1);
}

static void *room(size_t count, size_t size)
{
    void *p = calloc(count > 0 ? count : 1, size);
    if (!p) exit(1);
    return p;
}

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the plain loop ---- */

/* A spring of the scene; the plain loop takes them in the order of their ends, as a program would make them. */
typedef struct spring {
    int ends[2];
    double stiffness;
    double rest_length;
} spring;

static int by_ends(const void *left, const void *right)
{
    const spring *a = left;
    const spring *b = right;
    if (a->ends[0] != b->ends[0]) return a->ends[0] < b->ends[0] ? -1 : 1;
    return (a->ends[1] > b->ends[1]) - (a->ends[1] < b->ends[1]);
}

/* Springs in one force of the model; 0 if it is of another kind. */
static long springs_of(const tw_force *force)
{
    bool are_springs = strcmp(force->table->name, "springs") == 0;
    return are_springs ? (long)((const tw_springs *)force->data)->count : 0;
}

static void take_springs(race *r)
{
    long count = 0;
    for (int i = 0; i < r->model->force_count; i++) count += springs_of(&r->model->forces[i]);
    spring *list = room((size_t)count, sizeof *list);

    long next = 0;
    for (int i = 0; i < r->model->force_count; i++) {
        const tw_springs *s = r->model->forces[i].data;
        for (long e = 0; e < springs_of(&r->model->forces[i]); e++)
            list[next++] = (spring){
                {s->corner[2 * e], s->corner[2 * e + 1]}, s->stiffness[e], s->rest_length[e]};
    }
    qsort(list, (size_t)count, sizeof *list, by_ends);

    int *ends = room(2 * (size_t)count, sizeof *ends);
    double *stiffness = room((size_t)count, sizeof *stiffness);
    double *rest_length = room((size_t)count, sizeof *rest_length);
    for (long e = 0; e < count; e++) {
        memcpy(ends + 2 * e, list[e].ends, sizeof list[e].ends);
        stiffness[e] = list[e].stiffness;
        rest_length[e] = list[e].rest_length;
    }
    free(list);
    r->plain.springs = count;
    r->plain.ends = ends;
    r->plain.stiffness = stiffness;
    r->plain.rest_length = rest_length;
}

static void take_particles(race *r)
{
    const tw_particles *p = &r->model->particles;
    size_t n = 3 * (size_t)p->count;
    double *mass = room((size_t)p->count, sizeof *mass);
    for (long i = 0; i < p->count; i++) mass[i] = p->pinned[i] ? 0.0 : p->mass[i];
    r->plain.particles = p->count;
    r->plain.mass = mass;
    r->plain.x = room(n, sizeof(double));
    r->plain.v = room(n, sizeof(double));
    r->plain.a = room(n, sizeof(double));
    r->work = room(5 * n, sizeof(double));
    r->start = room(2 * n, sizeof(double));
    r->reached = room(n, sizeof(double));
    memcpy(r->start, p->position, n * sizeof(double));
    memcpy(r->start + n, p->velocity, n * sizeof(double));
    memcpy(r->plain.gravity, r->model->gravity, sizeof r->plain.gravity);
}

/* Seconds of the processor for the steps of the plain loop. */
static double run_plain(race *r, tw_scheme scheme)
{
    size_t n = 3 * (size_t)r->plain.particles;
    memcpy(r->plain.x, r->start, n * sizeof(double));
    memcpy(r->plain.v, r->start + n, n * sizeof(double));
    plain_acceleration(&r->plain, r->plain.x, r->plain.a);

    double begin = now(CLOCK_PROCESS_CPUTIME_ID);
    if (scheme == TW_SCHEME_VERLET)
        plain_verlet(&r->plain, r->steps, r->h);
    else
        plain_rk4(&r->plain, r->steps, r->h, r->work);
    double seconds = now(CLOCK_PROCESS_CPUTIME_ID) - begin;
    memcpy(r->reached, r->plain.x, n * sizeof(double));
    return seconds;
}

/* ---- ours ---- */

/* Largest distance of a coordinate from where the plain loop ended. */
static double distance(const race *r, const double *u)
{
    const tw_particles *p = &r->model->particles;
    double most = 0;
    for (long i = 0; i < p->free_count; i++)
        for (int k = 0; k < 3; k++)
            most = fmax(most, fabs(u[3 * i + k] - r->reached[3 * (long)p->particle[i] + k]));
    return most;
}

static double run_ours(race *r, tw_scheme scheme, int threads)
{
    tw_error error = {0};
    tw_integrator *integrator = NULL;
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = scheme;
    options.step = r->h;
    tw_set_threads(threads);
    check(tw_simulation_integrator(r->simulation, &options, &integrator, &error), &error);

    /* One step outside the clock finds the first acceleration. */
    clockid_t clock = threads > 1 ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID;
    check(tw_integrator_advance(integrator, r->h, &error), &error);
    double begin = now(clock);
    check(tw_integrator_advance(integrator, (double)r->steps * r->h, &error), &error);
    double seconds = (now(clock) - begin) * (double)r->steps / (double)(r->steps - 1);

    double off = distance(r, tw_integrator_state_view(integrator));
    if (!(off < 1e-9)) {
        fprintf(stderr, "bench_explicit: %s is off by %g m\n", tw_scheme_name(scheme), off);
        exit(1);
    }
    tw_integrator_free(integrator);
    return seconds;
}

/* ---- the race ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, by_value);
    return values[count / 2];
}

static void race_all(race *r, int rounds)
{
    static const tw_scheme schemes[] = {TW_SCHEME_VERLET, TW_SCHEME_RK4};
    static double seconds[CONTESTANTS][MOST_ROUNDS];

    /* Contestant 3 s + t: scheme s; the plain loop, one thread, two threads. */
    for (int round = 0; round < rounds; round++)
        for (int s = 0; s < 2; s++) {
            seconds[3 * s][round] = run_plain(r, schemes[s]);
            for (int t = 1; t < 3; t++) seconds[3 * s + t][round] = run_ours(r, schemes[s], t);
        }

    printf("scheme,contestant,threads,us_per_step,ns_per_spring_and_force,ratio\n");
    for (int s = 0; s < 2; s++) {
        double plain = median(seconds[3 * s], rounds);
        for (int t = 0; t < 3; t++) {
            double own = median(seconds[3 * s + t], rounds);
            double forces = (s == 0 ? 1.0 : 4.0) * (double)r->steps * (double)r->plain.springs;
            printf("%s,%s,%d,%.1f,%.2f,%.3f\n", tw_scheme_name(schemes[s]),
                   t == 0 ? "plain loop" : "twang", t < 2 ? 1 : 2, 1e6 * own / (double)r->steps,
                   1e9 * own / forces, own / plain);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: bench_explicit SCENE.yaml [STEPS [ROUNDS]]\n");
        return 2;
    }
    race r = {.steps = argc > 2 ? atol(argv[2]) : 200};
    int rounds = argc > 3 ? atoi(argv[3]) : 9;
    if (r.steps < 2 || rounds < 1 || rounds > MOST_ROUNDS) return 2;

    tw_error error = {0};
    tw_scene *scene = NULL;
    check(tw_scene_load(argv[1], 0, NULL, &scene, &error), &error);
    check(tw_scene_build(scene, &r.simulation, &error), &error);
    r.model = r.simulation->context;
    take_springs(&r);
    take_particles(&r);

    tw_simulation_summary summary = tw_simulation_summarise(r.simulation);
    r.h = SHARE * 2.0 / summary.omega_bound;
    fprintf(stderr, "%s: %ld particles, %ld springs, %ld steps of %g s, %d rounds\n", argv[1],
            r.plain.particles, r.plain.springs, r.steps, r.h, rounds);
    race_all(&r, rounds);
    tw_simulation_free(r.simulation);
    tw_scene_free(scene);
    return 0;
}
