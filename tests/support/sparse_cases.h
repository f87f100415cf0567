/* Sparse matrices to test and measure with. Failure to build one aborts: it is the test that is broken. */
#ifndef TESTS_SPARSE_CASES_H
#define TESTS_SPARSE_CASES_H

#include <stddef.h>
#include <twang/sparse.h>

#include "support/random.h"

/* A grid of nx * ny * nz vertices (x fastest) whose cubes are cut into tetrahedra after Kuhn: seven edges leave each
 * vertex upwards, so an inner one has 14 neighbours. Each edge is a unit spring; with blocks of 3 it acts along its
 * direction d, K += d d^T / |d|^2. `shift` is added to the diagonal: positive makes the matrix positive definite. */
typedef struct test_lattice {
    int nx, ny, nz;
    int block;
    double shift;
} test_lattice;
tw_sparse *test_lattice_matrix(const test_lattice *lattice, tw_sparse_storage storage);

/* Any pattern, rows of any length (also none), values in [-1, 1). Upper storage makes diagonal blocks symmetric. */
tw_sparse *test_random_sparse(test_random *random, int block, int64_t block_rows, double density,
                              tw_sparse_storage storage);

/* The same symmetric matrix in full storage. */
tw_sparse *test_full_of_upper(const tw_sparse *upper);

/* Entry (i, j) of the matrix that is meant, whatever the storage. */
double test_sparse_entry(const tw_sparse *matrix, int64_t i, int64_t j);

/* Memory that may not be missing. */
void *test_allocate(size_t count, size_t size);
double *test_random_vector(test_random *random, int64_t n);

#endif
