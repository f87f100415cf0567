/* The sums of regularised Stokeslets against what one core can do.
 *
 *     bench_stokeslet [POINTS] [REPETITIONS]
 *
 * The limit is measured in the same run, by two loops without memory traffic: vector multiply-adds,
 * and 1/sqrt. A pair costs 20 vector operations (3 subtractions, 1 addition, 3 + 2 products and
 * multiply-adds for s and its powers, 3 for f . r, 2 for the coefficients, 6 for the sums) and one
 * 1/sqrt per four pairs. The two run in units of their own, so the limit is the larger of both
 * times. Each time is the smallest of all repetitions: others share the machine. */
#define _POSIX_C_SOURCE 199309L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <twang/parallel.h>

#include "base/simd.h"
#include "fluid/stokeslets.h"

enum { PAIR_OPERATIONS = 20, CHANGE_OPERATIONS = 29, LOOP = 1 << 16, CHAINS = 12 };

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Keeps a result from being optimised away. */
static volatile double sink;

/* Seconds of one vector multiply-add, in chains that do not wait for each other. */
static double multiply_add_time(void)
{
    tw_wide sum[CHAINS];
    for (int c = 0; c < CHAINS; c++) sum[c] = tw_wide_splat(0.1 * c);
    tw_wide a = tw_wide_splat(0.999);
    tw_wide b = tw_wide_splat(1e-3);

    double begin = seconds_now();
    for (int i = 0; i < LOOP; i++)
        for (int c = 0; c < CHAINS; c++) sum[c] = tw_wide_fma(sum[c], a, b);
    double end = seconds_now();

    double total = 0;
    for (int c = 0; c < CHAINS; c++) total += tw_wide_sum(sum[c]);
    sink = total;
    return (end - begin) / ((double)LOOP * CHAINS);
}

/* Seconds of one vector 1/sqrt. */
static double inverse_sqrt_time(void)
{
    tw_wide a[CHAINS];
    for (int c = 0; c < CHAINS; c++) a[c] = tw_wide_splat(1.0 + 0.1 * c);

    double begin = seconds_now();
    for (int i = 0; i < LOOP; i++)
        for (int c = 0; c < CHAINS; c++) a[c] = tw_wide_inverse_sqrt(a[c]);
    double end = seconds_now();

    double total = 0;
    for (int c = 0; c < CHAINS; c++) total += tw_wide_sum(a[c]);
    sink = total;
    return (end - begin) / ((double)LOOP * CHAINS);
}

static void print_row(const char *name, double time, double limit)
{
    printf("%-32s %8.3f ns per pair, %.2f of the limit of %.3f ns\n", name, 1e9 * time,
           time / limit, 1e9 * limit);
}

static double *new_array(size_t count)
{
    double *array = malloc(count * sizeof *array);
    if (!array) exit(1);
    return array;
}

int main(int argc, char **argv)
{
    int points = argc > 1 ? atoi(argv[1]) : 2048;
    int repetitions = argc > 2 ? atoi(argv[2]) : 20;
    if (points < 1 || repetitions < 1) return 2;
    tw_set_threads(1);

    size_t size = 3 * (size_t)points;
    double *x = new_array(size);
    double *f = new_array(size);
    double *u = new_array(size);
    double *radius = new_array((size_t)points);
    for (size_t i = 0; i < size; i++) x[i] = sin(12.9898 * (double)(i + 1));
    for (size_t i = 0; i < size; i++) f[i] = cos(78.233 * (double)(i + 1));
    for (int i = 0; i < points; i++) radius[i] = 0.05;
    tw_stokeslets *s = tw_stokeslets_create(points, radius, 1e-3);
    if (!s) exit(1);
    tw_stokeslets_place(s, x);

    /* The smallest times, all in turn. */
    double fma = INFINITY;
    double root = INFINITY;
    double velocity = INFINITY;
    double change = INFINITY;
    double pairs = (double)points * points;
    for (int r = 0; r < repetitions; r++) {
        fma = fmin(fma, multiply_add_time());
        root = fmin(root, inverse_sqrt_time());
        double begin = seconds_now();
        tw_stokeslets_velocity(s, f, u);
        double middle = seconds_now();
        tw_stokeslets_change(s, f, f, x, u);
        double end = seconds_now();
        velocity = fmin(velocity, (middle - begin) / pairs);
        change = fmin(change, (end - middle) / pairs);
        sink = u[0];
    }

    /* One vector serves four pairs. */
    double lanes = TW_WIDE_LANES;
    double flops = 2 * lanes / fma;
    printf("%d points, %d lanes\n", points, TW_WIDE_LANES);
    printf("multiply-add %.3f ns per vector (%.1f Gflop/s), 1/sqrt %.3f ns per vector\n", 1e9 * fma,
           1e-9 * flops, 1e9 * root);
    print_row("velocity", velocity, fmax(PAIR_OPERATIONS * fma, root) / lanes);
    print_row("velocity and its derivative", change,
              fmax((PAIR_OPERATIONS + CHANGE_OPERATIONS) * fma, root) / lanes);

    tw_stokeslets_free(s);
    free(x);
    free(f);
    free(u);
    free(radius);
    return 0;
}
