/* phi-functions of J = [[0, I], [-A, -B]], B = alpha I + beta A, through scalar functions of A.
 *
 * Without damping, with the Stumpff functions c_k at tau^2 A:
 *     phi_k(tau J)(p, q) = (c_k p + tau c_{k+1} q, c_k q - tau A c_{k+1} p).
 * Rayleigh damping commutes with A. Every eigenvalue lambda then has a 2x2 matrix
 *     phi_k(tau [[0, 1], [-lambda, -(alpha + beta lambda)]]).
 * The x- and v-parts of the request's vectors are the start vectors, its outputs' parts
 * the outputs. */
#include <math.h>

#include "base/fail.h"
#include "linalg/vector.h"
#include "phi/scalar_functions.h"
#include "phi/spectral/spectral.h"

enum {
    MAX_OUTPUTS = TW_SPECTRAL_MAX_OUTPUTS,
    MAX_STARTS = 2 * (TW_PHI_MAX_ORDER + 1), /* x-part and v-part of every vector */
    X = 0,
    V = 1,
    END_STEPS = 20 /* products that look for the end of the spectrum if modes grow towards it */
};

/* No engine is asked for less than this relative error. */
static const double least_tolerance = 1e-16;

/* A start vector: the x- or the v-part of one of the request's vectors, or of several
 * equal ones. */
typedef struct start {
    const double *vector;
    int part;
    unsigned orders; /* bit k: it is multiplied by phi_k */
} start;

/* One f_ij: entry (row, column) of sum_k phi_k(tau [[0, 1], [-lambda, -delta]]), k over the bits of
 * `orders`, delta = alpha + beta lambda. */
typedef struct entry {
    double tau;
    double alpha;
    double beta;
    unsigned orders;
    int row;
    int column;
} entry;

static double entry_value(const void *context, double lambda)
{
    const entry *f = context;
    double phi[TW_PHI_MAX_ORDER + 1][4];
    tw_mode_phi(f->tau, lambda, f->alpha + f->beta * lambda, f->orders, phi);

    double sum = 0;
    for (int k = 0; k <= TW_PHI_MAX_ORDER; k++)
        if (f->orders >> k & 1u) sum += phi[k][2 * f->row + f->column];

    return sum;
}

/* The request in spectral terms. */
typedef struct plan {
    tw_phi_workspace *workspace;
    const tw_phi_engine_table *engine;
    const tw_second_order *op;
    const tw_phi_request *request;
    tw_mass_metric metric;
    int64_t n;
    int start_count;
    int blocks; /* of at most TW_MAX_BLOCK start vectors */
    start starts[MAX_STARTS];
    double reference[2];       /* of x- and v-parts */
    double longest;            /* largest |nodes[i] * time| */
    double bound[MAX_OUTPUTS]; /* errors promised by the blocks so far, in units of the tolerance */
    double error[MAX_OUTPUTS]; /* errors that the blocks so far have estimated */
    double *outputs[MAX_OUTPUTS]; /* x- and v-part of each output in turn */
    double lowest_first;          /* smallest Ritz value that the first block met */
} plan;

/* ---- start vectors ---- */

static void add_start(plan *p, const double *vector, int part, int k)
{
    /* Equal vectors are one start vector. */
    for (int s = 0; s < p->start_count; s++)
        if (p->starts[s].vector == vector) {
            p->starts[s].orders |= 1u << k;
            return;
        }
    p->starts[p->start_count++] = (start){vector, part, 1u << k};
}

/* Collects the start vectors that are not zero, and what the tolerance is relative to:
 * max(sum_k |part of v_k|_M / k!, reference). */
static tw_status collect_starts(plan *p, double *scratch)
{
    double factorial = 1;
    double sum[2] = {0, 0};
    for (int k = 0; k <= p->request->order; k++) {
        if (k > 0) factorial *= k;
        const double *v = p->request->vectors[k];
        for (int part = X; v && part <= V; part++) {
            double norm = 0;
            TW_TRY(tw_mass_norm(&p->metric, v + part * p->n, scratch, &norm));

            /* phi_k(0) = 1/k! */
            sum[part] += norm / factorial;
            if (norm > 0) add_start(p, v + part * p->n, part, k);
        }
    }

    for (int part = X; part <= V; part++)
        p->reference[part] = fmax(sum[part], p->request->reference[part]);
    p->blocks = (p->start_count + TW_MAX_BLOCK - 1) / TW_MAX_BLOCK;

    return TW_OK;
}

/* ---- blocks of start vectors ---- */

/* Puts starts [first, first + count) through the engine, into outputs (x- and v-part per node). */
static tw_status evaluate_block(plan *p, int first, int count, double *const *outputs,
                                tw_phi_statistics *statistics, tw_error *error)
{
    const tw_phi_request *q = p->request;
    entry entries[MAX_OUTPUTS * TW_MAX_BLOCK];
    tw_spectral_function functions[MAX_OUTPUTS * TW_MAX_BLOCK];
    const double *starts[TW_MAX_BLOCK];
    double reference[MAX_OUTPUTS];
    for (int j = 0; j < count; j++) starts[j] = p->starts[first + j].vector;

    /* Output i is part i % 2 of node i / 2. */
    for (int i = 0; i < 2 * q->node_count; i++) {
        reference[i] = p->reference[i % 2];
        for (int j = 0; j < count; j++) {
            const start *s = &p->starts[first + j];
            entries[i * count + j] = (entry){.tau = q->nodes[i / 2] * q->time,
                                             .alpha = p->op->rayleigh_mass,
                                             .beta = p->op->rayleigh_stiffness,
                                             .orders = s->orders,
                                             .row = i % 2,
                                             .column = s->part};
            functions[i * count + j] = (tw_spectral_function){entry_value, &entries[i * count + j]};
        }
    }

    /* The own slot leaves the caller's slots as they are. */
    tw_spectral_request request = {.start_count = count,
                                   .starts = starts,
                                   .output_count = 2 * q->node_count,
                                   .outputs = outputs,
                                   .functions = functions,
                                   .reference = reference,
                                   .time = p->longest,
                                   .slot = TW_SPECTRAL_OWN_SLOT};

    return p->engine->spectral(p->workspace, p->op, &request, statistics, error);
}

static void add_statistics(tw_phi_statistics *total, const tw_phi_statistics *part)
{
    total->products += part->products;
    total->solves += part->solves;
    total->factorisations += part->factorisations;
    total->rejected += part->rejected;
    total->pole = part->pole;

    /* The largest of both. */
    if (part->substeps > total->substeps) total->substeps = part->substeps;
    if (part->dimension > total->dimension) total->dimension = part->dimension;
}

/* Evaluates block b into `parts`, with what the blocks before left of the budget. *estimate is the
 * error relative to the block's own contribution. */
static tw_status evaluate_within_budget(plan *p, int b, double *const *parts, double *estimate,
                                        tw_phi_statistics *statistics, tw_error *error)
{
    int first = b * TW_MAX_BLOCK;
    int count = p->start_count - first;
    if (count > TW_MAX_BLOCK) count = TW_MAX_BLOCK;
    tw_phi_statistics one = {.engine = statistics->engine};

    /* The engine sees a smaller budget; the caller's comes back afterwards. */
    int64_t *max_products = &p->workspace->options.max_products;
    int64_t budget = *max_products;
    *max_products = budget - statistics->products;
    tw_status status = evaluate_block(p, first, count, parts, &one, error);
    *max_products = budget;

    add_statistics(statistics, &one);
    *estimate = one.estimated_error;

    return status;
}

/* Evaluates all blocks and adds them. Each has an equal share of the tolerance. */
static tw_status evaluate_blocks(plan *p, tw_phi_statistics *statistics, tw_error *error)
{
    tw_spectral_memory *memory = tw_spectral_memory_of(p->workspace);
    int count = 2 * p->request->node_count;
    for (int i = 0; i < count; i++) p->bound[i] = p->error[i] = 0;

    for (int b = 0; b < p->blocks; b++) {
        /* The first block writes the outputs themselves. */
        double *parts[MAX_OUTPUTS];
        for (int i = 0; i < count; i++)
            parts[i] = b == 0 ? p->outputs[i] : memory->parts + i * p->n;
        double estimate = 0;
        tw_status status = evaluate_within_budget(p, b, parts, &estimate, statistics, error);
        if (b == 0) p->lowest_first = memory->slot[TW_SPECTRAL_OWN_SLOT].range.lowest;

        /* What rounding limits in one block may still be good enough for the sum. */
        if (status != TW_OK && status != TW_ILL_CONDITIONED) return status;

        /* The block's contribution, and what it promises of its error. */
        for (int i = 0; i < count; i++) {
            double norm = 0;
            status = tw_mass_norm(&p->metric, parts[i], memory->product, &norm);
            if (status) return tw_fail_plain(error, status);
            norm = fmax(norm, p->reference[i % 2]);
            p->bound[i] += norm / p->blocks;
            p->error[i] += norm * estimate;
            if (b > 0) tw_vector_axpy(p->n, 1, parts[i], p->outputs[i]);
        }
    }

    return TW_OK;
}

/* ---- the whole ---- */

/* *factor: by which the tolerance must shrink because the blocks' contributions cancel, 1 if they
 * do not. *estimate: the error of the sum, relative to the sum. */
static tw_status weigh_sum(plan *p, double *factor, double *estimate)
{
    tw_spectral_memory *memory = tw_spectral_memory_of(p->workspace);
    *factor = 1;
    *estimate = 0;
    for (int i = 0; i < 2 * p->request->node_count; i++) {
        double norm = 0;
        TW_TRY(tw_mass_norm(&p->metric, p->outputs[i], memory->product, &norm));

        /* The promised errors must not exceed half of what the sum allows. */
        norm = fmax(norm, p->reference[i % 2]);
        if (p->bound[i] > norm && p->blocks > 1) *factor = fmin(*factor, 0.5 * norm / p->bound[i]);
        if (norm > 0) *estimate = fmax(*estimate, p->error[i] / norm);
    }

    return TW_OK;
}

static tw_status evaluate_plan(plan *p, tw_phi_statistics *statistics, tw_error *error)
{
    /* The blocks share the tolerance. */
    tw_phi_options *options = &p->workspace->options;
    double tolerance = options->tolerance;
    options->tolerance = tolerance / p->blocks;
    tw_status status = evaluate_blocks(p, statistics, error);

    double factor = 1;
    double *estimate = &statistics->estimated_error;
    if (status == TW_OK) status = weigh_sum(p, &factor, estimate);

    /* Once more if contributions cancelled, or if a later block met growing modes that the first
     * block did not know of. */
    const double *lowest =
        &tw_spectral_memory_of(p->workspace)->slot[TW_SPECTRAL_OWN_SLOT].range.lowest;
    if (status == TW_OK && (factor < 1 || *lowest < p->lowest_first)) {
        options->tolerance = fmax(factor * tolerance / p->blocks, least_tolerance);
        status = evaluate_blocks(p, statistics, error);
        if (status == TW_OK) status = weigh_sum(p, &factor, estimate);
    }

    /* The engine asked for no more than rounding allows, so rounding is to blame for the rest. */
    options->tolerance = tolerance;
    if (status == TW_OK && *estimate > tolerance)
        return tw_fail(error, TW_ILL_CONDITIONED, "rounding alone is about %.1e of the result",
                       *estimate);

    return status;
}

/* Backwards in time beta K makes stiff modes grow, and a smooth start vector does not show them. An
 * engine that sees the start vectors alone is told where the spectrum ends. */
static tw_status find_growing_end(plan *p, tw_second_order *bounded, tw_phi_statistics *statistics)
{
    tw_spectral_memory *memory = tw_spectral_memory_of(p->workspace);
    const tw_phi_request *q = p->request;
    bool grows = false;
    for (int i = 0; i < q->node_count; i++)
        if (q->nodes[i] * q->time * p->op->rayleigh_stiffness < 0) grows = true;
    memory->growing_end = 0;
    memory->slot[TW_SPECTRAL_OWN_SLOT].range = (tw_chain_range){0};
    if (!grows || p->engine == &tw_phi_chebyshev) return TW_OK;

    /* The caller's bound may be generous, and growth is exponential: a few products sharpen it. */
    tw_spectral_interval interval;
    TW_TRY(tw_spectral_find_interval(memory, p->op, END_STEPS, NULL, &interval,
                                     &statistics->products));
    memory->growing_end = interval.high;
    memory->slot[TW_SPECTRAL_OWN_SLOT].range = (tw_chain_range){.highest = interval.high};
    *bounded = *p->op;
    bounded->eigenvalue_max = interval.high;
    p->op = bounded;

    return TW_OK;
}

/* tau = 0 for every node: w = sum_k v_k / k!. */
static void evaluate_at_zero(const plan *p)
{
    int64_t n = 2 * p->n;
    for (int i = 0; i < p->request->node_count; i++) {
        double factorial = 1;
        tw_vector_fill(n, 0, p->request->outputs[i]);
        for (int k = 0; k <= p->request->order; k++) {
            if (k > 0) factorial *= k;
            if (p->request->vectors[k])
                tw_vector_axpy(n, 1 / factorial, p->request->vectors[k], p->request->outputs[i]);
        }
    }
}

tw_status tw_phi_spectral_evaluate(tw_phi_workspace *workspace, const tw_phi_engine_table *engine,
                                   const tw_second_order *op, const tw_phi_request *request,
                                   tw_phi_statistics *statistics, tw_error *error)
{
    if (op->damping)
        return tw_fail(error, TW_UNSUPPORTED, "phi engine %s knows Rayleigh damping only",
                       tw_phi_engine_name(statistics->engine));

    /* The outputs' parts, and the longest time. */
    plan p = {.workspace = workspace,
              .engine = engine,
              .op = op,
              .request = request,
              .metric = tw_mass_metric_of(op),
              .n = op->stiffness.space.local_size};
    for (int i = 0; i < request->node_count; i++) {
        p.longest = fmax(p.longest, fabs(request->nodes[i] * request->time));
        p.outputs[2 * i] = request->outputs[i];
        p.outputs[2 * i + 1] = request->outputs[i] + p.n;
    }
    if (!isfinite(p.longest)) return tw_fail(error, TW_NOT_FINITE, "node times time overflows");

    /* Nothing to do if all vectors are zero; no engine is needed if the time is. */
    tw_spectral_memory *memory = tw_spectral_memory_of(workspace);
    tw_status status = collect_starts(&p, memory->product);
    if (status) return tw_fail_plain(error, status);
    if (p.start_count == 0 || p.longest == 0) {
        evaluate_at_zero(&p);
        return TW_OK;
    }

    tw_second_order bounded;
    status = find_growing_end(&p, &bounded, statistics);
    if (status) return tw_fail_plain(error, status);

    status = evaluate_plan(&p, statistics, error);
    memory->growing_end = 0;
    tw_spectral_open_slot(memory, TW_SPECTRAL_OWN_SLOT);

    return status;
}
