#include "integrators/conjugate_gradients.h"

#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/simd.h"
#include "linalg/vector.h"

enum {
    VECTORS = 5,
    LARGEST_BLOCK = 3,
    ITERATIONS_PER_UNKNOWN = 10 /* N would do without rounding; far more means that it stagnates */
};

struct tw_conjugate_gradients {
    tw_system *system;
    double g;
    double *inverse; /* of the diagonal blocks, block x block values each; NULL without a matrix */
    int64_t *diagonal; /* where the diagonal blocks stand in the matrix; -1: not in the pattern */
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
    int64_t rows = system->n / gradients->block;
    if (matrix) {
        gradients->inverse = TW_NEW_ARRAY(system->n * gradients->block, double);
        gradients->diagonal = TW_NEW_ARRAY(rows, int64_t);
    }
    if (!gradients->storage || (matrix && (!gradients->inverse || !gradients->diagonal))) {
        tw_conjugate_gradients_free(gradients);
        return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    }
    for (int64_t row = 0; matrix && row < rows; row++)
        gradients->diagonal[row] = tw_sparse_find(matrix, row, row);
    *out = gradients;
    return TW_OK;
}

void tw_conjugate_gradients_free(tw_conjugate_gradients *gradients)
{
    if (!gradients) return;
    tw_release(gradients->storage);
    tw_release(gradients->inverse);
    tw_release(gradients->diagonal);
    tw_release(gradients);
}

/* ---- the preconditioner ---- */

/* inverse = (L L^T)^-1 of a block of at most three rows. It is called for every particle in every
 * iteration of Newton, where a call of LAPACK takes ten times as long. False: not definite. */
static bool invert_definite(int b, const double *matrix, double *inverse)
{
    /* L, by rows. */
    double L[LARGEST_BLOCK][LARGEST_BLOCK];
    for (int i = 0; i < b; i++)
        for (int j = 0; j <= i; j++) {
            double sum = matrix[i * b + j];
            for (int k = 0; k < j; k++) sum -= L[i][k] * L[j][k];
            if (i == j && !(sum > 0)) return false;
            L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
        }

    for (int column = 0; column < b; column++) {
        /* L y = e_column, */
        double y[LARGEST_BLOCK];
        for (int i = 0; i < b; i++) {
            double sum = i == column;
            for (int k = 0; k < i; k++) sum -= L[i][k] * y[k];
            y[i] = sum / L[i][i];
        }

        /* then L^T x = y. */
        double *x = inverse + column * b;
        for (int i = b - 1; i >= 0; i--) {
            double sum = y[i];
            for (int k = i + 1; k < b; k++) sum -= L[k][i] * x[k];
            x[i] = sum / L[i][i];
        }
    }
    return true;
}

/* Inverts one diagonal block of M + g K. A block that is not positive definite falls back to
 * its mass. */
static void invert_block(tw_conjugate_gradients *gradients, int64_t row, const double *values)
{
    int b = gradients->block;
    const double *lumped = gradients->system->second.lumped_mass;
    double mass[LARGEST_BLOCK];
    for (int i = 0; i < b; i++) mass[i] = lumped ? lumped[row * b + i] : 1.0;

    /* matrix = g K + M */
    double matrix[LARGEST_BLOCK * LARGEST_BLOCK];
    for (int i = 0; i < b * b; i++) matrix[i] = gradients->g * values[i];
    for (int i = 0; i < b; i++) matrix[i * (b + 1)] += mass[i];

    double *inverse = gradients->inverse + row * b * b;
    if (invert_definite(b, matrix, inverse)) return;
    for (int i = 0; i < b * b; i++) inverse[i] = i % (b + 1) == 0 ? 1.0 / mass[i / b] : 0;
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
        int64_t at = gradients->diagonal[row];
        const double *values = zero;
        if (at >= 0) values = tw_sparse_values_const(matrix) + at * b * b;
        invert_block(gradients, row, values);
    }
    return TW_OK;
}

/* out = blocks in. It is inlined with b = 3, where the loops over a block unroll. */
TW_ALWAYS_INLINE void multiply_blocks(int64_t rows, int b, const double *blocks, const double *in,
                                      double *out)
{
    for (int64_t row = 0; row < rows; row++)
        for (int i = 0; i < b; i++) {
            double sum = 0;
            for (int j = 0; j < b; j++) sum += blocks[row * b * b + j * b + i] * in[row * b + j];
            out[row * b + i] = sum;
        }
}

/* out = P^-1 in */
static tw_status precondition(tw_conjugate_gradients *gradients, const double *in, double *out)
{
    tw_system *system = gradients->system;
    if (!gradients->inverse) return tw_system_mass_solve(system, in, out);

    int b = gradients->block;
    if (b == 3)
        multiply_blocks(system->n / 3, 3, gradients->inverse, in, out);
    else
        multiply_blocks(system->n / b, b, gradients->inverse, in, out);
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

tw_status tw_conjugate_gradients_solve(tw_conjugate_gradients *gradients, double accuracy,
                                       const double *in, double *out)
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

    /* Iterate until the residual has fallen enough; rho = r^T P^-1 r is its square. */
    double rho_end = accuracy * accuracy * rho;
    for (int64_t iteration = 0; iteration < ITERATIONS_PER_UNKNOWN * n; iteration++) {
        if (!(rho > rho_end)) return rho >= 0 ? TW_OK : TW_NOT_POSITIVE_DEFINITE;
        TW_TRY(iterate(gradients, &rho, out));
    }
    return TW_NOT_CONVERGED;
}
