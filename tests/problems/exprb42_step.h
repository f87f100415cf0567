/* One step of exprb42 (c2 = 3/4) written on tw_phi_evaluate_second_order: works with every engine. */
#ifndef PROBLEMS_EXPRB42_STEP_H
#define PROBLEMS_EXPRB42_STEP_H

#include <twang/phi.h>

#include "problems/plain_problem.h"

typedef struct exprb42 {
    const problem *p;
    tw_phi_workspace *workspace; /* not owned */
    double *memory;
} exprb42;

/* `workspace` must be made for p->size, second order. TW_OUT_OF_MEMORY leaves nothing to free. */
tw_status exprb42_create(const problem *p, tw_phi_workspace *workspace, exprb42 *out);
void exprb42_free(exprb42 *stepper);

/* Advances (x, v) by h. `op` is the system linearised at x (problem_second_order or the assembled one, after linearise
 * and fill). *statistics is the sum over the phi calls, the one product of the remainder included; it may not be NULL.
 * On failure (x, v) is unchanged. */
tw_status exprb42_step(exprb42 *stepper, const tw_second_order *op, double h, double *x, double *v,
                       tw_phi_statistics *statistics, tw_error *error);

#endif
