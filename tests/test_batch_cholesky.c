/* labels: threads */
/* Matrices of many small equal parts: components, batched factors and solves against products with the matrix, against
 * CHOLMOD, and against any number of threads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "linalg/cholesky_internal.h"
#include "linalg/components.h"
#include "support/failing_allocator.h"
#include "support/random.h"
#include "support/run_suite.h"
#include "support/sparse_cases.h"

/* ---- fibres of several kinds: rows of held ones are neighbours, those of free ones are not ---- */

enum { HELD = 13, FREE = 9, HELD_SEGMENTS = 5, FREE_SEGMENTS = 3, LARGEST_COUNT = 16 };

static void add_fibres(tw_model *model, int64_t count, int64_t segments, bool is_free)
{
    double roots[3 * LARGEST_COUNT];
    double directions[3 * LARGEST_COUNT];
    test_random random = {(uint64_t)(7 + count)};
    for (int64_t i = 0; i < 3 * count; i++) {
        roots[i] = (double)i;
        directions[i] = 0.5 + test_random_unit(&random);
    }
    tw_fibres fibres = tw_fibres_default();
    fibres.count = count;
    fibres.roots = roots;
    fibres.directions = directions;
    fibres.segments = segments;
    fibres.is_free = is_free;
    tw_error error = {0};
    ck_assert_msg(tw_model_add_fibres(model, &fibres, NULL, &error) == TW_OK, "%s", error.text);
}

static tw_simulation *fibres_of(int64_t held, int64_t free_ones)
{
    tw_model *model = NULL;
    tw_simulation *simulation = NULL;
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    if (held) add_fibres(model, held, HELD_SEGMENTS, false);
    if (free_ones) add_fibres(model, free_ones, FREE_SEGMENTS, true);
    ck_assert_int_eq(tw_simulation_of_model(model, &simulation, NULL), TW_OK);
    return simulation;
}

/* The stiffness of the fibres at a state in which all are bent a little. */
static const tw_sparse *stiffness_of(const tw_simulation *simulation)
{
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    int64_t n = p->space.local_size;
    double *x = test_allocate((size_t)(2 * n), sizeof *x);
    memcpy(x, tw_simulation_start(simulation), (size_t)(2 * n) * sizeof *x);
    for (int64_t i = 0; i < n; i++) x[i] += 1e-6 * sin((double)(i * i));
    ck_assert_int_eq(p->linearise(p->context, 0, x, x + n), TW_OK);
    ck_assert_int_eq(p->assemble(p->context, p->stiffness_matrix), TW_OK);
    free(x);
    return p->stiffness_matrix;
}

START_TEST(components_are_the_fibres)
{
    tw_simulation *simulation = fibres_of(HELD, FREE);
    const tw_sparse *K = stiffness_of(simulation);
    tw_components components;
    ck_assert_int_eq(tw_components_find(K, &components), TW_OK);
    ck_assert_int_eq(components.count, HELD + FREE);

    /* Rows ascend within a component, and each is found at its place. */
    int64_t rows = 0;
    for (int64_t c = 0; c < components.count; c++) {
        int64_t size = components.start[c + 1] - components.start[c];
        ck_assert_int_eq(size, c < HELD ? 4 * HELD_SEGMENTS : 4 * (FREE_SEGMENTS + 1));
        for (int64_t i = 0; i < size; i++) {
            const int32_t *row = components.row + components.start[c];
            ck_assert(i == 0 || row[i] > row[i - 1]);
            ck_assert_int_eq(components.place[row[i]], i);
            rows++;
        }
    }
    ck_assert_int_eq(3 * rows, tw_sparse_size(K));
    tw_components_free(&components);
    tw_simulation_free(simulation);
}
END_TEST

/* ---- solutions ---- */

/* max |rhs - (a M + b K) x| / max |rhs| */
static double residual(const tw_sparse *K, double a, const double *mass, double b, const double *x,
                       const double *rhs)
{
    int64_t n = tw_sparse_size(K);
    double worst = 0, scale = 0;
    double *Kx = test_allocate((size_t)n, sizeof *Kx);
    ck_assert_int_eq(tw_sparse_apply(K, 1, x, Kx), TW_OK);
    for (int64_t i = 0; i < n; i++) {
        worst = fmax(worst, fabs(rhs[i] - a * (mass ? mass[i] : 1) * x[i] - b * Kx[i]));
        scale = fmax(scale, fabs(rhs[i]));
    }
    free(Kx);
    return worst / scale;
}

START_TEST(solutions_satisfy_the_equations)
{
    tw_simulation *simulation = fibres_of(HELD, FREE);
    const tw_sparse *K = stiffness_of(simulation);
    const double *mass = tw_simulation_second_order(simulation)->lumped_mass;
    int64_t n = tw_sparse_size(K);
    test_random random = {3};
    tw_cholesky *factor = NULL;
    ck_assert_int_eq(tw_cholesky_create(K, NULL, &factor, NULL), TW_OK);
    ck_assert_ptr_nonnull(factor->batches);
    ck_assert_ptr_null(factor->L);

    /* M + gamma K for a step of 10 ms, and with the identity for the mass. */
    static const double gamma = 2.5e-5;
    const double *const masses[] = {mass, NULL};
    for (int m = 0; m < 2; m++) {
        ck_assert_int_eq(tw_cholesky_factor(factor, 1, masses[m], gamma), TW_OK);
        for (int count = 1; count <= TW_MAX_BLOCK; count++) {
            double *rhs = test_random_vector(&random, n * count);
            double *x = test_random_vector(&random, n * count);
            ck_assert_int_eq(tw_cholesky_solve(factor, count, rhs, x), TW_OK);
            for (int v = 0; v < count; v++)
                ck_assert_double_lt(residual(K, 1, masses[m], gamma, x + v * n, rhs + v * n), 1e-9);
            ck_assert_int_eq(tw_cholesky_solve(factor, count, rhs, rhs), TW_OK);
            ck_assert_mem_eq(x, rhs, (size_t)(n * count) * sizeof(double));
            free(rhs), free(x);
        }
    }

    /* Full storage gives the same bits. */
    tw_cholesky *full_factor = NULL;
    tw_sparse *full = test_full_of_upper(K);
    double *rhs = test_random_vector(&random, n), *x = test_random_vector(&random, n);
    ck_assert_int_eq(tw_cholesky_create(full, NULL, &full_factor, NULL), TW_OK);
    ck_assert_ptr_nonnull(full_factor->batches);
    ck_assert_int_eq(tw_cholesky_factor(full_factor, 1, NULL, gamma), TW_OK);
    ck_assert_int_eq(tw_cholesky_solve(full_factor, 1, rhs, x), TW_OK);
    ck_assert_int_eq(tw_cholesky_solve(factor, 1, rhs, rhs), TW_OK);
    ck_assert_mem_eq(x, rhs, (size_t)n * sizeof(double));

    tw_cholesky_counts counts = tw_cholesky_counts_now(factor);
    ck_assert_int_eq(counts.factorisations, 2);
    ck_assert(counts.factor_flops > 0 && counts.solve_bytes > 0 && counts.factor_nonzeros > n);
    free(rhs), free(x);
    tw_sparse_free(full);
    tw_cholesky_free(full_factor);
    tw_cholesky_free(factor);
    tw_simulation_free(simulation);
}
END_TEST

/* Few parts, and parts of many kinds, stay with CHOLMOD. */
START_TEST(other_matrices_are_not_batched)
{
    tw_simulation *few = fibres_of(7, 0);
    static const test_lattice solid = {4, 4, 4, 3, 0.1};
    tw_sparse *one = test_lattice_matrix(&solid, TW_STORE_UPPER);
    const tw_sparse *matrices[] = {stiffness_of(few), one};
    for (int i = 0; i < 2; i++) {
        tw_cholesky *factor = NULL;
        ck_assert_int_eq(tw_cholesky_create(matrices[i], NULL, &factor, NULL), TW_OK);
        ck_assert_ptr_null(factor->batches);
        ck_assert_ptr_nonnull(factor->L);
        tw_cholesky_free(factor);
    }
    tw_sparse_free(one);
    tw_simulation_free(few);
}
END_TEST

START_TEST(threads_do_not_change_a_bit)
{
    tw_simulation *simulation = fibres_of(LARGEST_COUNT, FREE);
    const tw_sparse *K = stiffness_of(simulation);
    int64_t n = tw_sparse_size(K);
    test_random random = {11};
    double *rhs = test_random_vector(&random, 2 * n);
    double *one = test_random_vector(&random, 2 * n), *many = test_random_vector(&random, 2 * n);
    double *results[] = {one, many};
    for (int i = 0; i < 2; i++) {
        tw_cholesky *factor = NULL;
        tw_set_threads(i == 0 ? 1 : 3);
        ck_assert_int_eq(tw_cholesky_create(K, NULL, &factor, NULL), TW_OK);
        ck_assert_int_eq(tw_cholesky_factor(factor, 1, NULL, 1e-3), TW_OK);
        ck_assert_int_eq(tw_cholesky_solve(factor, 2, rhs, results[i]), TW_OK);
        tw_cholesky_free(factor);
    }
    tw_set_threads(1);
    ck_assert_mem_eq(one, many, (size_t)(2 * n) * sizeof(double));
    free(rhs), free(one), free(many);
    tw_simulation_free(simulation);
}
END_TEST

/* ---- failures ---- */

START_TEST(a_bad_part_is_a_status)
{
    tw_simulation *simulation = fibres_of(HELD, 0);
    tw_sparse *K = test_full_of_upper(stiffness_of(simulation));
    int64_t n = tw_sparse_size(K);
    double *mass = test_allocate((size_t)n, sizeof *mass);
    for (int64_t i = 0; i < n; i++) mass[i] = 1;
    tw_cholesky *factor = NULL;
    ck_assert_int_eq(tw_cholesky_create(K, NULL, &factor, NULL), TW_OK);

    /* One row of one fibre in the middle of a group. */
    double *x = test_allocate((size_t)n, sizeof *x);
    for (int64_t i = 0; i < n; i++) x[i] = 1;
    mass[6 * 12 * HELD_SEGMENTS + 17] = -1e6;
    ck_assert_int_eq(tw_cholesky_factor(factor, 1, mass, 1e-6), TW_NOT_POSITIVE_DEFINITE);
    ck_assert_int_eq(tw_cholesky_solve(factor, 1, x, x), TW_INVALID_ARGUMENT);
    mass[6 * 12 * HELD_SEGMENTS + 17] = NAN;
    ck_assert_int_eq(tw_cholesky_factor(factor, 1, mass, 1e-6), TW_NOT_FINITE);
    mass[6 * 12 * HELD_SEGMENTS + 17] = 1;
    ck_assert_int_eq(tw_cholesky_factor(factor, 1, mass, 1e-6), TW_OK);

    /* A solution that is not finite is not handed out. */
    double *out = test_allocate((size_t)n, sizeof *out);
    for (int64_t i = 0; i < n; i++) out[i] = 5;
    x[40] = INFINITY;
    ck_assert_int_eq(tw_cholesky_solve(factor, 1, x, out), TW_NOT_FINITE);
    for (int64_t i = 0; i < n; i++) ck_assert(out[i] == 5);
    free(x), free(out), free(mass);
    tw_cholesky_free(factor);
    tw_sparse_free(K);
    tw_simulation_free(simulation);
}
END_TEST

static tw_status create_and_free(void *context)
{
    tw_cholesky *factor = NULL;
    tw_status status = tw_cholesky_create(context, NULL, &factor, NULL);
    tw_cholesky_free(factor);
    return status;
}

START_TEST(every_allocation_may_fail)
{
    tw_simulation *simulation = fibres_of(HELD, FREE);
    tw_sparse *K = test_full_of_upper(stiffness_of(simulation));
    ck_assert_int_gt(test_fail_each_allocation(create_and_free, K), 20);
    tw_sparse_free(K);
    tw_simulation_free(simulation);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("batch_cholesky");
    TCase *cases = tcase_create("batch_cholesky");
    tcase_set_timeout(cases, 120);
    tcase_add_test(cases, components_are_the_fibres);
    tcase_add_test(cases, solutions_satisfy_the_equations);
    tcase_add_test(cases, other_matrices_are_not_batched);
    tcase_add_test(cases, threads_do_not_change_a_bit);
    tcase_add_test(cases, a_bad_part_is_a_status);
    tcase_add_test(cases, every_allocation_may_fail);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
