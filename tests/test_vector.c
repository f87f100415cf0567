/* Vector kernels against plain loops in long double. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/vector.h"
#include "support/run_suite.h"
#include "support/sparse_cases.h"

/* Around every block and unrolling border. */
static const int64_t sizes[] = {0,  1,  3,    4,    5,    7,     8,     15,    16,
                                17, 63, 1023, 1025, 2049, 32767, 32768, 32785, 100003};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* sum_i w_i x_i y_i, and the rounding error that any order of summation may leave. */
static long double reference_dot(int64_t n, const double *w, const double *x, const double *y,
                                 double *error)
{
    long double sum = 0, size = 0;
    for (int64_t i = 0; i < n; i++) {
        long double term = (long double)(w ? w[i] : 1) * x[i] * y[i];
        sum += term;
        size += fabsl(term);
    }
    *error = (double)(size * sqrtl((long double)n + 1) * DBL_EPSILON);
    return sum;
}

START_TEST(dots_agree_with_long_double)
{
    test_random random = {1};
    for (int s = 0; s < SIZES; s++) {
        const int64_t n = sizes[s];
        const tw_space space = {.local_size = n};
        double *w = test_random_vector(&random, n), *x = test_random_vector(&random, n),
               *y = test_random_vector(&random, n);
        double result = NAN, error = 0;
        ck_assert_int_eq(tw_vector_dot(&space, x, y, &result), TW_OK);
        double expected = (double)reference_dot(n, NULL, x, y, &error);
        ck_assert_double_le(fabs(result - expected), error);
        ck_assert_int_eq(tw_vector_weighted_dot(&space, w, x, y, &result), TW_OK);
        expected = (double)reference_dot(n, w, x, y, &error);
        ck_assert_double_le(fabs(result - expected), error);
        ck_assert_int_eq(tw_vector_norm(&space, x, &result), TW_OK);
        expected = (double)sqrtl(reference_dot(n, NULL, x, x, &error));
        ck_assert_double_le(fabs(result - expected), 1e-14 * expected);
        free(w), free(x), free(y);
    }
}
END_TEST

START_TEST(multiple_dots_agree_with_long_double)
{
    test_random random = {2};
    for (int s = 0; s < SIZES; s++)
        for (int count = 0; count <= 37; count += count < 5 ? 1 : 8) {
            const int64_t n = sizes[s];
            const tw_space space = {.local_size = n};
            double *V = test_random_vector(&random, n * count), *x = test_random_vector(&random, n),
                   results[64], error = 0;
            int wrong = 0;
            ck_assert_int_eq(tw_vector_dots(&space, count, V, x, results), TW_OK);
            for (int j = 0; j < count; j++) {
                double expected = (double)reference_dot(n, NULL, V + j * n, x, &error);
                wrong += !(fabs(results[j] - expected) <= error);
            }
            ck_assert_int_eq(wrong, 0);
            free(V), free(x);
        }
}
END_TEST

START_TEST(norm_neither_overflows_nor_underflows)
{
    const double scales[] = {1e300, 1e-300, 1e200, 1e-200, 5e-324, 1, 0};
    test_random random = {3};
    const int64_t n = 1000;
    const tw_space space = {.local_size = n};
    double *x = test_random_vector(&random, n), *scaled = test_random_vector(&random, n), plain = 0,
           result = 0;
    for (int64_t i = 0; i < n; i++) x[i] = x[i] < 0 ? -3 : 3;
    ck_assert_int_eq(tw_vector_norm(&space, x, &plain), TW_OK);
    for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
        for (int64_t i = 0; i < n; i++) scaled[i] = scales[k] * x[i];
        ck_assert_int_eq(tw_vector_norm(&space, scaled, &result), TW_OK);
        ck_assert_double_le(fabs(result - plain * scales[k]),
                            fmax(1e-14 * plain * scales[k], 5e-324));
    }
    /* Sizes mixed: the large one decides, the small ones still count where they can. */
    for (int64_t i = 0; i < n; i++) scaled[i] = 1e-170;
    scaled[500] = 1e-169;
    ck_assert_int_eq(tw_vector_norm(&space, scaled, &result), TW_OK);
    ck_assert_double_eq_tol(result / 1e-170, sqrt(999 + 100), 1e-12);
    scaled[0] = 1e300, scaled[1] = 1e10;
    ck_assert_int_eq(tw_vector_norm(&space, scaled, &result), TW_OK);
    ck_assert_double_eq(result, 1e300);
    scaled[7] = INFINITY;
    ck_assert_int_eq(tw_vector_norm(&space, scaled, &result), TW_OK);
    ck_assert(result == INFINITY);
    scaled[9] = NAN;
    ck_assert_int_eq(tw_vector_norm(&space, scaled, &result), TW_OK);
    ck_assert(isnan(result));
    free(x), free(scaled);
}
END_TEST

/* A second rank that holds the same part: sums double. */
static tw_status double_all(void *context, double *values, int count)
{
    int *calls = context;
    ++*calls;
    for (int i = 0; i < count; i++) values[i] *= 2;
    return TW_OK;
}

static tw_status refuse(void *context, double *values, int count)
{
    (void)context, (void)values, (void)count;
    return TW_INTERRUPTED;
}

START_TEST(sums_go_through_the_reduce_hook)
{
    int calls = 0;
    const tw_space two_ranks = {.local_size = 3, .reduce = double_all, .context = &calls};
    const tw_space broken = {.local_size = 3, .reduce = refuse};
    const double x[3] = {1, 2, 2}, tiny[3] = {1e-300, 2e-300, 2e-300}, w[3] = {1, 0, 0};
    double result[3];
    ck_assert_int_eq(tw_vector_dot(&two_ranks, x, x, result), TW_OK);
    ck_assert_double_eq(result[0], 18);
    ck_assert_int_eq(tw_vector_weighted_dot(&two_ranks, w, x, x, result), TW_OK);
    ck_assert_double_eq(result[0], 2);
    ck_assert_int_eq(tw_vector_norm(&two_ranks, x, result), TW_OK);
    ck_assert_double_eq(result[0], sqrt(18));
    ck_assert_int_eq(calls, 3);
    ck_assert_int_eq(tw_vector_norm(&two_ranks, tiny, result), TW_OK);
    ck_assert_double_eq_tol(result[0] / 1e-300, sqrt(18), 1e-14);
    calls = 0;
    ck_assert_int_eq(tw_vector_dots(&two_ranks, 1, x, x, result), TW_OK);
    ck_assert_double_eq(result[0], 18);
    ck_assert_int_eq(calls, 1);
    ck_assert_int_eq(tw_vector_dot(&broken, x, x, result), TW_INTERRUPTED);
    ck_assert_int_eq(tw_vector_norm(&broken, x, result), TW_INTERRUPTED);
    ck_assert_int_eq(tw_vector_dots(&broken, 1, x, x, result), TW_INTERRUPTED);
}
END_TEST

static int count_different(int64_t n, const double *x, const double *y)
{
    int different = 0;
    for (int64_t i = 0; i < n; i++) different += x[i] != y[i];
    return different;
}

START_TEST(maps_are_what_they_say)
{
    test_random random = {4};
    for (int s = 0; s < SIZES; s++) {
        const int64_t n = sizes[s];
        double *w = test_random_vector(&random, n), *x = test_random_vector(&random, n);
        double *start = test_random_vector(&random, n), *y = test_random_vector(&random, n);
        double *expected = test_random_vector(&random, n);
        tw_vector_copy(n, start, y);
        ck_assert_int_eq(count_different(n, start, y), 0);
        tw_vector_axpy(n, 0.3, x, y);
        for (int64_t i = 0; i < n; i++) expected[i] = start[i] + 0.3 * x[i];
        ck_assert_int_eq(count_different(n, expected, y), 0);
        tw_vector_axpby(n, 0.7, w, -2, y);
        for (int64_t i = 0; i < n; i++) expected[i] = 0.7 * w[i] + -2 * expected[i];
        ck_assert_int_eq(count_different(n, expected, y), 0);
        tw_vector_scale(n, 1.1, y);
        for (int64_t i = 0; i < n; i++) expected[i] *= 1.1;
        ck_assert_int_eq(count_different(n, expected, y), 0);
        tw_vector_multiply(n, w, x, y);
        for (int64_t i = 0; i < n; i++) expected[i] = w[i] * x[i];
        ck_assert_int_eq(count_different(n, expected, y), 0);
        tw_vector_divide(n, w, x, y);
        for (int64_t i = 0; i < n; i++) expected[i] = x[i] / w[i];
        ck_assert_int_eq(count_different(n, expected, y), 0);
        tw_vector_fill(n, 4.5, y);
        for (int64_t i = 0; i < n; i++) expected[i] = 4.5;
        ck_assert_int_eq(count_different(n, expected, y), 0);
        free(w), free(x), free(start), free(y), free(expected);
    }
}
END_TEST

/* Whether y = start + sum_j c_j V_j up to rounding; `start` NULL means zero. */
static bool is_combination(int64_t n, int count, const double *V, const double *c,
                           const double *start, const double *y)
{
    for (int64_t i = 0; i < n; i++) {
        long double sum = start ? start[i] : 0, size = fabsl(sum);
        for (int j = 0; j < count; j++) {
            sum += (long double)c[j] * V[j * n + i];
            size += fabsl((long double)c[j] * V[j * n + i]);
        }
        if (!(fabsl(y[i] - sum) <= size * (count + 1) * DBL_EPSILON)) return false;
    }
    return true;
}

static void check_combinations(int64_t n, int count, int outputs, test_random *random)
{
    double *V = test_random_vector(random, n * count),
           *C = test_random_vector(random, (int64_t)count * outputs + count);
    double *y[8], *start = test_random_vector(random, n);
    for (int o = 0; o <= outputs; o++) y[o] = test_random_vector(random, n);
    tw_vector_combine(n, count, V, outputs, C, y);
    for (int o = 0; o < outputs; o++)
        ck_assert(is_combination(n, count, V, C + o * count, NULL, y[o]));
    tw_vector_copy(n, start, y[0]);
    tw_vector_add_combination(n, count, V, C, y[0]);
    ck_assert(is_combination(n, count, V, C, start, y[0]));
    free(V), free(C), free(start);
    for (int o = 0; o <= outputs; o++) free(y[o]);
}

START_TEST(combinations_agree_with_long_double)
{
    test_random random = {5};
    for (int s = 0; s < SIZES; s++) {
        if (sizes[s] > 3000) {
            check_combinations(sizes[s], 9, 3, &random);
            continue;
        }
        for (int count = 0; count <= 13; count += count < 5 ? 1 : 4)
            for (int outputs = 0; outputs <= 7; outputs++)
                check_combinations(sizes[s], count, outputs, &random);
    }
}
END_TEST

START_TEST(finite_check_sees_every_entry)
{
    const double bad[] = {INFINITY, -INFINITY, NAN, -NAN};
    for (int s = 0; s < SIZES; s++) {
        const int64_t n = sizes[s];
        double *x = test_allocate((size_t)n, sizeof *x);
        for (int64_t i = 0; i < n; i++) x[i] = i % 2 ? DBL_MAX : -5e-324;
        ck_assert(tw_vector_is_finite(n, x));
        int missed = 0;
        for (int64_t i = 0; i < n; i += 1 + n / 97) {
            const double kept = x[i];
            x[i] = bad[i % 4];
            missed += tw_vector_is_finite(n, x);
            x[i] = kept;
        }
        ck_assert_int_eq(missed, 0);
        free(x);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("vector");
    TCase *cases = tcase_create("vector");
    tcase_add_test(cases, dots_agree_with_long_double);
    tcase_add_test(cases, multiple_dots_agree_with_long_double);
    tcase_add_test(cases, norm_neither_overflows_nor_underflows);
    tcase_add_test(cases, sums_go_through_the_reduce_hook);
    tcase_add_test(cases, maps_are_what_they_say);
    tcase_add_test(cases, combinations_agree_with_long_double);
    tcase_add_test(cases, finite_check_sees_every_entry);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
