#include "problems/position_update.h"

#include <math.h>
#include <stddef.h>
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

tw_status position_update(const tw_second_order *op, const tw_phi_options *options, double h,
                          const double *v, const double *a, double *out,
                          tw_phi_statistics *statistics, tw_error *error)
{
    tw_phi_limits limits = tw_phi_limits_default();
    limits.size = op->stiffness.space.local_size;
    limits.options = *options;
    tw_phi_workspace *workspace = NULL;
    tw_status status = tw_phi_workspace_create(&limits, &workspace, error);
    const tw_spectral_function functions[2] = {{position_from_v, &h}, {position_from_a, &h}};
    tw_spectral_request request = {.start_count = 2,
                                   .starts = (const double *const[]){v, a},
                                   .output_count = 1,
                                   .outputs = (double *const[]){out},
                                   .functions = functions,
                                   .time = h};
    if (status == TW_OK) status = tw_spectral_apply(workspace, op, &request, statistics, error);
    tw_phi_workspace_free(workspace);
    return status;
}

double relative_difference(int64_t n, const double *x, const double *exact)
{
    double difference = 0, size = 0;
    for (int64_t i = 0; i < n; i++) {
        difference += (x[i] - exact[i]) * (x[i] - exact[i]);
        size += exact[i] * exact[i];
    }
    return sqrt(difference / size);
}
