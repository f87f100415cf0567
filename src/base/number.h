/* Numbers as text, the same under every locale: a scene read in Berlin is the scene written
 * in Boston. */
#ifndef TW_BASE_NUMBER_H
#define TW_BASE_NUMBER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TW_NUMBER_SIZE = 32 }; /* any double in 17 digits, terminated */

/* The whole of `text` as a decimal number with a point, correctly rounded: `-1.5e-3`, `.5`, `5.`.
 * False, and *value untouched, for anything else: spaces, trailing text, hexadecimal, nan, inf, and
 * what is too large for a double. What is too small becomes the nearest subnormal or zero. */
bool tw_number_parse(const char *text, double *value);

/* The whole of `text` as a decimal integer: `-12`. False, and *value untouched, for anything else
 * or out of range. */
bool tw_integer_parse(const char *text, int64_t *value);

/* 17 significant digits, which tw_number_parse reads back bit for bit (not for NaN and infinities).
 * Returns buffer. */
char *tw_number_print(char buffer[TW_NUMBER_SIZE], double value);

/* As printf's %.*g with 1 to 17 digits; the length. */
size_t tw_number_print_digits(char buffer[TW_NUMBER_SIZE], int digits, double value);

/* snprintf and vsnprintf with the decimal point of the C locale: for any text with a floating-point
 * number in it. */
int tw_print(char *buffer, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int tw_format(char *buffer, size_t size, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

#endif
