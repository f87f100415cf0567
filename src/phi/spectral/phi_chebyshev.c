/* chebyshev: f(A) b = sum_k c_k T_k(x) b on an interval that holds the spectrum of A, x = (A - middle)/half.
 *
 * The interval comes from the operator's bound or from a few Lanczos steps. Whether it held is seen afterwards:
 * |T_k b| <= |b| while it does; outside, T_k grows. Then the interval is enlarged and everything done again. */
#include <float.h>
#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/vector.h"
#include "phi/spectral/chebyshev_recurrence.h"
#include "phi/spectral/spectral_bounds.h"

enum {
    MAX_OUTPUTS = TW_SPECTRAL_MAX_OUTPUTS,
    MAX_FUNCTIONS = MAX_OUTPUTS * TW_MAX_BLOCK,
    MAX_TERMS = 1 << 16, /* of a series */
    BOUND_STEPS = 4,     /* Lanczos steps for the interval */
    SHARP_STEPS = 50,
    LOOK = 16, /* steps between looks at |T_k b| */
    MAX_ATTEMPTS = 6
};

/* Growth of T_k b that is put down to the interval and cured by enlarging it, rather than by more terms. */
static const double tolerated_growth = 4;

typedef struct chebyshev_memory {
    double *coefficients; /* MAX_FUNCTIONS rows of MAX_TERMS, touched as far as used */
    double *tails;        /* one row */
    double *scratch;
} chebyshev_memory;

static void chebyshev_release(tw_phi_workspace *workspace)
{
    tw_spectral_release(workspace);
    chebyshev_memory *memory = workspace->memory[TW_PHI_CHEBYSHEV];
    if (!memory) return;
    tw_release(memory->coefficients);
    tw_release(memory->tails);
    tw_release(memory->scratch);
    tw_release(memory);
    workspace->memory[TW_PHI_CHEBYSHEV] = NULL;
}

static tw_status chebyshev_reserve(tw_phi_workspace *workspace, tw_error *error)
{
    if (!workspace->limits.second_order) return TW_OK;
    tw_status status = tw_spectral_reserve(workspace, error);
    if (status) return status;
    chebyshev_memory *memory = TW_NEW(chebyshev_memory);
    if (!memory) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    workspace->memory[TW_PHI_CHEBYSHEV] = memory;
    memory->coefficients = TW_NEW_ARRAY((size_t)MAX_FUNCTIONS * MAX_TERMS, double);
    memory->tails = TW_NEW_ARRAY(MAX_TERMS, double);
    memory->scratch = TW_NEW_ARRAY(tw_chebyshev_scratch(MAX_TERMS), double);
    bool complete = memory->coefficients && memory->tails && memory->scratch;
    return complete ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);
}

/* One evaluation under way. */
typedef struct task {
    const tw_spectral_request *request;
    chebyshev_memory *memory;
    const tw_phi_options *options;
    tw_spectral_interval spectrum;
    tw_chebyshev_run run;
    int starts;                                /* that are not zero */
    int terms;                                 /* of every series, a power of two */
    int degree[TW_MAX_BLOCK];                  /* at which the series of start j are cut */
    double missing[MAX_OUTPUTS][TW_MAX_BLOCK]; /* |b_j| sum of |c| beyond that degree */
    double mean[MAX_OUTPUTS][TW_MAX_BLOCK]; /* |b_j| times f_ij's mean square over the interval */
    double largest[MAX_OUTPUTS][TW_MAX_BLOCK]; /* |b_j| sum |c|: bounds |f_ij| */
    double measured[MAX_OUTPUTS];              /* |output|_M once it was formed, else negative */
} task;

/* ---- the interval ---- */

static tw_chebyshev_interval interval_of(const tw_spectral_interval *spectrum)
{
    const double least = 1e-100; /* for an operator that is zero */
    return (tw_chebyshev_interval){.middle = 0.5 * (spectrum->high + spectrum->low),
                                   .half = fmax(0.5 * (spectrum->high - spectrum->low), least)};
}

/* [0, bound] when the operator knows its bound, else by Lanczos steps with a random start. Either may prove wrong. The
 * functions grow fast below zero, where a bound that is too cautious costs digits: there it is made sharper. */
static tw_status first_spectrum(task *t, const tw_second_order *op, int64_t *products)
{
    if (op->eigenvalue_max > 0) {
        t->spectrum = (tw_spectral_interval){0, op->eigenvalue_max};
        return TW_OK;
    }
    tw_status status =
        tw_spectral_find_interval(t->run.memory, op, BOUND_STEPS, NULL, &t->spectrum, products);
    double time = t->request->time;
    if (status == TW_OK && time * time * -t->spectrum.low > 4)
        status =
            tw_spectral_find_interval(t->run.memory, op, SHARP_STEPS, NULL, &t->spectrum, products);
    t->spectrum.low = fmin(t->spectrum.low, 0);
    return status;
}

/* The block's vectors have grown, so they show what lies outside: their Lanczos steps find it fast. */
static tw_status enlarge_spectrum(task *t, const tw_second_order *op, int64_t *products)
{
    for (int c = 0; c < t->run.active; c++) {
        tw_spectral_interval more;
        const double *grown = t->run.now + c * t->run.memory->size;
        tw_status status =
            tw_spectral_find_interval(t->run.memory, op, BOUND_STEPS, grown, &more, products);
        if (status) return status;
        double margin =
            0.02 * (fmax(more.high, t->spectrum.high) - fmin(more.low, t->spectrum.low));
        if (more.low < t->spectrum.low) t->spectrum.low = more.low - margin;
        if (more.high > t->spectrum.high) t->spectrum.high = more.high + margin;
    }
    return TW_OK;
}

/* ---- the series ---- */

static const tw_spectral_function *function_of(const task *t, int i, int j)
{
    return &t->request->functions[i * t->request->start_count + j];
}

static double *series_of(const task *t, int i, int j)
{
    return t->memory->coefficients +
           ((size_t)i * (size_t)t->request->start_count + (size_t)j) * MAX_TERMS;
}

/* Coefficients of f_ij times |b_j|, with `terms` terms; *resolved: they fall off before the end. */
static tw_status expand_one(task *t, int i, int j, bool *resolved)
{
    double *c = series_of(t, i, j), norm = t->run.norm[j], last = 0, all = 0, square = 0;
    int n = t->terms;
    tw_status status =
        tw_chebyshev_coefficients(function_of(t, i, j), &t->run.interval, n, t->memory->scratch, c);
    if (status) return status;
    for (int k = 0; k < n; k++) {
        c[k] *= norm;
        all += fabs(c[k]);
        square += (k == 0 ? 1 : 0.5) * (c[k] / norm) * (c[k] / norm);
        if (k >= n - n / 8) last = fmax(last, fabs(c[k]));
    }
    t->largest[i][j] = all;
    t->mean[i][j] = sqrt(square) * norm;
    *resolved = last <= fmax(4 * DBL_EPSILON, 1e-3 * t->options->tolerance) * all;
    return isfinite(all) ? TW_OK : TW_NOT_FINITE;
}

static tw_status expand(task *t)
{
    double tau = fabs(t->request->time) * sqrt(2 * t->run.interval.half);
    t->terms = 32;
    while (t->terms < 0.55 * tau + 24 && t->terms < MAX_TERMS) t->terms *= 2;
    for (bool resolved = false; !resolved;) {
        resolved = true;
        for (int i = 0; i < t->request->output_count && resolved; i++)
            for (int j = 0; j < t->request->start_count && resolved; j++) {
                t->largest[i][j] = t->mean[i][j] = t->missing[i][j] = 0;
                if (t->run.norm[j] == 0 || !function_of(t, i, j)->value) continue;
                tw_status status = expand_one(t, i, j, &resolved);
                if (status) return status;
            }
        if (!resolved && t->terms == MAX_TERMS) return TW_NOT_CONVERGED;
        if (!resolved) t->terms *= 2;
    }
    t->run.row = MAX_TERMS;
    t->run.coefficients = t->memory->coefficients;
    return TW_OK;
}

/* Of the displacement norm a series knows the largest weight alone, the time. */
static double weight_of(const task *t, int i)
{
    return t->request->velocity && t->request->velocity[i] ? fabs(t->request->time) : 1;
}

static double reference_of(const task *t, int i)
{
    return t->request->reference ? t->request->reference[i] / weight_of(t, i) : 0;
}

/* |output i|: hopefully large until it was measured, so that no term is computed in vain; the sweep goes on afterwards
 * if need be. */
static double size_of(const task *t, int i)
{
    double hoped = 0;
    if (t->measured[i] >= 0) return t->measured[i];
    for (int j = 0; j < t->request->start_count; j++) hoped += t->largest[i][j];
    return hoped;
}

/* What the error of output i is compared with; in the displacement norm all are with the largest displacement. */
static double scale_of(const task *t, int i)
{
    double scale = t->request->velocity ? 0 : size_of(t, i);
    for (int k = 0; t->request->velocity && k < t->request->output_count; k++)
        if (!t->request->velocity[k]) scale = fmax(scale, size_of(t, k) / weight_of(t, i));
    return fmax(reference_of(t, i), scale);
}

/* The degree (at least 1) from which on the series of start j miss no more than their share of every output's
 * tolerance. */
static void choose_degree(task *t, int j)
{
    int degree = 0;
    for (int i = 0; i < t->request->output_count; i++) {
        if (t->largest[i][j] == 0) continue;
        tw_chebyshev_tails(t->terms, series_of(t, i, j), t->memory->tails);
        double allowed = fmax(t->options->tolerance * scale_of(t, i) / t->starts,
                              DBL_EPSILON * t->largest[i][j]);
        while (degree < t->terms - 1 && t->memory->tails[degree] > allowed) degree++;
    }
    t->degree[j] = degree > 0 ? degree : 1;
}

/* What every series lacks at the degree it was cut at. */
static void find_missing(task *t)
{
    for (int i = 0; i < t->request->output_count; i++)
        for (int j = 0; j < t->request->start_count; j++) {
            if (t->largest[i][j] == 0) continue;
            tw_chebyshev_tails(t->terms, series_of(t, i, j), t->memory->tails);
            t->missing[i][j] =
                t->memory->tails[t->degree[j] < t->terms ? t->degree[j] : t->terms - 1];
        }
}

/* ---- the sweep ---- */

static tw_status find_norms(task *t, const double *const *starts)
{
    tw_chebyshev_run *run = &t->run;
    t->starts = 0;
    for (int j = 0; j < t->request->start_count; j++) {
        run->norm[j] = 0;
        if (!starts[j]) continue;
        tw_status status =
            tw_mass_norm(&run->metric, starts[j], run->memory->momentum, &run->norm[j]);
        if (status) return status;
        t->starts += run->norm[j] > 0;
    }
    return TW_OK;
}

static double error_of(const task *t, int i)
{
    double error = 0;
    for (int j = 0; j < t->request->start_count; j++)
        if (t->run.norm[j] > 0) error += t->missing[i][j] * t->run.growth[j];
    return error;
}

/* Rounding: of the recurrence, which adds up step by step, and of f's argument. */
static double rounding_of(const task *t, int i)
{
    double rounding = 0;
    for (int j = 0; j < t->request->start_count; j++) {
        if (t->largest[i][j] == 0) continue;
        double steps = 2 + 0.25 * t->degree[j];
        rounding += DBL_EPSILON * t->run.growth[j] * fmax(steps * t->mean[i][j], t->largest[i][j]);
    }
    return rounding;
}

/* Measures outputs whose reference alone does not settle the matter; *again: one is smaller than was assumed (it was
 * measured before, but was mostly error then). */
static tw_status measure_outputs(task *t, bool *again)
{
    *again = false;
    for (int i = 0; i < t->request->output_count; i++) {
        if (fmax(error_of(t, i), rounding_of(t, i)) <= t->options->tolerance * reference_of(t, i))
            continue;
        tw_status status = tw_mass_norm(&t->run.metric, t->request->outputs[i],
                                        t->run.memory->momentum, &t->measured[i]);
        if (status) return status;
        if (error_of(t, i) > fmax(t->options->tolerance * scale_of(t, i), 8 * rounding_of(t, i)))
            *again = true;
    }
    return TW_OK;
}

/* Steps until degree `target`; *grown: the interval does not hold the spectrum. */
static tw_status sweep(task *t, int target, bool *grown)
{
    tw_chebyshev_run *run = &t->run;
    while (run->degree < target && !*grown) {
        if (run->products + run->active > t->options->max_products) return TW_BUDGET_EXHAUSTED;
        tw_status status = tw_chebyshev_step(run, run->degree + 1 == target);
        if (status == TW_OK && (run->degree == target || run->degree % LOOK == 0))
            status = tw_chebyshev_measure(run);
        if (status) return status;
        for (int c = 0; c < run->active; c++)
            *grown = *grown || run->growth[run->start[c]] > tolerated_growth;
    }
    return TW_OK;
}

/* The columns whose series are not cut yet stay; returns the degree up to which they go. */
static int keep_unfinished(task *t)
{
    int target = 0;
    bool keep[TW_MAX_BLOCK] = {false};
    for (int c = 0; c < t->run.active; c++) {
        int j = t->run.start[c];
        choose_degree(t, j);
        keep[j] = t->degree[j] > t->run.degree;
        if (t->degree[j] > target) target = t->degree[j];
    }
    if (t->run.degree > 0) tw_chebyshev_retire(&t->run, keep);
    return target;
}

/* Runs all series: as far as is needed if the outputs are large, then as far as their size shows. */
static tw_status run_series(task *t, bool *grown, bool *again)
{
    tw_chebyshev_run *run = &t->run;
    run->active = 0;
    for (int j = 0; j < t->request->start_count; j++)
        if (run->norm[j] > 0) run->start[run->active++] = j;
    tw_chebyshev_begin(run, t->request->starts);
    tw_status status = TW_OK;
    int target = keep_unfinished(t);
    while (run->active > 0 && status == TW_OK && !*grown) {
        status = sweep(t, target, grown);
        for (int c = 0; c < run->active; c++) t->degree[run->start[c]] = run->degree;
        if (status || *grown) break;
        find_missing(t);
        status = measure_outputs(t, again);
        target = keep_unfinished(t);
    }
    return status;
}

/* One attempt with the spectrum and the sizes known so far. */
static tw_status attempt(task *t, const tw_second_order *op, bool *again)
{
    bool grown = false;
    t->run.interval = interval_of(&t->spectrum);
    tw_status status = expand(t);
    if (status) return status;
    *again = false;
    status = run_series(t, &grown, again);
    if (status || !grown) return status;
    *again = true;
    return enlarge_spectrum(t, op, &t->run.products);
}

static tw_status verdict(const task *t, tw_phi_statistics *statistics, tw_error *error)
{
    bool ill_conditioned = false;
    for (int i = 0; i < t->request->output_count; i++) {
        double scale = scale_of(t, i), rounding = rounding_of(t, i);
        if (scale > 0)
            statistics->estimated_error =
                fmax(statistics->estimated_error, fmax(error_of(t, i), rounding) / scale);
        if (rounding > t->options->tolerance * scale) ill_conditioned = true;
    }
    if (!ill_conditioned) return TW_OK;
    return tw_fail(error, TW_ILL_CONDITIONED, "rounding alone is about %.1e of the result",
                   statistics->estimated_error);
}

static tw_status explain(tw_status status, const task *t, tw_error *error)
{
    if (status == TW_NOT_CONVERGED)
        return tw_fail(error, status,
                       "chebyshev needs a series of more than %d terms, or found no end", t->terms);
    if (status == TW_BUDGET_EXHAUSTED)
        return tw_fail(error, status, "chebyshev used up its budget of %lld products",
                       (long long)t->options->max_products);
    if (status == TW_NOT_FINITE)
        return tw_fail(error, status, "an operator or a function of it overflowed");
    return tw_fail_plain(error, status);
}

static tw_status chebyshev_spectral(tw_phi_workspace *workspace, const tw_second_order *op,
                                    const tw_spectral_request *request,
                                    tw_phi_statistics *statistics, tw_error *error)
{
    if (op->stiffness.symmetry != TW_SYMMETRIC)
        return tw_fail(error, TW_UNSUPPORTED, "chebyshev needs a symmetric stiffness");
    tw_spectral_set_engine(workspace, request->slot, TW_PHI_ENGINE_COUNT);
    task t = {.request = request,
              .memory = workspace->memory[TW_PHI_CHEBYSHEV],
              .options = &workspace->options,
              .run = {.op = op,
                      .memory = tw_spectral_memory_of(workspace),
                      .metric = tw_mass_metric_of(op),
                      .output_count = request->output_count,
                      .start_count = request->start_count,
                      .outputs = request->outputs}};
    for (int i = 0; i < MAX_OUTPUTS; i++) t.measured[i] = -1;
    tw_status status = find_norms(&t, request->starts);
    if (status == TW_OK && t.starts > 0) status = first_spectrum(&t, op, &t.run.products);
    bool again = status == TW_OK;
    for (int attempts = 0; again && attempts < MAX_ATTEMPTS && status == TW_OK; attempts++) {
        statistics->rejected += attempts > 0;
        status = attempt(&t, op, &again);
    }
    if (status == TW_OK && again) status = TW_NOT_CONVERGED;
    statistics->substeps = 1;
    statistics->products = t.run.products;
    statistics->eigenvalue_max = t.spectrum.high;
    for (int j = 0; j < request->start_count; j++)
        if (t.degree[j] > statistics->dimension) statistics->dimension = t.degree[j];
    return status ? explain(status, &t, error) : verdict(&t, statistics, error);
}

static tw_status chebyshev_second_order(tw_phi_workspace *workspace, const tw_second_order *op,
                                        const tw_phi_request *request,
                                        tw_phi_statistics *statistics, tw_error *error)
{
    return tw_phi_spectral_evaluate(workspace, &tw_phi_chebyshev, op, request, statistics, error);
}

const tw_phi_engine_table tw_phi_chebyshev = {.reserve = chebyshev_reserve,
                                              .release = chebyshev_release,
                                              .second_order = chebyshev_second_order,
                                              .spectral = chebyshev_spectral};
