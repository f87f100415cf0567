/* An oracle of its own for small problems: sum_k phi_k(tau Z) v_k with about 31 digits, whatever the condition. */
#ifndef TESTS_EXACT_PHI_H
#define TESTS_EXACT_PHI_H

#include <stdbool.h>

#include "support/double_double.h"

/* Largest order of Z plus order of phi that is sensible here. */
enum { EXACT_PHI_LIMIT = 26 };

/* Z is d x d by columns; `vectors` are p + 1 pointers, NULL meaning zero. out gets d entries, rounded to doubles. False
 * if a value overflows. */
bool exact_phi(int d, const dd *Z, double node, double time, int p, const double *const *vectors,
               double *out);

/* X = M^-1 B by elimination, n x n each; M is destroyed. */
void exact_solve(int n, dd *M, dd *B);

#endif
