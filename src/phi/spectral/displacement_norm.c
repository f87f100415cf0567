#include "phi/spectral/displacement_norm.h"

#include <math.h>
#include <stddef.h>

static double weight_value(const void *context, double lambda)
{
    double time = fabs(*(const double *)context);
    return time / sqrt(1 + time * time * fabs(lambda));
}

tw_spectral_function tw_displacement_weight(const double *time)
{
    return (tw_spectral_function){weight_value, time};
}

static double weighted_value(const void *context, double lambda)
{
    const tw_weighted_function *pair = context;
    return pair->weight->value(pair->weight->context, lambda) *
           pair->f->value(pair->f->context, lambda);
}

tw_spectral_function tw_weigh_function(const tw_spectral_function *weight,
                                       const tw_spectral_function *f, tw_weighted_function *pair)
{
    *pair = (tw_weighted_function){weight, f};
    return (tw_spectral_function){f->value ? weighted_value : NULL, pair};
}
