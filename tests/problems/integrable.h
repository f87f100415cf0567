/* A plain problem as the integrators take it, with its assembled stiffness. */
#ifndef PROBLEMS_INTEGRABLE_H
#define PROBLEMS_INTEGRABLE_H

#include <twang/problem.h>

#include "problems/plain_problem.h"

typedef struct integrable {
    const problem *plain;
    tw_sparse *matrix;
    tw_second_order_problem table; /* hand &table to tw_integrator_create_second_order */
} integrable;

/* `assembled`: with a stiffness matrix (shift-invert and implicit schemes); else matrix-free only. The result must not
 * move in memory. `plain` must outlive it. */
tw_status integrable_create(const problem *plain, bool assembled, integrable *out);
void integrable_free(integrable *p);

#endif
