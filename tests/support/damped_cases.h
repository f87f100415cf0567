/* Generated second-order pairs with strong damping: dashpots, Rayleigh, few or many, backwards too.
 * The same for the same number on every machine. */
#ifndef TESTS_DAMPED_CASES_H
#define TESTS_DAMPED_CASES_H

#include "support/phi_cases.h"

/* How a case is damped: enumerator and name. */
#define DAMPED_CASE_LIST(X)                                                                        \
    X(DAMPED_NOT, "undamped")                                                                      \
    X(DAMPED_BY_MASS, "alpha M")                                                                   \
    X(DAMPED_BY_STIFFNESS, "beta K")                                                               \
    X(DAMPED_BY_BOTH, "alpha M + beta K")                                                          \
    X(DAMPED_AT_FEW, "few dashpots to the ground")                                                 \
    X(DAMPED_AT_ALL, "dashpots to the ground")                                                     \
    X(DAMPED_ALONG_SPRINGS, "dashpots along springs")                                              \
    X(DAMPED_ALONG_FEW, "dashpots along few springs")                                              \
    X(DAMPED_AT_RANDOM, "random damping")                                                          \
    X(DAMPED_AND_TURNED, "dashpots and gyroscopes")
#define DAMPED_CASE_ENUMERATOR(name, text) name,
typedef enum damped_case_kind {
    DAMPED_CASE_LIST(DAMPED_CASE_ENUMERATOR) DAMPED_CASE_KINDS
} damped_case_kind;
#undef DAMPED_CASE_ENUMERATOR

/* Makes case `number`, freed by phi_case_free; the struct must not move afterwards. `largest` bounds
 * the number of unknowns. */
void damped_case_make(int number, int largest, phi_case *c);

/* "few dashpots to the ground". */
const char *damped_case_name(int number);

#endif
