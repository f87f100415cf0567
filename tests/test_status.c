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

/* A text, and what is printed of it. */
static const struct {
    const char *text, *printed;
} texts[] = {
    {"a name, /path/to\\file: 100 %s", "a name, /path/to\\file: 100 %s"},
    {"Seil \xc3\xa4\xe2\x82\xac\xf0\x9f\x8e\xb8", "Seil \xc3\xa4\xe2\x82\xac\xf0\x9f\x8e\xb8"},
    {"\033[2J\a\b\t\r\n\x7f", "\\x1b[2J\\x07\\x08\\x09\\x0d\\x0a\\x7f"},
    {"\xc2\x9b"
     "2J\xc2\x9f\xc2\xa0",
     "\\xc2\\x9b2J\\xc2\\x9f\xc2\xa0"},
    {"\x9b"
     "2J\xff\xfe",
     "\\x9b2J\\xff\\xfe"},
    {"\xc1\xbf\xe0\x9f\xbf\xf0\x8f\xbf\xbf", /* longer than they need to be */
     "\\xc1\\xbf\\xe0\\x9f\\xbf\\xf0\\x8f\\xbf\\xbf"},
    {"\xed\xa0\x80\xf4\x90\x80\x80", "\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80"},
    {"\xe2\x82", "\\xe2\\x82"}, /* cut off */
    {"\\x1b", "\\x1b"},         /* printable already */
};

START_TEST(texts_from_anywhere_move_no_terminal)
{
    char out[100];
    ck_assert_ptr_eq(tw_printable(out, sizeof out, texts[_i].text), out);
    ck_assert_str_eq(out, texts[_i].printed);

    /* Errors hold what is printable, however often a text is passed on. */
    tw_error error;
    tw_error outer;
    tw_fail(&error, TW_BAD_INPUT, "%s: wrong", texts[_i].text);
    tw_fail(&outer, TW_BAD_INPUT, "%s", error.text);
    ck_assert_str_eq(outer.text, error.text);
    ck_assert_int_eq(strncmp(error.text, texts[_i].printed, strlen(texts[_i].printed)), 0);
    ck_assert_str_eq(error.text + strlen(texts[_i].printed), ": wrong");
}
END_TEST

START_TEST(no_character_is_cut)
{
    /* What fits into 0, 1, ... bytes of a letter, an escape and a character of three bytes. */
    static const char *const fits[] = {"", "", "a", "a", "a", "a", "a\\x1b", "a\\x1b", "a\\x1b"};
    for (size_t size = 1; size < sizeof fits / sizeof *fits; size++) {
        char out[16] = "untouched";
        tw_printable(out, size, "a\033\xe2\x82\xac");
        ck_assert_str_eq(out, fits[size]);
    }

    char out[16];
    ck_assert_str_eq(tw_printable(out, 9, "a\033\xe2\x82\xac"), "a\\x1b\xe2\x82\xac");
    ck_assert_str_eq(tw_printable(out, 0, "a"), "");
    ck_assert_str_eq(tw_printable(out, sizeof out, NULL), "");
    ck_assert_str_eq(tw_printable(NULL, sizeof out, "a"), "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("status");
    TCase *cases = tcase_create("status");
    tcase_add_test(cases, every_status_has_its_own_text);
    tcase_add_test(cases, version_of_library_is_version_of_headers);
    tcase_add_test(cases, try_returns_the_first_failure);
    tcase_add_loop_test(cases, texts_from_anywhere_move_no_terminal, 0,
                        sizeof texts / sizeof *texts);
    tcase_add_test(cases, no_character_is_cut);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
