/* The mass matrix M of a second-order problem: unit, lumped (diagonal) or consistent (an operator
 * with its inverse).
 *
 * In the inner product <p, q>_M = p^T M q the operator A = M^-1 K is symmetric. Working in it with
 * physical coordinates is the same as working with y = M^1/2 x in the Euclidean one: every inner
 * product, Ritz value and coefficient agrees. It saves the copies into and out of scaled
 * coordinates, and it is the only form for a consistent mass, whose M^1/2 is dense. */
#ifndef TW_LINALG_MASS_H
#define TW_LINALG_MASS_H

#include <twang/operator.h>

/* Plain data; it keeps pointers into the operator or problem it was taken from. At most one of the
 * two masses is set; if both are NULL the mass is the identity. */
typedef struct tw_mass_metric {
    tw_space space;
    const double *lumped;
    const tw_mass_operator *consistent;
} tw_mass_metric;

tw_mass_metric tw_mass_metric_of(const tw_second_order *op);

/* y = M x for `count` contiguous columns. */
tw_status tw_mass_multiply(const tw_mass_metric *metric, int count, const double *x, double *y);

/* y = M^-1 x for `count` contiguous columns. */
tw_status tw_mass_solve(const tw_mass_metric *metric, int count, const double *x, double *y);

/* |x|_M = sqrt(x^T M x), safe against overflow of the squares. scratch: N entries, used for a
 * consistent mass only. */
tw_status tw_mass_norm(const tw_mass_metric *metric, const double *x, double *scratch,
                       double *norm);

/* Number of entries of a vector over all ranks. */
tw_status tw_global_size(const tw_space *space, double *size);

#endif
