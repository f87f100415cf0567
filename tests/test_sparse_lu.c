/* Sparse LU: solutions, kept pivots, statuses, memory. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <twang/twang.h>

#include "linalg/sparse_lu.h"
#include "support/failing_allocator.h"
#include "support/run_suite.h"
#include "support/sparse_cases.h"

/* max |rhs - (a x + b J x)| / max |rhs| */
static double residual(const tw_sparse *J, double a, double b, const double *x, const double *rhs)
{
    int64_t n = tw_sparse_size(J);
    double *Jx = test_allocate((size_t)n, sizeof *Jx);
    double worst = 0;
    double size = 0;
    ck_assert_int_eq(tw_sparse_apply(J, 1, x, Jx), TW_OK);
    for (int64_t i = 0; i < n; i++) {
        worst = fmax(worst, fabs(rhs[i] - a * x[i] - b * Jx[i]));
        size = fmax(size, fabs(rhs[i]));
    }
    free(Jx);
    return worst / size;
}

static void check_solve(tw_sparse_lu *lu, const tw_sparse *J, double a, double b)
{
    int64_t n = tw_sparse_size(J);
    test_random random = {7};
    double *rhs = test_random_vector(&random, n);
    double *x = test_allocate((size_t)n, sizeof *x);
    ck_assert_int_eq(tw_sparse_lu_factorise(lu, a, b), TW_OK);
    ck_assert_int_eq(tw_sparse_lu_solve(lu, rhs, x), TW_OK);
    ck_assert_double_le(residual(J, a, b, x, rhs), 1e-10);

    /* In place, the same to the last bit. */
    double *y = test_allocate((size_t)n, sizeof *y);
    for (int64_t i = 0; i < n; i++) y[i] = rhs[i];
    ck_assert_int_eq(tw_sparse_lu_solve(lu, y, y), TW_OK);
    ck_assert_mem_eq(x, y, (size_t)n * sizeof *x);
    free(rhs);
    free(x);
    free(y);
}

/* Rows of any length, also without a diagonal; blocks of 1 and 3. */
START_TEST(random_matrices_are_solved)
{
    test_random random = {100 + (uint64_t)_i};
    int block = _i % 2 ? 3 : 1;
    tw_sparse *J = test_random_sparse(&random, block, 5 + 7 * _i, 0.15, TW_STORE_FULL);
    tw_sparse_lu *lu = NULL;
    ck_assert_int_eq(tw_sparse_lu_create(J, &lu, NULL), TW_OK);
    check_solve(lu, J, 1, -0.3);
    check_solve(lu, J, 1, -40);
    check_solve(lu, J, 1, 0);
    tw_sparse_lu_free(lu);
    tw_sparse_free(J);
}
END_TEST

enum { SIDE = 60 };

/* Convection and diffusion on a grid of SIDE x SIDE, by five points: J = diffusion + wind d/dx upwind. */
static tw_sparse *convection(void)
{
    enum { N = SIDE * SIDE };
    int64_t *start = test_allocate(N + 1, sizeof *start);
    int64_t *column = test_allocate(5 * N, sizeof *column);
    int64_t at = 0;
    for (int64_t i = 0; i < N; i++) {
        start[i] = at;
        if (i >= SIDE) column[at++] = i - SIDE;
        if (i % SIDE > 0) column[at++] = i - 1;
        column[at++] = i;
        if (i % SIDE < SIDE - 1) column[at++] = i + 1;
        if (i < N - SIDE) column[at++] = i + SIDE;
    }
    start[N] = at;
    tw_sparse *J = NULL;
    ck_assert_int_eq(tw_sparse_create(1, N, start, column, TW_STORE_FULL, &J, NULL), TW_OK);
    free(start);
    free(column);
    return J;
}

static void set_convection(tw_sparse *J, double diffusion, double wind)
{
    const int64_t *start = tw_sparse_row_start(J);
    const int32_t *column = tw_sparse_column(J);
    double *values = tw_sparse_values(J);
    for (int64_t i = 0; i < tw_sparse_size(J); i++)
        for (int64_t k = start[i]; k < start[i + 1]; k++) {
            values[k] = column[k] == i ? -4 * diffusion - wind : diffusion;
            if (column[k] == i - 1) values[k] += wind;
        }
}

/* Further factorisations keep the pivots, and allocate nothing. */
START_TEST(pivots_are_kept)
{
    tw_sparse *J = convection();
    tw_sparse_lu *lu = NULL;
    ck_assert_int_eq(tw_sparse_lu_create(J, &lu, NULL), TW_OK);
    set_convection(J, 1, 3);
    check_solve(lu, J, 1, -0.1);
    int64_t before = tw_memory_counts_now().allocations;
    for (int k = 0; k < 5; k++) {
        set_convection(J, 1 + k, 3 - k);
        ck_assert_int_eq(tw_sparse_lu_factorise(lu, 1, -0.1 * k), TW_OK);
    }
    ck_assert_int_eq(tw_memory_counts_now().allocations, before);
    check_solve(lu, J, 1, -0.5);
    tw_sparse_lu_counts counts = tw_sparse_lu_counts_now(lu);
    printf("%lld rows: %lld entries in L and U\n", (long long)tw_sparse_size(J),
           (long long)counts.entries);
    ck_assert_int_eq(counts.factorisations, 7);
    ck_assert_int_eq(counts.pivot_searches, 1);
    tw_sparse_lu_free(lu);
    tw_sparse_free(J);
}
END_TEST

/* A full 2 x 2 matrix with these rows. */
static tw_sparse *two_by_two(double a, double b, double c, double d)
{
    tw_sparse *J = NULL;
    ck_assert_int_eq(tw_sparse_create(1, 2, (int64_t[]){0, 2, 4}, (int64_t[]){0, 1, 0, 1},
                                      TW_STORE_FULL, &J, NULL),
                     TW_OK);
    double *values = tw_sparse_values(J);
    values[0] = a;
    values[1] = b;
    values[2] = c;
    values[3] = d;
    return J;
}

/* Pivots that were good for one matrix are not for the next. */
START_TEST(bad_pivots_are_renewed)
{
    tw_sparse *J = two_by_two(1, 0.1, 0.1, 1);
    tw_sparse_lu *lu = NULL;
    ck_assert_int_eq(tw_sparse_lu_create(J, &lu, NULL), TW_OK);
    check_solve(lu, J, 0, 1);
    double *values = tw_sparse_values(J);
    for (int k = 0; k < 2; k++) {
        values[0] = values[3] = k ? 0 : 1e-14;
        values[1] = values[2] = 1;
        check_solve(lu, J, 0, 1);
    }
    ck_assert_int_ge(tw_sparse_lu_counts_now(lu).pivot_searches, 2);
    tw_sparse_lu_free(lu);
    tw_sparse_free(J);
}
END_TEST

START_TEST(what_cannot_be_factorised)
{
    double x[2] = {1, 1};
    tw_sparse *J = two_by_two(1, 2, 2, 4);
    tw_sparse_lu *lu = NULL;
    ck_assert_int_eq(tw_sparse_lu_create(J, &lu, NULL), TW_OK);
    ck_assert_int_eq(tw_sparse_lu_solve(lu, x, x), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_sparse_lu_factorise(lu, 0, 1), TW_SINGULAR);
    ck_assert_int_eq(tw_sparse_lu_solve(lu, x, x), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_sparse_lu_factorise(lu, 1, NAN), TW_NOT_FINITE);
    ck_assert_int_eq(tw_sparse_lu_factorise(lu, 0, 0), TW_SINGULAR);
    check_solve(lu, J, 1, 1); /* and then one that can */
    tw_sparse_lu_free(lu);
    tw_sparse_free(J);

    ck_assert_int_eq(tw_sparse_lu_create(NULL, &lu, NULL), TW_INVALID_ARGUMENT);
    tw_sparse *upper = NULL;
    ck_assert_int_eq(
        tw_sparse_create(1, 1, (int64_t[]){0, 1}, (int64_t[]){0}, TW_STORE_UPPER, &upper, NULL),
        TW_OK);
    ck_assert_int_eq(tw_sparse_lu_create(upper, &lu, NULL), TW_UNSUPPORTED);
    ck_assert_ptr_null(lu);
    tw_sparse_free(upper);
    tw_sparse_lu_free(NULL);
}
END_TEST

static tw_status create_and_solve(void *context)
{
    const tw_sparse *J = context;
    int64_t n = tw_sparse_size(J);
    double *x = test_allocate((size_t)n, sizeof *x);
    tw_sparse_lu *lu = NULL;
    tw_status status = tw_sparse_lu_create(J, &lu, NULL);
    for (int k = 0; k < 2 && status == TW_OK; k++) status = tw_sparse_lu_factorise(lu, 1, -0.1);
    for (int64_t i = 0; i < n; i++) x[i] = 1;
    if (status == TW_OK) status = tw_sparse_lu_solve(lu, x, x);
    tw_sparse_lu_free(lu);
    free(x);
    return status;
}

START_TEST(every_missing_allocation_is_survived)
{
    test_random random = {5};
    tw_sparse *J = test_random_sparse(&random, 3, 20, 0.1, TW_STORE_FULL);
    int refused = test_fail_each_allocation(create_and_solve, J);
    ck_assert_int_gt(refused, 5);
    tw_sparse_free(J);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sparse LU");
    TCase *cases = tcase_create("sparse LU");
    tcase_add_loop_test(cases, random_matrices_are_solved, 0, 8);
    tcase_add_test(cases, pivots_are_kept);
    tcase_add_test(cases, bad_pivots_are_renewed);
    tcase_add_test(cases, what_cannot_be_factorised);
    tcase_add_test(cases, every_missing_allocation_is_survived);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
