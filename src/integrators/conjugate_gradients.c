#include "integrators/conjugate_gradients.h"

#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/dense.h"
#include "linalg/vector.h"

enum { VECTORS = 5 };

struct tw_conjugate_gradients {
    tw_system *system;
    double g;
    double *
        inverse; /* block-diagonal preconditioner: block x block per block row; NULL without a matrix */
    int block;
    double *r, *z, *p, *q, *force;
    double *storage;
};

tw_status tw_conjugate_gradients_create(tw_system *system, tw_conjugate_gradients **out,
                                        tw_error *error)
{
    *out = NULL;
    tw_conjugate_gradients *gradients = TW_NEW(tw_conjugate_gradients);
    if (!gradients) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    gradients->system = system;
    gradients->storage = TW_NEW_ARRAY(VECTORS * system->n, double);
    double **vectors[VECTORS] = {&gradients->r, &gradients->z, &gradients->p, &gradients->q,
                                 &gradients->force};
    for (int i = 0; i < VECTORS && gradients->storage; i++)
        *vectors[i] = gradients->storage + i * system->n;
    const tw_sparse *matrix = system->second.stiffness_matrix;
    gradients->block = matrix ? tw_sparse_block(matrix) : 1;
    if (matrix) gradients->inverse = TW_NEW_ARRAY(system->n * gradients->block, double);
    if (!gradients->storage || (matrix && !gradients->inverse)) {
        tw_conjugate_gradients_free(gradients);
        return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    }
    *out = gradients;
    return TW_OK;
}

void tw_conjugate_gradients_free(tw_conjugate_gradients *gradients)
{
    if (!gradients) return;
    tw_release(gradients->storage);
    tw_release(gradients->inverse);
    tw_release(gradients);
}

/* The inverse of one diagonal block of M + g K; a block that is not definite falls back to its mass. */
static tw_status invert_block(tw_conjugate_gradients *gradients, int64_t row, const double *values)
{
    int b = gradients->block, pivots[3];
    double *inverse = gradients->inverse + row * b * b, copy[9] = {0};
    const double *mass = gradients->system->second.lumped_mass;
    for (int i = 0; i < b * b; i++) {
        copy[i] = gradients->g * values[i];
        inverse[i] = i % (b + 1) == 0;
    }
    for (int i = 0; i < b; i++) copy[i * (b + 1)] += mass ? mass[row * b + i] : 1.0;
    double kept[9];
    for (int i = 0; i < b * b; i++) kept[i] = copy[i];
    if (tw_dense_cholesky(b, kept) != TW_OK) {
        for (int i = 0; i < b; i++) inverse[i * (b + 1)] = 1.0 / (mass ? mass[row * b + i] : 1.0);
        return TW_OK;
    }
    return tw_dense_solve(b, copy, b, inverse, pivots);
}

tw_status tw_conjugate_gradients_prepare(tw_conjugate_gradients *gradients, double g)
{
    tw_system *system = gradients->system;
    gradients->g = g;
    if (!gradients->inverse) return TW_OK;
    tw_status status = tw_system_assemble(system);
    const tw_sparse *matrix = system->second.stiffness_matrix;
    int64_t rows = system->n / gradients->block;
    for (int64_t row = 0; row < rows && status == TW_OK; row++) {
        static const double zero[9] = {0};
        int64_t at = tw_sparse_find(matrix, row, row);
        const double *values =
            at < 0 ? zero
                   : tw_sparse_values_const(matrix) + at * gradients->block * gradients->block;
        status = invert_block(gradients, row, values);
    }
    return status;
}

static tw_status precondition(tw_conjugate_gradients *gradients, const double *in, double *out)
{
    tw_system *system = gradients->system;
    if (!gradients->inverse) return tw_system_mass_solve(system, in, out);
    int b = gradients->block;
    for (int64_t row = 0; row < system->n / b; row++)
        for (int i = 0; i < b; i++) {
            double sum = 0;
            for (int j = 0; j < b; j++)
                sum += gradients->inverse[row * b * b + j * b + i] * in[row * b + j];
            out[row * b + i] = sum;
        }
    return TW_OK;
}

/* out = (M + g K) in. */
static tw_status apply(tw_conjugate_gradients *gradients, const double *in, double *out)
{
    tw_system *system = gradients->system;
    tw_status status = tw_system_stiffness(system, 1, in, gradients->force);
    if (status == TW_OK) status = tw_system_mass(system, in, out);
    tw_vector_axpy(system->n, gradients->g, gradients->force, out);
    return status;
}

tw_status tw_conjugate_gradients_solve(tw_conjugate_gradients *gradients, const double *in,
                                       double *out)
{
    tw_system *system = gradients->system;
    const tw_space *space = &system->second.space;
    int64_t n = system->n;
    double rho = 0, rho_start = 0, curvature = 0;
    tw_vector_fill(n, 0.0, out);
    tw_vector_copy(n, in, gradients->r);
    tw_status status = precondition(gradients, gradients->r, gradients->z);
    if (status == TW_OK) status = tw_vector_dot(space, gradients->r, gradients->z, &rho);
    tw_vector_copy(n, gradients->z, gradients->p);
    rho_start = rho;
    system->counts->solves++;
    for (int64_t iteration = 0; status == TW_OK && iteration < 10 * n; iteration++) {
        if (!(rho > 1e-24 * rho_start)) return rho >= 0 ? TW_OK : TW_NOT_POSITIVE_DEFINITE;
        status = apply(gradients, gradients->p, gradients->q);
        if (status == TW_OK) status = tw_vector_dot(space, gradients->p, gradients->q, &curvature);
        if (status) return status;
        if (!(curvature > 0)) return isnan(curvature) ? TW_NOT_FINITE : TW_NOT_POSITIVE_DEFINITE;
        tw_vector_axpy(n, rho / curvature, gradients->p, out);
        tw_vector_axpy(n, -rho / curvature, gradients->q, gradients->r);
        status = precondition(gradients, gradients->r, gradients->z);
        double rho_old = rho;
        if (status == TW_OK) status = tw_vector_dot(space, gradients->r, gradients->z, &rho);
        tw_vector_axpby(n, 1.0, gradients->z, rho / rho_old, gradients->p);
    }
    return status ? status : TW_NOT_CONVERGED;
}
