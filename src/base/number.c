/* Parsing and printing of numbers in the C locale, whatever the locale of the program. */
#define _POSIX_C_SOURCE 200809L
#include "base/number.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static locale_t c_locale; /* lives as long as the process */

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Makes the C locale that of the calling thread; hand the result to leave_c_locale. */
static locale_t enter_c_locale(void)
{
    pthread_once(&once, make_c_locale);
    return c_locale ? uselocale(c_locale) : (locale_t)0;
}

static void leave_c_locale(locale_t previous)
{
    if (previous) uselocale(previous);
}

static const char *skip_sign(const char *text)
{
    return *text == '+' || *text == '-' ? text + 1 : text;
}

static const char *skip_digits(const char *text)
{
    while (*text >= '0' && *text <= '9') text++;
    return text;
}

/* [sign] digits [. digits] [e [sign] digits], with a digit before or after the point. */
static bool is_decimal_number(const char *text)
{
    const char *whole = skip_sign(text);
    const char *end = skip_digits(whole);
    bool digits = end > whole;

    if (*end == '.') {
        const char *fraction = end + 1;
        end = skip_digits(fraction);
        digits = digits || end > fraction;
    }
    if (!digits) return false;

    if (*end == 'e' || *end == 'E') {
        const char *exponent = skip_sign(end + 1);
        end = skip_digits(exponent);
        if (end == exponent) return false;
    }
    return *end == '\0';
}

bool tw_number_parse(const char *text, double *value)
{
    /* strtod alone would take spaces, hexadecimal numbers, nan and inf as well. */
    if (!is_decimal_number(text)) return false;

    locale_t previous = enter_c_locale();
    char *end = NULL;
    double parsed = strtod(text, &end);
    leave_c_locale(previous);

    if (*end != '\0' || !isfinite(parsed)) return false;
    *value = parsed;
    return true;
}

bool tw_integer_parse(const char *text, int64_t *value)
{
    const char *digits = skip_sign(text);
    const char *end = skip_digits(digits);
    if (end == digits || *end != '\0') return false;

    /* strtoll reports a number that is out of range by errno, which is not changed for
     * the caller. */
    int saved = errno;
    errno = 0;
    long long parsed = strtoll(text, NULL, 10);
    bool fits = errno == 0;
    errno = saved;

    if (fits) *value = parsed;
    return fits;
}

int tw_format(char *buffer, size_t size, const char *format, va_list arguments)
{
    locale_t previous = enter_c_locale();
    int length = vsnprintf(buffer, size, format, arguments);
    leave_c_locale(previous);
    return length;
}

int tw_print(char *buffer, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = tw_format(buffer, size, format, arguments);
    va_end(arguments);
    return length;
}
