/* Chebyshev coefficients of scalar functions on an interval, and the recurrence of T_k(x) b. */
#include <math.h>

#include "base/parallel_for.h"
#include "linalg/vector.h"
#include "phi/spectral/spectral.h"

enum {
    PASS_BLOCK = 1024 /* entries of all columns and outputs that stay in the cache during a pass */
};

static const double pi = 3.14159265358979323846;

/* ---- coefficients ---- */

size_t tw_chebyshev_scratch(int count)
{
    return 4 * (size_t)count; /* complex samples and roots of unity */
}

/* Exchanges entries whose indices are each other's bits in reverse order. */
static void reverse_bits(int n, double *z)
{
    for (int i = 0, j = 0; i < n; i++) {
        /* Every pair is exchanged once. */
        if (i < j)
            for (int part = 0; part < 2; part++) {
                double swap = z[2 * i + part];
                z[2 * i + part] = z[2 * j + part];
                z[2 * j + part] = swap;
            }

        /* j becomes the reverse of i + 1: the addition carries from the highest bit downwards. */
        int bit = n >> 1;
        for (; bit > 0 && (j & bit); bit >>= 1) j ^= bit;
        j |= bit;
    }
}

/* z <- sum_l z_l exp(-2 pi i k l / n), radix 2 in place; roots[k] = exp(-2 pi i k / n). */
static void transform(int n, double *z, const double *roots)
{
    reverse_bits(n, z);

    for (int length = 2; length <= n; length *= 2)
        for (int start = 0; start < n; start += length)
            for (int k = 0; k < length / 2; k++) {
                /* (a, b) <- (a + w b, a - w b) */
                const double *w = roots + 2 * (size_t)k * (size_t)(n / length);
                double *a = z + 2 * (size_t)(start + k);
                double *b = a + length;
                double re = w[0] * b[0] - w[1] * b[1];
                double im = w[0] * b[1] + w[1] * b[0];
                b[0] = a[0] - re;
                b[1] = a[1] - im;
                a[0] += re;
                a[1] += im;
            }
}

tw_status tw_chebyshev_coefficients(const tw_spectral_function *f,
                                    const tw_chebyshev_interval *interval, int count,
                                    double *scratch, double *c)
{
    double *z = scratch;
    double *roots = scratch + 2 * (size_t)count;

    /* Roots of unity exp(-2 pi i k/n) as pairs (re, im). */
    for (int k = 0; k < count; k++) {
        roots[2 * k] = cos(2 * pi * k / count);
        roots[2 * k + 1] = -sin(2 * pi * k / count);
    }

    /* c_k = 2/n sum_l f(cos(pi (l + 1/2)/n)) cos(pi k (l + 1/2)/n). With the even samples
     * forwards and the odd ones backwards it becomes a Fourier transform of the same length
     * (Makhoul 1980). */
    for (int l = 0; l < count; l++) {
        double value =
            f->value(f->context, interval->middle + interval->half * cos(pi * (l + 0.5) / count));
        if (!isfinite(value)) return TW_NOT_FINITE;
        int place = l % 2 == 0 ? l / 2 : count - 1 - l / 2;
        z[2 * place] = value;
        z[2 * place + 1] = 0;
    }
    transform(count, z, roots);

    /* c_k is the real part of exp(-i pi k/2n) z_k, times 2/n (1/n for k = 0). */
    for (int k = 0; k < count; k++) {
        double angle = pi * k / (2.0 * count);
        c[k] = (k == 0 ? 1.0 : 2.0) / count * (cos(angle) * z[2 * k] + sin(angle) * z[2 * k + 1]);
    }

    return TW_OK;
}

void tw_chebyshev_tails(int count, const double *c, double *tail)
{
    double sum = 0;
    for (int k = count - 1; k >= 0; k--) {
        tail[k] = sum;
        sum += fabs(c[k]);
    }
}

/* ---- the recurrence ---- */

typedef struct pass_job {
    const tw_chebyshev_recurrence *recurrence;
    const double *product; /* A T_k b, or K T_k b for a lumped mass */
    const double *mass;    /* the lumped mass, else NULL */
    double s;              /* T_{k+1} = s A T_k + m T_k + o T_{k-1} */
    double m;
    double o;
    int degree;      /* of the new term */
    bool add;        /* this term is added to the outputs */
    bool add_before; /* and the one before it too */
} pass_job;

/* next holds T_{k-1} b and becomes T_{k+1} b. */
static void advance(int64_t n, const pass_job *job, const double *restrict y,
                    const double *restrict mass, const double *restrict now, double *restrict next)
{
    double s = job->s;
    double m = job->m;
    double o = job->o;

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

/* The new term overwrites T_{k-1}. Every second time this and the last term are added to all
 * outputs, while both are in the cache. */
static void pass_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const pass_job *job = context;
    const tw_chebyshev_recurrence *recurrence = job->recurrence;
    int64_t size = recurrence->memory->size;
    int64_t n = end - begin;

    /* T_{k+1} for every column. */
    for (int c = 0; c < recurrence->active; c++) {
        int64_t at = c * size + begin;
        advance(n, job, job->product + at, job->mass ? job->mass + begin : NULL,
                recurrence->now + at, recurrence->before + at);
    }
    if (!job->add) return;

    /* outputs_i += c_k T_k b + c_{k+1} T_{k+1} b */
    for (int i = 0; i < recurrence->output_count; i++)
        for (int c = 0; c < recurrence->active; c++) {
            const double *terms =
                recurrence->coefficients +
                ((size_t)i * (size_t)recurrence->start_count + (size_t)recurrence->start[c]) *
                    (size_t)recurrence->row;
            int64_t at = c * size + begin;
            add_pair(n, job->add_before ? terms[job->degree - 1] : 0, recurrence->now + at,
                     terms[job->degree], recurrence->before + at, recurrence->outputs[i] + begin);
        }
}

void tw_chebyshev_begin(tw_chebyshev_recurrence *recurrence, const double *const *starts)
{
    int64_t n = recurrence->memory->size;
    recurrence->degree = 0;
    recurrence->added = -1;
    recurrence->now = recurrence->memory->rolling;
    recurrence->before = recurrence->memory->rolling + TW_MAX_BLOCK * n;

    for (int i = 0; i < recurrence->output_count; i++) tw_vector_fill(n, 0, recurrence->outputs[i]);

    /* T_0 b = b/|b| */
    for (int c = 0; c < recurrence->active; c++) {
        int j = recurrence->start[c];
        tw_normalised_copy(n, recurrence->norm[j], starts[j], recurrence->now + c * n);
        tw_vector_fill(n, 0, recurrence->before + c * n);
        recurrence->growth[j] = 1;
    }
}

/* *image = K T_k b, or A T_k b if the mass is consistent. */
static tw_status multiply(tw_chebyshev_recurrence *recurrence, const double **image)
{
    const tw_operator *K = &recurrence->op->stiffness;
    const tw_mass_operator *mass = recurrence->metric.consistent;
    double *product = recurrence->memory->product;
    tw_status status = K->apply(K->context, recurrence->active, recurrence->now, product);
    recurrence->products += recurrence->active;
    *image = product;

    /* A lumped mass is divided out in the pass itself. */
    if (status || !mass) return status;

    *image = recurrence->memory->momentum;

    return mass->solve(mass->context, recurrence->active, product, recurrence->memory->momentum);
}

tw_status tw_chebyshev_step(tw_chebyshev_recurrence *recurrence, bool last)
{
    const double *image = NULL;
    tw_status status = multiply(recurrence, &image);
    if (status) return status;

    /* T_{k+1} = 2 x T_k - T_{k-1}, T_1 = x T_0 */
    double factor = recurrence->degree == 0 ? 1 : 2;
    pass_job job = {.recurrence = recurrence,
                    .product = image,
                    .mass = recurrence->metric.lumped,
                    .s = factor / recurrence->interval.half,
                    .m = -factor * recurrence->interval.middle / recurrence->interval.half,
                    .o = recurrence->degree == 0 ? 0 : -1,
                    .degree = recurrence->degree + 1,
                    .add = last || recurrence->added < recurrence->degree,
                    .add_before = recurrence->added < recurrence->degree};
    tw_parallel_for(recurrence->memory->size, PASS_BLOCK, pass_block, &job);

    /* The new term stands in the place of T_{k-1}. */
    double *swap = recurrence->now;
    recurrence->now = recurrence->before;
    recurrence->before = swap;
    recurrence->degree++;
    if (job.add) recurrence->added = recurrence->degree;

    return TW_OK;
}

void tw_chebyshev_retire(tw_chebyshev_recurrence *recurrence, const bool *keep)
{
    int64_t n = recurrence->memory->size;

    int to = 0;
    for (int c = 0; c < recurrence->active; c++) {
        if (!keep[recurrence->start[c]]) continue;

        /* The product needs contiguous columns: a column that stays moves down. */
        if (to != c) {
            tw_vector_copy(n, recurrence->now + c * n, recurrence->now + to * n);
            tw_vector_copy(n, recurrence->before + c * n, recurrence->before + to * n);
            recurrence->start[to] = recurrence->start[c];
        }
        to++;
    }
    recurrence->active = to;
}

tw_status tw_chebyshev_measure(tw_chebyshev_recurrence *recurrence)
{
    const tw_mass_metric *metric = &recurrence->metric;
    int64_t n = recurrence->memory->size;
    for (int c = 0; c < recurrence->active; c++) {
        const double *x = recurrence->now + c * n;
        const double *y = x;
        tw_status status = TW_OK;

        /* |T_k b|_M^2, b being normalised. */
        if (metric->consistent) {
            y = recurrence->memory->momentum;
            status = tw_mass_multiply(metric, 1, x, recurrence->memory->momentum);
        }
        double square = 0;
        if (status == TW_OK)
            status = tw_vector_weighted_dot(&metric->space, metric->lumped, x, y, &square);
        if (status) return status;
        if (!isfinite(square)) return TW_NOT_FINITE;

        /* The largest length so far. */
        double *growth = &recurrence->growth[recurrence->start[c]];
        *growth = fmax(*growth, sqrt(fmax(square, 0)));
    }

    return TW_OK;
}
