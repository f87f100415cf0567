#include "phi/taylor/newton_substep.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/parallel_for.h"
#include "linalg/vector.h"
#include "phi/taylor/term_noise.h"

/* The probe (see exp_sweep.c) tells the size of an amplification: two digits are enough. */
static const double probe_tolerance = 0.01;

enum { TERM_BLOCK = 16384, HISTORY = 9, SETTLING = 8 };

void tw_newton_fill_tails(tw_newton *newton)
{
    int m = newton->degree;
    for (int o = 0; o < newton->outputs; o++) {
        const double *c = newton->coefficient[o];
        double *tail = newton->tail[o];
        double decay = m > 0 && c[m - 1] != 0 ? fabs(c[m] / c[m - 1]) : 1;
        double ratio = fmin(newton->growth[m] * decay, 0.9);
        tail[m] = fabs(c[m]) * ratio / (1 - ratio);
        for (int j = m - 1; j >= 0; j--)
            tail[j] = newton->growth[j] * (fabs(c[j + 1]) + tail[j + 1]);
    }
}

tw_status tw_phi_spend(const tw_phi_workspace *workspace, tw_phi_statistics *statistics, int count)
{
    if (statistics->products + count > workspace->options.max_products) return TW_BUDGET_EXHAUSTED;
    statistics->products += count;
    return TW_OK;
}

typedef struct term_job {
    double applied, current, previous, coefficient;
    const double *y, *y_previous;
    double *y_next, *sum;
} term_job;

/* y_next = applied * y_next + current * y + previous * y_previous; sum += coefficient * y_next. */
static void term_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const term_job *job = context;
    double a = job->applied, b = job->current, d = job->previous, c = job->coefficient;
    const double *y = job->y, *y_previous = job->y_previous;
    double *y_next = job->y_next, *sum = job->sum;
    if (d != 0) {
        for (int64_t i = begin; i < end; i++) {
            y_next[i] = a * y_next[i] + b * y[i] + d * y_previous[i];
            sum[i] += c * y_next[i];
        }
    } else {
        for (int64_t i = begin; i < end; i++) {
            y_next[i] = a * y_next[i] + b * y[i];
            sum[i] += c * y_next[i];
        }
    }
}

/* The running state of the recurrence. */
typedef struct recurrence {
    tw_substep *step;
    const tw_newton *newton;
    int64_t n;
    int j;                             /* index of the newest term */
    double *previous, *current, *next; /* y_{j-1}, y_j, and room for A y_j */
    double z[TW_PHI_MAX_ORDER + 1], z_previous[TW_PHI_MAX_ORDER + 1];
    double norm[2];             /* block norms of y_j with its sources' share */
    double block[2];            /* norms of the blocks of y_j's vector alone */
    double history[HISTORY][2]; /* `norm` of the last terms */
    bool probing;
    double probe_norm;
    tw_term_noise noise;
    double settled; /* largest |y_j| of the first terms */
} recurrence;

static double pythagoras(const double norms[2])
{
    return hypot(norms[0], norms[1]);
}

/* |y_j| per block, with what its polynomials z_l, l <= k, still promise of v_k. */
static tw_status measure(recurrence *r)
{
    tw_status status =
        tw_phi_block_norms(r->step->workspace, &r->step->op->space, r->current, r->block);
    if (status) return status;
    const tw_substep_sources *sources = &r->step->sources;
    memcpy(r->norm, r->block, sizeof r->norm);
    for (int s = 0; s < sources->count; s++) {
        double largest = 0;
        for (int l = 1; l <= sources->order[s]; l++) largest = fmax(largest, fabs(r->z[l]));
        for (int b = 0; b < 2; b++) r->norm[b] += r->step->length * largest * sources->norm[s][b];
    }
    return TW_OK;
}

/* z_next = ((h J - center - shift) z + pair z_previous) / divisor, (J z)_k = z_{k-1}. */
static void advance_polynomials(recurrence *r)
{
    const tw_newton *newton = r->newton;
    int j = r->j, top = r->step->sources.top;
    double next[TW_PHI_MAX_ORDER + 1] = {0};
    for (int k = 1; k <= top; k++) {
        double shifted = r->step->length * (k > 1 ? r->z[k - 1] : 0.0) -
                         (newton->center + newton->shift[j]) * r->z[k];
        next[k] = (shifted + newton->pair[j] * r->z_previous[k]) / newton->divisor[j];
    }
    memcpy(r->z_previous, r->z, sizeof r->z);
    memcpy(r->z, next, sizeof r->z);
}

/* next = A y_j for the columns that take part, plus the sources over t. Zero vectors are not multiplied. */
static tw_status apply(recurrence *r)
{
    tw_substep *step = r->step;
    int columns = r->probing ? 2 : 1;
    if (r->block[0] == 0 && r->block[1] == 0 && !r->probing) {
        tw_vector_fill(r->n, 0.0, r->next);
        return TW_OK;
    }
    tw_status status = tw_phi_spend(step->workspace, step->statistics, columns);
    if (status) return status;
    status = step->op->apply(step->op->context, columns, r->current, r->next);
    return status ? TW_CALLBACK_FAILED : TW_OK;
}

static void add_sources(recurrence *r)
{
    const tw_substep_sources *sources = &r->step->sources;
    double weight[TW_PHI_MAX_ORDER];
    bool any = false;
    for (int s = 0; s < sources->count; s++) {
        weight[s] = r->z[sources->order[s]] / r->step->time;
        any = any || weight[s] != 0;
    }
    if (any) tw_vector_add_combination(r->n, sources->count, sources->vectors, weight, r->next);
}

/* Makes y_{j+1} from A y_j, adds it to the outputs, and rotates the terms. */
static void combine(recurrence *r)
{
    const tw_newton *newton = r->newton;
    int j = r->j;
    double inverse = 1 / newton->divisor[j];
    for (int column = 0; column < (r->probing ? 2 : 1); column++) {
        int64_t offset = column * r->n;
        tw_parallel_for(r->n, TERM_BLOCK, term_body,
                        &(term_job){.applied = r->step->length * r->step->time * inverse,
                                    .current = -(newton->center + newton->shift[j]) * inverse,
                                    .previous = newton->pair[j] * inverse,
                                    .coefficient = newton->coefficient[0][j + 1],
                                    .y = r->current + offset,
                                    .y_previous = r->previous + offset,
                                    .y_next = r->next + offset,
                                    .sum = r->step->vectors.sum + offset});
    }
    for (int o = 1; o < newton->outputs; o++)
        tw_vector_axpy(r->n, newton->coefficient[o][j + 1], r->next,
                       r->step->vectors.inside + (o - 1) * r->n);
    double *oldest = r->previous;
    r->previous = r->current;
    r->current = r->next;
    r->next = oldest;
}

/* Largest |y_j| of the last `window` terms in block b: single terms may be small by chance. */
static double recent_norm(const recurrence *r, int b)
{
    double largest = 0;
    for (int back = 0; back < r->newton->window && back <= r->j; back++)
        largest = fmax(largest, r->history[(r->j - back) % HISTORY][b]);
    return largest;
}

/* How much faster than newton->growth the terms of the last window grew, per term; at least 1. */
static double excess_growth(const recurrence *r)
{
    int back = r->newton->window < r->j ? r->newton->window : r->j;
    if (back < 2) return 1;
    double logarithm = 0;
    for (int i = 1; i <= back; i++) logarithm += log(r->newton->growth[r->j - i]);
    const double *then = r->history[(r->j - back + HISTORY) % HISTORY], *now = r->norm;
    double grown = pythagoras(now) / pythagoras(then);
    double excess = (log(grown) - logarithm) / back;
    return excess > 0 ? exp(fmin(excess, 100)) : 1;
}

/* The remainder of output o after y_j per unit of |y_j|, if terms go on growing by `excess` more than expected. */
static double cautious_tail(const recurrence *r, int o, double excess)
{
    const tw_newton *newton = r->newton;
    double size = 1, sum = 0;
    for (int i = r->j; i < newton->degree; i++) {
        size *= excess * newton->growth[i];
        double term = size * fabs(newton->coefficient[o][i + 1]);
        sum += term;
        if (!(sum < DBL_MAX) || term <= 1e-3 * sum * fabs(1 - excess * newton->growth[i + 1]))
            break;
    }
    return sum;
}

/* The terms seem small enough: asks again with the growth that was really seen. */
static bool confirm(recurrence *r)
{
    double excess = excess_growth(r);
    if (excess == 1) return true;
    bool confirmed = true;
    for (int o = 0; o < r->newton->outputs; o++) {
        double tail = cautious_tail(r, o, excess);
        for (int b = 0; b < 2; b++) {
            double remainder = r->norm[b] * tail;
            r->step->truncation[o][b] = fmax(r->step->truncation[o][b], remainder);
            if (!(remainder <= r->step->target[o][b])) confirmed = false;
        }
    }
    return confirmed;
}

/* Notes |c_oj y_j| and the remainders that the terms so far promise; true when all of them are below their targets. */
static bool judge(recurrence *r)
{
    const tw_newton *newton = r->newton;
    tw_substep *step = r->step;
    memcpy(r->history[r->j % HISTORY], r->norm, sizeof r->norm);
    bool done = r->j + 1 >= newton->window && r->j > step->sources.top;
    for (int o = 0; o < newton->outputs; o++) {
        double c = fabs(newton->coefficient[o][r->j]);
        step->hump[o] = fmax(step->hump[o], c * pythagoras(r->block));
        for (int b = 0; b < 2; b++) {
            if (r->j > 0 && r->block[b] > 0) step->moved[b] = true;
            step->noise[o][b] = hypot(step->noise[o][b], c * r->noise.noise[0][b]);
            step->truncation[o][b] = recent_norm(r, b) * newton->tail[o][r->j];
            if (!(step->truncation[o][b] <= step->target[o][b])) done = false;
        }
    }
    return done && confirm(r);
}

/* The probe needs no sources and no blocks; it stops taking part when its own remainder is small. */
static tw_status judge_probe(recurrence *r)
{
    if (!r->probing) return TW_OK;
    tw_status status = tw_vector_norm(&r->step->op->space, r->current + r->n, &r->probe_norm);
    if (r->j >= r->newton->window && r->probe_norm * r->newton->tail[0][r->j] <= probe_tolerance)
        r->probing = false;
    return status;
}

static tw_status start(recurrence *r)
{
    tw_substep *step = r->step;
    const tw_newton *newton = r->newton;
    tw_vector_copy(r->n, step->vectors.state, r->current);
    tw_vector_copy(r->n, step->vectors.state, step->vectors.sum);
    tw_vector_scale(r->n, newton->coefficient[0][0], step->vectors.sum);
    if (r->probing) {
        tw_vector_copy(r->n, step->vectors.state + r->n, r->current + r->n);
        tw_vector_copy(r->n, step->vectors.state + r->n, step->vectors.sum + r->n);
        tw_vector_scale(r->n, newton->coefficient[0][0], step->vectors.sum + r->n);
    }
    for (int o = 1; o < newton->outputs; o++) {
        double *inside = step->vectors.inside + (o - 1) * r->n;
        tw_vector_copy(r->n, step->vectors.state, inside);
        tw_vector_scale(r->n, newton->coefficient[o][0], inside);
    }
    memcpy(r->z, step->sources.polynomial, sizeof r->z);
    step->converged = step->diverged = false;
    step->growth_rate = 1;
    memset(step->hump, 0, sizeof step->hump);
    memset(step->noise, 0, sizeof step->noise);
    memset(step->moved, 0, sizeof step->moved);
    tw_status status = measure(r);
    tw_term_noise_start(&r->noise, step->workspace->frame != NULL, r->block);
    return status;
}

/* What y_{j+1}, just made, is made of. */
static tw_term_weights weights_of(const recurrence *r)
{
    const tw_newton *newton = r->newton;
    int j = r->j - 1;
    double factor = r->step->length * fabs(r->step->time) / newton->divisor[j];
    return (tw_term_weights){.applied = {factor * r->step->norm[0], factor * r->step->norm[1]},
                             .kept = fabs(newton->center + newton->shift[j]) / newton->divisor[j],
                             .previous = newton->pair[j] / newton->divisor[j]};
}

/* Polynomials that are small on the spectrum keep |y_j| level; growth means that the spectrum lies outside. */
static void watch_growth(recurrence *r)
{
    double size = fmax(pythagoras(r->norm), r->probing ? r->probe_norm : 0);
    int settling = SETTLING + r->step->sources.top;
    if (r->j <= settling) r->settled = fmax(r->settled, size);
    double excess = size / r->settled;
    if (r->j > settling && excess > 0)
        r->step->growth_rate = pow(excess, 1.0 / (r->j - settling / 2.0));
    double limit = r->newton->divergence;
    r->step->diverged = isinf(size) || (limit > 0 && r->j > settling && excess > limit);
}

/* Whether nothing is left to add: the vector and all its sources have vanished, and the sum is exact. */
static bool vanished(recurrence *r)
{
    const double *before = r->history[(r->j + HISTORY - 1) % HISTORY];
    if (r->norm[0] != 0 || r->norm[1] != 0 || before[0] != 0 || before[1] != 0) return false;
    if (r->j <= r->step->sources.top) return false;
    memset(r->step->truncation, 0, sizeof r->step->truncation);
    return true;
}

tw_status tw_substep_run(tw_substep *step, const tw_newton *newton)
{
    recurrence r = {.step = step,
                    .newton = newton,
                    .n = step->op->space.local_size,
                    .previous = step->vectors.term[0],
                    .current = step->vectors.term[1],
                    .next = step->vectors.term[2],
                    .probing = step->probe};
    tw_status status = start(&r);
    bool done = false;
    while (!status) {
        done = judge(&r) || vanished(&r);
        if ((done && !r.probing) || r.j == newton->degree) break;
        status = apply(&r);
        if (status) break;
        add_sources(&r);
        combine(&r);
        advance_polynomials(&r);
        r.j++;
        status = measure(&r);
        tw_term_noise_next(&r.noise, weights_of(&r), r.block);
        if (!status) status = judge_probe(&r);
        if (isnan(r.norm[0]) || isnan(r.norm[1])) status = TW_NOT_FINITE;
        watch_growth(&r);
        if (step->diverged) break;
    }
    step->degree = r.j;
    step->converged = !status && !step->diverged && done && !r.probing;
    if (r.j > step->statistics->dimension) step->statistics->dimension = r.j;
    return status;
}
