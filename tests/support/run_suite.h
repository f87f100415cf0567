/* The main of every test program: run one suite, report, exit 0 only if all passed. */
#ifndef TESTS_RUN_SUITE_H
#define TESTS_RUN_SUITE_H

#include <check.h>
#include <stdlib.h>

/* How many of a test's cases to run: all of them, or in checked builds, which look for errors of memory and are ten
 * times slower, a sample (cmake/sanitizers.cmake sets TWANG_SAMPLE there). */
static inline int cases_to_run(int all, int sample)
{
    return getenv("TWANG_SAMPLE") ? sample : all;
}

static inline int run_suite(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
