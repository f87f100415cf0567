/* One trajectory of expmv or leja: substeps, their errors, and the outputs. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/parallel_for.h"
#include "linalg/vector.h"
#include "phi/taylor/taylor.h"

/* Share of the tolerance that truncation may use on the way. Convergence is so fast that a tenth
 * costs a few terms, and it leaves room for amplification. */
static const double TRUNCATION_SHARE = 0.1;

/* A solution of this size whose terms diverge is about to overflow: shorter substeps do not
 * help. */
static const double NEAR_OVERFLOW = 1e250;

/* -log(eps): what grows by this much more than the rest was hidden in the rounding of the start. */
static const double HIDDEN = 36;

/* Relative rounding of theta and of the nodes: closer times are equal. */
static const double NODE_ROUNDING = 1e-13;
static const double END_ROUNDING = 1e-12;

enum {
    MAX_REJECTIONS = 60,   /* of one substep */
    MAGNITUDE_BLOCK = 4096 /* entries per block of the parallel loop */
};

/* Where a trajectory stands. */
typedef struct progress {
    tw_taylor_call *call;
    double theta;
    double length;    /* of the substep */
    int next_node;    /* first node not yet reached */
    int inside;       /* nodes strictly inside the substep, from next_node on */
    double norm[2];   /* part norms of u */
    bool probe;       /* travels along */
    double probe_log; /* logarithm of the factor taken out of the probe */
} progress;

static int sign_index(double time)
{
    return time > 0 ? 0 : 1;
}

static tw_amplification *amplification_of(const tw_taylor_call *call)
{
    return &call->memory->amplification[sign_index(call->trajectory->time)];
}

static tw_status norms_of(const tw_taylor_call *call, const double *u, double norms[2])
{
    return tw_phi_part_norms(call->workspace, &call->op->space, u, norms);
}

/* ---- the start ---- */

/* The inputs with k >= 1 are sources. */
static void set_sources(tw_taylor_call *call)
{
    const tw_taylor_trajectory *trajectory = call->trajectory;
    tw_substep_sources *sources = &call->substep.sources;
    *sources = (tw_substep_sources){0};
    int64_t n = call->op->space.local_size;

    /* Inputs are in ascending order of k, so the columns of the sources are contiguous. */
    int end = trajectory->first_input + trajectory->input_count;
    for (int i = trajectory->first_input; i < end; i++) {
        if (call->input_order[i] == 0) continue;

        if (sources->count == 0) sources->vectors = call->memory->inputs + i * n;
        sources->order[sources->count] = call->input_order[i];
        memcpy(sources->norm[sources->count], call->input_norm[i], sizeof sources->norm[0]);
        sources->top = call->input_order[i];
        sources->count++;
    }
}

/* u = v_0, and the fit to the spectrum. */
static void start(progress *p)
{
    tw_taylor_call *call = p->call;
    int64_t n = call->op->space.local_size;
    int first = call->trajectory->first_input;

    set_sources(call);
    call->substep.time = call->trajectory->time;
    memcpy(call->substep.norm, call->bounds.part_norm, sizeof call->substep.norm);

    /* The start vector is v_0, if there is one. */
    double *u = call->substep.vectors.state;
    if (call->input_order[first] == 0) {
        tw_vector_copy(n, call->memory->inputs + first * n, u);
        memcpy(p->norm, call->input_norm[first], sizeof p->norm);
    } else {
        tw_vector_fill(n, 0.0, u);
    }

    tw_error_ledger_clear(&call->memory->ledger);
    call->method->begin(call);
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

/* ---- the plan of a substep ---- */

/* Size against which part b is judged when the next output is at f. */
static double size_at(const progress *p, int b, double f)
{
    double power = pow(f, p->call->trajectory->power);
    return fmax(p->call->target_size[b] * power, p->norm[b]);
}

/* The smaller of the parts' sizes: on the way an error in one part becomes an error in the
 * other. */
static double smaller_size(const progress *p, double f)
{
    double first = size_at(p, 0, f);
    double second = size_at(p, 1, f);
    if (first == 0 || second == 0) return fmax(first, second);
    return fmin(first, second);
}

/* Truncation errors that the substep may add, in proportion to its share of the way to the
 * output. */
static void set_targets(progress *p)
{
    tw_taylor_call *call = p->call;
    const tw_taylor_trajectory *trajectory = call->trajectory;
    double share = TRUNCATION_SHARE * call->tolerance / call->sharing;

    /* The end of the substep. Only at the last node each part is judged by its own size. */
    int after = p->next_node + p->inside;
    double f = trajectory->f[after];
    double end = p->theta + p->length;
    bool last = after + 1 == trajectory->node_count && end >= f * (1 - END_ROUNDING);
    for (int b = 0; b < 2; b++) {
        double size = last ? size_at(p, b, f) : 0;
        if (!(size > 0)) size = smaller_size(p, f);
        call->substep.target[0][b] = share * p->length / f * size;
    }

    /* The nodes inside, each with its own share of the way. */
    for (int o = 1; o <= p->inside; o++) {
        double node = trajectory->f[p->next_node + o - 1];
        for (int b = 0; b < 2; b++) {
            double size = size_at(p, b, node);
            if (!(size > 0)) size = smaller_size(p, node);
            call->substep.target[o][b] = share * (node - p->theta) / node * size;
        }
    }
}

/* Chooses the length of the substep: equal parts of the remaining way, if the budget suffices for
 * all of them. */
static tw_status choose_length(progress *p)
{
    const tw_taylor_call *call = p->call;
    double remaining = 1 - p->theta;
    int degree = 0;
    double length = call->method->length(call, remaining, &degree);
    double count = ceil(remaining / length * (1 - END_ROUNDING));

    /* All substeps together must fit into the budget. */
    int64_t budget = call->workspace->options.max_products - call->statistics->products;
    if (!(count * degree <= (double)budget)) return TW_BUDGET_EXHAUSTED;

    /* A substep that does not move theta would never end. */
    p->length = count > 1 ? remaining / count : remaining;
    if (p->theta + p->length / 2 == p->theta) return TW_NOT_CONVERGED;
    return TW_OK;
}

/* Chooses the substep: its length, the nodes inside it, and the polynomial. */
static tw_status plan(progress *p)
{
    tw_taylor_call *call = p->call;
    const tw_taylor_trajectory *trajectory = call->trajectory;
    TW_TRY(choose_length(p));

    /* Nodes strictly inside are outputs of the same polynomial. */
    tw_newton *newton = call->newton;
    double end = p->theta + p->length;
    p->inside = 0;
    newton->fraction[0] = 1;
    for (int i = p->next_node; i < trajectory->node_count; i++) {
        if (!(trajectory->f[i] < end * (1 - NODE_ROUNDING))) break;
        newton->fraction[++p->inside] = (trajectory->f[i] - p->theta) / p->length;
    }
    newton->outputs = 1 + p->inside;

    /* A polynomial without nodes inside serves all substeps of its length. */
    if (p->length != call->built_length || p->inside > 0) {
        call->method->build(call, p->length);
        call->built_length = p->inside > 0 ? 0 : p->length;
    }
    set_targets(p);
    return TW_OK;
}

/* ---- the probe ---- */

typedef struct magnitude_job {
    double factor;
    const double *x;
    double *sum;
} magnitude_job;

static void magnitude_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    magnitude_job *job = context;
    for (int64_t i = begin; i < end; i++) job->sum[i] += job->factor * fabs(job->x[i]);
}

/* sum += |x| / norm(x), entry by entry. */
static tw_status add_magnitudes(const tw_space *space, const double *x, double *sum)
{
    double norm = 0;
    TW_TRY(tw_vector_norm(space, x, &norm));

    if (norm > 0 && isfinite(norm))
        tw_parallel_for(space->local_size, MAGNITUDE_BLOCK, magnitude_block,
                        &(magnitude_job){1 / norm, x, sum});
    return TW_OK;
}

/* Rounding errors are random, and they are where the solution is: entries that stay zero have none.
 * So the probe is a random direction weighted by |v_k| and by two products with those weights. */
static tw_status start_probe(tw_taylor_call *call)
{
    const tw_space *space = &call->op->space;
    const tw_taylor_trajectory *trajectory = call->trajectory;
    int64_t n = space->local_size;
    double *probe = call->substep.vectors.state + n;
    double *weight = call->substep.vectors.term[0];
    double *product = call->substep.vectors.term[1];

    /* weight = sum_k |v_k| / norm(v_k). */
    tw_vector_fill(n, 0.0, weight);
    for (int i = 0; i < trajectory->input_count; i++) {
        const double *input = call->memory->inputs + (trajectory->first_input + i) * n;
        TW_TRY(add_magnitudes(space, input, weight));
    }

    /* Twice: weight += |A weight| / norm(A weight). */
    for (int i = 0; i < 2; i++) {
        TW_TRY(tw_phi_spend(call->workspace, call->statistics, 1));
        if (call->op->apply(call->op->context, 1, weight, product)) return TW_CALLBACK_FAILED;
        TW_TRY(add_magnitudes(space, product, weight));
    }

    /* probe = weight * random, normalised. */
    double norm = 0;
    TW_TRY(tw_phi_random_direction(space, probe));
    tw_vector_multiply(n, weight, probe, probe);
    TW_TRY(tw_vector_norm(space, probe, &norm));
    if (norm > 0) tw_vector_scale(n, 1 / norm, probe);
    return TW_OK;
}

/* A probe is worth its products only if errors have further substeps to travel through. */
static tw_status decide_probe(progress *p)
{
    tw_taylor_call *call = p->call;
    bool last = p->theta + p->length >= 1;
    bool known = call->amplification_known[sign_index(call->trajectory->time)];

    /* It starts with the first substep. */
    if (p->theta == 0 && !last && !known) {
        p->probe = true;
        p->probe_log = 0;
        tw_amplification_clear(amplification_of(call));
        TW_TRY(start_probe(call));
    }

    /* The last substep needs none: its errors go straight to the output. */
    call->substep.probe = p->probe && !last;
    return TW_OK;
}

/* Notes how far the probe has grown, and brings it back to unit length. */
static tw_status note_probe(progress *p)
{
    tw_taylor_call *call = p->call;
    if (!call->substep.probe) return TW_OK;

    /* Its norms at the end of the substep. */
    int64_t n = call->op->space.local_size;
    double *probe = call->substep.vectors.sum + n;
    double norm[2];
    TW_TRY(norms_of(call, probe, norm));
    double total = hypot(norm[0], norm[1]);
    if (!isfinite(total)) return TW_NOT_FINITE;

    /* The growth since the start, by parts. */
    double delta = (p->theta + p->length) * call->trajectory->share;
    double logarithm[2] = {p->probe_log + log(norm[0]), p->probe_log + log(norm[1])};
    tw_amplification_note(amplification_of(call), delta, logarithm);

    /* The factor that is taken out is remembered. */
    if (total > 0) tw_vector_scale(n, 1 / total, probe);
    p->probe_log += log(total);

    /* The rate at which both the probe and the solution have grown of late. */
    double grown[2];
    TW_TRY(norms_of(call, call->substep.vectors.sum, grown));
    double growth = hypot(grown[0], grown[1]) / hypot(p->norm[0], p->norm[1]);
    amplification_of(call)->rate = log(fmin(total, growth)) / (p->length * call->trajectory->share);
    return TW_OK;
}

/* Whether the mode that rules at f, where the solution has this size, was less than a rounding of the
 * start. Its share of the start is then not known, and the probe, whose start resembles that of the
 * solution, does not show it. */
static bool was_hidden(const tw_taylor_call *call, double f, double size)
{
    double start = hypot(call->size[0], call->size[1]);
    double grown = amplification_of(call)->rate * f * call->trajectory->share;
    return size > 0 && grown - log(size / start) > HIDDEN;
}

/* ---- errors and outputs ---- */

/* What the substep adds to the error of part b at output o, where u has the part norms `grown`. A
 * relative error of A moves the solution by eps h |t A| |u|; in a second-order pair it reaches x
 * only through v. */
static tw_local_error local_error(const progress *p, int o, int b, const double grown[2])
{
    const tw_taylor_call *call = p->call;
    double first = fmax(p->norm[0], grown[0]);
    double second = fmax(p->norm[1], grown[1]);
    double source = first + second;
    if (call->workspace->frame && b == 0) source = second;

    /* The angle h |t A| up to this output. */
    double angle = fabs(call->substep.time) * call->bounds.part_norm[b] * p->length *
                   call->newton->fraction[o];
    return (tw_local_error){.truncation = call->substep.truncation[o][b],
                            .drift = call->substep.moved[b] ? DBL_EPSILON * angle * source : 0,
                            .noise = call->substep.noise[o][b]};
}

/* Adds u(f) / f^power to the output of a node, and what is known of its error. */
static tw_status deliver(progress *p, int node, int o, const double *u)
{
    tw_taylor_call *call = p->call;
    const tw_taylor_trajectory *trajectory = call->trajectory;
    double f = trajectory->f[node];
    double factor = 1 / pow(f, trajectory->power);
    int i = trajectory->nodes[node];

    /* output += u(f) / f^power. */
    tw_vector_axpy(call->op->space.local_size, factor, u, call->request->outputs[i]);

    /* The error of this substep, and what has become of the earlier ones. */
    double norm[2];
    TW_TRY(norms_of(call, u, norm));
    bool hidden = was_hidden(call, f, hypot(norm[0], norm[1]));
    for (int b = 0; b < 2; b++) {
        tw_local_error local = local_error(p, o, b, norm);
        tw_local_error arrived = tw_error_ledger_at(&call->memory->ledger, amplification_of(call),
                                                    f * trajectory->share, b);
        call->truncation[i][b] += factor * (arrived.truncation + local.truncation);
        call->rounding[i][b] +=
            factor * (arrived.drift + local.drift + hypot(arrived.noise, local.noise));
        if (hidden) call->rounding[i][b] += factor * norm[b];
    }
    return TW_OK;
}

/* Enters the substep's error, both parts together: on the way they mix. */
static void enter_error(progress *p, const double grown[2])
{
    tw_taylor_call *call = p->call;
    tw_local_error x = local_error(p, 0, 0, grown);
    tw_local_error v = local_error(p, 0, 1, grown);
    tw_local_error both = {hypot(x.truncation, v.truncation), hypot(x.drift, v.drift),
                           hypot(x.noise, v.noise)};

    /* Times are in units of the longest trajectory of this sign. */
    double theta = (p->theta + p->length) * call->trajectory->share;
    tw_error_ledger_add(&call->memory->ledger, theta, both);
}

/* Outputs inside the substep, and those at its end. */
static tw_status deliver_all(progress *p)
{
    const tw_taylor_trajectory *trajectory = p->call->trajectory;
    const tw_substep_vectors *vectors = &p->call->substep.vectors;
    int64_t n = p->call->op->space.local_size;
    double end = p->theta + p->length;

    for (int o = 1; o <= p->inside; o++)
        TW_TRY(deliver(p, p->next_node++, o, vectors->inside + (o - 1) * n));

    /* Equal nodes may lie at the end. */
    while (p->next_node < trajectory->node_count &&
           trajectory->f[p->next_node] <= end * (1 + NODE_ROUNDING))
        TW_TRY(deliver(p, p->next_node++, 0, vectors->sum));
    return TW_OK;
}

/* Takes the substep. */
static tw_status accept(progress *p)
{
    tw_taylor_call *call = p->call;
    tw_substep_vectors *vectors = &call->substep.vectors;

    /* The solution and the probe at the end of the substep. */
    double norm[2];
    TW_TRY(norms_of(call, vectors->sum, norm));
    TW_TRY(note_probe(p));
    double grown = hypot(norm[0], norm[1]);
    if (!isfinite(grown)) return TW_NOT_FINITE;

    /* Outputs get the local error apart, so it is entered after them. */
    TW_TRY(deliver_all(p));
    enter_error(p, norm);

    /* How much larger than the solution the terms were. */
    double before = hypot(p->norm[0], p->norm[1]);
    double size = fmax(fmax(before, grown), fmax(call->size[0], call->size[1]));
    call->hump = fmax(call->hump, call->substep.hump[0] / size);

    /* The sum becomes the state. */
    double *swap = vectors->state;
    vectors->state = vectors->sum;
    vectors->sum = swap;
    memcpy(p->norm, norm, sizeof norm);
    p->theta = p->theta + p->length;
    call->statistics->substeps++;
    return TW_OK;
}

/* The polynomial did not converge: corrects the fit, and gives up where that cannot help. */
static tw_status reject(progress *p, int rejections)
{
    tw_taylor_call *call = p->call;
    call->statistics->rejected++;
    if (call->substep.diverged && hypot(p->norm[0], p->norm[1]) > NEAR_OVERFLOW)
        return TW_NOT_FINITE;
    if (rejections > MAX_REJECTIONS) return TW_NOT_CONVERGED;

    call->method->reject(call, p->length);
    call->built_length = 0;
    return TW_OK;
}

tw_status tw_taylor_trajectory_run(tw_taylor_call *call)
{
    progress p = {.call = call};
    int rejections = 0;
    start(&p);
    while (p.next_node < call->trajectory->node_count) {
        TW_TRY(plan(&p));
        TW_TRY(decide_probe(&p));

        /* The polynomial is applied, and the substep taken or repeated. */
        set_polynomials(&call->substep.sources, p.theta);
        call->substep.length = p.length;
        TW_TRY(tw_substep_run(&call->substep, call->newton));

        if (call->substep.converged) {
            TW_TRY(accept(&p));
            rejections = 0;
        } else {
            TW_TRY(reject(&p, ++rejections));
        }
    }
    if (p.probe) call->amplification_known[sign_index(call->trajectory->time)] = true;
    return TW_OK;
}
