/* The product kernel against the memory it must move, beside STREAM's triad in the same run.
 *
 *   bench_kernel [--quick]
 *
 * Matrix: BSR 3x3 on a lattice of 151,686 vertices in natural order, 14 neighbours each. Bytes of a product: values,
 * column indices, row starts, each vector in once and out once. The triad counts 24 bytes per entry, as STREAM does.
 * Measurements are interleaved and the best of each is taken, so that a passing load disturbs them alike. One thread is
 * timed by its processor time, which other processes disturb least; two need the wall clock, and a line says during how
 * many measurements the system left us the processors: if few, the machine is too busy for these.
 * One line per target ends in PASS or FAIL; the exit status is 0 only if all pass. */
#define _GNU_SOURCE /* clock_gettime, getrusage */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <twang/twang.h>

#include "base/allocate.h"
#include "base/parallel_for.h"
#include "base/timer.h"
#include "support/sparse_cases.h"

enum {
    MAX_THREADS = 2,
    TRIAD_ENTRIES = 1 << 24, /* 128 MB per array, four times a large L3 */
    TRIAD_BLOCK = 1 << 16
};

typedef struct triad_arrays {
    double *a, *b, *c;
} triad_arrays;

static void triad_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const triad_arrays *arrays = context;
    double *restrict a = arrays->a;
    const double *restrict b = arrays->b, *restrict c = arrays->c;
    for (int64_t i = begin; i < end; i++) a[i] = b[i] + 3.0 * c[i];
}

typedef struct bench {
    tw_sparse *matrix[2];
    triad_arrays triad;
    double *x, *y;
    /* The best times seen, in seconds. */
    double triad_seconds[MAX_THREADS + 1];
    double product_seconds[2][TW_MAX_BLOCK + 1][MAX_THREADS + 1]; /* storage, vectors, threads */
    int measurements, undisturbed;
} bench;

/* How often the system has taken a processor away from a thread of ours. */
static long preemptions(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nivcsw;
}

typedef void measured_work(bench *b, int storage, int count);

static double clock_now(int threads)
{
    if (threads > 1) return tw_clock();
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void measure(bench *b, measured_work *work, int storage, int count, double *best)
{
    const long before = preemptions();
    const double start = clock_now(tw_threads());
    work(b, storage, count);
    const double seconds = clock_now(tw_threads()) - start;
    if (*best == 0 || seconds < *best) *best = seconds;
    b->measurements++;
    b->undisturbed += preemptions() == before;
}

static void run_triad(bench *b, int storage, int count)
{
    (void)storage, (void)count;
    tw_parallel_for(TRIAD_ENTRIES, TRIAD_BLOCK, triad_block, &b->triad);
}

static void run_product(bench *b, int storage, int count)
{
    if (tw_sparse_apply(b->matrix[storage], count, b->x, b->y)) abort();
}

static void measure_once(bench *b)
{
    for (int threads = 1; threads <= MAX_THREADS; threads++) {
        tw_set_threads(threads);
        measure(b, run_triad, 0, 0, &b->triad_seconds[threads]);
        for (int storage = 0; storage < 2; storage++)
            for (int count = 1; count <= TW_MAX_BLOCK; count++)
                measure(b, run_product, storage, count,
                        &b->product_seconds[storage][count][threads]);
    }
}

/* From the library's allocator, as the matrix is: both sides get the same pages. */
static double *vector_of_ones(int64_t n)
{
    double *x = TW_NEW_ARRAY(n, double);
    if (!x) abort();
    for (int64_t i = 0; i < n; i++) x[i] = 1;
    return x;
}

static double triad_rate(const bench *b, int threads)
{
    return 3.0 * sizeof(double) * TRIAD_ENTRIES / b->triad_seconds[threads];
}

static double product_bytes(const bench *b, int storage, int count)
{
    double vector = 2.0 * sizeof(double) * (double)tw_sparse_size(b->matrix[storage]);
    return tw_sparse_bytes_per_product(b->matrix[storage]) + (count - 1) * vector;
}

static double product_rate(const bench *b, int storage, int count, int threads)
{
    return product_bytes(b, storage, count) / b->product_seconds[storage][count][threads];
}

/* The gain of a second thread, relative to the triad's. */
static double relative_gain(const bench *b, int storage, int count)
{
    double gain = b->product_seconds[storage][count][1] / b->product_seconds[storage][count][2];
    return gain / (b->triad_seconds[1] / b->triad_seconds[2]);
}

static const char *const storage_name[2] = {"full", "upper"};

static void print_table(const bench *b)
{
    for (int threads = 1; threads <= MAX_THREADS; threads++)
        printf("triad, %d thread%s: %.2f GB/s\n", threads, threads > 1 ? "s" : "",
               triad_rate(b, threads) / 1e9);
    printf("\nstorage vectors threads        MB        ms      GB/s  %% of triad  time / one "
           "vector  gain / triad's\n");
    for (int s = 0; s < 2; s++)
        for (int count = 1; count <= TW_MAX_BLOCK; count++)
            for (int t = 1; t <= MAX_THREADS; t++) {
                const double seconds = b->product_seconds[s][count][t],
                             rate = product_rate(b, s, count, t);
                printf("%-7s %7d %7d %9.1f %9.3f %9.2f %11.0f %18.2f", storage_name[s], count, t,
                       product_bytes(b, s, count) / 1e6, 1e3 * seconds, rate / 1e9,
                       100 * rate / triad_rate(b, t), seconds / b->product_seconds[s][1][t]);
                if (t > 1) printf(" %15.2f", relative_gain(b, s, count));
                printf("\n");
            }
    printf("\n%d of %d measurements undisturbed\n", b->undisturbed, b->measurements);
}

static bool target(const char *what, const char *storage, int threads, double value, bool at_least,
                   double bound)
{
    bool met = at_least ? value >= bound : value <= bound;
    printf("%s, %s storage, %d thread%s: %.2f (%s %.2f) %s\n", what, storage, threads,
           threads > 1 ? "s" : "", value, at_least ? "at least" : "at most", bound,
           met ? "PASS" : "FAIL");
    return met;
}

static bool check_targets(const bench *b)
{
    bool met = true;
    for (int s = 0; s < 2; s++) {
        const char *name = storage_name[s];
        /* with two threads the gain is judged: that is 0.7 * 0.8 of their triad */
        met &= target("bandwidth / triad", name, 1, product_rate(b, s, 1, 1) / triad_rate(b, 1),
                      true, 0.7);
        for (int t = 1; t <= MAX_THREADS; t++)
            met &= target("two vectors / one", name, t,
                          b->product_seconds[s][2][t] / b->product_seconds[s][1][t], false, 1.3);
        met &= target("gain / triad's gain", name, 2, relative_gain(b, s, 1), true, 0.8);
    }
    return met;
}

int main(int argument_count, char **arguments)
{
    const bool quick = argument_count > 1 && strcmp(arguments[1], "--quick") == 0;
    if (argument_count > 1 + quick) {
        fprintf(stderr, "usage: bench_kernel [--quick]\n");
        return 2;
    }
    const test_lattice lattice = {53, 53, 54, 3, 1};
    bench b = {0};
    b.matrix[0] = test_lattice_matrix(&lattice, TW_STORE_FULL);
    b.matrix[1] = test_lattice_matrix(&lattice, TW_STORE_UPPER);
    b.x = vector_of_ones(TW_MAX_BLOCK * tw_sparse_size(b.matrix[0]));
    b.y = vector_of_ones(TW_MAX_BLOCK * tw_sparse_size(b.matrix[0]));
    b.triad.a = vector_of_ones(TRIAD_ENTRIES);
    b.triad.b = vector_of_ones(TRIAD_ENTRIES);
    b.triad.c = vector_of_ones(TRIAD_ENTRIES);
    for (int repeat = 0; repeat < (quick ? 12 : 60); repeat++) measure_once(&b);
    print_table(&b);
    const bool met = check_targets(&b);
    for (int s = 0; s < 2; s++) tw_sparse_free(b.matrix[s]);
    tw_release(b.x);
    tw_release(b.y);
    tw_release(b.triad.a);
    tw_release(b.triad.b);
    tw_release(b.triad.c);
    return met ? EXIT_SUCCESS : EXIT_FAILURE;
}
