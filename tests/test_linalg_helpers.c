/* The mass metric, colours of columns, and estimates of the largest eigenvalue. */
#include <math.h>
#include <string.h>

#include "base/start_vector.h"
#include "linalg/colouring.h"
#include "linalg/largest_eigenvalue.h"
#include "support/failing_allocator.h"
#include "support/run_suite.h"
#include "support/sparse_cases.h"
#include "support/test_matrix.h"

enum { N = 12 };

/* M = diag(2 .. 3) + 0.5 on the neighbouring diagonals: positive definite. */
static test_matrix new_mass(void)
{
    test_matrix M = test_matrix_new(N);
    for (int i = 0; i < N; i++) {
        M.A[i + i * N] = 2 + (double)i / N;
        if (i > 0) M.A[i + (i - 1) * N] = M.A[i - 1 + i * N] = 0.5;
    }
    test_matrix_invert(&M);
    return M;
}

/* M^-1 M x = x, and |x|_M^2 = x^T M x. */
static void check_metric(const tw_mass_metric *metric)
{
    double x[3 * N], Mx[3 * N], back[3 * N], scratch[N], norm = 0, square = 0;
    tw_fill_start_vector(3 * N, x);
    ck_assert_int_eq(tw_mass_multiply(metric, 3, x, Mx), TW_OK);
    ck_assert_int_eq(tw_mass_solve(metric, 3, Mx, back), TW_OK);
    for (int i = 0; i < 3 * N; i++) ck_assert_double_le(fabs(back[i] - x[i]), 1e-14);
    for (int i = 0; i < N; i++) square += x[i] * Mx[i];
    ck_assert_int_eq(tw_mass_norm(metric, x, scratch, &norm), TW_OK);
    ck_assert_double_le(fabs(norm - sqrt(square)), 1e-14 * norm);
}

START_TEST(mass_of_three_kinds)
{
    double lumped[N];
    for (int i = 0; i < N; i++) lumped[i] = 1 + i;
    test_matrix M = new_mass();
    tw_mass_operator consistent = test_matrix_mass(&M);
    tw_second_order op = {.stiffness.space.local_size = N};
    tw_mass_metric metric = tw_mass_metric_of(&op);
    check_metric(&metric);
    op.lumped_mass = lumped;
    metric = tw_mass_metric_of(&op);
    check_metric(&metric);
    op.lumped_mass = NULL;
    op.mass = &consistent;
    metric = tw_mass_metric_of(&op);
    check_metric(&metric);
    test_matrix_free(&M);
}
END_TEST

/* Columns of one colour share no row, and every colour is in use. */
static void check_colours(const tw_colouring *c)
{
    for (int colour = 0; colour < c->colours; colour++) {
        int64_t columns = 0;
        for (int64_t j = 0; j < c->size; j++) columns += c->colour[j] == colour;
        ck_assert_int_gt(columns, 0);
        for (int64_t i = 0; i < c->size; i++) {
            int in_row = 0;
            for (int64_t p = c->start[i]; p < c->start[i + 1]; p++)
                in_row += c->colour[c->neighbour[p]] == colour;
            ck_assert_int_le(in_row, 1);
        }
    }
}

START_TEST(colours_of_a_lattice)
{
    test_lattice lattice = {.nx = 7, .ny = 6, .nz = 5, .block = 3, .shift = 1};
    tw_sparse *upper = test_lattice_matrix(&lattice, TW_STORE_UPPER);
    tw_sparse *full = test_full_of_upper(upper);
    tw_colouring a, b;
    ck_assert_int_eq(tw_colouring_create(&a, upper), TW_OK);
    ck_assert_int_eq(tw_colouring_create(&b, full), TW_OK);
    ck_assert_int_eq(a.size, 7 * 6 * 5);
    ck_assert_int_eq(a.colours, b.colours);
    ck_assert_int_eq(memcmp(a.colour, b.colour, (size_t)a.size * sizeof *a.colour), 0);
    check_colours(&a);
    check_colours(&b);
    tw_colouring_free(&a);
    tw_colouring_free(&b);
    tw_sparse_free(upper);
    tw_sparse_free(full);
}
END_TEST

START_TEST(colours_of_an_unsymmetric_pattern)
{
    test_random random = {3};
    tw_sparse *matrix = test_random_sparse(&random, 1, 60, 0.05, TW_STORE_FULL);
    tw_colouring c;
    ck_assert_int_eq(tw_colouring_create(&c, matrix), TW_OK);
    check_colours(&c);
    tw_colouring_free(&c);
    tw_sparse_free(matrix);
}
END_TEST

static tw_status colour_and_forget(void *context)
{
    tw_colouring c;
    tw_status status = tw_colouring_create(&c, context);
    tw_colouring_free(&c);
    return status;
}

START_TEST(colours_without_memory)
{
    test_lattice lattice = {.nx = 3, .ny = 3, .nz = 3, .block = 1, .shift = 1};
    tw_sparse *matrix = test_lattice_matrix(&lattice, TW_STORE_UPPER);
    ck_assert_int_ge(test_fail_each_allocation(colour_and_forget, matrix), 7);
    tw_sparse_free(matrix);
}
END_TEST

/* K = M diag(1 .. N) has the eigenvalues 1 .. N for a lumped M. */
START_TEST(largest_eigenvalue_of_a_pencil)
{
    test_matrix K = test_matrix_new(N);
    double lumped[N], memory[4 * N], value = 0;
    for (int i = 0; i < N; i++) {
        lumped[i] = 1 + 0.1 * i;
        K.A[i + i * N] = lumped[i] * (i + 1);
    }
    tw_matrix_pencil pencil = {.stiffness = test_matrix_apply,
                               .context = &K,
                               .mass = {.space.local_size = N, .lumped = lumped}};

    /* Lanczos finds it exactly once the Krylov space is the whole space. */
    tw_fill_start_vector(N, memory);
    ck_assert_int_eq(tw_lanczos_largest(&pencil, N, memory, &value), TW_OK);
    ck_assert_double_le(fabs(value - N), 1e-10);

    /* The power method comes near it from below, because the diagonal A is symmetric. */
    tw_power_estimate estimate;
    tw_fill_start_vector(N, memory);
    ck_assert_int_eq(tw_power_method(&pencil, 30, memory, memory + N, &estimate), TW_OK);
    ck_assert_int_eq(estimate.products, 30);
    ck_assert_double_le(estimate.largest, N * (1 + 1e-14));
    ck_assert_double_ge(estimate.largest, 0.97 * N);

    /* A start vector of zeros tells nothing and is no failure. */
    memset(memory, 0, sizeof memory);
    ck_assert_int_eq(tw_power_method(&pencil, 30, memory, memory + N, &estimate), TW_OK);
    ck_assert_int_eq(estimate.products, 0);
    ck_assert(estimate.largest == 0 && estimate.last == 0);
    test_matrix_free(&K);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("linalg_helpers");
    TCase *cases = tcase_create("linalg_helpers");
    tcase_add_test(cases, mass_of_three_kinds);
    tcase_add_test(cases, colours_of_a_lattice);
    tcase_add_test(cases, colours_of_an_unsymmetric_pattern);
    tcase_add_test(cases, colours_without_memory);
    tcase_add_test(cases, largest_eigenvalue_of_a_pencil);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
