/* x(t + h) - x = h c_1(h^2 A) v + h^2 c_2(h^2 A) a: what an exponential step does to the positions. */
#ifndef TESTS_POSITION_UPDATE_H
#define TESTS_POSITION_UPDATE_H

#include <twang/phi.h>

/* The two as functions of the spectrum; context is a double: h. */
double position_from_v(const void *context, double lambda);
double position_from_a(const void *context, double lambda);

/* out = the update by options->engine, in a workspace of its own. */
tw_status position_update(const tw_second_order *op, const tw_phi_options *options, double h,
                          const double *v, const double *a, double *out,
                          tw_phi_statistics *statistics, tw_error *error);

/* |x - exact| / |exact| in the Euclidean norm. */
double relative_difference(int64_t n, const double *x, const double *exact);

#endif
