/* What TW_LINEAR_AUTO stands for. */
#ifndef TW_INTEGRATORS_SOLVER_CHOICE_H
#define TW_INTEGRATORS_SOLVER_CHOICE_H

#include "integrators/system.h"

/* The solver of Newton's systems: the one that is asked for, or for TW_LINEAR_AUTO the one that
 * costs less. It may allocate, and leaves nothing behind. */
tw_status tw_choose_linear_solver(tw_system *system, const tw_integrator_options *options,
                                  tw_linear_solver *solver, tw_error *error);

#endif
