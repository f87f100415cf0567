/* A list of output times, and an event that ends the run: a stone on a spring, x'' = -w^2 x, is released at x = 1. Its
 * place is asked for at five times of our own, and the run ends where it passes x = 0 upwards, at t = 3 pi / (2 w). */
#include <math.h>
#include <stdio.h>
#include <twang/twang.h>

static const double W = 10;

static tw_status acceleration(void *context, double t, const double *x, const double *v, double *a)
{
    (void)context, (void)t, (void)v;
    a[0] = -W * W * x[0];
    return TW_OK;
}

/* Called at each of the times, with the dense output: (x, v). */
static tw_status print_place(void *context, double t, const double *u)
{
    (void)context;
    printf("t = %.3f: x = %.9f, exact %.9f\n", t, u[0], cos(W * t));
    return TW_OK;
}

static tw_status height(void *context, double t, const double *u, double *g)
{
    (void)context, (void)t;
    *g = u[0];
    return TW_OK;
}

int main(void)
{
    tw_second_order_problem problem = tw_second_order_problem_default();
    problem.space.local_size = 1;
    problem.acceleration = acceleration;
    tw_integrator_options options = tw_integrator_options_default();
    options.relative_tolerance = 1e-9;

    /* Any times in ascending order; the last one is behind the event and never comes. */
    const double times[] = {0.01, 0.05, 0.12, 0.3, 0.4, 2.0};
    const tw_event event = {.value = height, .direction = +1, .stop = true};
    const double start[] = {1, 0};

    tw_error error = {0};
    tw_integrator *integrator = NULL;
    tw_status status = tw_integrator_create_second_order(&problem, &options, &integrator, &error);
    if (!status) status = tw_integrator_add_event(integrator, &event, &error);
    if (!status)
        status = tw_integrator_on_output_at(integrator, times, 6, print_place, NULL, &error);
    if (!status) status = tw_integrator_start(integrator, 0, start, &error);
    if (!status) status = tw_integrator_advance(integrator, 10, &error);

    /* The status of a run that its event has ended. */
    double t = 0;
    bool stopped = status == TW_EVENT_STOP && tw_integrator_stopped_at(integrator, NULL, &t);
    if (stopped)
        printf("x = 0 upwards at t = %.9f, exact %.9f\n", t, 1.5 * 3.14159265358979 / W);
    else
        fprintf(stderr, "output_times: %s\n", error.text);
    tw_integrator_free(integrator);
    return stopped ? 0 : 1;
}
