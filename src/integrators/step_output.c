/* What an accepted step reports: its events, then the output times that it passed. */
#include <float.h>
#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "integrators/integrator_internal.h"
#include "linalg/vector.h"

tw_status tw_integrator_on_output(tw_integrator *integrator, double t0, double interval,
                                  tw_output_function *function, void *context)
{
    if (!integrator || !isfinite(t0) || !(interval > 0) || isinf(interval))
        return TW_INVALID_ARGUMENT;

    /* Outputs before the present time are skipped when the next step is reported. */
    tw_release(integrator->output_times);
    integrator->output_times = NULL;
    integrator->on_output = function;
    integrator->on_output_context = context;
    integrator->output_start = t0;
    integrator->output_interval = interval;
    integrator->output_next = 0;
    if (!function) return TW_OK;
    return tw_integrator_expect_output(integrator, t0, interval);
}

tw_status tw_integrator_on_output_at(tw_integrator *integrator, const double *times, int64_t count,
                                     tw_output_function *function, void *context, tw_error *error)
{
    if (!integrator || !times || count < 1) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(times[i]) || (i > 0 && !(times[i] > times[i - 1])))
            return tw_fail(error, TW_INVALID_ARGUMENT,
                           "output time %lld, %g, is not finite or not after the one before",
                           (long long)i, times[i]);

    double *copy = TW_NEW_ARRAY(count, double);
    if (!copy) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    tw_vector_copy(count, times, copy);
    tw_release(integrator->output_times);
    integrator->output_times = copy;
    integrator->output_count = count;
    integrator->output_next = 0;
    integrator->on_output = function;
    integrator->on_output_context = context;

    /* The times follow no rule that a scheme could be told. */
    return tw_integrator_expect_output(integrator, 0, 0);
}

/* The time of output k, INFINITY after the last one. */
static double output_time(const tw_integrator *integrator, int64_t k)
{
    if (!integrator->output_times)
        return integrator->output_start + (double)k * integrator->output_interval;
    return k < integrator->output_count ? integrator->output_times[k] : INFINITY;
}

/* Raises output_next to the first k whose time lies after t_old: earlier times belong to another
 * run. */
static void skip_past_outputs(tw_integrator *integrator)
{
    if (integrator->output_times) {
        double slack = tw_time_slack(integrator->t_old, integrator->step_taken);
        while (output_time(integrator, integrator->output_next) <= integrator->t_old + slack)
            integrator->output_next++;
        return;
    }
    double passed = floor((integrator->t_old - integrator->output_start) /
                          integrator->output_interval * (1 + 1e-12));
    if (passed < 0) return;
    int64_t first = (int64_t)passed + 1;
    if (first > integrator->output_next) integrator->output_next = first;
}

/* Hands the states at all output times up to t to the user. */
static tw_status report_outputs(tw_integrator *integrator, tw_error *error)
{
    if (!integrator->on_output) return TW_OK;

    /* Times that differ by less than a rounding error would never pass t. */
    if (!integrator->output_times &&
        !(integrator->output_interval > DBL_EPSILON * fabs(integrator->t)))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "outputs every %g s cannot be told apart at t = %g",
                       integrator->output_interval, integrator->t);
    skip_past_outputs(integrator);

    /* A time that exceeds t by a few rounding errors is t. */
    double sign = integrator->t > 0 ? 1 : -1;
    double last = integrator->t * (1 + sign * 1e-14) + DBL_MIN;
    double *u = integrator->scratch + 2 * integrator->system.size;
    for (;; integrator->output_next++) {
        double t = output_time(integrator, integrator->output_next);
        if (t > last) return TW_OK;
        tw_status status = tw_integrator_interpolate(integrator, fmin(t, integrator->t), u, error);
        if (status == TW_OK) status = integrator->on_output(integrator->on_output_context, t, u);
        if (status)
            return tw_fail(error, status, "output at t = %g: %s", t, tw_status_text(status));
    }
}

tw_status tw_integrator_report_step(tw_integrator *integrator, bool *stopped, tw_error *error)
{
    TW_TRY(tw_integrator_report_events(integrator, stopped, error));
    return report_outputs(integrator, error);
}
