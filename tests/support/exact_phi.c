#include "support/exact_phi.h"

#include <stdlib.h>
#include <string.h>

typedef struct exact_work {
    int m;
    dd *Z, *power[3], *E, *T; /* Z scaled, Z^2..Z^4, result, room */
} exact_work;

static void multiply(int m, const dd *A, const dd *B, dd *C)
{
    for (int j = 0; j < m; j++)
        for (int i = 0; i < m; i++) {
            dd sum = dd_of(0);
            for (int k = 0; k < m; k++)
                if (B[j * m + k].high != 0)
                    sum = dd_add(sum, dd_multiply(A[k * m + i], B[j * m + k]));
            C[j * m + i] = sum;
        }
}

/* [[tau Z, W], [0, J]], W = (v_p, ..., v_1) / unit. */
static void augment(int d, const dd *Z, dd tau, int p, const double *const *vectors, double unit,
                    exact_work *work)
{
    int m = work->m;
    for (int j = 0; j < d; j++)
        for (int i = 0; i < d; i++) work->Z[j * m + i] = dd_multiply(tau, Z[j * d + i]);
    for (int k = 1; k <= p; k++) {
        dd *column = work->Z + (m - k) * m;
        for (int i = 0; i < d; i++) column[i] = dd_of(vectors[k] ? vectors[k][i] / unit : 0);
        if (k < p) column[m - k - 1] = dd_of(1);
    }
}

/* E = sum_{j <= 16} Z^j / j!, four powers at a time. */
static void taylor(exact_work *work)
{
    int m = work->m, square = m * m;
    multiply(m, work->Z, work->Z, work->power[0]);
    multiply(m, work->Z, work->power[0], work->power[1]);
    multiply(m, work->power[0], work->power[0], work->power[2]);
    const dd *powers[4] = {NULL, work->Z, work->power[0], work->power[1]};
    dd inverse[17];
    inverse[0] = dd_of(1);
    for (int j = 1; j <= 16; j++) inverse[j] = dd_divide(inverse[j - 1], dd_of(j));
    for (int i = 0; i < square; i++) work->E[i] = dd_of(0);
    for (int i = 0; i < m; i++) work->E[i * m + i] = inverse[16];
    for (int block = 3; block >= 0; block--) {
        multiply(m, work->power[2], work->E, work->T);
        memcpy(work->E, work->T, (size_t)square * sizeof(dd));
        for (int i = 0; i < m; i++)
            work->E[i * m + i] = dd_add(work->E[i * m + i], inverse[4 * block]);
        for (int j = 1; j < 4; j++)
            for (int i = 0; i < square; i++)
                work->E[i] = dd_add(work->E[i], dd_multiply(inverse[4 * block + j], powers[j][i]));
    }
}

/* Z is divided by 2^s so that its norm is at most 1/16, where degree 16 leaves 1e-35. */
static void exponential(exact_work *work)
{
    int m = work->m;
    double norm = 0;
    for (int j = 0; j < m; j++) {
        double sum = 0;
        for (int i = 0; i < m; i++) sum += fabs(work->Z[j * m + i].high);
        norm = fmax(norm, sum);
    }
    int s = norm > 0.0625 ? (int)ceil(log2(norm / 0.0625)) : 0;
    for (int i = 0; i < m * m; i++) work->Z[i] = dd_scale(work->Z[i], ldexp(1.0, -s));
    taylor(work);
    for (int i = 0; i < s; i++) {
        multiply(m, work->E, work->E, work->T);
        memcpy(work->E, work->T, (size_t)(m * m) * sizeof(dd));
    }
}

static double largest_entry(int d, int p, const double *const *vectors)
{
    double largest = 0;
    for (int k = 0; k <= p; k++)
        for (int i = 0; vectors[k] && i < d; i++) largest = fmax(largest, fabs(vectors[k][i]));
    return largest > 0 ? ldexp(1.0, ilogb(largest)) : 1;
}

bool exact_phi(int d, const dd *Z, double node, double time, int p, const double *const *vectors,
               double *out)
{
    int m = d + p;
    size_t square = (size_t)m * (size_t)m;
    dd *memory = calloc(6 * square, sizeof(dd));
    if (!memory) abort();
    exact_work work = {.m = m, .Z = memory, .E = memory + 4 * square, .T = memory + 5 * square};
    for (int i = 0; i < 3; i++) work.power[i] = memory + (size_t)(i + 1) * square;
    double unit = largest_entry(d, p, vectors);
    augment(d, Z, dd_multiply(dd_of(node), dd_of(time)), p, vectors, unit, &work);
    exponential(&work);
    bool finite = true;
    for (int i = 0; i < d; i++) {
        dd sum = p > 0 ? work.E[(m - 1) * m + i] : dd_of(0);
        for (int j = 0; vectors[0] && j < d; j++)
            sum = dd_add(sum, dd_multiply(work.E[j * m + i], dd_of(vectors[0][j] / unit)));
        out[i] = sum.high * unit;
        if (!isfinite(out[i])) finite = false;
    }
    free(memory);
    return finite;
}

void exact_solve(int n, dd *M, dd *B)
{
    for (int k = 0; k < n; k++) /* M is positive definite: no pivoting */
        for (int i = 0; i < n; i++) {
            if (i == k) continue;
            dd factor = dd_divide(M[k * n + i], M[k * n + k]);
            for (int j = 0; j < n; j++) {
                M[j * n + i] = dd_add(M[j * n + i], dd_negative(dd_multiply(factor, M[j * n + k])));
                B[j * n + i] = dd_add(B[j * n + i], dd_negative(dd_multiply(factor, B[j * n + k])));
            }
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) B[j * n + i] = dd_divide(B[j * n + i], M[i * n + i]);
}
