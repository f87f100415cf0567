/* The tensions of a spring network as unknowns of Newton's iteration: functions for the table of its problem. They are
 * written from the definition in twang/problem.h, independently of the library's own springs. */
#ifndef PROBLEMS_SPRING_TENSION_H
#define PROBLEMS_SPRING_TENSION_H

#include <stdbool.h>

void spring_tension_linearise(void *network, const double *x, const double *tension, bool definite);
void spring_tension_predict(void *network, const double *x, const double *dx, double *tension,
                            double *turn);

#endif
