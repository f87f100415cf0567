/* Generated problems for the phi-engines: the same for the same number on every machine. */
#ifndef TESTS_PHI_CASES_H
#define TESTS_PHI_CASES_H

#include <stdbool.h>
#include <twang/phi.h>

#include "support/random.h"
#include "support/test_matrix.h"

/* The kinds of operator: enumerator and name. Up to PHI_CASE_ZERO they are of first order. */
#define PHI_CASE_LIST(X)                                                                           \
    X(PHI_CASE_NEGATIVE, "symmetric negative")                                                     \
    X(PHI_CASE_POSITIVE, "symmetric positive")                                                     \
    X(PHI_CASE_INDEFINITE, "symmetric indefinite")                                                 \
    X(PHI_CASE_SKEW, "skew")                                                                       \
    X(PHI_CASE_NONNORMAL, "nonnormal")                                                             \
    X(PHI_CASE_JORDAN, "Jordan blocks")                                                            \
    X(PHI_CASE_GENERAL, "general")                                                                 \
    X(PHI_CASE_ZERO, "zero operator")                                                              \
    X(PHI_CASE_PAIR_POSITIVE, "pair, positive definite")                                           \
    X(PHI_CASE_PAIR_INDEFINITE, "pair, indefinite")                                                \
    X(PHI_CASE_PAIR_SINGULAR, "pair, singular")                                                    \
    X(PHI_CASE_PAIR_RAYLEIGH, "pair, Rayleigh damping")                                            \
    X(PHI_CASE_PAIR_DAMPED, "pair, general damping")                                               \
    X(PHI_CASE_PAIR_NONSYMMETRIC, "pair, nonsymmetric")                                            \
    X(PHI_CASE_PAIR_ZERO, "pair, zero stiffness")
#define PHI_CASE_ENUMERATOR(name, text) name,
typedef enum phi_case_kind { PHI_CASE_LIST(PHI_CASE_ENUMERATOR) PHI_CASE_KINDS } phi_case_kind;
#undef PHI_CASE_ENUMERATOR

const char *phi_case_kind_name(phi_case_kind kind);

enum { PHI_CASE_VECTORS = 6, PHI_CASE_NODES = 4 };

/* M + gamma K by a dense factor, as shift-invert wants it. */
typedef struct test_shifted {
    const struct phi_case *problem;
    double *factor;
    int64_t factorisations;
} test_shifted;

typedef struct phi_case {
    int number;
    phi_case_kind kind;
    bool second_order;
    int n; /* order of A or K */
    test_matrix A, mass, damping;
    double *lumped;  /* NULL unless the mass is lumped */
    bool consistent; /* whether `mass` is used */
    double size;     /* about |A|, or |K|^1/2 for a pair */
    double reach;    /* time * the largest rate: what polynomial engines pay for */
    tw_operator first;
    tw_second_order second;
    tw_operator damping_operator;
    tw_mass_operator mass_operator;
    test_shifted shifted;
    tw_shifted_solver shifted_solver;
    double nodes[PHI_CASE_NODES];
    double *vectors[PHI_CASE_VECTORS]; /* NULL means zero */
    tw_phi_request request;            /* without outputs */
    double tolerance;
    tw_phi_inner_product inner_product;
} phi_case;

/* Makes case `number`; the struct must not move afterwards (operators point into it). */
void phi_case_make(int number, phi_case *c);
void phi_case_free(phi_case *c);

/* Gives the pair of a case its mass operator, if it is consistent, and the dense solver of M + gamma K.
 * For those who make cases: `second`, `mass` and `consistent` are set before. */
void phi_case_connect(phi_case *c);

/* Entries of a vector. */
int phi_case_length(const phi_case *c);

/* Norm of one part in which phi.h states its promise: Euclidean for first order (part 0), the mass norm else. */
double phi_case_norm(const phi_case *c, const double *part);

/* The largest relative error of `outputs` in the sense of phi.h, `exact` being the truth. */
double phi_case_error(const phi_case *c, double *const *outputs, double *const *exact);

/* Exact outputs with 31 digits, for small cases. False if it is too large or overflows. */
bool phi_case_exact(const phi_case *c, double *const *outputs);

#endif
