/* labels: threads */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <twang/twang.h>
#include <unistd.h>

#include "base/parallel_for.h"
#include "support/run_suite.h"

typedef struct visit {
    int64_t count, block;
    int *visits;   /* per item */
    int *calls;    /* per block */
    int misplaced; /* ranges that are not what the contract says; written by one thread per block, hence atomic below */
    int slots;     /* one after the highest slot seen, likewise */
} visit;

static void record_visit(void *context, int64_t begin, int64_t end, int64_t index)
{
    visit *v = context;
    int64_t last = begin + v->block < v->count ? begin + v->block : v->count;
    if (begin != index * v->block || end != last || begin >= end)
        __atomic_fetch_add(&v->misplaced, 1, __ATOMIC_RELAXED);
    for (int64_t i = begin; i < end; i++) v->visits[i]++;
    v->calls[index]++;

    int slot = tw_parallel_slot();
    int highest = __atomic_load_n(&v->slots, __ATOMIC_RELAXED);
    while (slot >= highest && !__atomic_compare_exchange_n(&v->slots, &highest, slot + 1, false,
                                                           __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

static void check_cover(int64_t count, int64_t block, int threads)
{
    int64_t blocks = tw_parallel_blocks(count, block);
    visit v = {count,
               block,
               calloc((size_t)count + 1, sizeof(int)),
               calloc((size_t)blocks + 1, sizeof(int)),
               0,
               0};
    tw_set_threads(threads);
    tw_parallel_for(count, block, record_visit, &v);
    for (int64_t i = 0; i < count; i++) ck_assert_int_eq(v.visits[i], 1);
    for (int64_t b = 0; b < blocks; b++) ck_assert_int_eq(v.calls[b], 1);
    ck_assert_int_eq(v.misplaced, 0);
    ck_assert_int_le(v.slots, threads < blocks ? threads : (int)blocks);
    free(v.visits);
    free(v.calls);
}

START_TEST(every_item_is_visited_once)
{
    static const int64_t counts[] = {0, 1, 2, 63, 64, 65, 1000, 4097};
    static const int64_t blocks[] = {1, 3, 64, 5000};
    static const int threads[] = {1, 2, 3, 8};
    for (int c = 0; c < 8; c++)
        for (int b = 0; b < 4; b++)
            for (int t = 0; t < 4; t++) check_cover(counts[c], blocks[b], threads[t]);
}
END_TEST

static void must_not_run(void *context, int64_t begin, int64_t end, int64_t index)
{
    (void)context, (void)begin, (void)end, (void)index;
    ck_abort_msg("body called");
}

START_TEST(nothing_to_do_calls_nothing)
{
    tw_parallel_for(0, 10, must_not_run, NULL);
    tw_parallel_for(-5, 10, must_not_run, NULL);
    ck_assert_int_eq(tw_parallel_blocks(INT64_MAX, INT64_MAX), 1);
    ck_assert_int_eq(tw_parallel_blocks(INT64_MAX, 1) == INT64_MAX, 1);
}
END_TEST

enum { ITEMS = 100003, BLOCK = 1024 };
typedef struct sum {
    const double *values;
    double *partial; /* per block */
} sum;

static void add_block(void *context, int64_t begin, int64_t end, int64_t index)
{
    sum *s = context;
    double total = 0;
    for (int64_t i = begin; i < end; i++) total += s->values[i];
    s->partial[index] = total;
}

static double block_sum(const double *values, int threads)
{
    static double partial[ITEMS / BLOCK + 1];
    sum s = {values, partial};
    tw_set_threads(threads);
    tw_parallel_for(ITEMS, BLOCK, add_block, &s);
    double total = 0;
    for (int64_t b = 0; b < tw_parallel_blocks(ITEMS, BLOCK); b++) total += partial[b];
    return total;
}

START_TEST(a_sum_over_blocks_is_bitwise_the_same)
{
    double *values = malloc(ITEMS * sizeof *values), backwards = 0;
    ck_assert_ptr_nonnull(values);
    for (int i = 0; i < ITEMS; i++) values[i] = sin(i) * pow(10, i % 20 - 10);
    double one = block_sum(values, 1);
    for (int threads = 2; threads <= 9; threads++) {
        double other = block_sum(values, threads);
        ck_assert_msg(memcmp(&one, &other, sizeof one) == 0, "%d threads: %a, one: %a", threads,
                      other, one);
    }
    for (int i = ITEMS; i-- > 0;) backwards += values[i];
    ck_assert(
        backwards !=
        one); /* the order of summation shows in these values, so equality above means something */
    free(values);
}
END_TEST

static void *other_thread(void *context)
{
    tw_set_threads(5);
    *(int *)context = tw_threads();
    return NULL;
}

START_TEST(the_number_belongs_to_the_calling_thread)
{
    int seen = 0;
    tw_set_threads(3);
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, other_thread, &seen), 0);
    pthread_join(thread, NULL);
    ck_assert_int_eq(seen, 5);
    ck_assert_int_eq(tw_threads(), 3);
    tw_set_threads(0);
    ck_assert_int_eq(tw_threads(), omp_get_max_threads());
    tw_set_threads(-1);
    ck_assert_int_ge(tw_threads(), 1);
}
END_TEST

START_TEST(more_than_64_threads_count_as_64)
{
    tw_set_threads(64);
    ck_assert_int_eq(tw_threads(), 64);
    tw_set_threads(65);
    ck_assert_int_eq(tw_threads(), 64);
    tw_set_threads(1 << 30);
    ck_assert_int_eq(tw_threads(), 64);
    tw_set_threads(0);
}
END_TEST

/* ---- several threads ---- */

/* Each block waits until all blocks have begun, for which as many threads are needed, or ten seconds. */
typedef struct meeting {
    atomic_int arrived;
    atomic_bool failed;
    atomic_int slots[8]; /* how many blocks ran with each slot */
} meeting;

static void meet(void *context, int64_t begin, int64_t end, int64_t index)
{
    (void)begin, (void)end, (void)index;
    meeting *m = context;
    const struct timespec wait = {.tv_nsec = 1000000};
    atomic_fetch_add(&m->slots[tw_parallel_slot()], 1);
    atomic_fetch_add(&m->arrived, 1);
    for (int turn = 0; turn < 10000 && atomic_load(&m->arrived) < 3; turn++) nanosleep(&wait, NULL);
    if (atomic_load(&m->arrived) < 3) atomic_store(&m->failed, true);
}

START_TEST(as_many_threads_work_as_are_wanted)
{
    meeting m = {0};
    tw_set_threads(3);
    tw_parallel_for(3, 1, meet, &m);
    ck_assert(!atomic_load(&m.failed));
    for (int slot = 0; slot < 3; slot++) ck_assert_int_eq(atomic_load(&m.slots[slot]), 1);
    tw_set_threads(0);
}
END_TEST

/* ThreadSanitizer refuses to start threads after a fork. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NO_THREADS_AFTER_FORK
#endif
#endif

#ifndef NO_THREADS_AFTER_FORK
/* In the child of a fork there are no workers: its loops still end, and can have new ones. */
START_TEST(a_child_has_threads_of_its_own)
{
    meeting m = {0};
    tw_set_threads(3);
    tw_parallel_for(3, 1, meet, &m);
    pid_t child = fork();
    if (child == 0) {
        meeting again = {0};
        tw_parallel_for(3, 1, meet, &again);
        _exit(atomic_load(&again.failed) ? 1 : 0);
    }
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    tw_set_threads(0);
}
END_TEST
#endif

/* A loop inside a block runs on the thread of the block. */
static void loop_inside(void *context, int64_t begin, int64_t end, int64_t index)
{
    (void)begin, (void)end, (void)index;
    tw_parallel_for(4, 1, meet, context);
}

START_TEST(a_loop_inside_a_loop_ends)
{
    meeting m = {.arrived = 3}; /* nobody waits */
    tw_set_threads(2);
    tw_parallel_for(2, 1, loop_inside, &m);
    ck_assert_int_eq(atomic_load(&m.arrived), 3 + 8);
    tw_set_threads(0);
}
END_TEST

/* Waits as a thread does that has no processor, but on a worker only. */
static void stop_worker(void *context, int64_t begin, int64_t end, int64_t index)
{
    (void)begin, (void)end;
    atomic_bool *began = context;
    const struct timespec wait = {.tv_nsec = 100000000};
    const struct timespec turn = {.tv_nsec = 100000};

    /* The caller runs block 0 and must not take block 1 as well. */
    for (int i = 0; index == 0 && i < 100000 && !atomic_load(began); i++) nanosleep(&turn, NULL);
    if (index == 0) return;
    atomic_store(began, true);
    nanosleep(&wait, NULL);
}

static void count_workers(void *context, int64_t begin, int64_t end, int64_t index)
{
    (void)begin, (void)end, (void)index;
    const struct timespec wait = {.tv_nsec = 1000000};
    if (tw_parallel_slot() > 0) atomic_fetch_add((atomic_int *)context, 1);
    nanosleep(&wait, NULL);
}

/* After a worker was waited for that had no processor, the caller works alone for a while. */
START_TEST(threads_without_a_processor_are_given_up)
{
    atomic_bool began = false;
    tw_set_threads(2);
    tw_parallel_for(2, 1, stop_worker, &began);
    ck_assert(atomic_load(&began));

    atomic_int helped = 0;
    tw_parallel_for(8, 1, count_workers, &helped);
    ck_assert_int_eq(atomic_load(&helped), 0);
    tw_set_threads(0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("parallel_for");
    TCase *cases = tcase_create("parallel_for");
    tcase_add_test(cases, every_item_is_visited_once);
    tcase_add_test(cases, nothing_to_do_calls_nothing);
    tcase_add_test(cases, a_sum_over_blocks_is_bitwise_the_same);
    tcase_add_test(cases, the_number_belongs_to_the_calling_thread);
    tcase_add_test(cases, more_than_64_threads_count_as_64);
    tcase_add_test(cases, as_many_threads_work_as_are_wanted);
#ifndef NO_THREADS_AFTER_FORK
    tcase_add_test(cases, a_child_has_threads_of_its_own);
#endif
    tcase_add_test(cases, a_loop_inside_a_loop_ends);
    tcase_add_test(cases, threads_without_a_processor_are_given_up);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
