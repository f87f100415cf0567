/* The mobility and its derivative as dense matrices, for implicit schemes and small systems. */
#include <math.h>
#include <string.h>

#include "base/parallel_for.h"
#include "base/vector3.h"
#include "fluid/stokeslets_internal.h"

enum { COLUMN_BLOCK = 8 }; /* points per block of the parallel loops */

typedef struct dense {
    const tw_stokeslets *s;
    double *matrix;
} dense;

/* r = x_i - x_j, c, and powers of s = r . r + c. */
typedef struct point_pair {
    double r[3];
    double c;
    double inverse;   /* s^(-1/2) */
    double inverse_3; /* s^(-3/2) */
} point_pair;

static point_pair pair_of(const tw_stokeslets *s, int64_t i, int64_t j)
{
    point_pair p = {.c = s->sources[i].half + s->sources[j].half};
    for (int k = 0; k < 3; k++) p.r[k] = s->sources[i].x[k] - s->sources[j].x[k];

    /* s = r . r + c is never 0, because c is not. */
    p.inverse = 1.0 / sqrt(tw_dot3(p.r, p.r) + p.c);
    p.inverse_3 = p.inverse * p.inverse * p.inverse;
    return p;
}

/* block += weight times a 3x3 matrix (column-major), into rows 3 i and columns 3 j. */
static void add_block(const dense *d, int64_t i, int64_t j, double weight, const double block[9])
{
    int64_t n = 3 * d->s->count;
    for (int b = 0; b < 3; b++)
        for (int a = 0; a < 3; a++)
            d->matrix[(3 * j + b) * n + 3 * i + a] += weight * block[3 * b + a];
}

static void clear_column(const dense *d, int64_t j)
{
    int64_t n = 3 * d->s->count;
    memset(d->matrix + 3 * j * n, 0, 3 * (size_t)n * sizeof(double));
}

/* ---- M ---- */

/* S = (s^(-1/2) + c s^(-3/2)) I + s^(-3/2) r r^T. */
static void kernel(const point_pair *p, double S[9])
{
    /* s^(-3/2) r r^T. */
    for (int b = 0; b < 3; b++)
        for (int a = 0; a < 3; a++) S[3 * b + a] = p->inverse_3 * p->r[a] * p->r[b];

    /* The part on the diagonal. */
    for (int a = 0; a < 3; a++) S[4 * a] += p->inverse + p->c * p->inverse_3;
}

static void mobility_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const dense *d = context;

    /* A block owns whole columns, so that no two threads write to one place. */
    for (int64_t j = begin; j < end; j++) {
        clear_column(d, j);
        for (int64_t i = 0; i < d->s->count; i++) {
            point_pair p = pair_of(d->s, i, j);
            double S[9];
            kernel(&p, S);
            add_block(d, i, j, d->s->factor, S);
        }
    }
}

void tw_stokeslets_mobility(const tw_stokeslets *stokeslets, double *M)
{
    dense d = {stokeslets, M};
    tw_parallel_for(stokeslets->count, COLUMN_BLOCK, mobility_block, &d);
}

/* ---- G ---- */

/* d(S f)/dr, with F = f . r and t = s^(-3/2):
 *     t r f^T + t F I - (t + 3 c t/s) f r^T - 3 F t/s r r^T. */
static void kernel_slope(const point_pair *p, const double f[3], double B[9])
{
    double t = p->inverse_3;
    double F = tw_dot3(f, p->r);
    double steep = 3.0 * t * p->inverse * p->inverse; /* 3 t/s */

    /* t r f^T - (t + 3 c t/s) f r^T - 3 F t/s r r^T. */
    for (int b = 0; b < 3; b++)
        for (int a = 0; a < 3; a++)
            B[3 * b + a] = t * p->r[a] * f[b] - (t + p->c * steep) * f[a] * p->r[b] -
                           F * steep * p->r[a] * p->r[b];

    /* t F I. */
    for (int a = 0; a < 3; a++) B[4 * a] += t * F;
}

/* u_i depends on x_j by -d(S f_j)/dr, and on its own x_i by the sum of d(S f_k)/dr over all others. */
static void gradient_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const dense *d = context;
    for (int64_t j = begin; j < end; j++) {
        clear_column(d, j);

        for (int64_t i = 0; i < d->s->count; i++) {
            if (i == j) continue;
            double B[9];

            /* How u_i depends on x_j. */
            point_pair p = pair_of(d->s, i, j);
            kernel_slope(&p, d->s->sources[j].load, B);
            add_block(d, i, j, -d->s->factor, B);

            /* The share of f_i in how u_j depends on x_j. */
            point_pair back = pair_of(d->s, j, i);
            kernel_slope(&back, d->s->sources[i].load, B);
            add_block(d, j, j, d->s->factor, B);
        }
    }
}

void tw_stokeslets_gradient(tw_stokeslets *stokeslets, const double *load, double *G)
{
    /* The loads stand beside the places, where the loop reads both. */
    for (int64_t j = 0; j < stokeslets->count; j++)
        for (int k = 0; k < 3; k++) stokeslets->sources[j].load[k] = load[3 * j + k];

    dense d = {stokeslets, G};
    tw_parallel_for(stokeslets->count, COLUMN_BLOCK, gradient_block, &d);
}
