#include "support/spectral_trials.h"

#include <math.h>
#include <stdlib.h>
#include <twang/stumpff.h>

static int pick(test_random *random, int count)
{
    return (int)(test_random_unit(random) * count);
}

test_trial test_trial_draw(test_random *random, int64_t largest_n, double tau_low, double tau_high)
{
    test_trial t = {0};
    t.n = (int64_t)floor(test_random_log_between(random, 1, (double)largest_n + 1));
    t.spectrum = (test_spectrum)pick(random, TEST_SPECTRUM_COUNT);
    t.mass = (test_mass)pick(random, TEST_MASS_COUNT);
    t.tau = test_random_log_between(random, tau_low, tau_high);
    t.tolerance = test_random_log_between(random, 1e-12, 1e-2);
    t.order = pick(random, 6);
    t.node_count = 1 + pick(random, 4);
    t.magnitude = pick(random, 8) == 0 ? 1e150 : pick(random, 8) == 0 ? 1e-150 : 1;
    if (pick(random, 4) == 0) {
        t.alpha = 0.3 * test_random_unit(random);
        t.beta = 0.3 * test_random_unit(random);
    }
    t.bound_known = pick(random, 2);
    return t;
}

/* One case in memory: the operator, the vectors, the outputs and room for modal coordinates. */
typedef struct trial_case {
    test_spectral *s;
    double time;
    double nodes[TW_PHI_MAX_NODES];
    double *memory;
    const double *vectors[TW_PHI_MAX_ORDER + 1];
    double *outputs[TW_PHI_MAX_NODES];
    double *modal_vectors[TW_PHI_MAX_ORDER + 1];
    double *modal_output;
} trial_case;

/* Rough, smooth (few low modes) or absent; a third of the vectors has one part zero. */
static void draw_vector(const test_trial *t, const test_spectral *s, test_random *random,
                        double *modes, double *vector)
{
    int kind = pick(random, 3), zero_part = pick(random, 6);
    for (int part = 0; part < 2; part++) {
        double *m = modes + part * t->n;
        for (int64_t i = 0; i < t->n; i++) {
            double weight = kind == 0   ? 1
                            : kind == 1 ? 1 / (1 + 1e3 * fabs(s->lambda[i]))
                                        : exp(-20.0 * (double)i / (double)t->n);
            m[i] = zero_part == part ? 0 : t->magnitude * weight * test_random_normal(random);
        }
        test_spectral_from_modes(s, m, vector + part * t->n);
        test_spectral_to_modes(s, vector + part * t->n, m);
    }
}

static bool prepare(const test_trial *t, test_random *random, trial_case *c)
{
    double largest = test_random_log_between(random, 1e-4, 1e8);
    c->s = test_spectral_create(t->n, t->spectrum, t->mass, largest, random);
    c->memory =
        calloc((size_t)(4 * t->n) * (TW_PHI_MAX_ORDER + TW_PHI_MAX_NODES + 2), sizeof *c->memory);
    if (!c->s || !c->memory) return false;
    c->time = t->tau / sqrt(largest) * (pick(random, 4) ? 1 : -1);
    c->s->op.rayleigh_mass = t->alpha / fabs(c->time);
    c->s->op.rayleigh_stiffness = t->beta * fabs(c->time);
    if (t->bound_known) c->s->op.eigenvalue_max = c->s->eigenvalue_bound * 1.1;
    double *next = c->memory;
    for (int k = 0; k <= t->order; k++) {
        c->modal_vectors[k] = next, next += 2 * t->n;
        double *vector = next;
        next += 2 * t->n;
        draw_vector(t, c->s, random, c->modal_vectors[k], vector);
        c->vectors[k] = vector;
        if (t->order > 0 && pick(random, 4) == 0) {
            c->vectors[k] = NULL;
            for (int64_t i = 0; i < 2 * t->n; i++) c->modal_vectors[k][i] = 0;
        }
    }
    for (int i = 0; i < t->node_count; i++) {
        c->nodes[i] = i == 0 ? 1 : pick(random, 8) == 0 ? 0 : test_random_unit(random);
        c->outputs[i] = next, next += 2 * t->n;
    }
    c->modal_output = next;
    return true;
}

/* Exact w_i in modal coordinates. */
static void exact_output(const test_trial *t, const trial_case *c, int node, double *w)
{
    int64_t n = t->n;
    double tau = c->nodes[node] * c->time;
    for (int64_t i = 0; i < n; i++) {
        double lambda = c->s->lambda[i], e[4];
        double delta = c->s->op.rayleigh_mass + c->s->op.rayleigh_stiffness * lambda;
        w[i] = w[n + i] = 0;
        for (int k = 0; k <= t->order; k++) {
            double p = c->modal_vectors[k][i], q = c->modal_vectors[k][n + i];
            tw_phi_oscillator(tau, lambda, delta, k, e);
            w[i] += e[0] * p + e[1] * q;
            w[n + i] += e[2] * p + e[3] * q;
        }
    }
}

static double norm_of(int64_t n, const double *x, double unit)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (x[i] / unit) * (x[i] / unit);
    return unit * sqrt(sum);
}

/* Largest of error / (tolerance * promised scale) over the outputs. */
static double measure(const test_trial *t, const trial_case *c, double *exact)
{
    double worst = 0, factorial = 1, scale[2] = {0, 0};
    int64_t n = t->n;
    for (int k = 0; k <= t->order; k++) {
        if (k > 0) factorial *= k;
        for (int part = 0; part < 2; part++)
            scale[part] += norm_of(n, c->modal_vectors[k] + part * n, t->magnitude) / factorial;
    }
    for (int i = 0; i < t->node_count; i++) {
        exact_output(t, c, i, exact);
        for (int part = 0; part < 2; part++) {
            double *w = c->modal_output + part * n, *e = exact + part * n;
            test_spectral_to_modes(c->s, c->outputs[i] + part * n, w);
            double size = fmax(norm_of(n, e, t->magnitude), scale[part]);
            for (int64_t j = 0; j < n; j++) w[j] -= e[j];
            double error = norm_of(n, w, t->magnitude);
            if (error > 0) worst = fmax(worst, error / (t->tolerance * size));
        }
    }
    return worst;
}

test_outcome test_trial_run(tw_phi_engine engine, const test_trial *trial, test_random *random)
{
    test_outcome outcome = {.status = TW_INTERNAL};
    trial_case c = {0};
    tw_phi_workspace *workspace = NULL;
    tw_phi_limits limits = tw_phi_limits_default();
    limits.size = trial->n;
    limits.max_dimension = 512;
    limits.options.engine = engine;
    limits.options.tolerance = trial->tolerance;
    limits.options.max_products = 20000;
    if (prepare(trial, random, &c) && tw_phi_workspace_create(&limits, &workspace, NULL) == TW_OK) {
        tw_phi_request request = {.time = c.time,
                                  .node_count = trial->node_count,
                                  .nodes = c.nodes,
                                  .order = trial->order,
                                  .vectors = c.vectors,
                                  .outputs = c.outputs};
        outcome.status =
            tw_phi_evaluate_second_order(workspace, &c.s->op, &request, &outcome.statistics, NULL);
        outcome.finite = true;
        for (int i = 0; i < trial->node_count; i++)
            for (int64_t j = 0; j < 2 * trial->n; j++)
                if (!isfinite(c.outputs[i][j])) outcome.finite = false;
        outcome.excess = measure(trial, &c, c.modal_output + 2 * trial->n);
        outcome.estimated = outcome.statistics.estimated_error / trial->tolerance;
    }
    tw_phi_workspace_free(workspace);
    test_spectral_free(c.s);
    free(c.memory);
    return outcome;
}
