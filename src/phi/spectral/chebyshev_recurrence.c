#include "phi/spectral/chebyshev_recurrence.h"

#include <math.h>

#include "base/parallel_for.h"
#include "linalg/vector.h"

enum { TILE = 1024 };

typedef struct pass_job {
    const tw_chebyshev_run *run;
    const double *product; /* A T_k b, or K T_k b for a lumped mass */
    const double *mass;    /* the lumped mass, else NULL */
    double s, m, o;        /* T_{k+1} = s A T_k + m T_k + o T_{k-1} */
    int degree;            /* of the new term */
    bool add;              /* this term to the outputs */
    bool add_before;       /* and the one before it */
} pass_job;

static void advance(int64_t n, const pass_job *job, const double *restrict y,
                    const double *restrict mass, const double *restrict now, double *restrict next)
{
    double s = job->s, m = job->m, o = job->o;
    if (mass)
        for (int64_t i = 0; i < n; i++) next[i] = s * (y[i] / mass[i]) + m * now[i] + o * next[i];
    else
        for (int64_t i = 0; i < n; i++) next[i] = s * y[i] + m * now[i] + o * next[i];
}

static void add_pair(int64_t n, double a, const double *restrict x, double b,
                     const double *restrict y, double *restrict out)
{
    for (int64_t i = 0; i < n; i++) out[i] += a * x[i] + b * y[i];
}

/* The new term overwrites T_{k-1}; every second time this and the last term are added to all outputs, while both are in
 * the cache. */
static void pass_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const pass_job *job = context;
    const tw_chebyshev_run *run = job->run;
    int64_t size = run->memory->size, n = end - begin;
    for (int c = 0; c < run->active; c++) {
        int64_t at = c * size + begin;
        advance(n, job, job->product + at, job->mass ? job->mass + begin : NULL, run->now + at,
                run->before + at);
    }
    if (!job->add) return;
    for (int i = 0; i < run->output_count; i++)
        for (int c = 0; c < run->active; c++) {
            const double *terms =
                run->coefficients +
                ((size_t)i * (size_t)run->start_count + (size_t)run->start[c]) * (size_t)run->row;
            int64_t at = c * size + begin;
            add_pair(n, job->add_before ? terms[job->degree - 1] : 0, run->now + at,
                     terms[job->degree], run->before + at, run->outputs[i] + begin);
        }
}

void tw_chebyshev_begin(tw_chebyshev_run *run, const double *const *starts)
{
    int64_t n = run->memory->size;
    run->degree = 0;
    run->added = -1;
    run->now = run->memory->rolling;
    run->before = run->memory->rolling + TW_MAX_BLOCK * n;
    for (int i = 0; i < run->output_count; i++) tw_vector_fill(n, 0, run->outputs[i]);
    for (int c = 0; c < run->active; c++) {
        int j = run->start[c];
        double half = 1 / sqrt(run->norm[j]), *to = run->now + c * n;
        tw_vector_copy(n, starts[j], to);
        tw_vector_scale(n, half, to); /* in two factors: 1/norm may overflow */
        tw_vector_scale(n, half, to);
        tw_vector_fill(n, 0, run->before + c * n);
        run->growth[j] = 1;
    }
}

tw_status tw_chebyshev_step(tw_chebyshev_run *run, bool last)
{
    const tw_operator *K = &run->op->stiffness;
    const tw_mass_operator *mass = run->metric.consistent;
    int64_t n = run->memory->size;
    double *product = run->memory->product, *image = product;
    tw_status status = K->apply(K->context, run->active, run->now, product);
    run->products += run->active;
    if (status == TW_OK && mass) {
        image = run->memory->momentum;
        status = mass->solve(mass->context, run->active, product, image);
    }
    if (status) return status;
    /* T_{k+1} = 2 x T_k - T_{k-1}, T_1 = x T_0 */
    double factor = run->degree == 0 ? 1 : 2;
    pass_job job = {.run = run,
                    .product = image,
                    .mass = run->metric.lumped,
                    .s = factor / run->interval.half,
                    .m = -factor * run->interval.middle / run->interval.half,
                    .o = run->degree == 0 ? 0 : -1,
                    .degree = run->degree + 1,
                    .add = last || run->added < run->degree,
                    .add_before = run->added < run->degree};
    tw_parallel_for(n, TILE, pass_body, &job);
    double *swap = run->now;
    run->now = run->before;
    run->before = swap;
    run->degree++;
    if (job.add) run->added = run->degree;
    return TW_OK;
}

void tw_chebyshev_retire(tw_chebyshev_run *run, const bool *keep)
{
    int64_t n = run->memory->size;
    int to = 0;
    for (int c = 0; c < run->active; c++) {
        if (!keep[run->start[c]]) continue;
        if (to != c) {
            tw_vector_copy(n, run->now + c * n, run->now + to * n);
            tw_vector_copy(n, run->before + c * n, run->before + to * n);
            run->start[to] = run->start[c];
        }
        to++;
    }
    run->active = to;
}

tw_status tw_chebyshev_measure(tw_chebyshev_run *run)
{
    int64_t n = run->memory->size;
    for (int c = 0; c < run->active; c++) {
        const double *x = run->now + c * n, *y = x;
        double square = 0;
        tw_status status = TW_OK;
        if (run->metric.consistent) {
            y = run->memory->momentum;
            status = tw_mass_multiply(&run->metric, 1, x, run->memory->momentum);
        }
        if (status == TW_OK)
            status = tw_vector_weighted_dot(&run->metric.space, run->metric.lumped, x, y, &square);
        if (status) return status;
        if (!isfinite(square)) return TW_NOT_FINITE;
        run->growth[run->start[c]] = fmax(run->growth[run->start[c]], sqrt(fmax(square, 0)));
    }
    return TW_OK;
}
