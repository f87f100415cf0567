/* Hinges (tw_model_add_hinges). Let p = theta - Theta be the deviation of the angle, g its
 * gradient, H its second derivative (hinge_law.h), and s = g . v its rate. Then
 *     energy    k p^2 / 2,
 *     force     -m g with the moment m = k p + beta k s,
 *     tangents  K = k g g^T + m H + beta k g (H v)^T,   D = beta k g g^T.
 * S is K without its last term. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <twang/forces.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/parallel_for.h"
#include "linalg/vector.h"
#include "model/assembly.h"
#include "model/hinge_law.h"
#include "model/incidence.h"
#include "model/model_internal.h"

enum { BLOCKS = 10 /* of the upper triangle of four corners */ };

typedef struct hinges {
    int64_t count;
    int32_t *corner;    /* four per hinge */
    double *stiffness;  /* k */
    double *rest_angle; /* Theta */
    double beta;        /* of Rayleigh damping */
    const tw_particles *particles;
    tw_incidence incidence;
    tw_assembly assembly; /* S */
    double *blocks;       /* of S, BLOCKS * 9 per hinge */
    double *push;         /* force on the four corners: twelve per hinge */
    double *partial;      /* energy per block of hinges */

    /* With damping only, else NULL: at the last linearisation, and scratch. */
    double *gradient; /* g, twelve per hinge */
    double *carried;  /* H v, twelve per hinge */
    double *scalar;   /* one per hinge and column */
} hinges;

static void hinges_release(void *data)
{
    hinges *h = data;
    if (!h) return;
    tw_incidence_free(&h->incidence);
    tw_assembly_free(&h->assembly);

    void *blocks[] = {h->corner,   h->stiffness, h->rest_angle, h->blocks, h->push,
                      h->gradient, h->carried,   h->scalar,     h->partial};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) tw_release(blocks[i]);
    tw_release(h);
}

static unsigned hinges_traits(const void *data)
{
    return ((const hinges *)data)->beta > 0.0 ? TW_FORCE_VELOCITY | TW_FORCE_GENERAL : 0;
}

static tw_force_elements hinges_elements(const void *data)
{
    const hinges *h = data;
    return (tw_force_elements){h->count, 4, h->corner};
}

static void hinges_set_rayleigh(void *data, double beta)
{
    ((hinges *)data)->beta = beta;
}

static tw_status hinges_complete(void *data, const tw_particles *particles)
{
    hinges *h = data;
    h->particles = particles;

    /* Scratch of forces, energies and tangents. */
    h->blocks = TW_NEW_ARRAY(9 * BLOCKS * h->count, double);
    h->push = TW_NEW_ARRAY(12 * h->count, double);
    h->partial = TW_NEW_ARRAY(tw_parallel_blocks(h->count, TW_PARTICLE_BLOCK), double);
    if (!h->blocks || !h->push || !h->partial) return TW_OUT_OF_MEMORY;

    /* Only damping needs g and H v later on. */
    if (h->beta > 0.0) {
        h->gradient = TW_NEW_ARRAY(12 * h->count, double);
        h->carried = TW_NEW_ARRAY(12 * h->count, double);
        h->scalar = TW_NEW_ARRAY(TW_MAX_BLOCK * h->count, double);
        if (!h->gradient || !h->carried || !h->scalar) return TW_OUT_OF_MEMORY;
    }

    TW_TRY(tw_incidence_create(&h->incidence, particles->count, h->count, 4, h->corner));
    tw_element_list list = {.count = h->count, .nodes = 4, .particle = h->corner};
    return tw_assembly_create(&h->assembly, particles, &list);
}

static void hinges_add_pattern(const void *data, tw_pattern *pattern)
{
    tw_assembly_add_pattern(&((const hinges *)data)->assembly, pattern);
}

static void hinges_locate(void *data, const tw_sparse *matrix)
{
    tw_assembly_locate(&((hinges *)data)->assembly, matrix);
}

/* ---- one hinge ---- */

/* What the functions of the parallel loops share. */
typedef struct loop {
    hinges *h;
    const double *x;
    const double *v;
    const double *x_rate;
    const double *v_rate;
    const double *in;
    double *out;
    const double *vectors; /* g or H v */
    int count;             /* columns of in and out */
    atomic_bool undefined; /* a triangle has no area */
} loop;

/* Copies the vectors of the corners of hinge e. */
static void collect(const hinges *h, int64_t e, const double *x, double out[4][3])
{
    for (int c = 0; c < 4; c++)
        memcpy(out[c], x + 3 * (int64_t)h->corner[4 * e + c], 3 * sizeof(double));
}

/* Evaluates hinge e. Returns false, and notes it, where the angle is not defined. */
static bool evaluate(loop *p, int64_t e, tw_hinge_state *state)
{
    const double *x[4];
    for (int c = 0; c < 4; c++) x[c] = p->x + 3 * (int64_t)p->h->corner[4 * e + c];
    if (tw_hinge_evaluate(x, state)) return true;

    /* A triangle has no area: there is no force to gather. */
    atomic_store(&p->undefined, true);
    memset(p->h->push + 12 * e, 0, 12 * sizeof(double));
    return false;
}

static double dot12(const double a[4][3], const double b[4][3])
{
    double sum = 0.0;
    for (int k = 0; k < 12; k++) sum += a[k / 3][k % 3] * b[k / 3][k % 3];
    return sum;
}

/* m = k p + beta k s. */
static double moment(const hinges *h, int64_t e, const tw_hinge_state *state, const double v[4][3])
{
    double k = h->stiffness[e];
    double moment = k * (state->angle - h->rest_angle[e]);
    if (!(h->beta > 0.0)) return moment;
    return moment + h->beta * k * dot12(state->gradient, v);
}

/* ---- energy, force, rate ---- */

static void push_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;

    /* push = -m g. */
    for (int64_t e = begin; e < end; e++) {
        tw_hinge_state state;
        double v[4][3] = {{0.0}};
        if (!evaluate(p, e, &state)) continue;

        /* Without damping the velocities do not matter. */
        if (p->h->beta > 0.0) collect(p->h, e, p->v, v);

        double m = moment(p->h, e, &state, v);
        for (int k = 0; k < 12; k++) p->h->push[12 * e + k] = -m * state.gradient[k / 3][k % 3];
    }
}

/* push = the derivative of -m g along a motion of the corners, d = dx and w = dv:
 *     -(k g . d + beta k (H d . v + g . w)) g - m H d. */
static void rate_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;

    for (int64_t e = begin; e < end; e++) {
        tw_hinge_state state;
        if (!evaluate(p, e, &state)) continue;

        double v[4][3];
        double d[4][3];
        double w[4][3];
        double second[4][3]; /* H d */
        collect(p->h, e, p->v, v);
        collect(p->h, e, p->x_rate, d);
        collect(p->h, e, p->v_rate, w);
        tw_hinge_second(&state, d, second);

        double k = p->h->stiffness[e];
        double m = moment(p->h, e, &state, v);
        double on_g = k * dot12(state.gradient, d) +
                      p->h->beta * k * (dot12(second, v) + dot12(state.gradient, w));
        for (int i = 0; i < 12; i++)
            p->h->push[12 * e + i] =
                -on_g * state.gradient[i / 3][i % 3] - m * second[i / 3][i % 3];
    }
}

static void gather_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    const tw_incidence *incidence = &p->h->incidence;

    /* out_i += the pushes of its hinges. */
    for (int64_t i = begin; i < end; i++)
        for (int64_t n = incidence->start[i]; n < incidence->start[i + 1]; n++)
            for (int k = 0; k < 3; k++)
                p->out[3 * i + k] += p->h->push[3 * (int64_t)incidence->entry[n] + k];
}

static tw_status add_pushes(loop *p, tw_parallel_block *body)
{
    /* Each hinge finds its pushes; then each particle adds up those of its hinges. */
    tw_parallel_for(p->h->count, TW_PARTICLE_BLOCK, body, p);
    if (atomic_load(&p->undefined)) return TW_RECOVERABLE;
    tw_parallel_for(p->h->particles->count, TW_PARTICLE_BLOCK, gather_block, p);
    return TW_OK;
}

static tw_status hinges_add_force(void *data, const tw_force_view *at, double *force)
{
    loop p = {.h = data, .x = at->x, .v = at->v, .out = force};
    return add_pushes(&p, push_block);
}

static tw_status hinges_add_rate(void *data, const tw_force_view *at, const double *x_rate,
                                 const double *v_rate, double *out)
{
    loop p = {.h = data, .x = at->x, .v = at->v, .x_rate = x_rate, .v_rate = v_rate, .out = out};
    return add_pushes(&p, rate_block);
}

static void energy_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    loop *p = context;
    double sum = 0.0;

    for (int64_t e = begin; e < end; e++) {
        tw_hinge_state state;
        if (!evaluate(p, e, &state)) continue;

        /* k p^2 / 2. */
        double deviation = state.angle - p->h->rest_angle[e];
        sum += 0.5 * p->h->stiffness[e] * deviation * deviation;
    }
    p->h->partial[block] = sum;
}

static tw_status hinges_add_energy(void *data, const tw_force_view *at, double *energy)
{
    hinges *h = data;
    loop p = {.h = h, .x = at->x};

    tw_parallel_for(h->count, TW_PARTICLE_BLOCK, energy_block, &p);

    /* The blocks are added in their order, so that the sum does not depend on the threads. */
    for (int64_t b = 0; b < tw_parallel_blocks(h->count, TW_PARTICLE_BLOCK); b++)
        *energy += h->partial[b];
    if (atomic_load(&p.undefined)) return TW_RECOVERABLE;
    return TW_OK;
}

/* ---- tangents ---- */

static void fill_column(const tw_hinge_state *state, double k, double m, int j, double *blocks)
{
    /* second = H times the unit vector j. */
    double unit[4][3] = {{0.0}};
    double second[4][3];
    unit[j / 3][j % 3] = 1.0;
    tw_hinge_second(state, unit, second);

    /* Writes column j = 3 b + c of S = k g g^T + m H into the blocks (a, b), a <= b. */
    int b = j / 3;
    for (int a = 0; a <= b; a++) {
        /* The blocks are in the order (0,0) (0,1) (0,2) (0,3) (1,1) ... */
        int block = a * (7 - a) / 2 + b;
        for (int r = 0; r < 3; r++)
            blocks[9 * block + 3 * r + j % 3] =
                k * state->gradient[a][r] * state->gradient[b][j % 3] + m * second[a][r];
    }
}

static void linearise_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    hinges *h = p->h;

    for (int64_t e = begin; e < end; e++) {
        tw_hinge_state state;
        double v[4][3] = {{0.0}};
        if (!evaluate(p, e, &state)) continue;

        /* The twelve columns of S. */
        if (h->beta > 0.0) collect(h, e, p->v, v);
        double m = moment(h, e, &state, v);
        for (int j = 0; j < 12; j++)
            fill_column(&state, h->stiffness[e], m, j, h->blocks + 9 * BLOCKS * e);

        /* g and H v, which damping needs. */
        if (!(h->beta > 0.0)) continue;
        double carried[4][3];
        tw_hinge_second(&state, v, carried);
        memcpy(h->gradient + 12 * e, state.gradient, sizeof state.gradient);
        memcpy(h->carried + 12 * e, carried, sizeof carried);
    }
}

static tw_status hinges_linearise(void *data, const tw_force_view *at)
{
    loop p = {.h = data, .x = at->x, .v = at->v};
    tw_parallel_for(p.h->count, TW_PARTICLE_BLOCK, linearise_block, &p);
    if (atomic_load(&p.undefined)) return TW_RECOVERABLE;
    tw_assembly_gather(&p.h->assembly, p.h->blocks);
    return TW_OK;
}

static void scalar_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    const hinges *h = p->h;
    int64_t stride = 3 * h->particles->free_count;

    /* scalar = beta k (vector . in), per hinge and column. */
    for (int64_t e = begin; e < end; e++)
        for (int column = 0; column < p->count; column++) {
            /* vector . in over the free corners. */
            double sum = 0.0;
            for (int c = 0; c < 4; c++) {
                int64_t i = h->particles->unknown[h->corner[4 * e + c]];
                for (int k = 0; k < 3 && i >= 0; k++)
                    sum += p->vectors[12 * e + 3 * c + k] * p->in[column * stride + 3 * i + k];
            }

            h->scalar[p->count * e + column] = h->beta * h->stiffness[e] * sum;
        }
}

static void spread_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    const hinges *h = p->h;
    int64_t stride = 3 * h->particles->free_count;

    /* out += scalar g, for every column. */
    for (int64_t i = begin; i < end; i++) {
        int64_t particle = h->particles->particle[i];
        for (int64_t n = h->incidence.start[particle]; n < h->incidence.start[particle + 1]; n++) {
            /* An entry is 4 e + corner, so that 3 * entry is the place of its vector. */
            int64_t entry = h->incidence.entry[n];
            for (int k = 0; k < 3 * p->count; k++)
                p->out[k / 3 * stride + 3 * i + k % 3] +=
                    h->scalar[p->count * (entry / 4) + k / 3] * h->gradient[3 * entry + k % 3];
        }
    }
}

/* out += sum over the hinges of beta k g (vector . in). */
static void add_ranks(hinges *h, const double *vectors, int count, const double *in, double *out)
{
    loop p = {.h = h, .vectors = vectors, .count = count, .in = in, .out = out};

    /* First a scalar per hinge, then each particle gathers. */
    tw_parallel_for(h->count, TW_PARTICLE_BLOCK, scalar_block, &p);
    tw_parallel_for(h->particles->free_count, TW_PARTICLE_BLOCK, spread_block, &p);
}

static void hinges_add_symmetric_product(void *data, int count, const double *in, double *out)
{
    tw_assembly_add_product(&((hinges *)data)->assembly, count, in, out);
}

static void hinges_add_rest_product(void *data, int count, const double *in, double *out)
{
    hinges *h = data;
    if (h->beta > 0.0) add_ranks(h, h->carried, count, in, out);
}

static void hinges_add_product(void *data, int count, const double *in, double *out)
{
    hinges_add_symmetric_product(data, count, in, out);
    hinges_add_rest_product(data, count, in, out);
}

static void hinges_add_damping_product(void *data, int count, const double *in, double *out)
{
    hinges *h = data;
    if (h->beta > 0.0) add_ranks(h, h->gradient, count, in, out);
}

static void hinges_add_tangent(void *data, tw_sparse *matrix)
{
    tw_assembly_add_tangent(&((hinges *)data)->assembly, matrix);
}

/* Adds factor g_a g_b^T to the block of corners a and b, if it lies in the upper triangle. */
static void add_pair(const hinges *h, int64_t e, int a, int b, double factor, tw_sparse *matrix)
{
    int32_t i = h->particles->unknown[h->corner[4 * e + a]];
    int32_t j = h->particles->unknown[h->corner[4 * e + b]];

    if (i < 0 || j < i) return;

    /* Blocks are stored column by column. */
    double *block = tw_sparse_values(matrix) + 9 * tw_sparse_find(matrix, i, j);
    const double *row = h->gradient + 12 * e + 3 * a;
    const double *column = h->gradient + 12 * e + 3 * b;
    for (int k = 0; k < 9; k++) block[k] += factor * row[k % 3] * column[k / 3];
}

static void hinges_add_damping(void *data, double factor, tw_sparse *matrix)
{
    const hinges *h = data;
    for (int64_t e = 0; e < h->count && h->beta > 0.0; e++)

        /* All pairs of corners; add_pair skips those below the diagonal. */
        for (int k = 0; k < 16; k++)
            add_pair(h, e, k / 4, k % 4, factor * h->beta * h->stiffness[e], matrix);
}

static const tw_force_table hinges_table = {
    .name = "hinges",
    .release = hinges_release,
    .traits = hinges_traits,
    .elements = hinges_elements,
    .set_rayleigh = hinges_set_rayleigh,
    .complete = hinges_complete,
    .add_pattern = hinges_add_pattern,
    .locate = hinges_locate,
    .add_energy = hinges_add_energy,
    .add_force = hinges_add_force,
    .add_rate = hinges_add_rate,
    .linearise = hinges_linearise,
    .add_product = hinges_add_product,
    .add_symmetric_product = hinges_add_symmetric_product,
    .add_rest_product = hinges_add_rest_product,
    .add_tangent = hinges_add_tangent,
    .add_damping_product = hinges_add_damping_product,
    .add_damping = hinges_add_damping,
};

/* ---- adding ---- */

/* Checks that the corners are different particles, and the values. */
static tw_status check_hinge(const tw_model *model, const int64_t *c, double stiffness,
                             double angle, tw_error *error)
{
    /* The corners exist and are different. */
    bool sound = true;
    for (int b = 0; b < 4; b++) {
        sound = sound && c[b] >= 0 && c[b] < model->particles.count;
        for (int a = 0; a < b; a++) sound = sound && c[a] != c[b];
    }

    if (!sound)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "a hinge must join four of the particles 0 to %lld",
                       (long long)(model->particles.count - 1));

    if (!(stiffness > 0.0) || !isfinite(stiffness) || !(fabs(angle) < 3.14159265358979323846))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "a hinge needs a positive stiffness and a rest angle between -pi and pi");

    return TW_OK;
}

/* Sets the angles at rest: the given ones, or those of the particles now. */
static tw_status find_angles(hinges *h, const double *given, const double *positions,
                             tw_error *error)
{
    for (int64_t e = 0; e < h->count; e++) {
        if (given) {
            h->rest_angle[e] = given[e];
            continue;
        }

        tw_hinge_state state;
        const double *x[4];
        for (int c = 0; c < 4; c++) x[c] = positions + 3 * (int64_t)h->corner[4 * e + c];
        if (!tw_hinge_evaluate(x, &state))
            return tw_fail(error, TW_INVALID_ARGUMENT, "a triangle of hinge %lld has no area",
                           (long long)e);
        h->rest_angle[e] = state.angle;
    }

    return TW_OK;
}

static hinges *create(int64_t count, const int64_t *corners, const double *stiffness)
{
    hinges *h = TW_NEW(hinges);
    if (!h) return NULL;

    h->count = count;
    h->corner = TW_NEW_ARRAY(4 * count, int32_t);
    h->stiffness = TW_NEW_ARRAY(count, double);
    h->rest_angle = TW_NEW_ARRAY(count, double);
    if (!h->corner || !h->stiffness || !h->rest_angle) {
        hinges_release(h);
        return NULL;
    }

    for (int64_t i = 0; i < 4 * count; i++) h->corner[i] = (int32_t)corners[i];
    for (int64_t e = 0; e < count; e++) h->stiffness[e] = stiffness[e];
    return h;
}

tw_status tw_model_add_hinges(tw_model *model, int64_t count, const int64_t *corners,
                              const double *stiffness, const double *rest_angle, tw_error *error)
{
    if (!model || count < 0 || (count && (!corners || !stiffness)))
        return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    for (int64_t e = 0; e < count; e++) {
        double angle = rest_angle ? rest_angle[e] : 0.0;
        TW_TRY(check_hinge(model, corners + 4 * e, stiffness[e], angle, error));
    }

    hinges *h = create(count, corners, stiffness);
    if (!h) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    tw_status status = find_angles(h, rest_angle, model->particles.position, error);
    if (status != TW_OK) {
        hinges_release(h);
        return status;
    }

    tw_force force = {&hinges_table, h};
    return tw_model_add_force(model, &force, error);
}
