/* Fields b(t, x) of accelerations (s_i = m_i) or forces (s_i = 1) on a range of particles:
 *     force    f_i = s_i b(t, x_i),
 *     energy   sum of s_i P(t, x_i) over the free particles, where b = -grad P,
 *     tangent  K_ii = -s_i db/dx. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <twang/forces.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/parallel_for.h"
#include "linalg/vector.h"
#include "model/model_internal.h"

typedef struct field {
    int64_t first; /* the range of particles is first ... last */
    int64_t last;
    tw_field given;
    const tw_particles *particles;
    double *partial;   /* energy per block of particles */
    double *tangent;   /* -s db/dx per particle, nine each; NULL if b does not depend on x */
    int64_t *diagonal; /* matrix block of each particle of the range; -1 if it is pinned */
} field;

static int64_t count_of(const field *f)
{
    return f->last - f->first + 1;
}

static void field_release(void *data)
{
    field *f = data;
    if (!f) return;
    if (f->given.release) f->given.release(f->given.context);
    tw_release(f->partial);
    tw_release(f->tangent);
    tw_release(f->diagonal);
    tw_release(f);
}

static unsigned field_traits(const void *data)
{
    const field *f = data;
    unsigned traits = TW_FORCE_FREE_ONLY;

    if (f->given.rate) traits |= TW_FORCE_TIME;

    /* Without a potential the gradient need not be symmetric, and the energy
     * it gives is not known. */
    if (!f->given.potential) {
        traits |= TW_FORCE_FEEDS;
        if (f->given.gradient) traits |= TW_FORCE_GENERAL;
    }

    return traits;
}

static tw_status field_complete(void *data, const tw_particles *particles)
{
    field *f = data;
    f->particles = particles;
    f->partial = TW_NEW_ARRAY(tw_parallel_blocks(count_of(f), TW_PARTICLE_BLOCK), double);
    f->diagonal = TW_NEW_ARRAY(count_of(f), int64_t);
    if (!f->partial || !f->diagonal) return TW_OUT_OF_MEMORY;

    /* A field that does not depend on x has no tangent. */
    if (!f->given.gradient) return TW_OK;
    f->tangent = TW_NEW_ARRAY(9 * count_of(f), double);
    return f->tangent ? TW_OK : TW_OUT_OF_MEMORY;
}

static void field_locate(void *data, const tw_sparse *matrix)
{
    field *f = data;
    for (int64_t i = 0; i < count_of(f); i++) {
        int32_t row = f->particles->unknown[f->first + i];
        f->diagonal[i] = -1;
        if (row >= 0) f->diagonal[i] = tw_sparse_find(matrix, row, row);
    }
}

/* What the functions of the parallel loops share. The loops count inside the range. */
typedef struct loop {
    field *f;
    double t;
    const double *x;
    const double *in;
    double *out;
    int count;      /* columns of in and out */
    bool symmetric; /* the symmetric part of the tangent is wanted */
    tw_status (*value)(void *context, double t, const double x[3], double value[3]);
    atomic_int status; /* the last failure of a callback */
} loop;

/* s_i. */
static double scale_of(const field *f, int64_t particle)
{
    return f->given.is_force ? 1.0 : f->particles->load[particle];
}

/* Remembers a failure. */
static void note(loop *p, tw_status status)
{
    if (status != TW_OK) atomic_store(&p->status, (int)status);
}

static tw_status run(loop *p, tw_parallel_block *body)
{
    tw_parallel_for(count_of(p->f), TW_PARTICLE_BLOCK, body, p);
    return (tw_status)atomic_load(&p->status);
}

static void value_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    const field *f = p->f;

    /* out += s value(t, x): the force, or its time derivative. */
    for (int64_t i = f->first + begin; i < f->first + end; i++) {
        double value[3] = {0.0, 0.0, 0.0};

        /* A failed callback leaves zeros. */
        note(p, p->value(f->given.context, p->t, p->x + 3 * i, value));
        for (int k = 0; k < 3; k++) p->out[3 * i + k] += scale_of(f, i) * value[k];
    }
}

static tw_status field_add_force(void *data, const tw_force_view *at, double *force)
{
    field *f = data;
    loop p = {.f = f, .t = at->t, .x = at->x, .out = force, .value = f->given.value};
    return run(&p, value_block);
}

static tw_status field_add_time_derivative(void *data, const tw_force_view *at, double *out)
{
    field *f = data;
    if (!f->given.rate) return TW_OK;
    loop p = {.f = f, .t = at->t, .x = at->x, .out = out, .value = f->given.rate};
    return run(&p, value_block);
}

static void energy_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    loop *p = context;
    const field *f = p->f;
    double sum = 0.0;

    /* s P over the free particles of a block. */
    for (int64_t i = f->first + begin; i < f->first + end; i++) {
        double potential = 0.0;

        /* The energy counts the free particles. */
        if (f->particles->pinned[i]) continue;
        note(p, f->given.potential(f->given.context, p->t, p->x + 3 * i, &potential));
        sum += scale_of(f, i) * potential;
    }
    f->partial[block] = sum;
}

static tw_status field_add_energy(void *data, const tw_force_view *at, double *energy)
{
    field *f = data;
    if (!f->given.potential) return TW_OK;
    loop p = {.f = f, .t = at->t, .x = at->x};
    tw_status status = run(&p, energy_block);

    /* The blocks are added in their order, so that the sum does not depend on the threads. */
    for (int64_t b = 0; b < tw_parallel_blocks(count_of(f), TW_PARTICLE_BLOCK); b++)
        *energy += f->partial[b];
    return status;
}

static void linearise_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    const field *f = p->f;

    /* tangent = -s db/dx. */
    for (int64_t i = begin; i < end; i++) {
        double *tangent = f->tangent + 9 * i;
        memset(tangent, 0, 9 * sizeof *tangent);
        note(p, f->given.gradient(f->given.context, p->t, p->x + 3 * (f->first + i), tangent));

        /* K_ii = -s db/dx. */
        for (int k = 0; k < 9; k++) tangent[k] *= -scale_of(f, f->first + i);
    }
}

static tw_status field_linearise(void *data, const tw_force_view *at)
{
    loop p = {.f = data, .t = at->t, .x = at->x};
    if (!p.f->tangent) return TW_OK;
    return run(&p, linearise_block);
}

/* Entry (r, c) of K_ii, which is stored column by column, or of its symmetric part. */
static double entry_of(const double *tangent, int r, int c, bool symmetric)
{
    if (!symmetric) return tangent[3 * c + r];
    return 0.5 * (tangent[3 * c + r] + tangent[3 * r + c]);
}

static void product_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    const field *f = p->f;
    int64_t stride = 3 * f->particles->free_count;

    /* out_i += K_ii in_i, for every column. */
    for (int64_t i = begin; i < end; i++) {
        /* Pinned particles have no row. */
        int64_t row = f->particles->unknown[f->first + i];
        for (int c = 0; c < p->count && row >= 0; c++)
            for (int k = 0; k < 9; k++)
                p->out[c * stride + 3 * row + k / 3] +=
                    entry_of(f->tangent + 9 * i, k / 3, k % 3, p->symmetric) *
                    p->in[c * stride + 3 * row + k % 3];
    }
}

static void add_product(field *f, bool symmetric, int count, const double *in, double *out)
{
    loop p = {.f = f, .in = in, .out = out, .count = count, .symmetric = symmetric};
    if (f->tangent) run(&p, product_block);
}

static void field_add_product(void *data, int count, const double *in, double *out)
{
    add_product(data, false, count, in, out);
}

static void field_add_symmetric_product(void *data, int count, const double *in, double *out)
{
    add_product(data, true, count, in, out);
}

static void field_add_tangent(void *data, tw_sparse *matrix)
{
    field *f = data;
    double *values = tw_sparse_values(matrix);

    /* The symmetric part of K_ii, column by column. */
    for (int64_t i = 0; i < count_of(f) && f->tangent; i++) {
        if (f->diagonal[i] < 0) continue;
        if (!tw_particles_want(f->particles, f->particles->unknown[f->first + i])) continue;
        for (int k = 0; k < 9; k++)
            values[9 * f->diagonal[i] + k] += entry_of(f->tangent + 9 * i, k % 3, k / 3, true);
    }
}

static void no_stiffness_bound(const void *data, double *bound)
{
    (void)data;
    (void)bound;
}

/* A field on a moved particle does not act on the unknowns, so that there is nothing to add. */
static tw_status field_add_rate(void *data, const tw_force_view *at, const double *x_rate,
                                const double *v_rate, double *out)
{
    (void)data;
    (void)at;
    (void)x_rate;
    (void)v_rate;
    (void)out;
    return TW_OK;
}

#define COMMON_ENTRIES                                                                             \
    .name = "field", .release = field_release, .traits = field_traits, .complete = field_complete, \
    .locate = field_locate, .add_energy = field_add_energy, .add_force = field_add_force,          \
    .add_time_derivative = field_add_time_derivative, .add_rate = field_add_rate

static const tw_force_table uniform_table = {COMMON_ENTRIES,
                                             .add_stiffness_bound = no_stiffness_bound};
static const tw_force_table gradient_table = {
    COMMON_ENTRIES, .linearise = field_linearise, .add_product = field_add_product,
    .add_symmetric_product = field_add_symmetric_product, .add_tangent = field_add_tangent};

/* ---- adding ---- */

tw_field tw_field_default(void)
{
    return (tw_field){0};
}

tw_status tw_model_add_field(tw_model *model, int64_t first, int64_t last, const tw_field *given,
                             tw_error *error)
{
    if (!model || !given || !given->value)
        return tw_fail(error, TW_INVALID_ARGUMENT, "a field needs its values");
    if (first < 0 || last < first || last >= model->particles.count)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "there are no particles %lld to %lld for a field", (long long)first,
                       (long long)last);

    field *f = TW_NEW(field);
    if (!f) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    *f = (field){.first = first, .last = last, .given = *given};

    /* The context stays with the caller until the force is in the model. */
    f->given.release = NULL;
    tw_force force = {given->gradient ? &gradient_table : &uniform_table, f};
    tw_status status = tw_model_add_force(model, &force, error);
    if (status == TW_OK) f->given.release = given->release;
    return status;
}

/* ---- loads and shaking ---- */

/* b sin(omega t + phase) if it swings, else b. */
typedef struct uniform {
    double b[3];
    double omega;
    double phase;
    bool swings;
} uniform;

static tw_status uniform_value(void *context, double t, const double x[3], double value[3])
{
    (void)x;
    const uniform *u = context;

    /* A load that does not swing is constant. */
    double factor = u->swings ? sin(u->omega * t + u->phase) : 1.0;
    for (int k = 0; k < 3; k++) value[k] = factor * u->b[k];
    return TW_OK;
}

static tw_status uniform_rate(void *context, double t, const double x[3], double rate[3])
{
    (void)x;
    const uniform *u = context;

    /* The derivative of b sin(omega t + phase). */
    for (int k = 0; k < 3; k++) rate[k] = u->omega * cos(u->omega * t + u->phase) * u->b[k];
    return TW_OK;
}

static tw_status uniform_potential(void *context, double t, const double x[3], double *potential)
{
    double b[3];
    uniform_value(context, t, x, b);
    *potential = -(b[0] * x[0] + b[1] * x[1] + b[2] * x[2]);
    return TW_OK;
}

static tw_status add_uniform(tw_model *model, int64_t first, int64_t last, uniform what,
                             bool is_force, tw_error *error)
{
    uniform *u = TW_NEW(uniform);
    if (!u) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    *u = what;

    /* The model takes u over if it succeeds. */
    tw_field given = {.context = u,
                      .value = uniform_value,
                      .rate = what.swings ? uniform_rate : NULL,
                      .potential = uniform_potential,
                      .is_force = is_force,
                      .release = tw_release};
    tw_status status = tw_model_add_field(model, first, last, &given, error);
    if (status != TW_OK) tw_release(u);
    return status;
}

tw_status tw_model_add_load(tw_model *model, int64_t first, int64_t last, const double force[3],
                            tw_error *error)
{
    if (!force || !tw_vector_is_finite(3, force))
        return tw_fail(error, TW_NOT_FINITE, "a load is not finite");
    return add_uniform(model, first, last, (uniform){.b = {force[0], force[1], force[2]}}, true,
                       error);
}

tw_status tw_model_add_shaking(tw_model *model, const double acceleration[3], double frequency,
                               double phase, tw_error *error)
{
    if (!model || !acceleration) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    if (!tw_vector_is_finite(3, acceleration) || !isfinite(frequency) || !isfinite(phase))
        return tw_fail(error, TW_NOT_FINITE, "shaking is not finite");

    uniform what = {.b = {acceleration[0], acceleration[1], acceleration[2]},
                    .omega = 2.0 * 3.14159265358979323846 * frequency,
                    .phase = phase,
                    .swings = true};

    return add_uniform(model, 0, model->particles.count - 1, what, false, error);
}
