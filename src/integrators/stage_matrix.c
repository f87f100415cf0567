#include "integrators/stage_matrix.h"

#include "base/allocate.h"
#include "base/fail.h"
#include "integrators/conjugate_gradients.h"
#include "linalg/dense.h"
#include "linalg/sparse_lu.h"
#include "linalg/vector.h"
#include "phi/phi_internal.h"

struct tw_stage_matrix {
    tw_system *system;
    tw_linear_solver solver;
    tw_conjugate_gradients *gradients; /* of TW_LINEAR_PCG */
    tw_sparse_lu *sparse;              /* of a first-order problem that gives jacobian_matrix */
    double *dense;                     /* I - g J and its pivots, of first-order problems */
    int *pivots;
    double *unit;    /* N entries: the column of J that is asked for */
    double shift;    /* g of what is prepared; 0: nothing is */
    int64_t pattern; /* number of the matrix for which it was prepared (tw_system.pattern) */
    double raised;   /* M was replaced by (1 + raised) M in it */
};

static tw_status reserve_dense(tw_stage_matrix *matrix, tw_error *error)
{
    int64_t n = matrix->system->n;
    if (n > TW_LARGEST_OWN_MATRIX)
        return tw_fail(error, TW_UNSUPPORTED,
                       "implicit schemes take first-order problems of more than %d unknowns only "
                       "with a jacobian_matrix",
                       TW_LARGEST_OWN_MATRIX);
    matrix->dense = TW_NEW_ARRAY(n * n, double);
    matrix->pivots = TW_NEW_ARRAY(n, int);
    matrix->unit = TW_NEW_ARRAY(n, double);
    if (!matrix->dense || !matrix->pivots || !matrix->unit)
        return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    return TW_OK;
}

static tw_status reserve(tw_stage_matrix *matrix, tw_error *error)
{
    tw_system *system = matrix->system;
    if (!system->second_order && system->first.jacobian_matrix)
        return tw_sparse_lu_create(system->first.jacobian_matrix, &matrix->sparse, error);
    if (!system->second_order) return reserve_dense(matrix, error);

    if (system->second.stiffness_is_general && !system->symmetric)
        return tw_fail(error, TW_UNSUPPORTED, "implicit schemes need a symmetric tangent");
    system->assumes_symmetry = !system->symmetric;
    if (matrix->solver == TW_LINEAR_PCG)
        return tw_conjugate_gradients_create(system, &matrix->gradients, error);
    return tw_system_need_shifted(system, error);
}

tw_status tw_stage_matrix_create(tw_system *system, tw_linear_solver solver, tw_stage_matrix **out,
                                 tw_error *error)
{
    *out = NULL;
    tw_stage_matrix *matrix = TW_NEW(tw_stage_matrix);
    if (!matrix) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    matrix->system = system;
    matrix->solver = solver;
    tw_status status = reserve(matrix, error);
    if (status != TW_OK) {
        tw_stage_matrix_free(matrix);
        return status;
    }
    *out = matrix;
    return TW_OK;
}

void tw_stage_matrix_free(tw_stage_matrix *matrix)
{
    if (!matrix) return;
    tw_conjugate_gradients_free(matrix->gradients);
    tw_sparse_lu_free(matrix->sparse);
    tw_release(matrix->dense);
    tw_release(matrix->pivots);
    tw_release(matrix->unit);
    tw_release(matrix);
}

double tw_stage_matrix_shift(const tw_stage_matrix *matrix)
{
    if (matrix->pattern != matrix->system->pattern) return 0;
    return matrix->shift;
}

bool tw_stage_matrix_is_exact(const tw_stage_matrix *matrix)
{
    return tw_stage_matrix_shift(matrix) != 0 && matrix->raised == 0;
}

void tw_stage_matrix_forget(tw_stage_matrix *matrix)
{
    matrix->shift = 0;
}

double tw_stage_matrix_cost(const tw_stage_matrix *matrix)
{
    const tw_system *system = matrix->system;

    /* A sparse LU is made anew in every iteration: its pivots follow the values. */
    if (matrix->sparse) return 0;

    /* Dense LU: 2/3 n^3 operations against 2 n^2. */
    if (!system->second_order) return (double)system->n / 3;

    /* A preconditioner costs less than a solve. */
    if (matrix->solver == TW_LINEAR_PCG) return 0;

    /* A solve does two operations per stored entry of the factor, and moves it twice. */
    const tw_shifted_solver *shifted = system->pair.shifted;
    double solve_operations = shifted->solve_bytes / 4;
    return shifted->factor_flops / solve_operations;
}

/* What a factorisation costs besides its flops, in solves: assembly, and small supernodes. Measured:
 * 24 ms on the coil, where a solve takes 2.5 ms, and 0.25 s on the dragon. */
static const double passes_of_a_factor = 7;

static double cost_of_a_factor(const tw_shifted_solver *shifted)
{
    return TW_FACTOR_FLOP_BYTES * shifted->factor_flops + passes_of_a_factor * shifted->solve_bytes;
}

/* Factorises (1 + raised) M + g K = (1 + raised) (M + g/(1 + raised) K). */
static tw_status factorise(tw_stage_matrix *matrix, double g, double raised)
{
    tw_system *system = matrix->system;
    const tw_shifted_solver *shifted = system->pair.shifted;
    tw_status status = tw_system_assemble(system);
    if (status != TW_OK) return status;

    int64_t before = *shifted->factorisations;
    status = shifted->factor(shifted->context, g / (1 + raised));
    int64_t made = *shifted->factorisations - before;
    system->counts->factorisations += made;
    system->counts->solver_work += (double)made * cost_of_a_factor(shifted);
    if (status != TW_OK) return status;

    matrix->shift = g;
    matrix->raised = raised;
    return TW_OK;
}

/* I - g J of an assembled Jacobian. */
static tw_status factorise_sparse(tw_stage_matrix *matrix, double g)
{
    tw_system *system = matrix->system;
    TW_TRY(tw_system_assemble(system));
    system->counts->factorisations++;
    return tw_sparse_lu_factorise(matrix->sparse, 1.0, -g);
}

/* I - g J, column by column, and its LU factors. */
static tw_status factorise_dense(tw_stage_matrix *matrix, double g)
{
    tw_system *system = matrix->system;
    int64_t n = system->n;
    tw_vector_fill(n, 0.0, matrix->unit);

    for (int64_t j = 0; j < n; j++) {
        double *column = matrix->dense + j * n;
        matrix->unit[j] = 1;
        tw_status status = tw_system_jacobian(system, matrix->unit, column);
        matrix->unit[j] = 0;
        if (status != TW_OK) return status;
        tw_vector_scale(n, -g, column);
        column[j] += 1;
    }

    system->counts->factorisations++;
    return tw_dense_lu((int)n, matrix->dense, matrix->pivots);
}

tw_status tw_stage_matrix_prepare(tw_stage_matrix *matrix, double g)
{
    matrix->shift = 0;
    matrix->raised = 0;
    matrix->pattern = matrix->system->pattern;
    if (matrix->system->second_order && matrix->solver == TW_LINEAR_CHOLESKY)
        return factorise(matrix, g, 0.0);

    tw_status status = TW_OK;
    if (matrix->gradients)
        status = tw_conjugate_gradients_prepare(matrix->gradients, g);
    else if (matrix->sparse)
        status = factorise_sparse(matrix, g);
    else
        status = factorise_dense(matrix, g);
    if (status == TW_OK) matrix->shift = g;
    return status;
}

tw_status tw_stage_matrix_prepare_raised(tw_stage_matrix *matrix, double g)
{
    tw_status status = tw_stage_matrix_prepare(matrix, g);

    /* 16^38 exceeds any ratio of stiffness to mass that a double holds. */
    enum { MAX_RAISES = 38 };
    double raised = 1;
    for (int i = 0; i < MAX_RAISES && status == TW_NOT_POSITIVE_DEFINITE; i++, raised *= 16)
        status = factorise(matrix, g, raised);
    return status;
}

tw_status tw_stage_matrix_solve(tw_stage_matrix *matrix, double accuracy, const double *in,
                                double *out)
{
    tw_system *system = matrix->system;
    if (system->second_order && matrix->solver == TW_LINEAR_PCG)
        return tw_conjugate_gradients_solve(matrix->gradients, accuracy, in, out);

    system->counts->solves++;
    if (matrix->sparse) return tw_sparse_lu_solve(matrix->sparse, in, out);
    if (!system->second_order) {
        tw_vector_copy(system->n, in, out);
        return tw_dense_lu_solve((int)system->n, matrix->dense, matrix->pivots, out);
    }

    const tw_shifted_solver *shifted = system->pair.shifted;
    system->counts->solver_work += shifted->solve_bytes;
    tw_status status = shifted->solve(shifted->context, 1, in, out);
    tw_vector_scale(system->n, 1 / (1 + matrix->raised), out);
    return status;
}
