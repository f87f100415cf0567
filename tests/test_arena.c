#include <stdint.h>
#include <string.h>
#include <twang/memory.h>

#include "base/arena.h"
#include "support/failing_allocator.h"
#include "support/run_suite.h"

START_TEST(takes_are_aligned_and_apart)
{
    tw_arena arena;
    ck_assert_int_eq(tw_arena_create(&arena, 10 * 64), TW_OK);
    char *first = tw_arena_take(&arena, 65, 1), *second = tw_arena_take(&arena, 8, 8);
    ck_assert_ptr_nonnull(first);
    ck_assert_uint_eq((uintptr_t)first % 64, 0);
    ck_assert_ptr_eq(second, first + 128);
    memset(first, 1, 65);
    memset(second, 2, 64);
    ck_assert_int_eq(first[64], 1);
    tw_arena_free(&arena);
}
END_TEST

START_TEST(full_means_null_and_nothing_taken)
{
    tw_arena arena;
    ck_assert_int_eq(tw_arena_create(&arena, 4 * 64), TW_OK);
    ck_assert_ptr_nonnull(tw_arena_take(&arena, 3, 64));
    ck_assert_ptr_null(tw_arena_take(&arena, 65, 1));
    ck_assert_ptr_null(tw_arena_take(&arena, SIZE_MAX, 1));
    ck_assert_ptr_null(tw_arena_take(&arena, SIZE_MAX / 4, 8));
    ck_assert_ptr_nonnull(tw_arena_take(&arena, 64, 1));
    ck_assert_ptr_null(tw_arena_take(&arena, 1, 1));
    tw_arena_free(&arena);
}
END_TEST

START_TEST(reset_gives_back_and_peak_remembers)
{
    tw_arena arena;
    ck_assert_int_eq(tw_arena_create(&arena, 1 << 16), TW_OK);
    tw_memory_counts before = tw_memory_counts_now();
    void *kept = tw_arena_take(&arena, 1, 1);
    size_t mark = tw_arena_mark(&arena);
    void *again = NULL;
    for (int round = 0; round < 100; round++) {
        void *block = tw_arena_take(&arena, 1000, 8);
        ck_assert_ptr_nonnull(block);
        ck_assert(!again || block == again);
        again = block;
        tw_arena_reset(&arena, mark);
    }
    ck_assert_uint_eq(arena.used, 64);
    ck_assert_uint_eq(arena.peak, 64 + 8000);
    ck_assert_ptr_ne(kept, again);
    ck_assert_int_eq(tw_memory_counts_now().allocations, before.allocations);
    tw_arena_free(&arena);
}
END_TEST

static tw_status create_and_free(void *context)
{
    (void)context;
    tw_arena arena;
    tw_status status = tw_arena_create(&arena, 1000);
    void *block = tw_arena_take(&arena, 1, 1);
    ck_assert_int_eq(block != NULL, status == TW_OK);
    tw_arena_free(&arena);
    return status;
}

START_TEST(no_memory_is_a_status)
{
    ck_assert_int_eq(test_fail_each_allocation(create_and_free, NULL), 1);
    tw_arena_free(NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("arena");
    TCase *cases = tcase_create("arena");
    tcase_add_test(cases, takes_are_aligned_and_apart);
    tcase_add_test(cases, full_means_null_and_nothing_taken);
    tcase_add_test(cases, reset_gives_back_and_peak_remembers);
    tcase_add_test(cases, no_memory_is_a_status);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
