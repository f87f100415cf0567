/* A small dense matrix as the operators of the library's interface. */
#ifndef TESTS_TEST_MATRIX_H
#define TESTS_TEST_MATRIX_H

#include <stdint.h>
#include <twang/operator.h>

/* n x n, column-major. */
typedef struct test_matrix {
    int n;
    double *A;
    double *inverse; /* of a mass matrix; NULL if there is none */
    int64_t applied; /* columns multiplied so far */
} test_matrix;

test_matrix test_matrix_new(int n);
void test_matrix_free(test_matrix *matrix);

/* Fills `inverse`, A being positive definite. */
void test_matrix_invert(test_matrix *matrix);

tw_status test_matrix_apply(void *matrix, int count, const double *in, double *out);
tw_status test_matrix_solve(void *matrix, int count, const double *in, double *out);

tw_operator test_matrix_operator(test_matrix *matrix, tw_symmetry symmetry);
tw_mass_operator test_matrix_mass(test_matrix *matrix);

/* calloc that fails the test when memory is out. */
double *test_doubles(int64_t count);

#endif
