/* Pseudo-random numbers that are the same on every machine and for every number of threads.
 *
 * Entry i depends on i alone: it is the (i + 1)-th number of the generator SplitMix64 (Steele, Lea,
 * Flood 2014) with seed 0. A vector of such numbers has a share in every eigenvector, which is what
 * iterations for eigenvalues need to start from. Each rank of a distributed vector has the same
 * numbers, which serves as well as any others. */
#ifndef TW_BASE_START_VECTOR_H
#define TW_BASE_START_VECTOR_H

#include <stdint.h>

/* 64 pseudo-random bits of an index. */
static inline uint64_t tw_random_bits(uint64_t index)
{
    uint64_t z = (index + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* x[i] uniform in [-1, 1) for i < n; runs in parallel. */
void tw_fill_start_vector(int64_t n, double *x);

#endif
