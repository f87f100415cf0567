/* Numbers as "%.*g" prints them in the C locale, ten times faster where that can be done in exact
 * integers.
 *
 * x = m 2^e with m < 2^53. For k = digits - 1 - floor(log10 x) the digits are the integer nearest
 * to x 10^k = m 5^k 2^(e + k). While 0 <= k <= 32, m 5^k < 2^53 2^75 fits into 128 bits, so that
 * this is a multiplication and a shift, rounded half to even as printf does. That covers 1e-16 <=
 * |x| < 1e16; the rest is left to printf. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

enum {
    MOST_DIGITS = 17, /* enough to read any double back bit for bit */
    MOST_POWER = 32   /* largest k with m 5^k below 2^128 */
};
typedef unsigned __int128 wide;

static wide power_of_five(int k)
{
    static const uint64_t small[] = {1, 5, 25, 125, 625, 3125, 15625, 78125};
    static const uint64_t eighth = 390625; /* 5^8 */
    wide power = small[k % 8];
    for (int i = k / 8; i > 0; i--) power *= eighth;
    return power;
}

static uint64_t power_of_ten(int k)
{
    uint64_t power = 1;
    for (; k > 0; k--) power *= 10;
    return power;
}

/* value 2^shift to the nearest integer, ties to even; the result has less than 64 bits. */
static uint64_t shifted(wide value, int shift)
{
    if (shift >= 0) return (uint64_t)(value << shift);
    if (shift <= -128) return 0;

    /* value = whole 2^-shift + rest */
    wide whole = value >> -shift;
    wide rest = value - (whole << -shift);
    wide half = (wide)1 << (-shift - 1);
    bool up = rest > half || (rest == half && (whole & 1));
    return (uint64_t)whole + up;
}

/* Finds the `digits` digits of x > 0 as one integer, and the power of ten of the first of them.
 * False where integers of 128 bits do not suffice. */
static bool find_digits(double x, int digits, uint64_t *number, int *exponent)
{
    /* x = mantissa 2^(binary - 53) */
    int binary = 0;
    uint64_t mantissa = (uint64_t)ldexp(frexp(x, &binary), 53);

    /* log10(2) (binary - 1) gives floor(log10 x) or one less, so that at most two powers
     * are tried. */
    uint64_t most = power_of_ten(digits);
    int decimal = (int)floor((binary - 1) * 0.30102999566398114);
    for (int tries = 0; tries < 2; tries++, decimal++) {
        int k = digits - 1 - decimal;
        if (k < 0 || k > MOST_POWER) return false;

        *number = shifted((wide)mantissa * power_of_five(k), binary - 53 + k);
        *exponent = decimal;
        if (*number < most) return *number >= most / 10;
    }
    return false;
}

/* Writes the digits without trailing zeros and returns how many there are. */
static int write_digits(uint64_t number, int digits, char *text)
{
    for (int i = digits - 1; i >= 0; i--, number /= 10) text[i] = (char)('0' + number % 10);
    while (digits > 1 && text[digits - 1] == '0') digits--;
    return digits;
}

/* "e-05": two digits, because |exponent| < 100 wherever integers suffice. */
static char *write_exponent(int exponent, char *out)
{
    int size = abs(exponent);
    *out++ = 'e';
    *out++ = exponent < 0 ? '-' : '+';
    *out++ = (char)('0' + size / 10);
    *out++ = (char)('0' + size % 10);
    return out;
}

/* As %g lays them out: with an exponent below 1e-4 and from 10^precision on. */
static size_t lay_out(const char *digits, int count, int exponent, int precision, char *out)
{
    char *begin = out;

    if (exponent < -4 || exponent >= precision) {
        /* d.ddde-05 */
        *out++ = digits[0];
        if (count > 1) *out++ = '.';
        for (int i = 1; i < count; i++) *out++ = digits[i];
        out = write_exponent(exponent, out);

    } else if (exponent < 0) {
        /* 0.000ddd */
        *out++ = '0';
        *out++ = '.';
        for (int i = -1; i > exponent; i--) *out++ = '0';
        for (int i = 0; i < count; i++) *out++ = digits[i];

    } else {
        /* ddd.ddd; zeros fill the places before the point that have no digit */
        for (int i = 0; i <= exponent && i < count; i++) *out++ = digits[i];
        for (int i = count; i <= exponent; i++) *out++ = '0';
        if (count > exponent + 1) *out++ = '.';
        for (int i = exponent + 1; i < count; i++) *out++ = digits[i];
    }

    *out = '\0';
    return (size_t)(out - begin);
}

size_t tw_number_print_digits(char buffer[TW_NUMBER_SIZE], int digits, double value)
{
    uint64_t number = 0;
    int exponent = 0;
    double size = fabs(value);

    /* Numbers for which the integers do not suffice, and NaN, are left to printf. */
    if (size != 0.0 &&
        !(size >= 1e-16 && size < 1e16 && find_digits(size, digits, &number, &exponent)))
        return (size_t)tw_print(buffer, TW_NUMBER_SIZE, "%.*g", digits, value);

    char *out = buffer;
    if (signbit(value)) *out++ = '-';

    char text[MOST_DIGITS];
    int count = write_digits(number, size == 0.0 ? 1 : digits, text);
    return (size_t)(out - buffer) + lay_out(text, count, exponent, digits, out);
}

char *tw_number_print(char buffer[TW_NUMBER_SIZE], double value)
{
    tw_number_print_digits(buffer, MOST_DIGITS, value);
    return buffer;
}
