/* x(t + h) - x = h c_1(h^2 A) v + h^2 c_2(h^2 A) a, as functions of the spectrum; context is a double: h. */
#ifndef TESTS_POSITION_UPDATE_H
#define TESTS_POSITION_UPDATE_H

double position_from_v(const void *context, double lambda);
double position_from_a(const void *context, double lambda);

#endif
