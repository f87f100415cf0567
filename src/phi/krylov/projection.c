/* phi-functions of the small matrix H_m applied to e_1, and the error that they leave. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/start_vector.h"
#include "linalg/dense.h"
#include "phi/krylov/krylov.h"

enum {
    SAMPLES = TW_PROJECTION_SAMPLES,
    COLUMNS =
        4 /* vectors that are followed through the samples: y, its integral, e_m, any vector */
};

tw_status tw_projection_create(tw_projection *p, int capacity)
{
    size_t side = (size_t)capacity;
    *p = (tw_projection){.capacity = capacity};

    p->matrix = TW_NEW_ARRAY(side * side, double);
    p->exponential = TW_NEW_ARRAY(side * side, double);
    p->scratch = TW_NEW_ARRAY(tw_dense_expm_scratch(capacity), double);
    p->vectors = TW_NEW_ARRAY(2 * COLUMNS * side, double);
    p->disturbed = TW_NEW_ARRAY(side, double);

    bool complete = p->matrix && p->exponential && p->scratch && p->vectors && p->disturbed;
    return complete ? TW_OK : TW_OUT_OF_MEMORY;
}

void tw_projection_free(tw_projection *p)
{
    tw_release(p->matrix);
    tw_release(p->exponential);
    tw_release(p->scratch);
    tw_release(p->vectors);
    tw_release(p->disturbed);
    *p = (tw_projection){0};
}

/* Writes the matrix
 *     [[H, c e_1, 0], [0, 0, c I], [0, 0, 0]] * tau / SAMPLES
 * of order m + k + 1. Column m + i of its exponential holds (c s)^i phi_i(s H) e_1 (Saad 1992,
 * Sidje 1998). Without the balance c, which is returned, a column that is small beside the others
 * would lose its relative accuracy. */
static double augment(tw_projection *p, int m, const double *H, int stride, int k, double tau)
{
    size_t order = (size_t)m + (size_t)k + 1;
    double step = tau / SAMPLES;
    double largest = 0;
    memset(p->matrix, 0, order * order * sizeof(double));

    /* The leading block is step * H; `largest` becomes |H|_1. */
    for (size_t j = 0; j < (size_t)m; j++) {
        double sum = 0;
        for (size_t i = 0; i < (size_t)m; i++) {
            p->matrix[j * order + i] = step * H[j * (size_t)stride + i];
            sum += fabs(H[j * (size_t)stride + i]);
        }
        largest = fmax(largest, sum);
    }

    /* The chain of the phi-functions has entries of the size of H. */
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

    /* Column by column of E, which is stored by columns. */
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

/* Sets forward[l] from z = exp(l step H) e_m. */
static void record_growth(tw_projection *p, int l, const double *z)
{
    p->forward[l] = fmax(p->forward[l - 1], length(p->m, z));
    p->foreseen = l;
}

/* The four vectors at s = 0; `power` is balance^-k, which undoes the balance. */
static void start_columns(const tw_projection *p, int k, double balance, double *now)
{
    int m = p->m;
    int order = p->order;
    double power = 1;
    for (int i = 0; i < k; i++) power /= balance;

    memset(now, 0, COLUMNS * (size_t)order * sizeof *now);
    now[k == 0 ? 0 : m + k - 1] = power;  /* becomes y(s) */
    now[order + m + k] = power / balance; /* becomes s^{k+1} phi_{k+1}(s H) e_1 */
    now[2 * order + m - 1] = 1;           /* becomes exp(s H) e_m */

    /* The last column stands for any vector: it becomes exp(s H) d, |d| = 1. */
    for (int i = 0; i < m; i++) now[3 * order + i] = (i % 3 == 1 ? -1 : 1) / sqrt(m);
}

/* What the samples of one substep showed. */
typedef struct samples {
    double change[SAMPLES];      /* |change of the integral| over piece l */
    double size[SAMPLES];        /* |y| at the end of piece l */
    double generic[SAMPLES + 1]; /* growth of any vector over l pieces */
} samples;

/* Follows the four columns over the substep; leaves the last ones in p->y. */
static void follow_columns(tw_projection *p, double *now, double *next, samples *seen)
{
    int m = p->m;
    int order = p->order;
    seen->generic[0] = 1;
    p->forward[0] = 1;
    for (int l = 0; l < SAMPLES; l++) {
        advance(order, COLUMNS, p->exponential, now, next);

        seen->change[l] = fabs(next[order + m - 1] - now[order + m - 1]);
        seen->size[l] = length(m, next);
        p->growth = fmax(p->growth, seen->size[l]);
        record_growth(p, l + 1, next + 2 * (size_t)order);
        seen->generic[l + 1] = fmax(p->forward[l + 1], length(m, next + 3 * (size_t)order));

        double *swap = now;
        now = next;
        next = swap;
    }
    p->y = now;
    p->spare = next;
    p->correction = now[order + m - 1];
}

/* A repeatable number in [-1, 1). */
static double random_number(uint64_t index)
{
    return (double)(tw_random_bits(index) >> 11) * 0x1p-52 - 1;
}

/* The leading block gets an error of `rounding` |H| in every column. */
static void disturb_matrix(tw_projection *p, int m, double rounding)
{
    size_t order = (size_t)p->order;
    double size = rounding * p->norm / SAMPLES / sqrt(m);
    for (size_t j = 0; j < (size_t)m; j++)
        for (size_t i = 0; i < (size_t)m; i++)
            p->matrix[j * order + i] += size * random_number(j * (size_t)m + i);
}

/* Sets the matrix of one piece of the substep; returns its balance. */
static double begin(tw_projection *p, int m, const double *H, int stride, int k, double tau)
{
    double balance = augment(p, m, H, stride, k, tau);
    p->m = m;
    p->order = m + k + 1;
    p->step = tau / SAMPLES;
    return balance;
}

tw_status tw_projection_disturb(tw_projection *p, int m, const double *H, int stride, int k,
                                double tau, double rounding)
{
    double balance = begin(p, m, H, stride, k, tau);
    disturb_matrix(p, m, rounding);
    TW_TRY(tw_expm(p->order, p->matrix, p->exponential, p->scratch));

    samples ignored;
    start_columns(p, k, balance, p->vectors);
    follow_columns(p, p->vectors, p->vectors + (size_t)COLUMNS * (size_t)p->order, &ignored);
    memcpy(p->disturbed, p->y, (size_t)m * sizeof *p->disturbed);
    return TW_OK;
}

tw_status tw_projection_evaluate(tw_projection *p, int m, const double *H, int stride, int k,
                                 double tau)
{
    /* E = exp of the augmented matrix over one piece of the substep. */
    double balance = begin(p, m, H, stride, k, tau);
    TW_TRY(tw_expm(p->order, p->matrix, p->exponential, p->scratch));

    /* Powers of E give the samples. */
    samples seen;
    double *now = p->vectors;
    double *next = p->vectors + (size_t)COLUMNS * (size_t)p->order;
    start_columns(p, k, balance, now);
    p->growth = k == 0 ? 1 : 0;
    follow_columns(p, now, next, &seen);

    /* A change in piece l is carried over the rest of the substep. */
    p->variation = 0;
    p->perturbation = 0;
    for (int l = 0; l < SAMPLES; l++) {
        p->variation += seen.change[l] * p->forward[SAMPLES - l];
        p->perturbation = fmax(p->perturbation, seen.size[l] * seen.generic[SAMPLES - 1 - l]);
    }

    /* E has a relative error of its own, and H has one of that size times |tau H|. */
    double norm = leading_norm(m, p->order, p->exponential);
    p->perturbation *= fmax(1, SAMPLES * norm / (SAMPLES + p->norm));

    bool finite = isfinite(p->growth) && isfinite(p->variation) && isfinite(p->perturbation);
    return finite ? TW_OK : TW_NOT_FINITE;
}

/* Continues `forward` beyond the substep. */
static void foresee(tw_projection *p)
{
    size_t n = (size_t)p->order;
    double *now = p->y + 2 * n;
    double *next = p->spare;
    while (p->foreseen < TW_PROJECTION_REACH) {
        advance(p->order, 1, p->exponential, now, next);
        record_growth(p, p->foreseen + 1, next);

        /* Two columns of the free part take turns. */
        now = next;
        next = next == p->spare ? p->spare + n : p->spare;
    }
}

double tw_projection_amplification(tw_projection *p, double s)
{
    enum { HALF = TW_PROJECTION_REACH / 2 };

    /* The quotient of two times is rounded up only where it exceeds an integer by more than
     * rounding. */
    double pieces = ceil(s / p->step - 1e-9);
    if (pieces > p->foreseen) foresee(p);
    if (pieces <= p->foreseen) return p->forward[(int)fmax(pieces, 0)];

    /* Beyond REACH the growth goes on as the power of s that the second half showed. */
    double most = p->forward[TW_PROJECTION_REACH];
    double order = log2(most / p->forward[HALF]);
    return most * pow(pieces / TW_PROJECTION_REACH, order);
}
