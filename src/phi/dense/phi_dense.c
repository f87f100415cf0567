/* The dense engine: the reference for the others, and the engine of small problems.
 *
 * The operator is written out by applying it to unit vectors. Symmetric problems (a symmetric
 * first-order operator, or a second-order one with symmetric K and at most Rayleigh damping) go
 * through the eigendecomposition and scalar functions. All others go through the exponential of an
 * augmented matrix, for second order on
 *     J = [[0, theta], [-A^/theta, -B^]],  A^ = L^-1 K L^-T, B^ = L^-1 D L^-T, M = L L^T,
 * in the coordinates (theta L^T x, L^T v), theta^2 ~ |A^|, whose Euclidean norm is the mass norm of
 * each part. */
#include "phi/dense/phi_dense.h"
#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/dense.h"

enum {
    LARGEST = 2000,    /* order above which a dense matrix is not a sensible answer */
    LARGEST_AUTO = 512 /* order above which it is not worth the memory for `auto` */
};

int tw_dense_largest(const tw_phi_workspace *workspace)
{
    return workspace->limits.options.engine == TW_PHI_DENSE ? LARGEST : LARGEST_AUTO;
}

/* ---- memory ---- */

static void release(tw_phi_workspace *workspace)
{
    tw_dense_memory *memory = workspace->memory[TW_PHI_DENSE];
    if (!memory) return;

    tw_release(memory->factor);
    tw_release(memory->eigen);
    tw_release(memory->vectors);
    tw_release(memory->columns);
    tw_release(memory->modal);
    tw_release(memory->general);
    for (int i = 0; i < TW_DENSE_BASES; i++) tw_release(memory->bases[i].X);

    tw_release(memory);
    workspace->memory[TW_PHI_DENSE] = NULL;
}

/* X, lambda and starts of one basis are parts of one array. */
static bool reserve_basis(tw_dense_basis *basis, int n)
{
    size_t m = (size_t)n;
    basis->n = n;
    basis->X = TW_NEW_ARRAY(m * m + m + TW_MAX_BLOCK * m, double);
    if (!basis->X) return false;

    basis->lambda = basis->X + m * m;
    basis->starts = basis->lambda + m;
    return true;
}

/* Allocates the arrays; false if one of them failed. */
static bool reserve_arrays(tw_dense_memory *memory, const tw_phi_workspace *workspace)
{
    size_t n = (size_t)memory->n;
    size_t d = (size_t)workspace->vector_size;
    size_t general = 1;
    if (memory->general_order) general = d * d + tw_dense_general_scratch((int)d);

    /* The mass factor, and what both halves need. */
    memory->factor = TW_NEW_ARRAY(workspace->limits.second_order ? n * n : 1, double);
    memory->eigen = TW_NEW_ARRAY(tw_dense_eigen_scratch((int)n), double);
    memory->vectors = TW_NEW_ARRAY((TW_PHI_MAX_ORDER + 2) * d, double);
    memory->columns = TW_NEW_ARRAY(TW_MAX_BLOCK * n, double);
    memory->modal = TW_NEW_ARRAY(tw_dense_modal_scratch((int)n), double);
    memory->general = TW_NEW_ARRAY(general, double);

    /* One basis per slot, and one for calls without a slot. */
    bool complete = memory->factor && memory->eigen && memory->vectors && memory->columns &&
                    memory->modal && memory->general;
    for (int i = 0; i < memory->basis_count && complete; i++)
        complete = reserve_basis(&memory->bases[i], (int)n);
    return complete;
}

static tw_status reserve(tw_phi_workspace *workspace, tw_error *error)
{
    const tw_phi_limits *limits = &workspace->limits;
    int largest = tw_dense_largest(workspace);

    /* A problem that is too large is an error only for someone who asked for this engine. */
    if (limits->size > largest) {
        if (largest != LARGEST) return TW_OK;
        return tw_fail(error, TW_UNSUPPORTED,
                       "phi engine dense stops at order %d, this problem has %lld", LARGEST,
                       (long long)limits->size);
    }

    tw_dense_memory *memory = TW_NEW(tw_dense_memory);
    if (!memory) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    workspace->memory[TW_PHI_DENSE] = memory;

    /* Twice the unknowns may be too many for the general half. */
    int d = (int)workspace->vector_size;
    memory->n = (int)limits->size;
    memory->general_order = d <= largest ? d : 0;
    memory->basis_count = limits->slots + 1;
    if (!reserve_arrays(memory, workspace)) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    return TW_OK;
}

/* ---- calls ---- */

static tw_status check(const tw_phi_workspace *workspace, const tw_space *space, tw_error *error)
{
    if (!workspace->memory[TW_PHI_DENSE])
        return tw_fail(error, TW_UNSUPPORTED,
                       "phi engine dense: no memory is reserved for order %lld (at most %d)",
                       (long long)workspace->limits.size, LARGEST_AUTO);
    if (space->reduce)
        return tw_fail(error, TW_UNSUPPORTED, "phi engine dense: the operator is distributed");
    return TW_OK;
}

static tw_status first_order(tw_phi_workspace *workspace, const tw_operator *op,
                             const tw_phi_request *request, tw_phi_statistics *statistics,
                             tw_error *error)
{
    TW_TRY(check(workspace, &op->space, error));

    if (op->symmetry == TW_SYMMETRIC)
        return tw_dense_symmetric_first_order(workspace, op, request, statistics, error);
    return tw_dense_general_first_order(workspace, op, request, statistics, error);
}

static tw_status second_order(tw_phi_workspace *workspace, const tw_second_order *op,
                              const tw_phi_request *request, tw_phi_statistics *statistics,
                              tw_error *error)
{
    TW_TRY(check(workspace, &op->stiffness.space, error));

    /* Rayleigh damping shares the eigenvectors of A, a damping operator does not. */
    if (op->stiffness.symmetry == TW_SYMMETRIC && !op->damping)
        return tw_dense_symmetric_second_order(workspace, op, request, statistics, error);
    return tw_dense_general_second_order(workspace, op, request, statistics, error);
}

static tw_status spectral(tw_phi_workspace *workspace, const tw_second_order *op,
                          const tw_spectral_request *request, tw_phi_statistics *statistics,
                          tw_error *error)
{
    TW_TRY(check(workspace, &op->stiffness.space, error));
    return tw_dense_spectral(workspace, op, request, statistics, error);
}

const tw_phi_engine_table tw_phi_dense = {.reserve = reserve,
                                          .release = release,
                                          .first_order = first_order,
                                          .second_order = second_order,
                                          .spectral = spectral,
                                          .reuse = tw_dense_reuse};
