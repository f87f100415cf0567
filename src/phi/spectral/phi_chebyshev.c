/* chebyshev: f(A) b = sum_k c_k T_k(x) b on an interval that holds the spectrum of A, x = (A
 * - middle)/half.
 *
 * The interval comes from the operator's bound or from a few Lanczos steps. Whether it held the
 * spectrum is seen afterwards: inside it |T_k b| <= |b|, outside T_k grows. In that case the
 * interval is enlarged and everything is done again. */
#include <float.h>
#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/vector.h"
#include "phi/spectral/spectral.h"

enum {
    MAX_OUTPUTS = TW_SPECTRAL_MAX_OUTPUTS,
    MAX_FUNCTIONS = MAX_OUTPUTS * TW_MAX_BLOCK,
    MIN_TERMS = 32,      /* of a series */
    MAX_TERMS = 1 << 16, /* of a series */
    BOUND_STEPS = 4,     /* Lanczos steps for the interval */
    SHARP_STEPS = 50,    /* Lanczos steps for an interval that reaches far below zero */
    MEASURE_EVERY = 16,  /* steps between two measurements of |T_k b| */
    MAX_ATTEMPTS = 6
};

/* A growth of |T_k b| above this is blamed on the interval, which is then enlarged. A smaller one
 * is met by more terms. */
static const double tolerated_growth = 4;

/* Share of the spectrum by which an enlarged interval reaches beyond what was found. */
static const double enlarged_margin = 0.02;

/* Half the length of the interval of an operator that is zero. */
static const double least_half = 1e-100;

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

    /* The pages of the coefficients are touched only as far as a series needs them. */
    memory->coefficients = TW_NEW_ARRAY((size_t)MAX_FUNCTIONS * MAX_TERMS, double);
    memory->tails = TW_NEW_ARRAY(MAX_TERMS, double);
    memory->scratch = TW_NEW_ARRAY(tw_chebyshev_scratch(MAX_TERMS), double);
    bool complete = memory->coefficients && memory->tails && memory->scratch;

    return complete ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);
}

/* One evaluation under way. Index i is an output, index j a start vector. */
typedef struct evaluation {
    const tw_spectral_request *request;
    chebyshev_memory *memory;
    const tw_phi_options *options;
    tw_spectral_interval spectrum;
    tw_chebyshev_recurrence recurrence;
    int starts;                                /* that are not zero */
    int terms;                                 /* of every series, a power of two */
    int degree[TW_MAX_BLOCK];                  /* at which the series of start j are cut */
    double missing[MAX_OUTPUTS][TW_MAX_BLOCK]; /* |b_j| sum of |c| beyond that degree */
    double unseen[MAX_OUTPUTS][TW_MAX_BLOCK];  /* |b_j| |c| at the end of the series; 0: rounding */
    double mean[MAX_OUTPUTS][TW_MAX_BLOCK];    /* |b_j| times f_ij's root mean square */
    double largest[MAX_OUTPUTS][TW_MAX_BLOCK]; /* |b_j| sum |c|: bounds |f_ij| */
    double measured[MAX_OUTPUTS];              /* |output|_M once it was formed, else negative */
} evaluation;

/* ---- the interval ---- */

static tw_chebyshev_interval interval_of(const tw_spectral_interval *spectrum)
{
    double middle = 0.5 * (spectrum->high + spectrum->low);
    double half = 0.5 * (spectrum->high - spectrum->low);
    return (tw_chebyshev_interval){.middle = middle, .half = fmax(half, least_half)};
}

/* The interval is [0, bound] if the operator knows its bound, else it comes from Lanczos steps with
 * a random start. Either may prove wrong. */
static tw_status first_spectrum(evaluation *ev, const tw_second_order *op)
{
    tw_chebyshev_recurrence *recurrence = &ev->recurrence;
    if (op->eigenvalue_max > 0) {
        ev->spectrum = (tw_spectral_interval){0, op->eigenvalue_max};
        return TW_OK;
    }
    TW_TRY(tw_spectral_find_interval(recurrence->memory, op, BOUND_STEPS, NULL, &ev->spectrum,
                                     &recurrence->products));

    /* The functions grow fast below zero, where a bound that is too cautious costs digits. More
     * steps make it sharper. */
    double time = ev->request->time;
    if (time * time * -ev->spectrum.low > 4)
        TW_TRY(tw_spectral_find_interval(recurrence->memory, op, SHARP_STEPS, NULL, &ev->spectrum,
                                         &recurrence->products));
    ev->spectrum.low = fmin(ev->spectrum.low, 0);

    return TW_OK;
}

/* The vectors of the block have grown, so they consist mostly of what lies outside of the interval.
 * Lanczos steps from them find it fast. */
static tw_status enlarge_spectrum(evaluation *ev, const tw_second_order *op)
{
    tw_chebyshev_recurrence *recurrence = &ev->recurrence;
    tw_spectral_interval *spectrum = &ev->spectrum;
    for (int c = 0; c < recurrence->active; c++) {
        tw_spectral_interval more;
        const double *grown = recurrence->now + c * recurrence->memory->size;

        /* What these few steps find, with a margin, becomes part of the interval. */
        TW_TRY(tw_spectral_find_interval(recurrence->memory, op, BOUND_STEPS, grown, &more,
                                         &recurrence->products));
        double margin =
            enlarged_margin * (fmax(more.high, spectrum->high) - fmin(more.low, spectrum->low));
        if (more.low < spectrum->low) spectrum->low = more.low - margin;
        if (more.high > spectrum->high) spectrum->high = more.high + margin;
    }

    return TW_OK;
}

/* ---- what the error is compared with ---- */

/* Of the displacement norm a series knows only the largest weight, the time. */
static double weight_of(const evaluation *ev, int i)
{
    return ev->request->velocity && ev->request->velocity[i] ? fabs(ev->request->time) : 1;
}

static double reference_of(const evaluation *ev, int i)
{
    return ev->request->reference ? ev->request->reference[i] / weight_of(ev, i) : 0;
}

/* |output i|. Until it was measured the largest possible value is assumed, so that no term is
 * computed in vain. The recurrence goes on afterwards if the output is smaller. */
static double size_of(const evaluation *ev, int i)
{
    if (ev->measured[i] >= 0) return ev->measured[i];
    double possible = 0;
    for (int j = 0; j < ev->request->start_count; j++) possible += ev->largest[i][j];
    return possible;
}

/* The scale of output i: its size, or in the displacement norm the largest displacement. */
static double scale_of(const evaluation *ev, int i)
{
    const tw_spectral_request *request = ev->request;
    if (!request->velocity) return fmax(reference_of(ev, i), size_of(ev, i));

    /* The weight is on the side of the scale, because the errors here carry none. */
    double scale = 0;
    for (int k = 0; k < request->output_count; k++)
        if (!request->velocity[k]) scale = fmax(scale, size_of(ev, k) / weight_of(ev, i));

    return fmax(reference_of(ev, i), scale);
}

/* ---- the series ---- */

static const tw_spectral_function *function_of(const evaluation *ev, int i, int j)
{
    return &ev->request->functions[i * ev->request->start_count + j];
}

static double *series_of(const evaluation *ev, int i, int j)
{
    return ev->memory->coefficients +
           ((size_t)i * (size_t)ev->request->start_count + (size_t)j) * MAX_TERMS;
}

/* Coefficients of f_ij times |b_j|, with `terms` terms. *resolved: they fall off before the end. */
static tw_status expand_one(evaluation *ev, int i, int j, bool *resolved)
{
    int n = ev->terms;
    double *c = series_of(ev, i, j);
    double norm = ev->recurrence.norm[j];
    TW_TRY(tw_chebyshev_coefficients(function_of(ev, i, j), &ev->recurrence.interval, n,
                                     ev->memory->scratch, c));

    /* The mean square of f over the interval is c_0^2 + sum_{k>0} c_k^2/2. */
    double last = 0; /* largest of the last eighth */
    double all = 0;
    double square = 0;
    for (int k = 0; k < n; k++) {
        c[k] *= norm;
        all += fabs(c[k]);
        square += (k == 0 ? 1 : 0.5) * (c[k] / norm) * (c[k] / norm);
        if (k >= n - n / 8) last = fmax(last, fabs(c[k]));
    }

    /* The series is resolved if its last eighth is negligible, beside the output or in rounding. A
     * function that is large in a part of the interval where the vector has nothing leaves an output
     * far smaller than the series. A function whose terms cancel consists of rounding, which no
     * number of terms resolves, but it is small beside the reference. */
    double rounding = 4 * DBL_EPSILON * all;
    double size = fmax(all, reference_of(ev, i));
    if (ev->measured[i] >= 0) size = scale_of(ev, i);
    ev->largest[i][j] = all;
    ev->mean[i][j] = sqrt(square) * norm;
    ev->unseen[i][j] = last > rounding ? last : 0;
    *resolved = last <= fmax(rounding, 1e-3 * ev->options->tolerance * size);

    return isfinite(all) ? TW_OK : TW_NOT_FINITE;
}

/* All series with ev->terms terms. Stops at the first that is not resolved. */
static tw_status expand_all(evaluation *ev, bool *resolved)
{
    *resolved = true;
    for (int i = 0; i < ev->request->output_count && *resolved; i++)
        for (int j = 0; j < ev->request->start_count && *resolved; j++) {
            ev->largest[i][j] = 0;
            ev->mean[i][j] = 0;
            ev->missing[i][j] = 0;
            ev->unseen[i][j] = 0;

            /* A zero start vector has no series. That of a missing function is zero: its place may
             * hold the series of an earlier call. */
            if (ev->recurrence.norm[j] == 0) continue;
            if (!function_of(ev, i, j)->value) {
                tw_vector_fill(ev->terms, 0, series_of(ev, i, j));
                continue;
            }
            TW_TRY(expand_one(ev, i, j, resolved));
        }

    return TW_OK;
}

/* Doubles the number of terms until every series falls off before its end. */
static tw_status expand(evaluation *ev)
{
    /* A guess: cos(t sqrt(lambda)) needs about t sqrt(lambda_max)/2 terms. */
    double tau = fabs(ev->request->time) * sqrt(2 * ev->recurrence.interval.half);
    ev->terms = MIN_TERMS;
    while (ev->terms < 0.55 * tau + 24 && ev->terms < MAX_TERMS) ev->terms *= 2;

    /* The guess may be too small for other functions. */
    bool resolved = false;
    TW_TRY(expand_all(ev, &resolved));
    while (!resolved) {
        if (ev->terms == MAX_TERMS) return TW_NOT_CONVERGED;
        ev->terms *= 2;
        TW_TRY(expand_all(ev, &resolved));
    }
    ev->recurrence.row = MAX_TERMS;
    ev->recurrence.coefficients = ev->memory->coefficients;

    return TW_OK;
}

/* The degree (at least 1) from which on the series of start j lack no more than their share of
 * every output's tolerance. */
static void choose_degree(evaluation *ev, int j)
{
    int degree = 0;
    for (int i = 0; i < ev->request->output_count; i++) {
        if (ev->largest[i][j] == 0) continue;

        /* Terms below the rounding of the largest value are of no use. */
        tw_chebyshev_tails(ev->terms, series_of(ev, i, j), ev->memory->tails);
        double allowed = fmax(ev->options->tolerance * scale_of(ev, i) / ev->starts,
                              DBL_EPSILON * ev->largest[i][j]);
        while (degree < ev->terms - 1 && ev->memory->tails[degree] > allowed) degree++;
    }
    if (degree < 1) degree = 1;
    ev->degree[j] = degree;
}

/* What every series lacks at the degree at which it was cut. */
static void find_missing(evaluation *ev)
{
    for (int i = 0; i < ev->request->output_count; i++)
        for (int j = 0; j < ev->request->start_count; j++) {
            if (ev->largest[i][j] == 0) continue;

            /* The tail beyond the last term that was added. */
            tw_chebyshev_tails(ev->terms, series_of(ev, i, j), ev->memory->tails);
            int last = ev->degree[j] < ev->terms ? ev->degree[j] : ev->terms - 1;
            ev->missing[i][j] = ev->memory->tails[last] + ev->unseen[i][j];
        }
}

static double error_of(const evaluation *ev, int i)
{
    double error = 0;
    for (int j = 0; j < ev->request->start_count; j++)
        if (ev->recurrence.norm[j] > 0) error += ev->missing[i][j] * ev->recurrence.growth[j];
    return error;
}

/* Rounding of the recurrence, which adds up step by step, and of f's argument. */
static double rounding_of(const evaluation *ev, int i)
{
    double rounding = 0;
    for (int j = 0; j < ev->request->start_count; j++) {
        if (ev->largest[i][j] == 0) continue;
        double steps = 2 + 0.25 * ev->degree[j];
        rounding += DBL_EPSILON * ev->recurrence.growth[j] *
                    fmax(steps * ev->mean[i][j], ev->largest[i][j]);
    }

    return rounding;
}

/* ---- the recurrence ---- */

static tw_status find_norms(evaluation *ev)
{
    tw_chebyshev_recurrence *recurrence = &ev->recurrence;
    ev->starts = 0;
    for (int j = 0; j < ev->request->start_count; j++) {
        const double *start = ev->request->starts[j];
        recurrence->norm[j] = 0;
        if (!start) continue;
        TW_TRY(tw_mass_norm(&recurrence->metric, start, recurrence->memory->momentum,
                            &recurrence->norm[j]));
        ev->starts += recurrence->norm[j] > 0;
    }

    return TW_OK;
}

/* Measures the outputs whose reference alone does not decide. *again: one is smaller than assumed
 * (it was measured before, but it consisted mostly of error then). */
static tw_status measure_outputs(evaluation *ev, bool *again)
{
    *again = false;
    double tolerance = ev->options->tolerance;
    for (int i = 0; i < ev->request->output_count; i++) {
        if (fmax(error_of(ev, i), rounding_of(ev, i)) <= tolerance * reference_of(ev, i)) continue;

        /* More terms help only if the error is well above the rounding. */
        TW_TRY(tw_mass_norm(&ev->recurrence.metric, ev->request->outputs[i],
                            ev->recurrence.memory->momentum, &ev->measured[i]));
        if (error_of(ev, i) > fmax(tolerance * scale_of(ev, i), 8 * rounding_of(ev, i)))
            *again = true;
    }

    return TW_OK;
}

/* Steps until degree `target`. *grown: the interval does not hold the spectrum. */
static tw_status advance_to(evaluation *ev, int target, bool *grown)
{
    tw_chebyshev_recurrence *recurrence = &ev->recurrence;
    while (recurrence->degree < target && !*grown) {
        if (recurrence->products + recurrence->active > ev->options->max_products)
            return TW_BUDGET_EXHAUSTED;
        TW_TRY(tw_chebyshev_step(recurrence, recurrence->degree + 1 == target));

        /* |T_k b| is measured now and then: a measurement costs a pass over the vectors. */
        if (recurrence->degree == target || recurrence->degree % MEASURE_EVERY == 0)
            TW_TRY(tw_chebyshev_measure(recurrence));
        for (int c = 0; c < recurrence->active; c++)
            *grown = *grown || recurrence->growth[recurrence->start[c]] > tolerated_growth;
    }

    return TW_OK;
}

/* Keeps the columns whose series are not cut yet. Returns the degree up to which they go. */
static int keep_unfinished(evaluation *ev)
{
    int target = 0;
    bool keep[TW_MAX_BLOCK] = {false};
    for (int c = 0; c < ev->recurrence.active; c++) {
        int j = ev->recurrence.start[c];
        choose_degree(ev, j);
        keep[j] = ev->degree[j] > ev->recurrence.degree;
        if (ev->degree[j] > target) target = ev->degree[j];
    }
    if (ev->recurrence.degree > 0) tw_chebyshev_retire(&ev->recurrence, keep);

    return target;
}

/* Runs all series: first as far as needed if the outputs are large, then as far as their measured
 * size demands. */
static tw_status run_series(evaluation *ev, bool *grown, bool *again)
{
    tw_chebyshev_recurrence *recurrence = &ev->recurrence;
    recurrence->active = 0;
    for (int j = 0; j < ev->request->start_count; j++)
        if (recurrence->norm[j] > 0) recurrence->start[recurrence->active++] = j;
    tw_chebyshev_begin(recurrence, ev->request->starts);

    /* Each round ends with a measurement, which may ask for more terms. */
    int target = keep_unfinished(ev);
    while (recurrence->active > 0) {
        tw_status status = advance_to(ev, target, grown);
        for (int c = 0; c < recurrence->active; c++)
            ev->degree[recurrence->start[c]] = recurrence->degree;
        if (status || *grown) return status;

        find_missing(ev);
        TW_TRY(measure_outputs(ev, again));
        target = keep_unfinished(ev);
    }

    return TW_OK;
}

/* ---- the whole ---- */

/* One attempt with the spectrum and the sizes known so far. *again: the next one will know more. */
static tw_status attempt(evaluation *ev, const tw_second_order *op, bool *again)
{
    ev->recurrence.interval = interval_of(&ev->spectrum);
    TW_TRY(expand(ev));

    bool grown = false;
    *again = false;
    TW_TRY(run_series(ev, &grown, again));
    if (!grown) return TW_OK;

    /* The interval was too small. */
    *again = true;

    return enlarge_spectrum(ev, op);
}

/* The estimated error. Fails if it exceeds the tolerance, for which only rounding is to blame. */
static tw_status finish(const evaluation *ev, tw_phi_statistics *statistics, tw_error *error)
{
    for (int i = 0; i < ev->request->output_count; i++) {
        double scale = scale_of(ev, i);
        double rounding = rounding_of(ev, i);
        if (scale > 0)
            statistics->estimated_error =
                fmax(statistics->estimated_error, fmax(error_of(ev, i), rounding) / scale);
    }
    if (!(statistics->estimated_error > ev->options->tolerance)) return TW_OK;

    return tw_fail(error, TW_ILL_CONDITIONED, "rounding alone is about %.1e of the result",
                   statistics->estimated_error);
}

static tw_status explain(tw_status status, const evaluation *ev, tw_error *error)
{
    if (status == TW_NOT_CONVERGED)
        return tw_fail(error, status,
                       "chebyshev did not reach the tolerance with a series of %d terms",
                       ev->terms);
    if (status == TW_BUDGET_EXHAUSTED)
        return tw_fail(error, status, "chebyshev used up its budget of %lld products",
                       (long long)ev->options->max_products);
    if (status == TW_NOT_FINITE)
        return tw_fail(error, status, "an operator or a function of it overflowed");

    return tw_fail_plain(error, status);
}

/* Attempts until the interval holds the spectrum and the outputs have the size that was assumed. */
static tw_status evaluate(evaluation *ev, const tw_second_order *op, tw_phi_statistics *statistics)
{
    TW_TRY(find_norms(ev));
    if (ev->starts > 0) TW_TRY(first_spectrum(ev, op));

    for (int attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
        bool again = false;
        if (attempts > 0) statistics->rejected++;
        TW_TRY(attempt(ev, op, &again));
        if (!again) return TW_OK;
    }

    return TW_NOT_CONVERGED;
}

static tw_status chebyshev_spectral(tw_phi_workspace *workspace, const tw_second_order *op,
                                    const tw_spectral_request *request,
                                    tw_phi_statistics *statistics, tw_error *error)
{
    if (op->stiffness.symmetry != TW_SYMMETRIC)
        return tw_fail(error, TW_UNSUPPORTED, "chebyshev needs a symmetric stiffness");
    tw_spectral_set_engine(workspace, request->slot, TW_PHI_ENGINE_COUNT);

    evaluation ev = {.request = request,
                     .memory = workspace->memory[TW_PHI_CHEBYSHEV],
                     .options = &workspace->options,
                     .recurrence = {.op = op,
                                    .memory = tw_spectral_memory_of(workspace),
                                    .metric = tw_mass_metric_of(op),
                                    .output_count = request->output_count,
                                    .start_count = request->start_count,
                                    .outputs = request->outputs}};
    for (int i = 0; i < MAX_OUTPUTS; i++) ev.measured[i] = -1;
    tw_status status = evaluate(&ev, op, statistics);

    /* The counts are reported also on failure. */
    statistics->substeps = 1;
    statistics->products = ev.recurrence.products;
    statistics->eigenvalue_max = ev.spectrum.high;
    for (int j = 0; j < request->start_count; j++)
        if (ev.degree[j] > statistics->dimension) statistics->dimension = ev.degree[j];

    if (status) return explain(status, &ev, error);
    return finish(&ev, statistics, error);
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
