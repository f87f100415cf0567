/* Wind with drag and lift on triangles (tw_wind).
 *
 * Let a = (x_1 - x_0) x (x_2 - x_0) / 2 be the area vector of a triangle, A = |a|, n = a/A,
 * u the velocity of the air relative to the mean of the corners, U = |u| and p = u . a.
 * Each corner feels a third of
 *     F = k1 p^2 u / (A U) + k2 p U n,     k1 = rho (drag - lift) / 2,  k2 = rho lift / 2.
 * The derivatives of F by a and by u are
 *     F_a = k1 [2 p u u^T - (p^2/A) u n^T] / (A U) + k2 U [n u^T + (p/A) (I - n n^T)]
 *     F_u = k1 [2 p u a^T + p^2 I - (p^2/U^2) u u^T] / (A U) + k2 [U n a^T + (p/U) n u^T].
 * A displacement d_c of corner c changes a by -o_c x d_c / 2 with o_c = x_{c+1} - x_{c+2}. K is not
 * symmetric. S = 0 serves Newton's method, because wind is soft compared with elastic forces. */
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

typedef struct wind {
    tw_wind given;
    int64_t count;
    int32_t *corner; /* three per triangle */
    const tw_particles *particles;
    tw_incidence incidence;
    double *push;      /* force on each corner: a vector per triangle and column */
    double *tangent;   /* TANGENT numbers per triangle, at the last linearisation */
    double *point;     /* x, then v, of the last linearisation */
    double air[3];     /* velocity of the air there */
    bool is_stale;     /* the tangents are still those of an earlier one */
    int64_t *diagonal; /* index of the diagonal matrix block of each free particle */
    int64_t *block;    /* of the pairs (0, 1), (1, 2), (2, 0) of corners; -1 if one is pinned */
} wind;

enum { TANGENT = 27 /* F_a, F_u (nine each, row by row), o_0, o_1, o_2 */ };

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
    w->push = TW_NEW_ARRAY(3 * TW_MAX_BLOCK * w->count, double);
    w->tangent = TW_NEW_ARRAY(TANGENT * w->count, double);
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

static const double at_rest[3] = {0.0, 0.0, 0.0};

/* Finds a and u of a triangle. Returns false where there is no area or no wind, hence no force. */
static bool situation(const loop *p, int64_t e, double a[3], double u[3])
{
    const int32_t *corner = p->w->corner + 3 * e;
    const double *x[3];
    const double *v[3];

    /* The corners. */
    for (int c = 0; c < 3; c++) {
        x[c] = p->x + 3 * (int64_t)corner[c];
        v[c] = p->v + 3 * (int64_t)corner[c];
    }

    /* Two edges, and u = air - (v_0 + v_1 + v_2) / 3. */
    double e1[3];
    double e2[3];
    for (int k = 0; k < 3; k++) {
        e1[k] = x[1][k] - x[0][k];
        e2[k] = x[2][k] - x[0][k];
        u[k] = p->air[k] - (v[0][k] + v[1][k] + v[2][k]) / 3.0;
    }

    /* a = e1 x e2 / 2. */
    tw_cross3(e1, e2, a);
    for (int k = 0; k < 3; k++) a[k] *= 0.5;
    return tw_dot3(a, a) > 0.0 && tw_dot3(u, u) > 0.0;
}

/* k1 and k2. */
static void coefficients(const wind *w, double *k1, double *k2)
{
    *k1 = 0.5 * w->given.density * (w->given.drag - w->given.lift);
    *k2 = 0.5 * w->given.density * w->given.lift;
}

static void find_force(const wind *w, const double a[3], const double u[3], double F[3])
{
    double k1;
    double k2;
    double A = sqrt(tw_dot3(a, a));
    double U = sqrt(tw_dot3(u, u));
    double p = tw_dot3(u, a);

    /* F = k1 p^2 u / (A U) + k2 p U n. */
    coefficients(w, &k1, &k2);
    for (int k = 0; k < 3; k++) F[k] = k1 * p * p / (A * U) * u[k] + k2 * p * U / A * a[k];
}

/* F_a and F_u, row by row; here k1 contains the factor 1 / (A U). */
static void find_tangent(const wind *w, const double a[3], const double u[3], double F_a[9],
                         double F_u[9])
{
    double k1;
    double k2;
    double A = sqrt(tw_dot3(a, a));
    double U = sqrt(tw_dot3(u, u));
    double p = tw_dot3(u, a);

    coefficients(w, &k1, &k2);
    k1 /= A * U;

    /* Entry (r, c); `same` is that of I, and n = a/A. */
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            double same = r == c ? 1.0 : 0.0;
            double nr = a[r] / A;
            double nc = a[c] / A;
            F_a[3 * r + c] = k1 * u[r] * (2.0 * p * u[c] - p * p / A * nc) +
                             k2 * U * (nr * u[c] + p / A * (same - nr * nc));
            F_u[3 * r + c] = k1 * (2.0 * p * u[r] * a[c] + p * p * (same - u[r] * u[c] / (U * U))) +
                             k2 * (U * nr * a[c] + p / U * nr * u[c]);
        }
}

/* Fills F_a, F_u and o_0, o_1, o_2 of triangle e. */
static void linearise(const loop *p, int64_t e, double tangent[TANGENT])
{
    double a[3], u[3];
    const int32_t *corner = p->w->corner + 3 * e;

    /* Without wind or area F_a and F_u are zero. */
    memset(tangent, 0, TANGENT * sizeof *tangent);
    if (situation(p, e, a, u)) find_tangent(p->w, a, u, tangent, tangent + 9);

    /* o_c = x_{c+1} - x_{c+2}. */
    for (int k = 0; k < 9; k++)
        tangent[18 + k] = p->x[3 * (int64_t)corner[(k / 3 + 1) % 3] + k % 3] -
                          p->x[3 * (int64_t)corner[(k / 3 + 2) % 3] + k % 3];
}

/* out -= scale M b, with M row by row. */
static inline void subtract_product(const double *M, const double b[3], double scale, double out[3])
{
    for (int k = 0; k < 3; k++) out[k] -= scale * tw_dot3(M + 3 * k, b);
}

/* The product with K: out -= F_a da / 3, where da = -sum_c o_c x in_c / 2. */
static inline void stiffness_product(const double *tangent, const double *const in[3],
                                     double out[3])
{
    double change[3] = {0.0, 0.0, 0.0};
    double part[3];

    for (int c = 0; c < 3; c++) {
        /* A displacement of corner c changes a by -o_c x in_c / 2. */
        tw_cross3(tangent + 18 + 3 * c, in[c], part);
        for (int k = 0; k < 3; k++) change[k] -= 0.5 * part[k];
    }
    subtract_product(tangent, change, 1.0 / 3.0, out);
}

/* The product with D: out += F_u mean / 3, where mean = sum_c in_c / 3. */
static inline void damping_product(const double *tangent, const double *const in[3], double out[3])
{
    double mean[3] = {0.0, 0.0, 0.0};
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 3; k++) mean[k] += in[c][k] / 3.0;
    subtract_product(tangent + 9, mean, -1.0 / 3.0, out);
}

/* ---- force and time derivative ---- */

static void push_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;

    /* push = F / 3. */
    for (int64_t e = begin; e < end; e++) {
        double a[3];
        double u[3];
        double F[3] = {0.0, 0.0, 0.0};

        /* Without wind or area there is no force. */
        if (situation(p, e, a, u)) find_force(p->w, a, u, F);
        for (int k = 0; k < 3; k++) p->w->push[3 * e + k] = F[k] / 3.0;
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
    loop *p = context;
    for (int64_t e = begin; e < end; e++) {
        double tangent[TANGENT];
        double *push = p->w->push + 3 * e;
        linearise(p, e, tangent);
        memset(push, 0, 3 * sizeof *push);
        subtract_product(tangent + 9, p->air_rate, -1.0 / 3.0, push);
    }
}

/* The rates of the corners, which prescribed motions have: push = -(K x' + D v'). */
static void corner_rate_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    for (int64_t e = begin; e < end; e++) {
        double *push = p->w->push + 3 * e;
        memset(push, 0, 3 * sizeof *push);

        /* Most triangles have no moved corner. */
        const double *x[3];
        const double *v[3];
        bool moves = false;
        for (int c = 0; c < 3; c++) {
            x[c] = p->x_rate + 3 * (int64_t)p->w->corner[3 * e + c];
            v[c] = p->v_rate + 3 * (int64_t)p->w->corner[3 * e + c];
            moves = moves || !is_zero3(x[c]) || !is_zero3(v[c]);
        }
        if (!moves) continue;

        double tangent[TANGENT];
        double change[3] = {0.0, 0.0, 0.0};
        linearise(p, e, tangent);
        stiffness_product(tangent, x, change);
        damping_product(tangent, v, change);
        for (int k = 0; k < 3; k++) push[k] -= change[k];
    }
}

static void gather_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    const tw_incidence *incidence = &p->w->incidence;

    /* out_i += the pushes of its triangles. */
    for (int64_t i = begin; i < end; i++)
        for (int64_t n = incidence->start[i]; n < incidence->start[i + 1]; n++)
            for (int k = 0; k < 3; k++)
                p->out[3 * i + k] += p->w->push[3 * (int64_t)(incidence->entry[n] / 3) + k];
}

static tw_status add_pushes(loop *p, tw_parallel_block *body)
{
    tw_parallel_for(p->w->count, TW_PARTICLE_BLOCK, body, p);
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
    loop *p = context;
    for (int64_t e = begin; e < end; e++) linearise(p, e, p->w->tangent + TANGENT * e);
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
    tw_parallel_for(w->count, TW_PARTICLE_BLOCK, linearise_block, &p);
    w->is_stale = false;
}

/* push = the product of each triangle with the columns of `in`. It is
 * inlined with either product. */
TW_ALWAYS_INLINE void find_pushes(const loop *p, int64_t begin, int64_t end,
                                  void (*product)(const double *, const double *const[3],
                                                  double[3]))
{
    const wind *w = p->w;
    int64_t stride = 3 * w->particles->free_count;

    for (int64_t e = begin; e < end; e++)
        for (int column = 0; column < p->count; column++) {
            /* Pinned corners are at rest. */
            const double *in[3];
            for (int c = 0; c < 3; c++) {
                int32_t i = w->particles->unknown[w->corner[3 * e + c]];
                in[c] = i >= 0 ? p->in + column * stride + 3 * (int64_t)i : at_rest;
            }

            double push[3] = {0.0, 0.0, 0.0};
            product(w->tangent + TANGENT * e, in, push);
            memcpy(w->push + 3 * (p->count * e + column), push, sizeof push);
        }
}

static void stiffness_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    find_pushes(context, begin, end, stiffness_product);
}

static void damping_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    find_pushes(context, begin, end, damping_product);
}

/* out_i += the pushes of its triangles in one column. */
static void gather_column(const loop *p, int64_t i, int column, double *out)
{
    const wind *w = p->w;
    int64_t particle = w->particles->particle[i];
    double sum[3] = {0.0, 0.0, 0.0};

    /* The pushes of all triangles at the particle. */
    for (int64_t n = w->incidence.start[particle]; n < w->incidence.start[particle + 1]; n++) {
        const double *push =
            w->push + 3 * (p->count * (int64_t)(w->incidence.entry[n] / 3) + column);
        for (int k = 0; k < 3; k++) sum[k] += push[k];
    }
    for (int k = 0; k < 3; k++) out[3 * i + k] += sum[k];
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
    tw_parallel_for(p->w->count, TW_PARTICLE_BLOCK, body, p);
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
        const double *F_u = w->tangent + TANGENT * e + 9;
        for (int c = 0; c < 3; c++) {
            int32_t i = w->particles->unknown[w->corner[3 * e + c]];
            int64_t here[2] = {i >= 0 ? w->diagonal[i] : -1, w->block[3 * e + c]};

            for (int k = 0; k < 18; k++)
                if (here[k / 9] >= 0)
                    values[9 * here[k / 9] + k % 9] +=
                        factor / 18.0 * (F_u[k % 9] + F_u[3 * (k % 9 % 3) + k % 9 / 3]);
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
    int32_t *corner = TW_NEW_ARRAY(3 * triangle_count, int32_t);
    if (!w || !corner) {
        tw_release(w);
        tw_release(corner);
        return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    }

    for (int64_t i = 0; i < 3 * triangle_count; i++) corner[i] = (int32_t)triangles[i];
    *w = (wind){.given = *given, .count = triangle_count, .corner = corner};

    /* The context stays with the caller until the force is in the model. */
    w->given.release = NULL;
    tw_force force = {&wind_table, w};
    status = tw_model_add_force(model, &force, error);
    if (status == TW_OK) w->given.release = given->release;
    return status;
}
