#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/number.h"
#include "support/comma_locale.h"
#include "support/random.h"
#include "support/run_suite.h"

static void check_good_numbers(void)
{
    static const struct {
        const char *text;
        double value;
    } good[] = {
        {"0", 0.0},
        {"-0", -0.0},
        {"1.5", 1.5},
        {"+2", 2.0},
        {".5", 0.5},
        {"5.", 5.0},
        {"1e6", 1e6},
        {"-1.25E-3", -1.25e-3},
        {"1e+2", 100.0},
        {"1e-400", 0.0},
        {"4e-324", 0x1p-1074},
        {"0.1", 0.1},
        {"007", 7.0},
        {"1.7976931348623157e308", DBL_MAX},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        double value = 42;
        ck_assert_msg(tw_number_parse(good[i].text, &value), "%s refused", good[i].text);
        ck_assert_msg(memcmp(&value, &good[i].value, sizeof value) == 0, "%s read as %a",
                      good[i].text, value);
    }
}

static void check_bad_numbers(void)
{
    static const char *const bad[] = {
        "",      " 1",     "1 ",    "1s",  "60s", "0x10", "nan",   "NaN",   "inf",   "-Infinity",
        "1e",    "1e+",    "e5",    ".",   "+",   "-.e1", "1,5",   "1.2.3", "1e5.0", "--1",
        "1e309", "-1e999", "1_000", "1d5", "\t1", "1\n",  "0x1p3", "1e 5",  "1'000"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double value = 42;
        ck_assert_msg(!tw_number_parse(bad[i], &value), "\"%s\" accepted", bad[i]);
        ck_assert_msg(value == 42, "\"%s\" changed the value", bad[i]);
    }
}

/* Doubles of every exponent: random bits, not random values. */
static void check_round_trip(void)
{
    test_random random = {7};
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = test_random_bits(&random);
        double value, back = 0;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        char text[TW_NUMBER_SIZE];
        ck_assert(tw_number_parse(tw_number_print(text, value), &back));
        ck_assert_msg(memcmp(&value, &back, sizeof value) == 0, "%a came back as %a by %s", value,
                      back, text);
    }
    char text[TW_NUMBER_SIZE];
    ck_assert_str_eq(tw_number_print(text, 0.1), "0.10000000000000001");
    ck_assert_str_eq(tw_number_print(text, -DBL_MAX), "-1.7976931348623157e+308");
}

START_TEST(numbers_are_read)
{
    check_good_numbers();
    check_bad_numbers();
}
END_TEST

START_TEST(seventeen_digits_come_back)
{
    check_round_trip();
}
END_TEST

START_TEST(integers_are_read)
{
    int64_t value = 42;
    ck_assert(tw_integer_parse("-9223372036854775808", &value));
    ck_assert(value == INT64_MIN);
    ck_assert(tw_integer_parse("+12", &value));
    ck_assert_int_eq(value, 12);
    static const char *const bad[] = {"",   "-",  "1.0",  "1e3", "9223372036854775808",
                                      " 1", "1 ", "0x10", "12a"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!tw_integer_parse(bad[i], &value), "%s", bad[i]);
    ck_assert_int_eq(value, 12);
}
END_TEST

START_TEST(a_comma_locale_changes_nothing)
{
    ck_assert_msg(test_enter_comma_locale(), "no comma locale");
    char text[64];
    snprintf(text, sizeof text, "%.1f", 0.5);
    ck_assert_str_eq(text, "0,5"); /* the locale is really in force */
    check_good_numbers();
    check_bad_numbers();
    check_round_trip();

    tw_error error;
    ck_assert_int_eq(tw_fail(&error, TW_BAD_INPUT, "step %g", 0.25), TW_BAD_INPUT);
    ck_assert_str_eq(error.text, "step 0.25");
    snprintf(text, sizeof text, "%.1f", 0.5);
    ck_assert_str_eq(text, "0,5"); /* and was left in force */
}
END_TEST

START_TEST(long_error_texts_are_cut)
{
    char long_text[2 * TW_ERROR_TEXT_SIZE];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    tw_error error;
    tw_fail(&error, TW_INTERNAL, "%s", long_text);
    ck_assert_uint_eq(strlen(error.text), TW_ERROR_TEXT_SIZE - 1);
    ck_assert_int_eq(tw_fail(NULL, TW_INTERNAL, "%s", long_text), TW_INTERNAL);
    ck_assert_int_eq(tw_fail_plain(&error, TW_SINGULAR), TW_SINGULAR);
    ck_assert_str_eq(error.text, tw_status_text(TW_SINGULAR));
}
END_TEST

static void assert_printed_like_printf(double value, int digits)
{
    char expected[64], given[TW_NUMBER_SIZE];
    snprintf(expected, sizeof expected, "%.*g", digits, value);
    size_t length = tw_number_print_digits(given, digits, value);
    ck_assert_msg(strcmp(given, expected) == 0 && length == strlen(expected), "%s instead of %s",
                  given, expected);
}

START_TEST(numbers_are_printed_as_printf_does)
{
    static const double special[] = {
        0.0,     -0.0,      1.0,     0.1,   0.5,  0.3,    1e-4,   1e-5,       9.9999999999999995e-5,
        1e16,    1e15,      1e-16,   1e17,  1e22, 1e-300, 1e300,  DBL_MAX,    DBL_MIN,
        5e-324,  123456789, 2.0 / 3, 1e100, 0.25, 1024,   999999, 0.99999999, 9007199254740993.0,
        INFINITY};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        for (int digits = 1; digits <= 17; digits++) {
            assert_printed_like_printf(special[i], digits);
            assert_printed_like_printf(-nextafter(special[i], 2.0), digits);
            assert_printed_like_printf(nextafter(special[i], -2.0), digits);
        }
    /* ties: k + 1/2, and halves of the last digit */
    for (int k = 0; k < 2000; k++) {
        assert_printed_like_printf(k + 0.5, k < 10 ? 1 : k < 100 ? 2 : k < 1000 ? 3 : 4);
        assert_printed_like_printf(k / 1024.0, 9);
    }
    test_random random = {17};
    for (int i = 0; i < 100000; i++) {
        double exponent = test_random_between(&random, -20.0, 20.0),
               share = test_random_between(&random, -1.0, 1.0);
        assert_printed_like_printf(share * pow(10.0, exponent), i % 3 ? 17 : 9);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("number");
    TCase *cases = tcase_create("number");
    tcase_add_test(cases, numbers_are_read);
    tcase_add_test(cases, seventeen_digits_come_back);
    tcase_add_test(cases, integers_are_read);
    tcase_add_test(cases, a_comma_locale_changes_nothing);
    tcase_add_test(cases, long_error_texts_are_cut);
    tcase_add_test(cases, numbers_are_printed_as_printf_does);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
