/* The drag of a viscous fluid on particles with inertia: f = -M(x)^-1 v, with the mobility M of
 * regularised Stokeslets over all particles. Held particles are at rest in the fluid and hold it back.
 *
 * With w = M^-1 v the tangents are D = M^-1 and, because d(M^-1) v = -M^-1 dM w,
 *     K d = -df/dx d = -M^-1 (dM/dx . d) w.
 * M is factorised at every evaluation: this is for comparison with fluid_problem.c, where nothing has
 * inertia, and for few particles. */
#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/dense.h"
#include "linalg/vector.h"
#include "model/fluid_model.h"

typedef struct drag {
    tw_stokeslets *points;
    const tw_particles *particles;
    int n;           /* three per particle */
    double *now;     /* Cholesky factor of M at the last force */
    double *fixed;   /* at the last linearisation */
    double *storage; /* of the vectors below, n entries each */
    double *at;      /* positions at the last linearisation */
    double *load;    /* w there */
    double *in;      /* a vector over all particles */
    double *out;     /* likewise */
    double *none;    /* zeros */
} drag;

static void drag_release(void *data)
{
    drag *d = data;
    if (!d) return;
    tw_stokeslets_free(d->points);
    tw_release(d->now);
    tw_release(d->fixed);
    tw_release(d->storage);
    tw_release(d);
}

static unsigned drag_traits(const void *data)
{
    (void)data;
    return TW_FORCE_VELOCITY | TW_FORCE_GENERAL;
}

static tw_status drag_complete(void *data, const tw_particles *particles)
{
    enum { VECTORS = 5 };
    drag *d = data;
    d->particles = particles;
    d->n = (int)(3 * particles->count);

    size_t n = (size_t)d->n;
    d->now = TW_NEW_ARRAY(n * n, double);
    d->fixed = TW_NEW_ARRAY(n * n, double);
    d->storage = tw_allocate_zeroed(VECTORS * n, sizeof(double));
    if (!d->now || !d->fixed || !d->storage) return TW_OUT_OF_MEMORY;

    d->at = d->storage;
    d->load = d->storage + n;
    d->in = d->storage + 2 * n;
    d->out = d->storage + 3 * n;
    d->none = d->storage + 4 * n;
    return TW_OK;
}

/* The Cholesky factor of M at x. */
static tw_status factorise(drag *d, const double *x, double *factor)
{
    tw_stokeslets_place(d->points, x);
    tw_stokeslets_mobility(d->points, factor);

    tw_status status = tw_dense_cholesky(d->n, factor);
    return status == TW_NOT_POSITIVE_DEFINITE ? TW_RECOVERABLE : status;
}

/* y = M^-1 y */
static void solve(const drag *d, const double *factor, double *y)
{
    tw_dense_lower_solve(false, d->n, factor, 1, y);
    tw_dense_lower_solve(true, d->n, factor, 1, y);
}

static tw_status drag_add_force(void *data, const tw_force_view *at, double *force)
{
    drag *d = data;
    TW_TRY(factorise(d, at->x, d->now));

    /* force -= M^-1 v */
    tw_vector_copy(d->n, at->v, d->out);
    solve(d, d->now, d->out);
    tw_vector_axpy(d->n, -1.0, d->out, force);
    return TW_OK;
}

static tw_status drag_linearise(void *data, const tw_force_view *at)
{
    drag *d = data;
    TW_TRY(factorise(d, at->x, d->fixed));
    tw_vector_copy(d->n, at->x, d->at);

    /* w = M^-1 v */
    tw_vector_copy(d->n, at->v, d->load);
    solve(d, d->fixed, d->load);
    return TW_OK;
}

/* d->in = in, with zeros for held particles. */
static void spread(drag *d, const double *in)
{
    tw_vector_fill(d->n, 0.0, d->in);
    for (int64_t i = 0; i < d->particles->free_count; i++)
        for (int k = 0; k < 3; k++)
            d->in[3 * (int64_t)d->particles->particle[i] + k] = in[3 * i + k];
}

/* out += weight a, of the free particles. */
static void gather(const drag *d, double weight, const double *a, double *out)
{
    for (int64_t i = 0; i < d->particles->free_count; i++)
        for (int k = 0; k < 3; k++)
            out[3 * i + k] += weight * a[3 * (int64_t)d->particles->particle[i] + k];
}

static void drag_add_product(void *data, int count, const double *in, double *out)
{
    drag *d = data;
    int64_t n = 3 * d->particles->free_count;
    tw_stokeslets_place(d->points, d->at);

    /* out -= M^-1 (dM/dx . in) w */
    for (int j = 0; j < count; j++) {
        spread(d, in + j * n);
        tw_stokeslets_change(d->points, d->load, d->none, d->in, d->out);
        solve(d, d->fixed, d->out);
        gather(d, -1.0, d->out, out + j * n);
    }
}

/* The symmetric stand-in of K is 0. */
static void drag_add_nothing(void *data, int count, const double *in, double *out)
{
    (void)data;
    (void)count;
    (void)in;
    (void)out;
}

static void drag_add_damping_product(void *data, int count, const double *in, double *out)
{
    drag *d = data;
    int64_t n = 3 * d->particles->free_count;

    /* out += M^-1 in */
    for (int j = 0; j < count; j++) {
        spread(d, in + j * n);
        solve(d, d->fixed, d->in);
        gather(d, 1.0, d->in, out + j * n);
    }
}

static const tw_force_table drag_table = {
    .name = "fluid drag",
    .release = drag_release,
    .traits = drag_traits,
    .complete = drag_complete,
    .add_force = drag_add_force,
    .linearise = drag_linearise,
    .add_product = drag_add_product,
    .add_symmetric_product = drag_add_nothing,
    .add_rest_product = drag_add_product,
    .add_damping_product = drag_add_damping_product,
};

tw_status tw_fluid_drag_create(tw_model *model, tw_force *out, tw_error *error)
{
    if (3 * model->particles.count > TW_FLUID_DENSE_MAX)
        return tw_fail(error, TW_UNSUPPORTED,
                       "a fluid takes particles with inertia up to %d particles, leave inertia out",
                       TW_FLUID_DENSE_MAX / 3);
    drag *d = TW_NEW(drag);
    if (!d) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    tw_status status = tw_fluid_create_points(model, &d->points, error);
    if (status != TW_OK) {
        drag_release(d);
        return status;
    }
    *out = (tw_force){&drag_table, d};
    return TW_OK;
}
