/* Whether energy, force and tangent of a second-order problem belong together, by central differences. */
#ifndef TESTS_DERIVATIVES_H
#define TESTS_DERIVATIVES_H

#include <twang/problem.h>

/* d/ds V(x + s e) = -(M a) . e, over |M a| |e|. */
double derivative_error_of_force(const tw_second_order_problem *p, const double *x, const double *e,
                                 double step);
/* K e = -(f(x + s e) - f(x - s e)) / 2 s, over |K e|. */
double derivative_error_of_tangent(const tw_second_order_problem *p, const double *x,
                                   const double *e, double step);
/* The product against the assembled matrix, and K against its transpose: |K e - A e| / |K e|. */
double derivative_error_of_matrix(const tw_second_order_problem *p, const double *x,
                                  const double *e);

/* f = M a at x, at rest; aborts unless that is defined. */
void derivative_force(const tw_second_order_problem *p, const double *x, double *f);
double derivative_norm(int64_t n, const double *x);
/* The largest entry of the sum and the moment about the origin of forces f at x, over the sum of their sizes. */
double derivative_unbalanced(int64_t n, const double *x, const double *f);

#endif
