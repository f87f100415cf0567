#include "problems/position_update.h"

#include <twang/stumpff.h>

double position_from_v(const void *context, double lambda)
{
    double h = *(const double *)context, c[2];
    tw_stumpff(h * h * lambda, 2, c);
    return h * c[1];
}

double position_from_a(const void *context, double lambda)
{
    double h = *(const double *)context, c[3];
    tw_stumpff(h * h * lambda, 3, c);
    return h * h * c[2];
}
