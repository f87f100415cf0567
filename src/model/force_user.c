/* A force of the user (tw_user_force): callbacks over the arrays of all particles.
 * Derivatives that the user does not give are taken by central differences. The matrix is
 * found by products (probing.h). */
#include <float.h>
#include <math.h>
#include <string.h>
#include <twang/forces.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/log_line.h"
#include "linalg/vector.h"
#include "model/model_internal.h"
#include "model/probing.h"

/* The scratch arrays, each of all particles. */
enum { DIRECTION, IMAGE, MOVED, SIDE, ARRAYS };

typedef struct user {
    tw_user_force given;
    int32_t *pairs;
    const tw_particles *particles;
    double *arrays;     /* the scratch arrays */
    double *point;      /* x and v at the last linearisation */
    double t;           /* likewise */
    tw_probing probing; /* the matrix -df/dx */
    bool probed;        /* the matrix is that of the last linearisation */
    tw_status failure;  /* of a product, until take_failure asks for it */
} user;

static double *array_of(const user *u, int which)
{
    return u->arrays + which * 3 * u->particles->count;
}

static void user_release(void *data)
{
    user *u = data;
    if (!u) return;
    if (u->given.release) u->given.release(u->given.context);
    tw_probing_free(&u->probing);
    tw_release(u->pairs);
    tw_release(u->arrays);
    tw_release(u->point);
    tw_release(u);
}

static unsigned user_traits(const void *data)
{
    const tw_user_force *g = &((const user *)data)->given;
    unsigned traits = TW_FORCE_FAR;

    if (g->velocity_dependent) traits |= TW_FORCE_VELOCITY;
    if (g->time_dependent) traits |= TW_FORCE_TIME;

    /* Without an energy the tangent need not be symmetric, and the force may feed energy. */
    if (!g->energy) traits |= TW_FORCE_GENERAL | TW_FORCE_FEEDS;
    return traits;
}

static tw_force_elements user_elements(const void *data)
{
    const user *u = data;
    return (tw_force_elements){u->given.pair_count, 2, u->pairs};
}

static tw_status user_complete(void *data, const tw_particles *particles)
{
    user *u = data;
    u->particles = particles;

    u->arrays = TW_NEW_ARRAY(3 * ARRAYS * particles->count, double);
    u->point = TW_NEW_ARRAY(6 * particles->count, double);
    if (!u->arrays || !u->point) return TW_OUT_OF_MEMORY;
    return tw_probing_create(&u->probing, particles, u->given.pair_count, u->pairs);
}

static void user_add_pattern(const void *data, tw_pattern *pattern)
{
    tw_probing_add_pattern(&((const user *)data)->probing, pattern);
}

static void user_locate(void *data, const tw_sparse *matrix)
{
    tw_probing_locate(&((user *)data)->probing, matrix);
}

static tw_status user_add_energy(void *data, const tw_force_view *at, double *energy)
{
    const tw_user_force *g = &((user *)data)->given;
    if (!g->energy) return TW_OK;
    return g->energy(g->context, at->t, at->x, energy);
}

static tw_status user_add_force(void *data, const tw_force_view *at, double *force)
{
    const tw_user_force *g = &((user *)data)->given;
    return g->force(g->context, at->t, at->x, at->v, force);
}

/* ---- differences ---- */

/* The step s such that s d has about cbrt(eps) of the size of `base`, measured in root mean
 * squares. The exponent 1/3 balances truncation (s^2) and rounding (eps/s). Returns 0 for d = 0. */
static double step_along(int64_t n, const double *base, const double *d)
{
    /* The lengths of base and d. */
    tw_space space = {.local_size = n};
    double size = 0.0;
    double length = 0.0;

    tw_vector_norm(&space, base, &size);
    tw_vector_norm(&space, d, &length);
    if (!(length > 0.0)) return 0.0;
    return cbrt(DBL_EPSILON) * (1.0 + size / sqrt((double)n)) / length * sqrt((double)n);
}

/* out -= weight f(t, x, v). */
static tw_status subtract_force(user *u, double weight, const tw_force_view *at, double *out)
{
    double *side = array_of(u, SIDE);

    /* Callbacks add to their output, so that it starts at zero. */
    tw_vector_fill(3 * u->particles->count, 0.0, side);
    tw_status status = user_add_force(u, at, side);
    tw_vector_axpy(3 * u->particles->count, -weight, side, out);
    return status;
}

/* out -= df/dx d, or df/dv d, by a central difference:
 *     out -= [f(base + s d) - f(base - s d)] / (2 s). */
static tw_status differ(user *u, bool in_velocity, const double *d, double *out)
{
    int64_t n = 3 * u->particles->count;
    const double *x = u->point;
    const double *v = u->point + n;
    const double *base = in_velocity ? v : x;
    double s = step_along(n, base, d);
    double *moved = array_of(u, MOVED);

    tw_status status = TW_OK;

    /* Both sides: out -= sign f(base + sign s d) / (2 s). */
    for (int sign = 1; sign >= -1 && s > 0.0 && status == TW_OK; sign -= 2) {
        tw_vector_copy(n, base, moved);
        tw_vector_axpy(n, sign * s, d, moved);
        tw_force_view at = {u->t, in_velocity ? x : moved, in_velocity ? moved : v};
        status = subtract_force(u, sign * 0.5 / s, &at, out);
    }

    return status;
}

static tw_status user_add_time_derivative(void *data, const tw_force_view *at, double *out)
{
    user *u = data;
    const tw_user_force *g = &u->given;
    if (!g->time_dependent) return TW_OK;
    if (g->rate) return g->rate(g->context, at->t, at->x, at->v, out);

    /* The rate of a force without a callback is a central difference in time. */
    double s = cbrt(DBL_EPSILON) * fmax(1.0, fabs(at->t));
    tw_force_view later = {at->t + s, at->x, at->v};
    tw_force_view earlier = {at->t - s, at->x, at->v};
    tw_status status = subtract_force(u, -0.5 / s, &later, out);
    if (status != TW_OK) return status;
    return subtract_force(u, 0.5 / s, &earlier, out);
}

/* ---- products ---- */

static tw_status user_linearise(void *data, const tw_force_view *at)
{
    user *u = data;
    int64_t n = 3 * u->particles->count;

    u->t = at->t;

    /* The matrix is found again when it is asked for. */
    u->probed = false;
    tw_vector_copy(n, at->x, u->point);
    tw_vector_copy(n, at->v, u->point + n);
    return TW_OK;
}

/* image = -df/dx d or -df/dv d, where `in` gives d over the unknowns. */
static tw_status apply(user *u, bool in_velocity, const double *in)
{
    int64_t n = 3 * u->particles->count;
    double *d = array_of(u, DIRECTION);
    double *image = array_of(u, IMAGE);
    const tw_user_force *g = &u->given;

    /* d is `in` on the free particles and 0 on the pinned ones. */
    tw_vector_fill(n, 0.0, d);
    tw_vector_fill(n, 0.0, image);
    for (int64_t i = 0; i < u->particles->free_count; i++)
        memcpy(d + 3 * (int64_t)u->particles->particle[i], in + 3 * i, 3 * sizeof *d);

    /* The user's product, or a difference. */
    tw_status (*given)(void *, double, const double *, const double *, const double *, double *) =
        in_velocity ? g->damping : g->stiffness;
    if (given) return given(g->context, u->t, u->point, u->point + n, d, image);
    return differ(u, in_velocity, d, image);
}

static void add_columns(user *u, bool in_velocity, int count, const double *in, double *out)
{
    int64_t n = 3 * u->particles->free_count;

    /* out += the products with all columns. */
    for (int c = 0; c < count; c++) {
        tw_status status = apply(u, in_velocity, in + c * n);

        /* A failure is kept for take_failure. */
        if (status != TW_OK) u->failure = status;
        for (int64_t i = 0; i < n && status == TW_OK; i++)
            out[c * n + i] +=
                array_of(u, IMAGE)[3 * (int64_t)u->particles->particle[i / 3] + i % 3];
    }
}

static void user_add_product(void *data, int count, const double *in, double *out)
{
    add_columns(data, false, count, in, out);
}

static void user_add_damping_product(void *data, int count, const double *in, double *out)
{
    user *u = data;
    if (u->given.velocity_dependent) add_columns(u, true, count, in, out);
}

/* The product that tw_probing_fill uses. */
static tw_status probe_product(void *context, const double *in, double *out)
{
    user *u = context;
    tw_status status = apply(u, false, in);

    /* The entries of the free particles. */
    for (int64_t i = 0; i < 3 * u->particles->free_count; i++)
        out[i] = array_of(u, IMAGE)[3 * (int64_t)u->particles->particle[i / 3] + i % 3];
    return status;
}

/* Finds the matrix once per linearisation. Returns false on failure. */
static bool probe(user *u)
{
    if (u->probed) return true;

    tw_status status = tw_probing_fill(&u->probing, probe_product, u);
    if (status != TW_OK) u->failure = status;
    u->probed = status == TW_OK;
    return u->probed;
}

static void user_add_symmetric_product(void *data, int count, const double *in, double *out)
{
    user *u = data;
    if (probe(u)) tw_probing_add_product(&u->probing, count, in, out);
}

static void user_add_tangent(void *data, tw_sparse *matrix)
{
    user *u = data;
    if (probe(u)) tw_probing_add_tangent(&u->probing, matrix);
}

static tw_status user_take_failure(void *data)
{
    user *u = data;
    tw_status failure = u->failure;
    u->failure = TW_OK;
    return failure;
}

static const tw_force_table user_table = {
    .name = "user's force",
    .release = user_release,
    .traits = user_traits,
    .elements = user_elements,
    .complete = user_complete,
    .add_pattern = user_add_pattern,
    .locate = user_locate,
    .add_energy = user_add_energy,
    .add_force = user_add_force,
    .add_time_derivative = user_add_time_derivative,
    .linearise = user_linearise,
    .add_product = user_add_product,
    .add_symmetric_product = user_add_symmetric_product,
    .add_tangent = user_add_tangent,
    .add_damping_product = user_add_damping_product,
    .take_failure = user_take_failure,
};

/* ---- adding ---- */

tw_user_force tw_user_force_default(void)
{
    return (tw_user_force){0};
}

static tw_status check_pairs(const tw_model *model, const tw_user_force *given, tw_error *error)
{
    if (!tw_is_count(given->pair_count) || (given->pair_count > 0 && !given->pairs))
        return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    for (int64_t i = 0; i < 2 * given->pair_count; i++)
        if (given->pairs[i] < 0 || given->pairs[i] >= model->particles.count)
            return tw_fail(error, TW_INVALID_ARGUMENT,
                           "a pair must name two of the particles 0 to %lld",
                           (long long)(model->particles.count - 1));

    return TW_OK;
}

static void say_what_is_missing(const tw_user_force *given)
{
    if (!given->stiffness)
        tw_log_line(TW_LOG_INFO, "a user's force without stiffness: products by differences");
    if (given->velocity_dependent && !given->damping)
        tw_log_line(TW_LOG_INFO, "a user's force without damping: products by differences");
}

tw_status tw_model_add_user_force(tw_model *model, const tw_user_force *given, tw_error *error)
{
    if (!model || !given || !given->force)
        return tw_fail(error, TW_INVALID_ARGUMENT, "a user's force has no function");
    tw_status status = check_pairs(model, given, error);
    if (status != TW_OK) return status;

    user *u = TW_NEW(user);
    int32_t *pairs = TW_NEW_ARRAY(2 * given->pair_count, int32_t);
    if (!u || !pairs) {
        tw_release(u);
        tw_release(pairs);
        return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    }

    /* The pairs are copied, and 32 bits are enough for a particle. */
    for (int64_t i = 0; i < 2 * given->pair_count; i++) pairs[i] = (int32_t)given->pairs[i];
    *u = (user){.given = *given, .pairs = pairs};
    u->given.pairs = NULL;

    /* The context stays with the caller until the force is in the model. */
    u->given.release = NULL;
    tw_force force = {&user_table, u};
    status = tw_model_add_force(model, &force, error);
    if (status != TW_OK) return status;
    u->given.release = given->release;
    say_what_is_missing(given);
    return TW_OK;
}
