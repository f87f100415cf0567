#include "phi/krylov/projection.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/allocate.h"
#include "linalg/dense.h"

enum { SAMPLES = TW_PROJECTION_SAMPLES, COLUMNS = 4 };

tw_status tw_projection_create(tw_projection *p, int capacity)
{
    size_t side = (size_t)capacity;
    *p = (tw_projection){.capacity = capacity};
    p->matrix = TW_NEW_ARRAY(side * side, double);
    p->exponential = TW_NEW_ARRAY(side * side, double);
    p->scratch = TW_NEW_ARRAY(tw_dense_expm_scratch(capacity), double);
    p->vectors = TW_NEW_ARRAY(8 * side, double);
    return p->matrix && p->exponential && p->scratch && p->vectors ? TW_OK : TW_OUT_OF_MEMORY;
}

void tw_projection_free(tw_projection *p)
{
    tw_release(p->matrix);
    tw_release(p->exponential);
    tw_release(p->scratch);
    tw_release(p->vectors);
    *p = (tw_projection){0};
}

/* [[H, c e_1, 0], [0, 0, c I], [0, 0, 0]] * tau / SAMPLES, of order m + k + 1: column m + i of its exponential holds
 * (c s)^i phi_i(s H) e_1 (Saad 1992, Sidje 1998). Without the balance c, which is returned, a column that is small
 * beside the others would lose its relative accuracy. */
static double augment(tw_projection *p, int m, const double *H, int stride, int k, double tau)
{
    size_t order = (size_t)m + (size_t)k + 1;
    double step = tau / SAMPLES, largest = 0;
    memset(p->matrix, 0, order * order * sizeof(double));
    for (size_t j = 0; j < (size_t)m; j++) {
        double sum = 0;
        for (size_t i = 0; i < (size_t)m; i++) {
            p->matrix[j * order + i] = step * H[j * (size_t)stride + i];
            sum += fabs(H[j * (size_t)stride + i]);
        }
        largest = fmax(largest, sum);
    }
    double balance = fmax(largest, 1 / tau);
    p->matrix[(size_t)m * order] = step * balance;
    for (size_t i = (size_t)m + 1; i < order; i++) p->matrix[i * order + i - 1] = step * balance;
    p->norm = tau * largest;
    return balance;
}

/* out = E in, for `count` columns. */
static void advance(int order, int count, const double *E, const double *in, double *out)
{
    size_t n = (size_t)order;
    memset(out, 0, (size_t)count * n * sizeof *out);
    for (size_t j = 0; j < n; j++)
        for (size_t c = 0; c < (size_t)count; c++) {
            double x = in[c * n + j];
            for (size_t i = 0; i < n; i++) out[c * n + i] += E[j * n + i] * x;
        }
}

static double length(int n, const double *x)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

/* Largest absolute column sum of the leading m x m block of E. */
static double leading_norm(int m, int order, const double *E)
{
    double largest = 0;
    for (size_t j = 0; j < (size_t)m; j++) {
        double sum = 0;
        for (size_t i = 0; i < (size_t)m; i++) sum += fabs(E[j * (size_t)order + i]);
        largest = fmax(largest, sum);
    }
    return largest;
}

/* Keeps what one part of the substep showed. */
static void record(tw_projection *p, int l, const double *z)
{
    p->forward[l] = fmax(p->forward[l - 1], length(p->m, z));
    p->foreseen = l;
}

tw_status tw_projection_evaluate(tw_projection *p, int m, const double *H, int stride, int k,
                                 double tau)
{
    int order = m + k + 1;
    double change[SAMPLES], size[SAMPLES],
        generic[SAMPLES + 1] = {1}, balance = augment(p, m, H, stride, k, tau), power = 1;
    p->m = m;
    p->order = order;
    p->step = tau / SAMPLES;
    tw_status status = tw_expm(order, p->matrix, p->exponential, p->scratch);
    if (status) return status;
    for (int i = 0; i < k; i++) power /= balance;
    double *now = p->vectors, *next = p->vectors + (size_t)COLUMNS * (size_t)order;
    memset(now, 0, COLUMNS * (size_t)order * sizeof *now);
    now[k == 0 ? 0 : m + k - 1] = power;  /* -> y(s) */
    now[order + m + k] = power / balance; /* -> s^{k+1} phi_{k+1}(s H) e_1 */
    now[2 * order + m - 1] = 1;           /* -> exp(s H) e_m */
    for (int i = 0; i < m; i++)
        now[3 * order + i] = (i % 3 == 1 ? -1 : 1) / sqrt(m); /* -> exp(s H) times any vector */
    p->growth = k == 0 ? 1 : 0;
    p->forward[0] = 1;
    for (int l = 0; l < SAMPLES; l++) {
        advance(order, COLUMNS, p->exponential, now, next);
        change[l] = fabs(next[order + m - 1] - now[order + m - 1]);
        size[l] = length(m, next);
        p->growth = fmax(p->growth, size[l]);
        record(p, l + 1, next + 2 * (size_t)order);
        generic[l + 1] = fmax(p->forward[l + 1], length(m, next + 3 * (size_t)order));
        double *swap = now;
        now = next;
        next = swap;
    }
    p->y = now;
    p->spare = next;
    p->correction = now[order + m - 1];
    p->variation = p->perturbation = 0;
    for (int l = 0; l < SAMPLES; l++) {
        p->variation += change[l] * p->forward[SAMPLES - l];
        p->perturbation = fmax(p->perturbation, size[l] * generic[SAMPLES - 1 - l]);
    }
    /* E itself carries a relative error, and H one of that size times |tau H|. */
    p->perturbation *=
        fmax(1, SAMPLES * leading_norm(m, order, p->exponential) / (SAMPLES + p->norm));
    bool finite = isfinite(p->growth) && isfinite(p->variation) && isfinite(p->perturbation);
    return finite ? TW_OK : TW_NOT_FINITE;
}

/* Continues `forward` beyond the substep. */
static void foresee(tw_projection *p)
{
    size_t n = (size_t)p->order;
    double *now = p->y + 2 * n, *next = p->spare;
    while (p->foreseen < TW_PROJECTION_REACH) {
        advance(p->order, 1, p->exponential, now, next);
        record(p, p->foreseen + 1, next);
        now = next;
        next = next == p->spare ? p->spare + n : p->spare;
    }
}

double tw_projection_amplification(tw_projection *p, double s)
{
    enum { HALF = TW_PROJECTION_REACH / 2 };
    double parts = ceil(s / p->step - 1e-9);
    if (parts > p->foreseen) foresee(p);
    if (parts <= p->foreseen) return p->forward[(int)fmax(parts, 0)];
    double most = p->forward[TW_PROJECTION_REACH], order = log2(most / p->forward[HALF]);
    return most * pow(parts / TW_PROJECTION_REACH, order);
}
