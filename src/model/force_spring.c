/* Linear springs between two particles.
 *
 * With d = x_b - x_a, l = |d|, n = d/l:  energy k (l - L)^2 / 2,  force on a: k (l - L) n, on b the opposite,
 * tangent block K_e = k [(1 - L/l) I + (L/l) n n^T]: +K_e at (a, a) and (b, b), -K_e at (a, b) and (b, a). */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/allocate.h"
#include "base/parallel_for.h"
#include "model/force.h"
#include "model/incidence.h"

typedef struct springs {
    int64_t count;
    int32_t *ends; /* a, b per spring */
    double *stiffness, *rest_length;

    const tw_particles *particles;
    tw_incidence incidence;
    int64_t *block;    /* index of the matrix block of (a, b); -1 if one of them is pinned */
    double *pull;      /* force on a, three per spring: what particles gather from */
    double *tangent;   /* at the last linearisation, five per spring: n, k (1 - L/l), k L/l */
    double *partial;   /* energy per block of springs */
    int64_t *diagonal; /* index of the matrix block of each free particle with itself */
} springs;

static void springs_release(void *data)
{
    springs *s = data;
    if (!s) return;
    tw_release(s->ends);
    tw_release(s->stiffness);
    tw_release(s->rest_length);
    tw_incidence_free(&s->incidence);
    tw_release(s->block);
    tw_release(s->pull);
    tw_release(s->tangent);
    tw_release(s->partial);
    tw_release(s->diagonal);
    tw_release(s);
}

static tw_status springs_complete(void *data, const tw_particles *particles)
{
    springs *s = data;
    s->particles = particles;
    s->block = TW_NEW_ARRAY(s->count, int64_t);
    s->pull = TW_NEW_ARRAY(3 * s->count, double);
    s->tangent = TW_NEW_ARRAY(5 * s->count, double);
    s->partial = TW_NEW_ARRAY(tw_parallel_blocks(s->count, TW_PARTICLE_BLOCK), double);
    s->diagonal = TW_NEW_ARRAY(particles->free_count, int64_t);
    if (!s->block || !s->pull || !s->tangent || !s->partial || !s->diagonal) return TW_OUT_OF_MEMORY;
    return tw_incidence_create(&s->incidence, particles->count, s->count, 2, s->ends);
}

static void springs_add_pattern(const void *data, tw_pattern *pattern)
{
    const springs *s = data;
    for (int64_t e = 0; e < s->count; e++) {
        int32_t a = s->particles->unknown[s->ends[2 * e]], b = s->particles->unknown[s->ends[2 * e + 1]];
        if (a >= 0 && b >= 0) tw_pattern_add(pattern, a, b);
    }
}

static void springs_locate(void *data, const tw_sparse *matrix)
{
    springs *s = data;
    for (int64_t e = 0; e < s->count; e++) {
        int32_t a = s->particles->unknown[s->ends[2 * e]], b = s->particles->unknown[s->ends[2 * e + 1]];
        s->block[e] = a >= 0 && b >= 0 ? tw_sparse_find(matrix, a < b ? a : b, a < b ? b : a) : -1;
    }
    for (int64_t i = 0; i < s->particles->free_count; i++) s->diagonal[i] = tw_sparse_find(matrix, i, i);
}

/* What the bodies of the parallel loops see. */
typedef struct loop {
    springs *s;
    const double *x;
    double *out;
    const double *in;
    int count;
    tw_sparse *matrix;
    atomic_bool undefined; /* a spring of length zero that should have one */
} loop;

/* d and l of a spring; false where its direction is not defined. */
static bool spring_vector(const springs *s, const double *x, int64_t e, double d[3], double *l)
{
    const double *a = x + 3 * (int64_t)s->ends[2 * e], *b = x + 3 * (int64_t)s->ends[2 * e + 1];
    for (int k = 0; k < 3; k++) d[k] = b[k] - a[k];
    *l = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    return *l > 0.0 || (*l == 0.0 && s->rest_length[e] == 0.0);
}

static void pull_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    const springs *s = p->s;
    for (int64_t e = begin; e < end; e++) {
        double d[3], l;
        if (!spring_vector(s, p->x, e, d, &l)) atomic_store(&p->undefined, true);
        /* k (l - L) n = [k (l - L) / l] d */
        double scale = l > 0.0 ? s->stiffness[e] * (l - s->rest_length[e]) / l : 0.0;
        for (int k = 0; k < 3; k++) s->pull[3 * e + k] = scale * d[k];
    }
}

static void gather_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    const springs *s = p->s;
    for (int64_t i = begin; i < end; i++) {
        double sum[3] = {0.0, 0.0, 0.0};
        for (int64_t n = s->incidence.start[i]; n < s->incidence.start[i + 1]; n++) {
            int32_t entry = s->incidence.entry[n];
            const double *pull = s->pull + 3 * (int64_t)(entry / 2);
            double sign = entry % 2 ? -1.0 : 1.0;
            for (int k = 0; k < 3; k++) sum[k] += sign * pull[k];
        }
        for (int k = 0; k < 3; k++) p->out[3 * i + k] += sum[k];
    }
}

static tw_status springs_add_force(void *data, const tw_force_view *at, double *force)
{
    springs *s = data;
    loop p = {.s = s, .x = at->x, .out = force};
    tw_parallel_for(s->count, TW_PARTICLE_BLOCK, pull_body, &p);
    if (atomic_load(&p.undefined)) return TW_RECOVERABLE;
    tw_parallel_for(s->particles->count, TW_PARTICLE_BLOCK, gather_body, &p);
    return TW_OK;
}

static void energy_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    loop *p = context;
    const springs *s = p->s;
    double sum = 0.0;
    for (int64_t e = begin; e < end; e++) {
        double d[3], l;
        spring_vector(s, p->x, e, d, &l);
        double stretch = l - s->rest_length[e];
        sum += 0.5 * s->stiffness[e] * stretch * stretch;
    }
    s->partial[block] = sum;
}

static tw_status springs_add_energy(void *data, const tw_force_view *at, double *energy)
{
    springs *s = data;
    loop p = {.s = s, .x = at->x};
    tw_parallel_for(s->count, TW_PARTICLE_BLOCK, energy_body, &p);
    for (int64_t b = 0; b < tw_parallel_blocks(s->count, TW_PARTICLE_BLOCK); b++) *energy += s->partial[b];
    return TW_OK;
}

static void linearise_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    const springs *s = p->s;
    for (int64_t e = begin; e < end; e++) {
        double d[3], l;
        if (!spring_vector(s, p->x, e, d, &l)) atomic_store(&p->undefined, true);
        double *tangent = s->tangent + 5 * e;
        double ratio = l > 0.0 ? s->rest_length[e] / l : 0.0; /* L/l */
        for (int k = 0; k < 3; k++) tangent[k] = l > 0.0 ? d[k] / l : 0.0;
        tangent[3] = s->stiffness[e] * (1.0 - ratio);
        tangent[4] = s->stiffness[e] * ratio;
    }
}

static tw_status springs_linearise(void *data, const tw_force_view *at)
{
    springs *s = data;
    loop p = {.s = s, .x = at->x};
    tw_parallel_for(s->count, TW_PARTICLE_BLOCK, linearise_body, &p);
    return atomic_load(&p.undefined) ? TW_RECOVERABLE : TW_OK;
}

/* out_i += sum_e K_e (in_i - in_j), where pinned neighbours j do not move. */
static void product_row(const springs *s, int64_t i, const double *in, double *out)
{
    int64_t particle = s->particles->particle[i];
    double sum[3] = {0.0, 0.0, 0.0};
    for (int64_t n = s->incidence.start[particle]; n < s->incidence.start[particle + 1]; n++) {
        int32_t entry = s->incidence.entry[n];
        const double *tangent = s->tangent + 5 * (int64_t)(entry / 2);
        int32_t j = s->particles->unknown[s->ends[entry ^ 1]];
        double u[3];
        for (int k = 0; k < 3; k++) u[k] = in[3 * i + k] - (j >= 0 ? in[3 * (int64_t)j + k] : 0.0);
        double along = tangent[4] * (tangent[0] * u[0] + tangent[1] * u[1] + tangent[2] * u[2]);
        for (int k = 0; k < 3; k++) sum[k] += tangent[3] * u[k] + along * tangent[k];
    }
    for (int k = 0; k < 3; k++) out[3 * i + k] += sum[k];
}

static void product_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    int64_t stride = 3 * p->s->particles->free_count;
    for (int64_t i = begin; i < end; i++)
        for (int c = 0; c < p->count; c++) product_row(p->s, i, p->in + c * stride, p->out + c * stride);
}

static void springs_add_product(void *data, int count, const double *in, double *out)
{
    springs *s = data;
    loop p = {.s = s, .in = in, .out = out, .count = count};
    tw_parallel_for(s->particles->free_count, TW_PARTICLE_BLOCK, product_body, &p);
}

/* block += sign * K_e; symmetric, so that its order inside does not matter. */
static void add_block(const double *tangent, double sign, double *block)
{
    for (int c = 0; c < 3; c++)
        for (int r = 0; r < 3; r++)
            block[3 * c + r] += sign * ((r == c ? tangent[3] : 0.0) + tangent[4] * tangent[r] * tangent[c]);
}

/* A row of the upper triangle belongs to its free particle i: (i, i) and the (i, j) with j > i. */
static void tangent_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    const springs *s = p->s;
    double *values = tw_sparse_values(p->matrix);
    for (int64_t i = begin; i < end; i++) {
        int64_t particle = s->particles->particle[i];
        for (int64_t n = s->incidence.start[particle]; n < s->incidence.start[particle + 1]; n++) {
            int32_t entry = s->incidence.entry[n];
            const double *tangent = s->tangent + 5 * (int64_t)(entry / 2);
            add_block(tangent, 1.0, values + 9 * s->diagonal[i]);
            if (s->particles->unknown[s->ends[entry ^ 1]] > i)
                add_block(tangent, -1.0, values + 9 * s->block[entry / 2]);
        }
    }
}

static void springs_add_tangent(void *data, tw_sparse *matrix)
{
    springs *s = data;
    loop p = {.s = s, .matrix = matrix};
    tw_parallel_for(s->particles->free_count, TW_PARTICLE_BLOCK, tangent_body, &p);
}

/* No eigenvalue of K_e exceeds k (the spring can only lose transverse stiffness), and |u_a - u_b|^2 <= 2 |u_a|^2 +
 * 2 |u_b|^2, or |u_a|^2 alone where b is pinned. */
static void springs_add_stiffness_bound(const void *data, double *bound)
{
    const springs *s = data;
    for (int64_t e = 0; e < s->count; e++) {
        int32_t a = s->ends[2 * e], b = s->ends[2 * e + 1];
        bound[a] += s->stiffness[e] * (s->particles->pinned[b] ? 1.0 : 2.0);
        bound[b] += s->stiffness[e] * (s->particles->pinned[a] ? 1.0 : 2.0);
    }
}

static const tw_force_table springs_table = {
    .name = "springs",
    .release = springs_release,
    .complete = springs_complete,
    .add_pattern = springs_add_pattern,
    .locate = springs_locate,
    .add_energy = springs_add_energy,
    .add_force = springs_add_force,
    .linearise = springs_linearise,
    .add_product = springs_add_product,
    .add_tangent = springs_add_tangent,
    .add_stiffness_bound = springs_add_stiffness_bound,
};

static double distance(const double *a, const double *b)
{
    double x = b[0] - a[0], y = b[1] - a[1], z = b[2] - a[2];
    return sqrt(x * x + y * y + z * z);
}

tw_status tw_force_springs_create(int64_t count, const int64_t *ends, const double *stiffness,
                                  const double *rest_length, const double *positions, tw_force *out)
{
    springs *s = TW_NEW(springs);
    if (!s) return TW_OUT_OF_MEMORY;
    s->count = count;
    s->ends = TW_NEW_ARRAY(2 * count, int32_t);
    s->stiffness = TW_NEW_ARRAY(count, double);
    s->rest_length = TW_NEW_ARRAY(count, double);
    if (!s->ends || !s->stiffness || !s->rest_length) {
        springs_release(s);
        return TW_OUT_OF_MEMORY;
    }
    for (int64_t e = 0; e < count; e++) {
        s->ends[2 * e] = (int32_t)ends[2 * e];
        s->ends[2 * e + 1] = (int32_t)ends[2 * e + 1];
        s->stiffness[e] = stiffness[e];
        s->rest_length[e] =
            rest_length ? rest_length[e] : distance(positions + 3 * ends[2 * e], positions + 3 * ends[2 * e + 1]);
    }
    *out = (tw_force){&springs_table, s};
    return TW_OK;
}
