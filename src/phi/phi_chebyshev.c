/* chebyshev: f(A) b = sum_k c_k T_k(Y) b, Y = (2A - low - high)/(high - low), by the three-term recurrence
 *     T_{k+1} = 2 Y T_k - T_{k-1}.
 * No inner products, no stored basis: one product, then one fused pass that advances the recurrence and adds to all
 * outputs. The degree is known from the coefficients beforehand, up to the size of the result: it is measured once,
 * near the end.
 *
 * Bounds: the operator's own upper bound, or a few Lanczos steps with their residual; the lower end is 0 unless they
 * show a negative Ritz value. In the interval |T_k(Y) b| <= |b|: growth proves the bounds wrong, and they are made
 * anew, wider. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/parallel_for.h"
#include "linalg/dense.h"
#include "linalg/vector.h"
#include "phi/chebyshev_series.h"
#include "phi/mass_coordinates.h"
#include "phi/phi_internal.h"
#include "phi/spectral_memory.h"

enum { MAX_OUTPUTS = 2 * TW_PHI_MAX_NODES, MAX_NODES = 8192, PROBE = 16, CHECK_EVERY = 16, TILE = 1024, MAX_TRIES = 5 };

typedef struct chebyshev_memory {
    int64_t size;
    double *current, *previous, *product, *force; /* TW_MAX_BLOCK vectors each; force: consistent mass only */
    double *coefficients;                         /* MAX_OUTPUTS * TW_MAX_BLOCK rows of MAX_NODES */
    double *scratch;                              /* 5 MAX_NODES, and the probe's small arrays */
    double *storage;
} chebyshev_memory;

static tw_status chebyshev_reserve(tw_phi_workspace *workspace, tw_error *error)
{
    if (!workspace->limits.second_order) return TW_OK;
    tw_status status = tw_spectral_reserve(workspace, error); /* phi_from_spectral.c works there */
    if (status) return status;
    chebyshev_memory *memory = TW_NEW(chebyshev_memory);
    if (!memory) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    workspace->memory[TW_PHI_CHEBYSHEV] = memory;
    size_t n = (size_t)workspace->limits.size, rows = (size_t)MAX_OUTPUTS * TW_MAX_BLOCK;
    memory->size = workspace->limits.size;
    memory->storage = TW_NEW_ARRAY(4 * TW_MAX_BLOCK * n, double);
    memory->coefficients = TW_NEW_ARRAY(rows * MAX_NODES, double);
    memory->scratch = TW_NEW_ARRAY(5 * MAX_NODES + PROBE * PROBE + 2 * PROBE + tw_dense_eigen_scratch(PROBE), double);
    if (!memory->storage || !memory->coefficients || !memory->scratch) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    memory->current = memory->storage;
    memory->previous = memory->storage + TW_MAX_BLOCK * n;
    memory->product = memory->storage + 2 * TW_MAX_BLOCK * n;
    memory->force = memory->storage + 3 * TW_MAX_BLOCK * n;
    return TW_OK;
}

static void chebyshev_release(tw_phi_workspace *workspace)
{
    tw_spectral_release(workspace);
    chebyshev_memory *memory = workspace->memory[TW_PHI_CHEBYSHEV];
    if (!memory) return;
    tw_release(memory->storage);
    tw_release(memory->coefficients);
    tw_release(memory->scratch);
    tw_release(memory);
    workspace->memory[TW_PHI_CHEBYSHEV] = NULL;
}

/* One evaluation under way. */
typedef struct run {
    chebyshev_memory *memory;
    const tw_second_order *op;
    const tw_spectral_request *request;
    tw_phi_statistics *statistics;
    int64_t budget;
    double tolerance, low, high;
    int nodes, columns;             /* coefficients per function; nonzero starts */
    int column_start[TW_MAX_BLOCK]; /* which start a column of the recurrence is */
    double norm[TW_MAX_BLOCK];      /* |b|_M of each column */
} run;

/* out = M^-1 K in for a consistent mass, K in otherwise: the pass divides by lumped masses. */
static tw_status apply_tangent(run *r, int count, const double *in, double *out)
{
    const tw_second_order *op = r->op;
    if (r->statistics->products + count > r->budget) return TW_BUDGET_EXHAUSTED;
    r->statistics->products += count;
    if (!op->mass) return op->stiffness.apply(op->stiffness.context, count, in, out);
    tw_status status = op->stiffness.apply(op->stiffness.context, count, in, r->memory->force);
    return status ? status : op->mass->solve(op->mass->context, count, r->memory->force, out);
}

/* ---- bounds ---- */

/* Entries that every mode has a share of, the same on every machine. */
static void rough_vector(int64_t n, double *x)
{
    for (int64_t i = 0; i < n; i++) {
        uint64_t z = ((uint64_t)i + 1) * 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 29)) * 0xBF58476D1CE4E5B9u;
        x[i] = (double)(z >> 11) * 0x1p-52 - 1.0;
    }
}

/* Ritz values of up to PROBE Lanczos steps, widened by the last off-diagonal entry: bounds that are rarely too narrow.
 */
static tw_status probe(run *r, double *low, double *high)
{
    chebyshev_memory *memory = r->memory;
    int64_t n = memory->size;
    tw_mass_metric metric = tw_mass_metric_of(r->op);
    double *q = memory->current, *old = memory->current + n, *next = memory->current + 2 * n, *work = memory->product;
    double *d = memory->scratch, *e = d + PROBE, *Q = e + PROBE, *eigen = Q + PROBE * PROBE, norm = 0, beta = 0;
    int m = 0;
    rough_vector(n, q);
    tw_vector_fill(n, 0.0, old);
    tw_status status = tw_mass_norm(&metric, q, work, &norm);
    tw_vector_scale(n, 1 / norm, q);
    while (status == TW_OK && m < PROBE) {
        status = apply_tangent(r, 1, q, next);
        if (r->op->lumped_mass) tw_vector_divide(n, r->op->lumped_mass, next, next);
        if (status == TW_OK) status = tw_mass_multiply(&metric, 1, q, work);
        if (status == TW_OK) status = tw_vector_dot(&metric.space, next, work, &d[m]);
        if (status) break;
        tw_vector_axpy(n, -d[m], q, next);
        tw_vector_axpy(n, -beta, old, next);
        status = tw_mass_norm(&metric, next, work, &beta);
        e[m++] = beta;
        if (status || !(beta > 1e-10 * fabs(d[0]))) break;
        tw_vector_copy(n, q, old);
        tw_vector_copy(n, next, q);
        tw_vector_scale(n, 1 / beta, q);
    }
    if (status == TW_OK) status = tw_tridiagonal_eigen(m, d, e, Q, eigen);
    *low = d[0] - beta;
    *high = d[m - 1] + beta;
    return status;
}

static tw_status first_bounds(run *r)
{
    double low = 0, high = 0;
    tw_status status = TW_OK;
    r->low = 0;
    r->high = r->op->eigenvalue_max;
    if (r->high > 0) return TW_OK;
    status = probe(r, &low, &high);
    r->low = low < 0 && low < -1e-3 * high ? low : fmin(0.0, low);
    r->high = fmax(high, 1e-12 * fabs(r->low));
    if (!(r->high > r->low)) r->high = r->low + 1; /* the zero operator */
    return status;
}

/* Growth was seen: both ends were asked, and are moved outwards more with every try. */
static tw_status wider_bounds(run *r, int tries)
{
    double low = 0, high = 0, old_low = r->low, old_high = r->high;
    tw_status status = probe(r, &low, &high);
    double room = 0.1 * (1 << tries) * (fmax(high, old_high) - fmin(low, old_low));
    r->low = fmin(low, old_low) - (low < 0 ? room : 0);
    r->high = fmax(high, old_high) + room;
    return status;
}

/* ---- coefficients and degree ---- */

static double *row_of(const run *r, int output, int column)
{
    return r->memory->coefficients + ((size_t)output * TW_MAX_BLOCK + (size_t)column) * MAX_NODES;
}

static const tw_spectral_function *function_of(const run *r, int output, int column)
{
    return &r->request->functions[output * r->request->start_count + r->column_start[column]];
}

/* Doubles the number of nodes until the last eighth of every series is at rounding or far below the tolerance. */
static tw_status find_coefficients(run *r)
{
    double wave = fabs(r->request->time) * sqrt(r->high - r->low);
    for (r->nodes = 32; r->nodes < wave && r->nodes < MAX_NODES; r->nodes *= 2) {}
    for (;; r->nodes *= 2) {
        bool settled = true;
        for (int i = 0; i < r->request->output_count; i++)
            for (int c = 0; c < r->columns; c++) {
                const tw_spectral_function *f = function_of(r, i, c);
                if (!f->value) continue;
                tw_status status =
                    tw_chebyshev_coefficients(f, r->low, r->high, r->nodes, r->memory->scratch, row_of(r, i, c));
                if (status) return status;
                double tail = tw_chebyshev_tail(row_of(r, i, c), r->nodes, r->nodes - r->nodes / 8);
                double all = tw_chebyshev_tail(row_of(r, i, c), r->nodes, -1);
                if (tail > fmax(1e-3 * r->tolerance, 64 * DBL_EPSILON * r->nodes) * all) settled = false;
            }
        if (settled) return TW_OK;
        if (r->nodes == MAX_NODES) return TW_NOT_CONVERGED;
    }
}

/* Bound of output i's error if the series end at `degree`; degree -1: of the output itself. */
static double tail_of(const run *r, int output, int degree)
{
    double sum = 0;
    for (int c = 0; c < r->columns; c++)
        if (function_of(r, output, c)->value)
            sum += r->norm[c] * tw_chebyshev_tail(row_of(r, output, c), r->nodes, degree);
    return sum;
}

/* The smallest degree whose tail is within the tolerance of the given sizes. */
static int degree_for(const run *r, const double *sizes)
{
    int degree = 0;
    for (int i = 0; i < r->request->output_count; i++) {
        int low = degree, high = r->nodes - 1;
        while (low < high) { /* tails fall with the degree */
            int middle = low + (high - low) / 2;
            if (tail_of(r, i, middle) <= 0.5 * r->tolerance * sizes[i])
                high = middle;
            else
                low = middle + 1;
        }
        degree = low;
    }
    return degree;
}

/* ---- the recurrence ---- */

typedef struct pass {
    const run *r;
    int k;                      /* the degree this pass makes */
    double scale, offset, keep; /* T_k = scale (M^-1 K T_{k-1}) - offset T_{k-1} - keep T_{k-2} */
    double *const *outputs;
} pass;

static void pass_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const pass *p = context;
    const run *r = p->r;
    int64_t n = r->memory->size;
    const double *restrict mass = r->op->lumped_mass;
    for (int c = 0; c < r->columns; c++) {
        const double *restrict y = r->memory->product + c * n, *restrict t = r->memory->current + c * n;
        double *restrict next = r->memory->previous + c * n;
        if (mass)
            for (int64_t i = begin; i < end; i++)
                next[i] = p->scale * (y[i] / mass[i]) - p->offset * t[i] - p->keep * next[i];
        else
            for (int64_t i = begin; i < end; i++) next[i] = p->scale * y[i] - p->offset * t[i] - p->keep * next[i];
    }
    for (int o = 0; o < r->request->output_count; o++)
        for (int c = 0; c < r->columns; c++) {
            if (!function_of(r, o, c)->value) continue;
            double weight = row_of(r, o, c)[p->k];
            const double *restrict t = r->memory->previous + c * n;
            double *restrict out = p->outputs[o];
            for (int64_t i = begin; i < end; i++) out[i] += weight * t[i];
        }
}

static void swap_blocks(chebyshev_memory *memory)
{
    double *kept = memory->current;
    memory->current = memory->previous;
    memory->previous = kept;
}

/* T_k from T_{k-1} (current) and T_{k-2} (previous, overwritten); T_1 = Y T_0 has half the factor and nothing to
 * subtract. */
static tw_status advance(run *r, int k)
{
    double factor = k == 1 ? 1.0 : 2.0, width = r->high - r->low;
    tw_status status = apply_tangent(r, r->columns, r->memory->current, r->memory->product);
    if (status) return status;
    pass p = {r, k, factor * 2 / width, factor * (r->high + r->low) / width, k == 1 ? 0.0 : 1.0, r->request->outputs};
    tw_parallel_for(r->memory->size, TILE, pass_body, &p);
    swap_blocks(r->memory);
    return TW_OK;
}

/* T_0 = b, and its share of the outputs. */
static void begin(run *r)
{
    int64_t n = r->memory->size;
    for (int o = 0; o < r->request->output_count; o++) tw_vector_fill(n, 0.0, r->request->outputs[o]);
    for (int c = 0; c < r->columns; c++) {
        const double *start = r->request->starts[r->column_start[c]];
        tw_vector_copy(n, start, r->memory->current + c * n);
        tw_vector_fill(n, 0.0, r->memory->previous + c * n);
        for (int o = 0; o < r->request->output_count; o++)
            if (function_of(r, o, c)->value) tw_vector_axpy(n, row_of(r, o, c)[0], start, r->request->outputs[o]);
    }
}

/* Whether some |T_k b| exceeds |b| by more than rounding can explain. */
static tw_status has_grown(run *r, int k, bool *grown)
{
    tw_mass_metric metric = tw_mass_metric_of(r->op);
    for (int c = 0; c < r->columns; c++) {
        double norm = 0;
        tw_status status = tw_mass_norm(&metric, r->memory->current + c * r->memory->size, r->memory->product, &norm);
        if (status == TW_NOT_FINITE) *grown = true;
        if (status) return status == TW_NOT_FINITE ? TW_OK : status;
        if (norm > r->norm[c] * (1.05 + 1e-13 * k)) *grown = true;
    }
    return TW_OK;
}

/* From degree `from` (done) to `to`. */
static tw_status sweep(run *r, int from, int to, bool *grown)
{
    tw_status status = TW_OK;
    for (int k = from + 1; k <= to && status == TW_OK && !*grown; k++) {
        status = advance(r, k);
        if (status == TW_OK && (k % CHECK_EVERY == 0 || k == to)) status = has_grown(r, k, grown);
    }
    return status;
}

/* What each output's error is promised in; *rounding: the largest share of it that rounding alone makes. */
static tw_status measure(run *r, double *sizes, double *rounding)
{
    tw_mass_metric metric = tw_mass_metric_of(r->op);
    *rounding = 0;
    for (int i = 0; i < r->request->output_count; i++) {
        tw_status status = tw_mass_norm(&metric, r->request->outputs[i], r->memory->product, &sizes[i]);
        if (status) return status;
        if (r->request->reference) sizes[i] = fmax(sizes[i], r->request->reference[i]);
        double noise = 4 * DBL_EPSILON * tail_of(r, i, -1);
        if (noise > 0) *rounding = fmax(*rounding, sizes[i] > 0 ? noise / sizes[i] : INFINITY);
    }
    return TW_OK;
}

/* One try with the bounds at hand. The first degree is for the largest size the outputs can have; then they are
 * measured. */
static tw_status attempt(run *r, bool *grown, double *rounding)
{
    double sizes[MAX_OUTPUTS];
    *grown = false;
    tw_status status = find_coefficients(r);
    if (status) return status;
    for (int i = 0; i < r->request->output_count; i++) sizes[i] = tail_of(r, i, -1);
    int degree = degree_for(r, sizes), done = 0;
    begin(r);
    for (int round = 0; round < 4; round++) {
        status = sweep(r, done, degree, grown);
        if (status || *grown) return status;
        done = degree;
        status = measure(r, sizes, rounding);
        if (status) return status;
        degree = degree_for(r, sizes);
        if (degree <= done) break;
    }
    r->statistics->dimension = done;
    r->statistics->estimated_error = *rounding;
    for (int i = 0; i < r->request->output_count; i++)
        if (sizes[i] > 0)
            r->statistics->estimated_error = fmax(r->statistics->estimated_error, tail_of(r, i, done) / sizes[i]);
    return TW_OK;
}

/* The start vectors that are not zero, and their norms. */
static tw_status take_columns(run *r)
{
    tw_mass_metric metric = tw_mass_metric_of(r->op);
    for (int j = 0; j < r->request->start_count; j++) {
        double norm = 0;
        if (!r->request->starts[j]) continue;
        tw_status status = tw_mass_norm(&metric, r->request->starts[j], r->memory->product, &norm);
        if (status) return status;
        if (norm == 0) continue;
        r->norm[r->columns] = norm;
        r->column_start[r->columns++] = j;
    }
    return TW_OK;
}

static tw_status evaluate(run *r, double *rounding)
{
    tw_status status = take_columns(r);
    if (status) return status;
    if (r->columns == 0) {
        for (int o = 0; o < r->request->output_count; o++) tw_vector_fill(r->memory->size, 0.0, r->request->outputs[o]);
        return TW_OK;
    }
    bool grown = true;
    status = first_bounds(r);
    for (int tries = 0; status == TW_OK && grown; tries++) {
        if (tries == MAX_TRIES) return TW_NOT_CONVERGED;
        if (tries > 0) {
            status = wider_bounds(r, tries);
            r->statistics->rejected++;
        }
        if (status == TW_OK) status = attempt(r, &grown, rounding);
    }
    return status;
}

static tw_status chebyshev_spectral(tw_phi_workspace *workspace, const tw_second_order *op,
                                    const tw_spectral_request *request, tw_phi_statistics *statistics, tw_error *error)
{
    if (op->stiffness.symmetry != TW_SYMMETRIC)
        return tw_fail(error, TW_UNSUPPORTED, "chebyshev needs a symmetric stiffness");
    run r = {.memory = workspace->memory[TW_PHI_CHEBYSHEV],
             .op = op,
             .request = request,
             .statistics = statistics,
             .budget = workspace->options.max_products,
             .tolerance = workspace->options.tolerance};
    if (request->slot < TW_PHI_MAX_SLOTS) workspace->slot_engine[request->slot] = TW_PHI_ENGINE_COUNT;
    double rounding = 0;
    statistics->substeps = 1;
    tw_status status = evaluate(&r, &rounding);
    if (status == TW_NOT_CONVERGED)
        return tw_fail(error, status, "chebyshev: a degree above %d, or no bounds of the spectrum that hold",
                       MAX_NODES);
    if (status) return tw_fail_plain(error, status);
    if (rounding > r.tolerance)
        return tw_fail(error, TW_ILL_CONDITIONED, "rounding alone is about %.1e of the result", rounding);
    return TW_OK;
}

static tw_status chebyshev_second_order(tw_phi_workspace *workspace, const tw_second_order *op,
                                        const tw_phi_request *request, tw_phi_statistics *statistics, tw_error *error)
{
    return tw_phi_spectral_evaluate(workspace, &tw_phi_chebyshev, op, request, statistics, error);
}

const tw_phi_engine_table tw_phi_chebyshev = {.reserve = chebyshev_reserve,
                                              .release = chebyshev_release,
                                              .second_order = chebyshev_second_order,
                                              .spectral = chebyshev_spectral};
