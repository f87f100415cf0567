#include "support/simulation_runs.h"

#include <check.h>

tw_integrator *start_simulation(tw_simulation *simulation, const tw_integrator_options *options)
{
    const char *scheme = tw_scheme_name(options->scheme);
    const tw_second_order_problem *problem = tw_simulation_second_order(simulation);
    tw_integrator *integrator = NULL;
    tw_error error = {0};

    tw_status status = tw_integrator_create_second_order(problem, options, &integrator, &error);
    ck_assert_msg(status == TW_OK, "%s: %s", scheme, error.text);

    status = tw_integrator_start(integrator, 0, tw_simulation_start(simulation), &error);
    ck_assert_msg(status == TW_OK, "%s: %s", scheme, error.text);
    return integrator;
}

void advance_to(tw_integrator *integrator, double t)
{
    tw_error error = {0};
    tw_status status = tw_integrator_advance(integrator, t, &error);
    ck_assert_msg(status == TW_OK, "%s", error.text);
}
