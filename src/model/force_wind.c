/* Wind with drag and lift on triangles (tw_wind). The law is in wind_law.h.
 *
 * K is not symmetric. S = 0 serves Newton's method, because wind is soft compared with elastic
 * forces. Triangles are handled in groups of four, one per lane. */
#include <math.h>
#include <string.h>
#include <twang/forces.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/parallel_for.h"
#include "base/simd.h"
#include "base/vector3.h"
#include "linalg/vector.h"
#include "model/incidence.h"
#include "model/model_internal.h"
#include "model/wind_law.h"

enum {
    LANES = TW_WIDE_LANES,                  /* triangles of a group */
    TANGENT = 27,                           /* F_a, F_u (row by row) and o_0, o_1, o_2 */
    GROUP_BLOCK = TW_PARTICLE_BLOCK / LANES /* groups per block of a parallel loop */
};

typedef struct wind {
    tw_wind given;
    tw_wind_law law;
    int64_t count;
    int64_t groups;
    int32_t *corner; /* three per triangle; the last group is filled up with the last triangle */
    const tw_particles *particles;
    tw_incidence incidence;
    double *push;      /* force on each corner: LANES numbers per column and triangle */
    double *tangent;   /* TANGENT numbers per lane of a group, at the last linearisation */
    double *point;     /* x, then v, of the last linearisation */
    double air[3];     /* velocity of the air there */
    bool is_stale;     /* the tangents are still those of an earlier one */
    int64_t *diagonal; /* index of the diagonal matrix block of each free particle */
    int64_t *block;    /* of the pairs (0, 1), (1, 2), (2, 0) of corners; -1 if one is pinned */
} wind;

static void wind_release(void *data)
{
    wind *w = data;
    if (!w) return;
    if (w->given.release) w->given.release(w->given.context);
    tw_incidence_free(&w->incidence);

    void *blocks[] = {w->corner, w->push, w->tangent, w->point, w->diagonal, w->block};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) tw_release(blocks[i]);
    tw_release(w);
}

static unsigned wind_traits(const void *data)
{
    const wind *w = data;
    bool blows = w->given.air || (w->given.gust != 0.0 && w->given.gust_frequency != 0.0);
    unsigned traits = TW_FORCE_VELOCITY | TW_FORCE_GENERAL | TW_FORCE_FEEDS;
    if (blows) traits |= TW_FORCE_TIME;
    return traits;
}

static tw_status wind_complete(void *data, const tw_particles *particles)
{
    wind *w = data;
    w->particles = particles;

    /* Scratch, tangents, and places in the matrix. */
    w->push = TW_NEW_ARRAY(LANES * TW_MAX_BLOCK * LANES * w->groups, double);
    w->tangent = TW_NEW_ARRAY(TANGENT * LANES * w->groups, double);
    w->point = TW_NEW_ARRAY(6 * particles->count, double);
    w->diagonal = TW_NEW_ARRAY(particles->free_count, int64_t);
    w->block = TW_NEW_ARRAY(3 * w->count, int64_t);
    if (!w->push || !w->tangent || !w->point || !w->diagonal || !w->block) return TW_OUT_OF_MEMORY;
    return tw_incidence_create(&w->incidence, particles->count, w->count, 3, w->corner);
}

/* The unknowns of corners c and c + 1 of triangle e. Returns false if one of them is pinned. */
static bool pair_of(const wind *w, int64_t e, int c, int32_t *i, int32_t *j)
{
    *i = w->particles->unknown[w->corner[3 * e + c]];
    *j = w->particles->unknown[w->corner[3 * e + (c + 1) % 3]];
    return *i >= 0 && *j >= 0;
}

static void wind_add_pattern(const void *data, tw_pattern *pattern)
{
    const wind *w = data;
    int32_t i, j;
    for (int64_t e = 0; e < 3 * w->count; e++)
        if (pair_of(w, e / 3, (int)(e % 3), &i, &j)) tw_pattern_add(pattern, i, j);
}

static void wind_locate(void *data, const tw_sparse *matrix)
{
    wind *w = data;

    /* The block of each pair of corners, in the upper triangle. */
    for (int64_t e = 0; e < 3 * w->count; e++) {
        int32_t i;
        int32_t j;
        w->block[e] = -1;
        if (pair_of(w, e / 3, (int)(e % 3), &i, &j)) w->block[e] = tw_pattern_find(matrix, i, j);
    }

    for (int64_t p = 0; p < w->particles->free_count; p++)
        w->diagonal[p] = tw_sparse_find(matrix, p, p);
}

/* ---- the law ---- */

/* The velocity of the air and its rate: velocity (1 + gust sin(omega t)), or what the user says. */
static tw_status air_at(const wind *w, double t, double velocity[3], double rate[3])
{
    const tw_wind *g = &w->given;
    if (g->air) return g->air(g->context, t, velocity, rate);

    /* velocity (1 + gust sin(omega t)), and its derivative. */
    double omega = 2.0 * 3.14159265358979323846 * g->gust_frequency;
    for (int k = 0; k < 3; k++) {
        velocity[k] = g->velocity[k] * (1.0 + g->gust * sin(omega * t));
        rate[k] = g->velocity[k] * g->gust * omega * cos(omega * t);
    }

    return TW_OK;
}

/* What the functions of the parallel loops share. */
typedef struct loop {
    wind *w;
    const double *x;
    const double *v;
    const double *x_rate;
    const double *v_rate;
    const double *in;
    double air[3];
    double air_rate[3];
    double *out;
    int count; /* columns of in and out */
} loop;

/* ---- groups of triangles ---- */

/* The vectors of one corner of four triangles, with a triangle in each row. */
TW_ALWAYS_INLINE void load_corner(const int32_t *corner, const double *vectors, tw_wide row[LANES])
{
    for (int lane = 0; lane < LANES; lane++)
        row[lane] = tw_wide_load3(vectors + 3 * (int64_t)corner[3 * lane]);
}

/* Rows of triangles become lanes. */
TW_ALWAYS_INLINE tw_wide3 to_lanes(tw_wide row[LANES])
{
    tw_wide_transpose4(row);
    return (tw_wide3){{row[0], row[1], row[2]}};
}

/* Finds a, u and what follows from them for a group. */
TW_ALWAYS_INLINE tw_wind_state situation(const loop *p, int64_t group)
{
    const int32_t *corner = p->w->corner + 3 * LANES * group;
    tw_wide x[3][LANES];
    tw_wide v[3][LANES];
    for (int c = 0; c < 3; c++) {
        load_corner(corner + c, p->x, x[c]);
        load_corner(corner + c, p->v, v[c]);
    }

    /* Two edges, and the sum of the velocities. */
    for (int lane = 0; lane < LANES; lane++) {
        x[1][lane] = tw_wide_subtract(x[1][lane], x[0][lane]);
        x[2][lane] = tw_wide_subtract(x[2][lane], x[0][lane]);
        v[0][lane] = tw_wide_add(v[0][lane], tw_wide_add(v[1][lane], v[2][lane]));
    }
    tw_wide3 edge1 = to_lanes(x[1]);
    tw_wide3 edge2 = to_lanes(x[2]);
    tw_wide3 sum = to_lanes(v[0]);

    /* u = air - (v_0 + v_1 + v_2) / 3. */
    tw_wide3 u;
    for (int k = 0; k < 3; k++)
        u.at[k] = tw_wide_fma(tw_wide_splat(-1.0 / 3.0), sum.at[k], tw_wide_splat(p->air[k]));
    return tw_wind_state_of(&edge1, &edge2, &u);
}

/* The tangents of four triangles. */
typedef struct tangents {
    tw_wide33 F_a;
    tw_wide33 F_u;
    tw_wide33 o; /* row c is o_c = x_{c+1} - x_{c+2} */
} tangents;

TW_ALWAYS_INLINE tangents linearise(const loop *p, int64_t group)
{
    const int32_t *corner = p->w->corner + 3 * LANES * group;
    tw_wind_state at = situation(p, group);
    tangents t;
    tw_wind_tangent(&p->w->law, &at, &t.F_a, &t.F_u);

    for (int c = 0; c < 3; c++) {
        tw_wide next[LANES];
        tw_wide other[LANES];
        load_corner(corner + (c + 1) % 3, p->x, next);
        load_corner(corner + (c + 2) % 3, p->x, other);
        for (int lane = 0; lane < LANES; lane++)
            next[lane] = tw_wide_subtract(next[lane], other[lane]);
        tw_wide3 o = to_lanes(next);
        for (int k = 0; k < 3; k++) t.o.at[3 * c + k] = o.at[k];
    }
    return t;
}

/* Writes the pushes of a group in one of `count` columns: entry 4 of a triangle is unused. */
TW_ALWAYS_INLINE void store_pushes(const wind *w, int64_t group, int count, int column,
                                   const tw_wide3 *push)
{
    tw_wide row[LANES] = {push->at[0], push->at[1], push->at[2], tw_wide_zero()};
    tw_wide_transpose4(row);
    for (int lane = 0; lane < LANES; lane++)
        tw_wide_store(w->push + LANES * (count * (LANES * group + lane) + column), row[lane]);
}

/* ---- force and time derivative ---- */

static void push_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const loop p = *(const loop *)context;
    const tw_wind_law law = p.w->law;
    for (int64_t group = begin; group < end; group++) {
        tw_wind_state at = situation(&p, group);
        tw_wide3 push = tw_wind_push(&law, &at);
        store_pushes(p.w, group, 1, 0, &push);
    }
}

static bool is_zero3(const double x[3])
{
    return x[0] == 0.0 && x[1] == 0.0 && x[2] == 0.0;
}

/* The rate of the air: push = F_u air' / 3. */
static void air_rate_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const loop *p = context;
    tw_wide3 rate;
    for (int k = 0; k < 3; k++) rate.at[k] = tw_wide_splat(p->air_rate[k]);

    for (int64_t group = begin; group < end; group++) {
        tangents t = linearise(p, group);
        tw_wide3 push = tw_wide33_product(1.0 / 3.0, &t.F_u, &rate);
        store_pushes(p->w, group, 1, 0, &push);
    }
}

/* Whether a corner of the group has a rate. */
static bool group_moves(const loop *p, int64_t group)
{
    const int32_t *corner = p->w->corner + 3 * LANES * group;
    for (int c = 0; c < 3 * LANES; c++) {
        int64_t i = 3 * (int64_t)corner[c];
        if (!is_zero3(p->x_rate + i) || !is_zero3(p->v_rate + i)) return true;
    }
    return false;
}

/* The rates of the corners, which prescribed motions have: push = -(K x' + D v'). */
static void corner_rate_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const loop *p = context;
    for (int64_t group = begin; group < end; group++) {
        tw_wide3 push = {{tw_wide_zero(), tw_wide_zero(), tw_wide_zero()}};

        /* Most triangles have no moved corner. */
        if (group_moves(p, group)) {
            tw_wide3 x[3];
            tw_wide3 v[3];
            for (int c = 0; c < 3; c++) {
                const int32_t *corner = p->w->corner + 3 * LANES * group + c;
                tw_wide row[LANES];
                load_corner(corner, p->x_rate, row);
                x[c] = to_lanes(row);
                load_corner(corner, p->v_rate, row);
                v[c] = to_lanes(row);
            }

            tangents t = linearise(p, group);
            tw_wide3 stiff = tw_wind_stiffness_push(&t.F_a, &t.o, x);
            tw_wide3 damped = tw_wind_damping_push(&t.F_u, v);
            for (int k = 0; k < 3; k++)
                push.at[k] =
                    tw_wide_subtract(tw_wide_zero(), tw_wide_add(stiff.at[k], damped.at[k]));
        }
        store_pushes(p->w, group, 1, 0, &push);
    }
}

static void gather_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const loop p = *(const loop *)context;
    const int64_t *start = p.w->incidence.start;
    const int32_t *entry = p.w->incidence.entry;
    const double *push = p.w->push;

    /* out_i += the pushes of its triangles. */
    for (int64_t i = begin; i < end; i++) {
        if (start[i] == start[i + 1]) continue;
        tw_wide sum = tw_wide_load3(p.out + 3 * i);
        for (int64_t n = start[i]; n < start[i + 1]; n++)
            sum = tw_wide_add(sum, tw_wide_load(push + LANES * (int64_t)(entry[n] / 3)));
        tw_wide_store3(p.out + 3 * i, sum);
    }
}

static tw_status add_pushes(loop *p, tw_parallel_block *body)
{
    tw_parallel_for(p->w->groups, GROUP_BLOCK, body, p);
    tw_parallel_for(p->w->particles->count, TW_PARTICLE_BLOCK, gather_block, p);
    return TW_OK;
}

static tw_status wind_add_force(void *data, const tw_force_view *at, double *force)
{
    loop p = {.w = data, .x = at->x, .v = at->v, .out = force};
    TW_TRY(air_at(p.w, at->t, p.air, p.air_rate));
    return add_pushes(&p, push_block);
}

static tw_status wind_add_time_derivative(void *data, const tw_force_view *at, double *out)
{
    loop p = {.w = data, .x = at->x, .v = at->v, .out = out};
    TW_TRY(air_at(p.w, at->t, p.air, p.air_rate));
    if (is_zero3(p.air_rate)) return TW_OK;
    return add_pushes(&p, air_rate_block);
}

static tw_status wind_add_rate(void *data, const tw_force_view *at, const double *x_rate,
                               const double *v_rate, double *out)
{
    /* The rate of the air itself is in add_time_derivative. */
    loop p = {.w = data, .x = at->x, .v = at->v, .x_rate = x_rate, .v_rate = v_rate, .out = out};
    TW_TRY(air_at(p.w, at->t, p.air, p.air_rate));
    return add_pushes(&p, corner_rate_block);
}

/* ---- tangents ---- */

static void linearise_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const loop *p = context;
    for (int64_t group = begin; group < end; group++) {
        tangents t = linearise(p, group);
        double *to = p->w->tangent + TANGENT * LANES * group;
        for (int k = 0; k < 9; k++) {
            tw_wide_store(to + LANES * k, t.F_a.at[k]);
            tw_wide_store(to + LANES * (9 + k), t.F_u.at[k]);
            tw_wide_store(to + LANES * (18 + k), t.o.at[k]);
        }
    }
}

/* Newton's method linearises in every iteration and has no use for these tangents, because S = 0.
 * They are made when they are asked for. */
static tw_status wind_linearise(void *data, const tw_force_view *at)
{
    wind *w = data;
    size_t size = 3 * (size_t)w->particles->count * sizeof(double);
    double rate[3];
    TW_TRY(air_at(w, at->t, w->air, rate));

    memcpy(w->point, at->x, size);
    memcpy(w->point + 3 * w->particles->count, at->v, size);
    w->is_stale = true;
    return TW_OK;
}

/* The tangents of the last linearisation, made now if they are not there yet. */
static void refresh(wind *w)
{
    if (!w->is_stale) return;
    loop p = {.w = w, .x = w->point, .v = w->point + 3 * w->particles->count};
    memcpy(p.air, w->air, sizeof p.air);
    tw_parallel_for(w->groups, GROUP_BLOCK, linearise_block, &p);
    w->is_stale = false;
}

/* A matrix that linearise_block stored. */
TW_ALWAYS_INLINE tw_wide33 load_matrix(const double *from)
{
    tw_wide33 M;
    for (int k = 0; k < 9; k++) M.at[k] = tw_wide_load(from + LANES * k);
    return M;
}

/* The corners of a group in one column of `in`. Pinned corners are at rest. */
TW_ALWAYS_INLINE void load_column(const loop *p, int64_t group, int column, tw_wide3 in[3])
{
    const int32_t *unknown = p->w->particles->unknown;
    const int32_t *corner = p->w->corner + 3 * LANES * group;
    const double *vectors = p->in + column * 3 * p->w->particles->free_count;

    for (int c = 0; c < 3; c++) {
        tw_wide row[LANES];
        for (int lane = 0; lane < LANES; lane++) {
            int32_t i = unknown[corner[3 * lane + c]];
            row[lane] = i >= 0 ? tw_wide_load3(vectors + 3 * (int64_t)i) : tw_wide_zero();
        }
        in[c] = to_lanes(row);
    }
}

static void stiffness_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const loop p = *(const loop *)context;
    for (int64_t group = begin; group < end; group++) {
        const double *tangent = p.w->tangent + TANGENT * LANES * group;
        tw_wide33 F_a = load_matrix(tangent);
        tw_wide33 o = load_matrix(tangent + LANES * 18);

        for (int column = 0; column < p.count; column++) {
            tw_wide3 in[3];
            load_column(&p, group, column, in);
            tw_wide3 push = tw_wind_stiffness_push(&F_a, &o, in);
            store_pushes(p.w, group, p.count, column, &push);
        }
    }
}

static void damping_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const loop p = *(const loop *)context;
    for (int64_t group = begin; group < end; group++) {
        tw_wide33 F_u = load_matrix(p.w->tangent + LANES * (TANGENT * group + 9));

        for (int column = 0; column < p.count; column++) {
            tw_wide3 in[3];
            load_column(&p, group, column, in);
            tw_wide3 push = tw_wind_damping_push(&F_u, in);
            store_pushes(p.w, group, p.count, column, &push);
        }
    }
}

/* out_i += the pushes of its triangles in one column. */
TW_ALWAYS_INLINE void gather_column(const loop *p, int64_t i, int column, double *out)
{
    const wind *w = p->w;
    int64_t particle = w->particles->particle[i];

    tw_wide sum = tw_wide_load3(out + 3 * i);
    for (int64_t n = w->incidence.start[particle]; n < w->incidence.start[particle + 1]; n++) {
        int64_t triangle = w->incidence.entry[n] / 3;
        sum = tw_wide_add(sum, tw_wide_load(w->push + LANES * (p->count * triangle + column)));
    }
    tw_wide_store3(out + 3 * i, sum);
}

static void gather_columns_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    int64_t stride = 3 * p->w->particles->free_count;

    for (int64_t i = begin; i < end; i++)
        for (int column = 0; column < p->count; column++)
            gather_column(p, i, column, p->out + column * stride);
}

static void add_products(loop *p, tw_parallel_block *body)
{
    refresh(p->w);
    tw_parallel_for(p->w->groups, GROUP_BLOCK, body, p);
    tw_parallel_for(p->w->particles->free_count, TW_PARTICLE_BLOCK, gather_columns_block, p);
}

static void wind_add_product(void *data, int count, const double *in, double *out)
{
    loop p = {.w = data, .in = in, .out = out, .count = count};
    add_products(&p, stiffness_block);
}

/* S = 0. */
static void wind_add_symmetric_product(void *data, int count, const double *in, double *out)
{
    (void)data;
    (void)count;
    (void)in;
    (void)out;
}

static void wind_add_damping_product(void *data, int count, const double *in, double *out)
{
    loop p = {.w = data, .in = in, .out = out, .count = count};
    add_products(&p, damping_block);
}

/* D of every pair of corners is F_u / 9. Its symmetric part is added to each stored block once: to
 * the diagonal block of corner c and to the block of c and c + 1. */
static void wind_add_damping(void *data, double factor, tw_sparse *matrix)
{
    wind *w = data;
    double *values = tw_sparse_values(matrix);
    refresh(w);

    for (int64_t e = 0; e < w->count; e++) {
        const double *F_u = w->tangent + LANES * (TANGENT * (e / LANES) + 9) + e % LANES;
        for (int c = 0; c < 3; c++) {
            int32_t i = w->particles->unknown[w->corner[3 * e + c]];
            int64_t here[2] = {i >= 0 ? w->diagonal[i] : -1, w->block[3 * e + c]};

            for (int k = 0; k < 18; k++)
                if (here[k / 9] >= 0)
                    values[9 * here[k / 9] + k % 9] +=
                        factor / 18.0 *
                        (F_u[LANES * (k % 9)] + F_u[LANES * (3 * (k % 9 % 3) + k % 9 / 3)]);
        }
    }
}

static void no_stiffness_bound(const void *data, double *bound)
{
    (void)data;
    (void)bound;
}

static const tw_force_table wind_table = {
    .name = "wind",
    .release = wind_release,
    .traits = wind_traits,
    .complete = wind_complete,
    .add_pattern = wind_add_pattern,
    .locate = wind_locate,
    .add_force = wind_add_force,
    .add_time_derivative = wind_add_time_derivative,
    .add_rate = wind_add_rate,
    .linearise = wind_linearise,
    .add_product = wind_add_product,
    .add_symmetric_product = wind_add_symmetric_product,
    .add_rest_product = wind_add_product,
    .add_damping_product = wind_add_damping_product,
    .add_damping = wind_add_damping,
    .add_stiffness_bound = no_stiffness_bound,
};

/* ---- adding ---- */

tw_wind tw_wind_default(void)
{
    return (tw_wind){.density = 1.2, .drag = 1.0, .lift = 1.0};
}

static tw_status check_wind(const tw_wind *w, tw_error *error)
{
    const double values[] = {w->velocity[0], w->velocity[1], w->velocity[2], w->gust,
                             w->gust_frequency};

    if (!tw_vector_is_finite(5, values))
        return tw_fail(error, TW_NOT_FINITE, "the wind is not finite");

    bool sound = w->density >= 0.0 && w->drag >= 0.0 && w->lift >= 0.0 &&
                 w->gust_frequency >= 0.0 && isfinite(w->density) && isfinite(w->drag) &&
                 isfinite(w->lift);
    if (sound) return TW_OK;
    return tw_fail(error, TW_INVALID_ARGUMENT,
                   "density, drag, lift and gust frequency of a wind must not be negative");
}

static tw_status check_triangle(const tw_model *model, const int64_t *c, tw_error *error)
{
    bool sound = c[0] != c[1] && c[1] != c[2] && c[2] != c[0];
    for (int k = 0; k < 3; k++) sound = sound && c[k] >= 0 && c[k] < model->particles.count;
    if (sound) return TW_OK;
    return tw_fail(error, TW_INVALID_ARGUMENT,
                   "a triangle must join three of the particles 0 to %lld",
                   (long long)(model->particles.count - 1));
}

tw_status tw_model_add_wind(tw_model *model, int64_t triangle_count, const int64_t *triangles,
                            const tw_wind *given, tw_error *error)
{
    if (!model || !given || triangle_count < 0 || (triangle_count && !triangles))
        return tw_fail_plain(error, TW_INVALID_ARGUMENT);

    tw_status status = check_wind(given, error);
    for (int64_t e = 0; e < triangle_count && status == TW_OK; e++)
        status = check_triangle(model, triangles + 3 * e, error);
    if (status != TW_OK) return status;

    wind *w = TW_NEW(wind);
    int64_t groups = tw_parallel_blocks(triangle_count, LANES);
    int32_t *corner = TW_NEW_ARRAY(3 * LANES * groups, int32_t);
    if (!w || !corner) {
        tw_release(w);
        tw_release(corner);
        return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    }

    /* The last group is filled up with the last triangle: no particle asks for its copies. */
    for (int64_t i = 0; i < 3 * triangle_count; i++) corner[i] = (int32_t)triangles[i];
    for (int64_t i = 3 * triangle_count; i < 3 * LANES * groups; i++) corner[i] = corner[i - 3];
    *w = (wind){.given = *given, .count = triangle_count, .groups = groups, .corner = corner};
    w->law.k1 = 0.5 * given->density * (given->drag - given->lift);
    w->law.k2 = 0.5 * given->density * given->lift;

    /* The context stays with the caller until the force is in the model. */
    w->given.release = NULL;
    tw_force force = {&wind_table, w};
    status = tw_model_add_force(model, &force, error);
    if (status == TW_OK) w->given.release = given->release;
    return status;
}
