/* What the dispatcher checks: the arguments of a caller on the way in, the outputs on the
 * way out. */
#include <math.h>

#include "base/fail.h"
#include "linalg/vector.h"
#include "phi/phi_internal.h"

/* Sizes of a few hundred vectors of this many entries fit into 64 bits. */
static const int64_t largest_size = INT64_C(1) << 48;

/* Of a basis or a polynomial. Small matrices of this size are as much as an engine handles. */
enum { LARGEST_DIMENSION = 1024 };

/* No engine is better than this. */
static const double least_tolerance = 1e-15;

static bool is_bad_reference(double reference)
{
    return !(reference >= 0) || isinf(reference);
}

/* ---- options and limits ---- */

tw_status tw_phi_check_options(const tw_phi_options *options, tw_error *error)
{
    if ((int)options->engine < 0 || options->engine >= TW_PHI_ENGINE_COUNT)
        return tw_fail(error, TW_INVALID_ARGUMENT, "phi engine %d does not exist",
                       (int)options->engine);
    if (!(options->tolerance >= least_tolerance && options->tolerance < 1))
        return tw_fail(error, TW_INVALID_ARGUMENT, "phi tolerance %g is not in [1e-15, 1)",
                       options->tolerance);

    /* 0 lets the engine choose the pole. */
    bool bad_pole = !(options->pole >= 0) || isinf(options->pole);
    bool bad_dimension = options->max_dimension < 0 || options->max_dimension > LARGEST_DIMENSION;
    if (bad_dimension || options->max_products < 1 || bad_pole)
        return tw_fail(error, TW_INVALID_ARGUMENT, "a phi option is out of range");

    /* Enumerators may come from anywhere. */
    if ((unsigned)options->inner_product > TW_INNER_EUCLIDEAN ||
        (unsigned)options->norm > TW_NORM_DISPLACEMENT)
        return tw_fail(error, TW_INVALID_ARGUMENT, "inner_product or norm does not exist");

    return TW_OK;
}

tw_status tw_phi_check_limits(const tw_phi_limits *limits, tw_error *error)
{
    bool size = limits->size >= 1 && limits->size <= largest_size;
    bool slots = limits->slots >= 1 && limits->slots <= TW_PHI_MAX_SLOTS;
    bool dimension = limits->max_dimension >= 0 && limits->max_dimension <= LARGEST_DIMENSION;
    bool bytes = limits->basis_bytes >= 0 && !isinf(limits->basis_bytes);
    if (!size || !slots || !dimension || !bytes)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "size %lld, slots %d, max_dimension %d or basis_bytes is out of range",
                       (long long)limits->size, limits->slots, limits->max_dimension);

    return TW_OK;
}

/* ---- operators ---- */

/* A bound or a number of bytes: 0 where it is not known. */
static bool is_bad_bound(double bound)
{
    return !(bound >= 0) || isinf(bound);
}

/* What an operator says of itself. */
static tw_status check_promises(const tw_operator *op, tw_error *error)
{
    if ((unsigned)op->symmetry > TW_SKEW)
        return tw_fail(error, TW_INVALID_ARGUMENT, "symmetry %d does not exist", (int)op->symmetry);
    if (is_bad_bound(op->norm) || is_bad_bound(op->bytes_per_product))
        return tw_fail(error, TW_NOT_FINITE,
                       "the norm or bytes_per_product of an operator is negative, NaN or infinite");
    return TW_OK;
}

static tw_status check_mass(const tw_second_order *op, tw_error *error)
{
    if (op->mass && (op->lumped_mass || !op->mass->apply || !op->mass->solve))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "a mass operator needs apply and solve, and excludes lumped masses");

    /* Every lumped mass must be positive and finite. */
    for (int64_t i = 0; op->lumped_mass && i < op->stiffness.space.local_size; i++) {
        double mass = op->lumped_mass[i];
        if (mass > 0 && !isinf(mass)) continue;
        tw_status status = isfinite(mass) ? TW_NOT_POSITIVE_DEFINITE : TW_NOT_FINITE;
        return tw_fail(error, status, "mass %lld is %g", (long long)i, mass);
    }

    return TW_OK;
}

tw_status tw_phi_check_second_order(const tw_phi_workspace *workspace, const tw_second_order *op,
                                    tw_error *error)
{
    int64_t size = op->stiffness.space.local_size;
    if (!workspace->limits.second_order || size != workspace->limits.size)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "a second-order operator of %lld unknowns, a workspace for %lld%s",
                       (long long)size, (long long)workspace->limits.size,
                       workspace->limits.second_order ? "" : " of first order");

    /* Damping of either kind. */
    if (op->damping && (!op->damping->apply || op->damping->space.local_size != size))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "the damping operator has no apply, or another size");
    if (!isfinite(op->rayleigh_mass) || !isfinite(op->rayleigh_stiffness))
        return tw_fail(error, TW_NOT_FINITE, "a Rayleigh coefficient is not finite");

    if (is_bad_bound(op->eigenvalue_max))
        return tw_fail(error, TW_NOT_FINITE, "eigenvalue_max is negative, NaN or infinite");
    TW_TRY(check_promises(&op->stiffness, error));

    return check_mass(op, error);
}

tw_status tw_phi_check_first_order(const tw_phi_workspace *workspace, const tw_operator *op,
                                   tw_error *error)
{
    int64_t size = op->space.local_size;
    if (workspace->limits.second_order || size != workspace->limits.size)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "a first-order operator of %lld entries, a workspace for %lld%s",
                       (long long)size, (long long)workspace->limits.size,
                       workspace->limits.second_order ? " unknowns of second order" : "");

    return check_promises(op, error);
}

/* ---- requests ---- */

/* The counts and pointers of a request. */
static tw_status check_shape(const tw_phi_request *request, tw_error *error)
{
    bool nodes = request->node_count >= 1 && request->node_count <= TW_PHI_MAX_NODES;
    bool order = request->order >= 0 && request->order <= TW_PHI_MAX_ORDER;
    if (!nodes || !order || !request->nodes || !request->vectors || !request->outputs)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "node_count %d or order %d is out of range, or a pointer is NULL",
                       request->node_count, request->order);

    /* Every node has its own output. */
    for (int i = 0; i < request->node_count; i++)
        if (!request->outputs[i])
            return tw_fail(error, TW_INVALID_ARGUMENT, "output %d is NULL", i);

    return TW_OK;
}

tw_status tw_phi_check_request(int64_t size, const tw_phi_request *request, tw_error *error)
{
    TW_TRY(check_shape(request, error));

    /* All numbers must be finite. A NULL vector is zero. */
    if (is_bad_reference(request->reference[0]) || is_bad_reference(request->reference[1]))
        return tw_fail(error, TW_NOT_FINITE, "a reference is negative, NaN or infinite");

    for (int i = 0; i < request->node_count; i++)
        if (!isfinite(request->nodes[i] * request->time))
            return tw_fail(error, TW_NOT_FINITE, "node %d times time is NaN or infinite", i);
    for (int k = 0; k <= request->order; k++)
        if (request->vectors[k] && !tw_vector_is_finite(size, request->vectors[k]))
            return tw_fail(error, TW_NOT_FINITE, "vector %d has a value that is NaN or infinite",
                           k);

    return TW_OK;
}

/* The counts and pointers of a request for functions of A. */
static tw_status check_spectral_shape(const tw_spectral_request *request, tw_error *error)
{
    bool starts = request->start_count >= 1 && request->start_count <= TW_MAX_BLOCK;
    bool outputs = request->output_count >= 1 && request->output_count <= 2 * TW_PHI_MAX_NODES;
    if (!starts || !outputs || !request->outputs || !request->functions)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "start_count %d or output_count %d is out of range", request->start_count,
                       request->output_count);

    for (int i = 0; i < request->output_count; i++)
        if (!request->outputs[i])
            return tw_fail(error, TW_INVALID_ARGUMENT, "output %d is NULL", i);

    return TW_OK;
}

tw_status tw_phi_check_spectral(const tw_phi_workspace *workspace,
                                const tw_spectral_request *request, tw_error *error)
{
    if (!workspace->limits.second_order)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "the workspace was made for first-order operators");
    TW_TRY(check_spectral_shape(request, error));
    if (request->slot < 0 || request->slot >= workspace->limits.slots)
        return tw_fail(error, TW_INVALID_ARGUMENT, "slot %d is not among the workspace's %d",
                       request->slot, workspace->limits.slots);

    /* All numbers must be finite. */
    if (!isfinite(request->time)) return tw_fail(error, TW_NOT_FINITE, "time is not finite");
    for (int i = 0; request->reference && i < request->output_count; i++)
        if (is_bad_reference(request->reference[i]))
            return tw_fail(error, TW_NOT_FINITE, "reference %d is negative, NaN or infinite", i);

    return TW_OK;
}

tw_status tw_phi_check_starts(int64_t size, const tw_spectral_request *request, tw_error *error)
{
    for (int j = 0; j < request->start_count; j++)
        if (request->starts[j] && !tw_vector_is_finite(size, request->starts[j]))
            return tw_fail(error, TW_NOT_FINITE,
                           "start vector %d has a value that is NaN or infinite", j);
    return TW_OK;
}

/* ---- outputs ---- */

static bool has_result(tw_status status)
{
    return status == TW_OK || status == TW_ILL_CONDITIONED;
}

tw_status tw_phi_check_outputs(tw_status status, int count, double *const *outputs, int64_t size,
                               tw_error *error)
{
    for (int i = 0; has_result(status) && i < count; i++)
        if (!tw_vector_is_finite(size, outputs[i]))
            status = tw_fail(error, TW_NOT_FINITE, "output %d overflowed", i);

    /* Without a result the outputs are zero. */
    if (!has_result(status))
        for (int i = 0; i < count; i++) tw_vector_fill(size, 0.0, outputs[i]);

    return status;
}
