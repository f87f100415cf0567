/* Arithmetic with about 31 digits: a number is the unevaluated sum of two doubles (Dekker; Hida, Li and Bailey). Slow,
 * simple, and independent of everything the library does. */
#ifndef TESTS_DOUBLE_DOUBLE_H
#define TESTS_DOUBLE_DOUBLE_H

#include <math.h>

typedef struct dd {
    double high, low;
} dd;

static inline dd dd_of(double a)
{
    return (dd){a, 0};
}

static inline dd dd_quick_sum(double a, double b) /* |a| >= |b| */
{
    double sum = a + b;
    return (dd){sum, b - (sum - a)};
}

static inline dd dd_add(dd a, dd b)
{
    double sum = a.high + b.high, part = sum - a.high;
    double rest = (a.high - (sum - part)) + (b.high - part) + a.low + b.low;
    return dd_quick_sum(sum, rest);
}

static inline dd dd_multiply(dd a, dd b)
{
    double product = a.high * b.high;
    double rest = fma(a.high, b.high, -product) + (a.high * b.low + a.low * b.high);
    return dd_quick_sum(product, rest);
}

static inline dd dd_scale(dd a, double power_of_two)
{
    return (dd){a.high * power_of_two, a.low * power_of_two};
}

static inline dd dd_negative(dd a)
{
    return (dd){-a.high, -a.low};
}

static inline dd dd_divide(dd a, dd b)
{
    double quotient = a.high / b.high;
    dd rest = dd_add(a, dd_negative(dd_multiply(dd_of(quotient), b)));
    double second = rest.high / b.high;
    rest = dd_add(rest, dd_negative(dd_multiply(dd_of(second), b)));
    return dd_add(dd_quick_sum(quotient, second), dd_of(rest.high / b.high));
}

#endif
