#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "base/allocate.h"
#include "support/failing_allocator.h"
#include "support/run_suite.h"

START_TEST(blocks_are_aligned_and_counted)
{
    tw_memory_counts before = tw_memory_counts_now();
    void *blocks[20];
    for (size_t i = 0; i < 20; i++) {
        blocks[i] = tw_allocate(i, 13);
        ck_assert_ptr_nonnull(blocks[i]);
        ck_assert_uint_eq((uintptr_t)blocks[i] % 64, 0);
        memset(blocks[i], 0xAB, i * 13);
    }
    tw_memory_counts during = tw_memory_counts_now();
    ck_assert_int_eq(during.allocations - before.allocations, 20);
    ck_assert_int_eq(during.current_bytes - before.current_bytes,
                     13 * 190 + 1); /* a block of nothing counts as a byte */
    ck_assert_int_ge(during.peak_bytes, during.current_bytes);
    for (int i = 0; i < 20; i++) tw_release(blocks[i]);
    tw_memory_counts after = tw_memory_counts_now();
    ck_assert_int_eq(after.current_bytes, before.current_bytes);
    ck_assert_int_eq(after.releases - before.releases, 20);
    ck_assert_int_eq(after.peak_bytes, during.peak_bytes);
}
END_TEST

START_TEST(zeroed_blocks_are_zero)
{
    unsigned char *block = tw_allocate(1000, 1);
    ck_assert_ptr_nonnull(block);
    memset(block, 0xFF, 1000);
    tw_release(block);
    block = tw_allocate_zeroed(1000, 1);
    ck_assert_ptr_nonnull(block);
    for (int i = 0; i < 1000; i++) ck_assert_int_eq(block[i], 0);
    tw_release(block);
}
END_TEST

START_TEST(copies_are_their_own)
{
    static const int numbers[] = {1, 2, 3};
    bool good = true;
    int *copy = tw_copy_array(numbers, 3, sizeof *numbers, &good);
    ck_assert_mem_eq(copy, numbers, sizeof numbers);
    tw_release(copy);
    ck_assert_ptr_null(tw_copy_array(NULL, 3, sizeof *numbers, &good));
    ck_assert_ptr_null(tw_copy_array(numbers, 0, sizeof *numbers, &good));
    ck_assert(good);
    ck_assert_ptr_null(tw_copy_array(numbers, INT64_MAX, sizeof *numbers, &good));
    ck_assert(!good);
}
END_TEST

START_TEST(sizes_that_overflow_fail)
{
    tw_memory_counts before = tw_memory_counts_now();
    ck_assert_ptr_null(tw_allocate(SIZE_MAX / 2, 3));
    ck_assert_ptr_null(tw_allocate(SIZE_MAX, 1));
    ck_assert_ptr_null(tw_allocate_zeroed(SIZE_MAX / 8, 16));
    tw_memory_counts after = tw_memory_counts_now();
    ck_assert_int_eq(after.failures - before.failures, 3);
    ck_assert_int_eq(after.allocations, before.allocations);
    ck_assert_int_eq(after.current_bytes, before.current_bytes);
}
END_TEST

START_TEST(null_may_be_released)
{
    tw_memory_counts before = tw_memory_counts_now();
    tw_release(NULL);
    ck_assert_int_eq(tw_memory_counts_now().releases, before.releases);
}
END_TEST

typedef struct ledger {
    int allocated, released;
    size_t smallest_alignment;
} ledger;

static void *ledger_allocate(void *context, size_t size, size_t alignment)
{
    ledger *book = context;
    book->allocated++;
    if (alignment < book->smallest_alignment) book->smallest_alignment = alignment;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void ledger_release(void *context, void *block)
{
    ledger *book = context;
    book->released++;
    ck_assert_ptr_nonnull(block);
    free(block);
}

START_TEST(hook_sees_every_block)
{
    ledger book = {.smallest_alignment = SIZE_MAX};
    tw_allocator hook = {ledger_allocate, ledger_release, &book};
    ck_assert_int_eq(tw_memory_set_allocator(&hook), TW_OK);
    double *values = TW_NEW_ARRAY(7, double);
    ck_assert_ptr_nonnull(values);
    tw_release(values);
    tw_release(NULL);
    ck_assert_int_eq(tw_memory_set_allocator(NULL), TW_OK);
    tw_release(tw_allocate(1, 1));
    ck_assert_int_eq(book.allocated, 1);
    ck_assert_int_eq(book.released, 1);
    ck_assert_uint_ge(book.smallest_alignment, 16);
}
END_TEST

START_TEST(half_an_allocator_is_refused)
{
    tw_allocator no_release = {ledger_allocate, NULL, NULL},
                 no_allocate = {NULL, ledger_release, NULL};
    ck_assert_int_eq(tw_memory_set_allocator(&no_release), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_memory_set_allocator(&no_allocate), TW_INVALID_ARGUMENT);
    tw_release(tw_allocate(1, 1)); /* the default is still in place */
}
END_TEST

static tw_status allocate_three(void *context)
{
    (void)context;
    void *first = tw_allocate(8, 8), *second = tw_allocate_zeroed(8, 8), *third = tw_allocate(0, 8);
    bool all = first && second && third;
    tw_release(first);
    tw_release(second);
    tw_release(third);
    return all ? TW_OK : TW_OUT_OF_MEMORY;
}

START_TEST(a_failing_hook_is_counted)
{
    tw_memory_counts before = tw_memory_counts_now();
    ck_assert_int_eq(test_fail_each_allocation(allocate_three, NULL), 3);
    tw_memory_counts after = tw_memory_counts_now();
    ck_assert_int_eq(after.failures - before.failures, 3);
    ck_assert_int_eq(after.allocations - before.allocations, 3 * 2 + 3);
    ck_assert_int_eq(after.current_bytes, before.current_bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory");
    TCase *cases = tcase_create("memory");
    tcase_add_test(cases, blocks_are_aligned_and_counted);
    tcase_add_test(cases, zeroed_blocks_are_zero);
    tcase_add_test(cases, copies_are_their_own);
    tcase_add_test(cases, sizes_that_overflow_fail);
    tcase_add_test(cases, null_may_be_released);
    tcase_add_test(cases, hook_sees_every_block);
    tcase_add_test(cases, half_an_allocator_is_refused);
    tcase_add_test(cases, a_failing_hook_is_counted);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
