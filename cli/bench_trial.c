/* One integration of a benchmark: from the start to the end, with its costs and its energies. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

enum {
    BODY_COLUMNS = 6, /* of a row of bodies: position and velocity */
    LOOKS = 200       /* at the energy, over the whole run: they must not slow down a scheme */
};

/* What is observed while it goes on. */
typedef struct watch {
    tw_simulation *simulation;
    double begin;   /* of bench_clock [s] */
    double looking; /* seconds that the looks at the energy took: they are no cost of the scheme */
    double limit;   /* [s] */
    double end;     /* of the simulation [s] */
    int64_t steps;
    int64_t every; /* steps from one look to the next */
    tw_energy_balance balance;
} watch;

double bench_clock(void)
{
    return tw_threads() == 1 ? processor_seconds() : clock_seconds();
}

const char *bench_clock_name(void)
{
    return tw_threads() == 1 ? "processor" : "clock";
}

static tw_status watch_step(void *context, tw_integrator *integrator)
{
    watch *w = context;
    w->steps++;
    if (w->steps % w->every != 0 && w->steps > 1) return TW_OK;

    double begin = bench_clock();
    tw_measurement last;
    tw_status status = tw_energy_balance_add(&w->balance, w->simulation, integrator, &last, NULL);
    double now = bench_clock();
    w->looking += now - begin;
    if (status != TW_OK) return status;

    double t = 0;
    tw_integrator_state(integrator, &t, NULL);
    bool is_over = t < w->end && now - w->begin > w->limit;
    return is_over ? TW_BUDGET_EXHAUSTED : TW_OK;
}

/* Advances to the end, and notes costs and energies. */
static tw_status advance(const bench *b, trial *t, tw_integrator *integrator, tw_error *error)
{
    /* Power is integrated from step to step. Where there is none, some looks at the energy suffice. */
    watch w = {.simulation = b->simulation, .limit = b->limit, .end = b->duration, .every = 1};
    bool at_every_step = has_own_steps(t->who.scheme) ||
                         tw_integrator_energy_at_stage(integrator) ||
                         tw_energy_balance_has_power(b->simulation);
    if (!at_every_step && t->step < b->duration / LOOKS)
        w.every = (int64_t)(b->duration / t->step / LOOKS);
    tw_status status = tw_energy_balance_begin(&w.balance, b->simulation, integrator, NULL);
    if (status != TW_OK) return status;

    /* Time is taken from the first step to the last. */
    w.begin = bench_clock();
    tw_integrator_on_step(integrator, watch_step, &w);
    status = tw_integrator_advance(integrator, b->duration, error);
    t->seconds = bench_clock() - w.begin - w.looking;

    tw_integrator_state(integrator, &t->reached, NULL);
    t->energy_drift = tw_energy_balance_drift(&w.balance, b->simulation, integrator);
    t->counts = tw_integrator_statistics_now(integrator);
    return status;
}

void bench_integrate(bench *b, trial *t, double *rows)
{
    /* The options of the scene, but with this scheme and fixed steps. */
    tw_integrator_options options = b->options;
    options.scheme = t->who.scheme;
    options.step = t->step;
    options.relative_tolerance = 0;
    if (t->who.engine != TW_PHI_ENGINE_COUNT) options.phi.engine = t->who.engine;
    if (has_own_steps(t->who.scheme)) {
        options.step = 0;
        options.relative_tolerance = t->step;
    }

    /* Where an error is asked for, the reference judges, and no scheme pays for the energy guard. */
    if (b->wanted > 0) options.energy_gain_bound = 0;

    /* A scheme that cannot integrate the scene is reported like one that fails. */
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    t->why[0] = 0;
    t->status = tw_simulation_integrator(b->simulation, &options, &integrator, &error);
    if (t->status == TW_OK) t->status = advance(b, t, integrator, &error);
    if (t->status != TW_OK && t->status != TW_BUDGET_EXHAUSTED)
        snprintf(t->why, sizeof t->why, "%.*s", WHY_SIZE - 1, error.text);
    if (t->status == TW_OK)
        t->status = tw_simulation_rows(b->simulation, b->duration,
                                       tw_integrator_state_view(integrator), rows);
    t->memory = tw_memory_counts_now().current_bytes;
    tw_integrator_free(integrator);
}

/* Sum over all rows of the distance between their positions. */
static double distance(const bench *b, const double *table, const double *other)
{
    double sum = 0;
    for (int64_t i = 0; i < b->rows; i++) {
        double square = 0;
        for (int k = 0; k < b->coordinates; k++) {
            double d = table[b->columns * i + k] - other[b->columns * i + k];
            square += d * d;
        }
        sum += sqrt(square);
    }
    return sum;
}

double bench_distance(const bench *b, const double *table, const double *other)
{
    double off = distance(b, table, other);
    double moved = distance(b, other, b->start);
    return moved > 0 ? off / moved : off;
}

tw_status bench_prepare(bench *b, tw_error *error)
{
    tw_status status = tw_scene_build(b->scene, &b->simulation, error);
    if (status != TW_OK) return status;

    b->options = tw_scene_integrator_options(b->scene);
    b->duration = tw_scene_duration(b->scene);
    status = tw_simulation_frequency(b->simulation, FREQUENCY_ITERATIONS, &b->omega, NULL);
    if (status != TW_OK) b->omega = 0;

    /* Three tables: the start, the end of a trial, the end of the reference. */
    b->rows = tw_simulation_row_count(b->simulation);
    b->columns = tw_simulation_column_count(b->simulation);
    b->coordinates = b->columns >= BODY_COLUMNS ? 3 : 1;
    size_t size = (size_t)b->rows * (size_t)b->columns;
    b->start = malloc(3 * size * sizeof *b->start);
    if (!b->start) return TW_OUT_OF_MEMORY;
    b->end = b->start + size;
    b->reference.rows = b->end + size;
    return tw_simulation_rows(b->simulation, 0, tw_simulation_start(b->simulation), b->start);
}

void bench_release(bench *b)
{
    free(b->start);
    tw_simulation_free(b->simulation);
    tw_scene_free(b->scene);
}
