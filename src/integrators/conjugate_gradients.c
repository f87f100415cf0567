#include "integrators/conjugate_gradients.h"

#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/simd.h"
#include "integrators/single_gradients.h"
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
    tw_single_gradients *single; /* for few digits; NULL without products in single precision */
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
    if (tw_single_gradients_create(system, &gradients->single) != TW_OK) {
        tw_conjugate_gradients_free(gradients);
        return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    }
    *out = gradients;
    return TW_OK;
}

void tw_conjugate_gradients_free(tw_conjugate_gradients *gradients)
{
    if (!gradients) return;
    tw_single_gradients_free(gradients->single);
    tw_release(gradients->storage);
    tw_release(gradients->inverse);
    tw_release(gradients->diagonal);
    tw_release(gradients);
}

/* ---- the preconditioner ---- */

/* inverse = matrix^-1 of a symmetric block of three rows, by its cofactors. It is called for every
 * particle in every iteration of Newton, where a call of LAPACK takes ten times as long. False: the
 * block is not definite (a leading minor is not positive). */
static bool invert3(const double *m, double *inverse)
{
    double c00 = m[4] * m[8] - m[5] * m[5];
    double c01 = m[2] * m[5] - m[1] * m[8];
    double c02 = m[1] * m[5] - m[2] * m[4];
    double c11 = m[0] * m[8] - m[2] * m[2];
    double c12 = m[1] * m[2] - m[0] * m[5];
    double c22 = m[0] * m[4] - m[1] * m[1];
    double determinant = m[0] * c00 + m[1] * c01 + m[2] * c02;
    if (!(m[0] > 0 && c22 > 0 && determinant > 0)) return false;

    double scale = 1 / determinant;
    double entries[9] = {c00, c01, c02, c01, c11, c12, c02, c12, c22};
    for (int i = 0; i < 9; i++) inverse[i] = scale * entries[i];
    return true;
}

/* The same for one or three rows; no other blocks exist. */
static bool invert_definite(int b, const double *matrix, double *inverse)
{
    if (b == 3) return invert3(matrix, inverse);
    inverse[0] = 1 / matrix[0];
    return matrix[0] > 0;
}

/* Inverts one diagonal block of M + g K. A block that is not positive definite falls back to
 * its mass. */
TW_ALWAYS_INLINE void invert_block(const tw_conjugate_gradients *gradients, int b, int64_t row,
                                   const double *values)
{
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

/* It is inlined with b = 3, where the loops over a block unroll. */
TW_ALWAYS_INLINE void invert_blocks(tw_conjugate_gradients *gradients, int b)
{
    static const double zero[LARGEST_BLOCK * LARGEST_BLOCK] = {0};
    const double *values = tw_sparse_values_const(gradients->system->second.stiffness_matrix);

    /* A diagonal block that is not in the pattern is zero. */
    for (int64_t row = 0; row < gradients->system->n / b; row++) {
        int64_t at = gradients->diagonal[row];
        invert_block(gradients, b, row, at >= 0 ? values + at * b * b : zero);
    }
}

tw_status tw_conjugate_gradients_prepare(tw_conjugate_gradients *gradients, double g)
{
    gradients->g = g;
    if (!gradients->inverse) return TW_OK;
    TW_TRY(tw_system_assemble(gradients->system));
    if (gradients->block == 3)
        invert_blocks(gradients, 3);
    else
        invert_blocks(gradients, 1);
    if (gradients->single) tw_single_gradients_prepare(gradients->single, g, gradients->inverse);
    return TW_OK;
}

/* out = blocks in, for symmetric blocks of three rows. */
static void multiply_blocks(int64_t rows, const double *blocks, const double *in, double *out)
{
    for (int64_t row = 0; row < rows; row++) {
        const double *B = blocks + 9 * row;
        const double *x = in + 3 * row;
        tw_wide sum = tw_wide_multiply(tw_wide_load(B), tw_wide_splat(x[0]));
        sum = tw_wide_fma(tw_wide_load(B + 3), tw_wide_splat(x[1]), sum);
        sum = tw_wide_fma(tw_wide_load3(B + 6), tw_wide_splat(x[2]), sum);
        tw_wide_store3(out + 3 * row, sum);
    }
}

/* out = P^-1 in */
static tw_status precondition(tw_conjugate_gradients *gradients, const double *in, double *out)
{
    tw_system *system = gradients->system;
    if (!gradients->inverse) return tw_system_mass_solve(system, in, out);
    if (gradients->block == 3)
        multiply_blocks(system->n / 3, gradients->inverse, in, out);
    else
        tw_vector_multiply(system->n, gradients->inverse, in, out);
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

    /* Few digits come from single precision. */
    if (gradients->single) {
        tw_status status = tw_single_gradients_solve(gradients->single, accuracy, in, out);
        if (status != TW_UNSUPPORTED) return status;
    }

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
