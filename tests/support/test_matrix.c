#include "support/test_matrix.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/dense.h"

double *test_doubles(int64_t count)
{
    double *block = calloc(count > 0 ? (size_t)count : 1, sizeof *block);
    ck_assert_ptr_nonnull(block);
    return block;
}

test_matrix test_matrix_new(int n)
{
    return (test_matrix){.n = n, .A = test_doubles((int64_t)n * n)};
}

void test_matrix_free(test_matrix *matrix)
{
    free(matrix->A);
    free(matrix->inverse);
    *matrix = (test_matrix){0};
}

void test_matrix_invert(test_matrix *matrix)
{
    int n = matrix->n;
    double *L = test_doubles((int64_t)n * n);
    matrix->inverse = test_doubles((int64_t)n * n);
    memcpy(L, matrix->A, (size_t)n * (size_t)n * sizeof *L);
    for (int i = 0; i < n; i++) matrix->inverse[i * n + i] = 1;
    ck_assert_int_eq(tw_dense_cholesky(n, L), TW_OK);
    tw_dense_lower_solve(false, n, L, n, matrix->inverse);
    tw_dense_lower_solve(true, n, L, n, matrix->inverse);
    free(L);
}

static void multiply(int n, const double *A, int count, const double *in, double *out)
{
    for (int c = 0; c < count; c++)
        tw_dense_apply(false, n, n, A, in + (size_t)c * (size_t)n, out + (size_t)c * (size_t)n);
}

tw_status test_matrix_apply(void *context, int count, const double *in, double *out)
{
    test_matrix *matrix = context;
    matrix->applied += count;
    multiply(matrix->n, matrix->A, count, in, out);
    return TW_OK;
}

tw_status test_matrix_solve(void *context, int count, const double *in, double *out)
{
    test_matrix *matrix = context;
    multiply(matrix->n, matrix->inverse, count, in, out);
    return TW_OK;
}

tw_operator test_matrix_operator(test_matrix *matrix, tw_symmetry symmetry)
{
    return (tw_operator){.space = {.local_size = matrix->n},
                         .apply = test_matrix_apply,
                         .context = matrix,
                         .symmetry = symmetry};
}

tw_mass_operator test_matrix_mass(test_matrix *matrix)
{
    return (tw_mass_operator){
        .apply = test_matrix_apply, .solve = test_matrix_solve, .context = matrix};
}
