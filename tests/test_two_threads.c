/* labels: threads */
/* Two threads that share nothing do not meet: the same work beside another thread gives bitwise the same. */
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <twang/twang.h>

#include "base/allocate.h"
#include "base/number.h"
#include "base/parallel_for.h"
#include "support/run_suite.h"

enum { ITEMS = 5000, BLOCK = 256, ROUNDS = 100 };

typedef struct work {
    int seed, threads;
    bool failed;
    double result;
    double *values;
} work;

static void fill_block(void *context, int64_t begin, int64_t end, int64_t index)
{
    (void)index;
    work *w = context;
    for (int64_t i = begin; i < end; i++)
        w->values[i] = sin((double)(i * w->seed)) + w->result / 1e3;
}

/* Allocates, runs parallel loops and turns numbers into text and back. */
static void *do_work(void *context)
{
    work *w = context;
    tw_set_threads(w->threads);
    for (int round = 0; round < ROUNDS && !w->failed; round++) {
        void *block = tw_allocate((size_t)round + 1, 64);
        w->values = TW_NEW_ARRAY(ITEMS, double);
        char text[TW_NUMBER_SIZE];
        if (!block || !w->values) {
            w->failed = true;
        } else {
            tw_parallel_for(ITEMS, BLOCK, fill_block, w);
            for (int i = 0; i < ITEMS; i++) w->result += w->values[i];
            if (!tw_number_parse(tw_number_print(text, w->result), &w->result)) w->failed = true;
        }
        tw_release(w->values);
        tw_release(block);
    }
    return NULL;
}

START_TEST(two_threads_do_not_meet)
{
    work alone[2] = {{.seed = 3, .threads = 1}, {.seed = 5, .threads = 1}};
    work together[2] = {{.seed = 3, .threads = 2}, {.seed = 5, .threads = 3}};
    int64_t bytes = tw_memory_counts_now().current_bytes;
    for (int i = 0; i < 2; i++) do_work(&alone[i]);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, do_work, &together[i]), 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) {
        ck_assert(!alone[i].failed && !together[i].failed);
        ck_assert(memcmp(&alone[i].result, &together[i].result, sizeof(double)) == 0);
    }
    ck_assert(alone[0].result != alone[1].result);
    ck_assert_int_eq(tw_memory_counts_now().current_bytes, bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("two_threads");
    TCase *cases = tcase_create("two_threads");
    tcase_add_test(cases, two_threads_do_not_meet);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
