/* Storage and products of sparse matrices, against a naive triple loop. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "linalg/sparse_internal.h"
#include "support/failing_allocator.h"
#include "support/run_suite.h"
#include "support/sparse_cases.h"

/* |A x| entry by entry, and how large rounding errors in it may be: row length * eps * |A| |x|. */
static void naive_product(const tw_sparse *A, const double *x, double *y, double *error)
{
    const int64_t n = tw_sparse_size(A);
    for (int64_t i = 0; i < n; i++) {
        y[i] = 0, error[i] = 0;
        for (int64_t j = 0; j < n; j++) {
            y[i] += test_sparse_entry(A, i, j) * x[j];
            error[i] += fabs(test_sparse_entry(A, i, j) * x[j]);
        }
        error[i] *= (double)n * DBL_EPSILON;
    }
}

static void check_product(const tw_sparse *A, int count, test_random *random,
                          const tw_sparse_kernels *kernels)
{
    const int64_t n = tw_sparse_size(A);
    double *x = test_random_vector(random, n * count),
           *y = test_random_vector(random, n * count + 1);
    double *expected = test_allocate((size_t)n, sizeof(double)),
           *error = test_allocate((size_t)n, sizeof(double));
    y[n * count] = 12345;
    tw_sparse_apply_with(kernels, A, count, x, y);
    ck_assert(y[n * count] == 12345);
    for (int v = 0; v < count; v++) {
        naive_product(A, x + v * n, expected, error);
        int64_t wrong = 0;
        for (int64_t i = 0; i < n; i++) wrong += !(fabs(y[v * n + i] - expected[i]) <= error[i]);
        ck_assert_int_eq(wrong, 0);
    }
    free(x), free(y), free(expected), free(error);
}

START_TEST(products_agree_with_naive_loop)
{
    test_random random = {42};
    for (int block = 1; block <= 3; block += 2)
        for (tw_sparse_storage storage = TW_STORE_FULL; storage <= TW_STORE_UPPER; storage++)
            for (int64_t rows = 0; rows <= 40; rows += rows < 4 ? 1 : 9) {
                double density = test_random_unit(&random);
                tw_sparse *A = test_random_sparse(&random, block, rows, density, storage);
                for (int count = 1; count <= TW_MAX_BLOCK; count++) {
                    check_product(A, count, &random, &tw_sparse_kernels_wide);
                    check_product(A, count, &random, &tw_sparse_kernels_portable);
                }
                tw_sparse_free(A);
            }
}
END_TEST

static double largest_difference(int64_t n, const double *x, const double *y)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++) most = fabs(x[i] - y[i]) <= most ? most : fabs(x[i] - y[i]);
    return most;
}

/* Storages agree, wide and portable kernels agree, columns of a block are products. */
static void check_agreement(const tw_sparse *full, const tw_sparse *upper)
{
    test_random random = {7};
    const int64_t n = tw_sparse_size(full), all = n * TW_MAX_BLOCK;
    double *x = test_random_vector(&random, all), *y[4];
    for (int k = 0; k < 4; k++) y[k] = test_random_vector(&random, all);
    ck_assert_int_eq(tw_sparse_apply(full, TW_MAX_BLOCK, x, y[0]), TW_OK);
    ck_assert_int_eq(tw_sparse_apply(upper, TW_MAX_BLOCK, x, y[1]), TW_OK);
    tw_sparse_apply_with(&tw_sparse_kernels_portable, upper, TW_MAX_BLOCK, x, y[2]);
    for (int v = 0; v < TW_MAX_BLOCK; v++)
        ck_assert_int_eq(tw_sparse_apply(upper, 1, x + v * n, y[3] + v * n), TW_OK);
    for (int k = 1; k < 4; k++)
        ck_assert_double_le(largest_difference(all, y[0], y[k]), 60 * 15 * DBL_EPSILON);
    for (int k = 0; k < 4; k++) free(y[k]);
    free(x);
}

/* Long enough to be cut into parts; the last is also so thick that the parts leave many rows to each other. */
static const test_lattice cut_lattices[] = {
    {12, 11, 160, 1, 0.5}, {12, 11, 160, 3, 0.5}, {40, 40, 18, 1, 0.5}};

START_TEST(storages_and_kernels_agree_on_a_lattice)
{
    int64_t most_left = 0;
    for (int k = 0; k < 3; k++) {
        tw_sparse *full = test_lattice_matrix(&cut_lattices[k], TW_STORE_FULL);
        tw_sparse *upper = test_lattice_matrix(&cut_lattices[k], TW_STORE_UPPER);
        ck_assert_int_gt(full->parts.count, 2);
        ck_assert_int_gt(upper->parts.count, 2);
        ck_assert_int_gt(upper->parts.left, 0);
        if (upper->parts.left > most_left) most_left = upper->parts.left;
        check_agreement(full, upper);
        tw_sparse_free(full);
        tw_sparse_free(upper);
    }
    ck_assert_int_gt(most_left, 512); /* gathered by several threads */
}
END_TEST

START_TEST(find_gives_what_the_pattern_has)
{
    test_random random = {3};
    tw_sparse *A = test_random_sparse(&random, 3, 30, 0.3, TW_STORE_FULL);
    int64_t found = 0;
    for (int64_t i = -1; i <= 30; i++)
        for (int64_t j = -1; j <= 30; j++) {
            int64_t p = tw_sparse_find(A, i, j);
            if (p < 0) continue;
            found++;
            ck_assert_int_eq(tw_sparse_column(A)[p], j);
            ck_assert(tw_sparse_row_start(A)[i] <= p && p < tw_sparse_row_start(A)[i + 1]);
        }
    ck_assert_int_eq(found, tw_sparse_row_start(A)[30]);
    tw_sparse_free(A);
}
END_TEST

START_TEST(norm_bound_is_the_largest_scaled_row_sum)
{
    test_random random = {11};
    for (int k = 0; k < 8; k++) {
        tw_sparse *A = test_random_sparse(&random, k & 1 ? 3 : 1, 20, 0.4,
                                          k & 2 ? TW_STORE_UPPER : TW_STORE_FULL);
        const int64_t n = tw_sparse_size(A);
        double *scale = k & 4 ? test_random_vector(&random, n) : NULL, expected = 0;
        for (int64_t i = 0; i < n; i++) {
            double sum = 0;
            for (int64_t j = 0; j < n; j++) {
                double entry = fabs(test_sparse_entry(A, i, j));
                sum += scale ? entry * fabs(scale[i] * scale[j]) : entry;
            }
            expected = fmax(expected, sum);
        }
        ck_assert_double_eq_tol(tw_sparse_norm_bound(A, scale), expected, 1e-13 * expected);
        tw_sparse_values(A)[5] = NAN;
        ck_assert(tw_sparse_norm_bound(A, scale) == INFINITY);
        free(scale);
        tw_sparse_free(A);
    }
}
END_TEST

START_TEST(operator_applies_and_counts_bytes)
{
    test_lattice lattice = {3, 3, 3, 3, 1};
    tw_sparse *upper = test_lattice_matrix(&lattice, TW_STORE_UPPER);
    tw_sparse *full = test_lattice_matrix(&lattice, TW_STORE_FULL);
    tw_operator K = tw_sparse_operator(upper);
    ck_assert_int_eq(K.symmetry, TW_SYMMETRIC);
    ck_assert_int_eq(tw_sparse_operator(full).symmetry, TW_GENERAL);
    ck_assert_int_eq(K.space.local_size, 81);
    double blocks = (double)tw_sparse_row_start(upper)[27];
    ck_assert_double_eq(K.bytes_per_product, blocks * 76 + 28 * 8 + 2 * 81 * 8);
    double x[81] = {1}, y[81];
    ck_assert_int_eq(K.apply(K.context, 1, x, y), TW_OK);
    for (int i = 0; i < 81; i++) ck_assert_double_eq(y[i], test_sparse_entry(upper, i, 0));
    ck_assert_int_eq(K.apply(K.context, 0, x, y), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(K.apply(K.context, TW_MAX_BLOCK + 1, x, y), TW_INVALID_ARGUMENT);
    tw_sparse_free(upper);
    tw_sparse_free(full);
}
END_TEST

/* A bad pattern, and the words that must be in its error. */
typedef struct bad_pattern {
    int block;
    int64_t rows, row_start[4], column[4];
    tw_sparse_storage storage;
    tw_status status;
    const char *words;
} bad_pattern;

static const bad_pattern bad_patterns[] = {
    {2, 3, {0, 1, 2, 3}, {0, 1, 2}, TW_STORE_FULL, TW_INVALID_ARGUMENT, "blocks of 2"},
    {3, -1, {0}, {0}, TW_STORE_FULL, TW_INVALID_ARGUMENT, "-1 block rows"},
    {1, INT64_C(1) << 31, {0}, {0}, TW_STORE_FULL, TW_UNSUPPORTED, "2147483648 block rows"},
    {1, 3, {1, 1, 2, 3}, {0, 1, 2}, TW_STORE_FULL, TW_INVALID_ARGUMENT, "begins with 1"},
    {1, 3, {0, 2, 1, 3}, {0, 1, 2}, TW_STORE_FULL, TW_INVALID_ARGUMENT, "descends at row 1"},
    {1, 3, {0, 1, 2, 3}, {0, 3, 2}, TW_STORE_FULL, TW_INVALID_ARGUMENT, "row 1 has column 3"},
    {1, 3, {0, 1, 2, 3}, {0, -1, 2}, TW_STORE_FULL, TW_INVALID_ARGUMENT, "row 1 has column -1"},
    {1, 3, {0, 2, 2, 3}, {2, 2, 2}, TW_STORE_FULL, TW_INVALID_ARGUMENT, "column 2 after column 2"},
    {1, 3, {0, 2, 2, 3}, {2, 1, 2}, TW_STORE_FULL, TW_INVALID_ARGUMENT, "column 1 after column 2"},
    {1, 3, {0, 1, 2, 3}, {0, 0, 2}, TW_STORE_UPPER, TW_INVALID_ARGUMENT, "below the diagonal"},
    {1, 3, {0, 1, 2, 3}, {0, 1, 2}, (tw_sparse_storage)7, TW_INVALID_ARGUMENT, "unknown storage 7"},
};

static char error_marker;

START_TEST(bad_patterns_are_refused_with_words)
{
    for (size_t k = 0; k < sizeof bad_patterns / sizeof *bad_patterns; k++) {
        const bad_pattern *bad = &bad_patterns[k];
        tw_sparse *A = (tw_sparse *)(void *)&error_marker;
        tw_error error = {0};
        tw_status status = tw_sparse_create(bad->block, bad->rows, bad->row_start, bad->column,
                                            bad->storage, &A, &error);
        ck_assert_int_eq(status, bad->status);
        ck_assert_int_eq(error.status, status);
        ck_assert_ptr_null(A);
        ck_assert_msg(strstr(error.text, bad->words) != NULL, "'%s' not in '%s'", bad->words,
                      error.text);
    }
    tw_sparse *A = NULL;
    ck_assert_int_eq(tw_sparse_create(1, 1, NULL, NULL, TW_STORE_FULL, &A, NULL),
                     TW_INVALID_ARGUMENT);
    int64_t row_start[2] = {0, 1}, column[1] = {0};
    ck_assert_int_eq(tw_sparse_create(1, 1, row_start, NULL, TW_STORE_FULL, &A, NULL),
                     TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_sparse_create(1, 1, row_start, column, TW_STORE_FULL, NULL, NULL),
                     TW_INVALID_ARGUMENT);
    tw_sparse_free(NULL);
}
END_TEST

static tw_status create_and_free(void *context)
{
    static const int64_t row_start[] = {0, 2, 4, 5}, column[] = {0, 2, 1, 2, 2};
    tw_sparse *A = NULL;
    tw_status status =
        tw_sparse_create(3, 3, row_start, column, *(tw_sparse_storage *)context, &A, NULL);
    tw_sparse_free(A);
    return status;
}

START_TEST(every_allocation_may_fail)
{
    ck_assert_int_eq(
        test_fail_each_allocation(create_and_free, &(tw_sparse_storage){TW_STORE_FULL}), 5);
    ck_assert_int_eq(
        test_fail_each_allocation(create_and_free, &(tw_sparse_storage){TW_STORE_UPPER}), 10);
}
END_TEST

START_TEST(products_allocate_nothing)
{
    test_lattice lattice = {10, 10, 60, 3, 1};
    test_random random = {1};
    for (tw_sparse_storage storage = TW_STORE_FULL; storage <= TW_STORE_UPPER; storage++) {
        tw_sparse *A = test_lattice_matrix(&lattice, storage);
        double *x = test_random_vector(&random, 4 * tw_sparse_size(A)),
               *y = test_random_vector(&random, 4 * 18000);
        int64_t before = tw_memory_counts_now().allocations;
        for (int count = 1; count <= TW_MAX_BLOCK; count++)
            ck_assert_int_eq(tw_sparse_apply(A, count, x, y), TW_OK);
        ck_assert_double_gt(tw_sparse_norm_bound(A, NULL), 1);
        ck_assert_int_eq(tw_memory_counts_now().allocations, before);
        free(x), free(y);
        tw_sparse_free(A);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sparse");
    TCase *cases = tcase_create("sparse");
    tcase_add_test(cases, products_agree_with_naive_loop);
    tcase_add_test(cases, storages_and_kernels_agree_on_a_lattice);
    tcase_add_test(cases, find_gives_what_the_pattern_has);
    tcase_add_test(cases, norm_bound_is_the_largest_scaled_row_sum);
    tcase_add_test(cases, operator_applies_and_counts_bytes);
    tcase_add_test(cases, bad_patterns_are_refused_with_words);
    tcase_add_test(cases, every_allocation_may_fail);
    tcase_add_test(cases, products_allocate_nothing);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
