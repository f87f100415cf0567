/* One trajectory: substeps, their errors, and what goes into the outputs. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/parallel_for.h"
#include "linalg/vector.h"
#include "phi/taylor/exp_sweep.h"

/* Share of the tolerance that truncation may use on the way: convergence is so fast that a tenth costs a few terms,
 * and it leaves room for amplification. */
static const double TRUNCATION_SHARE = 0.1;
/* A solution of this size whose terms diverge is about to overflow: shorter substeps will not help. */
static const double NEAR_OVERFLOW = 1e250;
enum { MAX_REJECTIONS = 60 };

typedef struct progress {
    tw_exp_call *call;
    double theta;
    double length;
    int next_node;    /* first node not yet reached */
    int inside;       /* nodes strictly inside the substep, from next_node on */
    double norm[2];   /* block norms of u */
    bool probe;       /* travels along */
    double probe_log; /* logarithm of the factor taken out of the probe */
} progress;

typedef struct magnitude_job {
    double factor;
    const double *x;
    double *sum;
} magnitude_job;

static int sign_index(double time)
{
    return time > 0 ? 0 : 1;
}

static tw_amplification *amplification_of(const tw_exp_call *call)
{
    return &call->memory->amplification[sign_index(call->trajectory->time)];
}

/* z_k = theta^(k-1)/(k-1)!. */
static void set_polynomials(tw_substep_sources *sources, double theta)
{
    double value = 1;
    for (int k = 1; k <= sources->top; k++) {
        sources->polynomial[k] = value;
        value *= theta / k;
    }
}

static void set_sources(tw_exp_call *call)
{
    const tw_exp_trajectory *trajectory = call->trajectory;
    tw_substep_sources *sources = &call->substep.sources;
    *sources = (tw_substep_sources){0};
    int64_t n = call->op->space.local_size;
    for (int i = trajectory->first_input; i < trajectory->first_input + trajectory->input_count;
         i++) {
        if (call->input_order[i] == 0) continue;
        if (sources->count == 0) sources->vectors = call->memory->inputs + i * n;
        sources->order[sources->count] = call->input_order[i];
        memcpy(sources->norm[sources->count], call->input_norm[i], sizeof sources->norm[0]);
        sources->top = call->input_order[i];
        sources->count++;
    }
}

static tw_status start(progress *p)
{
    tw_exp_call *call = p->call;
    const tw_exp_trajectory *trajectory = call->trajectory;
    int64_t n = call->op->space.local_size;
    set_sources(call);
    call->substep.time = trajectory->time;
    memcpy(call->substep.norm, call->bounds.block_norm, sizeof call->substep.norm);
    double *u = call->substep.vectors.state;
    if (call->input_order[trajectory->first_input] == 0) {
        tw_vector_copy(n, call->memory->inputs + trajectory->first_input * n, u);
        memcpy(p->norm, call->input_norm[trajectory->first_input], sizeof p->norm);
    } else {
        tw_vector_fill(n, 0.0, u);
    }
    tw_error_ledger_clear(&call->memory->ledger);
    call->method->begin(call);
    return TW_OK;
}

/* Size against which block b is judged when the next output is at f. */
static double size_at(const progress *p, int b, double f)
{
    double power = pow(f, p->call->trajectory->power);
    return fmax(p->call->target_size[b] * power, p->norm[b]);
}

/* The smaller of the blocks' sizes: on the way an error in one block becomes an error in the other. */
static double smaller_size(const progress *p, double f)
{
    double first = size_at(p, 0, f), second = size_at(p, 1, f);
    if (first == 0 || second == 0) return fmax(first, second);
    return fmin(first, second);
}

static void set_targets(progress *p)
{
    tw_exp_call *call = p->call;
    const tw_exp_trajectory *trajectory = call->trajectory;
    double share = TRUNCATION_SHARE * call->tolerance / call->sharing;
    int after = p->next_node + p->inside;
    double f = trajectory->f[after], end = p->theta + p->length;
    bool last = after + 1 == trajectory->node_count && end >= f * (1 - 1e-12);
    for (int b = 0; b < 2; b++) {
        double size = last ? size_at(p, b, f) : 0;
        call->substep.target[0][b] = share * p->length / f * (size > 0 ? size : smaller_size(p, f));
    }
    for (int o = 1; o <= p->inside; o++) {
        double node = trajectory->f[p->next_node + o - 1];
        for (int b = 0; b < 2; b++) {
            double size = size_at(p, b, node);
            call->substep.target[o][b] =
                share * (node - p->theta) / node * (size > 0 ? size : smaller_size(p, node));
        }
    }
}

/* Chooses the substep: its length, the nodes inside it, and the polynomial. */
static tw_status plan(progress *p)
{
    tw_exp_call *call = p->call;
    const tw_exp_trajectory *trajectory = call->trajectory;
    double remaining = 1 - p->theta;
    int degree = 0;
    double length = call->method->length(call, remaining, &degree);
    double count = ceil(remaining / length * (1 - 1e-12));
    const tw_phi_statistics *statistics = call->statistics;
    if (!(count * degree <= (double)(call->workspace->options.max_products - statistics->products)))
        return TW_BUDGET_EXHAUSTED;
    p->length = count > 1 ? remaining / count : remaining;
    if (p->theta + p->length / 2 == p->theta) return TW_NOT_CONVERGED;
    p->inside = 0;
    double end = p->theta + p->length;
    tw_newton *newton = call->newton;
    newton->fraction[0] = 1;
    for (int i = p->next_node; i < trajectory->node_count && trajectory->f[i] < end * (1 - 1e-13);
         i++)
        newton->fraction[++p->inside] = (trajectory->f[i] - p->theta) / p->length;
    newton->outputs = 1 + p->inside;
    if (p->length != call->built_length || p->inside > 0) {
        call->method->build(call, p->length);
        call->built_length = p->inside > 0 ? 0 : p->length;
    }
    set_targets(p);
    return TW_OK;
}

static void magnitude_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    magnitude_job *job = context;
    for (int64_t i = begin; i < end; i++) job->sum[i] += job->factor * fabs(job->x[i]);
}

/* sum += |x| / norm(x), entry by entry. */
static tw_status add_magnitudes(const tw_space *space, const double *x, double *sum)
{
    double norm = 0;
    tw_status status = tw_vector_norm(space, x, &norm);
    if (status == TW_OK && norm > 0 && isfinite(norm))
        tw_parallel_for(space->local_size, 16384, magnitude_body,
                        &(magnitude_job){1 / norm, x, sum});
    return status;
}

/* Rounding errors are random, and where the solution is: entries that are zero and stay zero have none. So the probe is
 * a random direction weighted by |v_k| and by two products with those weights. */
static tw_status start_probe(tw_exp_call *call)
{
    const tw_space *space = &call->op->space;
    int64_t n = space->local_size;
    double *probe = call->substep.vectors.state + n, *weight = call->substep.vectors.term[0];
    double *product = call->substep.vectors.term[1];
    tw_vector_fill(n, 0.0, weight);
    tw_status status = TW_OK;
    const tw_exp_trajectory *trajectory = call->trajectory;
    for (int i = 0; i < trajectory->input_count && !status; i++)
        status =
            add_magnitudes(space, call->memory->inputs + (trajectory->first_input + i) * n, weight);
    for (int i = 0; i < 2 && !status; i++) {
        status = tw_phi_spend(call->workspace, call->statistics, 1);
        if (!status && call->op->apply(call->op->context, 1, weight, product))
            status = TW_CALLBACK_FAILED;
        if (!status) status = add_magnitudes(space, product, weight);
    }
    if (!status) status = tw_phi_random_direction(space, probe);
    if (status) return status;
    tw_vector_multiply(n, weight, probe, probe);
    double norm = 0;
    status = tw_vector_norm(space, probe, &norm);
    if (norm > 0) tw_vector_scale(n, 1 / norm, probe);
    return status;
}

/* A probe is worth its products only when errors have substeps to travel through. */
static tw_status decide_probe(progress *p)
{
    tw_exp_call *call = p->call;
    bool last = p->theta + p->length >= 1;
    if (p->theta == 0 && !last && !call->amplification_known[sign_index(call->trajectory->time)]) {
        p->probe = true;
        p->probe_log = 0;
        tw_amplification_clear(amplification_of(call));
        tw_status status = start_probe(call);
        if (status) return status;
    }
    call->substep.probe = p->probe && !last;
    return TW_OK;
}

/* Notes how far the probe has grown, and brings it back to unit length. */
static tw_status note_probe(progress *p)
{
    tw_exp_call *call = p->call;
    if (!call->substep.probe) return TW_OK;
    double *probe = call->substep.vectors.sum + call->op->space.local_size, norm[2];
    tw_status status = tw_phi_block_norms(call->workspace, &call->op->space, probe, norm);
    if (status) return status;
    double total = hypot(norm[0], norm[1]);
    if (!isfinite(total)) return TW_NOT_FINITE;
    double logarithm[2] = {p->probe_log + log(norm[0]), p->probe_log + log(norm[1])};
    tw_amplification_note(amplification_of(call), (p->theta + p->length) * call->trajectory->share,
                          logarithm);
    if (total > 0) tw_vector_scale(call->op->space.local_size, 1 / total, probe);
    p->probe_log += log(total);
    return TW_OK;
}

/* What the substep adds to the error of block b at output o, where u has the block norms `grown`. A relative error of A
 * drifts along with h |t A|; in a second-order pair it reaches x only by way of v. */
static tw_local_error local_error(const progress *p, int o, int b, const double grown[2])
{
    const tw_exp_call *call = p->call;
    double first = fmax(p->norm[0], grown[0]), second = fmax(p->norm[1], grown[1]);
    double source = call->workspace->frame && b == 0 ? second : first + second;
    double angle = fabs(call->substep.time) * call->bounds.block_norm[b] * p->length *
                   call->newton->fraction[o];
    return (tw_local_error){.truncation = call->substep.truncation[o][b],
                            .drift = call->substep.moved[b] ? DBL_EPSILON * angle * source : 0,
                            .noise = call->substep.noise[o][b]};
}

/* Adds u(f) / f^power to the output of a node, and what is known of its error. */
static tw_status deliver(progress *p, int node, int o, const double *u)
{
    tw_exp_call *call = p->call;
    const tw_exp_trajectory *trajectory = call->trajectory;
    double f = trajectory->f[node], factor = 1 / pow(f, trajectory->power);
    int i = trajectory->nodes[node];
    tw_vector_axpy(call->op->space.local_size, factor, u, call->request->outputs[i]);
    double norm[2];
    tw_status status = tw_phi_block_norms(call->workspace, &call->op->space, u, norm);
    for (int b = 0; b < 2 && !status; b++) {
        tw_local_error local = local_error(p, o, b, norm),
                       arrived = tw_error_ledger_at(&call->memory->ledger, amplification_of(call),
                                                    f * trajectory->share, b);
        call->truncation[i][b] += factor * (arrived.truncation + local.truncation);
        call->rounding[i][b] +=
            factor * (arrived.drift + local.drift + hypot(arrived.noise, local.noise));
    }
    return status;
}

/* Enters the substep's error, both blocks together: on the way they mix. */
static void enter_error(progress *p, const double grown[2])
{
    tw_exp_call *call = p->call;
    tw_local_error x = local_error(p, 0, 0, grown), v = local_error(p, 0, 1, grown);
    tw_local_error both = {hypot(x.truncation, v.truncation), hypot(x.drift, v.drift),
                           hypot(x.noise, v.noise)};
    tw_error_ledger_add(&call->memory->ledger, (p->theta + p->length) * call->trajectory->share,
                        both);
}

static tw_status accept(progress *p)
{
    tw_exp_call *call = p->call;
    const tw_exp_trajectory *trajectory = call->trajectory;
    tw_substep_vectors *vectors = &call->substep.vectors;
    int64_t n = call->op->space.local_size;
    double norm[2];
    tw_status status = tw_phi_block_norms(call->workspace, &call->op->space, vectors->sum, norm);
    if (!status) status = note_probe(p);
    if (status) return status;
    double grown = hypot(norm[0], norm[1]), end = p->theta + p->length;
    if (!isfinite(grown)) return TW_NOT_FINITE;
    for (int o = 1; o <= p->inside && !status; o++)
        status = deliver(p, p->next_node++, o, vectors->inside + (o - 1) * n);
    while (!status && p->next_node < trajectory->node_count &&
           trajectory->f[p->next_node] <= end * (1 + 1e-13))
        status = deliver(p, p->next_node++, 0, vectors->sum);
    if (status) return status;
    enter_error(p, norm);
    double size =
        fmax(fmax(hypot(p->norm[0], p->norm[1]), grown), fmax(call->size[0], call->size[1]));
    call->hump = fmax(call->hump, call->substep.hump[0] / size);
    double *swap = vectors->state;
    vectors->state = vectors->sum;
    vectors->sum = swap;
    memcpy(p->norm, norm, sizeof norm);
    p->theta = end;
    call->statistics->substeps++;
    return TW_OK;
}

tw_status tw_exp_trajectory_run(tw_exp_call *call)
{
    progress p = {.call = call};
    tw_status status = start(&p);
    int rejections = 0;
    while (!status && p.next_node < call->trajectory->node_count) {
        status = plan(&p);
        if (!status) status = decide_probe(&p);
        if (status) break;
        set_polynomials(&call->substep.sources, p.theta);
        call->substep.length = p.length;
        status = tw_substep_run(&call->substep, call->newton);
        if (status) break;
        if (call->substep.converged) {
            status = accept(&p);
            rejections = 0;
            continue;
        }
        call->statistics->rejected++;
        if (call->substep.diverged && hypot(p.norm[0], p.norm[1]) > NEAR_OVERFLOW)
            status = TW_NOT_FINITE;
        call->method->reject(call, p.length);
        call->built_length = 0;
        if (++rejections > MAX_REJECTIONS && !status) status = TW_NOT_CONVERGED;
    }
    if (p.probe && !status) call->amplification_known[sign_index(call->trajectory->time)] = true;
    return status;
}
