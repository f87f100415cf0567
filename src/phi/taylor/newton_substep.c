/* One substep of u' = t A u + sum_k theta^(k-1)/(k-1)! v_k by a polynomial in Newton form
 * (tw_newton). */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/parallel_for.h"
#include "linalg/vector.h"
#include "phi/taylor/taylor.h"

/* The probe shows the size of an amplification, for which two digits are enough. */
static const double PROBE_TOLERANCE = 0.01;

/* Entries per block of the parallel loop: four vectors of this length fit into the second-level
 * cache. */
enum { TERM_BLOCK = 4096 };

typedef struct term_job {
    double applied;
    double current;
    double previous;
    double coefficient;
    const double *y;
    const double *y_previous;
    double *y_next;
    double *sum;
} term_job;

/* y_next = applied * y_next + current * y + previous * y_previous; sum += coefficient * y_next. */
static void term_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const term_job *job = context;
    double a = job->applied;
    double b = job->current;
    double d = job->previous;
    double c = job->coefficient;
    const double *y = job->y;
    const double *y_previous = job->y_previous;
    double *y_next = job->y_next;
    double *sum = job->sum;

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

/* ---- the next term ---- */

/* |y_j| per part, plus what its polynomials z_l, l <= k, still add of v_k. */
static tw_status measure(tw_recurrence *r)
{
    const tw_substep *step = r->step;
    TW_TRY(tw_phi_part_norms(step->workspace, &step->op->space, r->current, r->part));

    /* The largest z_l times |v_k| for every source. */
    const tw_substep_sources *sources = &step->sources;
    memcpy(r->norm, r->part, sizeof r->norm);
    for (int s = 0; s < sources->count; s++) {
        double largest = 0;
        for (int l = 1; l <= sources->order[s]; l++) largest = fmax(largest, fabs(r->z[l]));
        for (int b = 0; b < 2; b++) r->norm[b] += step->length * largest * sources->norm[s][b];
    }
    return TW_OK;
}

/* next = A y_j for the columns that take part. A zero vector is not multiplied. */
static tw_status apply(tw_recurrence *r)
{
    tw_substep *step = r->step;
    int columns = r->probing ? 2 : 1;

    if (r->part[0] == 0 && r->part[1] == 0 && !r->probing) {
        tw_vector_fill(r->n, 0.0, r->next);
        return TW_OK;
    }

    /* One product per column. */
    TW_TRY(tw_phi_spend(step->workspace, step->statistics, columns));
    tw_status status = step->op->apply(step->op->context, columns, r->current, r->next);
    return status ? TW_CALLBACK_FAILED : TW_OK;
}

/* next += sum_k z_k v_k / t: the recurrence multiplies `next` by t afterwards. */
static void add_sources(tw_recurrence *r)
{
    const tw_substep_sources *sources = &r->step->sources;
    double weight[TW_PHI_MAX_ORDER];
    bool any = false;

    for (int s = 0; s < sources->count; s++) {
        weight[s] = r->z[sources->order[s]] / r->step->time;
        any = any || weight[s] != 0;
    }

    /* Weights vanish when their polynomials do; then nothing is added. */
    if (any) tw_vector_add_combination(r->n, sources->count, sources->vectors, weight, r->next);
}

/* Makes y_{j+1} from A y_j, adds it to the outputs, and rotates the terms. */
static void combine(tw_recurrence *r)
{
    const tw_newton *newton = r->newton;
    int j = r->j;

    /* The end of the substep, for the trajectory and the probe. */
    double inverse = 1 / newton->divisor[j];
    int columns = r->probing ? 2 : 1;
    for (int column = 0; column < columns; column++) {
        int64_t offset = column * r->n;
        tw_parallel_for(r->n, TERM_BLOCK, term_block,
                        &(term_job){.applied = r->step->length * r->step->time * inverse,
                                    .current = -(newton->center + newton->shift[j]) * inverse,
                                    .previous = newton->pair[j] * inverse,
                                    .coefficient = newton->coefficient[0][j + 1],
                                    .y = r->current + offset,
                                    .y_previous = r->previous + offset,
                                    .y_next = r->next + offset,
                                    .sum = r->step->vectors.sum + offset});
    }

    /* The nodes inside the substep. */
    for (int o = 1; o < newton->outputs; o++)
        tw_vector_axpy(r->n, newton->coefficient[o][j + 1], r->next,
                       r->step->vectors.inside + (o - 1) * r->n);

    /* y_j becomes y_{j-1}, and so on. */
    double *oldest = r->previous;
    r->previous = r->current;
    r->current = r->next;
    r->next = oldest;
}

/* z_next = ((h J - center - shift) z + pair z_previous) / divisor, (J z)_k = z_{k-1}. */
static void advance_polynomials(tw_recurrence *r)
{
    const tw_newton *newton = r->newton;
    int j = r->j;
    int top = r->step->sources.top;
    double next[TW_PHI_MAX_ORDER + 1] = {0};

    for (int k = 1; k <= top; k++) {
        double below = k > 1 ? r->z[k - 1] : 0.0;
        double shifted = r->step->length * below - (newton->center + newton->shift[j]) * r->z[k];
        next[k] = (shifted + newton->pair[j] * r->z_previous[k]) / newton->divisor[j];
    }

    memcpy(r->z_previous, r->z, sizeof r->z);
    memcpy(r->z, next, sizeof r->z);
}

/* Of what the newest term y_j is made. */
static tw_term_weights weights_of(const tw_recurrence *r)
{
    const tw_newton *newton = r->newton;
    int j = r->j - 1;

    /* h |t| |A| / divisor of y_{j-1} arrives by the product, for each part. */
    double factor = r->step->length * fabs(r->step->time) / newton->divisor[j];
    return (tw_term_weights){.applied = {factor * r->step->norm[0], factor * r->step->norm[1]},
                             .kept = fabs(newton->center + newton->shift[j]) / newton->divisor[j],
                             .previous = newton->pair[j] / newton->divisor[j]};
}

/* The probe has no sources and no parts. It stops taking part when its own remainder is small. */
static tw_status judge_probe(tw_recurrence *r)
{
    if (!r->probing) return TW_OK;

    const double *probe = r->current + r->n;
    tw_status status = tw_vector_norm(&r->step->op->space, probe, &r->probe_norm);

    if (r->j >= r->newton->window && r->probe_norm * r->newton->tail[0][r->j] <= PROBE_TOLERANCE)
        r->probing = false;
    return status;
}

/* From y_j to y_{j+1}, measured. */
static tw_status advance(tw_recurrence *r)
{
    /* y_{j+1} and z_{j+1}. */
    TW_TRY(apply(r));
    add_sources(r);
    combine(r);
    advance_polynomials(r);
    r->j++;

    /* Its size, its rounding, and whether it grows. */
    tw_status status = measure(r);
    tw_term_noise_next(&r->noise, weights_of(r), r->part);
    if (!status) status = judge_probe(r);
    if (isnan(r->norm[0]) || isnan(r->norm[1])) status = TW_NOT_FINITE;
    tw_recurrence_watch_growth(r);
    return status;
}

/* ---- the substep ---- */

/* out = c_o0 u, the first term of an output. */
static void first_term(const tw_recurrence *r, int o, const double *u, double *out)
{
    tw_vector_copy(r->n, u, out);
    tw_vector_scale(r->n, r->newton->coefficient[o][0], out);
}

/* y_0 = (u, z), and outputs with their first term. */
static tw_status start(tw_recurrence *r)
{
    tw_substep *step = r->step;
    const double *u = step->vectors.state;
    tw_vector_copy(r->n, u, r->current);
    first_term(r, 0, u, step->vectors.sum);
    if (r->probing) {
        tw_vector_copy(r->n, u + r->n, r->current + r->n);
        first_term(r, 0, u + r->n, step->vectors.sum + r->n);
    }
    for (int o = 1; o < r->newton->outputs; o++)
        first_term(r, o, u, step->vectors.inside + (o - 1) * r->n);
    memcpy(r->z, step->sources.polynomial, sizeof r->z);

    /* The results are empty. */
    step->converged = false;
    step->diverged = false;
    step->growth_rate = 1;
    memset(step->hump, 0, sizeof step->hump);
    memset(step->noise, 0, sizeof step->noise);
    memset(step->moved, 0, sizeof step->moved);

    tw_status status = measure(r);
    tw_term_noise_start(&r->noise, step->workspace->frame != NULL, r->part);
    return status;
}

tw_status tw_substep_run(tw_substep *step, const tw_newton *newton)
{
    tw_recurrence r = {.step = step,
                       .newton = newton,
                       .n = step->op->space.local_size,
                       .previous = step->vectors.term[0],
                       .current = step->vectors.term[1],
                       .next = step->vectors.term[2],
                       .probing = step->probe};
    tw_status status = start(&r);

    /* Terms are added until trajectory and probe have converged. */
    bool done = false;
    while (!status) {
        done = tw_recurrence_judge(&r) || tw_recurrence_vanished(&r);
        if ((done && !r.probing) || r.j == newton->degree) break;
        status = advance(&r);
        if (step->diverged) break;
    }

    /* The results. */
    step->degree = r.j;
    step->converged = !status && !step->diverged && done && !r.probing;
    if (r.j > step->statistics->dimension) step->statistics->dimension = r.j;
    return status;
}
