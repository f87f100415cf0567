#include "integrators/single_gradients.h"

#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/lanes.h"
#include "base/parallel_for.h"
#include "linalg/vector.h"
#include "phi/phi_internal.h"

enum {
    BLOCK = 64,            /* slices of TW_LANES rows that a block of a loop takes */
    ENTRIES = 6,           /* of a symmetric block */
    VECTORS = 6,           /* of three components */
    MOST_ITERATIONS = 1000 /* more of them say that it stagnates */
};

struct tw_single_gradients {
    const tw_system *system;
    int64_t rows;
    int64_t width; /* entries of a component */
    float g;
    float *mass;
    float *inverse; /* six components: xx, xy, xz, yy, yz, zz of the blocks */
    float *r;
    float *z;
    float *p;
    float *q;
    float *x;
    double *partial; /* sums of the blocks of a loop */
    float *storage;
};

static int64_t blocks_of(const tw_single_gradients *s)
{
    return tw_parallel_blocks(s->width / TW_LANES, BLOCK);
}

tw_status tw_single_gradients_create(const tw_system *system, tw_single_gradients **out)
{
    *out = NULL;
    const struct tw_single_product *K = system->pair.stiffness.single;
    if (!K || system->pair.mass) return TW_OK;

    tw_single_gradients *s = TW_NEW(tw_single_gradients);
    if (!s) return TW_OUT_OF_MEMORY;
    s->system = system;
    s->rows = system->n / 3;
    s->width = tw_single_size(K->matrix) / 3;
    s->storage = tw_allocate_zeroed((size_t)((3 * VECTORS + ENTRIES) * s->width), sizeof(float));
    s->partial = TW_NEW_ARRAY(blocks_of(s), double);
    if (!s->storage || !s->partial) {
        tw_single_gradients_free(s);
        return TW_OUT_OF_MEMORY;
    }

    float **vectors[VECTORS] = {&s->mass, &s->r, &s->z, &s->p, &s->q, &s->x};
    for (int i = 0; i < VECTORS; i++) *vectors[i] = s->storage + 3 * i * s->width;
    s->inverse = s->storage + (int64_t)3 * VECTORS * s->width;
    *out = s;
    return TW_OK;
}

void tw_single_gradients_free(tw_single_gradients *gradients)
{
    if (!gradients) return;
    tw_release(gradients->storage);
    tw_release(gradients->partial);
    tw_release(gradients);
}

void tw_single_gradients_prepare(tw_single_gradients *s, double g, const double *inverse)
{
    static const int place[ENTRIES] = {0, 1, 2, 4, 5, 8};
    s->g = (float)g;
    for (int64_t row = 0; row < s->rows; row++)
        for (int k = 0; k < ENTRIES; k++)
            s->inverse[k * s->width + row] = (float)inverse[9 * row + place[k]];

    /* Entries of no row have no mass. */
    const double *lumped = s->system->second.lumped_mass;
    for (int64_t row = 0; row < s->rows; row++)
        for (int c = 0; c < 3; c++)
            s->mass[c * s->width + row] = lumped ? (float)lumped[3 * row + c] : 1;
}

/* ---- passes over the vectors ---- */

/* What a pass works with. */
typedef struct pass {
    tw_single_gradients *s;
    float factor;
} pass;

/* Runs a pass over the slices. Its partial sums are added in the order of the blocks. */
static tw_status run_pass(tw_single_gradients *s, tw_parallel_block *function, double factor,
                          double *sum)
{
    pass job = {s, (float)factor};
    tw_parallel_for(s->width / TW_LANES, BLOCK, function, &job);
    if (!sum) return TW_OK;

    *sum = 0;
    for (int64_t b = 0; b < blocks_of(s); b++) *sum += s->partial[b];
    const tw_space *space = &s->system->second.space;
    return space->reduce ? space->reduce(space->context, sum, 1) : TW_OK;
}

/* q = M p + factor q, where q holds a product; the partial sum is p^T q. */
static void curve_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    const pass *job = context;
    const tw_single_gradients *s = job->s;
    const tw_lanes factor = tw_lanes_splat(job->factor);
    tw_lanes sum = tw_lanes_zero();

    for (int c = 0; c < 3; c++)
        for (int64_t i = begin * TW_LANES; i < end * TW_LANES; i += TW_LANES) {
            int64_t at = c * s->width + i;
            tw_lanes p = tw_lanes_load(s->p + at);
            tw_lanes q = tw_lanes_multiply(factor, tw_lanes_load(s->q + at));
            q = tw_lanes_fma(tw_lanes_load(s->mass + at), p, q);
            tw_lanes_store(s->q + at, q);
            sum = tw_lanes_fma(p, q, sum);
        }
    s->partial[block] = tw_lanes_sum(sum);
}

/* z = P^-1 r of the rows of a slice, and r^T z. */
TW_ALWAYS_INLINE tw_lanes precondition(const tw_single_gradients *s, int64_t i, const tw_lanes r[3])
{
    static const int entry[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    tw_lanes sum = tw_lanes_zero();
    for (int row = 0; row < 3; row++) {
        tw_lanes z = tw_lanes_zero();
        for (int c = 0; c < 3; c++)
            z = tw_lanes_fma(tw_lanes_load(s->inverse + entry[row][c] * s->width + i), r[c], z);
        tw_lanes_store(s->z + row * s->width + i, z);
        sum = tw_lanes_fma(r[row], z, sum);
    }
    return sum;
}

/* x += factor p, r -= factor q, z = P^-1 r; the partial sum is r^T z. */
static void step_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    const pass *job = context;
    const tw_single_gradients *s = job->s;
    const tw_lanes forth = tw_lanes_splat(job->factor);
    const tw_lanes back = tw_lanes_splat(-job->factor);
    tw_lanes sum = tw_lanes_zero();

    for (int64_t i = begin * TW_LANES; i < end * TW_LANES; i += TW_LANES) {
        tw_lanes r[3];
        for (int c = 0; c < 3; c++) {
            int64_t at = c * s->width + i;
            tw_lanes x = tw_lanes_load(s->x + at);
            tw_lanes_store(s->x + at, tw_lanes_fma(forth, tw_lanes_load(s->p + at), x));
            r[c] = tw_lanes_fma(back, tw_lanes_load(s->q + at), tw_lanes_load(s->r + at));
            tw_lanes_store(s->r + at, r[c]);
        }
        sum = tw_lanes_add(sum, precondition(s, i, r));
    }
    s->partial[block] = tw_lanes_sum(sum);
}

/* p = z + factor p */
static void turn_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const pass *job = context;
    const tw_single_gradients *s = job->s;
    const tw_lanes factor = tw_lanes_splat(job->factor);
    for (int c = 0; c < 3; c++)
        for (int64_t i = begin * TW_LANES; i < end * TW_LANES; i += TW_LANES) {
            int64_t at = c * s->width + i;
            tw_lanes p = tw_lanes_fma(factor, tw_lanes_load(s->p + at), tw_lanes_load(s->z + at));
            tw_lanes_store(s->p + at, p);
        }
}

/* ---- the iteration ---- */

/* One iteration: a step of the length that minimises along p, then the next direction p. */
static tw_status iterate(tw_single_gradients *s, double *rho)
{
    const struct tw_single_product *K = s->system->pair.stiffness.single;
    TW_TRY(K->prepare(K->context, 1));
    tw_single_multiply(K->matrix, 1, 3 * s->width, s->p, s->q);

    double curvature = 0;
    TW_TRY(run_pass(s, curve_block, s->g * tw_single_unit(K->matrix), &curvature));
    if (!(curvature > 0)) return TW_UNSUPPORTED;

    double before = *rho;
    TW_TRY(run_pass(s, step_block, before / curvature, rho));
    return run_pass(s, turn_block, *rho / before, NULL);
}

/* x = 0, p = z = P^-1 r */
static tw_status begin(tw_single_gradients *s, double *rho)
{
    for (int64_t i = 0; i < 3 * s->width; i++) s->x[i] = s->p[i] = s->q[i] = 0;
    TW_TRY(run_pass(s, step_block, 0, rho));
    return run_pass(s, turn_block, 0, NULL);
}

tw_status tw_single_gradients_solve(tw_single_gradients *s, double accuracy, const double *in,
                                    double *out)
{
    const struct tw_single_product *K = s->system->pair.stiffness.single;
    if (!K || tw_single_size(K->matrix) != 3 * s->width || !tw_single_products_may_serve(accuracy))
        return TW_UNSUPPORTED;

    /* The right-hand side is brought to length 1: it stays in the range of floats. */
    double length = 0;
    TW_TRY(tw_vector_norm(&s->system->second.space, in, &length));
    if (!(length > 0) || isinf(length) || isinf(1 / length)) return TW_UNSUPPORTED;
    tw_single_load(K->matrix, in, 1 / length, s->r);

    double rho = 0;
    TW_TRY(begin(s, &rho));
    double rho_end = accuracy * accuracy * rho;
    for (int i = 0; i < MOST_ITERATIONS && rho > rho_end; i++) TW_TRY(iterate(s, &rho));
    if (!(rho <= rho_end)) return TW_UNSUPPORTED;

    tw_single_store(K->matrix, s->x, length, out);
    return tw_vector_is_finite(s->system->n, out) ? TW_OK : TW_UNSUPPORTED;
}
