#include "phi/krylov/phi_krylov.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "linalg/vector.h"
#include "phi/krylov/phi_substeps.h"

/* A solution that rises and falls again leaves errors of its peak: the sweeps are repeated with a tolerance that much
 * smaller, at most so often. */
enum { MOST_REPEATS = 3 };
/* Below this theta^k an output is not worth taking from the sweep of a much larger node. */
static const double SMALLEST_POWER = 1e-6;

/* One evaluation. Sizes are in units of 1/factor; blocks as in tw_phi_frame. */
typedef struct evaluation {
    tw_phi_workspace *workspace;
    const tw_krylov_method *method;
    const tw_phi_request *request;
    tw_krylov_memory *memory;
    tw_phi_statistics *statistics;
    double factor; /* a power of two that brings the largest vector to about 1 */
    double sizes[TW_PHI_MAX_ORDER + 1][2]; /* |v_k| */
    double scale[2];                       /* max(sum_k |v_k| / k!, reference) */
    int active_count;
    int active[TW_PHI_MAX_ORDER + 1]; /* the k with a vector */
    double tolerance;                 /* of the sweeps */
    double errors[TW_PHI_MAX_NODES][2], rounding[TW_PHI_MAX_NODES][2];
} evaluation;

/* Distinct nodes of one sign, ascending in modulus. */
typedef struct node_group {
    int count;
    int output[TW_PHI_MAX_NODES];  /* index in the request */
    double time[TW_PHI_MAX_NODES]; /* c_i t */
} node_group;

/* Norms of the vectors, the common factor, and what is active. */
static tw_status measure(evaluation *e, const tw_space *space)
{
    const tw_phi_request *request = e->request;
    double largest = 0, factorial = 1;
    for (int k = 0; k <= request->order; k++) {
        double *size = e->sizes[k];
        if (!request->vectors[k]) continue;
        tw_status status = tw_phi_block_norms(e->workspace, space, request->vectors[k], size);
        if (status) return status;
        double whole = hypot(size[0], size[1]);
        if (!isfinite(whole)) return TW_NOT_FINITE;
        if (whole > 0) e->active[e->active_count++] = k;
        largest = fmax(largest, whole);
    }
    if (largest == 0) return TW_OK;
    e->factor = ldexp(1.0, -ilogb(largest));
    for (int k = 0; k <= request->order; k++) {
        factorial *= k > 0 ? k : 1;
        for (int b = 0; b < 2; b++) {
            e->sizes[k][b] *= e->factor;
            e->scale[b] += e->sizes[k][b] / factorial;
        }
    }
    for (int b = 0; b < 2; b++) e->scale[b] = fmax(e->scale[b], request->reference[b] * e->factor);
    return TW_OK;
}

static node_group group_of(const tw_phi_request *request, double sign)
{
    node_group group = {0};
    for (int i = 0; i < request->node_count; i++) {
        double time = request->nodes[i] * request->time;
        if (!(time * sign > 0)) continue;
        int at = 0;
        while (at < group.count && fabs(group.time[at]) < fabs(time)) at++;
        if (at < group.count && group.time[at] == time) continue;
        size_t after = (size_t)(group.count - at);
        memmove(group.time + at + 1, group.time + at, after * sizeof *group.time);
        memmove(group.output + at + 1, group.output + at, after * sizeof *group.output);
        group.time[at] = time;
        group.output[at] = i;
        group.count++;
    }
    return group;
}

/* Runs one sweep over nodes [first, first + count) of the group with v_k for the k given (-1: all of them). */
static tw_status sweep(evaluation *e, const node_group *group, int first, int count, int k)
{
    tw_phi_sweep sweep = {
        .scale = group->time[first + count - 1], .factor = e->factor, .tolerance = e->tolerance};
    int power = count > 1 && k > 0 ? k : 0;
    for (int j = 0; j < e->active_count; j++) {
        int index = e->active[j];
        if (k >= 0 && index != k) continue;
        sweep.vectors[index] = e->request->vectors[index];
        sweep.order = index;
        for (int b = 0; b < 2; b++) sweep.sizes[index][b] = e->sizes[index][b];
    }
    sweep.node_count = count;
    for (int i = 0; i < count; i++) {
        sweep.nodes[i] = i + 1 == count ? 1 : group->time[first + i] / sweep.scale;
        double theta = pow(sweep.nodes[i], power);
        sweep.weights[i] = 1 / theta;
        sweep.outputs[i] = e->request->outputs[group->output[first + i]];
        for (int b = 0; b < 2; b++) sweep.scales[i][b] = e->scale[b] * theta;
    }
    tw_status status =
        tw_phi_substeps_run(e->workspace, e->method, e->memory, &sweep, e->statistics);
    for (int i = 0; i < count && status == TW_OK; i++)
        for (int b = 0; b < 2; b++) {
            e->errors[group->output[first + i]][b] += sweep.weights[i] * sweep.errors[i][b];
            e->rounding[group->output[first + i]][b] += sweep.weights[i] * sweep.rounding[i][b];
        }
    return status;
}

/* Whether sweeps over all nodes, one per k, cover less time than sweeps over all k, one per node. */
static bool sweeps_per_order(const evaluation *e, const node_group *group)
{
    if (!e->method->simultaneous) return false;
    double longest = fabs(group->time[group->count - 1]), covered = 0;
    double smallest = pow(fabs(group->time[0]) / longest, e->active[e->active_count - 1]);
    for (int i = 0; i < group->count; i++) covered += fabs(group->time[i]) / longest;
    return smallest > SMALLEST_POWER && e->active_count < covered;
}

static tw_status sweep_group(evaluation *e, const node_group *group)
{
    tw_status status = TW_OK;
    if (group->count > 1 && sweeps_per_order(e, group)) {
        for (int j = 0; j < e->active_count && status == TW_OK; j++)
            status = sweep(e, group, 0, group->count, e->active[j]);
        return status;
    }
    for (int i = 0; i < group->count && status == TW_OK; i++) status = sweep(e, group, i, 1, -1);
    return status;
}

/* w = sum_k v_k / k! where c_i t = 0. */
static void evaluate_at_zero(const evaluation *e, int64_t n, double *output)
{
    double coefficient = e->factor;
    for (int k = 0; k <= e->request->order; k++) {
        coefficient /= k > 0 ? k : 1;
        if (e->request->vectors[k]) tw_vector_axpy(n, coefficient, e->request->vectors[k], output);
    }
}

static tw_status run_sweeps(evaluation *e, int64_t n)
{
    const tw_phi_request *request = e->request;
    memset(e->errors, 0, sizeof e->errors);
    memset(e->rounding, 0, sizeof e->rounding);
    for (int i = 0; i < request->node_count; i++) {
        tw_vector_fill(n, 0.0, request->outputs[i]);
        if (request->nodes[i] * request->time == 0) evaluate_at_zero(e, n, request->outputs[i]);
    }
    node_group forward = group_of(request, 1), backward = group_of(request, -1);
    tw_status status = sweep_group(e, &forward);
    return status ? status : sweep_group(e, &backward);
}

/* Largest estimated errors over outputs and blocks in units of what the norm of phi.h relates them to. */
static tw_status weigh_errors(const evaluation *e, const tw_space *space, double *truncation,
                              double *total)
{
    *truncation = *total = 0;
    for (int i = 0; i < e->request->node_count; i++) {
        double norms[2];
        tw_status status = tw_phi_block_norms(e->workspace, space, e->request->outputs[i], norms);
        if (status) return status;
        for (int b = 0; b < 2; b++) {
            double scale = fmax(norms[b], e->scale[b]), sum = e->errors[i][b] + e->rounding[i][b];
            if (sum == 0) continue;
            *truncation = fmax(*truncation, scale > 0 ? e->errors[i][b] / scale : 1);
            *total = fmax(*total, scale > 0 ? sum / scale : 1);
        }
    }
    return TW_OK;
}

/* Equal nodes get a copy; everything gets back its size. */
static void finish_outputs(const evaluation *e, int64_t n)
{
    const tw_phi_request *request = e->request;
    for (int i = 0; i < request->node_count; i++)
        tw_vector_scale(n, 1 / e->factor, request->outputs[i]);
    for (int i = 0; i < request->node_count; i++)
        for (int j = 0; j < i; j++)
            if (request->nodes[i] * request->time == request->nodes[j] * request->time) {
                tw_vector_copy(n, request->outputs[j], request->outputs[i]);
                break;
            }
}

static tw_status evaluate(evaluation *e, const tw_space *space)
{
    double promised = e->workspace->options.tolerance, truncation = 0, total = 0;
    e->tolerance = 0.5 * promised;
    for (int repeat = 0; repeat < MOST_REPEATS; repeat++) {
        tw_status status = run_sweeps(e, space->local_size);
        if (status == TW_OK) status = weigh_errors(e, space, &truncation, &total);
        if (status) return status;
        double next = e->tolerance * 0.5 * promised / truncation;
        if (truncation <= promised || !(next > DBL_EPSILON)) break;
        e->tolerance = next;
    }
    finish_outputs(e, space->local_size);
    e->statistics->estimated_error = total;
    return total <= promised ? TW_OK : TW_ILL_CONDITIONED;
}

static void bind(tw_arnoldi *a, const tw_phi_workspace *workspace, const tw_krylov_method *method,
                 const tw_operator *op)
{
    a->op = op;
    a->metric = workspace->frame ? workspace->frame->metric : NULL;
    a->window = method->window == 0 && op->symmetry != TW_GENERAL ? 2 : method->window;
    a->products = 0;
    a->max_products = workspace->options.max_products;
}

static tw_status explain(tw_status status, double estimate, tw_error *error)
{
    switch (status) {
    case TW_OK:
    case TW_NOT_POSITIVE_DEFINITE:
        return status;
    case TW_ILL_CONDITIONED:
        return tw_fail(error, status, "rounding allows a relative error of %.1e only", estimate);
    case TW_BUDGET_EXHAUSTED:
        return tw_fail(error, status,
                       "the budget of products was spent before the last node was reached");
    case TW_NOT_FINITE:
        return tw_fail(error, status,
                       "the product is not finite, or the solution grows beyond double precision");
    default:
        return tw_fail_plain(error, status);
    }
}

tw_status tw_krylov_evaluate(tw_phi_workspace *workspace, const tw_krylov_method *method,
                             const tw_operator *op, const tw_phi_request *request,
                             tw_phi_statistics *statistics, tw_error *error)
{
    evaluation e = {.workspace = workspace,
                    .method = method,
                    .request = request,
                    .memory = workspace->memory[statistics->engine],
                    .statistics = statistics};
    bind(&e.memory->arnoldi, workspace, method, op);
    tw_status status = measure(&e, &op->space);
    if (status == TW_OK && e.active_count == 0) {
        for (int i = 0; i < request->node_count; i++)
            tw_vector_fill(op->space.local_size, 0.0, request->outputs[i]);
        return TW_OK;
    }
    if (status == TW_OK) status = evaluate(&e, &op->space);
    statistics->products = e.memory->arnoldi.products;
    return explain(status, statistics->estimated_error, error);
}
