#include "support/random.h"

#include <math.h>

uint64_t test_random_bits(test_random *random)
{
    uint64_t z = (random->state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

double test_random_unit(test_random *random)
{
    return (double)(test_random_bits(random) >> 11) * 0x1p-53;
}

double test_random_between(test_random *random, double low, double high)
{
    return low + (high - low) * test_random_unit(random);
}

double test_random_log_between(test_random *random, double low, double high)
{
    return exp(test_random_between(random, log(low), log(high)));
}

int test_random_integer(test_random *random, int low, int high)
{
    return low + (int)(test_random_unit(random) * (high - low + 1));
}

double test_random_normal(test_random *random)
{
    double u = test_random_unit(random), v = test_random_unit(random);
    return sqrt(-2.0 * log(1.0 - u)) * cos(6.283185307179586 * v);
}
