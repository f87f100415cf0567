/* labels: threads */
/* Every kernel gives bitwise the same result for 1, 2, 3 and 8 threads, and from two threads at once. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "linalg/vector.h"
#include "support/run_suite.h"
#include "support/sparse_cases.h"

enum { BASIS = 21, OUTPUTS = 6, VECTOR = 100001 };
static const int thread_counts[] = {1, 2, 3, 8};
enum { THREAD_COUNTS = sizeof thread_counts / sizeof *thread_counts };

/* What a kernel produced: doubles, one after the other. */
typedef struct record {
    double *values;
    int64_t used, room;
} record;

static record record_create(int64_t room)
{
    return (record){test_allocate((size_t)room, sizeof(double)), 0, room};
}

static double *record_take(record *r, int64_t n)
{
    ck_assert_int_le(r->used + n, r->room);
    r->used += n;
    return r->values + r->used - n;
}

/* Runs a job, which records all its results, with each number of threads. */
static void check_threads(void (*job)(record *), int64_t room)
{
    record first = record_create(room);
    for (int k = 0; k < THREAD_COUNTS; k++) {
        record now = record_create(room);
        tw_set_threads(thread_counts[k]);
        ck_assert_int_eq(tw_threads(), thread_counts[k]);
        job(k ? &now : &first);
        if (k) {
            ck_assert_int_eq(now.used, first.used);
            ck_assert_mem_eq(now.values, first.values, (size_t)first.used * sizeof(double));
        }
        free(now.values);
    }
    ck_assert_int_gt(first.used, 0);
    free(first.values);
    tw_set_threads(0);
}

static void run_sums(record *r)
{
    test_random random = {1};
    const int64_t lengths[] = {1000, VECTOR};
    for (int k = 0; k < 2; k++) {
        const tw_space space = {.local_size = lengths[k]};
        double *V = test_random_vector(&random, lengths[k] * BASIS),
               *x = test_random_vector(&random, lengths[k]);
        tw_vector_dot(&space, V, x, record_take(r, 1));
        tw_vector_weighted_dot(&space, x, V, x, record_take(r, 1));
        tw_vector_norm(&space, x, record_take(r, 1));
        tw_vector_dots(&space, BASIS, V, x, record_take(r, BASIS));
        tw_vector_scale(lengths[k], 1e-250, x);
        tw_vector_norm(&space, x, record_take(r, 1));
        *record_take(r, 1) = tw_vector_is_finite(lengths[k], x);
        free(V), free(x);
    }
}

/* So long that the blocks of sums are widened. */
static void run_long_sum(record *r)
{
    const int64_t n = INT64_C(32768) * 300;
    const tw_space space = {.local_size = n};
    double *x = test_allocate((size_t)n, sizeof *x);
    tw_vector_fill(n, 0.1, x);
    tw_vector_dot(&space, x, x, record_take(r, 1));
    ck_assert_double_eq_tol(r->values[0], 0.01 * (double)n, 1e-6);
    free(x);
}

START_TEST(long_sums_do_not_depend_on_threads)
{
    check_threads(run_long_sum, 1);
}
END_TEST

START_TEST(sums_do_not_depend_on_threads)
{
    check_threads(run_sums, 100);
}
END_TEST

static void run_maps(record *r)
{
    test_random random = {2};
    double *V = test_random_vector(&random, (int64_t)VECTOR * BASIS),
           *C = test_random_vector(&random, BASIS * OUTPUTS);
    double *outputs[OUTPUTS];
    for (int o = 0; o < OUTPUTS; o++) outputs[o] = record_take(r, VECTOR);
    tw_vector_combine(VECTOR, BASIS, V, OUTPUTS, C, outputs);
    tw_vector_add_combination(VECTOR, BASIS, V, C, outputs[0]);
    tw_vector_axpy(VECTOR, 0.1, V, outputs[1]);
    tw_vector_axpby(VECTOR, 0.1, V, 0.3, outputs[2]);
    tw_vector_multiply(VECTOR, V, outputs[0], outputs[3]);
    tw_vector_divide(VECTOR, V, outputs[0], outputs[4]);
    tw_vector_scale(VECTOR, 1.1, outputs[5]);
    tw_vector_copy(VECTOR, V, record_take(r, VECTOR));
    tw_vector_fill(VECTOR, 3, record_take(r, VECTOR));
    free(V), free(C);
}

START_TEST(maps_do_not_depend_on_threads)
{
    check_threads(run_maps, (int64_t)VECTOR * (OUTPUTS + 2));
}
END_TEST

/* The last is so thick that what the parts of upper storage leave to each other is gathered by several threads. */
static const test_lattice lattices[] = {
    {8, 9, 180, 1, 0.5}, {8, 9, 180, 3, 0.5}, {40, 40, 18, 1, 0.5}};
enum { PRODUCT_ENTRIES = 2 * 10 * (4 * 8 * 9 * 180 + 40 * 40 * 18) + 6 };

static void run_products(record *r)
{
    test_random random = {3};
    for (int k = 0; k < 3; k++)
        for (tw_sparse_storage storage = TW_STORE_FULL; storage <= TW_STORE_UPPER; storage++) {
            tw_sparse *A = test_lattice_matrix(&lattices[k], storage);
            const int64_t n = tw_sparse_size(A);
            double *x = test_random_vector(&random, n * TW_MAX_BLOCK);
            for (int count = 1; count <= TW_MAX_BLOCK; count++)
                ck_assert_int_eq(tw_sparse_apply(A, count, x, record_take(r, n * count)), TW_OK);
            *record_take(r, 1) = tw_sparse_norm_bound(A, x);
            free(x);
            tw_sparse_free(A);
        }
}

START_TEST(products_do_not_depend_on_threads)
{
    check_threads(run_products, PRODUCT_ENTRIES);
}
END_TEST

static void run_factor(record *r)
{
    test_random random = {4};
    const test_lattice lattice = {8, 8, 12, 3, 0.1};
    tw_sparse *K = test_lattice_matrix(&lattice, TW_STORE_UPPER);
    const int64_t n = tw_sparse_size(K);
    double *x = test_random_vector(&random, n * TW_MAX_BLOCK);
    tw_cholesky *factor = NULL;
    ck_assert_int_eq(tw_cholesky_create(K, NULL, &factor, NULL), TW_OK);
    ck_assert_int_eq(tw_cholesky_factor(factor, 1, NULL, 3), TW_OK);
    for (int count = 1; count <= TW_MAX_BLOCK; count++)
        ck_assert_int_eq(tw_cholesky_solve(factor, count, x, record_take(r, n * count)), TW_OK);
    tw_cholesky_free(factor);
    tw_sparse_free(K);
    free(x);
}

START_TEST(solutions_do_not_depend_on_threads)
{
    check_threads(run_factor, 8 * 8 * 12 * 3 * 10);
}
END_TEST

static void run_all(record *r)
{
    run_sums(r);
    run_products(r);
    for (int repeat = 0; repeat < 3; repeat++) run_factor(r);
}

static void *run_all_in_thread(void *context)
{
    tw_set_threads(2);
    run_all(context);
    return NULL;
}

/* Also the orderings are made at the same time, where METIS's global state is in the way. */
START_TEST(objects_of_two_threads_do_not_meet)
{
    enum { ROOM = 2000000, WORKERS = 2 };
    record alone = record_create(ROOM), together[WORKERS];
    pthread_t workers[WORKERS];
    run_all(&alone);
    for (int k = 0; k < WORKERS; k++) together[k] = record_create(ROOM);
    for (int k = 0; k < WORKERS; k++)
        ck_assert_int_eq(pthread_create(&workers[k], NULL, run_all_in_thread, &together[k]), 0);
    for (int k = 0; k < WORKERS; k++) {
        ck_assert_int_eq(pthread_join(workers[k], NULL), 0);
        ck_assert_int_eq(together[k].used, alone.used);
        ck_assert_mem_eq(together[k].values, alone.values, (size_t)alone.used * sizeof(double));
        free(together[k].values);
    }
    free(alone.values);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("parallel");
    TCase *cases = tcase_create("parallel");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, sums_do_not_depend_on_threads);
    tcase_add_test(cases, long_sums_do_not_depend_on_threads);
    tcase_add_test(cases, maps_do_not_depend_on_threads);
    tcase_add_test(cases, products_do_not_depend_on_threads);
    tcase_add_test(cases, solutions_do_not_depend_on_threads);
    tcase_add_test(cases, objects_of_two_threads_do_not_meet);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
