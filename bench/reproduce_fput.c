/* The tables behind Figures 1-4 of the 2022 paper (section 5.1), and two it does not have: cost at equal error.
 *
 *   reproduce_fput FOLDER      (run by bench/reproduce; $TWANG_SOURCE finds tests/reference)
 *
 * Writes fput_convergence.csv (Figures 1 and 2), fput_energy.csv (Figure 3), fput_energy_steps.csv (Figure 4) and
 * prints the tables of docs/reproduction.md. Times are processor time; only their ratios within one run mean anything.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "problems/integrable.h"
#include "problems/link_chain.h"
#include "problems/whole_run.h"
#include "support/reference_state.h"

enum { ROWS = 1000 /* of an energy table */, CURVES = 8 };

/* A chain, its start and its reference state at `end`. */
typedef struct experiment {
    link_chain *chain;
    problem plain;
    integrable table;
    int64_t entries; /* of u */
    double end, *start, *expected, *u;
    tw_phi_engine engine;
} experiment;

static void fail(const char *what)
{
    fprintf(stderr, "reproduce_fput: %s\n", what);
    exit(1);
}

static void experiment_create(int64_t m, double end, const char *reference, tw_phi_engine engine,
                              experiment *out)
{
    *out =
        (experiment){.chain = fput_create(m, 100), .entries = 4 * m, .end = end, .engine = engine};
    size_t half = sizeof(double) * 2 * (size_t)m;
    out->start = malloc(2 * half), out->expected = malloc(2 * half), out->u = malloc(2 * half);
    if (!out->chain || !out->start || !out->expected || !out->u) fail("out of memory");
    out->plain = link_chain_problem(out->chain);
    if (integrable_create(&out->plain, true, &out->table)) fail("out of memory");
    memcpy(out->start, out->chain->initial_x, half);
    memcpy(out->start + 2 * m, out->chain->initial_v, half);
    if (!reference_state(reference, 2 * m, out->expected)) fail(reference);
}

static void experiment_free(experiment *e)
{
    integrable_free(&e->table);
    link_chain_free(e->chain);
    free(e->start), free(e->expected), free(e->u);
}

static tw_integrator_options fixed(const experiment *e, tw_scheme scheme, double h)
{
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = scheme;
    options.step = h;
    options.energy_gain_bound = 0; /* rk4 may explode: that is what the paper shows */
    options.phi.engine = e->engine;
    options.phi.tolerance = 1e-12;
    return options;
}

/* Error at the end; NAN if the run failed. */
static double measure(experiment *e, tw_scheme scheme, double h, whole_run *run)
{
    tw_integrator_options options = fixed(e, scheme, h);
    memcpy(e->u, e->start, sizeof(double) * (size_t)e->entries);
    *run = run_whole(&e->table.table, &options, e->end, false, e->u);
    return run->status ? NAN : reference_error(e->u, e->expected, e->entries);
}

/* Figures 1 and 2: rk4 takes steps 40 times smaller, as the paper does. */
static void convergence(experiment *e, const char *folder)
{
    static const tw_scheme schemes[] = {TW_SCHEME_EXPRB2,  TW_SCHEME_PEXPRB43, TW_SCHEME_EXPRB42,
                                        TW_SCHEME_EXPMID4, TW_SCHEME_EPIRK4S3, TW_SCHEME_EXPRB53,
                                        TW_SCHEME_RK4};
    char path[4096];
    snprintf(path, sizeof path, "%s/fput_convergence.csv", folder);
    FILE *csv = fopen(path, "w");
    if (!csv) fail(path);
    fprintf(csv, "scheme,h,error,force_evaluations,seconds\n");
    printf("| scheme | h | error at T = 100 | observed order | force evaluations "
           "|\n|---|---|---|---|---|\n");
    for (size_t s = 0; s < sizeof schemes / sizeof *schemes; s++) {
        double previous = NAN;
        for (int i = 0; i < 5; i++) {
            double h = ldexp(schemes[s] == TW_SCHEME_RK4 ? 0.02 / 40 : 0.02, -i);
            whole_run run;
            double error = measure(e, schemes[s], h, &run);
            fprintf(csv, "%s,%.10g,%.4e,%ld,%.4e\n", tw_scheme_name(schemes[s]), h, error,
                    (long)run.counts.force_evaluations, run.seconds);
            printf("| %s | %g | %.2e | ", i ? "" : tw_scheme_name(schemes[s]), h, error);
            if (i) printf("%.2f", log2(previous / error));
            printf(" | %ld |\n", (long)run.counts.force_evaluations);
            previous = error;
        }
        fprintf(csv, "\n\n"); /* gnuplot's blocks */
    }
    if (fclose(csv)) fail(path);
}

/* The energy of one run, sampled. */
typedef struct energy_curve {
    int64_t every, step;
    double *energy; /* ROWS + 1 */
} energy_curve;

static tw_status sample(void *context, tw_integrator *integrator)
{
    energy_curve *c = context;
    double kinetic = 0, potential = 0;
    if (++c->step % c->every) return TW_OK;
    tw_status status = tw_integrator_energy(integrator, &kinetic, &potential);
    if (c->step / c->every <= ROWS) c->energy[c->step / c->every] = kinetic + potential;
    return status;
}

static void energy_of(experiment *e, tw_scheme scheme, double h, double *energy)
{
    tw_integrator_options options = fixed(e, scheme, h);
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    double kinetic = 0, potential = 0;
    energy_curve curve = {.every = lround(e->end / h) / ROWS, .energy = energy};
    for (int i = 0; i <= ROWS; i++) energy[i] = NAN; /* a failed run leaves a gap */
    if (tw_integrator_create_second_order(&e->table.table, &options, &integrator, &error) ||
        tw_integrator_start(integrator, 0, e->start, &error) ||
        tw_integrator_energy(integrator, &kinetic, &potential))
        fail(error.text);
    energy[0] = kinetic + potential;
    tw_integrator_on_step(integrator, sample, &curve);
    if (tw_integrator_advance(integrator, e->end, &error))
        printf("%s at h = %g ends early: %s\n", tw_scheme_name(scheme), h, error.text);
    tw_integrator_free(integrator);
}

typedef struct energy_case {
    tw_scheme scheme;
    double h;
} energy_case;

static double largest_change(const double *energy)
{
    double worst = 0;
    for (int i = 0; i <= ROWS; i++) worst = fmax(worst, fabs(energy[i] / energy[0] - 1));
    return worst;
}

static void energies(experiment *e, const char *folder, const char *name, int count,
                     const energy_case *cases)
{
    static double energy[CURVES][ROWS + 1];
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.csv", folder, name);
    FILE *csv = fopen(path, "w");
    if (!csv) fail(path);
    fprintf(csv, "t");
    printf("\n| scheme | h | largest relative change of H | at T = 100 |\n|---|---|---|---|\n");
    for (int c = 0; c < count; c++) {
        energy_of(e, cases[c].scheme, cases[c].h, energy[c]);
        fprintf(csv, ",%s %g", tw_scheme_name(cases[c].scheme), cases[c].h);
        printf("| %s | %g | %.1e | %+.1e |\n", tw_scheme_name(cases[c].scheme), cases[c].h,
               largest_change(energy[c]), energy[c][ROWS] / energy[c][0] - 1);
    }
    fprintf(csv, "\n");
    for (int row = 0; row <= ROWS; row++) {
        fprintf(csv, "%.6g", row * e->end / ROWS);
        for (int c = 0; c < count; c++) fprintf(csv, ",%.14g", energy[c][row]);
        fprintf(csv, "\n");
    }
    if (fclose(csv)) fail(path);
}

/* rk4 at the step that gives it this error: from its order, corrected twice. */
static double rk4_at_error(experiment *e, double error, double first_step, double *step,
                           whole_run *run)
{
    double found = NAN;
    *step = first_step;
    for (int i = 0; i < 3; i++) {
        found = measure(e, TW_SCHEME_RK4, *step, run);
        if (i < 2) *step *= pow(error / found, 0.25);
    }
    return found;
}

static void equal_error(experiment *e, int m)
{
    static const tw_scheme schemes[] = {TW_SCHEME_EXPRB42, TW_SCHEME_PEXPRB43};
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < 3; i++) {
            double h = ldexp(0.02, -i), step;
            whole_run run, rk4;
            double error = measure(e, schemes[s], h, &run);
            double rk4_error = rk4_at_error(e, error, h / 35, &step, &rk4);
            printf("| %d | %s, %s | %g | %.2e | %.3g (%.2e) | %.0f | %.0f | %.2f |\n", m,
                   tw_scheme_name(schemes[s]), tw_phi_engine_name(run.counts.engine), h, error,
                   step, rk4_error, h / step,
                   (double)rk4.counts.force_evaluations / (double)run.counts.force_evaluations,
                   rk4.seconds / run.seconds);
        }
}

int main(int argc, char **argv)
{
    if (argc != 2) return fprintf(stderr, "usage: reproduce_fput FOLDER\n"), 2;
    static const energy_case figure_3[] = {{TW_SCHEME_EXPRB2, 0.01},
                                           {TW_SCHEME_PEXPRB43, 0.01},
                                           {TW_SCHEME_EXPRB42, 0.01},
                                           {TW_SCHEME_RK4, 0.01}};
    static const energy_case figure_4[] = {{TW_SCHEME_EXPRB2, 0.01},    {TW_SCHEME_EXPRB2, 0.005},
                                           {TW_SCHEME_EXPRB2, 0.00125}, {TW_SCHEME_RK4, 0.01},
                                           {TW_SCHEME_RK4, 0.0025},     {TW_SCHEME_RK4, 0.001},
                                           {TW_SCHEME_RK4, 0.00025}};
    experiment small, large;
    experiment_create(3, 100, "fput_T100.txt", TW_PHI_DENSE, &small);
    convergence(&small, argv[1]);
    energies(&small, argv[1], "fput_energy", 4, figure_3);
    energies(&small, argv[1], "fput_energy_steps", 7, figure_4);
    printf("\n| m | scheme, engine | h | error | rk4's h (error) | steps ratio | forces ratio | "
           "time ratio |\n"
           "|---|---|---|---|---|---|---|---|\n");
    equal_error(&small, 3);
    experiment_free(&small);
    experiment_create(500, 10, "fput_m500_T10.txt", TW_PHI_AUTO, &large);
    equal_error(&large, 500);
    experiment_free(&large);
    return 0;
}
