/* Where each integrator works and what it costs: the tables of docs/limits.md.
 *
 *   bench_limits rope [ENGINE]       error and cost on the rope, k = 1e4 ... 1e10; ENGINE of phi, default dense
 *   bench_limits duffing [PERIODS [SCHEME]]
 *                                    energy drift over PERIODS (default 1e5) of a Duffing oscillator, 20 steps each,
 *                                    of every scheme or of one
 *
 * $TWANG_SOURCE finds tests/reference. No seconds: everything is counted. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "problems/integrable.h"
#include "problems/oscillators.h"
#include "problems/position_update.h"
#include "problems/spring_network.h"
#include "problems/whole_run.h"
#include "support/reference_state.h"

enum { FREE = 10, UNKNOWNS = 3 * FREE, MAX_STEPS = 50000 /* of an adaptive run */ };
static const double duration = 0.4;

typedef struct rope {
    spring_network *network;
    problem plain;
    integrable table;
    double expected[UNKNOWNS]; /* positions at the end */
} rope;

static bool make_rope(int exponent, rope *out)
{
    double rows[FREE * 6];
    char name[64];
    snprintf(name, sizeof name, "rope_k%d_T0.4.txt", exponent);
    if (!reference_read(name, FREE, 6, rows))
        return fprintf(stderr, "bench_limits: no %s\n", name), false;
    for (int i = 0; i < UNKNOWNS; i++) out->expected[i] = rows[6 * (i / 3) + i % 3];
    if (rope_create(pow(10, exponent), &out->network)) return false;
    out->plain = spring_network_problem(out->network);
    return integrable_create(&out->plain, true, &out->table) == TW_OK;
}

static void rope_row(const rope *r, int exponent, tw_integrator_options options)
{
    double u[2 * UNKNOWNS] = {0};
    char step[32];
    memcpy(u, r->network->initial, sizeof(double) * UNKNOWNS);
    if (options.relative_tolerance > 0) options.max_steps = MAX_STEPS;
    whole_run run = run_whole(&r->table.table, &options, duration, false, u);
    if (run.status == TW_UNSUPPORTED) return; /* has no fixed, or no adaptive steps */
    if (options.relative_tolerance > 0)
        snprintf(step, sizeof step, "rtol %.0e", options.relative_tolerance);
    else
        snprintf(step, sizeof step, "%.3g", options.step);
    printf("| 1e%d | %s | %s | ", exponent, tw_scheme_name(options.scheme), step);
    if (run.status)
        printf("%s at t = %.2g", tw_status_name(run.status), run.t);
    else
        printf("%.1e", relative_difference(UNKNOWNS, u, r->expected));
    const tw_integrator_statistics *n = &run.counts;
    printf(" | %ld + %ld | %ld | %ld | %ld | %ld |\n", (long)n->steps, (long)n->rejected_steps,
           (long)n->force_evaluations, (long)n->stiffness_products, (long)n->factorisations,
           (long)n->solves);
    fflush(stdout);
}

static const tw_scheme rope_schemes[] = {
    TW_SCHEME_EXPMID2,  TW_SCHEME_EXPMID4,       TW_SCHEME_EXPRB42,  TW_SCHEME_PEXPRB43,
    TW_SCHEME_MIDPOINT, TW_SCHEME_NEWMARK,       TW_SCHEME_BDF1,     TW_SCHEME_GENERALIZED_ALPHA,
    TW_SCHEME_BDF2,     TW_SCHEME_SEMI_IMPLICIT, TW_SCHEME_GAUTSCHI, TW_SCHEME_V_IMEX,
    TW_SCHEME_RK4,      TW_SCHEME_VERLET,        TW_SCHEME_CVODE};

static int ropes(tw_phi_engine engine)
{
    static const double steps[] = {0.02, 0.005, 0.001};
    printf("| k | scheme | step | error | steps + rejected | forces | products | factorisations | "
           "solves |\n"
           "|---|---|---|---|---|---|---|---|---|\n");
    for (int exponent = 4; exponent <= 10; exponent += 2) {
        rope r;
        if (!make_rope(exponent, &r)) continue; /* said on stderr */
        for (size_t s = 0; s < sizeof rope_schemes / sizeof *rope_schemes; s++) {
            tw_integrator_options options = tw_integrator_options_default();
            options.scheme = rope_schemes[s];
            options.phi.engine = engine;
            for (int h = 0; h < 3 && options.scheme != TW_SCHEME_CVODE; h++) {
                options.step = steps[h];
                rope_row(&r, exponent, options);
            }
            if (options.scheme ==
                TW_SCHEME_VERLET) { /* 0.9 of its limit 2/omega, omega < 2 sqrt(k/m) */
                options.step = 0.9 * sqrt(0.1 / pow(10, exponent));
                rope_row(&r, exponent, options);
            }
            options.step = 0;
            options.relative_tolerance = 1e-4;
            rope_row(&r, exponent, options);
        }
        integrable_free(&r.table);
        spring_network_free(r.network);
    }
    return 0;
}

/* Period of x'' = -x - x^3 from (a, 0): 4 K(m) / sqrt(1 + a^2), m = a^2 / (2 (1 + a^2)), K by the
 * arithmetic-geometric mean. */
static double duffing_period(double a)
{
    double m = a * a / (2 * (1 + a * a)), x = 1, y = sqrt(1 - m);
    for (int i = 0; i < 8; i++) {
        double mean = 0.5 * (x + y);
        y = sqrt(x * y);
        x = mean;
    }
    return 2 * acos(-1) / (x * sqrt(1 + a * a));
}

static tw_status duffing_energy(void *context, double t, const double *x, const double *v,
                                double *kinetic, double *potential)
{
    (void)context, (void)t;
    *kinetic = 0.5 * v[0] * v[0];
    *potential = 0.5 * x[0] * x[0] + 0.25 * x[0] * x[0] * x[0] * x[0];
    return TW_OK;
}

static void duffing_row(oscillator *o, tw_scheme scheme, double period, double periods)
{
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = scheme;
    options.phi.engine = TW_PHI_DENSE;
    options.phi.tolerance = 1e-13;
    options.energy_gain_bound = 0;
    options.step = period / 20;
    if (scheme == TW_SCHEME_CVODE) options.step = 0, options.relative_tolerance = 1e-4;
    double early[2] = {o->start[0], o->start[1]}, late[2] = {o->start[0], o->start[1]};
    whole_run first = run_whole(&o->table, &options, periods / 100 * period, true, early);
    whole_run all = run_whole(&o->table, &options, periods * period, true, late);
    if (first.status == TW_UNSUPPORTED) return;
    if (all.status)
        printf("| %s | %.1e | %s after %.3g periods | |\n", tw_scheme_name(scheme),
               first.energy_worst, tw_status_name(all.status), all.t / period);
    else
        printf("| %s | %.1e | %.1e | %+.1e |\n", tw_scheme_name(scheme), first.energy_worst,
               all.energy_worst, all.energy_change);
    fflush(stdout);
}

static int duffing(double periods, tw_scheme only)
{
    oscillator o;
    oscillator_create(DUFFING, &o);
    o.table.energy = duffing_energy;
    o.start[0] = 1, o.start[1] = 0;
    printf("| scheme | largest energy error, %g periods | %g periods | at the end "
           "|\n|---|---|---|---|\n",
           periods / 100, periods);
    for (int scheme = 0; scheme < TW_SCHEME_COUNT; scheme++)
        if (only == TW_SCHEME_COUNT || only == (tw_scheme)scheme)
            duffing_row(&o, (tw_scheme)scheme, duffing_period(1), periods);
    oscillator_free(&o);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "", *more = argc > 2 ? argv[2] : NULL;
    if (strcmp(what, "rope") == 0) {
        tw_phi_engine engine = more ? tw_phi_engine_from_name(more) : TW_PHI_DENSE;
        if (engine != TW_PHI_ENGINE_COUNT) return ropes(engine);
    }
    if (strcmp(what, "duffing") == 0)
        return duffing(more ? strtod(more, NULL) : 1e5,
                       argc > 3 ? tw_scheme_from_name(argv[3]) : TW_SCHEME_COUNT);
    fprintf(stderr, "usage: bench_limits rope [ENGINE] | duffing [PERIODS [SCHEME]]\n");
    return 2;
}
