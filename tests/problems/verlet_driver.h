/* Velocity Verlet, the plainest driver there is. */
#ifndef PROBLEMS_VERLET_DRIVER_H
#define PROBLEMS_VERLET_DRIVER_H

#include "problems/plain_problem.h"

/* `steps` kick-drift-kick steps of size h; x and v advance in place, `a` is scratch of N entries and holds the
 * acceleration at the end. steps + 1 force evaluations. */
void verlet_run(const problem *p, double h, int64_t steps, double *x, double *v, double *a);

#endif
