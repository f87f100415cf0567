/* Second-order operators whose spectrum is known: the oracle of the spectral engines.
 *     K = G Q diag(lambda) Q^T G,  M = G^2,  so that A = M^-1 K = G^-1 Q diag(lambda) Q^T G,
 * Q a product of a few random reflections, G diagonal (unit or lumped mass) or U diag U (consistent mass). */
#ifndef TESTS_SPECTRAL_OPERATOR_H
#define TESTS_SPECTRAL_OPERATOR_H

#include <twang/phi.h>

#include "support/random.h"

typedef enum test_mass {
    TEST_MASS_UNIT,
    TEST_MASS_LUMPED,
    TEST_MASS_CONSISTENT,
    TEST_MASS_COUNT
} test_mass;

typedef enum test_spectrum {
    TEST_SPECTRUM_UNIFORM,    /* in [0, 1) */
    TEST_SPECTRUM_GRADED,     /* 1e-8 ... 1 */
    TEST_SPECTRUM_CHAIN,      /* sin^2: that of a chain of springs */
    TEST_SPECTRUM_CLUSTERS,   /* three tight clusters */
    TEST_SPECTRUM_SINGULAR,   /* half of it zero */
    TEST_SPECTRUM_OUTLIERS,   /* small, but for a few values near one */
    TEST_SPECTRUM_INDEFINITE, /* in [-0.02, 1) */
    TEST_SPECTRUM_NEGATIVE,   /* in [-1, 1) */
    TEST_SPECTRUM_EQUAL,      /* a multiple of the identity */
    TEST_SPECTRUM_ZERO,
    TEST_SPECTRUM_COUNT
} test_spectrum;

enum { TEST_REFLECTIONS = 3 };

typedef struct test_spectral {
    int64_t n;
    double *lambda;
    double *reflection[TEST_REFLECTIONS]; /* unit vectors */
    double *mass_direction;               /* of U = I - 2 u u^T */
    double *root;                         /* of G */
    double *lumped;                       /* root^2 */
    double *scratch;
    test_mass mass;
    tw_mass_operator consistent;
    tw_shifted_solver shifted;
    double gamma;            /* of the last factor */
    double eigenvalue_bound; /* largest lambda */
    int64_t factorisations, products, solves;
    tw_second_order op;
} test_spectral;

/* A spectrum of the kind asked for, its largest magnitude scaled to `largest`. NULL when memory is out. */
test_spectral *test_spectral_create(int64_t n, test_spectrum spectrum, test_mass mass,
                                    double largest, test_random *random);
void test_spectral_free(test_spectral *s);

/* y = Q^T G x and its inverse: modal coordinates, in which the mass norm is the Euclidean one. */
void test_spectral_to_modes(const test_spectral *s, const double *x, double *y);
void test_spectral_from_modes(const test_spectral *s, const double *y, double *x);

#endif
