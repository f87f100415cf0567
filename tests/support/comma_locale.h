/* A locale that writes one half as 0,5, for tests of locale independence. */
#ifndef TESTS_COMMA_LOCALE_H
#define TESTS_COMMA_LOCALE_H

#include <stdbool.h>

/* Makes it the locale of the process (setlocale); compiles it below $TWANG_BUILD if the system has none. False if that
 * is not possible: the package `locales` is missing. */
bool test_enter_comma_locale(void);

#endif
