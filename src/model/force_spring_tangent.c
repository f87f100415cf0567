/* Tangents of springs: products with vectors, and the matrix.
 *
 * Let E be the 3x3 matrix by which the pull of a spring changes with d (spring_law.h). Then the
 * block of its corners b and c in the tangent is weight_b weight_c E. */
#include <stdatomic.h>
#include <string.h>

#include "base/parallel_for.h"
#include "model/spring_batch.h"
#include "model/spring_plasticity.h"

/* Index of the pair of corners b != c among all pairs: (1,0), (2,0), (2,1), (3,0), ... */
static int pair_of(int b, int c)
{
    int high = b > c ? b : c;
    int low = b + c - high;
    return high * (high - 1) / 2 + low;
}

static int pairs_of(const tw_springs *s)
{
    return s->corners * (s->corners - 1) / 2;
}

/* The unknown of corner c of spring e; -1 if that particle is pinned. */
static int32_t unknown_of(const tw_springs *s, int64_t e, int c)
{
    return s->particles->unknown[s->corner[s->corners * e + c]];
}

void tw_springs_add_pattern(const void *data, tw_pattern *pattern)
{
    const tw_springs *s = data;
    for (int64_t e = 0; e < s->count; e++)
        for (int b = 1; b < s->corners; b++)
            for (int c = 0; c < b; c++) {
                int32_t i = unknown_of(s, e, b);
                int32_t j = unknown_of(s, e, c);
                if (i >= 0 && j >= 0) tw_pattern_add(pattern, i, j);
            }
}

/* The block of the rows of i and j in the upper triangle; -1 if one of the two is pinned. */
static int64_t block_between(const tw_sparse *matrix, int32_t i, int32_t j)
{
    if (i < 0 || j < 0) return -1;
    return tw_pattern_find(matrix, i, j);
}

void tw_springs_locate(void *data, const tw_sparse *matrix)
{
    tw_springs *s = data;

    /* The block of each pair of corners of each spring. */
    for (int64_t e = 0; e < s->count; e++)
        for (int b = 1; b < s->corners; b++)
            for (int c = 0; c < b; c++)
                s->block[pairs_of(s) * e + pair_of(b, c)] =
                    block_between(matrix, unknown_of(s, e, b), unknown_of(s, e, c));

    /* The diagonal block of each free particle. */
    for (int64_t i = 0; i < s->particles->free_count; i++)
        s->diagonal[i] = tw_sparse_find(matrix, i, i);
}

/* ---- linearisation ---- */

/* The parts of the derivative of a spring's pull (spring_law.h). */
typedef enum part { ELASTIC, SLIDING, DAMPING } part;

/* What the functions of the parallel loops share. */
typedef struct loop {
    tw_springs *s;
    const double *x;
    const double *v;
    const tw_force_view *at; /* the same of springs that yield */
    const double *in;
    double *out;
    int count; /* columns of in and out */
    part which;
    double factor; /* the matrix gets factor times the part */
    tw_sparse *matrix;
    atomic_bool undefined; /* a spring has no length, hence no direction, and should have one */
} loop;

/* Keeps the sliding and the damping part in the form in which products need them. */
static void keep_friction(const tw_springs *s, int64_t e, const tw_spring_state *state)
{
    double *slide = s->slide + TW_SPRING_SLIDE * e;
    double *root = s->root + TW_SPRING_ROOT * e;

    for (int k = 0; k < 3; k++) {
        /* n, c' l' n + g, sqrt(c) n. */
        slide[k] = state->n[k];
        slide[3 + k] = state->slide[k];
        root[k] = sqrt(state->c) * state->n[k];
    }
}

static void linearise_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    const tw_springs *s = p->s;
    double d[3];
    double y[3] = {0.0, 0.0, 0.0};
    if (!tw_springs_want_block(p->s, begin)) return;

    for (int64_t e = begin; e < end; e++) {
        if (!tw_springs_wants(s, e)) continue;

        /* d = sum_c weight_c x_c and its rate y = sum_c weight_c v_c. */
        tw_spring_law law = tw_springs_law(s, e);
        tw_springs_sum(s, p->x, e, d);
        if (s->slide) tw_springs_sum(s, p->v, e, y);
        if (!tw_spring_is_defined(&law, tw_dot3(d, d))) atomic_store(&p->undefined, true);

        /* Keep n, F/l and T' - F/l. */
        tw_spring_state state = tw_spring_linearise(&law, d, y);
        double *tangent = s->tangent + TW_SPRING_TANGENT * e;
        memcpy(tangent, state.n, sizeof state.n);
        tangent[3] = state.across;
        tangent[4] = state.along;
        if (s->limit) tangent[4] = tw_springs_slope_ahead(s, p->at, e) - state.across;
        if (s->slide) keep_friction(s, e, &state);
    }
}

static void plain_linearise_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    tw_spring_batch batch;
    if (!tw_springs_want_block(p->s, begin)) return;

    /* n, T/l and T' - T/l of four plain springs at a time. */
    for (int64_t first = begin; first < end; first += 4) {
        /* The last batch may have less than four springs. */
        int count = end - first < 4 ? (int)(end - first) : 4;
        if (!tw_springs_want(p->s, first, count)) continue;
        tw_spring_batch_evaluate(p->s, p->x, first, count, &batch);
        if (batch.undefined) atomic_store(&p->undefined, true);

        for (int j = 0; j < count; j++) {
            double *tangent = p->s->tangent + TW_SPRING_TANGENT * (first + j);
            tw_wide_store3(tangent, tw_wide_divide(batch.d[j], tw_wide_splat(batch.length[j])));
            tangent[3] = batch.across[j];
            if (p->s->limit) batch.slope[j] = tw_springs_slope_ahead(p->s, p->at, first + j);
            tangent[4] = batch.slope[j] - batch.across[j];
        }
    }
}

tw_status tw_springs_linearise(void *data, const tw_force_view *at)
{
    loop p = {.s = data, .x = at->x, .v = at->v, .at = at};
    tw_parallel_block *body = tw_springs_are_plain(p.s) ? plain_linearise_block : linearise_block;
    tw_parallel_for(p.s->count, TW_PARTICLE_BLOCK, body, &p);
    if (atomic_load(&p.undefined)) return TW_RECOVERABLE;
    return TW_OK;
}

/* ---- products ---- */

/* The numbers kept of one part of spring e. */
TW_ALWAYS_INLINE const double *numbers_of(const tw_springs *s, part which, int64_t e)
{
    if (which == ELASTIC) return s->tangent + TW_SPRING_TANGENT * e;
    if (which == SLIDING) return s->slide + TW_SPRING_SLIDE * e;
    return s->root + TW_SPRING_ROOT * e;
}

/* out += (one part of E) u. It is inlined with the part constant, so that no
 * branch is left in the loops.
 *     ELASTIC   n along (n . u) + across u
 *     SLIDING   n ((c' l' n + g) . u)
 *     DAMPING   sqrt(c) n (sqrt(c) n . u) */
TW_ALWAYS_INLINE void multiply(const tw_springs *s, part which, int64_t e, const double u[3],
                               double out[3])
{
    const double *t = numbers_of(s, which, e);
    double along = which == SLIDING ? tw_dot3(t + 3, u) : tw_dot3(t, u);
    if (which == ELASTIC) along *= t[4];
    for (int k = 0; k < 3; k++) out[k] += along * t[k];
    for (int k = 0; k < 3 && which == ELASTIC; k++) out[k] += t[3] * u[k];
}

/* Two ends: out_i += sum_e E (in_i - in_j) over the neighbours j; in_j is 0
 * for a pinned neighbour. */
TW_ALWAYS_INLINE void add_row(const tw_springs *s, int64_t i, const double *in, double *out,
                              part which)
{
    int64_t particle = s->particles->particle[i];
    double sum[3] = {0.0, 0.0, 0.0};

    for (int64_t n = s->incidence.start[particle]; n < s->incidence.start[particle + 1]; n++) {
        /* The entry is 2 e or 2 e + 1, so that entry ^ 1 is the other end of spring e. */
        int32_t entry = s->incidence.entry[n];
        int32_t j = s->particles->unknown[s->corner[entry ^ 1]];

        double u[3];
        for (int k = 0; k < 3; k++) u[k] = in[3 * i + k] - (j >= 0 ? in[3 * (int64_t)j + k] : 0.0);
        multiply(s, which, entry >> 1, u, sum);
    }
    for (int k = 0; k < 3; k++) out[3 * i + k] += sum[k];
}

/* More corners, step 1: the pull of spring e. */
TW_ALWAYS_INLINE void find_pull(const tw_springs *s, int64_t e, const double *in, double pull[3],
                                part which)
{
    /* u = sum_c weight_c in_c; in_c is 0 for a pinned corner. */
    double u[3] = {0.0, 0.0, 0.0};
    for (int c = 0; c < s->corners; c++) {
        int32_t i = unknown_of(s, e, c);
        for (int k = 0; k < 3 && i >= 0; k++) u[k] += s->weight[c] * in[3 * (int64_t)i + k];
    }

    /* pull = E u. */
    for (int k = 0; k < 3; k++) pull[k] = 0.0;
    multiply(s, which, e, u, pull);
}

/* More corners, step 2: what particle i gathers in column c. */
static void gather_row(const loop *p, int64_t i, int c, double *out)
{
    const tw_springs *s = p->s;
    int64_t particle = s->particles->particle[i];
    double sum[3] = {0.0, 0.0, 0.0};

    /* out_i += sum of weight * pull over the springs of particle i. */
    for (int64_t n = s->incidence.start[particle]; n < s->incidence.start[particle + 1]; n++) {
        int32_t entry = s->incidence.entry[n];

        /* An entry is corners * spring + corner, and corners is a power of two. */
        const double *pull = s->pull + 3 * (p->count * (int64_t)(entry >> s->shift) + c);
        for (int k = 0; k < 3; k++) sum[k] += s->weight[entry & (s->corners - 1)] * pull[k];
    }
    for (int k = 0; k < 3; k++) out[3 * i + k] += sum[k];
}

static void gather_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    int64_t stride = 3 * p->s->particles->free_count;
    for (int64_t i = begin; i < end; i++)
        for (int c = 0; c < p->count; c++) gather_row(p, i, c, p->out + c * stride);
}

TW_ALWAYS_INLINE void add_rows(const loop *p, int64_t begin, int64_t end, part which)
{
    int64_t stride = 3 * p->s->particles->free_count;
    for (int64_t i = begin; i < end; i++)
        for (int c = 0; c < p->count; c++)
            add_row(p->s, i, p->in + c * stride, p->out + c * stride, which);
}

TW_ALWAYS_INLINE void find_pulls(const loop *p, int64_t begin, int64_t end, part which)
{
    int64_t stride = 3 * p->s->particles->free_count;
    for (int64_t e = begin; e < end; e++)
        for (int c = 0; c < p->count; c++)
            find_pull(p->s, e, p->in + c * stride, p->s->pull + 3 * (p->count * e + c), which);
}

/* A loop function per part, so that `which` is a constant in each. */
#define BODIES_OF(name, which)                                                                     \
    static void name##_rows_block(void *context, int64_t begin, int64_t end, int64_t block)        \
    {                                                                                              \
        (void)block;                                                                               \
        add_rows(context, begin, end, which);                                                      \
    }                                                                                              \
    static void name##_pulls_block(void *context, int64_t begin, int64_t end, int64_t block)       \
    {                                                                                              \
        (void)block;                                                                               \
        find_pulls(context, begin, end, which);                                                    \
    }
BODIES_OF(elastic, ELASTIC)
BODIES_OF(sliding, SLIDING)
BODIES_OF(damping, DAMPING)
#undef BODIES_OF

/* Adds the products of one part. Two ends need one pass over the particles,
 * more corners need two. */
static void add_products(loop *p, tw_parallel_block *rows_block, tw_parallel_block *pulls_block)
{
    if (p->s->corners == 2) {
        tw_parallel_for(p->s->particles->free_count, TW_PARTICLE_BLOCK, rows_block, p);
        return;
    }

    tw_parallel_for(p->s->count, TW_PARTICLE_BLOCK, pulls_block, p);
    tw_parallel_for(p->s->particles->free_count, TW_PARTICLE_BLOCK, gather_block, p);
}

void tw_springs_add_symmetric_product(void *data, int count, const double *in, double *out)
{
    loop p = {.s = data, .in = in, .out = out, .count = count};
    add_products(&p, elastic_rows_block, elastic_pulls_block);
}

void tw_springs_add_rest_product(void *data, int count, const double *in, double *out)
{
    loop p = {.s = data, .in = in, .out = out, .count = count};
    if (p.s->slide) add_products(&p, sliding_rows_block, sliding_pulls_block);
}

void tw_springs_add_product(void *data, int count, const double *in, double *out)
{
    tw_springs_add_symmetric_product(data, count, in, out);
    tw_springs_add_rest_product(data, count, in, out);
}

void tw_springs_add_damping_product(void *data, int count, const double *in, double *out)
{
    loop p = {.s = data, .in = in, .out = out, .count = count};
    if (p.s->slide) add_products(&p, damping_rows_block, damping_pulls_block);
}

/* ---- the matrix ---- */

/* block += factor * (elastic or damping part of E). Both are symmetric, so rows and
 * columns may be exchanged. */
static void add_block(const tw_springs *s, part which, int64_t e, double factor, double block[9])
{
    const double *t = numbers_of(s, which, e);
    double across = 0.0;
    double along = 1.0;

    if (which == ELASTIC) {
        across = t[3];
        along = t[4];
    }

    /* Every fourth entry of the nine lies on the diagonal. */
    for (int k = 0; k < 9; k++)
        block[k] += factor * ((k % 4 == 0 ? across : 0.0) + along * t[k % 3] * t[k / 3]);
}

/* Adds the blocks of one corner of spring e: the diagonal block of its particle i, and the blocks
 * of row i in the upper triangle. */
static void add_corner(const loop *p, int64_t i, int64_t e, int corner, double *values)
{
    const tw_springs *s = p->s;
    double weight = p->factor * s->weight[corner];

    /* The block of corners b and c is weight_b weight_c E. */
    add_block(s, p->which, e, weight * s->weight[corner], values + 9 * s->diagonal[i]);
    for (int c = 0; c < s->corners; c++)
        if (c != corner && unknown_of(s, e, c) > i)
            add_block(s, p->which, e, weight * s->weight[c],
                      values + 9 * s->block[pairs_of(s) * e + pair_of(corner, c)]);
}

/* The columns of E = across I + along n n^T of spring e; fourth lanes mean nothing. */
TW_ALWAYS_INLINE void columns_of(const tw_springs *s, int64_t e, tw_wide column[3])
{
    static const double unit[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    const double *t = s->tangent + TW_SPRING_TANGENT * e;
    tw_wide n = tw_wide_load(t);
    tw_wide across = tw_wide_splat(t[3]);
    for (int c = 0; c < 3; c++)
        column[c] = tw_wide_fma(n, tw_wide_splat(t[4] * t[c]),
                                tw_wide_multiply(across, tw_wide_load(unit[c])));
}

/* block += the three columns. */
TW_ALWAYS_INLINE void add_columns(const tw_wide column[3], double *block)
{
    for (int c = 0; c < 3; c++)
        tw_wide_store3(block + 3 * c, tw_wide_add(tw_wide_load3(block + 3 * c), column[c]));
}

/* Two ends: adds E to the diagonal block (i, i) and subtracts it from the blocks (i, j), j > i. */
static void add_plain_row(const tw_springs *s, int64_t i, double *values)
{
    int64_t particle = s->particles->particle[i];
    tw_wide sum[3] = {tw_wide_zero(), tw_wide_zero(), tw_wide_zero()};

    for (int64_t n = s->incidence.start[particle]; n < s->incidence.start[particle + 1]; n++) {
        int32_t entry = s->incidence.entry[n];
        tw_wide column[3];
        columns_of(s, entry >> 1, column);
        for (int c = 0; c < 3; c++) sum[c] = tw_wide_add(sum[c], column[c]);

        /* The block (i, j) belongs to row i if j > i. */
        if (s->particles->unknown[s->corner[entry ^ 1]] <= i) continue;
        for (int c = 0; c < 3; c++) column[c] = tw_wide_multiply(column[c], tw_wide_splat(-1.0));
        add_columns(column, values + 9 * s->block[entry >> 1]);
    }
    add_columns(sum, values + 9 * s->diagonal[i]);
}

static void plain_matrix_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    double *values = tw_sparse_values(p->matrix);
    for (int64_t i = begin; i < end; i++) {
        int64_t stop = tw_particles_run(p->s->particles, &i, end);
        for (; i < stop; i++) add_plain_row(p->s, i, values);
    }
}

/* A row of the upper triangle, (i, i) and (i, j) with j > i, is written by the loop over its
 * free particle i alone. */
static void matrix_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    const tw_springs *s = p->s;
    double *values = tw_sparse_values(p->matrix);

    for (int64_t i = begin; i < end; i++) {
        if (!tw_particles_want(s->particles, i)) continue;
        int64_t particle = s->particles->particle[i];

        /* Every spring at the particle has one corner there. */
        for (int64_t n = s->incidence.start[particle]; n < s->incidence.start[particle + 1]; n++) {
            int32_t entry = s->incidence.entry[n];
            add_corner(p, i, entry >> s->shift, entry & (s->corners - 1), values);
        }
    }
}

void tw_springs_add_tangent(void *data, tw_sparse *matrix)
{
    loop p = {.s = data, .matrix = matrix, .which = ELASTIC, .factor = 1.0};
    tw_parallel_block *body = p.s->corners == 2 ? plain_matrix_block : matrix_block;
    tw_parallel_for(p.s->particles->free_count, TW_PARTICLE_BLOCK, body, &p);
}

void tw_springs_add_damping(void *data, double factor, tw_sparse *matrix)
{
    loop p = {.s = data, .matrix = matrix, .which = DAMPING, .factor = factor};
    if (p.s->slide)
        tw_parallel_for(p.s->particles->free_count, TW_PARTICLE_BLOCK, matrix_block, &p);
}
