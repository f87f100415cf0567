/* Matrices and vectors in single precision, against products in doubles. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "base/parallel_for.h"
#include "linalg/single_internal.h"
#include "support/run_suite.h"
#include "support/sparse_cases.h"

/* x fastest: rows stand in runs. */
static const test_lattice sheet = {40, 30, 1, 3, 0.5};
static const test_lattice solid = {21, 17, 30, 3, 0.5};

static tw_single *single_of(const tw_sparse *matrix)
{
    tw_single *single = NULL;
    ck_assert_int_eq(tw_single_create(matrix, &single), TW_OK);
    ck_assert_ptr_nonnull(single);
    tw_single_fill(single, matrix);
    return single;
}

/* out = A in by the copy. */
static void multiply(const tw_single *single, tw_single_kernel *kernel, int count, int64_t n,
                     double factor, const double *in, double *out)
{
    const int64_t size = tw_single_size(single);
    float *x = test_allocate((size_t)(count * size), sizeof(float));
    float *y = test_allocate((size_t)(count * size), sizeof(float));
    for (int v = 0; v < count; v++) tw_single_load(single, in + v * n, factor, x + v * size);
    tw_single_multiply_with(kernel, single, count, size, x, y);
    double unit = tw_single_unit(single);
    for (int v = 0; v < count; v++)
        tw_single_store(single, y + v * size, unit / factor, out + v * n);

    /* What belongs to no unknown is zero, unless x has a NaN. */
    int64_t rows = n / 3;
    for (int64_t i = 0; i < count * size; i++)
        if (i % (size / 3) >= rows) ck_assert(y[i] == 0 || isnan(y[i]));
    free(x), free(y);
}

/* The largest difference, beside the largest entry. */
static double difference(int64_t n, const double *x, const double *y)
{
    double most = 0;
    double largest = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!(fabs(x[i] - y[i]) <= most)) most = fabs(x[i] - y[i]);
        largest = fmax(largest, fabs(x[i]));
    }
    return most / largest;
}

static void check_products(const test_lattice *lattice, double scale, double factor)
{
    tw_sparse *matrix = test_lattice_matrix(lattice, TW_STORE_UPPER);
    const int64_t n = tw_sparse_size(matrix);
    const int64_t blocks = tw_sparse_row_start(matrix)[n / 3];
    for (int64_t i = 0; i < 9 * blocks; i++) tw_sparse_values(matrix)[i] *= scale;

    test_random random = {5};
    double *x = test_random_vector(&random, TW_MAX_BLOCK * n);
    double *y[3];
    for (int k = 0; k < 3; k++) y[k] = test_random_vector(&random, TW_MAX_BLOCK * n);
    tw_single *single = single_of(matrix);
    for (int count = 1; count <= TW_MAX_BLOCK; count++) {
        ck_assert_int_eq(tw_sparse_apply(matrix, count, x, y[0]), TW_OK);
        multiply(single, tw_single_kernel_wide, count, n, factor, x, y[1]);
        multiply(single, tw_single_kernel_portable, count, n, factor, x, y[2]);
        ck_assert_double_le(difference(count * n, y[0], y[1]), TW_SINGLE_ERROR);
        ck_assert_double_le(difference(count * n, y[0], y[2]), TW_SINGLE_ERROR);

        /* It is single precision indeed. */
        ck_assert_double_gt(difference(count * n, y[0], y[1]), 1e-9);
    }
    for (int k = 0; k < 3; k++) free(y[k]);
    free(x);
    tw_single_free(single);
    tw_sparse_free(matrix);
}

START_TEST(products_agree_with_doubles)
{
    check_products(&sheet, 1, 1);
    check_products(&solid, 1, 1);
}
END_TEST

/* Floats end at 1e38. The matrix is scaled by itself, vectors by their user. */
START_TEST(a_matrix_beyond_the_range_of_floats_is_scaled)
{
    check_products(&sheet, 1e60, 1);
    check_products(&sheet, 1e-60, 1);
    check_products(&sheet, 1e60, 1e-3);
}
END_TEST

START_TEST(threads_and_the_number_of_vectors_do_not_change_a_bit)
{
    tw_sparse *matrix = test_lattice_matrix(&solid, TW_STORE_UPPER);
    const int64_t n = tw_sparse_size(matrix);
    tw_single *single = single_of(matrix);
    ck_assert_int_gt(single->parts, 4);

    test_random random = {8};
    double *x = test_random_vector(&random, TW_MAX_BLOCK * n);
    double *y[3];
    for (int k = 0; k < 3; k++) y[k] = test_random_vector(&random, TW_MAX_BLOCK * n);
    tw_set_threads(1);
    multiply(single, tw_single_kernel_wide, TW_MAX_BLOCK, n, 1, x, y[0]);
    tw_set_threads(4);
    tw_single_fill(single, matrix);
    multiply(single, tw_single_kernel_wide, TW_MAX_BLOCK, n, 1, x, y[1]);
    for (int v = 0; v < TW_MAX_BLOCK; v++)
        multiply(single, tw_single_kernel_wide, 1, n, 1, x + v * n, y[2] + v * n);
    tw_set_threads(0);
    ck_assert_mem_eq(y[0], y[1], (size_t)(TW_MAX_BLOCK * n) * sizeof(double));
    ck_assert_mem_eq(y[0], y[2], (size_t)(TW_MAX_BLOCK * n) * sizeof(double));

    /* A NaN in one product does not stay behind for the next one. */
    double before = x[n - 1];
    x[n - 1] = NAN;
    multiply(single, tw_single_kernel_wide, 1, n, 1, x, y[1]);
    ck_assert(isnan(y[1][n - 1]));
    x[n - 1] = before;
    multiply(single, tw_single_kernel_wide, 1, n, 1, x, y[1]);
    ck_assert_mem_eq(y[0], y[1], (size_t)n * sizeof(double));

    for (int k = 0; k < 3; k++) free(y[k]);
    free(x);
    tw_single_free(single);
    tw_sparse_free(matrix);
}
END_TEST

START_TEST(patterns_without_runs_have_no_copy)
{
    test_random random = {9};
    tw_single *single = NULL;
    tw_sparse *scattered = test_random_sparse(&random, 3, 400, 0.02, TW_STORE_UPPER);
    ck_assert_int_eq(tw_single_create(scattered, &single), TW_OK);
    ck_assert_ptr_null(single);
    tw_sparse_free(scattered);

    /* Nor have single entries, or full storage. */
    const test_lattice scalar = {40, 30, 1, 1, 0.5};
    tw_sparse *others[] = {test_lattice_matrix(&scalar, TW_STORE_UPPER),
                           test_lattice_matrix(&sheet, TW_STORE_FULL)};
    for (int k = 0; k < 2; k++) {
        ck_assert_int_eq(tw_single_create(others[k], &single), TW_OK);
        ck_assert_ptr_null(single);
        tw_sparse_free(others[k]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("single");
    TCase *cases = tcase_create("single");
    tcase_set_timeout(cases, 120);
    tcase_add_test(cases, products_agree_with_doubles);
    tcase_add_test(cases, a_matrix_beyond_the_range_of_floats_is_scaled);
    tcase_add_test(cases, threads_and_the_number_of_vectors_do_not_change_a_bit);
    tcase_add_test(cases, patterns_without_runs_have_no_copy);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
