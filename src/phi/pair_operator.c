/* A tw_phi_pair (phi_internal.h): products with J, and the inner products in which it
 * is orthogonalised. */
#include <math.h>

#include "base/fail.h"
#include "base/parallel_for.h"
#include "linalg/vector.h"
#include "phi/phi_internal.h"

enum { MAP_BLOCK = 4096 /* entries of a pass that one thread takes at a time */ };

/* x^T K x may fall this far below omega^2 |x|^2 before K counts as singular. The inner product
 * needs the inverse of K. */
static const double smallest_curvature = 1e-13;

/* An x-part below this share of the whole vector is rounding and tells nothing about K. */
static const double negligible_share = 1e-24;

/* A curvature x^T K x or x^T D x below -this share of |x| |K x| is not rounding. */
static const double CURVATURE_ROUNDING = 1e-10;

size_t tw_phi_pair_scratch(int64_t n)
{
    return 3 * (size_t)n;
}

/* ---- products with J ---- */

/* One pass over the entries of a pair. NULL weights mean ones. */
typedef struct pair_job {
    const double *y_x;
    const double *y_v;
    const double *weight;
    const double *force;
    double a;
    double b;
    double *out_x;
    double *out_v;
} pair_job;

/* out_x = (a y_x + b y_v) / weight. */
static void gather_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const pair_job job = *(const pair_job *)context;
    if (job.b == 0)
        for (int64_t i = begin; i < end; i++) job.out_x[i] = job.a * job.y_x[i];
    else
        for (int64_t i = begin; i < end; i++)
            job.out_x[i] = job.a * job.y_x[i] + job.b * job.y_v[i];

    if (job.weight)
        for (int64_t i = begin; i < end; i++) job.out_x[i] /= job.weight[i];
}

/* out_v = force / weight + b y_v, out_x = a y_v; out_v may be force. */
static void scatter_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const pair_job job = *(const pair_job *)context;
    if (job.weight)
        for (int64_t i = begin; i < end; i++)
            job.out_v[i] = job.force[i] / job.weight[i] + job.b * job.y_v[i];
    else
        for (int64_t i = begin; i < end; i++) job.out_v[i] = job.force[i] + job.b * job.y_v[i];

    for (int64_t i = begin; i < end; i++) job.out_x[i] = job.a * job.y_v[i];
}

/* out = K in, both in plain coordinates. */
static tw_status apply_stiffness(tw_phi_pair *pair, const double *in, double *out)
{
    const tw_operator *K = &pair->op->stiffness;
    pair->products++;
    return K->apply(K->context, 1, in, out);
}

/* out = R^-1 K R^-1 in. */
static tw_status apply_scaled_stiffness(tw_phi_pair *pair, const double *in, double *out)
{
    if (!pair->root) return apply_stiffness(pair, in, out);

    tw_vector_divide(pair->n, pair->root, in, pair->scratch[0]);
    tw_status status = apply_stiffness(pair, pair->scratch[0], out);
    if (status == TW_OK) tw_vector_divide(pair->n, pair->root, out, out);
    return status;
}

/* Notes whether x^T y is negative beyond rounding, where y = K x or y = D x: then the energy of an
 * error may grow. */
static tw_status watch_curvature(tw_phi_pair *pair, const double *x, const double *y)
{
    double curvature = 0;
    double x_square = 0;
    double y_square = 0;
    if (!pair->dissipates) return TW_OK;

    TW_TRY(tw_vector_dot(&pair->half, x, y, &curvature));
    if (curvature >= 0) return TW_OK;
    TW_TRY(tw_vector_dot(&pair->half, x, x, &x_square));
    TW_TRY(tw_vector_dot(&pair->half, y, y, &y_square));
    if (curvature < -CURVATURE_ROUNDING * sqrt(x_square) * sqrt(y_square)) pair->dissipates = false;
    return TW_OK;
}

/* force -= D R^-1 y_v for the damping that is not Rayleigh's. Uses scratch[0] and scratch[1]. */
static tw_status subtract_damping(tw_phi_pair *pair, const double *y_v, double *force)
{
    const tw_operator *D = pair->op->damping;
    if (!D) return TW_OK;

    /* v = R^-1 y_v */
    const double *v = y_v;
    if (pair->root) {
        tw_vector_divide(pair->n, pair->root, y_v, pair->scratch[0]);
        v = pair->scratch[0];
    }

    TW_TRY(D->apply(D->context, 1, v, pair->scratch[1]));
    tw_vector_axpy(pair->n, -1.0, pair->scratch[1], force);
    return watch_curvature(pair, v, pair->scratch[1]);
}

/* force = -K (x + beta v) - D v, where x and v are the plain coordinates of y. `force` must not be
 * scratch[0] or scratch[1]. */
static tw_status restoring_force(tw_phi_pair *pair, const double *y, double *force)
{
    pair_job job = {.y_x = y, .y_v = y + pair->n, .weight = pair->root, .out_x = pair->scratch[0]};
    /* scratch[0] = -(x + beta v) */
    job.a = -1.0 / pair->omega;
    job.b = -pair->op->rayleigh_stiffness;
    tw_parallel_for(pair->n, MAP_BLOCK, gather_block, &job);

    TW_TRY(apply_stiffness(pair, pair->scratch[0], force));
    TW_TRY(watch_curvature(pair, pair->scratch[0], force));
    return subtract_damping(pair, y + pair->n, force);
}

/* out = (omega y_v, R M^-1 force - alpha y_v). */
static tw_status accelerate(tw_phi_pair *pair, const double *force, const double *y_v, double *out)
{
    const tw_second_order *op = pair->op;
    pair_job job = {.y_v = y_v, .force = force, .out_x = out, .out_v = out + pair->n};
    job.a = pair->omega;
    job.b = -op->rayleigh_mass;
    job.weight = pair->root ? pair->root : op->lumped_mass;

    /* A consistent mass is divided out first. */
    if (op->mass) {
        TW_TRY(op->mass->solve(op->mass->context, 1, force, job.out_v));
        job.force = job.out_v;
    }
    tw_parallel_for(pair->n, MAP_BLOCK, scatter_block, &job);

    return TW_OK;
}

static tw_status apply_columns(void *context, int count, const double *in, double *out)
{
    tw_phi_pair *pair = context;
    int64_t size = 2 * pair->n;
    for (int j = 0; j < count; j++) {
        const double *y = in + size * j;
        TW_TRY(restoring_force(pair, y, pair->scratch[2]));
        TW_TRY(accelerate(pair, pair->scratch[2], y + pair->n, out + size * j));
    }

    return TW_OK;
}

/* ---- the inner product of a consistent mass, G = (M, M) ---- */

/* out = M^ in: the mass of these coordinates. */
static tw_status apply_mass(const tw_phi_pair *pair, const double *in, double *out)
{
    const tw_mass_operator *mass = pair->op->mass;
    if (mass) return mass->apply(mass->context, 1, in, out);
    tw_vector_copy(pair->n, in, out);
    return TW_OK;
}

/* dual = G u */
static tw_status mass_dual(void *context, const double *u, double *dual)
{
    tw_phi_pair *pair = context;
    TW_TRY(apply_mass(pair, u, dual));
    return apply_mass(pair, u + pair->n, dual + pair->n);
}

/* G J u = (omega M u_v, force - alpha M u_v). It needs no product with M, because M u_v is the dual
 * of u_v, which is known. */
static tw_status mass_apply(void *context, const double *u, const double *dual, double *out,
                            double *dual_out)
{
    tw_phi_pair *pair = context;
    int64_t n = pair->n;
    TW_TRY(restoring_force(pair, u, dual_out + n));
    TW_TRY(accelerate(pair, dual_out + n, u + n, out));

    pair_job job = {
        .y_v = dual + n, .force = dual_out + n, .out_x = dual_out, .out_v = dual_out + n};
    job.a = pair->omega;
    job.b = -pair->op->rayleigh_mass;
    tw_parallel_for(n, MAP_BLOCK, scatter_block, &job);

    return TW_OK;
}

static tw_status mass_square(void *context, const double *u, const double *dual, double noise,
                             double *value)
{
    const tw_phi_pair *pair = context;
    tw_space space = pair->half;
    space.local_size = 2 * pair->n;
    double length = 0;
    TW_TRY(tw_vector_dot(&space, u, dual, value));
    TW_TRY(tw_vector_dot(&space, u, u, &length));

    /* M is definite. Only rounding makes the square negative. */
    if (length <= noise || *value < 0) *value = 0;

    return TW_OK;
}

/* ---- the inner product of the energy, G = (K^/omega^2, M) ----
 *
 * <u, u> is twice the energy, divided by omega^2. Without damping J is skew in it. */

/* dual = G u */
static tw_status energy_dual(void *context, const double *u, double *dual)
{
    tw_phi_pair *pair = context;
    TW_TRY(apply_scaled_stiffness(pair, u, dual));
    tw_vector_scale(pair->n, 1.0 / (pair->omega * pair->omega), dual);
    return apply_mass(pair, u + pair->n, dual + pair->n);
}

/* K^ u_x = omega^2 dual_x is known. The one product is q = K^ u_v; q/omega is the dual of the new
 * x-part. R is divided out of the force -omega dual_x - beta q - D^ u_v already. It is divided by
 * the mass only if that is consistent. */
static tw_status energy_apply(void *context, const double *u, const double *dual, double *out,
                              double *dual_out)
{
    tw_phi_pair *pair = context;
    int64_t n = pair->n;
    double *force = pair->scratch[2];
    double *solved = pair->scratch[1];

    /* q */
    TW_TRY(apply_scaled_stiffness(pair, u + n, dual_out));
    TW_TRY(watch_curvature(pair, u + n, dual_out));

    /* force = -omega dual_x - beta q - D^ u_v */
    tw_vector_fill(n, 0.0, force);
    TW_TRY(subtract_damping(pair, u + n, force));
    if (pair->op->damping && pair->root) tw_vector_divide(n, pair->root, force, force);
    tw_vector_axpy(n, -pair->omega, dual, force);
    tw_vector_axpy(n, -pair->op->rayleigh_stiffness, dual_out, force);

    /* out = (omega u_v, M^-1 force - alpha u_v) */
    const tw_mass_operator *mass = pair->op->mass;
    if (mass) TW_TRY(mass->solve(mass->context, 1, force, solved));
    pair_job job = {.y_v = u + n, .force = mass ? solved : force, .out_x = out, .out_v = out + n};
    job.a = pair->omega;
    job.b = -pair->op->rayleigh_mass;
    tw_parallel_for(n, MAP_BLOCK, scatter_block, &job);

    /* dual_out = (q/omega, force - alpha M u_v) */
    tw_vector_scale(n, 1.0 / pair->omega, dual_out);
    tw_vector_copy(n, mass ? force : out + n, dual_out + n);
    if (mass) tw_vector_axpy(n, -pair->op->rayleigh_mass, dual + n, dual_out + n);

    return TW_OK;
}

/* A direction x with x^T K x <= 0 shows that this is no inner product, however large the
 * v-part is. */
static tw_status energy_square(void *context, const double *u, const double *dual, double noise,
                               double *value)
{
    const tw_phi_pair *pair = context;
    int64_t n = pair->n;
    double curvature = 0;
    double kinetic = 0;
    double x_length = 0;
    double v_length = 0;
    TW_TRY(tw_vector_dot(&pair->half, u, dual, &curvature));
    TW_TRY(tw_vector_dot(&pair->half, u + n, dual + n, &kinetic));
    TW_TRY(tw_vector_dot(&pair->half, u, u, &x_length));
    TW_TRY(tw_vector_dot(&pair->half, u + n, u + n, &v_length));

    /* <u, u>, or zero if u is nothing but noise. */
    bool vanishes = x_length + v_length <= noise;
    *value = vanishes ? 0 : curvature + kinetic;

    /* The x-part shows that K is not positive definite, unless it is rounding itself. */
    bool counts = x_length > noise + negligible_share * v_length;
    bool flat = counts && curvature < smallest_curvature * x_length;

    if (flat || *value < 0) return TW_NOT_POSITIVE_DEFINITE;
    return TW_OK;
}

/* ---- the pair ---- */

/* |x|_M of one half, by the consistent or, in raw coordinates, the lumped mass. */
static tw_status half_norm(const tw_phi_pair *pair, const double *x, double *norm)
{
    double square = 0;
    tw_status status = TW_OK;

    if (pair->op->mass) {
        status = apply_mass(pair, x, pair->scratch[2]);
        if (status == TW_OK) status = tw_vector_dot(&pair->half, x, pair->scratch[2], &square);
    } else {
        status = tw_vector_weighted_dot(&pair->half, pair->op->lumped_mass, x, x, &square);
    }
    *norm = sqrt(fmax(square, 0));

    return status;
}

static tw_status mass_norms(void *context, const double *u, double norms[2])
{
    const tw_phi_pair *pair = context;
    TW_TRY(half_norm(pair, u, &norms[0]));
    return half_norm(pair, u + pair->n, &norms[1]);
}

/* R = M^1/2 of a lumped mass, or NULL for ones. */
static const double *mass_root(const tw_phi_pair *pair, double *root)
{
    if (!pair->op->lumped_mass || pair->inner_product == TW_INNER_EUCLIDEAN) return NULL;
    for (int64_t i = 0; i < pair->n; i++) root[i] = sqrt(pair->op->lumped_mass[i]);
    return root;
}

void tw_phi_pair_bind(tw_phi_pair *pair, const tw_second_order *op,
                      tw_phi_inner_product inner_product, double *root, double *scratch)
{
    int64_t n = op->stiffness.space.local_size;
    *pair = (tw_phi_pair){.op = op,
                          .inner_product = inner_product,
                          .n = n,
                          .half = op->stiffness.space,
                          .omega = 1,
                          .frame.split = n};
    for (int i = 0; i < 3; i++) pair->scratch[i] = scratch + i * n;
    pair->root = mass_root(pair, root);

    /* The inner product in which the Arnoldi engines orthogonalise. */
    if (inner_product == TW_INNER_ENERGY)
        pair->metric = (tw_phi_metric){energy_dual, energy_apply, energy_square, pair};
    else if (op->mass && inner_product == TW_INNER_SCALED)
        pair->metric = (tw_phi_metric){mass_dual, mass_apply, mass_square, pair};
    if (pair->metric.dual) pair->frame.metric = &pair->metric;

    /* The energy decays if K is symmetric and all damping is positive. In raw coordinates the parts
     * do not compare. */
    bool damped = op->damping || op->rayleigh_mass > 0 || op->rayleigh_stiffness > 0;
    bool positive = op->rayleigh_mass >= 0 && op->rayleigh_stiffness >= 0;
    pair->dissipates = damped && positive && op->stiffness.symmetry == TW_SYMMETRIC &&
                       inner_product != TW_INNER_EUCLIDEAN;
    pair->frame.dissipates = &pair->dissipates;

    /* The norms are those of the mass. In scaled coordinates they are Euclidean. */
    if (op->mass || (op->lumped_mass && !pair->root)) {
        pair->frame.norms = mass_norms;
        pair->frame.context = pair;
    }
}

tw_operator tw_phi_pair_operator(tw_phi_pair *pair)
{
    const tw_operator *K = &pair->op->stiffness;
    tw_operator J = {.space = pair->half, .apply = apply_columns, .context = pair};
    J.space.local_size = 2 * pair->n;
    J.bytes_per_product = K->bytes_per_product;

    /* Without damping J is skew in the inner product of the energy. */
    bool undamped =
        !pair->op->damping && pair->op->rayleigh_mass == 0 && pair->op->rayleigh_stiffness == 0;
    if (pair->inner_product == TW_INNER_ENERGY && undamped && K->symmetry == TW_SYMMETRIC)
        J.symmetry = TW_SKEW;

    return J;
}
