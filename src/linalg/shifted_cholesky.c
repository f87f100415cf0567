/* M + gamma K by Cholesky, refactored only when it must be. */
#include <math.h>
#include <stdbool.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/cholesky_internal.h"

/* Two shifts that differ by less than this, relatively, are the same: one of them may have come
 * through a square root. */
static const double SAME_GAMMA = 1e-12;

struct tw_shifted_cholesky {
    tw_cholesky *factor;
    const double *lumped_mass;
    double gamma; /* of the factor held; 0 if there is none */
    tw_shifted_solver view;
};

static tw_status factor_shifted(void *context, double gamma)
{
    tw_shifted_cholesky *solver = context;
    if (!(gamma > 0) || !isfinite(gamma)) return TW_INVALID_ARGUMENT;
    if (fabs(solver->gamma - gamma) <= SAME_GAMMA * gamma) return TW_OK;

    /* The factor is lost if the factorisation fails. */
    solver->gamma = 0;
    tw_status status = tw_cholesky_factor(solver->factor, 1.0, solver->lumped_mass, gamma);
    if (!status) solver->gamma = gamma;
    return status;
}

static tw_status solve_shifted(void *context, int count, const double *in, double *out)
{
    tw_shifted_cholesky *solver = context;
    return tw_cholesky_solve(solver->factor, count, in, out);
}

tw_status tw_shifted_cholesky_create(const tw_sparse *stiffness, const tw_sparse *mass_matrix,
                                     const double *lumped_mass, tw_shifted_cholesky **out,
                                     tw_error *error)
{
    if (!out) return tw_fail(error, TW_INVALID_ARGUMENT, "shifted Cholesky: nowhere to put it");
    *out = NULL;
    if (mass_matrix && lumped_mass)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "shifted Cholesky: both a mass matrix and lumped masses are given");

    tw_shifted_cholesky *solver = TW_NEW(tw_shifted_cholesky);
    if (!solver) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    tw_status status = tw_cholesky_create(stiffness, mass_matrix, &solver->factor, error);
    if (status) {
        tw_shifted_cholesky_free(solver);
        return status;
    }

    /* What phi-engines and implicit schemes see of the solver. */
    solver->lumped_mass = lumped_mass;
    solver->view = (tw_shifted_solver){.context = solver,
                                       .factor = factor_shifted,
                                       .solve = solve_shifted,
                                       .factor_flops = solver->factor->counts.factor_flops,
                                       .solve_bytes = solver->factor->counts.solve_bytes,
                                       .factorisations = &solver->factor->counts.factorisations};
    *out = solver;
    return TW_OK;
}

void tw_shifted_cholesky_invalidate(tw_shifted_cholesky *solver)
{
    if (!solver) return;
    solver->gamma = 0;
}

const tw_shifted_solver *tw_shifted_cholesky_view(const tw_shifted_cholesky *solver)
{
    if (!solver) return NULL;
    return &solver->view;
}

tw_batch_cholesky *tw_shifted_cholesky_batches(const tw_shifted_cholesky *solver)
{
    if (!solver) return NULL;
    return solver->factor->batches;
}

double tw_shifted_cholesky_gamma(const tw_shifted_cholesky *solver)
{
    if (!solver) return 0;
    return solver->gamma;
}

tw_cholesky_counts tw_shifted_cholesky_counts(const tw_shifted_cholesky *solver)
{
    if (!solver) return (tw_cholesky_counts){0};
    return tw_cholesky_counts_now(solver->factor);
}

void tw_shifted_cholesky_free(tw_shifted_cholesky *solver)
{
    if (!solver) return;
    tw_cholesky_free(solver->factor);
    tw_release(solver);
}
