/* Products with J, and the inner products in which it is orthogonalised. */
#include <math.h>

#include "linalg/vector.h"
#include "phi/second_order_pair.h"

/* x^T K x may fall this far below omega^2 |x|^2 before K counts as singular: the inner product needs its inverse. */
static const double SMALLEST_CURVATURE = 1e-13;
/* An x-part below this share of the whole vector is rounding and says nothing about K. */
static const double NEGLIGIBLE_SHARE = 1e-24;

size_t tw_phi_pair_scratch(int64_t n)
{
    return 3 * (size_t)n;
}

/* out = K^ without the mass solve: R^-1 K R^-1 in. `in` may be scratch[0]. */
static tw_status apply_stiffness(tw_phi_pair *pair, const double *in, double *out)
{
    const double *x = in;
    if (pair->root) {
        tw_vector_divide(pair->n, pair->root, in, pair->scratch[0]);
        x = pair->scratch[0];
    }
    const tw_operator *K = &pair->op->stiffness;
    tw_status status = K->apply(K->context, 1, x, out);
    pair->products++;
    if (status == TW_OK && pair->root) tw_vector_divide(pair->n, pair->root, out, out);
    return status;
}

/* force -= R^-1 D R^-1 y_v for the damping that is not Rayleigh's. */
static tw_status subtract_damping(tw_phi_pair *pair, const double *y_v, double *force)
{
    const tw_operator *D = pair->op->damping;
    if (!D) return TW_OK;
    const double *v = y_v;
    if (pair->root) {
        tw_vector_divide(pair->n, pair->root, y_v, pair->scratch[0]);
        v = pair->scratch[0];
    }
    tw_status status = D->apply(D->context, 1, v, pair->scratch[1]);
    if (status) return status;
    if (pair->root) tw_vector_divide(pair->n, pair->root, pair->scratch[1], pair->scratch[1]);
    tw_vector_axpy(pair->n, -1.0, pair->scratch[1], force);
    return TW_OK;
}

/* out = R M^-1 R force - alpha y_v: the acceleration that a force in these coordinates causes. `out` is not `force`. */
static tw_status accelerate(tw_phi_pair *pair, const double *force, const double *y_v, double *out)
{
    const tw_second_order *op = pair->op;
    if (op->mass) {
        tw_status status = op->mass->solve(op->mass->context, 1, force, out);
        if (status) return status;
    } else if (op->lumped_mass && !pair->root) {
        tw_vector_divide(pair->n, op->lumped_mass, force, out);
    } else {
        tw_vector_copy(pair->n, force, out);
    }
    if (op->rayleigh_mass != 0) tw_vector_axpy(pair->n, -op->rayleigh_mass, y_v, out);
    return TW_OK;
}

/* force = -R^-1 [K (x + beta v) + D v], from y. */
static tw_status restoring_force(tw_phi_pair *pair, const double *y, double *force)
{
    int64_t n = pair->n;
    double *x = pair->scratch[0];
    tw_vector_copy(n, y, x);
    tw_vector_axpby(n, -pair->op->rayleigh_stiffness, y + n, -1.0 / pair->omega, x);
    tw_status status = apply_stiffness(pair, x, force);
    return status ? status : subtract_damping(pair, y + n, force);
}

static tw_status apply_columns(void *context, int count, const double *in, double *out)
{
    tw_phi_pair *pair = context;
    int64_t n = pair->n;
    for (int j = 0; j < count; j++) {
        const double *y = in + 2 * n * j;
        double *result = out + 2 * n * j;
        tw_status status = restoring_force(pair, y, pair->scratch[2]);
        if (status == TW_OK) status = accelerate(pair, pair->scratch[2], y + n, result + n);
        if (status) return status;
        tw_vector_copy(n, y + n, result);
        if (pair->omega != 1) tw_vector_scale(n, pair->omega, result);
    }
    return TW_OK;
}

/* out = M^ in: the mass of these coordinates. */
static tw_status apply_mass(const tw_phi_pair *pair, const double *in, double *out)
{
    const tw_mass_operator *mass = pair->op->mass;
    if (mass) return mass->apply(mass->context, 1, in, out);
    tw_vector_copy(pair->n, in, out);
    return TW_OK;
}

/* G = (M, M): consistent mass. */
static tw_status mass_dual(void *context, const double *u, double *dual)
{
    tw_phi_pair *pair = context;
    tw_status status = apply_mass(pair, u, dual);
    return status ? status : apply_mass(pair, u + pair->n, dual + pair->n);
}

/* G J u = (omega M u_v, force - alpha M u_v): no product with M, since M u_v is carried along. */
static tw_status mass_apply(void *context, const double *u, const double *dual, double *out, double *dual_out)
{
    tw_phi_pair *pair = context;
    int64_t n = pair->n;
    tw_status status = restoring_force(pair, u, dual_out + n);
    if (status == TW_OK) status = accelerate(pair, dual_out + n, u + n, out + n);
    if (status) return status;
    tw_vector_axpy(n, -pair->op->rayleigh_mass, dual + n, dual_out + n);
    tw_vector_copy(n, u + n, out);
    tw_vector_scale(n, pair->omega, out);
    tw_vector_copy(n, dual + n, dual_out);
    tw_vector_scale(n, pair->omega, dual_out);
    return TW_OK;
}

static tw_status mass_square(void *context, const double *u, const double *dual, double noise, double *value)
{
    const tw_phi_pair *pair = context;
    tw_space space = pair->half;
    space.local_size = 2 * pair->n;
    double length = 0;
    tw_status status = tw_vector_dot(&space, u, dual, value);
    if (status == TW_OK) status = tw_vector_dot(&space, u, u, &length);
    if (status) return status;
    if (length <= noise || *value < 0) *value = 0; /* M is definite: only rounding says otherwise */
    return TW_OK;
}

/* G = (K^/omega^2, M): twice the energy, up to omega^2. J is skew in it when undamped. */
static tw_status energy_dual(void *context, const double *u, double *dual)
{
    tw_phi_pair *pair = context;
    tw_status status = apply_stiffness(pair, u, dual);
    tw_vector_scale(pair->n, 1.0 / (pair->omega * pair->omega), dual);
    return status ? status : apply_mass(pair, u + pair->n, dual + pair->n);
}

/* K^ u_x = omega^2 dual_x is known; the one product is q = K^ u_v, the dual of the new x-part being q/omega. */
static tw_status energy_apply(void *context, const double *u, const double *dual, double *out, double *dual_out)
{
    tw_phi_pair *pair = context;
    int64_t n = pair->n;
    double *force = dual_out + n;
    tw_status status = apply_stiffness(pair, u + n, dual_out);
    if (status) return status;
    tw_vector_copy(n, dual, force);
    tw_vector_axpby(n, -pair->op->rayleigh_stiffness, dual_out, -pair->omega, force);
    status = subtract_damping(pair, u + n, force);
    if (status == TW_OK) status = accelerate(pair, force, u + n, out + n);
    if (status) return status;
    tw_vector_axpy(n, -pair->op->rayleigh_mass, dual + n, force);
    tw_vector_scale(n, 1.0 / pair->omega, dual_out);
    tw_vector_copy(n, u + n, out);
    tw_vector_scale(n, pair->omega, out);
    return TW_OK;
}

/* A direction without positive curvature of its own refutes the inner product, however large the v-part beside it. */
static tw_status energy_square(void *context, const double *u, const double *dual, double noise, double *value)
{
    const tw_phi_pair *pair = context;
    int64_t n = pair->n;
    double curvature = 0, kinetic = 0, x_length = 0, v_length = 0;
    tw_status status = tw_vector_dot(&pair->half, u, dual, &curvature);
    if (status == TW_OK) status = tw_vector_dot(&pair->half, u + n, dual + n, &kinetic);
    if (status == TW_OK) status = tw_vector_dot(&pair->half, u, u, &x_length);
    if (status == TW_OK) status = tw_vector_dot(&pair->half, u + n, u + n, &v_length);
    if (status) return status;
    bool vanishes = x_length + v_length <= noise, counts = x_length > noise + NEGLIGIBLE_SHARE * v_length;
    *value = vanishes ? 0 : curvature + kinetic;
    return (counts && curvature < SMALLEST_CURVATURE * x_length) || *value < 0 ? TW_NOT_POSITIVE_DEFINITE : TW_OK;
}

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
    tw_status status = half_norm(pair, u, &norms[0]);
    return status ? status : half_norm(pair, u + pair->n, &norms[1]);
}

static const double *mass_root(const tw_phi_pair *pair, double *root)
{
    if (!pair->op->lumped_mass || pair->inner_product == TW_INNER_EUCLIDEAN) return NULL;
    for (int64_t i = 0; i < pair->n; i++) root[i] = sqrt(pair->op->lumped_mass[i]);
    return root;
}

void tw_phi_pair_bind(tw_phi_pair *pair, const tw_second_order *op, tw_phi_inner_product inner_product, double *root,
                      double *scratch)
{
    int64_t n = op->stiffness.space.local_size;
    *pair = (tw_phi_pair){
        .op = op, .inner_product = inner_product, .n = n, .half = op->stiffness.space, .omega = 1, .frame.split = n};
    for (int i = 0; i < 3; i++) pair->scratch[i] = scratch + i * n;
    pair->root = mass_root(pair, root);
    if (inner_product == TW_INNER_ENERGY)
        pair->metric = (tw_phi_metric){energy_dual, energy_apply, energy_square, pair};
    else if (op->mass && inner_product == TW_INNER_SCALED)
        pair->metric = (tw_phi_metric){mass_dual, mass_apply, mass_square, pair};
    if (pair->metric.dual) pair->frame.metric = &pair->metric;
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
    bool undamped = !pair->op->damping && pair->op->rayleigh_mass == 0 && pair->op->rayleigh_stiffness == 0;
    if (pair->inner_product == TW_INNER_ENERGY && undamped && K->symmetry == TW_SYMMETRIC) J.symmetry = TW_SKEW;
    J.bytes_per_product = K->bytes_per_product;
    return J;
}
