/* One evaluation of an adaptive Krylov engine: the request is cut into trajectories, and the
 * outputs are judged.
 *
 * A trajectory delivers sum_k theta^k phi_k(theta s A) b_k. A request asks for sum_k phi_k(c_i t A)
 * v_k with the same v_k at every node. With several nodes and several k, the powers of theta do not
 * fit, and the request is cut:
 *   one node               one trajectory, theta = 1, b_k = v_k;
 *   one k, several nodes   one trajectory, outputs divided by theta_i^k;
 *   several of both        a trajectory per node (all k) or one per k (all nodes), whichever
 *                          covers less time.
 * Nodes of different sign never share a trajectory. Equal nodes share an output. Node 0 needs none:
 * sum_k v_k / k!. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "linalg/vector.h"
#include "phi/krylov/krylov.h"

/* A solution that rises and falls again keeps errors of the size of its peak. The trajectories are
 * then repeated with a smaller tolerance, at most so often. */
enum { MOST_REPEATS = 3 };

/* Share of the tolerance that truncation may use; the rest is for rounding. */
static const double TRUNCATION_SHARE = 0.5;

/* Below this theta^k, an output is not taken from the trajectory of a much larger node: dividing by
 * it loses digits. */
static const double SMALLEST_POWER = 1e-6;

/* One evaluation. Sizes and errors are in units of 1/factor, per part. */
typedef struct evaluation {
    tw_phi_workspace *workspace;
    const tw_krylov_variant *variant;
    const tw_phi_request *request;
    tw_krylov_memory *memory;
    tw_phi_statistics *statistics;
    double factor; /* a power of two that brings the largest vector to about 1 */
    double sizes[TW_PHI_MAX_ORDER + 1][2]; /* |v_k| */
    double scale[2];                       /* max(sum_k |v_k| / k!, reference) */
    int active_count;
    int active[TW_PHI_MAX_ORDER + 1]; /* the k whose vector is not zero */
    double tolerance;                 /* of the trajectories */
    double errors[TW_PHI_MAX_NODES][2];
    double rounding[TW_PHI_MAX_NODES][2];
} evaluation;

/* Distinct nodes of one sign, ascending in modulus. */
typedef struct node_group {
    int count;
    int output[TW_PHI_MAX_NODES];  /* index in the request */
    double time[TW_PHI_MAX_NODES]; /* c_i t */
} node_group;

/* ---- what comes in ---- */

/* Norms of the vectors, and which are active; *largest is the largest norm. */
static tw_status measure_vectors(evaluation *e, const tw_space *space, double *largest)
{
    const tw_phi_request *request = e->request;
    *largest = 0;
    for (int k = 0; k <= request->order; k++) {
        double *size = e->sizes[k];
        if (!request->vectors[k]) continue;
        TW_TRY(tw_phi_part_norms(e->workspace, space, request->vectors[k], size));

        /* A vector that is zero takes no part. */
        double whole = hypot(size[0], size[1]);
        if (!isfinite(whole)) return TW_NOT_FINITE;
        if (whole > 0) e->active[e->active_count++] = k;
        *largest = fmax(*largest, whole);
    }
    return TW_OK;
}

/* Sizes of the vectors, the common factor, and the scale to which errors relate. */
static tw_status measure(evaluation *e, const tw_space *space)
{
    const tw_phi_request *request = e->request;
    double largest = 0;
    TW_TRY(measure_vectors(e, space, &largest));
    if (largest == 0) return TW_OK;

    /* sizes *= factor, and scale = sum_k |v_k| / k!. */
    e->factor = ldexp(1.0, -ilogb(largest));
    double factorial = 1;
    for (int k = 0; k <= request->order; k++) {
        if (k > 0) factorial *= k;
        for (int b = 0; b < 2; b++) {
            e->sizes[k][b] *= e->factor;
            e->scale[b] += e->sizes[k][b] / factorial;
        }
    }

    for (int b = 0; b < 2; b++) e->scale[b] = fmax(e->scale[b], request->reference[b] * e->factor);
    return TW_OK;
}

/* Sorts the nodes of one sign by modulus; of equal nodes the first is kept. */
static node_group group_of(const tw_phi_request *request, double sign)
{
    node_group group = {0};
    for (int i = 0; i < request->node_count; i++) {
        double time = request->nodes[i] * request->time;
        if (!(time * sign > 0)) continue;

        /* The place of this node; an equal one may stand there already. */
        int at = 0;
        while (at < group.count && fabs(group.time[at]) < fabs(time)) at++;
        if (at < group.count && group.time[at] == time) continue;

        /* Insert it there. */
        size_t after = (size_t)(group.count - at);
        memmove(group.time + at + 1, group.time + at, after * sizeof *group.time);
        memmove(group.output + at + 1, group.output + at, after * sizeof *group.output);
        group.time[at] = time;
        group.output[at] = i;
        group.count++;
    }
    return group;
}

/* ---- trajectories ---- */

/* What a trajectory serves: nodes [first, first + count) of the group, with v_k for one k or for
 * all (-1). */
typedef struct assignment {
    const node_group *group;
    int first;
    int count;
    int k;
} assignment;

static void set_vectors(const evaluation *e, const assignment *which,
                        tw_krylov_trajectory *trajectory)
{
    for (int j = 0; j < e->active_count; j++) {
        int index = e->active[j];
        if (which->k >= 0 && index != which->k) continue;

        trajectory->vectors[index] = e->request->vectors[index];
        trajectory->order = index;
        for (int b = 0; b < 2; b++) trajectory->sizes[index][b] = e->sizes[index][b];
    }
}

/* theta_i = time_i / time_last. Outputs of several nodes are divided by theta_i^k. */
static void set_nodes(const evaluation *e, const assignment *which,
                      tw_krylov_trajectory *trajectory)
{
    const node_group *group = which->group;
    int power = which->count > 1 && which->k > 0 ? which->k : 0;
    trajectory->node_count = which->count;
    for (int i = 0; i < which->count; i++) {
        double time = group->time[which->first + i];
        trajectory->nodes[i] = time / trajectory->scale;
        if (i + 1 == which->count) trajectory->nodes[i] = 1;

        /* The tolerance relates to the output after the division, so the scale shrinks too. */
        double theta = pow(trajectory->nodes[i], power);
        trajectory->weights[i] = 1 / theta;
        trajectory->outputs[i] = e->request->outputs[group->output[which->first + i]];
        for (int b = 0; b < 2; b++) trajectory->scales[i][b] = e->scale[b] * theta;
    }
}

/* Follows one trajectory and adds to the outputs and their errors. */
static tw_status follow(evaluation *e, const assignment *which)
{
    const node_group *group = which->group;
    tw_krylov_trajectory trajectory = {.scale = group->time[which->first + which->count - 1],
                                       .factor = e->factor,
                                       .tolerance = e->tolerance};

    set_vectors(e, which, &trajectory);
    set_nodes(e, which, &trajectory);
    TW_TRY(
        tw_krylov_trajectory_run(e->workspace, e->variant, e->memory, &trajectory, e->statistics));

    /* Several trajectories may contribute to one output: their errors add. */
    for (int i = 0; i < which->count; i++) {
        int output = group->output[which->first + i];
        for (int b = 0; b < 2; b++) {
            e->errors[output][b] += trajectory.weights[i] * trajectory.errors[i][b];
            e->rounding[output][b] += trajectory.weights[i] * trajectory.rounding[i][b];
        }
    }
    return TW_OK;
}

/* Whether trajectories through all nodes, one per k, cover less time than trajectories with all k,
 * one per node. */
static bool one_per_order(const evaluation *e, const node_group *group)
{
    if (!e->variant->simultaneous) return false;

    /* Per k every trajectory has length 1; per node their lengths add to `covered`. */
    double longest = fabs(group->time[group->count - 1]);
    double smallest = pow(fabs(group->time[0]) / longest, e->active[e->active_count - 1]);
    double covered = 0;
    for (int i = 0; i < group->count; i++) covered += fabs(group->time[i]) / longest;
    return smallest > SMALLEST_POWER && e->active_count < covered;
}

static tw_status follow_group(evaluation *e, const node_group *group)
{
    assignment which = {.group = group, .first = 0, .count = group->count};

    /* One per k, through all nodes. */
    if (group->count > 1 && one_per_order(e, group)) {
        for (int j = 0; j < e->active_count; j++) {
            which.k = e->active[j];
            TW_TRY(follow(e, &which));
        }
        return TW_OK;
    }

    /* One per node, with all k. */
    which.count = 1;
    which.k = -1;
    for (which.first = 0; which.first < group->count; which.first++) TW_TRY(follow(e, &which));
    return TW_OK;
}

/* w = sum_k v_k / k! where c_i t = 0. */
static void evaluate_at_zero(const evaluation *e, int64_t n, double *output)
{
    double coefficient = e->factor;
    for (int k = 0; k <= e->request->order; k++) {
        if (k > 0) coefficient /= k;
        if (e->request->vectors[k]) tw_vector_axpy(n, coefficient, e->request->vectors[k], output);
    }
}

static tw_status follow_all(evaluation *e, int64_t n)
{
    const tw_phi_request *request = e->request;
    memset(e->errors, 0, sizeof e->errors);
    memset(e->rounding, 0, sizeof e->rounding);

    /* Trajectories add to the outputs, so these start from zero. */
    for (int i = 0; i < request->node_count; i++) {
        tw_vector_fill(n, 0.0, request->outputs[i]);
        if (request->nodes[i] * request->time == 0) evaluate_at_zero(e, n, request->outputs[i]);
    }

    /* Positive times, then negative ones. */
    node_group forward = group_of(request, 1);
    node_group backward = group_of(request, -1);
    TW_TRY(follow_group(e, &forward));
    return follow_group(e, &backward);
}

/* ---- what goes out ---- */

/* Largest estimated errors over outputs and parts, relative to the size that the norm of phi.h
 * names. */
static tw_status weigh_errors(const evaluation *e, const tw_space *space, double *truncation,
                              double *total)
{
    *truncation = 0;
    *total = 0;
    for (int i = 0; i < e->request->node_count; i++) {
        double norms[2];
        TW_TRY(tw_phi_part_norms(e->workspace, space, e->request->outputs[i], norms));

        for (int b = 0; b < 2; b++) {
            double sum = e->errors[i][b] + e->rounding[i][b];
            if (sum == 0) continue;

            /* An error in a part without size counts as a relative error of 1. */
            double scale = fmax(norms[b], e->scale[b]);
            bool sized = scale > 0;
            *truncation = fmax(*truncation, sized ? e->errors[i][b] / scale : 1);
            *total = fmax(*total, sized ? sum / scale : 1);
        }
    }
    return TW_OK;
}

/* Undoes the common factor, and copies the output of equal nodes. */
static void finish_outputs(const evaluation *e, int64_t n)
{
    const tw_phi_request *request = e->request;
    /* The factor is a power of two: no rounding. */
    for (int i = 0; i < request->node_count; i++)
        tw_vector_scale(n, 1 / e->factor, request->outputs[i]);

    /* Of equal nodes only the first was computed. */
    for (int i = 0; i < request->node_count; i++)
        for (int j = 0; j < i; j++)
            if (request->nodes[i] * request->time == request->nodes[j] * request->time) {
                tw_vector_copy(n, request->outputs[j], request->outputs[i]);
                break;
            }
}

static tw_status evaluate(evaluation *e, const tw_space *space)
{
    double promised = e->workspace->options.tolerance;
    double truncation = 0;
    double total = 0;
    e->tolerance = TRUNCATION_SHARE * promised;
    for (int repeat = 0; repeat < MOST_REPEATS; repeat++) {
        TW_TRY(follow_all(e, space->local_size));
        TW_TRY(weigh_errors(e, space, &truncation, &total));

        /* Errors above the promise: repeat with a tolerance smaller by the same factor, if that is
         * above rounding. */
        double next = e->tolerance * TRUNCATION_SHARE * promised / truncation;
        if (truncation <= promised || !(next > DBL_EPSILON)) break;
        e->tolerance = next;
    }

    /* The last repetition stands, with its estimate. */
    finish_outputs(e, space->local_size);
    e->statistics->estimated_error = total;
    return total <= promised ? TW_OK : TW_ILL_CONDITIONED;
}

/* ---- the call ---- */

/* Whether the whole space fits into one basis. Vectors beyond its dimension would be combinations of
 * rounding errors, which a short window does not notice. */
static bool space_is_small(const tw_arnoldi *a, const tw_krylov_variant *variant, int order)
{
    const tw_space *space = &a->op->space;
    int most = variant->max_dimension < a->capacity ? variant->max_dimension : a->capacity;
    return !space->reduce && space->local_size + (variant->augmented ? order : 0) <= most;
}

/* Prepares the basis for this operator. A symmetric or skew operator needs the last two vectors
 * only. In a small space complete orthogonalisation costs little, and ends with an exact result. */
static void bind(tw_arnoldi *a, const tw_phi_workspace *workspace, const tw_krylov_variant *variant,
                 const tw_operator *op, int order)
{
    a->op = op;
    a->metric = workspace->frame ? workspace->frame->metric : NULL;

    a->window = variant->window;
    if (a->window == 0 && op->symmetry != TW_GENERAL) a->window = 2;
    if (space_is_small(a, variant, order)) a->window = 0;

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

tw_status tw_krylov_evaluate(tw_phi_workspace *workspace, const tw_krylov_variant *variant,
                             const tw_operator *op, const tw_phi_request *request,
                             tw_phi_statistics *statistics, tw_error *error)
{
    evaluation e = {.workspace = workspace,
                    .variant = variant,
                    .request = request,
                    .memory = workspace->memory[statistics->engine],
                    .statistics = statistics};
    bind(&e.memory->arnoldi, workspace, variant, op, request->order);
    tw_status status = measure(&e, &op->space);

    /* All vectors are zero, and so are the outputs. */
    if (status == TW_OK && e.active_count == 0) {
        for (int i = 0; i < request->node_count; i++)
            tw_vector_fill(op->space.local_size, 0.0, request->outputs[i]);
        return TW_OK;
    }

    if (status == TW_OK) status = evaluate(&e, &op->space);
    statistics->products = e.memory->arnoldi.products;
    return explain(status, statistics->estimated_error, error);
}
