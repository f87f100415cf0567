#include <string.h>
#include <twang/twang.h>

#include "base/fail.h"
#include "support/run_suite.h"

START_TEST(every_status_has_its_own_text)
{
    for (int i = 0; i < TW_STATUS_COUNT; i++) {
        ck_assert_str_ne(tw_status_text((tw_status)i), "unknown status");
        for (int j = 0; j < i; j++)
            ck_assert_str_ne(tw_status_text((tw_status)i), tw_status_text((tw_status)j));
        ck_assert_int_eq(strncmp(tw_status_name((tw_status)i), "TW_", 3), 0);
    }
    ck_assert_str_eq(tw_status_text((tw_status)-1), "unknown status");
}
END_TEST

START_TEST(version_of_library_is_version_of_headers)
{
    ck_assert_str_eq(tw_version(), TW_VERSION);
}
END_TEST

/* Counts how far a function with TW_TRY gets. */
static tw_status two_steps(tw_status first, tw_status second, int *steps)
{
    TW_TRY(first);
    ++*steps;
    TW_TRY(second);
    ++*steps;
    return TW_OK;
}

START_TEST(try_returns_the_first_failure)
{
    int steps = 0;
    ck_assert_int_eq(two_steps(TW_OK, TW_OK, &steps), TW_OK);
    ck_assert_int_eq(steps, 2);
    steps = 0;
    ck_assert_int_eq(two_steps(TW_OK, TW_BAD_INPUT, &steps), TW_BAD_INPUT);
    ck_assert_int_eq(steps, 1);
    steps = 0;
    ck_assert_int_eq(two_steps(TW_NOT_FINITE, TW_BAD_INPUT, &steps), TW_NOT_FINITE);
    ck_assert_int_eq(steps, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("status");
    TCase *cases = tcase_create("status");
    tcase_add_test(cases, every_status_has_its_own_text);
    tcase_add_test(cases, version_of_library_is_version_of_headers);
    tcase_add_test(cases, try_returns_the_first_failure);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
