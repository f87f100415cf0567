#include "integrators/conjugate_gradients.h"

#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/dense.h"
#include "linalg/vector.h"

enum {
    VECTORS = 5,
    LARGEST_BLOCK = 3,
    ITERATIONS_PER_UNKNOWN = 10 /* N would do without rounding; far more means that it stagnates */
};

/* rho = r^T P^-1 r is a square: it falls by 1e-24 when the residual falls by 1e-12. */
static const double rho_reduction = 1e-24;

struct tw_conjugate_gradients {
    tw_system *system;
    double g;
    double *inverse; /* of the diagonal blocks, block x block values each; NULL without a matrix */
    int block;
    double *r;
    double *z;
    double *p;
    double *q;
    double *force;
    double *storage;
};

tw_status tw_conjugate_gradients_create(tw_system *system, tw_conjugate_gradients **out,
                                        tw_error *error)
{
    *out = NULL;
    tw_conjugate_gradients *gradients = TW_NEW(tw_conjugate_gradients);
    if (!gradients) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* One allocation holds the five vectors. */
    gradients->system = system;
    gradients->storage = TW_NEW_ARRAY(VECTORS * system->n, double);
    double **vectors[VECTORS] = {&gradients->r, &gradients->z, &gradients->p, &gradients->q,
                                 &gradients->force};
    for (int i = 0; i < VECTORS && gradients->storage; i++)
        *vectors[i] = gradients->storage + i * system->n;

    /* The preconditioner inverts the diagonal blocks of an assembled matrix. */
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

/* ---- the preconditioner ---- */

/* Inverts one diagonal block of M + g K. A block that is not positive definite falls back to
 * its mass. */
static tw_status invert_block(tw_conjugate_gradients *gradients, int64_t row, const double *values)
{
    int b = gradients->block;
    const double *lumped = gradients->system->second.lumped_mass;
    double mass[LARGEST_BLOCK];
    for (int i = 0; i < b; i++) mass[i] = lumped ? lumped[row * b + i] : 1.0;

    /* matrix = g K + M; inverse = I, the right-hand sides. */
    double matrix[LARGEST_BLOCK * LARGEST_BLOCK] = {0};
    double *inverse = gradients->inverse + row * b * b;
    for (int i = 0; i < b * b; i++) {
        matrix[i] = gradients->g * values[i];
        inverse[i] = i % (b + 1) == 0;
    }
    for (int i = 0; i < b; i++) matrix[i * (b + 1)] += mass[i];

    /* Cholesky tells whether the block is definite; it overwrites its argument. */
    double factor[LARGEST_BLOCK * LARGEST_BLOCK];
    for (int i = 0; i < b * b; i++) factor[i] = matrix[i];
    if (tw_dense_cholesky(b, factor) != TW_OK) {
        for (int i = 0; i < b; i++) inverse[i * (b + 1)] = 1.0 / mass[i];
        return TW_OK;
    }

    int pivots[LARGEST_BLOCK];
    return tw_dense_solve(b, matrix, b, inverse, pivots);
}

tw_status tw_conjugate_gradients_prepare(tw_conjugate_gradients *gradients, double g)
{
    static const double zero[LARGEST_BLOCK * LARGEST_BLOCK] = {0};
    tw_system *system = gradients->system;
    int b = gradients->block;
    gradients->g = g;
    if (!gradients->inverse) return TW_OK;

    /* A diagonal block that is not in the pattern is zero. */
    TW_TRY(tw_system_assemble(system));
    const tw_sparse *matrix = system->second.stiffness_matrix;
    for (int64_t row = 0; row < system->n / b; row++) {
        int64_t at = tw_sparse_find(matrix, row, row);
        const double *values = zero;
        if (at >= 0) values = tw_sparse_values_const(matrix) + at * b * b;
        TW_TRY(invert_block(gradients, row, values));
    }
    return TW_OK;
}

/* out = P^-1 in */
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

/* ---- the iteration ---- */

/* out = (M + g K) in. */
static tw_status apply(tw_conjugate_gradients *gradients, const double *in, double *out)
{
    tw_system *system = gradients->system;
    TW_TRY(tw_system_stiffness(system, 1, in, gradients->force));
    TW_TRY(tw_system_mass(system, in, out));
    tw_vector_axpy(system->n, gradients->g, gradients->force, out);
    return TW_OK;
}

/* One iteration: a step of the length that minimises along p, then the next direction p. */
static tw_status iterate(tw_conjugate_gradients *gradients, double *rho, double *out)
{
    const tw_space *space = &gradients->system->second.space;
    int64_t n = gradients->system->n;

    /* q = (M + g K) p; the curvature p^T q is positive for a definite matrix. */
    double curvature = 0;
    TW_TRY(apply(gradients, gradients->p, gradients->q));
    TW_TRY(tw_vector_dot(space, gradients->p, gradients->q, &curvature));
    if (!(curvature > 0)) return isnan(curvature) ? TW_NOT_FINITE : TW_NOT_POSITIVE_DEFINITE;

    /* The solution and its residual r. */
    tw_vector_axpy(n, *rho / curvature, gradients->p, out);
    tw_vector_axpy(n, -*rho / curvature, gradients->q, gradients->r);

    /* p = z + (rho / rho_old) p with z = P^-1 r */
    double rho_old = *rho;
    TW_TRY(precondition(gradients, gradients->r, gradients->z));
    TW_TRY(tw_vector_dot(space, gradients->r, gradients->z, rho));
    tw_vector_axpby(n, 1.0, gradients->z, *rho / rho_old, gradients->p);
    return TW_OK;
}

tw_status tw_conjugate_gradients_solve(tw_conjugate_gradients *gradients, const double *in,
                                       double *out)
{
    tw_system *system = gradients->system;
    int64_t n = system->n;
    system->counts->solves++;

    /* Start from zero: r = in, z = p = P^-1 r. */
    double rho = 0;
    tw_vector_fill(n, 0.0, out);
    tw_vector_copy(n, in, gradients->r);
    TW_TRY(precondition(gradients, gradients->r, gradients->z));
    TW_TRY(tw_vector_dot(&system->second.space, gradients->r, gradients->z, &rho));
    tw_vector_copy(n, gradients->z, gradients->p);

    /* Iterate until rho has fallen enough. */
    double rho_start = rho;
    for (int64_t iteration = 0; iteration < ITERATIONS_PER_UNKNOWN * n; iteration++) {
        if (!(rho > rho_reduction * rho_start)) return rho >= 0 ? TW_OK : TW_NOT_POSITIVE_DEFINITE;
        TW_TRY(iterate(gradients, &rho, out));
    }
    return TW_NOT_CONVERGED;
}
