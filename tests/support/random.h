/* A small seeded generator, the same on every machine (SplitMix64). */
#ifndef TESTS_RANDOM_H
#define TESTS_RANDOM_H

#include <stdint.h>

typedef struct test_random {
    uint64_t state;
} test_random;

uint64_t test_random_bits(test_random *random);
/* Uniform in [0, 1). */
double test_random_unit(test_random *random);
/* Uniform in [low, high). */
double test_random_between(test_random *random, double low, double high);
/* Between the two, uniform in its logarithm. */
double test_random_log_between(test_random *random, double low, double high);
/* A whole number from low to high. */
int test_random_integer(test_random *random, int low, int high);
/* Standard normal. */
double test_random_normal(test_random *random);

#endif
