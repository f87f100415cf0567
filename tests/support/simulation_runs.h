/* A simulation and its integrator, from the start on. What goes wrong fails the test with the text of the error. */
#ifndef TESTS_SIMULATION_RUNS_H
#define TESTS_SIMULATION_RUNS_H

#include <twang/twang.h>

/* An integrator of these options at the start of the simulation. */
tw_integrator *start_simulation(tw_simulation *simulation, const tw_integrator_options *options);

void advance_to(tw_integrator *integrator, double t);

#endif
