/* Continuous detection: how near two primitives come while their vertices move along straight
 * lines. */
#ifndef TW_CONTACT_APPROACH_H
#define TW_CONTACT_APPROACH_H

#include "contact/gap.h"

/* The largest distance by which the closest points of the pair can approach each other on the way
 * from x to y: the sum over both primitives of the largest displacement of a vertex, less the
 * common one. */
double tw_pair_reach(tw_pair_kind kind, const double x[TW_PAIR_VERTICES][3],
                     const double y[TW_PAIR_VERTICES][3]);

/* Whether the distance falls to `limit` > 0 on the straight way from x to y. It errs on the safe
 * side by at most `slack` > 0: true where the distance falls to limit + slack. The distance at x is
 * above limit + slack. */
bool tw_pair_comes_near(tw_pair_kind kind, const double x[TW_PAIR_VERTICES][3],
                        const double y[TW_PAIR_VERTICES][3], double limit, double slack);

#endif
