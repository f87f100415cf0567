/* Tangents of springs (spring_law.h): products with vectors, and the matrix.
 *
 * With E the 3x3 matrix of a spring, the block of its corners b and c is weight_b weight_c E. */
#include <stdatomic.h>
#include <string.h>

#include "base/parallel_for.h"
#include "model/spring_batch.h"

/* Index of the pair of corners b != c among all pairs. */
static int pair_of(int b, int c)
{
    int low = b < c ? b : c, high = b < c ? c : b;
    return high * (high - 1) / 2 + low;
}

static int pairs_of(const tw_springs *s)
{
    return s->corners * (s->corners - 1) / 2;
}

void tw_springs_add_pattern(const void *data, tw_pattern *pattern)
{
    const tw_springs *s = data;
    for (int64_t e = 0; e < s->count; e++)
        for (int b = 1; b < s->corners; b++)
            for (int c = 0; c < b; c++) {
                int32_t i = s->particles->unknown[s->corner[s->corners * e + b]];
                int32_t j = s->particles->unknown[s->corner[s->corners * e + c]];
                if (i >= 0 && j >= 0) tw_pattern_add(pattern, i, j);
            }
}

void tw_springs_locate(void *data, const tw_sparse *matrix)
{
    tw_springs *s = data;
    for (int64_t e = 0; e < s->count; e++)
        for (int b = 1; b < s->corners; b++)
            for (int c = 0; c < b; c++) {
                int32_t i = s->particles->unknown[s->corner[s->corners * e + b]];
                int32_t j = s->particles->unknown[s->corner[s->corners * e + c]];
                s->block[pairs_of(s) * e + pair_of(b, c)] =
                    i >= 0 && j >= 0 ? tw_sparse_find(matrix, i < j ? i : j, i < j ? j : i) : -1;
            }
    for (int64_t i = 0; i < s->particles->free_count; i++)
        s->diagonal[i] = tw_sparse_find(matrix, i, i);
}

/* The parts that a spring's tangents have (spring_law.h). */
typedef enum part { ELASTIC, SLIDING, DAMPING } part;

/* What the bodies of the parallel loops see. */
typedef struct loop {
    tw_springs *s;
    const double *x, *v;
    const double *in;
    double *out;
    int count;
    part which;
    double factor;
    tw_sparse *matrix;
    atomic_bool undefined;
} loop;

static void keep_friction(const tw_springs *s, int64_t e, const tw_spring_state *state)
{
    double *slide = s->slide + 8 * e, *root = s->root + 3 * e;
    for (int k = 0; k < 3; k++) {
        slide[k] = state->n[k];
        slide[4 + k] = state->slide_along * state->n[k] + state->g[k];
        root[k] = sqrt(state->c) * state->n[k];
    }
    slide[3] = state->slide_across;
    slide[7] = 0.0;
}

static void linearise_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    const tw_springs *s = p->s;
    double d[3], y[3] = {0.0, 0.0, 0.0};
    for (int64_t e = begin; e < end; e++) {
        tw_spring_law law = tw_springs_law(s, e);
        tw_springs_sum(s, p->x, e, d);
        if (s->slide) tw_springs_sum(s, p->v, e, y);
        if (!tw_spring_is_defined(&law, tw_dot3(d, d))) atomic_store(&p->undefined, true);
        tw_spring_state state = tw_spring_linearise(&law, d, y);
        double *tangent = s->tangent + 5 * e;
        memcpy(tangent, state.n, sizeof state.n);
        tangent[3] = state.across;
        tangent[4] = state.along;
        if (s->slide) keep_friction(s, e, &state);
    }
}

static void plain_linearise_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    tw_spring_batch batch;
    for (int64_t first = begin; first < end; first += 4) {
        int count = end - first < 4 ? (int)(end - first) : 4;
        tw_spring_batch_evaluate(p->s, p->x, first, count, &batch);
        if (batch.undefined) atomic_store(&p->undefined, true);
        for (int j = 0; j < count; j++) {
            double *tangent = p->s->tangent + 5 * (first + j);
            tw_wide_store3(tangent, tw_wide_divide(batch.d[j], tw_wide_splat(batch.length[j])));
            tangent[3] = batch.across[j];
            tangent[4] = batch.slope[j] - batch.across[j];
        }
    }
}

tw_status tw_springs_linearise(void *data, const tw_force_view *at)
{
    loop p = {.s = data, .x = at->x, .v = at->v};
    bool plain = tw_springs_are_plain(p.s);
    tw_parallel_for(p.s->count, TW_PARTICLE_BLOCK, plain ? plain_linearise_body : linearise_body,
                    &p);
    return atomic_load(&p.undefined) ? TW_RECOVERABLE : TW_OK;
}

/* ---- products ---- */

/* out += E u, or D's part of the spring; inlined with each part constant. */
TW_ALWAYS_INLINE void multiply(const tw_springs *s, part which, int64_t e, const double u[3],
                               double out[3])
{
    const double *t = which == ELASTIC   ? s->tangent + 5 * e
                      : which == SLIDING ? s->slide + 8 * e
                                         : s->root + 3 * e;
    double along = which == SLIDING ? tw_dot3(t + 4, u) : tw_dot3(t, u);
    if (which == ELASTIC) along *= t[4];
    for (int k = 0; k < 3; k++) out[k] += along * t[k];
    for (int k = 0; k < 3 && which != DAMPING; k++) out[k] += t[3] * u[k];
}

/* Two ends: out_i += sum_e E (in_i - in_j), where pinned neighbours j do not move. */
TW_ALWAYS_INLINE void add_row(const tw_springs *s, int64_t i, const double *in, double *out,
                              part which)
{
    int64_t particle = s->particles->particle[i];
    double sum[3] = {0.0, 0.0, 0.0};
    for (int64_t n = s->incidence.start[particle]; n < s->incidence.start[particle + 1]; n++) {
        int32_t entry = s->incidence.entry[n], j = s->particles->unknown[s->corner[entry ^ 1]];
        double u[3];
        for (int k = 0; k < 3; k++) u[k] = in[3 * i + k] - (j >= 0 ? in[3 * (int64_t)j + k] : 0.0);
        multiply(s, which, entry >> 1, u, sum);
    }
    for (int k = 0; k < 3; k++) out[3 * i + k] += sum[k];
}

/* More corners: first E sum_c weight_c in_c per spring, ... */
TW_ALWAYS_INLINE void find_pull(const tw_springs *s, int64_t e, const double *in, double pull[3],
                                part which)
{
    double u[3] = {0.0, 0.0, 0.0};
    for (int c = 0; c < s->corners; c++) {
        int32_t i = s->particles->unknown[s->corner[s->corners * e + c]];
        for (int k = 0; k < 3 && i >= 0; k++) u[k] += s->weight[c] * in[3 * (int64_t)i + k];
    }
    for (int k = 0; k < 3; k++) pull[k] = 0.0;
    multiply(s, which, e, u, pull);
}

/* ... then what each particle gets of it. */
static void gather_row(const loop *p, int64_t i, int c, double *out)
{
    const tw_springs *s = p->s;
    int64_t particle = s->particles->particle[i];
    double sum[3] = {0.0, 0.0, 0.0};
    for (int64_t n = s->incidence.start[particle]; n < s->incidence.start[particle + 1]; n++) {
        int32_t entry = s->incidence.entry[n];
        const double *pull = s->pull + 3 * (p->count * (int64_t)(entry >> s->shift) + c);
        for (int k = 0; k < 3; k++) sum[k] += s->weight[entry & (s->corners - 1)] * pull[k];
    }
    for (int k = 0; k < 3; k++) out[3 * i + k] += sum[k];
}

static void gather_body(void *context, int64_t begin, int64_t end, int64_t block)
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

#define BODIES_OF(name, which)                                                                     \
    static void name##_rows_body(void *context, int64_t begin, int64_t end, int64_t block)         \
    {                                                                                              \
        (void)block;                                                                               \
        add_rows(context, begin, end, which);                                                      \
    }                                                                                              \
    static void name##_pulls_body(void *context, int64_t begin, int64_t end, int64_t block)        \
    {                                                                                              \
        (void)block;                                                                               \
        find_pulls(context, begin, end, which);                                                    \
    }
BODIES_OF(elastic, ELASTIC)
BODIES_OF(sliding, SLIDING)
BODIES_OF(damping, DAMPING)
#undef BODIES_OF

static void add_products(loop *p, tw_parallel_body *rows_body, tw_parallel_body *pulls_body)
{
    if (p->s->corners == 2) {
        tw_parallel_for(p->s->particles->free_count, TW_PARTICLE_BLOCK, rows_body, p);
        return;
    }
    tw_parallel_for(p->s->count, TW_PARTICLE_BLOCK, pulls_body, p);
    tw_parallel_for(p->s->particles->free_count, TW_PARTICLE_BLOCK, gather_body, p);
}

void tw_springs_add_symmetric_product(void *data, int count, const double *in, double *out)
{
    loop p = {.s = data, .in = in, .out = out, .count = count};
    add_products(&p, elastic_rows_body, elastic_pulls_body);
}

void tw_springs_add_rest_product(void *data, int count, const double *in, double *out)
{
    loop p = {.s = data, .in = in, .out = out, .count = count};
    if (p.s->slide) add_products(&p, sliding_rows_body, sliding_pulls_body);
}

void tw_springs_add_product(void *data, int count, const double *in, double *out)
{
    tw_springs_add_symmetric_product(data, count, in, out);
    tw_springs_add_rest_product(data, count, in, out);
}

void tw_springs_add_damping_product(void *data, int count, const double *in, double *out)
{
    loop p = {.s = data, .in = in, .out = out, .count = count};
    if (p.s->slide) add_products(&p, damping_rows_body, damping_pulls_body);
}

/* ---- the matrix ---- */

/* Where the nine entries of a symmetric block are among its six numbers. */
static const int symmetric_entry[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};

/* block += factor * (elastic part of E, or D's part); symmetric, so its order inside does not matter. */
static void add_block(const tw_springs *s, part which, int64_t e, double factor, double block[9])
{
    const double *t = which == ELASTIC ? s->tangent + 5 * e : s->root + 3 * e;
    double across = which == ELASTIC ? t[3] : 0.0, along = which == ELASTIC ? t[4] : 1.0;
    for (int k = 0; k < 9; k++)
        block[k] += factor * ((k % 4 == 0 ? across : 0.0) + along * t[k % 3] * t[k / 3]);
}

/* One corner of a spring: its diagonal block, and the blocks of the upper triangle in its row. */
static void add_corner(const loop *p, int64_t i, int64_t e, int corner, double *values)
{
    const tw_springs *s = p->s;
    double weight = p->factor * s->weight[corner];
    add_block(s, p->which, e, weight * s->weight[corner], values + 9 * s->diagonal[i]);
    for (int c = 0; c < s->corners; c++)
        if (c != corner && s->particles->unknown[s->corner[s->corners * e + c]] > i)
            add_block(s, p->which, e, weight * s->weight[c],
                      values + 9 * s->block[pairs_of(s) * e + pair_of(corner, c)]);
}

/* Two ends: the six numbers of E, to the diagonal of row i and from the block of (i, j), j > i. */
static void add_plain_row(const tw_springs *s, int64_t i, double *values)
{
    int64_t particle = s->particles->particle[i];
    double sum[6] = {0.0};
    for (int64_t n = s->incidence.start[particle]; n < s->incidence.start[particle + 1]; n++) {
        int32_t entry = s->incidence.entry[n];
        const double *t = s->tangent + 5 * (int64_t)(entry >> 1);
        double x = t[4] * t[0], y = t[4] * t[1], z = t[4] * t[2];
        const double E[6] = {t[3] + x * t[0], x * t[1], x * t[2],
                             t[3] + y * t[1], y * t[2], t[3] + z * t[2]};
        for (int k = 0; k < 6; k++) sum[k] += E[k];
        if (s->particles->unknown[s->corner[entry ^ 1]] <= i) continue;
        double *block = values + 9 * s->block[entry >> 1];
        for (int k = 0; k < 9; k++) block[k] -= E[symmetric_entry[k]];
    }
    double *block = values + 9 * s->diagonal[i];
    for (int k = 0; k < 9; k++) block[k] += sum[symmetric_entry[k]];
}

static void plain_matrix_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    double *values = tw_sparse_values(p->matrix);
    for (int64_t i = begin; i < end; i++) add_plain_row(p->s, i, values);
}

/* A row of the upper triangle belongs to its free particle i: (i, i) and the (i, j) with j > i. */
static void matrix_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    const tw_springs *s = p->s;
    double *values = tw_sparse_values(p->matrix);
    for (int64_t i = begin; i < end; i++) {
        int64_t particle = s->particles->particle[i];
        for (int64_t n = s->incidence.start[particle]; n < s->incidence.start[particle + 1]; n++) {
            int32_t entry = s->incidence.entry[n];
            add_corner(p, i, entry >> s->shift, entry & (s->corners - 1), values);
        }
    }
}

void tw_springs_add_tangent(void *data, tw_sparse *matrix)
{
    loop p = {.s = data, .matrix = matrix, .which = ELASTIC, .factor = 1.0};
    bool two_ends = p.s->corners == 2;
    tw_parallel_for(p.s->particles->free_count, TW_PARTICLE_BLOCK,
                    two_ends ? plain_matrix_body : matrix_body, &p);
}

void tw_springs_add_damping(void *data, double factor, tw_sparse *matrix)
{
    loop p = {.s = data, .matrix = matrix, .which = DAMPING, .factor = factor};
    if (p.s->slide) tw_parallel_for(p.s->particles->free_count, TW_PARTICLE_BLOCK, matrix_body, &p);
}
