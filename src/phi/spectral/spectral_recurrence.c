#include "phi/spectral/spectral_recurrence.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/parallel_for.h"
#include "linalg/vector.h"

enum { SUM_BLOCK = 4096, PARTIALS = 512, LANES = 8 };

/* ---- fused kernels: one pass serves all columns; sums are made of fixed blocks, so threads do not matter ---- */

typedef struct pass_job {
    int count;
    int64_t size;
    const double *product; /* count contiguous columns */
    const double *current;
    const double *previous[TW_MAX_BLOCK];
    const double *mass; /* NULL: ones */
    double *next;
    double a[TW_MAX_BLOCK], b[TW_MAX_BLOCK], c[TW_MAX_BLOCK];
    double *partial;
} pass_job;

static double add_lanes(const double *lane)
{
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

static double dot_range(int64_t begin, int64_t end, const double *restrict x,
                        const double *restrict y)
{
    double lane[LANES] = {0}, rest = 0;
    int64_t i = begin;
    for (; i + LANES <= end; i += LANES)
        for (int l = 0; l < LANES; l++) lane[l] += x[i + l] * y[i + l];
    for (; i < end; i++) rest += x[i] * y[i];
    return add_lanes(lane) + rest;
}

/* r = a y + b q + c o; returns sum r^2 */
static double update_range(int64_t begin, int64_t end, const double s[3], const double *restrict y,
                           const double *restrict q, const double *restrict o, double *restrict r)
{
    double lane[LANES] = {0}, rest = 0;
    int64_t i = begin;
    for (; i + LANES <= end; i += LANES)
        for (int l = 0; l < LANES; l++) {
            double value = s[0] * y[i + l] + s[1] * q[i + l] + s[2] * o[i + l];
            r[i + l] = value;
            lane[l] += value * value;
        }
    for (; i < end; i++) {
        r[i] = s[0] * y[i] + s[1] * q[i] + s[2] * o[i];
        rest += r[i] * r[i];
    }
    return add_lanes(lane) + rest;
}

/* r = a y / m + b q + c o; returns sum m r^2 */
static double update_range_lumped(int64_t begin, int64_t end, const double s[3],
                                  const double *restrict m, const double *restrict y,
                                  const double *restrict q, const double *restrict o,
                                  double *restrict r)
{
    double lane[LANES] = {0}, rest = 0;
    int64_t i = begin;
    for (; i + LANES <= end; i += LANES)
        for (int l = 0; l < LANES; l++) {
            double value = s[0] * (y[i + l] / m[i + l]) + s[1] * q[i + l] + s[2] * o[i + l];
            r[i + l] = value;
            lane[l] += m[i + l] * value * value;
        }
    for (; i < end; i++) {
        r[i] = s[0] * (y[i] / m[i]) + s[1] * q[i] + s[2] * o[i];
        rest += m[i] * r[i] * r[i];
    }
    return add_lanes(lane) + rest;
}

static void dot_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    const pass_job *job = context;
    for (int j = 0; j < job->count; j++)
        job->partial[block * TW_MAX_BLOCK + j] =
            dot_range(begin, end, job->current + j * job->size, job->product + j * job->size);
}

static void update_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    const pass_job *job = context;
    for (int j = 0; j < job->count; j++) {
        const double s[3] = {job->a[j], job->b[j], job->c[j]};
        int64_t at = j * job->size;
        const double *y = job->product + at, *q = job->current + at;
        double *sum = &job->partial[block * TW_MAX_BLOCK + j];
        if (job->mass)
            *sum = update_range_lumped(begin, end, s, job->mass, y, q, job->previous[j],
                                       job->next + at);
        else
            *sum = update_range(begin, end, s, y, q, job->previous[j], job->next + at);
    }
}

/* Runs the pass and sums its partial results per column, over ranks too. */
static tw_status run_pass(const tw_space *space, tw_parallel_body *body, pass_job *job,
                          double *sums)
{
    double partial[PARTIALS * TW_MAX_BLOCK];
    int64_t block = SUM_BLOCK;
    while (tw_parallel_blocks(job->size, block) > PARTIALS) block *= 2;
    job->partial = partial;
    tw_parallel_for(job->size, block, body, job);
    for (int j = 0; j < job->count; j++) {
        sums[j] = 0;
        for (int64_t b = 0; b < tw_parallel_blocks(job->size, block); b++)
            sums[j] += partial[b * TW_MAX_BLOCK + j];
    }
    return space->reduce ? space->reduce(space->context, sums, job->count) : TW_OK;
}

/* ---- starting ---- */

static tw_chain *chain_of(const tw_sweep *sweep, int column)
{
    return &sweep->memory->slot[sweep->slot].chain[sweep->chain[column]];
}

static void scaled_copy(int64_t n, double scale, const double *x, double *y)
{
    tw_vector_copy(n, x, y);
    tw_vector_scale(n, scale, y);
}

/* q_0 = b/|b|_M for every chain that is not zero. */
static tw_status place_starts(tw_sweep *sweep, const double *const *starts)
{
    tw_spectral_memory *memory = sweep->memory;
    sweep->current = tw_spectral_extend_slot(memory, sweep->slot, sweep->active);
    sweep->storing = sweep->current != NULL;
    if (!sweep->storing) return TW_INTERNAL;
    for (int c = 0; c < sweep->active; c++) {
        tw_chain *chain = chain_of(sweep, c);
        double *q = sweep->current + c * memory->size;
        /* 1/norm in two factors: it overflows for a norm below 1e-308 */
        double half = 1 / sqrt(chain->norm);
        scaled_copy(memory->size, half, starts[sweep->chain[c]], q);
        tw_vector_scale(memory->size, half, q);
        chain->scale[0] = 1;
        chain->vector[0] = q;
        chain->stored = 1;
        sweep->previous[c] = q;
    }
    const tw_mass_metric *metric = &memory->slot[sweep->slot].metric;
    if (!metric->consistent) return TW_OK;
    sweep->momentum = sweep->momentum_before = memory->momentum;
    return tw_mass_multiply(metric, sweep->active, sweep->current, sweep->momentum);
}

tw_status tw_sweep_begin(tw_sweep *sweep, const tw_second_order *op, tw_spectral_memory *memory,
                         int slot, int start_count, const double *const *starts)
{
    *sweep = (tw_sweep){.op = op, .memory = memory, .slot = slot};
    tw_spectral_open_slot(memory, slot);
    tw_spectral_slot *own = &memory->slot[slot];
    own->metric = tw_mass_metric_of(op);
    own->start_count = start_count;
    tw_status status = tw_global_size(&own->metric.space, &sweep->total_size);
    for (int j = 0; j < start_count && status == TW_OK; j++) {
        if (!starts[j]) continue;
        status = tw_mass_norm(&own->metric, starts[j], memory->product, &own->chain[j].norm);
        if (own->chain[j].norm > 0) sweep->chain[sweep->active++] = j;
    }
    if (status || sweep->active == 0) return status;
    return place_starts(sweep, starts);
}

/* ---- one step ---- */

static pass_job job_of(const tw_sweep *sweep, double *next)
{
    const tw_spectral_memory *memory = sweep->memory;
    pass_job job = {.count = sweep->active,
                    .size = memory->size,
                    .product = memory->product,
                    .current = sweep->current,
                    .mass = memory->slot[sweep->slot].metric.lumped,
                    .next = next};
    for (int c = 0; c < sweep->active; c++) job.previous[c] = sweep->previous[c];
    return job;
}

/* r_{k+1} = A q_k - alpha_k q_k - beta_{k-1} q_{k-1} in terms of the unnormalised vectors. */
static void recurrence_coefficients(const tw_sweep *sweep, int k, pass_job *job)
{
    for (int c = 0; c < sweep->active; c++) {
        const tw_chain *chain = chain_of(sweep, c);
        job->a[c] = chain->scale[k];
        job->b[c] = -chain->alpha[k] * chain->scale[k];
        job->c[c] = k > 0 ? -chain->beta[k - 1] * chain->scale[k - 1] : 0;
    }
}

/* Where vectors number k of the active chains go: into the pool, or in turn into three rolling places. */
static double *next_place(tw_sweep *sweep, int k)
{
    double *place =
        sweep->storing ? tw_spectral_extend_slot(sweep->memory, sweep->slot, sweep->active) : NULL;
    if (place) return place;
    sweep->storing = false;
    return sweep->memory->rolling + (int64_t)(k % 3) * TW_MAX_BLOCK * sweep->memory->size;
}

static double *momentum_place(const tw_sweep *sweep, int k)
{
    return sweep->memory->momentum + (int64_t)(k % 3) * TW_MAX_BLOCK * sweep->memory->size;
}

/* Consistent mass: the recurrence runs on p = M q, and q follows by one solve, so no product with M is needed:
 * p_{k+1} = K q_k - alpha_k p_k - beta_{k-1} p_{k-1}, q_{k+1} = M^-1 p_{k+1}, beta^2 = <p, q>. */
static tw_status consistent_update(tw_sweep *sweep, int k, pass_job *job, double *squares)
{
    const tw_mass_metric *metric = &sweep->memory->slot[sweep->slot].metric;
    double *next = job->next, *momentum = momentum_place(sweep, k + 1);
    job->current = sweep->momentum;
    for (int c = 0; c < sweep->active; c++)
        job->previous[c] = sweep->momentum_before + c * job->size;
    job->next = momentum;
    tw_status status = run_pass(&metric->space, update_body, job, squares);
    if (status == TW_OK)
        status = metric->consistent->solve(metric->consistent->context, job->count, momentum, next);
    if (status) return status;
    job->current = next;
    job->product = momentum;
    sweep->momentum_before = sweep->momentum;
    sweep->momentum = momentum;
    return run_pass(&metric->space, dot_body, job, squares);
}

/* Removes from column c of next what it has of all earlier vectors, twice; squares[c] = |next|^2 afterwards. */
static tw_status reorthogonalise(tw_sweep *sweep, int k, double *next, double *squares)
{
    const tw_mass_metric *metric = &sweep->memory->slot[sweep->slot].metric;
    int64_t n = sweep->memory->size;
    double *momentum = metric->consistent ? sweep->momentum : sweep->memory->product;
    for (int c = 0; c < sweep->active; c++) {
        const tw_chain *chain = chain_of(sweep, c);
        double *r = next + c * n, *p = momentum + c * n;
        for (int pass = 0; pass < 2; pass++) {
            tw_status status = tw_mass_multiply(metric, 1, r, p);
            for (int i = 0; i <= k && status == TW_OK; i++) {
                double h = 0;
                status = tw_vector_dot(&metric->space, chain->vector[i], p, &h);
                tw_vector_axpy(n, -h * chain->scale[i] * chain->scale[i], chain->vector[i], r);
            }
            if (status) return status;
        }
        tw_status status = tw_mass_multiply(metric, 1, r, p);
        if (status == TW_OK) status = tw_vector_dot(&metric->space, r, p, &squares[c]);
        if (status) return status;
    }
    return TW_OK;
}

/* The recurrence ends where the next vector is nothing but rounding, measured against T itself. */
static bool vanishes(const tw_chain *chain, int k)
{
    double largest = fabs(chain->alpha[0]);
    for (int i = 0; i <= k; i++)
        largest = fmax(largest, fmax(fabs(chain->alpha[i]), i < k ? chain->beta[i] : 0));
    return chain->beta[k] <= DBL_EPSILON * largest;
}

static tw_status accept_step(tw_sweep *sweep, int k, double *next, const double *squares)
{
    for (int c = 0; c < sweep->active; c++) {
        tw_chain *chain = chain_of(sweep, c);
        if (!isfinite(squares[c])) return TW_NOT_FINITE;
        chain->beta[k] = sqrt(fmax(squares[c], 0));
        chain->dimension = k + 1;
        chain->exhausted =
            vanishes(chain, k) || (sweep->reorthogonalise && k + 1 >= sweep->total_size);
        if (chain->exhausted) chain->beta[k] = 0;
        chain->scale[k + 1] = chain->exhausted ? 0 : 1 / chain->beta[k];
        chain->vector[k + 1] = next + c * sweep->memory->size;
        if (sweep->storing) chain->stored = k + 2;
        sweep->previous[c] = sweep->current + c * sweep->memory->size;
    }
    sweep->current = next;
    sweep->dimension = k + 1;
    return TW_OK;
}

tw_status tw_sweep_step(tw_sweep *sweep)
{
    tw_spectral_memory *memory = sweep->memory;
    const tw_operator *K = &sweep->op->stiffness;
    const tw_mass_metric *metric = &memory->slot[sweep->slot].metric;
    int k = sweep->dimension;
    double sums[TW_MAX_BLOCK];
    tw_status status = K->apply(K->context, sweep->active, sweep->current, memory->product);
    if (status) return status;
    sweep->products += sweep->active;
    pass_job job = job_of(sweep, NULL);
    status = run_pass(&metric->space, dot_body, &job, sums);
    if (status) return status;
    for (int c = 0; c < sweep->active; c++) {
        tw_chain *chain = chain_of(sweep, c);
        chain->alpha[k] = sums[c] * chain->scale[k] * chain->scale[k];
        if (!isfinite(chain->alpha[k])) return TW_NOT_FINITE;
    }
    job.next = next_place(sweep, k + 1);
    double *next = job.next;
    recurrence_coefficients(sweep, k, &job);
    status = metric->consistent ? consistent_update(sweep, k, &job, sums)
                                : run_pass(&metric->space, update_body, &job, sums);
    if (status == TW_OK && sweep->reorthogonalise) status = reorthogonalise(sweep, k, next, sums);
    return status ? status : accept_step(sweep, k, next, sums);
}

/* ---- fewer chains ---- */

void tw_sweep_retire(tw_sweep *sweep, const bool *keep)
{
    int64_t n = sweep->memory->size;
    bool consistent = sweep->memory->slot[sweep->slot].metric.consistent != NULL;
    int kept = 0;
    for (int c = 0; c < sweep->active; c++) kept += keep[sweep->chain[c]];
    if (kept == sweep->active) return;
    if (kept == 0) {
        sweep->active = 0;
        return;
    }
    /* The product wants contiguous columns: those that stay close ranks, downwards, over the ones that left. A vector
     * that left had not entered any combination yet (its number is the chain's dimension). */
    int to = 0;
    for (int c = 0; c < sweep->active; c++) {
        tw_chain *chain = chain_of(sweep, c);
        if (!keep[sweep->chain[c]]) {
            if (chain->stored > chain->dimension) chain->stored = chain->dimension;
            continue;
        }
        if (to != c) {
            tw_vector_copy(n, sweep->current + c * n, sweep->current + to * n);
            if (consistent) {
                tw_vector_copy(n, sweep->momentum + c * n, sweep->momentum + to * n);
                tw_vector_copy(n, sweep->momentum_before + c * n, sweep->momentum_before + to * n);
            }
            if (sweep->storing) chain->vector[sweep->dimension] = sweep->current + to * n;
            sweep->previous[to] = sweep->previous[c];
            sweep->chain[to] = sweep->chain[c];
        }
        to++;
    }
    sweep->active = kept;
}

/* ---- the second pass ---- */

/* Adds vector number k of the active chains to the outputs. */
static void accumulate(const tw_sweep *sweep, int k, int output_count, double *const *outputs,
                       int64_t row, const int64_t *offset, const double *coefficients)
{
    int64_t n = sweep->memory->size;
    for (int c = 0; c < sweep->active; c++) {
        const tw_chain *chain = chain_of(sweep, c);
        if (k < chain->stored || k >= chain->dimension) continue;
        for (int i = 0; i < output_count; i++)
            tw_vector_axpy(n, coefficients[i * row + offset[sweep->chain[c]] + k],
                           sweep->current + c * n, outputs[i]);
    }
}

/* Number of vectors that every chain active when the pool filled up has kept; 0 if none lost any. */
static int kept_vectors(const tw_spectral_slot *slot)
{
    int kept = 0;
    for (int j = 0; j < slot->start_count; j++) {
        const tw_chain *chain = &slot->chain[j];
        if (chain->stored < chain->dimension) kept = chain->stored;
    }
    return kept;
}

/* Back to the last vectors kept, with the same columns in the block as then, so that every product repeats itself. The
 * momenta of those are gone: a consistent mass starts again from vector 0. */
static tw_status restart(tw_sweep *sweep, int first)
{
    tw_spectral_memory *memory = sweep->memory;
    tw_spectral_slot *slot = &memory->slot[sweep->slot];
    int64_t n = memory->size;
    sweep->active = 0;
    sweep->dimension = first;
    sweep->storing = false;
    sweep->current = memory->rolling + (int64_t)(first % 3) * TW_MAX_BLOCK * n;
    for (int j = 0; j < slot->start_count; j++) {
        const tw_chain *chain = &slot->chain[j];
        if (chain->dimension <= first) continue;
        tw_vector_copy(n, chain->vector[first], sweep->current + sweep->active * n);
        sweep->previous[sweep->active] = chain->vector[first > 0 ? first - 1 : 0];
        sweep->chain[sweep->active++] = j;
    }
    if (!slot->metric.consistent) return TW_OK;
    sweep->momentum = sweep->momentum_before = momentum_place(sweep, first);
    return tw_mass_multiply(&slot->metric, sweep->active, sweep->current, sweep->momentum);
}

/* r_{k+1} from the known alpha_k, beta_k: the arithmetic of tw_sweep_step without its inner products. */
static tw_status repeat_step(tw_sweep *sweep)
{
    const tw_operator *K = &sweep->op->stiffness;
    const tw_mass_metric *metric = &sweep->memory->slot[sweep->slot].metric;
    int k = sweep->dimension;
    double unused[TW_MAX_BLOCK];
    tw_status status = K->apply(K->context, sweep->active, sweep->current, sweep->memory->product);
    if (status) return status;
    sweep->products += sweep->active;
    pass_job job = job_of(sweep, next_place(sweep, k + 1));
    double *next = job.next;
    recurrence_coefficients(sweep, k, &job);
    status = metric->consistent ? consistent_update(sweep, k, &job, unused)
                                : run_pass(&metric->space, update_body, &job, unused);
    for (int c = 0; c < sweep->active; c++)
        sweep->previous[c] = sweep->current + c * sweep->memory->size;
    sweep->current = next;
    sweep->dimension = k + 1;
    return status;
}

tw_status tw_sweep_repeat(tw_sweep *sweep, int output_count, double *const *outputs, int64_t row,
                          const int64_t *offset, const double *coefficients)
{
    tw_spectral_slot *slot = &sweep->memory->slot[sweep->slot];
    int kept = kept_vectors(slot), last = 0;
    if (kept == 0) return TW_OK;
    for (int j = 0; j < slot->start_count; j++)
        last = slot->chain[j].dimension > last ? slot->chain[j].dimension : last;
    tw_status status = restart(sweep, slot->metric.consistent ? 0 : kept - 1);
    while (status == TW_OK && sweep->dimension + 1 < last) {
        bool keep[TW_MAX_BLOCK] = {false};
        for (int j = 0; j < slot->start_count; j++)
            keep[j] = sweep->dimension < slot->chain[j].dimension;
        tw_sweep_retire(sweep, keep);
        status = repeat_step(sweep);
        if (status == TW_OK)
            accumulate(sweep, sweep->dimension, output_count, outputs, row, offset, coefficients);
    }
    return status;
}
